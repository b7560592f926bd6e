/* Data grouping: all ranks access the file, but only a part of their data at a time. */
#include "mpiio/strategy/scheduling.h"

static void start(struct collective *collective)
{
    const struct schedule schedule = schedule_parts(&collective->request, collective->file->values.window_size);
    scheduling_start(collective, &schedule);
}

const struct strategy strategy_data_grouping = {
    .name = "data_grouping",
    .summary = "data grouping: all ranks access the file, a part of their data at a time",
    .exchanges = true,
    .scheme = {.order = ORDER_DATA},
    .start = start,
    .step = scheduling_step,
    .clear = scheduling_clear,
};
