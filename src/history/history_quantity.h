/* The numbers of a block that are worth keeping and comparing over time: rates, values of benchmarks, estimated times.
 *
 * A quantity is told by its class and test, by `what` it is, by the `settings` of what was measured, and by the
 * `conditions` it was measured under (machine, place, ranks, MPI). Where all are equal, numbers may be compared. The
 * versions of the software are no part of that: they are what a comparison over time is about. Pure: reads block files
 * alone. */
#ifndef PIOLET_HISTORY_HISTORY_QUANTITY_H
#define PIOLET_HISTORY_HISTORY_QUANTITY_H

#include "base/blockfile.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct history_quantity {
    char *what;       /* owned: "write rate" */
    char *settings;   /* owned: "file 16 MB, block 4 kB, collective"; "": none */
    const char *unit; /* "MB/s" */
    bool lower_is_better;
    double value; /* finite and > 0; the median where a block has several of them */
};

struct history_quantities { /* {0} is empty */
    struct history_quantity *list;
    size_t count;
    bool failed; /* no memory */
};

/* The quantities of block `number` (from 0) of the file; none for a class that is not known. */
pl_status history_quantities_of(struct blockfile *file, size_t number, struct history_quantities *ret_quantities,
                                struct pl_error *error);
void history_quantities_clear(struct history_quantities *quantities);

/* The conditions of a block, a line "NAME VALUE" for each. */
void history_conditions(const struct blockfile_block *block, struct text *text);

/* ---- for the makers of quantities ---- */

/* One of the file's blocks, while its quantities are made. */
struct history_source {
    struct blockfile *file;
    size_t number;
    const struct blockfile_block *block;
    struct history_quantities *quantities;
};

/* Values that are not finite and above 0 are passed over. */
void history_quantity_rate(const struct history_source *source, const char *what, const char *settings,
                           double mb_per_s);
void history_quantity_time(const struct history_source *source, const char *what, const char *settings, double ns);

/* "file 16 MB, collective, cb_nodes=2" of a set: its parameters but for those in `without` (ends with NULL) and those
 * that have their usual values, and the hints asked for. */
void history_settings(const struct blockfile_set *set, const char *const *without, struct text *text);
/* The same of those parameters alone that are in `keys`: for sets that also hold what was found. */
void history_settings_of(const struct blockfile_set *set, const char *const *keys, struct text *text);

/* "16 MB", "64 KiB", "1234567 B": exact, so that equal texts mean equal sizes. */
void history_add_bytes(struct text *text, long long bytes);

/* A row for each class of blocks; history_quantity.c has the table. */
typedef pl_status history_quantity_maker(const struct history_source *source, struct pl_error *error);
history_quantity_maker history_quantity_lowlevel, history_quantity_kernel, history_quantity_apps, history_quantity_beff,
    history_quantity_beffio, history_quantity_piobench, history_quantity_gpfs, history_quantity_peak,
    history_quantity_replay;

#endif
