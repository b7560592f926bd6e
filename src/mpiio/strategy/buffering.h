/* Collective buffering: the implementation that its rows share. A row says who the agents are and how large the blocks
 * that they get; how the file is spread over them, and how data come to them, stands in its scheme. */
#ifndef PIOLET_MPIIO_STRATEGY_BUFFERING_H
#define PIOLET_MPIIO_STRATEGY_BUFFERING_H

#include "mpiio/strategy/strategy.h"

/* `agents` and `block_bytes` are the same on all ranks; more agents than ranks are cut down to these. */
void buffering_start(struct collective *collective, int64_t agents, int64_t block_bytes);
enum step buffering_step(struct collective *collective);

/* As cb_nodes says, else `each_node` on each node. */
int64_t buffering_agents(const struct file *file, int each_node);

#endif
