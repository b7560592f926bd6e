#include "mpi/coll.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void share_words_coll(MPI_Comm comm, int me, const struct pl_error *error, struct coll_verdict *verdict)
{
    int status = (int)error->status;
    if (me == verdict->rank)
        snprintf(verdict->text, sizeof verdict->text, "%s", error->text);
    MPI_Bcast(verdict->text, sizeof verdict->text, MPI_CHAR, verdict->rank, comm);
    MPI_Bcast(&status, 1, MPI_INT, verdict->rank, comm);
    verdict->status = (pl_status)status;
}

pl_status coll_agree_coll(MPI_Comm comm, pl_status mine, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    int me, size;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    *ret_verdict = (struct coll_verdict){.status = PL_OK, .rank = -1};

    const int failed = mine != PL_OK;
    MPI_Allreduce(&failed, &ret_verdict->failed, 1, MPI_INT, MPI_SUM, comm);
    if (ret_verdict->failed == 0)
        return PL_OK;
    const int candidate = failed ? me : INT_MAX;
    MPI_Allreduce(&candidate, &ret_verdict->rank, 1, MPI_INT, MPI_MIN, comm);
    assert(ret_verdict->rank >= 0 && ret_verdict->rank < size);
    share_words_coll(comm, me, error, ret_verdict);
    if (failed)
        return mine;
    return pl_fail(error, PL_E_PEER, "rank %d: %.900s", ret_verdict->rank, ret_verdict->text);
}

void coll_course_init(struct coll_course *course, MPI_Comm comm, struct pl_error *error,
                      struct coll_verdict *ret_verdict)
{
    *ret_verdict = (struct coll_verdict){.status = PL_OK, .rank = -1};
    *course = (struct coll_course){.comm = comm, .status = PL_OK, .error = error, .verdict = ret_verdict};
}

bool coll_course_agree_coll(struct coll_course *course, pl_status mine, struct pl_error *mine_error)
{
    struct coll_verdict verdict;
    const pl_status agreed = coll_agree_coll(course->comm, mine, mine_error, &verdict);
    if (agreed != PL_OK && course->status == PL_OK) {
        course->status = agreed;
        *course->error = *mine_error;
        *course->verdict = verdict;
    }
    return agreed == PL_OK;
}

void coll_choose_coll(MPI_Comm world, int ranks, MPI_Comm *comm, int *comm_ranks)
{
    assert(ranks > 0);
    int me;
    if (*comm_ranks == ranks)
        return;
    if (*comm != MPI_COMM_NULL)
        MPI_Comm_free(comm);
    MPI_Comm_rank(world, &me);
    MPI_Comm_split(world, me < ranks ? 0 : MPI_UNDEFINED, me, comm);
    if (*comm != MPI_COMM_NULL)
        MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
    *comm_ranks = ranks;
}

void coll_barrier_quiet_coll(MPI_Comm comm)
{
    enum { NAP_FIRST_NS = 20000, NAP_LONGEST_NS = 5000000 };
    MPI_Request request;
    MPI_Ibarrier(comm, &request);
    long nap_ns = NAP_FIRST_NS;
    for (;;) {
        int done = 0;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        nanosleep(&(struct timespec){.tv_nsec = nap_ns}, NULL);
        nap_ns = nap_ns * 2 < NAP_LONGEST_NS ? nap_ns * 2 : NAP_LONGEST_NS;
    }
}

pl_status coll_fail_mpi(struct pl_error *error, int mpi_code, const char *format, ...)
{
    char context[PL_ERROR_TEXT_MAX / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof context, format, args);
    va_end(args);

    char words[MPI_MAX_ERROR_STRING] = "unknown MPI error";
    int length;
    MPI_Error_string(mpi_code, words, &length);
    for (char *c = words; *c; c++) /* some libraries answer in several lines */
        if (*c == '\n')
            *c = ' ';
    int class = MPI_ERR_OTHER;
    MPI_Error_class(mpi_code, &class);
    const pl_status status = class == MPI_ERR_NO_SPACE || class == MPI_ERR_QUOTA ? PL_E_SPACE : PL_E_MPI;
    return pl_fail(error, status, "%s: %.480s", context, words);
}
