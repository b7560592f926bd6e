/* What every collective call begins with. Develop mode (PIOLET_DEVELOP=1): before it does anything, every rank compares
 * what it is about to do with what its neighbour in a ring does, and all agree. A program whose ranks are in different
 * calls gets an error in the place of a hang or of wrong data. */
#include "mpi/agree.h"
#include "mpi/real.h"
#include "mpi/wait.h"
#include "mpiio/api/api.h"
#include "mpiio/error/error.h"
#include "mpiio/pending/pending.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct announcement {
    char function[48];
    int64_t generation, sequence;
};

static bool develops(void)
{
    static int known = -1; /* the same for all threads, whoever comes first */
    if (known < 0) {
        const char *text = getenv("PIOLET_DEVELOP");
        known = text && *text && strcmp(text, "0") != 0;
    }
    return known;
}

static pl_status ring_coll(struct file *file, struct announcement *mine, struct announcement *ret_left,
                           struct pl_error *error)
{
    enum { TAG = 32000 }; /* above those of the exchange */
    const int right = (file->rank + 1) % file->size, left = (file->rank + file->size - 1) % file->size;
    MPI_Request requests[2];
    int code = real.Irecv(ret_left, sizeof *ret_left, MPI_BYTE, left, TAG, file->comm, &requests[0]);
    if (code == MPI_SUCCESS)
        code = real.Isend(mine, sizeof *mine, MPI_BYTE, right, TAG, file->comm, &requests[1]);
    struct wait_pace pace = {0};
    for (int i = 0, done = 0; i < 2 && code == MPI_SUCCESS; i += done) {
        code = real.Test(&requests[i], &done, MPI_STATUS_IGNORE);
        wait_turn(&pace);
    }
    return code == MPI_SUCCESS ? PL_OK : error_from_mpi(code, "comparing calls in a ring", error);
}

static void compare(const struct file *file, const struct announcement *mine, const struct announcement *left,
                    struct pl_error *error)
{
    const int rank = (file->rank + file->size - 1) % file->size;
    if (strcmp(mine->function, left->function) != 0)
        pl_fail(error, PL_E_NOT_SAME, "rank %d is in %s, rank %d in %s", rank, left->function, file->rank,
                mine->function);
    else if (mine->sequence != left->sequence || mine->generation != left->generation)
        pl_fail(error, PL_E_NOT_SAME, "ranks %d and %d have made different numbers of collective calls on this file",
                rank, file->rank);
}

static void check_coll(struct api *api)
{
    struct file *file = api->file;
    struct announcement mine = {.generation = file->view->generation, .sequence = file->sequence}, left;
    snprintf(mine.function, sizeof mine.function, "%s", api->function);
    struct pl_error own = {0};
    if (ring_coll(file, &mine, &left, &own) == PL_OK)
        compare(file, &mine, &left, &own);
    struct agree agree;
    if (agree_run_coll(&agree, file->comm, file->rank, &own, NULL, 0) != PL_OK)
        api->error = own;
}

bool api_begin_coll(struct api *api)
{
    pending_drain(api->file);
    if (api->file->size > 1 && develops())
        check_coll(api);
    return api->error.status == PL_OK;
}
