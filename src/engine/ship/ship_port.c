#include "engine/error/error.h"
#include "engine/mem.h"
#include "engine/ship/ship_core.h"
#include "mpi/real.h"
#include "mpi/wait.h"

#include <assert.h>
#include <string.h>

/* ---- Boxes that go to other nodes -------------------------------------------------------------------------------- */

static void ship_remote_receive(struct ship_remote *remote, void *to, size_t bytes, int from, int tag, MPI_Comm comm)
{
    assert(remote->count < SHIP_REMOTE_REQUESTS);
    if (remote->code == MPI_SUCCESS)
        remote->code = real.Irecv(to, (int)bytes, MPI_BYTE, from, tag, comm, &remote->requests[remote->count]);
    remote->count += remote->code == MPI_SUCCESS;
}

static void ship_remote_send(struct ship_remote *remote, const void *from, size_t bytes, int to, int tag, MPI_Comm comm)
{
    assert(remote->count < SHIP_REMOTE_REQUESTS);
    if (remote->code == MPI_SUCCESS)
        remote->code = real.Isend(from, (int)bytes, MPI_BYTE, to, tag, comm, &remote->requests[remote->count]);
    remote->count += remote->code == MPI_SUCCESS;
}

void ship_remote_post(struct ship_remote *remote, MPI_Comm comm, struct ship_box *box)
{
    assert(!remote->posted);
    const size_t bytes = (size_t)ship_box_bytes(box);
    const int agent = box->agent;
    assert(bytes <= SHIP_BOX_BYTES);
    remote->posted = true;
    remote->code = MPI_SUCCESS;
    remote->count = 0;
    box->status = PL_OK;
    ship_remote_receive(remote, &remote->answer, sizeof remote->answer, agent, SHIP_TAG_ANSWER + box->index, comm);
    if (box->command == SHIP_READ)
        ship_remote_receive(remote, box->data, bytes, agent, SHIP_TAG_READ + box->index, comm);
    ship_remote_send(remote, ship_request_begin(box), ship_request_bytes(box->pieces), agent, SHIP_TAG_REQUEST, comm);
    if (box->command == SHIP_WRITE)
        ship_remote_send(remote, box->data, bytes, agent, SHIP_TAG_WRITTEN + box->index, comm);
}

static void ship_remote_give_up(struct ship_remote *remote)
{
    for (int i = 0; i < remote->count; i++) {
        if (remote->requests[i] == MPI_REQUEST_NULL)
            continue;
        real.Cancel(&remote->requests[i]);
        real.Request_free(&remote->requests[i]);
    }
}

static void open_answer(const struct ship_answer *answer, struct ship_box *box)
{
    assert(answer->pieces == 0 || answer->pieces == box->pieces);
    box->status = answer->status;
    box->end = answer->end;
    memcpy(box->text, answer->text, sizeof box->text);
    for (int i = 0; i < box->pieces; i++)
        box->piece[i].done = answer->pieces > 0 ? answer->done[i] : box->piece[i].bytes;
}

pl_status ship_remote_wait(struct ship_remote *remote, struct ship_box *box, MPI_Comm progress, struct pl_error *error)
{
    assert(remote->posted);
    if (remote->code == MPI_SUCCESS)
        remote->code = wait_answer(remote->count, remote->requests, progress);
    remote->posted = false;
    if (remote->code == MPI_SUCCESS) {
        open_answer(&remote->answer, box);
        return PL_OK;
    }
    ship_remote_give_up(remote);
    error_from_mpi(remote->code, "a message to or from an agent on another node", error);
    return error->status = PL_E_PEER; /* there is no answer, whatever it might have been */
}

/* ---- Boxes that come from other nodes ---------------------------------------------------------------------------- */

enum state { FREE, REQUEST, WRITTEN, COMPLETE, SERVED, ANSWERED };

struct slot {
    enum state state;
    int from; /* the rank that asks */
    int count;
    MPI_Request requests[2];
    struct ship_box *box;
    struct ship_answer answer;
};

struct ship_port {
    MPI_Comm comm;
    const _Atomic int64_t *end;
    struct ship_box *boxes;
    struct slot slots[SHIP_PORT_BOXES];
};

pl_status ship_port_new(MPI_Comm comm, const _Atomic int64_t *end, struct ship_port **ret_port, struct pl_error *error)
{
    struct ship_port *port = mem_zalloc(1, sizeof *port);
    if (port)
        port->boxes = mem_alloc(SHIP_PORT_BOXES * sizeof *port->boxes + _Alignof(struct ship_box));
    if (!port || !port->boxes) {
        ship_port_free(port);
        return pl_fail(error, PL_E_NOMEM, "no memory for what comes to an agent from other nodes");
    }
    const size_t over = (uintptr_t)port->boxes % _Alignof(struct ship_box);
    struct ship_box *first = (void *)((char *)port->boxes + (over > 0 ? _Alignof(struct ship_box) - over : 0));
    for (int i = 0; i < SHIP_PORT_BOXES; i++)
        port->slots[i].box = &first[i];
    port->comm = comm;
    port->end = end;
    *ret_port = port;
    return PL_OK;
}

void ship_port_free(struct ship_port *port)
{
    assert(!port || ship_port_is_quiet(port));
    if (!port)
        return;
    mem_free(port->boxes);
    mem_free(port);
}

/* ---- receiving ---- */

static bool find_request(struct ship_port *port, struct slot *slot)
{
    assert(slot->state == FREE);
    MPI_Message message;
    MPI_Status status;
    int found = 0;
    if (real.Improbe(MPI_ANY_SOURCE, SHIP_TAG_REQUEST, port->comm, &found, &message, &status) != MPI_SUCCESS || !found)
        return false;
    slot->from = status.MPI_SOURCE;
    slot->count = 1;
    if (real.Imrecv(ship_request_begin(slot->box), (int)ship_request_bytes(SHIP_PIECES), MPI_BYTE, &message,
                    slot->requests) == MPI_SUCCESS)
        slot->state = REQUEST;
    return true;
}

/* The request is here; its data follow where it writes. */
static void accept_request(struct ship_port *port, struct slot *slot)
{
    struct ship_box *box = slot->box;
    const int64_t bytes = ship_box_bytes(box);
    assert(box->index >= 0 && box->index < SHIP_BOXES && box->pieces <= SHIP_PIECES && bytes <= SHIP_BOX_BYTES);
    box->status = PL_OK;
    box->text[0] = '\0';
    slot->state = COMPLETE;
    if (box->command != SHIP_WRITE)
        return;
    slot->state = real.Irecv(box->data, (int)bytes, MPI_BYTE, slot->from, SHIP_TAG_WRITTEN + box->index, port->comm,
                             slot->requests) == MPI_SUCCESS
                      ? WRITTEN
                      : FREE;
}

static bool messages_are_over(struct slot *slot)
{
    MPI_Status statuses[2];
    int done = 0;
    if (real.Testall(slot->count, slot->requests, &done, statuses) == MPI_SUCCESS)
        return done;
    slot->state = FREE; /* MPI has failed: its rank has heard of it */
    return false;
}

/* ---- answering ---- */

/* How much of the data was read: up to the last piece of which there is something. */
static int64_t bytes_read(const struct ship_box *box)
{
    int64_t at = 0, read = 0;
    for (int i = 0; i < box->pieces; at += box->piece[i++].bytes)
        if (box->piece[i].done > 0)
            read = at + box->piece[i].done;
    return read;
}

static void write_answer(const struct ship_box *box, int64_t end, struct ship_answer *ret_answer)
{
    bool whole = true;
    for (int i = 0; i < box->pieces; i++) {
        ret_answer->done[i] = box->piece[i].done;
        whole = whole && box->piece[i].done == box->piece[i].bytes;
    }
    ret_answer->pieces = whole ? 0 : box->pieces;
    ret_answer->status = box->status;
    ret_answer->end = end;
    memcpy(ret_answer->text, box->text, sizeof ret_answer->text);
}

static void send_answer(struct ship_port *port, struct slot *slot)
{
    struct ship_box *box = slot->box;
    struct ship_answer *answer = &slot->answer;
    assert(slot->state == SERVED && bytes_read(box) <= SHIP_BOX_BYTES);
    write_answer(box, atomic_load(port->end), answer);
    slot->count = 1;
    slot->state = ANSWERED;
    int code = real.Isend(answer, (int)ship_answer_bytes(answer->pieces), MPI_BYTE, slot->from,
                          SHIP_TAG_ANSWER + box->index, port->comm, &slot->requests[0]);
    if (code == MPI_SUCCESS && box->command == SHIP_READ) {
        code = real.Isend(box->data, (int)bytes_read(box), MPI_BYTE, slot->from, SHIP_TAG_READ + box->index, port->comm,
                          &slot->requests[1]);
        slot->count = 2;
    }
    if (code != MPI_SUCCESS)
        slot->state = FREE;
}

/* ---- the port ---- */

static void drop_request(struct slot *slot)
{
    real.Cancel(slot->requests);
    real.Request_free(slot->requests);
    slot->state = FREE;
}

static bool move_slot(struct ship_port *port, struct slot *slot)
{
    const enum state before = slot->state;
    if (slot->state == SERVED)
        send_answer(port, slot);
    else if (slot->state == ANSWERED && messages_are_over(slot))
        slot->state = FREE;
    else if (slot->state == WRITTEN && messages_are_over(slot))
        slot->state = COMPLETE;
    else if (slot->state == REQUEST && messages_are_over(slot))
        accept_request(port, slot);
    return slot->state != before;
}

bool ship_port_poll(struct ship_port *port, bool last)
{
    bool moved = false, more = !last;
    for (int i = 0; i < SHIP_PORT_BOXES; i++) {
        struct slot *slot = &port->slots[i];
        if (slot->state == FREE) {
            more = more && find_request(port, slot);
            moved = moved || more;
        }
        if (move_slot(port, slot))
            moved = true;
        else if (last && (slot->state == REQUEST || slot->state == WRITTEN))
            drop_request(slot);
    }
    return moved;
}

int ship_port_take(struct ship_port *port, struct ship_box **ret_boxes)
{
    int count = 0;
    for (int i = 0; i < SHIP_PORT_BOXES; i++)
        if (port->slots[i].state == COMPLETE)
            ret_boxes[count++] = port->slots[i].box;
    return count;
}

void ship_port_answer(struct ship_port *port, struct ship_box *box)
{
    struct slot *slot = &port->slots[box - port->slots[0].box];
    assert(slot->box == box && slot->state == COMPLETE);
    slot->state = SERVED;
}

bool ship_port_is_quiet(const struct ship_port *port)
{
    for (int i = 0; i < SHIP_PORT_BOXES; i++)
        if (port->slots[i].state != FREE)
            return false;
    return true;
}
