#include "mpiio/strategy/buffering.h"

int64_t buffering_agents(const struct file *file, int each_node)
{
    return file->values.cb_nodes > 0 ? file->values.cb_nodes : (int64_t)file->node.count * each_node;
}

static enum exchange_spread spread(enum scheme_target target)
{
    switch (target) {
    case TARGET_CYCLIC:
        return EXCHANGE_SPREAD_CYCLIC;
    case TARGET_LAYOUT:
    case TARGET_BOUND:
        return EXCHANGE_SPREAD_BOUND;
    default:
        return EXCHANGE_SPREAD_BLOCK;
    }
}

static struct exchange_setup setup(const struct collective *collective, int64_t agents, int64_t block_bytes)
{
    const struct file *file = collective->file;
    const struct scheme *scheme = &collective->strategy->scheme;
    const int64_t buffer = file->values.cb_buffer_size;
    const bool is_cyclic = spread(scheme->target) != EXCHANGE_SPREAD_BLOCK;
    return (struct exchange_setup){
        .comm = file->comm,
        .rank = file->rank,
        .ranks = file->size,
        .storage = file->storage,
        .lock_writes = file->lock_writes,
        .readable = file->readable && file_may_sieve_writes(file),
        .agents = agents < file->size ? (int)agents : file->size,
        .spread = spread(scheme->target),
        .window_bytes = is_cyclic && block_bytes < buffer ? block_bytes : buffer,
        .block_bytes = block_bytes,
        .each_piece = scheme->exchange == EXCHANGE_PIECES,
        .sequence = file->sequence,
        .async = collective->async,
        .aux = file->aux,
    };
}

void buffering_start(struct collective *collective, int64_t agents, int64_t block_bytes)
{
    struct file *file = collective->file;
    const struct exchange_setup own = setup(collective, agents, block_bytes);
    bool heard;
    const struct pl_error late = file_late(file, &heard);
    exchange_new(&own, &collective->request, &file->memory, &collective->error, &late, heard, &collective->exchange,
                 &collective->error);
    if (!collective->exchange)
        collective->refusal = (struct exchange_refusal){0};
}

static void finish(struct collective *collective)
{
    exchange_result(collective->exchange, &collective->done, &collective->error);
    const struct pl_error told = exchange_told_late(collective->exchange);
    file_forget_late(collective->file, &told);
    exchange_free(collective->exchange);
    collective->exchange = NULL;
}

enum step buffering_step(struct collective *collective)
{
    const struct file *file = collective->file;
    if (!collective->exchange)
        return exchange_refuse_step(&collective->refusal, file->comm, file->rank, &collective->error);
    if (exchange_step(collective->exchange) == STEP_PENDING)
        return STEP_PENDING;
    finish(collective);
    return STEP_DONE;
}
