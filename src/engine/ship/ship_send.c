/* A rank's requests on their way to the agents, in bounded memory: a stretch of the request that belongs to one agent
 * fills a box, and a few of them are on their way at once. Answers are taken in the order of the request. */
#include "engine/access/access_memory.h"
#include "engine/ship/ship_core.h"
#include "engine/ship/ship_mail.h"
#include "mpi/wait.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* ---- Boxes ------------------------------------------------------------------------------------------------------- */

static size_t boxes_begin(int ranks)
{
    const size_t bytes = sizeof(struct ship_segment) + (size_t)ranks * sizeof(struct ship_bell);
    const size_t page = _Alignof(struct ship_box);
    return (bytes + page - 1) / page * page;
}

size_t ship_segment_bytes(int ranks)
{
    return boxes_begin(ranks) + (size_t)ranks * SHIP_BOXES * sizeof(struct ship_box);
}

struct ship_box *ship_segment_box(struct ship_segment *segment, int ranks, int place, int index)
{
    assert(place >= 0 && place < ranks && index >= 0 && index < SHIP_BOXES);
    struct ship_box *boxes = (struct ship_box *)(void *)((char *)segment + boxes_begin(ranks));
    return &boxes[(size_t)place * SHIP_BOXES + (size_t)index];
}

struct ship_bell *ship_segment_bell(struct ship_segment *segment, int ranks, int rank)
{
    for (int place = 0; place < ranks; place++)
        if (atomic_load_explicit(&segment->bells[place].rank, memory_order_relaxed) == rank)
            return &segment->bells[place];
    return NULL;
}

void ship_box_post(struct ship_bell *bell, struct ship_box *box)
{
    box->status = PL_OK;
    atomic_store(&box->state, SHIP_BOX_POSTED + (uint32_t)box->agent);
    atomic_fetch_add(&bell->count, 1);
    wait_wake(&bell->count);
}

void ship_box_answer(struct ship_box *box)
{
    assert(atomic_load(&box->state) >= SHIP_BOX_POSTED);
    atomic_store(&box->state, SHIP_BOX_ANSWERED);
    wait_wake(&box->state);
}

void ship_box_fail(struct ship_box *box, const struct pl_error *error)
{
    assert(error->status != PL_OK);
    if (box->status != PL_OK)
        return;
    box->status = (int32_t)error->status;
    snprintf(box->text, sizeof box->text, "%.*s", SHIP_TEXT_MAX - 1, error->text);
}

int64_t ship_box_bytes(const struct ship_box *box)
{
    assert(box->pieces >= 0 && box->pieces <= SHIP_PIECES);
    int64_t bytes = 0;
    for (int i = 0; i < box->pieces; i++)
        bytes += box->piece[i].bytes;
    return bytes;
}

bool ship_bell_is_heard(const struct ship_bell *bell)
{
    const pid_t pid = atomic_load(&bell->pid);
    return pid > 0 && (kill(pid, 0) == 0 || errno != ESRCH);
}

/* ---- Posting ----------------------------------------------------------------------------------------------------- */

/* The boxes of a rank: taking them, posting them to agents near and far, waiting for the answers. */

/* ---- taking ---- */

static bool has_free(void *arg)
{
    return atomic_load(&((struct ship *)arg)->free) > 0;
}

static struct ship_box *own_box(struct ship *ship, int index)
{
    return ship_segment_box(ship->segment, ship->node.size, ship->node.rank, index);
}

int ship_boxes_take(struct ship *ship, int wanted, MPI_Comm progress, struct ship_box **ret_boxes)
{
    assert(wanted > 0 && wanted <= SHIP_BOXES);
    for (;;) {
        int count = 0;
        pthread_mutex_lock(&ship->lock);
        for (int i = 0; i < SHIP_BOXES && count < wanted; i++) {
            if (ship->taken[i])
                continue;
            ship->taken[i] = true;
            ret_boxes[count++] = own_box(ship, i);
        }
        atomic_fetch_sub(&ship->free, count);
        pthread_mutex_unlock(&ship->lock);
        if (count > 0)
            return count;
        wait_until(has_free, ship, NULL, progress); /* other threads of this rank have them all */
    }
}

void ship_boxes_give(struct ship *ship, struct ship_box **boxes, int count)
{
    pthread_mutex_lock(&ship->lock);
    for (int i = 0; i < count; i++) {
        assert(ship->taken[boxes[i]->index]);
        ship->taken[boxes[i]->index] = false;
    }
    const int before = atomic_fetch_add(&ship->free, count);
    assert(before >= 0 && before + count <= SHIP_BOXES);
    (void)before;
    pthread_mutex_unlock(&ship->lock);
}

/* ---- posting and waiting ---- */

void ship_post(struct ship *ship, struct ship_box *box)
{
    struct ship_bell *bell = ship_segment_bell(ship->segment, ship->node.size, box->agent);
    assert(bell || ship->comm != MPI_COMM_NULL);
    if (bell)
        ship_box_post(bell, box);
    else
        ship_remote_post(&ship->remote[box->index], ship->comm, box);
}

struct answer {
    const struct ship_bell *bell;
    struct ship_box *box;
    int64_t looks;
};

/* A box that nobody will answer is one too: its agent's process is looked for now and then. */
static bool is_answered(void *arg)
{
    enum { LOOKS = 4096 };
    struct answer *answer = arg;
    if (atomic_load(&answer->box->state) == SHIP_BOX_ANSWERED)
        return true;
    return ++answer->looks % LOOKS == 0 && !ship_bell_is_heard(answer->bell);
}

static pl_status wait_here(struct ship *ship, struct ship_box *box, MPI_Comm progress, struct pl_error *error)
{
    struct answer answer = {.bell = ship_segment_bell(ship->segment, ship->node.size, box->agent), .box = box};
    wait_until(is_answered, &answer, &box->state, progress);
    if (atomic_load(&box->state) != SHIP_BOX_ANSWERED)
        return pl_fail(error, PL_E_PEER, "the process of rank %d, which is an agent of this file, has ended",
                       (int)box->agent);
    atomic_store(&box->state, SHIP_BOX_IDLE);
    return PL_OK;
}

pl_status ship_box_wait(struct ship *ship, struct ship_box *box, MPI_Comm progress, struct pl_error *error)
{
    struct ship_remote *remote = &ship->remote[box->index];
    if (remote->posted ? ship_remote_wait(remote, box, progress, error) : wait_here(ship, box, progress, error))
        return error->status;
    if (box->status != PL_OK)
        return pl_fail(error, (pl_status)box->status, "by the agent on rank %d: %s", (int)box->agent, box->text);
    return PL_OK;
}

/* ---- what agents hold ---- */

/* One after the other: rare, and small. */
static pl_status ask_nodes(struct ship *ship, struct ship_box *box, MPI_Comm progress, int64_t *ret_end,
                           struct pl_error *error)
{
    const struct ship_map *map = &ship->setting.map;
    for (int i = 0; i < map->count; i++) {
        if (ship_segment_bell(ship->segment, ship->node.size, map->ranks[i]))
            continue;
        box->agent = map->ranks[i];
        ship_post(ship, box);
        if (ship_box_wait(ship, box, progress, error))
            return error->status;
        *ret_end = box->end > *ret_end ? box->end : *ret_end;
    }
    return PL_OK;
}

pl_status ship_held_end(struct ship *ship, struct ship_box *box, MPI_Comm progress, int64_t *ret_end,
                        struct pl_error *error)
{
    const int32_t agent = box->agent, command = box->command, pieces = box->pieces;
    *ret_end = atomic_load(&ship->segment->cached_end);
    if (ship->comm == MPI_COMM_NULL)
        return PL_OK;
    box->command = SHIP_END;
    box->pieces = 0;
    ask_nodes(ship, box, progress, ret_end, error);
    box->agent = agent;
    box->command = command;
    box->pieces = pieces;
    return error->status;
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

struct sender {
    struct ship *ship;
    const struct access_request *request;
    MPI_Comm progress;
    struct access_memory memory;
    struct typemap_cursor file;
    int64_t offset, left_in_piece; /* of the file: what the cursor gave and no box has yet */
    int64_t left;                  /* bytes of the request that no box has yet */
    struct ship_box *boxes[SHIP_BOXES];
    int held, first, posted; /* a ring */
    int64_t done;
    int64_t end; /* of what agents hold */
    bool end_is_known;
    bool stopped; /* the file ends, or something failed: later answers do not count */
    struct pl_error *error;
};

/* ---- answers ---- */

/* The agents of one node know how far they have filled the file; only all together know how far it goes. Where a read
 * ends early, all are asked, once, and what lies before the end is zeros. */
static int64_t find_end(struct sender *sender, struct ship_box *box, struct pl_error *error)
{
    const struct ship *ship = sender->ship;
    if (sender->request->write || !ship->setting.partitioned || ship->comm == MPI_COMM_NULL)
        return 0;
    if (!sender->end_is_known)
        sender->end_is_known = ship_held_end(sender->ship, box, sender->progress, &sender->end, error) == PL_OK;
    return sender->end;
}

static void fill_up(struct ship_piece *piece, char *data, int64_t end)
{
    const int64_t there = end - piece->offset, done = there < piece->bytes ? there : piece->bytes;
    if (done <= piece->done)
        return;
    memset(data + piece->done, 0, (size_t)(done - piece->done));
    piece->done = done;
}

static void ship_send_take_answer(struct sender *sender)
{
    assert(sender->posted > 0 && sender->posted <= sender->held);
    struct ship_box *box = sender->boxes[sender->first];
    struct pl_error own = {0};
    pl_status status = ship_box_wait(sender->ship, box, sender->progress, &own);
    sender->first = (sender->first + 1) % sender->held;
    sender->posted--;
    char *data = box->data;
    for (int i = 0; i < box->pieces && !sender->stopped && status != PL_E_PEER; i++) {
        struct ship_piece *piece = &box->piece[i];
        if (piece->done < piece->bytes && status == PL_OK) {
            fill_up(piece, data, find_end(sender, box, &own));
            status = own.status;
        }
        if (!sender->request->write)
            access_memory_give(&sender->memory, data, piece->done);
        sender->done += piece->done;
        data += piece->bytes;
        sender->stopped = piece->done < piece->bytes;
    }
    if (status == PL_OK)
        return;
    sender->stopped = true;
    if (sender->error->status == PL_OK)
        *sender->error = own;
}

/* ---- filling ---- */

static void ship_send_next_piece(struct sender *sender)
{
    const struct view *view = sender->request->view;
    if (sender->left_in_piece > 0)
        return;
    if (view->contiguous) {
        sender->offset = view->displacement + sender->request->position;
        sender->left_in_piece = sender->left;
        return;
    }
    int64_t displacement = 0;
    sender->left_in_piece = typemap_cursor_next(&sender->file, sender->left, &displacement);
    sender->offset = view->displacement + displacement;
}

/* Makes the last piece of the box longer where it can. False: the box has no room for another one. */
static bool ship_send_add_piece(struct ship_box *box, int64_t offset, int64_t bytes)
{
    assert(bytes > 0);
    struct ship_piece *last = box->pieces > 0 ? &box->piece[box->pieces - 1] : NULL;
    if (last && last->offset + last->bytes == offset) {
        last->bytes += bytes;
        return true;
    }
    if (box->pieces == SHIP_PIECES)
        return false;
    box->piece[box->pieces++] = (struct ship_piece){.offset = offset, .bytes = bytes};
    return true;
}

static int64_t ship_send_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void fill_box(struct sender *sender, struct ship_box *box)
{
    const struct ship_map *map = &sender->ship->setting.map;
    int64_t used = 0;
    box->pieces = 0;
    box->command = sender->request->write ? SHIP_WRITE : SHIP_READ;
    while (sender->left > 0 && used < SHIP_BOX_BYTES) {
        ship_send_next_piece(sender);
        const int agent = ship_map_rank(map, sender->offset);
        if (used > 0 && agent != box->agent)
            break;
        box->agent = agent;
        const int64_t within = ship_map_end(map, sender->offset) - sender->offset;
        const int64_t bytes = ship_send_least(ship_send_least(sender->left_in_piece, within), SHIP_BOX_BYTES - used);
        if (!ship_send_add_piece(box, sender->offset, bytes))
            break;
        if (sender->request->write)
            access_memory_take(&sender->memory, box->data + used, bytes);
        used += bytes;
        sender->offset += bytes;
        sender->left_in_piece -= bytes;
        sender->left -= bytes;
    }
    assert(box->pieces > 0 && used <= SHIP_BOX_BYTES && sender->left >= 0);
}

static pl_status ship_send_prepare(struct sender *sender)
{
    const struct access_request *request = sender->request;
    if (access_memory_init(&sender->memory, request->memory, request->buffer, sender->error))
        return sender->error->status;
    if (request->view->contiguous)
        return PL_OK;
    if (typemap_cursor_init(&sender->file, request->view->filetype, sender->error))
        return sender->error->status;
    typemap_cursor_seek(&sender->file, request->position);
    return PL_OK;
}

static void send_all(struct sender *sender)
{
    while (sender->left > 0 && !sender->stopped) {
        if (sender->posted == sender->held) {
            ship_send_take_answer(sender);
            continue;
        }
        struct ship_box *box = sender->boxes[(sender->first + sender->posted) % sender->held];
        fill_box(sender, box);
        ship_post(sender->ship, box);
        sender->posted++;
    }
    while (sender->posted > 0)
        ship_send_take_answer(sender);
}

pl_status ship_send(struct ship *ship, const struct access_request *request, MPI_Comm progress, int64_t *ret_done,
                    struct pl_error *error)
{
    struct sender sender = {
        .ship = ship, .request = request, .progress = progress, .left = request->bytes, .error = error};
    *ret_done = 0;
    if (request->bytes == 0)
        return PL_OK;
    error->status = PL_OK;
    if (ship_send_prepare(&sender) == PL_OK) {
        /* The last box is left for an access that another one of this thread may have to begin while it waits. */
        const int wanted = request->bytes <= SHIP_BOX_BYTES && request->view->contiguous ? 2 : SHIP_BOXES - 1;
        sender.held = ship_boxes_take(ship, wanted, progress, sender.boxes);
        send_all(&sender);
        assert(sender.done <= request->bytes && (sender.stopped || sender.done == request->bytes));
        ship_boxes_give(ship, sender.boxes, sender.held);
    }
    *ret_done = sender.done;
    atomic_fetch_add(&ship->shipped, sender.done);
    access_memory_clear(&sender.memory);
    typemap_cursor_clear(&sender.file);
    return error->status;
}
