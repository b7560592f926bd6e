/* Large writes to places that are written again and again, by copies into what stays mapped of the file
 * (storage_hold.h). A write(2) locks the file, so that ranks which write to the same file wait for each other; copies
 * do not. Whether they are quicker is seen by doing both. */
#ifndef PIOLET_MPIIO_STORAGE_STORAGE_BULK_H
#define PIOLET_MPIIO_STORAGE_STORAGE_BULK_H

#include "mpiio/storage/storage.h"

enum { STORAGE_BULK_LEAST = 256 << 10 }; /* bytes: below, looking at the file costs too much */

struct storage_bulk { /* guarded by the mutex of storage_hold.h */
    int calls;        /* writes that were measured, */
    double call_cost; /* and nanoseconds for a byte */
    double debt_ns;   /* what copies took longer than calls would have */
    int64_t resting;  /* writes for which no copy is tried; */
    int64_t rest;     /* how many next time */
};

/* storage_write(), of at least STORAGE_BULK_LEAST bytes. */
pl_status storage_bulk_write(struct storage *storage, int64_t offset, const char *memory, int64_t bytes,
                             int64_t *ret_done, struct pl_error *error);

#endif
