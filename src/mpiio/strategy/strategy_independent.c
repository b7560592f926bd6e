/* Each rank for itself: no exchange at all. A rank that fails tells its program at once, and the others when they next
 * meet. */
#include "mpiio/ship/ship.h"
#include "mpiio/strategy/strategy.h"

#include <stddef.h>

static void run(struct collective *collective, MPI_Comm poke)
{
    struct file *file = collective->file;
    const struct access_manner manner = file_manner(file, poke);
    ship_access(file, &collective->request, &manner, &collective->done, &collective->error);
}

static void run_in_thread(struct pool_work *work)
{
    run((struct collective *)((char *)work - offsetof(struct collective, work)), MPI_COMM_NULL);
}

static void start(struct collective *collective)
{
    if (!collective->async || collective->error.status != PL_OK)
        return;
    collective->working = true;
    pool_submit(&collective->work, run_in_thread);
}

static enum step step(struct collective *collective)
{
    struct file *file = collective->file;
    if (collective->working && !pool_is_done(&collective->work))
        return STEP_PENDING;
    if (!collective->async && collective->error.status == PL_OK)
        run(collective, file->comm);
    if (collective->error.status != PL_OK)
        file_note_late(file, &collective->error, true);
    return STEP_DONE;
}

const struct strategy strategy_independent = {
    .name = "independent",
    .summary = "each rank accesses the file itself, without exchange",
    .start = start,
    .step = step,
};
