/* Stores what has been filled of a stretch of the file that lies in memory: exactly those bytes, as large as possible.
 */
#ifndef PIOLET_MPIIO_COVER_STORE_H
#define PIOLET_MPIIO_COVER_STORE_H

#include "mpiio/storage/storage.h"

#include <mpi.h>

struct aux;

struct cover_manner {
    struct storage *storage;
    bool sieve;      /* small gaps may be read and written back, under a lock */
    bool lock;       /* others may be doing so: what is written is locked */
    struct aux *aux; /* auxiliary processes that take it over; NULL: none */
    MPI_Comm poke;   /* keeps MPI going while waiting for a lock; MPI_COMM_NULL in threads of ours */
};

/* `window`: `bytes` bytes that belong to the file from `offset` on; `cover`: a bit for each that is filled (cover.h).
 * Gaps in `window` may be changed. The first failure is told; the rest is tried all the same. What auxiliary processes
 * take over is stored later, and its failure told later. */
pl_status cover_store(const struct cover_manner *manner, int64_t offset, char *window, int64_t bytes,
                      const uint64_t *cover, struct pl_error *error);

/* The same where all of it is filled. */
pl_status cover_store_all(const struct cover_manner *manner, int64_t offset, const char *window, int64_t bytes,
                          struct pl_error *error);

#endif
