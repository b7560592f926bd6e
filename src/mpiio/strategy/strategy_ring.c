/* Collective buffering in memory that the ranks of a node share. */
#include "mpiio/ring/ring.h"
#include "mpiio/strategy/strategy.h"

static void start(struct collective *collective)
{
    struct file *file = collective->file;
    const struct ring_setup setup = {
        .comm = file->comm,
        .rank = file->rank,
        .storage = file->storage,
        .agents = file->values.cb_nodes,
        .buffer_bytes = file->values.cb_buffer_size,
        .block_bytes = file->values.cb_block_size,
        .unit_bytes = file->values.striping_unit,
        .may_choose = collective->request.write ? file->tune_writes : file->tune_reads,
        .small_pieces = collective->request.write ? file->small_writes : file->small_reads,
        .lock_writes = file->lock_writes,
        .sieve = file->readable && file_may_sieve_writes(file),
        .async = collective->async,
        .aux = file->aux,
        .manner = file_manner(file, MPI_COMM_NULL),
    };
    bool heard;
    const struct pl_error late = file_late(file, &heard);
    ring_start(file->ring, &setup, &collective->request, &collective->error, &late, heard);
}

static enum step step(struct collective *collective)
{
    struct file *file = collective->file;
    if (ring_step(file->ring) == STEP_PENDING)
        return STEP_PENDING;
    ring_result(file->ring, &collective->done, &collective->error);
    const struct pl_error told = ring_told_late(file->ring);
    file_forget_late(file, &told);
    return STEP_DONE;
}

static void wait(struct collective *collective)
{
    ring_wait(collective->file->ring);
}

const struct strategy strategy_ring = {
    .name = "ring",
    .summary = "ranks of a node copy into blocks of shared memory, which are written and read whole",
    .exchanges = true,
    .defers = true,
    .scheme = {.target = TARGET_FREE, .exchange = EXCHANGE_MEMORY},
    .agents = "cb_nodes, or every rank; between nodes two of each send",
    .start = start,
    .step = step,
    .wait = wait,
};
