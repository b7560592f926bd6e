#include "mpi/agree.h"

#include "mpi/real.h"
#include "mpi/wait.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const int64_t NOBODY = INT64_MAX;

/* The communicator itself fails: there is nobody left to agree with. */
static enum step agree_give_up(struct agree *agree)
{
    agree->state = AGREE_FINISHED;
    agree->status = PL_E_MPI;
    agree->failed_rank = agree->rank;
    agree->text.status = PL_E_MPI;
    snprintf(agree->text.text, sizeof agree->text.text, "the MPI cannot reach the other ranks of this file");
    return STEP_DONE;
}

void agree_start(struct agree *agree, MPI_Comm comm, int rank, const struct pl_error *own, const int64_t *values,
                 int count)
{
    assert(count <= AGREE_VALUES_MAX);
    assert(count >= 0 && (count == 0 || values) && own);
    memset(agree, 0, sizeof *agree);
    agree->comm = comm;
    agree->rank = rank;
    agree->count = count;
    agree->own = own;
    agree->failed_rank = -1;
    agree->mine[0] = own->status == PL_OK ? NOBODY : rank;
    if (count > 0)
        memcpy(agree->mine + 1, values, (size_t)count * sizeof *values);
    agree->state = AGREE_REDUCE;
    if (real.Iallreduce(agree->mine, agree->least, 1 + count, MPI_INT64_T, MPI_MIN, comm, &agree->request))
        agree_give_up(agree);
}

static enum step agree_start_text(struct agree *agree)
{
    agree->failed_rank = (int)agree->least[0];
    assert(agree->failed_rank >= 0);
    if (agree->failed_rank == agree->rank) {
        agree->text.status = (int32_t)agree->own->status;
        snprintf(agree->text.text, sizeof agree->text.text, "%.*s", AGREE_TEXT_MAX - 1, agree->own->text);
    }
    agree->state = AGREE_TEXT;
    if (real.Ibcast(&agree->text, sizeof agree->text, MPI_BYTE, agree->failed_rank, agree->comm, &agree->request))
        return agree_give_up(agree);
    return STEP_PENDING;
}

enum step agree_step(struct agree *agree)
{
    while (agree->state != AGREE_FINISHED) {
        int done = 0;
        if (real.Test(&agree->request, &done, MPI_STATUS_IGNORE))
            return agree_give_up(agree);
        if (!done)
            return STEP_PENDING;
        if (agree->state == AGREE_REDUCE && agree->least[0] != NOBODY) {
            if (agree_start_text(agree) == STEP_DONE)
                return STEP_DONE;
        } else {
            agree->status = agree->state == AGREE_TEXT ? (pl_status)agree->text.status : PL_OK;
            agree->state = AGREE_FINISHED;
        }
    }
    return STEP_DONE;
}

pl_status agree_result(const struct agree *agree, struct pl_error *error)
{
    assert(agree->state == AGREE_FINISHED);
    if (agree->status == PL_OK)
        return PL_OK;
    if (agree->own->status != PL_OK) {
        if (error != agree->own)
            *error = *agree->own;
        return error->status;
    }
    return agree_tell(agree, error);
}

pl_status agree_tell(const struct agree *agree, struct pl_error *error)
{
    assert(agree->status != PL_OK);
    return pl_fail(error, agree->status, "another task failed: rank %d: %s", agree->failed_rank, agree->text.text);
}

pl_status agree_run_coll(struct agree *agree, MPI_Comm comm, int rank, struct pl_error *error, const int64_t *values,
                         int count)
{
    agree_start(agree, comm, rank, error, values, count);
    struct wait_pace pace = {0};
    while (agree_step(agree) == STEP_PENDING)
        wait_turn(&pace);
    return agree_result(agree, error);
}
