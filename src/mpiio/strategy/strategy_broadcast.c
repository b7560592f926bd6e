/* Reads of the same bytes by all ranks: a few of them read, each window is read once, and a tree of messages (that of
 * the MPI's broadcast) hands it to all. Several windows are under way at once, read by different ranks. Whether all
 * ranks want the same is agreed first; where they do not, and where the file is written, data are exchanged as with
 * twophase. */
#include "mpi/real.h"
#include "mpiio/access/access_memory.h"
#include "mpiio/error/error.h"
#include "mpiio/exchange/exchange_finish.h"
#include "mpiio/mem.h"
#include "mpiio/strategy/buffering.h"

#include <stddef.h>

enum { AGREE, MOVE, FINISH, ELSEWHERE };
enum { LO, LO_MOST, HI, HI_MOST, DENSE, VALUES };
enum { SLOTS = 4, WINDOW_BYTES = 1 << 20, AGENTS_EACH_NODE = 2, ALIGN_BYTES = 65536 };

/* What is sent: this, and the bytes of the window. */
struct news {
    int64_t bytes; /* that are there; fewer than wanted at the end of the file, or where the reader failed */
};

struct broadcast {
    int state;
    struct pl_error own; /* this rank's outcome */
    struct agree agree;
    struct exchange_finish finish;
    struct access_memory memory;
    int64_t lo, hi;         /* bytes of the file */
    int64_t window;         /* bytes of one that is sent at once */
    int readers;            /* ranks that read, in turn */
    int64_t started, ended; /* windows */
    int64_t end;            /* where this rank's data end: those of the request, or of the file */
    MPI_Request sent[SLOTS];
    char *slot[SLOTS]; /* news and window */
};

/* ---- beginning ---- */

/* Ranks that want nothing agree with any others. */
static void start_agree(struct agree *agree, const struct collective *collective, const struct pl_error *own)
{
    const struct access_request *request = &collective->request;
    int64_t values[VALUES] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    if (own->status == PL_OK && request->bytes > 0) {
        const int64_t lo = view_byte(request->view, request->position);
        const int64_t hi = view_byte(request->view, request->position + request->bytes - 1) + 1;
        values[LO] = lo;
        values[LO_MOST] = -lo;
        values[HI] = hi;
        values[HI_MOST] = -hi;
        values[DENSE] = hi - lo == request->bytes;
    }
    agree_start(agree, collective->file->comm, collective->file->rank, own, values, VALUES);
}

static void clear(struct collective *collective)
{
    struct broadcast *broadcast = collective->private;
    if (!broadcast)
        return;
    access_memory_clear(&broadcast->memory);
    mem_free(broadcast->slot[0]);
    mem_free(broadcast);
    collective->private = NULL;
}

static pl_status prepare(struct collective *collective, struct broadcast *broadcast, struct pl_error *error)
{
    const struct file *file = collective->file;
    const int64_t buffer = file->values.cb_buffer_size, agents = buffering_agents(file, 1);
    broadcast->window = buffer < WINDOW_BYTES ? buffer : WINDOW_BYTES;
    broadcast->readers = agents < file->size ? (int)agents : file->size;
    const size_t each = (sizeof(struct news) + (size_t)broadcast->window + 63) / 64 * 64;
    char *slots = mem_alloc(SLOTS * each);
    if (!slots)
        return pl_fail(error, PL_E_NOMEM, "no memory for the %zu bytes of a collective read", SLOTS * each);
    for (size_t i = 0; i < SLOTS; i++) {
        broadcast->slot[i] = slots + i * each;
        broadcast->sent[i] = MPI_REQUEST_NULL;
    }
    return access_memory_init(&broadcast->memory, collective->request.memory, collective->request.buffer, error);
}

static void start_exchange(struct collective *collective)
{
    const struct file *file = collective->file;
    const int64_t unit = file->values.striping_unit;
    buffering_start(collective, buffering_agents(file, AGENTS_EACH_NODE), unit > 0 ? unit : ALIGN_BYTES);
}

static void start(struct collective *collective)
{
    if (collective->request.write) {
        start_exchange(collective);
        return;
    }
    struct broadcast *broadcast = collective->error.status == PL_OK ? mem_zalloc(1, sizeof *broadcast) : NULL;
    collective->private = broadcast;
    if (!broadcast && collective->error.status == PL_OK)
        pl_fail(&collective->error, PL_E_NOMEM, "no memory for a collective read");
    if (broadcast && prepare(collective, broadcast, &collective->error) != PL_OK)
        clear(collective);
    broadcast = collective->private;
    if (!broadcast) { /* it takes part in the first agreement, which ends the call for all */
        start_agree(&collective->refusal.agree, collective, &collective->error);
        return;
    }
    broadcast->finish.late = file_late(collective->file, &broadcast->finish.late_heard);
    start_agree(&broadcast->agree, collective, &broadcast->own);
}

/* ---- windows ---- */

static int64_t window_begin(const struct broadcast *broadcast, int64_t number)
{
    return broadcast->lo + number * broadcast->window;
}

static int64_t window_bytes(const struct broadcast *broadcast, int64_t number)
{
    const int64_t left = broadcast->hi - window_begin(broadcast, number);
    return left < broadcast->window ? left : broadcast->window;
}

static int64_t windows(const struct broadcast *broadcast)
{
    return (broadcast->hi - broadcast->lo - 1) / broadcast->window + 1;
}

static int reader_of(const struct collective *collective, int64_t number)
{
    const struct broadcast *broadcast = collective->private;
    return exchange_agent_rank((int)(number % broadcast->readers), broadcast->readers, collective->file->size);
}

static void read_window(struct collective *collective)
{
    struct broadcast *broadcast = collective->private;
    char *slot = broadcast->slot[broadcast->started % SLOTS];
    struct news *news = (struct news *)slot;
    news->bytes = 0;
    if (broadcast->own.status == PL_OK)
        storage_read(collective->file->storage, window_begin(broadcast, broadcast->started), slot + sizeof *news,
                     window_bytes(broadcast, broadcast->started), &news->bytes, &broadcast->own);
}

static void read_window_in_thread(struct pool_work *work)
{
    read_window((struct collective *)((char *)work - offsetof(struct collective, work)));
}

static void note_mpi(struct broadcast *broadcast, int code)
{
    if (code != MPI_SUCCESS && broadcast->own.status == PL_OK)
        error_from_mpi(code, "handing a part of the file to all ranks", &broadcast->own);
}

/* Reads the next window where that is this rank's turn, and sends it on its way. False: it is not read yet. */
static bool start_window(struct collective *collective)
{
    struct broadcast *broadcast = collective->private;
    const struct file *file = collective->file;
    const int reader = reader_of(collective, broadcast->started);
    if (reader == file->rank && collective->async && !collective->working) {
        collective->working = true;
        pool_submit(&collective->work, read_window_in_thread);
    } else if (reader == file->rank && !collective->async) {
        read_window(collective);
    }
    if (collective->working && !pool_is_done(&collective->work))
        return false;
    collective->working = false;
    const int64_t slot = broadcast->started % SLOTS;
    const int64_t bytes = (int64_t)sizeof(struct news) + window_bytes(broadcast, broadcast->started);
    note_mpi(broadcast,
             real.Ibcast(broadcast->slot[slot], (int)bytes, MPI_BYTE, reader, file->comm, &broadcast->sent[slot]));
    broadcast->started++;
    return true;
}

/* The window's data go to memory; where the file ended before, so does the request. */
static void take_window(struct collective *collective)
{
    struct broadcast *broadcast = collective->private;
    const struct news *news = (const struct news *)broadcast->slot[broadcast->ended % SLOTS];
    const int64_t begin = window_begin(broadcast, broadcast->ended) - broadcast->lo;
    if (collective->request.bytes == 0 || begin >= broadcast->end)
        return;
    access_memory_give(&broadcast->memory, (const char *)(news + 1), news->bytes);
    if (news->bytes < window_bytes(broadcast, broadcast->ended))
        broadcast->end = begin + news->bytes;
}

/* False: the oldest window is still under way. */
static bool end_window(struct collective *collective)
{
    struct broadcast *broadcast = collective->private;
    int done = 0;
    const int code = real.Test(&broadcast->sent[broadcast->ended % SLOTS], &done, MPI_STATUS_IGNORE);
    note_mpi(broadcast, code);
    if (code == MPI_SUCCESS && !done)
        return false;
    if (broadcast->own.status == PL_OK)
        take_window(collective);
    broadcast->ended++;
    return true;
}

static enum step move_step(struct collective *collective)
{
    struct broadcast *broadcast = collective->private;
    const int64_t count = windows(broadcast);
    bool moved = true;
    while (moved && broadcast->ended < count) {
        moved = false;
        if (broadcast->started < count && broadcast->started < broadcast->ended + SLOTS)
            moved = start_window(collective);
        if (broadcast->ended < broadcast->started)
            moved = end_window(collective) || moved;
    }
    return broadcast->ended < count ? STEP_PENDING : STEP_DONE;
}

/* ---- the steps ---- */

static void start_finish(struct collective *collective)
{
    struct broadcast *broadcast = collective->private;
    exchange_finish_start(&broadcast->finish, collective->file->comm, collective->file->rank, &broadcast->own);
    broadcast->state = FINISH;
}

/* The same for all, or each its own? */
static void after_agree(struct collective *collective)
{
    struct broadcast *broadcast = collective->private;
    const struct agree *agree = &broadcast->agree;
    broadcast->lo = agree_least(agree, LO);
    broadcast->hi = agree_least(agree, HI);
    broadcast->end = collective->request.bytes;
    if (broadcast->lo == INT64_MAX) { /* nobody wants anything */
        start_finish(collective);
    } else if (agree_least(agree, DENSE) != 0 && broadcast->lo == -agree_least(agree, LO_MOST) &&
               broadcast->hi == -agree_least(agree, HI_MOST)) {
        broadcast->state = MOVE;
    } else {
        broadcast->state = ELSEWHERE;
        start_exchange(collective);
    }
}

static void finish(struct collective *collective)
{
    struct broadcast *broadcast = collective->private;
    exchange_finish_result(&broadcast->finish, &collective->error);
    if (exchange_finish_went_well(&broadcast->finish))
        collective->done = broadcast->end;
    const struct pl_error told = exchange_finish_told(&broadcast->finish);
    file_forget_late(collective->file, &told);
}

static enum step broadcast_step(struct collective *collective)
{
    struct broadcast *broadcast = collective->private;
    if (broadcast->state == AGREE)
        after_agree(collective);
    if (broadcast->state == ELSEWHERE)
        return buffering_step(collective);
    if (broadcast->state == MOVE) {
        if (move_step(collective) == STEP_PENDING)
            return STEP_PENDING;
        start_finish(collective);
    }
    if (exchange_finish_step(&broadcast->finish) == STEP_PENDING)
        return STEP_PENDING;
    finish(collective);
    return STEP_DONE;
}

static enum step step(struct collective *collective)
{
    if (collective->request.write)
        return buffering_step(collective);
    struct broadcast *broadcast = collective->private;
    struct agree *agree = broadcast ? &broadcast->agree : &collective->refusal.agree;
    if ((!broadcast || broadcast->state == AGREE) && agree_step(agree) == STEP_PENDING)
        return STEP_PENDING;
    if (!broadcast || agree->status != PL_OK) { /* somebody could not even begin: nobody reads */
        agree_result(agree, &collective->error);
        return STEP_DONE;
    }
    return broadcast_step(collective);
}

const struct strategy strategy_broadcast = {
    .name = "broadcast",
    .summary = "what all ranks read alike is read once and broadcast; else as twophase",
    .exchanges = true,
    .scheme = {.target = TARGET_BLOCK, .exchange = EXCHANGE_BROADCAST},
    .agents = "cb_nodes, or one on each node",
    .start = start,
    .step = step,
    .clear = clear,
};
