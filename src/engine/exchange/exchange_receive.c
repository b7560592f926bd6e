/* Messages of an aggregator's partners: each is received in a receive slot, put into its window or answered. Who is
 * first is served first; a rank's own messages keep their order. */
#include "engine/exchange/exchange_core.h"
#include "mpi/real.h"

#include <assert.h>

/* Can a message of this partner be dealt with now? */
static bool is_possible(struct exchange *exchange, int partner)
{
    const struct exchange_partner *owner = &exchange->aggregator.partners.list[partner];
    return !owner->busy && (move_has_failed(exchange->move) || exchange_window_of(&exchange->aggregator, owner->next));
}

/* ---- where messages come from ---- */

static void exchange_receive_receive(struct exchange *exchange, struct exchange_receive_slot *slot, int partner,
                                     int rank, struct exchange_waiting from)
{
    assert(slot->state == RECEIVE_FREE);
    struct exchange_aggregator *aggregator = &exchange->aggregator;
    slot->state = RECEIVE_RECEIVING;
    slot->rank = rank;
    slot->partner = partner;
    slot->received = from.bytes;
    slot->window = NULL;
    assert(partner < exchange->aggregator.partners.count);
    if (partner >= 0) {
        slot->window = exchange_window_of(aggregator, aggregator->partners.list[partner].next);
        aggregator->partners.list[partner].busy = true;
    }
    const int code = real.Imrecv(slot->message, (int)exchange->message_bytes, MPI_BYTE, &from.message, &slot->request);
    if (code != MPI_SUCCESS) {
        move_note_mpi(exchange->move, code, "receiving from a partner");
        slot->request = MPI_REQUEST_NULL;
        slot->received = 0;
    }
}

/* One that came before its time, and can be dealt with now. */
static bool take_waiting(struct exchange *exchange, struct exchange_receive_slot *slot)
{
    struct exchange_partners *partners = &exchange->aggregator.partners;
    if (partners->waiting_count == 0 || !(partners->look_again || move_has_failed(exchange->move)))
        return false;
    for (int i = 0; i < partners->count; i++)
        if (partners->list[i].first >= 0 && is_possible(exchange, i)) {
            exchange_receive_receive(exchange, slot, i, partners->list[i].rank, exchange_partners_take(partners, i));
            return true;
        }
    partners->look_again = false;
    return false;
}

/* The communicator itself fails: nobody can be heard any more. */
static void exchange_receive_give_up(struct exchange *exchange, int code)
{
    move_note_mpi(exchange->move, code, "receiving from a partner");
    exchange->aggregator.partners.finished = exchange->aggregator.partners.heard;
}

static bool take_new(struct exchange *exchange, struct exchange_receive_slot *slot)
{
    struct exchange_partners *partners = &exchange->aggregator.partners;
    int found = 0;
    struct exchange_waiting new = {.next = -1};
    MPI_Status status;
    if (partners->finished == partners->heard)
        return false;
    int code = real.Improbe(MPI_ANY_SOURCE, exchange_tag(exchange, TAG_DATA), exchange_comm(exchange), &found,
                            &new.message, &status);
    if (code == MPI_SUCCESS && found)
        code = real.Get_count(&status, MPI_BYTE, &new.bytes);
    if (code != MPI_SUCCESS)
        exchange_receive_give_up(exchange, code);
    if (code != MPI_SUCCESS || !found)
        return false;
    const int partner = exchange_index_find(&partners->index, status.MPI_SOURCE);
    if (partner >= 0 && !(is_possible(exchange, partner) && partners->list[partner].first < 0)) {
        if (exchange_partners_wait(partners, partner, new.message, new.bytes))
            return true;
        struct pl_error error;
        pl_fail(&error, PL_E_NOMEM, "no memory for the messages of a collective access");
        move_note(exchange->move, &error);
    }
    exchange_receive_receive(exchange, slot, partner, status.MPI_SOURCE, new);
    return true;
}

/* ---- what they say ---- */

/* The rank goes on where its message says. */
static void exchange_receive_advance(struct exchange *exchange, struct exchange_receive_slot *slot)
{
    struct exchange_aggregator *aggregator = &exchange->aggregator;
    struct exchange_partners *partners = &aggregator->partners;
    const int64_t next = slot->received > 0 ? exchange_message_head(slot->message)->next : EXCHANGE_NO_ROUND;
    assert(!slot->window || slot->window->waiting > 0);
    if (slot->window)
        slot->window->waiting--;
    slot->window = NULL;
    partners->finished += next == EXCHANGE_NO_ROUND;
    assert(partners->finished <= partners->heard || move_has_failed(exchange->move));
    partners->look_again = true;
    if (slot->partner < 0)
        return;
    partners->list[slot->partner].busy = false;
    partners->list[slot->partner].next = next;
    struct exchange_window *window = exchange_window_of(aggregator, next);
    if (window)
        window->waiting++;
    else
        partners->upcoming += next != EXCHANGE_NO_ROUND;
}

/* A message of another call or of another view would put bytes in wrong places. */
static bool exchange_receive_belongs(struct exchange *exchange, const struct exchange_receive_slot *slot)
{
    const struct exchange_head *head = exchange_message_head(slot->message);
    if (head->sequence == exchange->move->file->sequence &&
        head->generation == exchange->move->request.view->generation)
        return true;
    struct pl_error error;
    pl_fail(&error, PL_E_NOT_SAME, "rank %d is in another collective call on this file, or has another view",
            slot->rank);
    move_note(exchange->move, &error);
    return false;
}

/* Nothing that a message says may lead out of the window, out of the message, or out of the answer. */
static bool is_sound(struct exchange *exchange, const struct exchange_receive_slot *slot)
{
    const struct exchange_window *window = slot->window;
    assert(window && window->round >= 0);
    if (exchange_message_is_sound(slot->message, slot->received, exchange_writes(exchange), window->begin,
                                  window->end) &&
        exchange_message_head(slot->message)->bytes <=
            exchange->message_bytes - (int64_t)sizeof(struct exchange_answer))
        return true;
    struct pl_error error;
    pl_fail(&error, PL_E_MPI, "a message of rank %d does not hold what it should", slot->rank);
    move_note(exchange->move, &error);
    return false;
}

void exchange_receive_reply(struct exchange *exchange, struct exchange_receive_slot *slot)
{
    assert(slot->state == RECEIVE_ASKED || slot->state == RECEIVE_RECEIVING);
    assert(slot->reply_bytes >= (int64_t)sizeof(struct exchange_answer) &&
           slot->reply_bytes <= exchange->message_bytes);
    const int code = real.Isend(slot->reply, (int)slot->reply_bytes, MPI_BYTE, slot->rank,
                                exchange_tag(exchange, TAG_REPLY), exchange_comm(exchange), &slot->request);
    if (code != MPI_SUCCESS) {
        move_note_mpi(exchange->move, code, "answering a partner");
        slot->request = MPI_REQUEST_NULL;
    }
    slot->state = RECEIVE_REPLYING;
    exchange_receive_advance(exchange, slot);
}

static void exchange_receive_refuse(struct exchange *exchange, struct exchange_receive_slot *slot)
{
    assert(slot->reply);
    *(struct exchange_answer *)slot->reply = (struct exchange_answer){.failed = 1};
    slot->reply_bytes = sizeof(struct exchange_answer);
    exchange_receive_reply(exchange, slot);
}

static bool exchange_receive_arrive(struct exchange *exchange, struct exchange_receive_slot *slot)
{
    int done = 0;
    const int code = real.Test(&slot->request, &done, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && !done)
        return false;
    if (code != MPI_SUCCESS)
        move_note_mpi(exchange->move, code, "receiving from a partner");
    if (code != MPI_SUCCESS || slot->received < (int)sizeof(struct exchange_head))
        slot->received = 0;
    const bool fits = !move_has_failed(exchange->move) && exchange_receive_belongs(exchange, slot) &&
                      is_sound(exchange, slot);
    if (exchange_writes(exchange)) {
        if (fits)
            exchange_window_fill(slot->window, slot->message);
        slot->state = RECEIVE_FREE;
        exchange_receive_advance(exchange, slot);
    } else if (fits) {
        slot->state = RECEIVE_ASKED;
    } else {
        exchange_receive_refuse(exchange, slot);
    }
    return true;
}

static bool finish_reply(struct exchange_receive_slot *slot)
{
    int done = 0;
    if (real.Test(&slot->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        return false;
    slot->state = RECEIVE_FREE;
    return true;
}

bool exchange_receive_step(struct exchange *exchange, struct exchange_receive_slot *slot)
{
    switch (slot->state) {
    case RECEIVE_FREE:
        return take_waiting(exchange, slot) || take_new(exchange, slot);
    case RECEIVE_RECEIVING:
        return exchange_receive_arrive(exchange, slot);
    case RECEIVE_REPLYING:
        return finish_reply(slot);
    case RECEIVE_ASKED:
        break;
    }
    return false;
}
