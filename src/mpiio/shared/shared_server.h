/* The words of the shared file pointer, kept by a thread of rank 0 that others send messages to. For an MPI without
 * windows: Open MPI 4.1 has none across hosts at MPI_THREAD_MULTIPLE, which this needs. */
#ifndef PIOLET_MPIIO_SHARED_SERVER_H
#define PIOLET_MPIIO_SHARED_SERVER_H

#include "base/status.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct shared_server;

/* Does this MPI, as the ranks have initialised it, need one? The same answer on all ranks. */
bool shared_server_is_needed_coll(MPI_Comm comm, int rank);

/* Fails on all ranks or on none. */
pl_status shared_server_open_coll(MPI_Comm comm, int rank, struct shared_server **ret_server, struct pl_error *error);
void shared_server_close_coll(struct shared_server *server);

enum shared_change { SHARED_ADD, SHARED_SET };
pl_status shared_server_do(struct shared_server *server, int word, enum shared_change change, int64_t value,
                           int64_t *ret_before, struct pl_error *error);

#endif
