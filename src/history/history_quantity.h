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

#endif
