#include "mpiio/exchange/exchange.h"

#include "mpi/real.h"
#include "mpiio/error/error.h"
#include "mpiio/exchange/exchange_core.h"
#include "mpiio/exchange/exchange_cover.h"
#include "mpiio/mem.h"

#include <string.h>

enum { LO, HI, VALUES };

static const int64_t MESSAGE_BYTES = 1 << 20;

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

bool exchange_all_sent(MPI_Request *requests, int count)
{
    bool all = true;
    for (int i = 0; i < count; i++) {
        int done = 1;
        real.Test(&requests[i], &done, MPI_STATUS_IGNORE);
        all = all && done;
    }
    return all;
}

/* ---- memory: one block for everything, kept by the file ---- */

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
    const size_t ranks = (size_t)exchange->setup.ranks, message = (size_t)exchange->message_bytes;
    if (agent->number < 0)
        return;
    agent->rank = cut(cutter, ranks * sizeof *agent->rank);
    agent->next = cut(cutter, ranks * sizeof *agent->next);
    agent->cover = cut(cutter, exchange_cover_bytes(exchange->setup.window_bytes));
    agent->message = cut(cutter, message);
    agent->window = cut(cutter, (size_t)exchange->setup.window_bytes);
    if (exchange->request->write)
        agent->back = cut(cutter, (size_t)exchange->setup.window_bytes);
    for (int i = 0; i < EXCHANGE_REPLIES && !exchange->request->write; i++)
        agent->reply[i] = cut(cutter, message);
}

static void lay_out(struct exchange *exchange, struct cutter *cutter)
{
    struct exchange_source *source = &exchange->source;
    const size_t agents = (size_t)exchange->setup.agents, message = (size_t)exchange->message_bytes;
    exchange->touch = cut(cutter, agents * sizeof *exchange->touch);
    exchange->touched = cut(cutter, agents * sizeof *exchange->touched);
    source->position = cut(cutter, agents * sizeof *source->position);
    source->limit = cut(cutter, agents * sizeof *source->limit);
    source->underway = cut(cutter, agents * sizeof *source->underway);
    source->hello_round = cut(cutter, agents * sizeof *source->hello_round);
    source->hello = cut(cutter, agents * sizeof *source->hello);
    for (int i = 0; i < source->slots; i++) {
        source->slot[i].buffer = cut(cutter, message);
        source->slot[i].answer = exchange->request->write ? NULL : cut(cutter, message);
    }
    lay_out_agent(exchange, cutter);
}

static pl_status take_memory(struct exchange *exchange, struct exchange_memory *memory, struct pl_error *error)
{
    struct cutter cutter = {0};
    lay_out(exchange, &cutter);
    if (cutter.used > memory->capacity) {
        exchange_memory_clear(memory);
        memory->bytes = mem_alloc(cutter.used);
        if (!memory->bytes)
            return pl_fail(error, PL_E_NOMEM, "no memory for the %zu bytes of a collective access", cutter.used);
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

static pl_status prepare(struct exchange *exchange, struct exchange_memory *memory, struct pl_error *error)
{
    const struct access_request *request = exchange->request;
    const struct exchange_setup *setup = &exchange->setup;
    exchange->message_bytes = setup->window_bytes < MESSAGE_BYTES ? setup->window_bytes : MESSAGE_BYTES;
    if (exchange->message_bytes < EXCHANGE_MESSAGE_BYTES_MIN)
        exchange->message_bytes = EXCHANGE_MESSAGE_BYTES_MIN;
    exchange->agent.number = exchange_rank_agent(setup->rank, setup->agents, setup->ranks);
    exchange->source.slots = setup->agents < EXCHANGE_SLOTS ? setup->agents : EXCHANGE_SLOTS;
    if (take_memory(exchange, memory, error) ||
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
    exchange->late = *late;
    exchange->late_heard = late_heard;
    if (prepare(exchange, memory, error)) {
        exchange_free(exchange);
        return error->status;
    }
    start_agree(exchange);
    exchange->state = EX_AGREE;
    *ret_exchange = exchange;
    return PL_OK;
}

enum step exchange_refuse_step(struct exchange_refusal *refusal, const struct exchange_setup *setup,
                               struct pl_error *error)
{
    static const int64_t nothing[VALUES] = {[LO] = INT64_MAX, [HI] = INT64_MAX};
    if (!refusal->started)
        agree_start(&refusal->agree, setup->comm, setup->rank, error, nothing, VALUES);
    refusal->started = true;
    return agree_step(&refusal->agree);
}

void exchange_free(struct exchange *exchange)
{
    if (!exchange)
        return;
    access_memory_clear(&exchange->source.memory);
    typemap_cursor_clear(&exchange->source.file);
    mem_free(exchange);
}

/* ---- the steps ---- */

/* Which parts of the request belong to which agent; views are monotone, so each gets one range of positions. */
static void divide(struct exchange *exchange)
{
    const struct access_request *request = exchange->request;
    struct exchange_source *source = &exchange->source;
    const int64_t last = request->position + request->bytes;
    int64_t position = request->position;
    for (int agent = 0; agent < exchange->setup.agents; agent++) {
        int64_t limit = position;
        if (request->bytes > 0 && position < last &&
            view_byte(request->view, position) < exchange_domain_end(&exchange->domain, agent)) {
            limit = view_position(request->view, exchange_domain_end(&exchange->domain, agent));
            limit = limit < last ? limit : last;
        }
        source->position[agent] = position;
        source->limit[agent] = limit;
        exchange->touch[agent] = limit > position;
        position = limit;
    }
}

static enum step after_agree(struct exchange *exchange)
{
    const int64_t lo = agree_least(&exchange->agree, LO), hi = -agree_least(&exchange->agree, HI);
    if (exchange->agree.status != PL_OK || lo >= hi) { /* somebody cannot, or nobody has anything */
        exchange->state = EX_DONE;
        return STEP_DONE;
    }
    const struct exchange_setup *setup = &exchange->setup;
    exchange_domain_make(&exchange->domain, lo, hi, setup->agents, setup->block_bytes, setup->window_bytes);
    divide(exchange);
    const int code = real.Iallreduce(exchange->touch, exchange->touched, setup->agents, MPI_INT32_T, MPI_SUM,
                                     setup->comm, &exchange->count_request);
    if (code != MPI_SUCCESS)
        exchange_note_mpi(exchange, code, "counting the partners of an exchange");
    exchange->state = EX_COUNT;
    return STEP_PENDING;
}

static enum step count_step(struct exchange *exchange)
{
    int done = 0;
    const int code = real.Test(&exchange->count_request, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS)
        exchange_note_mpi(exchange, code, "counting the partners of an exchange");
    if (!done)
        return STEP_PENDING;
    exchange_source_start(exchange);
    exchange_agent_start(exchange);
    exchange->state = EX_MOVE;
    return STEP_DONE;
}

static enum step move_step(struct exchange *exchange)
{
    const enum step source = exchange_source_step(exchange), agent = exchange_agent_step(exchange);
    if (source == STEP_PENDING || agent == STEP_PENDING)
        return STEP_PENDING;
    const int64_t late_rank = exchange->late.status == PL_OK ? INT64_MAX : exchange->setup.rank;
    agree_start(&exchange->agree, exchange->setup.comm, exchange->setup.rank, &exchange->own, &late_rank, 1);
    exchange->state = EX_FINISH;
    return STEP_DONE;
}

/* The access has gone well; does anybody have an older failure to tell? */
static enum step finish_step(struct exchange *exchange)
{
    if (agree_step(&exchange->agree) == STEP_PENDING)
        return STEP_PENDING;
    if (exchange->agree.status != PL_OK || agree_least(&exchange->agree, 0) == INT64_MAX) {
        exchange->state = EX_DONE;
        return STEP_DONE;
    }
    agree_start(&exchange->late_agree, exchange->setup.comm, exchange->setup.rank, &exchange->late, NULL, 0);
    exchange->state = EX_LATE;
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
    if (exchange->state == EX_COUNT && count_step(exchange) == STEP_PENDING)
        return STEP_PENDING;
    if (exchange->state == EX_MOVE && move_step(exchange) == STEP_PENDING)
        return STEP_PENDING;
    if (exchange->state == EX_FINISH && finish_step(exchange) == STEP_PENDING)
        return STEP_PENDING;
    if (exchange->state == EX_LATE && agree_step(&exchange->late_agree) == STEP_PENDING)
        return STEP_PENDING;
    exchange->told_late = exchange->state == EX_LATE;
    exchange->state = EX_DONE;
    return STEP_DONE;
}

pl_status exchange_result(const struct exchange *exchange, int64_t *ret_done, struct pl_error *error)
{
    *ret_done = 0;
    if (exchange->agree.status != PL_OK)
        return agree_result(&exchange->agree, error);
    if (exchange->request->bytes > 0)
        *ret_done = exchange->source.end - exchange->request->position;
    if (!exchange->told_late || (exchange->late.status != PL_OK && exchange->late_heard))
        return PL_OK;
    return agree_result(&exchange->late_agree, error);
}

struct pl_error exchange_told_late(const struct exchange *exchange)
{
    return exchange->told_late ? exchange->late : (struct pl_error){.status = PL_OK};
}
