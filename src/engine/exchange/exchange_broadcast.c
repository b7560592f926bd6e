/* Reads of the same bytes by all ranks: each window is read once, by one of a few readers, and broadcast. Several
 * windows are under way at once, read by different ranks. */
#include "engine/access/access_memory.h"
#include "engine/exchange/exchange.h"
#include "engine/mem.h"
#include "mpi/real.h"

#include <assert.h>

enum { LOW_MOST, HIGH_LEAST, DENSE, VALUES };
enum { SLOTS = 4, WINDOW_BYTES = 1 << 20 };

/* What is sent: this, and the bytes of the window. */
struct broadcast_head {
    int64_t bytes; /* that are there; fewer than wanted at the end of the file, or where the reader failed */
};

struct broadcast {
    struct access_memory memory;
    int64_t window;         /* bytes of one that is sent at once */
    int readers;            /* ranks that read, in turn */
    int64_t started, ended; /* windows */
    bool reading;           /* the next one to start */
    int64_t end;            /* where this rank's data end: those of the request, or of the file */
    MPI_Request sent[SLOTS];
    char *slot[SLOTS]; /* head and window */
};

/* ---- beginning ---- */

static void broadcast_clear(struct move *move)
{
    struct broadcast *broadcast = move->call;
    if (!broadcast)
        return;
    access_memory_clear(&broadcast->memory);
    mem_free(broadcast->slot[0]);
    mem_free(broadcast);
    move->call = NULL;
}

static pl_status broadcast_take(struct move *move, struct broadcast *broadcast, struct pl_error *error)
{
    const int64_t buffer = move->file->values.cb_buffer_size;
    broadcast->window = buffer < WINDOW_BYTES ? buffer : WINDOW_BYTES;
    broadcast->readers = move_aggregator_count(move->file, move->strategy->aggregators);
    assert(broadcast->window > 0 && broadcast->readers > 0);
    const size_t each = (sizeof(struct broadcast_head) + (size_t)broadcast->window + 63) / 64 * 64;
    char *slots = mem_alloc(SLOTS * each);
    if (!slots)
        return pl_fail(error, PL_E_NOMEM, "no memory for the %zu bytes of a collective read", SLOTS * each);
    for (size_t i = 0; i < SLOTS; i++) {
        broadcast->slot[i] = slots + i * each;
        broadcast->sent[i] = MPI_REQUEST_NULL;
    }
    return access_memory_init(&broadcast->memory, move->request.memory, move->request.buffer, error);
}

static void broadcast_prepare(struct move *move)
{
    if (move_has_failed(move) || move->request.write)
        return;
    struct broadcast *broadcast = mem_zalloc(1, sizeof *broadcast);
    move->call = broadcast;
    if (!broadcast)
        pl_fail(&move->error, PL_E_NOMEM, "no memory for a collective read");
    else
        broadcast_take(move, broadcast, &move->error);
}

/* Whether all want the same; ranks that want nothing agree with any others. */
static int broadcast_bring(const struct move *move, int64_t values[MOVE_VALUES_MAX])
{
    const struct access_request *request = &move->request;
    for (int i = 0; i < VALUES; i++)
        values[i] = INT64_MAX;
    if (!move_has_failed(move) && request->bytes > 0) {
        const int64_t low = view_byte(request->view, request->position);
        const int64_t high = view_byte(request->view, request->position + request->bytes - 1) + 1;
        values[LOW_MOST] = -low;
        values[HIGH_LEAST] = high;
        values[DENSE] = high - low == request->bytes;
    }
    return VALUES;
}

static void broadcast_begin(struct move *move)
{
    const bool same = move_agreed(move, DENSE) != 0 && move->low == -move_agreed(move, LOW_MOST) &&
                      move->high == move_agreed(move, HIGH_LEAST);
    if (move->request.write || !same) {
        move_again(move);
        return;
    }
    struct broadcast *broadcast = move->call;
    broadcast->end = move->request.bytes;
}

/* ---- windows ---- */

static int64_t broadcast_window_begin(const struct move *move, int64_t number)
{
    return move->low + number * ((const struct broadcast *)move->call)->window;
}

static int64_t broadcast_window_bytes(const struct move *move, int64_t number)
{
    const int64_t left = move->high - broadcast_window_begin(move, number);
    const int64_t window = ((const struct broadcast *)move->call)->window;
    return left < window ? left : window;
}

static void broadcast_read_window(struct move *move)
{
    const struct broadcast *broadcast = move->call;
    struct broadcast_head *head = (struct broadcast_head *)broadcast->slot[broadcast->started % SLOTS];
    move_load(move, broadcast_window_begin(move, broadcast->started), (char *)(head + 1),
              broadcast_window_bytes(move, broadcast->started), &head->bytes);
}

static void broadcast_note_mpi(struct move *move, int code)
{
    move_note_mpi(move, code, "handing a part of the file to all ranks");
}

/* Reads the next window where that is this rank's turn, and sends it on its way. False: it is not read yet. */
static bool broadcast_start_window(struct move *move)
{
    struct broadcast *broadcast = move->call;
    const struct file *file = move->file;
    const int reader = move_aggregator_rank((int)(broadcast->started % broadcast->readers), broadcast->readers,
                                            file->size);
    assert(broadcast->started < broadcast->ended + SLOTS);
    const int64_t slot = broadcast->started % SLOTS;
    if (reader == file->rank && !broadcast->reading) {
        ((struct broadcast_head *)broadcast->slot[slot])->bytes = 0;
        broadcast->reading = true;
        if (!move_has_failed(move))
            move_job_start(move, false, broadcast_read_window);
    }
    if (!move_job_is_over(move))
        return false;
    broadcast->reading = false;
    const int64_t bytes = (int64_t)sizeof(struct broadcast_head) + broadcast_window_bytes(move, broadcast->started);
    broadcast_note_mpi(
        move, real.Ibcast(broadcast->slot[slot], (int)bytes, MPI_BYTE, reader, file->comm, &broadcast->sent[slot]));
    broadcast->started++;
    return true;
}

/* The window's data go to memory; where the file ended before, so does the request. */
static void broadcast_take_window(struct move *move)
{
    struct broadcast *broadcast = move->call;
    const struct broadcast_head *head = (const struct broadcast_head *)broadcast->slot[broadcast->ended % SLOTS];
    const int64_t begin = broadcast_window_begin(move, broadcast->ended) - move->low;
    assert(head->bytes >= 0 && head->bytes <= broadcast_window_bytes(move, broadcast->ended));
    if (move->request.bytes == 0 || begin >= broadcast->end)
        return;
    access_memory_give(&broadcast->memory, (const char *)(head + 1), head->bytes);
    if (head->bytes < broadcast_window_bytes(move, broadcast->ended))
        broadcast->end = begin + head->bytes;
}

/* False: the oldest window is still under way. */
static bool broadcast_end_window(struct move *move)
{
    struct broadcast *broadcast = move->call;
    assert(broadcast->ended < broadcast->started);
    int done = 0;
    const int code = real.Test(&broadcast->sent[broadcast->ended % SLOTS], &done, MPI_STATUS_IGNORE);
    broadcast_note_mpi(move, code);
    if (code == MPI_SUCCESS && !done)
        return false;
    if (!move_has_failed(move))
        broadcast_take_window(move);
    broadcast->ended++;
    return true;
}

static enum step broadcast_step(struct move *move)
{
    struct broadcast *broadcast = move->call;
    const int64_t count = (move->high - move->low - 1) / broadcast->window + 1;
    bool moved = true;
    while (moved && broadcast->ended < count) {
        moved = false;
        if (broadcast->started < count && broadcast->started < broadcast->ended + SLOTS)
            moved = broadcast_start_window(move);
        if (broadcast->ended < broadcast->started)
            moved = broadcast_end_window(move) || moved;
    }
    if (broadcast->ended < count)
        return STEP_PENDING;
    move->done = broadcast->end;
    return STEP_DONE;
}

const struct move_transport broadcast_transport = {
    .prepare = broadcast_prepare,
    .bring = broadcast_bring,
    .begin = broadcast_begin,
    .step = broadcast_step,
    .clear = broadcast_clear,
};
