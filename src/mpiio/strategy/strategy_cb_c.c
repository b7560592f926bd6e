/* Collective buffering to a CYCLIC distribution: agents get blocks of any size in turn. */
#include "mpiio/strategy/buffering.h"

enum { AGENTS_EACH_NODE = 2, BLOCK_BYTES = 1 << 20 };

static void start(struct collective *collective)
{
    const struct file *file = collective->file;
    const int64_t block = file->values.cb_block_size;
    buffering_start(collective, buffering_agents(file, AGENTS_EACH_NODE), block > 0 ? block : BLOCK_BYTES);
}

const struct strategy strategy_cb_c = {
    .name = "cb_c",
    .summary = "collective buffering (CB-C): agents access blocks of the file in turn",
    .exchanges = true,
    .defers = true,
    .scheme = {.target = TARGET_CYCLIC, .exchange = EXCHANGE_PIECES},
    .agents = "cb_nodes, or two on each node",
    .start = start,
    .step = buffering_step,
};
