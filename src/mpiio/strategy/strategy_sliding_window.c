/* Sliding window: what lies close together in the file is accessed at about the same time. */
#include "mpiio/strategy/scheduling.h"

static void start(struct collective *collective)
{
    const int64_t window = collective->file->values.window_size;
    const struct schedule schedule = schedule_windows(&collective->request, 1, window, window, 0);
    scheduling_start(collective, &schedule);
}

const struct strategy strategy_sliding_window = {
    .name = "sliding_window",
    .summary = "sliding window: all ranks access what lies in one window, then in the next",
    .exchanges = true,
    .scheme = {.order = ORDER_WINDOW},
    .start = start,
    .step = scheduling_step,
    .clear = scheduling_clear,
};
