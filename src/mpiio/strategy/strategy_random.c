/* Random order: it keeps ranks with regular distributions from meeting at the same device again and again. */
#include "mpiio/strategy/scheduling.h"

#include "base/rng.h"

enum { BLOCK_BYTES = 1 << 20 };

/* A data block is what lies side by side in the file; of views without gaps, what cb_block_size says. */
static int64_t block_bytes(const struct collective *collective)
{
    const struct view *view = collective->request.view;
    const int64_t wanted = collective->file->values.cb_block_size;
    if (!view || view->contiguous || typemap_shape(view->filetype)->pieces == 0)
        return wanted > 0 ? wanted : BLOCK_BYTES;
    const struct typemap_shape *shape = typemap_shape(view->filetype);
    return shape->size / shape->pieces;
}

static void start(struct collective *collective)
{
    const uint64_t seed = rng_at((uint64_t)collective->file->sequence, (uint64_t)collective->file->rank);
    const struct schedule schedule = schedule_shuffled(&collective->request, block_bytes(collective), seed);
    scheduling_start(collective, &schedule);
}

const struct strategy strategy_random = {
    .name = "random",
    .summary = "each rank accesses its data blocks in a random order",
    .exchanges = true,
    .scheme = {.order = ORDER_RANDOM},
    .start = start,
    .step = scheduling_step,
    .clear = scheduling_clear,
};
