#include "mpiio/develop/develop.h"

#include "mpi/real.h"
#include "mpi/wait.h"
#include "mpiio/error/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RING, AGREE, FINISHED };
enum { TAG = 32000 }; /* above those of the exchange */

bool develop_is_wanted(void)
{
    const char *text = getenv("PIOLET_DEVELOP");
    return text && strcmp(text, "1") == 0;
}

static int left_of(const struct file *file)
{
    return (file->rank + file->size - 1) % file->size;
}

static void note_mpi(struct develop_check *check, int code)
{
    if (code != MPI_SUCCESS && check->own.status == PL_OK)
        error_from_mpi(code, "comparing calls in a ring", &check->own);
}

void develop_check_start(struct develop_check *check, struct file *file, const char *function,
                         const struct pl_error *own)
{
    *check = (struct develop_check){.file = file, .state = RING, .mine.sequence = file->sequence, .own = *own};
    check->requests[0] = check->requests[1] = MPI_REQUEST_NULL;
    snprintf(check->mine.function, sizeof check->mine.function, "%s", function);
    note_mpi(check, real.Irecv(&check->left, sizeof check->left, MPI_BYTE, left_of(file), TAG, file->comm,
                               &check->requests[0]));
    note_mpi(check, real.Isend(&check->mine, sizeof check->mine, MPI_BYTE, (file->rank + 1) % file->size, TAG,
                               file->comm, &check->requests[1]));
}

static void compare(struct develop_check *check)
{
    const struct file *file = check->file;
    const struct develop_announcement *mine = &check->mine, *left = &check->left;
    if (check->own.status != PL_OK)
        return;
    if (strcmp(mine->function, left->function) != 0)
        pl_fail(&check->own, PL_E_NOT_SAME, "rank %d is in %s, rank %d in %s", left_of(file), left->function,
                file->rank, mine->function);
    else if (mine->sequence != left->sequence)
        pl_fail(&check->own, PL_E_NOT_SAME,
                "ranks %d and %d have made different numbers of collective calls on this file", left_of(file),
                file->rank);
}

enum step develop_check_step(struct develop_check *check)
{
    if (check->state == RING) {
        for (int i = 0; i < 2; i++) {
            int done = 1;
            note_mpi(check, real.Test(&check->requests[i], &done, MPI_STATUS_IGNORE));
            if (!done)
                return STEP_PENDING;
        }
        compare(check);
        agree_start(&check->agree, check->file->comm, check->file->rank, &check->own, NULL, 0);
        check->state = AGREE;
    }
    if (check->state == AGREE) {
        if (agree_step(&check->agree) == STEP_PENDING)
            return STEP_PENDING;
        check->state = FINISHED;
    }
    return STEP_DONE;
}

pl_status develop_check_result(const struct develop_check *check, struct pl_error *error)
{
    return agree_result(&check->agree, error);
}

pl_status develop_check_run_coll(struct file *file, const char *function, const struct pl_error *own,
                                 struct pl_error *error)
{
    struct develop_check check;
    struct wait_pace pace = {0};
    develop_check_start(&check, file, function, own);
    while (develop_check_step(&check) == STEP_PENDING)
        wait_turn(&pace);
    return develop_check_result(&check, error);
}

bool develop_is_awaited(const struct file *file)
{
    int found = 0;
    return real.Iprobe(left_of(file), TAG, file->comm, &found, MPI_STATUS_IGNORE) == MPI_SUCCESS && found;
}
