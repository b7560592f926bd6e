#include "engine/exchange/exchange.h"
#include "base/limits.h"
#include "engine/coverage/coverage.h"
#include "engine/exchange/exchange_core.h"
#include "engine/mem.h"
#include "mpi/real.h"

#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

static const int64_t MESSAGE_BYTES = 1 << 20, PIECE_BYTES = 65536; /* of data */
static const int64_t BLOCK_BYTES = 1 << 20;                        /* of CYCLIC domains, without a hint */
enum { DESCRIPTION_PART = 16 }; /* descriptions get this part of it in addition: a window's data are one message */

/* ---- memory: one block for all buffers, kept by the file ---- */

/* Hands out parts of a block; with base NULL it only counts. */
struct cutter {
    char *base;
    size_t used;
};

static void *exchange_cut(struct cutter *cutter, size_t bytes)
{
    void *part = cutter->base ? cutter->base + cutter->used : NULL;
    cutter->used += (bytes + 63) / 64 * 64;
    return part;
}

static void lay_out_aggregator(struct exchange *exchange, struct cutter *cutter)
{
    assert(exchange->aggregator.number >= 0);
    struct exchange_aggregator *aggregator = &exchange->aggregator;
    const size_t message = (size_t)exchange->message_bytes;
    for (int i = 0; i < EXCHANGE_WINDOWS; i++) {
        aggregator->window[i].coverage = exchange_cut(cutter, coverage_bytes(exchange->setup.window_bytes));
        aggregator->window[i].bytes = exchange_cut(cutter, (size_t)exchange->setup.window_bytes);
    }
    for (int i = 0; i < EXCHANGE_RECEIVE_SLOTS; i++) {
        aggregator->slot[i].message = exchange_cut(cutter, message);
        aggregator->slot[i].reply = exchange_writes(exchange) ? NULL : exchange_cut(cutter, message);
    }
}

static void exchange_lay_out(struct exchange *exchange, struct cutter *cutter)
{
    struct exchange_source *source = &exchange->source;
    const size_t message = (size_t)exchange->message_bytes;
    for (int i = 0; i < source->slots; i++) {
        source->slot[i].buffer = exchange_cut(cutter, message);
        source->slot[i].answer = exchange_writes(exchange) ? NULL : exchange_cut(cutter, message);
    }
    if (exchange->aggregator.number >= 0)
        lay_out_aggregator(exchange, cutter);
}

/* What must be left to the MPI for messages: without it they are lost, and ranks wait for them for ever. */
static const uint64_t SPACE_LEAST = (uint64_t)6 << 20;

static pl_status exchange_take_memory(struct exchange *exchange, struct pl_error *error)
{
    struct file_memory *memory = &exchange->move->file->memory;
    struct cutter cutter = {0};
    exchange_lay_out(exchange, &cutter);
    if (cutter.used > memory->capacity) {
        mem_free(memory->bytes);
        memory->capacity = 0;
        memory->bytes = mem_alloc(cutter.used);
        if (!memory->bytes || address_space_left() < SPACE_LEAST) {
            mem_free(memory->bytes);
            memory->bytes = NULL;
            return pl_fail(error, PL_E_NOMEM, "no memory for the %zu bytes of a collective access", cutter.used);
        }
        memory->capacity = cutter.used;
    }
    cutter = (struct cutter){.base = memory->bytes};
    exchange_lay_out(exchange, &cutter);
    assert(cutter.used <= memory->capacity);
    return PL_OK;
}

/* ---- beginning ---- */

static void exchange_set_up(struct exchange *exchange)
{
    const struct file *file = exchange->move->file;
    const struct strategy *strategy = exchange->move->strategy;
    struct exchange_setup *setup = &exchange->setup;
    const int64_t buffer = file->values.cb_buffer_size, block = file->values.cb_block_size;
    setup->aggregators = move_aggregator_count(file, strategy->aggregators);
    setup->block_bytes = strategy->target != TARGET_CYCLIC ? move_domain_unit(file) : block > 0 ? block : BLOCK_BYTES;
    setup->window_bytes = strategy->target != TARGET_BLOCK && setup->block_bytes < buffer ? setup->block_bytes : buffer;
    setup->each_piece = strategy->exchange == EXCHANGE_PIECES;
    assert(setup->aggregators > 0 && setup->aggregators <= file->size && setup->window_bytes > 0 &&
           setup->block_bytes > 0);
    const int64_t most = setup->each_piece ? PIECE_BYTES : MESSAGE_BYTES;
    const int64_t data = setup->window_bytes < most ? setup->window_bytes : most;
    exchange->message_bytes = data + data / DESCRIPTION_PART + EXCHANGE_MESSAGE_BYTES_MIN;
    exchange->aggregator.number = move_rank_aggregator(file->rank, setup->aggregators, file->size);
    exchange->source.slots = setup->aggregators < EXCHANGE_SEND_SLOTS ? setup->aggregators : EXCHANGE_SEND_SLOTS;
    if (setup->each_piece)
        exchange->source.slots = EXCHANGE_SEND_SLOTS_PIECES;
    assert(exchange->message_bytes <= INT_MAX);
}

static pl_status exchange_take(struct exchange *exchange, struct pl_error *error)
{
    const struct access_request *request = &exchange->move->request;
    if (!exchange_targets_init(&exchange->source.targets) ||
        (exchange->aggregator.number >= 0 && !exchange_partners_init(&exchange->aggregator.partners)))
        return pl_fail(error, PL_E_NOMEM, "no memory for the partners of a collective access");
    if (exchange_take_memory(exchange, error) ||
        access_memory_init(&exchange->source.memory, request->memory, request->buffer, error))
        return error->status;
    if (!request->view->contiguous)
        return typemap_cursor_init(&exchange->source.file, request->view->filetype, error);
    return PL_OK;
}

static void exchange_prepare(struct move *move)
{
    if (move_has_failed(move))
        return;
    struct exchange *exchange = mem_zalloc(1, sizeof *exchange);
    move->call = exchange;
    if (!exchange) {
        pl_fail(&move->error, PL_E_NOMEM, "no memory for a collective access");
        return;
    }
    exchange->move = move;
    exchange_set_up(exchange);
    exchange_take(exchange, &move->error);
}

static void exchange_clear(struct move *move)
{
    struct exchange *exchange = move->call;
    if (!exchange)
        return;
    access_memory_clear(&exchange->source.memory);
    typemap_cursor_clear(&exchange->source.file);
    exchange_targets_clear(&exchange->source.targets);
    exchange_partners_clear(&exchange->aggregator.partners);
    mem_free(exchange);
    move->call = NULL;
}

/* What belongs to which aggregator begins where; the rest is found on the way. */
static void exchange_divide(struct exchange *exchange)
{
    struct move *move = exchange->move;
    const struct exchange_setup *setup = &exchange->setup;
    const struct access_request *request = &move->request;
    struct exchange_source *source = &exchange->source;
    if (move->strategy->target == TARGET_BLOCK)
        move_domain_block(&exchange->domain, move->low, move->high, setup->aggregators, setup->block_bytes,
                          setup->window_bytes);
    else
        move_domain_cyclic(&exchange->domain, move->low, move->high, setup->aggregators, setup->block_bytes,
                           setup->window_bytes, move->strategy->target != TARGET_CYCLIC);
    source->limit = source->end = request->position + request->bytes;
    if (!exchange_targets_find(&source->targets, &exchange->domain, request->view, request->position, source->limit)) {
        struct pl_error error;
        pl_fail(&error, PL_E_NOMEM, "no memory for the aggregators of a collective access");
        move_note(move, &error);
    }
}

static void exchange_begin(struct move *move)
{
    struct exchange *exchange = move->call;
    exchange_divide(exchange);
    exchange_source_start(exchange);
    exchange_aggregator_start(exchange);
}

/* ---- the steps ---- */

/* Ranks greet the aggregators that they have something for, and meet when these have heard them: then every aggregator
 * knows all its partners. Nobody has to know how many ranks or aggregators there are. */
static bool exchange_have_met(struct exchange *exchange)
{
    int code = MPI_SUCCESS;
    if (exchange->met == EX_MET)
        return true;
    exchange_aggregator_greet(exchange);
    if (exchange->met == EX_GREETING) {
        if (!exchange_source_has_greeted(exchange))
            return false;
        exchange->meeting = MPI_REQUEST_NULL;
        exchange->met = EX_MEETING;
        code = real.Ibarrier(exchange_comm(exchange), &exchange->meeting);
    }
    int done = 0;
    if (code == MPI_SUCCESS)
        code = real.Test(&exchange->meeting, &done, MPI_STATUS_IGNORE);
    move_note_mpi(exchange->move, code, "meeting the partners of an exchange");
    if (done || code != MPI_SUCCESS)
        exchange->met = EX_MET;
    return exchange->met == EX_MET;
}

static enum step exchange_step(struct move *move)
{
    struct exchange *exchange = move->call;
    const enum step source = exchange_source_step(exchange);
    if (!exchange_have_met(exchange))
        return STEP_PENDING;
    if (exchange_aggregator_step(exchange) == STEP_PENDING || source == STEP_PENDING)
        return STEP_PENDING;
    assert(exchange->met == EX_MET && exchange->source.over);
    if (move->request.bytes > 0)
        move->done = exchange->source.end - move->request.position;
    return STEP_DONE;
}

const struct move_transport exchange_transport = {
    .prepare = exchange_prepare,
    .begin = exchange_begin,
    .step = exchange_step,
    .clear = exchange_clear,
};
