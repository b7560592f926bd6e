/* Agreement among ranks: nobody leaves while others still wait. */
#ifndef PIOLET_MPI_COLL_H
#define PIOLET_MPI_COLL_H

#include "base/status.h"

#include <mpi.h>
#include <stdbool.h>

/* What all ranks know after an agreement: the same on each. */
struct coll_verdict {
    pl_status status; /* of the first rank that failed, else PL_OK */
    int rank;         /* that rank, else -1 */
    int failed;       /* how many ranks failed */
    char text[PL_ERROR_TEXT_MAX];
};

/* Every rank brings its own outcome. Returns PL_OK everywhere, or everywhere something else: the rank's own status
 * where it failed itself, PL_E_PEER (with the first failing rank's words in `error`) where it did not. */
pl_status coll_agree_coll(MPI_Comm comm, pl_status mine, struct pl_error *error, struct coll_verdict *ret_verdict);

/* A barrier whose waiters sleep instead of spinning, for ranks that idle while another one is measured. */
void coll_barrier_quiet_coll(MPI_Comm comm);

/* Turns a failed MPI call into a status: "doing: MPI's own words". */
pl_status coll_fail_mpi(struct pl_error *error, int mpi_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
