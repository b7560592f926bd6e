/* Communicators of ours, and what is done where the MPI itself fails on one.
 *
 * Ranks that move a file's data wait for each other's messages. Where the MPI cannot send one (no address space is
 * left, or the rank has become another user and may not open the memory of the others), those who wait for it would
 * wait for ever, and there is no way left to tell them: the job is ended, with a message that says why. See
 * docs/adr/0012-limits.md. */
#ifndef PIOLET_MPI_COMM_H
#define PIOLET_MPI_COMM_H

#include "base/status.h"

#include <mpi.h>
#include <stdbool.h>

/* MPI has begun: who the process is at present is remembered. */
void comm_begin(void);

/* Has this process changed so that MPI may fail it: it is another user, or has little address space left? */
bool comm_is_odd(void);

/* Every rank of `comm` calls it before the first communicator of ours is made of it, and again where one of them has
 * become odd. Fails on all ranks where one of them has too little address space left for the MPI's messages. Where a
 * rank has become another user since MPI began, it tries whether every rank can still reach every other; where one
 * cannot, the job ends. */
pl_status comm_ready_coll(MPI_Comm comm, struct pl_error *error);

/* Every rank of `comm` calls it. MPI's code: where it is not MPI_SUCCESS, it is the same failure on all ranks. A
 * failure on the new communicator, and on those made of it, ends the job. Blocking, since MPICH 4.0 does not report the
 * failures of non-blocking collective calls: they would never end. */
int comm_dup_coll(MPI_Comm comm, MPI_Comm *ret_comm);

/* Until comm_strict() the caller handles failures on `comm` itself. */
void comm_tolerant(MPI_Comm comm);
void comm_strict(MPI_Comm comm);

#endif
