/* Contiguous writes to places that are written again and again: by a system call, or by copies into what stays mapped
 * of the file (storage_hold.h). Which is quicker is seen by doing both.
 *
 * Large ones: a write(2) locks the file, so that ranks which write to the same file wait for each other; copies do not.
 * Small ones: where the file is cached in large pages, a write(2) looks at all of such a page for each piece, and takes
 * 6 µs on ext4 where a copy with all its checks takes one; else a copy takes no less than a call. Reads gain nothing:
 * a call takes half of what the checks take. */
#ifndef PIOLET_MPIIO_STORAGE_STORAGE_WAY_H
#define PIOLET_MPIIO_STORAGE_STORAGE_WAY_H

#include "mpiio/storage/storage.h"

#include <stdatomic.h>

enum {
    STORAGE_WAY_SMALL = 4096,      /* bytes: above, copies gain little, */
    STORAGE_WAY_LARGE = 256 << 10, /* and from here on they gain by leaving the lock alone */
};

/* What is known of writes of one kind. But for `resting` guarded by the mutex of storage_hold.h. */
struct storage_way {
    atomic_int resting; /* writes for which no copy is tried; */
    int rest;           /* how many next time */
    int calls;          /* writes that were measured, */
    double call_cost;   /* and nanoseconds for a byte */
    double debt_ns;     /* what copies took longer than calls would have */
};

/* storage_write(), in the quicker way. */
pl_status storage_way_write(struct storage *storage, int64_t offset, const char *memory, int64_t bytes,
                            int64_t *ret_done, struct pl_error *error);

#endif
