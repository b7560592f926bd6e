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
    struct exchange_targets *targets = &source->targets;
    source->turn = (int)((int64_t)exchange->setup.rank * targets->count / exchange->setup.ranks);
    for (int i = 0; i < targets->count; i++) {
        struct exchange_target *target = &targets->list[i];
        target->round = target->hello_round = round_at(exchange, target->position);
        const int code = real.Issend(&target->hello_round, 1, MPI_INT64_T, rank_of(exchange, target->agent),
                                     exchange_tag(exchange, TAG_HELLO), exchange->setup.comm, &target->hello);
        if (code != MPI_SUCCESS) {
            exchange_note_mpi(exchange, code, "greeting an agent");
            target->hello = MPI_REQUEST_NULL;
            target->round = EXCHANGE_NO_ROUND; /* it does not expect anything */
        }
    }
}

bool exchange_source_has_greeted(struct exchange *exchange)
{
    struct exchange_source *source = &exchange->source;
    bool all = true;
    for (int i = 0; i < source->targets.count && !source->greeted; i++) {
        int done = 1;
        real.Test(&source->targets.list[i].hello, &done, MPI_STATUS_IGNORE);
        all = all && done;
    }
    source->greeted = source->greeted || all;
    return source->greeted;
}

/* The next part of what belongs to a target, as a message in the slot's buffer. */
static int64_t build(struct exchange *exchange, struct exchange_slot *slot, int index)
{
    struct exchange_source *source = &exchange->source;
    const struct access_request *request = exchange->request;
    struct exchange_target *target = &source->targets.list[index];
    int64_t position = target->position;
    int64_t limit = view_position(request->view, exchange_window_end(&exchange->domain, target->agent, target->round));
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
    target->position = exchange_domain_next(&exchange->domain, request->view, target->agent, position, source->limit);
    target->round = round_at(exchange, target->position);
    slot->target = index;
    struct exchange_head *head = exchange_message_head(slot->buffer);
    head->sequence = exchange->setup.sequence;
    head->generation = request->view->generation;
    head->next = target->round;
    return size;
}

static void post(struct exchange *exchange, struct exchange_slot *slot, int64_t size)
{
    const MPI_Comm comm = exchange->setup.comm;
    struct exchange_source *source = &exchange->source;
    struct exchange_target *target = &source->targets.list[slot->target];
    const int partner = rank_of(exchange, target->agent);
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
    target->underway = !exchange->setup.each_piece;
    source->turn = (slot->target + 1) % source->targets.count;
}

/* The target of the earliest window comes first; -1: there is none. An agent has few windows in memory, always with the
 * earliest that anybody has left, and a rank has few slots: ranks that filled them with later windows, each for other
 * agents, would wait for each other for ever. As it is, the earliest window is always on its way. */
static int next_target(const struct exchange_source *source)
{
    const struct exchange_targets *targets = &source->targets;
    int64_t earliest = EXCHANGE_NO_ROUND;
    int found = -1;
    for (int i = 0; i < targets->count; i++) {
        const int index = (source->turn + i) % targets->count;
        const struct exchange_target *target = &targets->list[index];
        if (!target->underway && target->round < earliest) {
            earliest = target->round;
            found = index;
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
    exchange->source.targets.list[slot->target].underway = false;
}

enum step exchange_source_step(struct exchange *exchange)
{
    struct exchange_source *source = &exchange->source;
    bool pending = false;
    for (int i = 0; i < source->slots; i++) {
        struct exchange_slot *slot = &source->slot[i];
        if (slot->busy)
            progress(exchange, slot);
        const int target = slot->busy ? -1 : next_target(source);
        if (target >= 0)
            post(exchange, slot, build(exchange, slot, target));
        pending = pending || slot->busy;
    }
    source->over = !pending;
    return pending ? STEP_PENDING : STEP_DONE;
}
