/* A window of the file that lies in memory goes into the file: exactly the bytes that are filled, in transfers as large
 * as possible. Every aggregator, whatever brought the data to it, and every auxiliary process stores by this. */
#ifndef PIOLET_ENGINE_STORE_STORE_H
#define PIOLET_ENGINE_STORE_STORE_H

#include "engine/storage/storage.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct store_options {
    struct storage *storage;
    bool sieve;        /* small gaps may be read and written back, under a lock */
    bool lock;         /* others may be doing so: what is written is locked */
    MPI_Comm progress; /* of MPI while waiting for a lock; MPI_COMM_NULL in threads of ours */
};

/* `window`: `bytes` bytes that belong to the file from `offset` on; `coverage`: its coverage map, NULL where all of it
 * is filled. Gaps in `window` may be changed. The first failure is told; the rest is tried all the same. */
pl_status store_window(const struct store_options *options, int64_t offset, char *window, int64_t bytes,
                       const uint64_t *coverage, struct pl_error *error);

#endif
