/* Collective buffering by messages: agents own parts of the file and access it in large windows. */
#include "mpiio/strategy/strategy.h"

enum { AGENTS_EACH_NODE = 2 }; /* one file takes no more writers at once without losing speed */

static int agents(const struct file *file)
{
    const int64_t wanted = file->values.cb_nodes > 0 ? file->values.cb_nodes
                                                     : (int64_t)file->node.count * AGENTS_EACH_NODE;
    return wanted < file->size ? (int)wanted : file->size;
}

static struct exchange_setup setup(const struct file *file, bool async)
{
    const int64_t block = file->values.striping_unit > 0 ? file->values.striping_unit : 65536;
    return (struct exchange_setup){
        .comm = file->comm,
        .rank = file->rank,
        .ranks = file->size,
        .storage = file->storage,
        .lock_writes = file->lock_writes,
        .readable = file->readable && file_may_sieve_writes(file),
        .agents = agents(file),
        .window_bytes = file->values.cb_buffer_size,
        .block_bytes = block,
        .sequence = file->sequence,
        .async = async,
        .aux = file->aux,
    };
}

static void start(struct collective *collective)
{
    struct file *file = collective->file;
    const struct exchange_setup own = setup(file, collective->async);
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

static enum step step(struct collective *collective)
{
    const struct exchange_setup own = setup(collective->file, collective->async);
    if (!collective->exchange)
        return exchange_refuse_step(&collective->refusal, &own, &collective->error);
    if (exchange_step(collective->exchange) == STEP_PENDING)
        return STEP_PENDING;
    finish(collective);
    return STEP_DONE;
}

const struct strategy strategy_twophase = {
    .name = "twophase",
    .summary = "agents exchange data with all ranks and access the file in large windows",
    .exchanges = true,
    .defers = true,
    .scheme = {.target = TARGET_BLOCK, .exchange = EXCHANGE_GATHERED},
    .start = start,
    .step = step,
};
