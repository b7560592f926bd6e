/* Each rank for itself: no exchange at all. A rank that fails tells its program at once, and the others when they next
 * meet. */
#include "mpiio/strategy/strategy.h"

static void start(struct collective *collective)
{
    (void)collective;
}

static enum step step(struct collective *collective)
{
    struct file *file = collective->file;
    if (collective->error.status == PL_OK) {
        const struct access_manner manner = file_manner(file, file->comm);
        access_run(file->storage, &collective->request, &manner, &collective->done, &collective->error);
    }
    if (collective->error.status != PL_OK && file->late.status == PL_OK)
        file->late = collective->error;
    return STEP_DONE;
}

const struct strategy strategy_independent = {
    .name = "independent",
    .summary = "each rank accesses the file itself, without exchange",
    .start = start,
    .step = step,
};
