/* Results kept over time, in one SQLite file: every block as it is, and its quantities for comparisons.
 *
 * Many processes may use a history at the same time. Each change is one transaction of a rollback journal (not WAL,
 * which needs memory shared between processes and so fails on network file systems): a reader never sees half of it,
 * and after a crash the next one to open takes it back. */
#ifndef PIOLET_HISTORY_HISTORY_H
#define PIOLET_HISTORY_HISTORY_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct history;

/* "$XDG_DATA_HOME/piolet/history.db", or below ~/.local/share; the folders are made where `create`. */
pl_status history_default_path(bool create, struct text *ret_path, struct pl_error *error);

/* PL_E_NO_SUCH_FILE where there is none and `create` is false; PL_E_FORMAT for a file that is none. */
pl_status history_open(const char *path, bool create, struct history **ret_history, struct pl_error *error);
void history_close(struct history *history); /* accepts NULL */

/* ---- adding and removing ---- */

struct history_added {
    int64_t new_blocks;
    int64_t grown;      /* were there without their end, and are longer now */
    int64_t known;      /* nothing was done */
    int64_t incomplete; /* among the new and grown: their runs were killed, or part of them is damaged */
    int64_t quantities; /* of the new and grown */
};

/* All blocks of a block file, or none where this fails. What the reader left out is told in `warnings`, a line each. */
pl_status history_add(struct history *history, const char *file, const char *label, struct history_added *ret_added,
                      struct text *warnings, struct pl_error *error);

/* ---- reading ---- */

/* One block. Strings are owned, "" where the block does not tell. */
struct history_run {
    int64_t key; /* of the database */
    char *id, *class_name, *testname, *label;
    char *measured, *added; /* UTC, as 2026-11-15T10:02:11Z */
    char *host, *place, *mpiio;
    char *software; /* versions: "piolet 0.1.0, MPICH Version: 4.0.2, ROMIO" */
    char *conditions;
    int64_t ranks, sets, bytes;
    bool complete;
};

struct history_runs {
    struct history_run *list; /* owned; the earliest first */
    size_t count;
};

/* The runs that `words` name: each a label, the beginning of an id that names one run alone, or `last`. No words: all.
 * PL_E_INPUT where a word names none, or several. */
pl_status history_runs(struct history *history, const char *const *words, size_t count, struct history_runs *ret_runs,
                       struct pl_error *error);
void history_runs_clear(struct history_runs *runs);

pl_status history_remove(struct history *history, const struct history_runs *runs, struct pl_error *error);

/* The bytes of a block, as they were in its file; a line that was cut is ended. */
pl_status history_write_block(struct history *history, const struct history_run *run, FILE *stream,
                              struct pl_error *error);

/* One number of one run. Strings are owned. */
struct history_value {
    int64_t quantity; /* equal numbers: may be compared */
    size_t run;       /* index in the runs given */
    char *class_name, *testname, *what, *settings, *conditions, *unit;
    bool lower_is_better;
    double value;
};

struct history_values {
    struct history_value *list; /* owned; by quantity, then in the order of the runs */
    size_t count;
};

pl_status history_values(struct history *history, const struct history_runs *runs, struct history_values *ret_values,
                         struct pl_error *error);
void history_values_clear(struct history_values *values);

/* End of the values of the same quantity that begin at `first`. */
size_t history_values_end(const struct history_values *values, size_t first);

#endif
