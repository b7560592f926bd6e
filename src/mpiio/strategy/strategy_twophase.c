/* Collective buffering with one part of the file for each agent, as many agents as a file takes without losing speed.
 */
#include "mpiio/strategy/buffering.h"

enum { AGENTS_EACH_NODE = 2, ALIGN_BYTES = 65536 };

static void start(struct collective *collective)
{
    const struct file *file = collective->file;
    const int64_t unit = file->values.striping_unit;
    buffering_start(collective, buffering_agents(file, AGENTS_EACH_NODE), unit > 0 ? unit : ALIGN_BYTES);
}

const struct strategy strategy_twophase = {
    .name = "twophase",
    .summary = "agents exchange data with all ranks and access the file in large windows",
    .exchanges = true,
    .defers = true,
    .scheme = {.target = TARGET_BLOCK, .exchange = EXCHANGE_GATHERED},
    .agents = "cb_nodes, or two on each node",
    .start = start,
    .step = buffering_step,
};
