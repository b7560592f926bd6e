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

/* How something stands that is done in several steps, with an agreement behind each: the first failure is told. */
struct coll_course {
    MPI_Comm comm;
    pl_status status;
    struct pl_error *error; /* the caller's, as the verdict */
    struct coll_verdict *verdict;
};

void coll_course_init(struct coll_course *course, MPI_Comm comm, struct pl_error *error,
                      struct coll_verdict *ret_verdict);

/* Every rank brings the outcome of a step. Returns whether all have done it. */
bool coll_course_agree_coll(struct coll_course *course, pl_status mine, struct pl_error *mine_error);

/* Makes *comm the communicator of the first `ranks` ranks of `world`, unless it is that already: *comm_ranks tells (0:
 * there is none yet). MPI_COMM_NULL on the others. Every rank of `world` calls. */
void coll_choose_coll(MPI_Comm world, int ranks, MPI_Comm *comm, int *comm_ranks);

/* A barrier whose waiters sleep instead of spinning, for ranks that idle while another one is measured. */
void coll_barrier_quiet_coll(MPI_Comm comm);

/* Turns a failed MPI call into a status: "doing: MPI's own words". */
pl_status coll_fail_mpi(struct pl_error *error, int mpi_code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
