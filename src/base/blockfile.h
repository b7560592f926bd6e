/* Reading and writing block files; the format is docs/block-format.md. No MPI here: one process calls. */
#ifndef PIOLET_BASE_BLOCKFILE_H
#define PIOLET_BASE_BLOCKFILE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- writing ---- */

struct blockfile_writer;

/* Could results be appended to `path`? It is a block file, empty or new, and can be written. Touches nothing. */
pl_status blockfile_check_append(const char *path, struct pl_error *error);

/* Opens `path` for appending; a line that an earlier, killed run left unfinished is ended first. PL_E_IN_USE: another
 * writer has it open. PL_E_USAGE: it is no block file, and stays as it is. */
pl_status blockfile_writer_open(const char *path, struct blockfile_writer **ret_writer, struct pl_error *error);

/* Flushes to the device and frees. Accepts NULL. */
pl_status blockfile_writer_close(struct blockfile_writer *writer, struct pl_error *error);

/* A block: begin, input and fact lines, end of head, sets, end. Errors are kept and reported by the next _end. */
void blockfile_begin(struct blockfile_writer *writer, const char *class_name, const char *testname);
void blockfile_input(struct blockfile_writer *writer, const char *key, const char *value);
void blockfile_fact(struct blockfile_writer *writer, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
pl_status blockfile_end_head(struct blockfile_writer *writer, struct pl_error *error);

void blockfile_set(struct blockfile_writer *writer);
void blockfile_param(struct blockfile_writer *writer, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void blockfile_hint(struct blockfile_writer *writer, const char *kind, const char *key, const char *value);
void blockfile_time(struct blockfile_writer *writer, int rank, const char *key, int64_t nanoseconds);
void blockfile_series(struct blockfile_writer *writer, int rank, const char *key, const char *unit, int64_t count);
void blockfile_values(struct blockfile_writer *writer, const int64_t *values, size_t count);
void blockfile_error(struct blockfile_writer *writer, const char *status, int rank, const char *text);
void blockfile_warning(struct blockfile_writer *writer, const char *text);
pl_status blockfile_end_set(struct blockfile_writer *writer, struct pl_error *error);

pl_status blockfile_end(struct blockfile_writer *writer, struct pl_error *error);

/* ---- reading ----
 * blockfile_open() scans the file once: checks every count and hash, keeps the lines, but of each series only its
 * place. Numbers are then streamed from the file by blockfile_stream(). Memory does not grow with the samples. */

struct blockfile_pair {
    char *key;
    char *value;
};

struct blockfile_hint {
    bool used; /* false: asked */
    char *key;
    char *value;
};

struct blockfile_timing {
    int rank;
    char *key;
    int64_t nanoseconds;
};

struct blockfile_series {
    int rank;
    char *key;
    char *unit;
    int64_t count;
    int64_t offset; /* of its first number line in the file */
};

struct blockfile_failure {
    char *status;
    int rank;
    char *text;
};

struct blockfile_set {
    int64_t number;
    struct blockfile_pair *params;
    size_t param_count;
    struct blockfile_hint *hints;
    size_t hint_count;
    struct blockfile_timing *times;
    size_t time_count;
    struct blockfile_series *series;
    size_t series_count;
    struct blockfile_failure *errors;
    size_t error_count;
    char **warnings;
    size_t warning_count;
};

struct blockfile_block {
    int64_t line; /* of its `piolet-block` line, from 1 */
    char *id;
    char *class_name;
    char *testname;
    bool complete; /* has its end-block line, and no set was left out */
    struct blockfile_pair *inputs;
    size_t input_count;
    struct blockfile_pair *facts;
    size_t fact_count;
    struct blockfile_set *sets;
    size_t set_count;
};

struct blockfile {
    char *path;
    FILE *stream;
    struct blockfile_block *blocks;
    size_t block_count;
    char **warnings; /* "PATH:LINE: …", one for each thing left out */
    size_t warning_count;
};

/* Fails only where the file cannot be read or holds no block at all; damage inside is a warning. */
pl_status blockfile_open(const char *path, struct blockfile *ret_file, struct pl_error *error);
void blockfile_close(struct blockfile *file);

/* First value of a key, or NULL. */
const char *blockfile_input_of(const struct blockfile_block *block, const char *key);
const char *blockfile_fact_of(const struct blockfile_block *block, const char *key);
const char *blockfile_param_of(const struct blockfile_set *set, const char *key);

/* Calls `take` with consecutive runs of the series' numbers: values[0..count) are numbers first, first + 1, … */
typedef void blockfile_take(void *context, int64_t first, const int64_t *values, size_t count);
pl_status blockfile_stream(struct blockfile *file, const struct blockfile_series *series, blockfile_take *take,
                           void *context, struct pl_error *error);

/* The same numbers one by one, for those who walk through several series at once. */
struct blockfile_cursor;
/* NULL: no memory. The file must stay open. */
struct blockfile_cursor *blockfile_cursor_new(struct blockfile *file, const struct blockfile_series *series);
/* False behind the last number, and where the file cannot be read (any more): then blockfile_cursor_failed(). */
bool blockfile_cursor_next(struct blockfile_cursor *cursor, int64_t *ret_value);
bool blockfile_cursor_failed(const struct blockfile_cursor *cursor);
void blockfile_cursor_free(struct blockfile_cursor *cursor); /* accepts NULL */

#endif
