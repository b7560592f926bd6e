/* Node grouping: ranks are coloured, and those of one colour access the file at a time. */
#include "mpiio/strategy/scheduling.h"

/* Neighbours get different colours, so that ranks of one colour are spread over the nodes. */
static int64_t colour(const struct file *file)
{
    const int64_t group = file->values.group_size;
    if (group == 0)
        return file->node.rank;
    const int64_t colours = (file->size - 1) / group + 1;
    return file->rank % colours;
}

static void start(struct collective *collective)
{
    const struct schedule schedule = schedule_turn(&collective->request, colour(collective->file));
    scheduling_start(collective, &schedule);
}

const struct strategy strategy_node_grouping = {
    .name = "node_grouping",
    .summary = "node grouping: a part of the ranks accesses the file, then the next part",
    .exchanges = true,
    .scheme = {.order = ORDER_NODES},
    .start = start,
    .step = scheduling_step,
    .clear = scheduling_clear,
};
