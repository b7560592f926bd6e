/* Span locks of an access. */
#ifndef PIOLET_MPIIO_ACCESS_LOCK_H
#define PIOLET_MPIIO_ACCESS_LOCK_H

#include "mpiio/storage/storage.h"

#include <mpi.h>

/* Waits until the span is locked, keeping MPI going through `poke`. */
pl_status access_lock(struct storage *storage, enum storage_lock kind, int64_t offset, int64_t bytes, MPI_Comm poke,
                      struct pl_error *error);
/* Keeps an error that is there already. */
void access_unlock(struct storage *storage, int64_t offset, int64_t bytes, struct pl_error *error);

#endif
