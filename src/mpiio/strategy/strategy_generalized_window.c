/* Generalised window: one window slides over each storage device, so that all devices have work in every round. Ranks
 * begin with different devices. */
#include "mpiio/strategy/scheduling.h"

enum { STRIPE_BYTES = 65536, DEVICES_MAX = 4096 };

static int devices(const struct file *file)
{
    const int64_t known = file->values.striping_factor > 0 ? file->values.striping_factor : file->node.count;
    return known < DEVICES_MAX ? (int)known : DEVICES_MAX;
}

static void start(struct collective *collective)
{
    const struct file *file = collective->file;
    const int count = devices(file);
    const int64_t stripe = file->values.striping_unit > 0 ? file->values.striping_unit : STRIPE_BYTES;
    const struct schedule schedule = schedule_windows(&collective->request, count, stripe, file->values.window_size,
                                                      file->rank % count);
    scheduling_start(collective, &schedule);
}

const struct strategy strategy_generalized_window = {
    .name = "generalized_window",
    .summary = "as sliding_window, with a window for each storage device",
    .exchanges = true,
    .scheme = {.order = ORDER_WINDOWS},
    .start = start,
    .step = scheduling_step,
    .clear = scheduling_clear,
};
