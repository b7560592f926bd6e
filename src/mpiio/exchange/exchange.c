#include "mpiio/exchange/exchange.h"
#include "base/address_space.h"

#include "mpi/real.h"
#include "mpiio/cover/cover.h"
#include "mpiio/error/error.h"
#include "mpiio/exchange/exchange_core.h"
#include "mpiio/mem.h"

#include <string.h>

enum { LO, HI, VALUES };

static const int64_t MESSAGE_BYTES = 1 << 20, PIECE_BYTES = 65536; /* of data */
enum { DESCRIPTION_PART = 16 }; /* descriptions get this part of it in addition: a window's data are one message */

void exchange_note(struct exchange *exchange, const struct pl_error *error)
{
    if (exchange->own.status == PL_OK)
        exchange->own = *error;
}

void exchange_note_mpi(struct exchange *exchange, int code, const char *doing)
{
    struct pl_error error;
    error_from_mpi(code, doing, &error);
    exchange_note(exchange, &error);
}

/* ---- memory: one block for all buffers, kept by the file ---- */

void exchange_memory_clear(struct exchange_memory *memory)
{
    mem_free(memory->bytes);
    *memory = (struct exchange_memory){0};
}

/* Hands out parts of a block; with base NULL it only counts. */
struct cutter {
    char *base;
    size_t used;
};

static void *cut(struct cutter *cutter, size_t bytes)
{
    void *part = cutter->base ? cutter->base + cutter->used : NULL;
    cutter->used += (bytes + 63) / 64 * 64;
    return part;
}

static void lay_out_agent(struct exchange *exchange, struct cutter *cutter)
{
    struct exchange_agent *agent = &exchange->agent;
    const size_t message = (size_t)exchange->message_bytes;
    for (int i = 0; i < EXCHANGE_WINDOWS; i++) {
        agent->window[i].cover = cut(cutter, cover_bytes(exchange->setup.window_bytes));
        agent->window[i].bytes = cut(cutter, (size_t)exchange->setup.window_bytes);
    }
    for (int i = 0; i < EXCHANGE_DESKS; i++) {
        agent->desk[i].message = cut(cutter, message);
        agent->desk[i].reply = exchange->request->write ? NULL : cut(cutter, message);
    }
}

static void lay_out(struct exchange *exchange, struct cutter *cutter)
{
    struct exchange_source *source = &exchange->source;
    const size_t message = (size_t)exchange->message_bytes;
    for (int i = 0; i < source->slots; i++) {
        source->slot[i].buffer = cut(cutter, message);
        source->slot[i].answer = exchange->request->write ? NULL : cut(cutter, message);
    }
    if (exchange->agent.number >= 0)
        lay_out_agent(exchange, cutter);
}

/* What must be left to the MPI for messages: without it they are lost, and ranks wait for them for ever. */
static const uint64_t SPACE_LEAST = (uint64_t)6 << 20;

static pl_status take_memory(struct exchange *exchange, struct pl_error *error)
{
    struct exchange_memory *memory = exchange->memory;
    struct cutter cutter = {0};
    lay_out(exchange, &cutter);
    if (cutter.used > memory->capacity) {
        exchange_memory_clear(memory);
        memory->bytes = mem_alloc(cutter.used);
        if (!memory->bytes || address_space_left() < SPACE_LEAST) {
            exchange_memory_clear(memory);
            return pl_fail(error, PL_E_NOMEM, "no memory for the %zu bytes of a collective access", cutter.used);
        }
        memory->capacity = cutter.used;
    }
    cutter = (struct cutter){.base = memory->bytes};
    lay_out(exchange, &cutter);
    return PL_OK;
}

/* ---- beginning ---- */

static void start_agree(struct exchange *exchange)
{
    const struct access_request *request = exchange->request;
    int64_t values[VALUES] = {[LO] = INT64_MAX, [HI] = INT64_MAX};
    if (exchange->own.status == PL_OK && request->bytes > 0) {
        values[LO] = view_byte(request->view, request->position);
        values[HI] = -(view_byte(request->view, request->position + request->bytes - 1) + 1);
    }
    agree_start(&exchange->agree, exchange->setup.comm, exchange->setup.rank, &exchange->own, values, VALUES);
}

static pl_status prepare(struct exchange *exchange, struct pl_error *error)
{
    const struct access_request *request = exchange->request;
    const struct exchange_setup *setup = &exchange->setup;
    const int64_t most = setup->each_piece ? PIECE_BYTES : MESSAGE_BYTES;
    const int64_t data = setup->window_bytes < most ? setup->window_bytes : most;
    exchange->message_bytes = data + data / DESCRIPTION_PART + EXCHANGE_MESSAGE_BYTES_MIN;
    exchange->agent.number = exchange_rank_agent(setup->rank, setup->agents, setup->ranks);
    exchange->source.slots = setup->agents < EXCHANGE_SLOTS ? setup->agents : EXCHANGE_SLOTS;
    if (setup->each_piece)
        exchange->source.slots = EXCHANGE_SLOTS_PIECES;
    if (!exchange_targets_init(&exchange->source.targets) ||
        (exchange->agent.number >= 0 && !exchange_partners_init(&exchange->agent.partners)))
        return pl_fail(error, PL_E_NOMEM, "no memory for the partners of a collective access");
    if (take_memory(exchange, error) ||
        access_memory_init(&exchange->source.memory, request->memory, request->buffer, error))
        return error->status;
    if (!request->view->contiguous)
        return typemap_cursor_init(&exchange->source.file, request->view->filetype, error);
    return PL_OK;
}

pl_status exchange_new(const struct exchange_setup *setup, const struct access_request *request,
                       struct exchange_memory *memory, const struct pl_error *own, const struct pl_error *late,
                       bool late_heard, struct exchange **ret_exchange, struct pl_error *error)
{
    if (own->status != PL_OK) {
        *error = *own;
        return own->status;
    }
    struct exchange *exchange = mem_zalloc(1, sizeof *exchange);
    if (!exchange)
        return pl_fail(error, PL_E_NOMEM, "no memory for a collective access");
    exchange->setup = *setup;
    exchange->request = request;
    exchange->memory = memory;
    exchange->finish = (struct exchange_finish){.late = *late, .late_heard = late_heard};
    if (prepare(exchange, error)) {
        exchange_free(exchange);
        return error->status;
    }
    start_agree(exchange);
    exchange->state = EX_AGREE;
    *ret_exchange = exchange;
    return PL_OK;
}

enum step exchange_refuse_step(struct exchange_refusal *refusal, MPI_Comm comm, int rank, const struct pl_error *error)
{
    static const int64_t nothing[VALUES] = {[LO] = INT64_MAX, [HI] = INT64_MAX};
    if (!refusal->started)
        agree_start(&refusal->agree, comm, rank, error, nothing, VALUES);
    refusal->started = true;
    return agree_step(&refusal->agree);
}

void exchange_free(struct exchange *exchange)
{
    if (!exchange)
        return;
    access_memory_clear(&exchange->source.memory);
    typemap_cursor_clear(&exchange->source.file);
    exchange_targets_clear(&exchange->source.targets);
    exchange_partners_clear(&exchange->agent.partners);
    mem_free(exchange);
}

/* ---- the steps ---- */

/* What belongs to which agent begins where; the rest is found on the way. */
static void divide(struct exchange *exchange, int64_t lo, int64_t hi)
{
    const struct exchange_setup *setup = &exchange->setup;
    const struct access_request *request = exchange->request;
    struct exchange_source *source = &exchange->source;
    if (setup->spread == EXCHANGE_SPREAD_BLOCK)
        exchange_domain_block(&exchange->domain, lo, hi, setup->agents, setup->block_bytes, setup->window_bytes);
    else
        exchange_domain_cyclic(&exchange->domain, lo, hi, setup->agents, setup->block_bytes, setup->window_bytes,
                               setup->spread == EXCHANGE_SPREAD_BOUND);
    source->limit = source->end = request->position + request->bytes;
    if (!exchange_targets_find(&source->targets, &exchange->domain, request->view, request->position, source->limit)) {
        struct pl_error error;
        pl_fail(&error, PL_E_NOMEM, "no memory for the agents of a collective access");
        exchange_note(exchange, &error);
    }
}

static enum step after_agree(struct exchange *exchange)
{
    const int64_t lo = agree_least(&exchange->agree, LO), hi = -agree_least(&exchange->agree, HI);
    if (exchange->agree.status != PL_OK || lo >= hi) { /* somebody cannot, or nobody has anything */
        exchange->state = EX_DONE;
        return STEP_DONE;
    }
    divide(exchange, lo, hi);
    exchange_source_start(exchange);
    exchange_agent_start(exchange);
    exchange->state = EX_MOVE;
    return STEP_PENDING;
}

/* Ranks greet the agents that they have something for, and meet when these have heard them: then every agent knows all
 * its partners. Nobody has to know how many ranks or agents there are. */
static bool have_met(struct exchange *exchange)
{
    int code = MPI_SUCCESS;
    if (exchange->met)
        return true;
    exchange_agent_greet(exchange);
    if (!exchange->meeting_begun) {
        if (!exchange_source_has_greeted(exchange))
            return false;
        exchange->meeting = MPI_REQUEST_NULL;
        exchange->meeting_begun = true;
        code = real.Ibarrier(exchange->setup.comm, &exchange->meeting);
    }
    int done = 0;
    if (code == MPI_SUCCESS)
        code = real.Test(&exchange->meeting, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS)
        exchange_note_mpi(exchange, code, "meeting the partners of an exchange");
    exchange->met = done || code != MPI_SUCCESS;
    return exchange->met;
}

static enum step move_step(struct exchange *exchange)
{
    const enum step source = exchange_source_step(exchange);
    if (!have_met(exchange))
        return STEP_PENDING;
    if (exchange_agent_step(exchange) == STEP_PENDING || source == STEP_PENDING)
        return STEP_PENDING;
    exchange_finish_start(&exchange->finish, exchange->setup.comm, exchange->setup.rank, &exchange->own);
    exchange->state = EX_FINISH;
    return STEP_DONE;
}

enum step exchange_step(struct exchange *exchange)
{
    if (exchange->state == EX_AGREE) {
        if (agree_step(&exchange->agree) == STEP_PENDING)
            return STEP_PENDING;
        if (after_agree(exchange) == STEP_DONE)
            return STEP_DONE;
    }
    if (exchange->state == EX_MOVE && move_step(exchange) == STEP_PENDING)
        return STEP_PENDING;
    if (exchange->state == EX_FINISH) {
        if (exchange_finish_step(&exchange->finish) == STEP_PENDING)
            return STEP_PENDING;
        exchange->finished = true;
    }
    exchange->state = EX_DONE;
    return STEP_DONE;
}

pl_status exchange_result(const struct exchange *exchange, int64_t *ret_done, struct pl_error *error)
{
    *ret_done = 0;
    if (!exchange->finished)
        return agree_result(&exchange->agree, error);
    const pl_status status = exchange_finish_result(&exchange->finish, error);
    if (exchange_finish_went_well(&exchange->finish) && exchange->request->bytes > 0)
        *ret_done = exchange->source.end - exchange->request->position;
    return status;
}

struct pl_error exchange_told_late(const struct exchange *exchange)
{
    return exchange_finish_told(&exchange->finish);
}
