/* The side of the rank whose data they are. At most one message to each agent is under way (of single pieces, a few),
 * and it is sent synchronously: a fast rank never floods an agent. Several arrive, and are answered, in their order. */
#include "mpi/real.h"
#include "mpiio/exchange/exchange_core.h"

#include <string.h>

static int rank_of(const struct exchange *exchange, int agent)
{
    return exchange_agent_rank(agent, exchange->setup.agents, exchange->setup.ranks);
}

/* The window in which the rank's data go on at `position`. */
static int64_t round_at(const struct exchange *exchange, int64_t position)
{
    if (position >= exchange->source.limit)
        return EXCHANGE_NO_ROUND;
    return exchange_domain_round(&exchange->domain, view_byte(exchange->request->view, position));
}

void exchange_source_start(struct exchange *exchange)
{
    struct exchange_source *source = &exchange->source;
    const int agents = exchange->setup.agents;
    source->turn = (int)((int64_t)exchange->setup.rank * agents / exchange->setup.ranks);
    for (int agent = 0; agent < agents; agent++) {
        source->underway[agent] = false;
        source->hello[agent] = MPI_REQUEST_NULL;
        source->round[agent] = round_at(exchange, source->position[agent]);
        if (!exchange->touch[agent])
            continue;
        source->hello_round[agent] = source->round[agent];
        const int code = real.Isend(&source->hello_round[agent], 1, MPI_INT64_T, rank_of(exchange, agent),
                                    exchange_tag(exchange, TAG_HELLO), exchange->setup.comm, &source->hello[agent]);
        if (code != MPI_SUCCESS)
            exchange_note_mpi(exchange, code, "greeting an agent");
    }
}

/* The next part of what belongs to `agent`, as a message in the slot's buffer. */
static int64_t build(struct exchange *exchange, struct exchange_slot *slot, int agent)
{
    struct exchange_source *source = &exchange->source;
    const struct access_request *request = exchange->request;
    int64_t position = source->position[agent];
    int64_t limit = view_position(request->view, exchange_window_end(&exchange->domain, agent, source->round[agent]));
    limit = limit < source->limit ? limit : source->limit;
    if (!request->view->contiguous && source->file.position != position)
        typemap_cursor_seek(&source->file, position);
    const struct exchange_content content = {.view = request->view,
                                             .file = &source->file,
                                             .memory = request->write ? &source->memory : NULL,
                                             .pieces_max = exchange->setup.each_piece ? 1 : INT64_MAX};
    if (request->write && source->memory.cursor.position != position - request->position)
        access_memory_seek(&source->memory, position - request->position);
    slot->position = position;
    const int64_t size = exchange_message_build(slot->buffer, exchange->message_bytes, &content, &position, limit);
    slot->bytes = position - slot->position;
    position = exchange_domain_next(&exchange->domain, request->view, agent, position, source->limit);
    source->position[agent] = position;
    source->round[agent] = round_at(exchange, position);
    slot->agent = agent;
    struct exchange_head *head = exchange_message_head(slot->buffer);
    head->sequence = exchange->setup.sequence;
    head->generation = request->view->generation;
    head->next = source->round[agent];
    return size;
}

static void post(struct exchange *exchange, struct exchange_slot *slot, int64_t size)
{
    const MPI_Comm comm = exchange->setup.comm;
    const int partner = rank_of(exchange, slot->agent);
    slot->receive = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
    if (!exchange->request->write)
        code = real.Irecv(slot->answer, (int)exchange->message_bytes, MPI_BYTE, partner,
                          exchange_tag(exchange, TAG_REPLY), comm, &slot->receive);
    if (code == MPI_SUCCESS)
        code = real.Issend(slot->buffer, (int)size, MPI_BYTE, partner, exchange_tag(exchange, TAG_DATA), comm,
                           &slot->send);
    if (code != MPI_SUCCESS) {
        exchange_note_mpi(exchange, code, "sending to an agent");
        return;
    }
    slot->busy = true;
    exchange->source.underway[slot->agent] = !exchange->setup.each_piece;
    exchange->source.turn = (slot->agent + 1) % exchange->setup.agents;
}

/* The agent of the earliest window comes first. An agent takes nothing for a later one before all ranks have passed the
 * earlier, and a rank has few slots: ranks that filled them with later windows, each for other agents, would wait for
 * each other for ever. As it is, the earliest window that anybody has left is always on its way. */
static int next_agent(const struct exchange *exchange)
{
    const struct exchange_source *source = &exchange->source;
    int64_t earliest = EXCHANGE_NO_ROUND;
    int found = -1;
    for (int i = 0; i < exchange->setup.agents; i++) {
        const int agent = (source->turn + i) % exchange->setup.agents;
        if (!source->underway[agent] && source->round[agent] < earliest) {
            earliest = source->round[agent];
            found = agent;
        }
    }
    return found;
}

/* The data of an answer go to memory; where the file ended before, so does the request. */
static void take_answer(struct exchange *exchange, const struct exchange_slot *slot)
{
    struct exchange_source *source = &exchange->source;
    const struct exchange_answer *answer = (const struct exchange_answer *)slot->answer;
    access_memory_seek(&source->memory, slot->position - exchange->request->position);
    access_memory_give(&source->memory, slot->answer + sizeof *answer, answer->bytes);
    if (answer->bytes < slot->bytes && slot->position + answer->bytes < source->end)
        source->end = slot->position + answer->bytes;
}

static void progress(struct exchange *exchange, struct exchange_slot *slot)
{
    int sent = 0, received = 0;
    int code = real.Test(&slot->send, &sent, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS)
        code = real.Test(&slot->receive, &received, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) {
        exchange_note_mpi(exchange, code, "exchanging data with an agent");
        sent = received = 1;
    }
    if (!sent || !received)
        return;
    if (!exchange->request->write && code == MPI_SUCCESS)
        take_answer(exchange, slot);
    slot->busy = false;
    exchange->source.underway[slot->agent] = false;
}

enum step exchange_source_step(struct exchange *exchange)
{
    struct exchange_source *source = &exchange->source;
    bool pending = false;
    for (int i = 0; i < source->slots; i++) {
        struct exchange_slot *slot = &source->slot[i];
        if (slot->busy)
            progress(exchange, slot);
        const int agent = slot->busy ? -1 : next_agent(exchange);
        if (agent >= 0)
            post(exchange, slot, build(exchange, slot, agent));
        pending = pending || slot->busy;
    }
    const bool greeted = exchange_all_sent(source->hello, exchange->setup.agents);
    return pending || !greeted ? STEP_PENDING : STEP_DONE;
}
