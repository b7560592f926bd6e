/* Collective buffering to a CYCLIC distribution with gathered messages: one for each pair of ranks and round. */
#include "mpiio/strategy/buffering.h"

enum { AGENTS_EACH_NODE = 2, BLOCK_BYTES = 1 << 20 };

static void start(struct collective *collective)
{
    const struct file *file = collective->file;
    const int64_t block = file->values.cb_block_size;
    buffering_start(collective, buffering_agents(file, AGENTS_EACH_NODE), block > 0 ? block : BLOCK_BYTES);
}

const struct strategy strategy_cbx = {
    .name = "cbx",
    .summary = "collective buffering (CBx): as cb_c, with one message for each pair and round",
    .exchanges = true,
    .defers = true,
    .scheme = {.target = TARGET_CYCLIC, .exchange = EXCHANGE_GATHERED},
    .agents = "cb_nodes, or two on each node",
    .start = start,
    .step = buffering_step,
};
