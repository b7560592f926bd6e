/* Messages of an agent's partners: each is received at a desk, put into its window or answered. Who is first is served
 * first; a rank's own messages keep their order. */
#include "mpi/real.h"
#include "mpiio/exchange/exchange_core.h"

/* Can a message of this partner be dealt with now? */
static bool is_possible(struct exchange *exchange, int partner)
{
    const struct exchange_partner *owner = &exchange->agent.partners.list[partner];
    return !owner->busy && (exchange_has_failed(exchange) || exchange_window_of(&exchange->agent, owner->next));
}

/* ---- where messages come from ---- */

static void receive(struct exchange *exchange, struct exchange_desk *desk, int partner, int rank,
                    struct exchange_waiting from)
{
    struct exchange_agent *agent = &exchange->agent;
    desk->state = DESK_RECEIVING;
    desk->rank = rank;
    desk->partner = partner;
    desk->received = from.bytes;
    desk->window = NULL;
    if (partner >= 0) {
        desk->window = exchange_window_of(agent, agent->partners.list[partner].next);
        agent->partners.list[partner].busy = true;
    }
    const int code = real.Imrecv(desk->message, (int)exchange->message_bytes, MPI_BYTE, &from.message, &desk->request);
    if (code != MPI_SUCCESS) {
        exchange_note_mpi(exchange, code, "receiving from a partner");
        desk->request = MPI_REQUEST_NULL;
        desk->received = 0;
    }
}

/* One that came before its time, and can be dealt with now. */
static bool take_waiting(struct exchange *exchange, struct exchange_desk *desk)
{
    struct exchange_partners *partners = &exchange->agent.partners;
    if (partners->waiting_count == 0 || !(partners->look_again || exchange_has_failed(exchange)))
        return false;
    for (int i = 0; i < partners->count; i++)
        if (partners->list[i].first >= 0 && is_possible(exchange, i)) {
            receive(exchange, desk, i, partners->list[i].rank, exchange_partners_take(partners, i));
            return true;
        }
    partners->look_again = false;
    return false;
}

/* The communicator itself fails: nobody can be heard any more. */
static void give_up(struct exchange *exchange, int code)
{
    exchange_note_mpi(exchange, code, "receiving from a partner");
    exchange->agent.partners.finished = exchange->agent.partners.heard;
}

static bool take_new(struct exchange *exchange, struct exchange_desk *desk)
{
    struct exchange_partners *partners = &exchange->agent.partners;
    int found = 0;
    struct exchange_waiting new = {.next = -1};
    MPI_Status status;
    if (partners->finished == partners->heard)
        return false;
    int code = real.Improbe(MPI_ANY_SOURCE, exchange_tag(exchange, TAG_DATA), exchange->setup.comm, &found,
                            &new.message, &status);
    if (code == MPI_SUCCESS && found)
        code = real.Get_count(&status, MPI_BYTE, &new.bytes);
    if (code != MPI_SUCCESS)
        give_up(exchange, code);
    if (code != MPI_SUCCESS || !found)
        return false;
    const int partner = exchange_index_find(&partners->index, status.MPI_SOURCE);
    if (partner >= 0 && !(is_possible(exchange, partner) && partners->list[partner].first < 0)) {
        if (exchange_partners_wait(partners, partner, new.message, new.bytes))
            return true;
        struct pl_error error;
        pl_fail(&error, PL_E_NOMEM, "no memory for the messages of a collective access");
        exchange_note(exchange, &error);
    }
    receive(exchange, desk, partner, status.MPI_SOURCE, new);
    return true;
}

/* ---- what they say ---- */

/* The rank goes on where its message says. */
static void advance(struct exchange *exchange, struct exchange_desk *desk)
{
    struct exchange_agent *agent = &exchange->agent;
    struct exchange_partners *partners = &agent->partners;
    const int64_t next = desk->received > 0 ? exchange_message_head(desk->message)->next : EXCHANGE_NO_ROUND;
    if (desk->window)
        desk->window->waiting--;
    desk->window = NULL;
    partners->finished += next == EXCHANGE_NO_ROUND;
    partners->look_again = true;
    if (desk->partner < 0)
        return;
    partners->list[desk->partner].busy = false;
    partners->list[desk->partner].next = next;
    struct exchange_window *window = exchange_window_of(agent, next);
    if (window)
        window->waiting++;
    else
        partners->upcoming += next != EXCHANGE_NO_ROUND;
}

/* A message of another call or of another view would put bytes in wrong places. */
static bool belongs(struct exchange *exchange, const struct exchange_desk *desk)
{
    const struct exchange_head *head = exchange_message_head(desk->message);
    if (head->sequence == exchange->setup.sequence && head->generation == exchange->request->view->generation)
        return true;
    struct pl_error error;
    pl_fail(&error, PL_E_NOT_SAME, "rank %d is in another collective call on this file, or has another view",
            desk->rank);
    exchange_note(exchange, &error);
    return false;
}

/* Nothing that a message says may lead out of the window, out of the message, or out of the answer. */
static bool is_sound(struct exchange *exchange, const struct exchange_desk *desk)
{
    const struct exchange_window *window = desk->window;
    if (exchange_message_is_sound(desk->message, desk->received, exchange->request->write, window->begin,
                                  window->end) &&
        exchange_message_head(desk->message)->bytes <=
            exchange->message_bytes - (int64_t)sizeof(struct exchange_answer))
        return true;
    struct pl_error error;
    pl_fail(&error, PL_E_MPI, "a message of rank %d does not hold what it should", desk->rank);
    exchange_note(exchange, &error);
    return false;
}

void exchange_desk_reply(struct exchange *exchange, struct exchange_desk *desk)
{
    const int code = real.Isend(desk->reply, (int)desk->reply_bytes, MPI_BYTE, desk->rank,
                                exchange_tag(exchange, TAG_REPLY), exchange->setup.comm, &desk->request);
    if (code != MPI_SUCCESS) {
        exchange_note_mpi(exchange, code, "answering a partner");
        desk->request = MPI_REQUEST_NULL;
    }
    desk->state = DESK_REPLYING;
    advance(exchange, desk);
}

static void refuse(struct exchange *exchange, struct exchange_desk *desk)
{
    *(struct exchange_answer *)desk->reply = (struct exchange_answer){.failed = 1};
    desk->reply_bytes = sizeof(struct exchange_answer);
    exchange_desk_reply(exchange, desk);
}

static bool arrive(struct exchange *exchange, struct exchange_desk *desk)
{
    int done = 0;
    const int code = real.Test(&desk->request, &done, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && !done)
        return false;
    if (code != MPI_SUCCESS)
        exchange_note_mpi(exchange, code, "receiving from a partner");
    if (code != MPI_SUCCESS || desk->received < (int)sizeof(struct exchange_head))
        desk->received = 0;
    const bool fits = !exchange_has_failed(exchange) && belongs(exchange, desk) && is_sound(exchange, desk);
    if (exchange->request->write) {
        if (fits)
            exchange_window_fill(desk->window, desk->message);
        desk->state = DESK_FREE;
        advance(exchange, desk);
    } else if (fits) {
        desk->state = DESK_ASKED;
    } else {
        refuse(exchange, desk);
    }
    return true;
}

static bool finish_reply(struct exchange_desk *desk)
{
    int done = 0;
    if (real.Test(&desk->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        return false;
    desk->state = DESK_FREE;
    return true;
}

bool exchange_desk_step(struct exchange *exchange, struct exchange_desk *desk)
{
    switch (desk->state) {
    case DESK_FREE:
        return take_waiting(exchange, desk) || take_new(exchange, desk);
    case DESK_RECEIVING:
        return arrive(exchange, desk);
    case DESK_REPLYING:
        return finish_reply(desk);
    case DESK_ASKED:
        break;
    }
    return false;
}
