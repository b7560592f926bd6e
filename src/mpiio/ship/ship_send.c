/* A rank's requests on their way to the agents, in bounded memory: a stretch of the request that belongs to one agent
 * fills a box, and a few of them are on their way at once. Answers are taken in the order of the request. */
#include "mpiio/access/access_memory.h"
#include "mpiio/ship/ship_core.h"

#include <string.h>

struct sender {
    struct ship *ship;
    const struct access_request *request;
    MPI_Comm poke;
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
        sender->end_is_known = ship_held_end(sender->ship, box, sender->poke, &sender->end, error) == PL_OK;
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

static void take_answer(struct sender *sender)
{
    struct ship_box *box = sender->boxes[sender->first];
    struct pl_error own = {0};
    pl_status status = ship_box_wait(sender->ship, box, sender->poke, &own);
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

static void next_piece(struct sender *sender)
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
static bool add_piece(struct ship_box *box, int64_t offset, int64_t bytes)
{
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

static int64_t least(int64_t a, int64_t b)
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
        next_piece(sender);
        const int agent = ship_map_rank(map, sender->offset);
        if (used > 0 && agent != box->agent)
            break;
        box->agent = agent;
        const int64_t within = ship_map_end(map, sender->offset) - sender->offset;
        const int64_t bytes = least(least(sender->left_in_piece, within), SHIP_BOX_BYTES - used);
        if (!add_piece(box, sender->offset, bytes))
            break;
        if (sender->request->write)
            access_memory_take(&sender->memory, box->data + used, bytes);
        used += bytes;
        sender->offset += bytes;
        sender->left_in_piece -= bytes;
        sender->left -= bytes;
    }
}

static pl_status prepare(struct sender *sender)
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
            take_answer(sender);
            continue;
        }
        struct ship_box *box = sender->boxes[(sender->first + sender->posted) % sender->held];
        fill_box(sender, box);
        ship_post(sender->ship, box);
        sender->posted++;
    }
    while (sender->posted > 0)
        take_answer(sender);
}

pl_status ship_send(struct ship *ship, const struct access_request *request, MPI_Comm poke, int64_t *ret_done,
                    struct pl_error *error)
{
    struct sender sender = {.ship = ship, .request = request, .poke = poke, .left = request->bytes, .error = error};
    *ret_done = 0;
    if (request->bytes == 0)
        return PL_OK;
    error->status = PL_OK;
    if (prepare(&sender) == PL_OK) {
        /* The last box is left for an access that another one of this thread may have to begin while it waits. */
        const int wanted = request->bytes <= SHIP_BOX_BYTES && request->view->contiguous ? 2 : SHIP_BOXES - 1;
        sender.held = ship_boxes_take(ship, wanted, poke, sender.boxes);
        send_all(&sender);
        ship_boxes_give(ship, sender.boxes, sender.held);
    }
    *ret_done = sender.done;
    atomic_fetch_add(&ship->shipped, sender.done);
    access_memory_clear(&sender.memory);
    typemap_cursor_clear(&sender.file);
    return error->status;
}
