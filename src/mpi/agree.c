#include "mpi/agree.h"

#include "mpi/real.h"
#include "mpi/wait.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const int64_t NOBODY = INT64_MAX;

/* ---- in shared memory ---- */

/* The number of the call is written last. */
struct agree_line {
    _Alignas(64) _Atomic uint64_t call;
    int64_t values[1 + AGREE_VALUES_MAX];
};

static pthread_once_t board_once = PTHREAD_ONCE_INIT;
static int board_key = MPI_KEYVAL_INVALID;

static void make_board_key(void)
{
    if (real.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &board_key, NULL) != MPI_SUCCESS)
        board_key = MPI_KEYVAL_INVALID;
}

size_t agree_board_bytes(int ranks)
{
    return 2 * (size_t)ranks * sizeof(struct agree_line);
}

pl_status agree_board_attach(struct agree_board *board, MPI_Comm comm, void *place, int rank, int size,
                             struct pl_error *error)
{
    assert(rank >= 0 && rank < size && size <= AGREE_BOARD_RANKS);
    assert((uintptr_t)place % 64 == 0);
    *board = (struct agree_board){.lines = place, .rank = rank, .size = size};
    pthread_once(&board_once, make_board_key);
    if (board_key == MPI_KEYVAL_INVALID || real.Comm_set_attr(comm, board_key, board) != MPI_SUCCESS)
        return pl_fail(error, PL_E_MPI, "the MPI takes no attribute for a communicator");
    return PL_OK;
}

static struct agree_board *board_of(MPI_Comm comm)
{
    struct agree_board *board = NULL;
    int found = 0;
    if (board_key == MPI_KEYVAL_INVALID || real.Comm_get_attr(comm, board_key, &board, &found) != MPI_SUCCESS || !found)
        return NULL;
    return board->on ? board : NULL;
}

static struct agree_line *board_line(const struct agree_board *board, int rank)
{
    return &board->lines[2 * (size_t)rank + (board->calls & 1)];
}

/* Whoever is in call n + 2 has seen all others in call n + 1, and so behind call n, whose line it writes to. */
static void board_start(struct agree *agree)
{
    struct agree_board *board = agree->board;
    assert(!board->busy);
    board->busy = true;
    board->calls++;
    struct agree_line *line = board_line(board, board->rank);
    memcpy(line->values, agree->mine, (size_t)(1 + agree->count) * sizeof *agree->mine);
    memcpy(agree->least, agree->mine, sizeof agree->least);
    atomic_store_explicit(&line->call, board->calls, memory_order_release);
}

static bool board_is_over(struct agree *agree)
{
    enum { TURNS_TO_PROGRESS = 64 }; /* the others are mostly there at once: MPI is looked at now and then */
    struct agree_board *board = agree->board;
    for (; agree->next < board->size; agree->next++) {
        const struct agree_line *line = board_line(board, agree->next);
        if (atomic_load_explicit(&line->call, memory_order_acquire) != board->calls) {
            int found;
            if (++agree->turns % TURNS_TO_PROGRESS == 0)
                real.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, agree->comm, &found, MPI_STATUS_IGNORE);
            return false;
        }
        for (int i = 0; i <= agree->count; i++)
            agree->least[i] = line->values[i] < agree->least[i] ? line->values[i] : agree->least[i];
    }
    board->busy = false;
    return true;
}

/* ---- both ways ---- */

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
    agree->board = board_of(comm);
    if (agree->board)
        board_start(agree);
    else if (real.Iallreduce(agree->mine, agree->least, 1 + count, MPI_INT64_T, MPI_MIN, comm, &agree->request))
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
        if (agree->board && agree->state == AGREE_REDUCE)
            done = board_is_over(agree);
        else if (real.Test(&agree->request, &done, MPI_STATUS_IGNORE))
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
