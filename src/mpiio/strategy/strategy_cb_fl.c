/* Collective buffering to the layout of the file: an agent for each device, with the blocks that lie on it. */
#include "mpiio/strategy/buffering.h"

enum { UNIT_BYTES = 65536 };

/* Where there are fewer ranks than devices, each device still belongs to one agent. */
static int64_t agents(const struct file *file)
{
    const int64_t devices = file->values.striping_factor;
    if (devices == 0)
        return buffering_agents(file, 1);
    int64_t agents = devices < file->size ? devices : file->size;
    while (devices % agents != 0)
        agents--;
    return agents;
}

static void start(struct collective *collective)
{
    const struct file *file = collective->file;
    const int64_t unit = file->values.striping_unit;
    buffering_start(collective, agents(file), unit > 0 ? unit : UNIT_BYTES);
}

const struct strategy strategy_cb_fl = {
    .name = "cb_fl",
    .summary = "collective buffering (CB-FL): each agent accesses the blocks of one storage device",
    .exchanges = true,
    .defers = true,
    .scheme = {.target = TARGET_LAYOUT, .exchange = EXCHANGE_PIECES},
    .agents = "striping_factor, or cb_nodes, or one on each node",
    .start = start,
    .step = buffering_step,
};
