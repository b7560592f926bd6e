#include "mpiio/shared/shared.h"

#include "mpi/agree.h"
#include "mpi/comm.h"
#include "mpi/real.h"
#include "mpi/wait.h"
#include "mpiio/error/error.h"
#include "mpiio/shared/shared_server.h"

pl_status shared_open_coll(struct shared *shared, const struct node *node, void *place, MPI_Comm comm, int rank,
                           struct pl_error *error)
{
    *shared = (struct shared){.window = MPI_WIN_NULL};
    if (node->alone) {
        shared->words = place;
        return PL_OK;
    }
    if (shared_server_is_needed_coll(comm, rank))
        return shared_server_open_coll(comm, rank, &shared->server, error);
    const MPI_Aint bytes = rank == 0 ? 2 * sizeof(int64_t) : 0;
    comm_tolerant(comm); /* an MPI that has no memory for it fails on all ranks */
    wait_enter();
    int code = real.Win_allocate(bytes, sizeof(int64_t), MPI_INFO_NULL, comm, &shared->window_words, &shared->window);
    if (code == MPI_SUCCESS) {
        if (rank == 0)
            shared->window_words[0] = shared->window_words[1] = 0;
        code = real.Win_lock_all(0, shared->window);
    }
    wait_leave();
    comm_strict(comm);
    struct pl_error own = {0};
    struct agree agree;
    if (code != MPI_SUCCESS)
        error_from_mpi(code, "making the window of the shared file pointer", &own);
    shared->missing = agree_run_coll(&agree, comm, rank, &own, NULL, 0) != PL_OK;
    if (shared->missing) /* where some ranks have it, it is left: they cannot free it without the others */
        shared->window = MPI_WIN_NULL;
    return PL_OK;
}

static pl_status fail_missing(struct pl_error *error)
{
    return pl_fail(error, PL_E_MPI, "this file has no shared file pointer: the MPI could not make a window for it");
}

void shared_close_coll(struct shared *shared)
{
    if (!shared->words && shared->window != MPI_WIN_NULL) {
        wait_enter();
        real.Win_unlock_all(shared->window);
        real.Win_free(&shared->window);
        wait_leave();
    }
    if (shared->server)
        shared_server_close_coll(shared->server);
    *shared = (struct shared){.window = MPI_WIN_NULL};
}

static pl_status change_far(struct shared *shared, int word, MPI_Op op, int64_t value, int64_t *ret_before,
                            struct pl_error *error)
{
    if (shared->missing)
        return fail_missing(error);
    if (shared->server)
        return shared_server_do(shared->server, word, op == MPI_REPLACE ? SHARED_SET : SHARED_ADD, value, ret_before,
                                error);
    int code = real.Fetch_and_op(&value, ret_before, MPI_INT64_T, 0, word, op, shared->window);
    if (code == MPI_SUCCESS)
        code = real.Win_flush(0, shared->window);
    return code == MPI_SUCCESS ? PL_OK : error_from_mpi(code, "moving the shared file pointer", error);
}

pl_status shared_fetch_add(struct shared *shared, int64_t etypes, int64_t *ret_before, struct pl_error *error)
{
    if (!shared->words)
        return change_far(shared, shared->turn, MPI_SUM, etypes, ret_before, error);
    *ret_before = atomic_fetch_add(&shared->words[shared->turn], etypes);
    return PL_OK;
}

pl_status shared_prepare(struct shared *shared, int64_t etypes, struct pl_error *error)
{
    int64_t before;
    if (shared->missing) /* who does not use it need not know */
        return PL_OK;
    if (!shared->words)
        return change_far(shared, !shared->turn, MPI_REPLACE, etypes, &before, error);
    atomic_store(&shared->words[!shared->turn], etypes);
    return PL_OK;
}

void shared_turn(struct shared *shared)
{
    shared->turn = !shared->turn;
}

pl_status shared_get(struct shared *shared, int64_t *ret_etypes, struct pl_error *error)
{
    if (!shared->words)
        return change_far(shared, shared->turn, MPI_NO_OP, 0, ret_etypes, error);
    *ret_etypes = atomic_load(&shared->words[shared->turn]);
    return PL_OK;
}
