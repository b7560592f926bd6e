#include "engine/access/access.h"
#include "engine/access/access_memory.h"
#include "engine/mem.h"
#include "engine/prefetch/prefetch.h"
#include "engine/storage/storage_map.h"
#include "mpi/wait.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* ---- Span locks -------------------------------------------------------------------------------------------------- */

struct attempt {
    struct storage *storage;
    enum storage_lock kind;
    int64_t offset, bytes;
    struct pl_error *error;
    pl_status status;
};

static bool try_it(void *arg)
{
    struct attempt *attempt = arg;
    bool locked = false;
    attempt->status = storage_try_lock(attempt->storage, attempt->kind, attempt->offset, attempt->bytes, &locked,
                                       attempt->error);
    return locked || attempt->status != PL_OK;
}

pl_status access_lock(struct storage *storage, enum storage_lock kind, int64_t offset, int64_t bytes, MPI_Comm progress,
                      struct pl_error *error)
{
    struct attempt attempt = {storage, kind, offset, bytes, error, PL_OK};
    wait_until(try_it, &attempt, NULL, progress);
    return attempt.status;
}

void access_unlock(struct storage *storage, int64_t offset, int64_t bytes, struct pl_error *error)
{
    struct pl_error own = {0};
    if (storage_unlock(storage, offset, bytes, &own) != PL_OK && error->status == PL_OK)
        *error = own;
}

/* ---- The access -------------------------------------------------------------------------------------------------- */

enum {
    VECTOR_PIECES = 256,      /* pieces of memory for one system call */
    VECTOR_PIECE_BYTES = 512, /* shorter ones are cheaper to copy than to list */
    BOUNCE_BYTES = 1 << 20,
    /* A system call costs about as much as reading this many bytes from the page cache, and more where it writes. */
    GAP_READ_BYTES = 8192,
    GAP_WRITE_BYTES = 4096
};

/* An access under way. */
struct run {
    struct storage *storage;
    const struct access_request *request;
    const struct access_options *options;
    struct access_memory memory;
    struct typemap_cursor file;
    char *bounce; /* made when first needed */
    int64_t bounce_bytes;
    bool vectors;      /* memory is better listed than copied */
    bool locked;       /* the whole access is */
    bool sieves;       /* may move gaps with the data */
    bool maps;         /* may copy through mapped parts of the file */
    int64_t mapped_to; /* up to this byte of the file mapping has been tried */
    int64_t done;
    struct pl_error *error;
};

/* ---- one range of the file ---- */

static pl_status get_bounce(struct run *run, int64_t bytes)
{
    assert(bytes > 0);
    if (run->bounce_bytes >= bytes)
        return PL_OK;
    mem_free(run->bounce);
    run->bounce = mem_alloc((size_t)bytes);
    run->bounce_bytes = run->bounce ? bytes : 0;
    return run->bounce ? PL_OK
                       : pl_fail(run->error, PL_E_NOMEM, "no memory for a buffer of %lld bytes", (long long)bytes);
}

static pl_status move_vector(struct run *run, int64_t offset, int64_t bytes, int64_t *ret_asked, int64_t *ret_done)
{
    struct iovec pieces[VECTOR_PIECES];
    int count = 0;
    int64_t asked = 0;
    while (count < VECTOR_PIECES && asked < bytes) {
        int64_t length;
        pieces[count].iov_base = access_memory_piece(&run->memory, bytes - asked, &length);
        pieces[count++].iov_len = (size_t)length;
        asked += length;
    }
    *ret_asked = asked;
    assert(asked > 0 && asked <= bytes);
    return run->request->write ? storage_writev(run->storage, offset, pieces, count, ret_done, run->error)
                               : storage_readv(run->storage, offset, pieces, count, ret_done, run->error);
}

static pl_status move_bounce(struct run *run, int64_t offset, int64_t bytes, int64_t *ret_asked, int64_t *ret_done)
{
    *ret_asked = bytes < BOUNCE_BYTES ? bytes : BOUNCE_BYTES;
    *ret_done = 0;
    if (get_bounce(run, *ret_asked))
        return run->error->status;
    if (run->request->write) {
        access_memory_take(&run->memory, run->bounce, *ret_asked);
        return storage_write(run->storage, offset, run->bounce, *ret_asked, ret_done, run->error);
    }
    const pl_status status = storage_read(run->storage, offset, run->bounce, *ret_asked, ret_done, run->error);
    access_memory_give(&run->memory, run->bounce, *ret_done);
    return status;
}

/* Moves `bytes` bytes that lie side by side in the file. *ret_short: the file ended before. */
static pl_status move_range(struct run *run, int64_t offset, int64_t bytes, bool *ret_short)
{
    *ret_short = false;
    if (run->options->prefetch)
        prefetch_reach(run->options->prefetch, offset, bytes);
    while (bytes > 0) {
        int64_t asked = 0, done = 0;
        const pl_status status = run->vectors ? move_vector(run, offset, bytes, &asked, &done)
                                              : move_bounce(run, offset, bytes, &asked, &done);
        run->done += done;
        if (status)
            return status;
        if (done < asked) {
            *ret_short = true;
            return PL_OK;
        }
        offset += done;
        bytes -= done;
    }
    return PL_OK;
}

/* ---- many ranges ---- */

static pl_status access_move_pieces(struct run *run, int64_t bytes, bool *ret_short)
{
    const int64_t base = run->request->view->displacement;
    *ret_short = false;
    while (bytes > 0 && !*ret_short) {
        int64_t displacement = 0;
        const int64_t length = typemap_cursor_next(&run->file, bytes, &displacement);
        if (move_range(run, base + displacement, length, ret_short))
            return run->error->status;
        bytes -= length;
    }
    return PL_OK;
}

/* A part of the file that is read or written as one. */
struct window {
    int64_t begin, end; /* bytes of the file */
    int64_t bytes;      /* of data in it */
};

static struct window access_next_window(const struct run *run, int64_t capacity)
{
    const struct access_request *request = run->request;
    const int64_t position = request->position + run->done;
    const int64_t left = request->bytes - run->done;
    assert(left > 0 && capacity > 0);
    const int64_t begin = view_byte(request->view, position);
    int64_t behind = INT64_MAX;
    if (begin <= INT64_MAX - capacity)
        behind = view_position(request->view, begin + capacity);
    const int64_t bytes = behind - position < left ? behind - position : left;
    assert(bytes > 0);
    return (struct window){begin, view_byte(request->view, position + bytes - 1) + 1, bytes};
}

/* Is one large transfer with gaps cheaper than one call for each piece? */
static bool sieving_pays(const struct run *run, const struct window *window, int64_t gap_bytes)
{
    const struct typemap_shape *shape = typemap_shape(run->request->view->filetype);
    const int64_t piece = shape->size / (shape->pieces > 0 ? shape->pieces : 1);
    const int64_t pieces = window->bytes / (piece > 0 ? piece : 1) + 1;
    return pieces > 1 && (window->end - window->begin - window->bytes) / pieces <= gap_bytes;
}

/* The window's data between its place in `buffer` and memory, as far as the window goes. Returns bytes moved. */
static int64_t access_scatter(struct run *run, const struct window *window, char *buffer, int64_t valid)
{
    const int64_t base = run->request->view->displacement;
    int64_t moved = 0;
    while (moved < window->bytes) {
        int64_t displacement = 0;
        const int64_t length = typemap_cursor_next(&run->file, window->bytes - moved, &displacement);
        const int64_t place = base + displacement - window->begin;
        if (run->request->write) {
            access_memory_take(&run->memory, buffer + place, length);
        } else if (place < valid) {
            const int64_t there = valid - place < length ? valid - place : length;
            access_memory_give(&run->memory, buffer + place, there);
            moved += there;
            if (there < length)
                break;
            continue;
        } else {
            break;
        }
        moved += length;
    }
    return moved;
}

static pl_status access_read_window(struct run *run, const struct window *window, bool *ret_short)
{
    const int64_t span = window->end - window->begin;
    int64_t valid = 0;
    if (get_bounce(run, span))
        return run->error->status;
    if (run->options->prefetch)
        prefetch_reach(run->options->prefetch, window->begin, span);
    const pl_status status = storage_read(run->storage, window->begin, run->bounce, span, &valid, run->error);
    const int64_t moved = access_scatter(run, window, run->bounce, valid);
    assert(moved >= 0 && moved <= window->bytes);
    run->done += moved;
    *ret_short = moved < window->bytes;
    return status;
}

/* Read, modify, write back: the window is locked, since nobody else may write into the gaps meanwhile. */
static pl_status change_window(struct run *run, const struct window *window)
{
    const int64_t span = window->end - window->begin;
    int64_t there = 0, written = 0;
    if (get_bounce(run, span) || storage_read(run->storage, window->begin, run->bounce, span, &there, run->error))
        return run->error->status;
    memset(run->bounce + there, 0, (size_t)(span - there));
    access_scatter(run, window, run->bounce, span);
    if (storage_write(run->storage, window->begin, run->bounce, span, &written, run->error))
        return run->error->status;
    run->done += window->bytes;
    return PL_OK;
}

/* Those who sieve must not write back what they read before this write: it holds a lock where anybody may sieve. */
static pl_status lock_window(struct run *run, const struct window *window, bool *ret_locked)
{
    *ret_locked = false;
    const pl_status status = access_lock(run->storage, STORAGE_EXCLUSIVE, window->begin, window->end - window->begin,
                                         run->options->progress, run->error);
    if (status != PL_OK && status != PL_E_UNSUPPORTED)
        return status;
    *ret_locked = status == PL_OK; /* else there are no locks here, and nobody sieves */
    run->error->status = PL_OK;
    return PL_OK;
}

static pl_status write_window(struct run *run, const struct window *window)
{
    const int64_t span = window->end - window->begin;
    bool pays = run->sieves && span > window->bytes && sieving_pays(run, window, GAP_WRITE_BYTES);
    bool at_end, locked = false;
    if (!run->locked && (pays || run->options->lock_writes)) {
        if (lock_window(run, window, &locked))
            return run->error->status;
        pays = pays && locked;
    }
    if (pays)
        change_window(run, window);
    else
        access_move_pieces(run, window->bytes, &at_end);
    if (locked)
        access_unlock(run->storage, window->begin, span, run->error);
    return run->error->status;
}

/* True: all of it was moved, or it failed. */
static bool map_window(struct run *run, const struct window *window)
{
    const struct access_request *request = run->request;
    const struct typemap_shape *shape = typemap_shape(request->view->filetype);
    const struct access_map map = {.storage = run->storage,
                                   .write = request->write,
                                   .begin = window->begin,
                                   .end = window->end,
                                   .bytes = window->bytes,
                                   .piece = shape->size / shape->pieces,
                                   .base = request->view->displacement,
                                   .file = &run->file,
                                   .memory = &run->memory};
    bool locked = false;
    if (request->write && run->options->lock_writes && !run->locked && lock_window(run, window, &locked))
        return true;
    const bool moved = access_map_run(&map);
    if (moved)
        run->done += window->bytes;
    if (locked)
        access_unlock(run->storage, window->begin, window->end - window->begin, run->error);
    return moved || run->error->status != PL_OK;
}

/* True: the next part of the access is done by it, or failed. */
static bool try_map(struct run *run)
{
    if (!run->maps)
        return false;
    const int64_t begin = view_byte(run->request->view, run->request->position + run->done);
    if (begin < run->mapped_to)
        return false;
    int64_t capacity = ACCESS_MAP_BYTES - begin % ACCESS_MAP_BYTES;
    if (capacity < ACCESS_MAP_BYTES / 4) /* a small rest is better joined than treated alone */
        capacity += ACCESS_MAP_BYTES;
    const struct window window = access_next_window(run, capacity);
    run->mapped_to = window.end;
    return map_window(run, &window);
}

static pl_status move_window(struct run *run, bool *ret_short)
{
    const struct access_options *options = run->options;
    if (run->request->write) {
        const struct window window = access_next_window(run, options->write_buffer_bytes);
        return write_window(run, &window);
    }
    const struct window window = access_next_window(run, options->read_buffer_bytes);
    const bool gaps = window.end - window.begin > window.bytes;
    if (run->sieves && gaps && sieving_pays(run, &window, GAP_READ_BYTES))
        return access_read_window(run, &window, ret_short);
    return access_move_pieces(run, window.bytes, ret_short);
}

static pl_status move_windows(struct run *run)
{
    bool at_end = false;
    while (run->done < run->request->bytes && !at_end && run->error->status == PL_OK)
        if (!try_map(run))
            move_window(run, &at_end);
    return run->error->status;
}

/* ---- the whole ---- */

static pl_status move_all(struct run *run)
{
    const struct access_request *request = run->request;
    bool at_end;
    if (request->view->contiguous)
        return move_range(run, request->view->displacement + request->position, request->bytes, &at_end);
    if ((run->sieves || run->maps) && typemap_shape(request->view->filetype)->monotone)
        return move_windows(run);
    return access_move_pieces(run, request->bytes, &at_end);
}

/* The bytes of the file between which the access stays. */
static void access_hull(const struct access_request *request, int64_t *ret_begin, int64_t *ret_bytes)
{
    *ret_begin = *ret_bytes = 0; /* 0 bytes: to the end of the file */
    if (!request->view->contiguous && !typemap_shape(request->view->filetype)->monotone)
        return;
    *ret_begin = view_byte(request->view, request->position);
    *ret_bytes = view_byte(request->view, request->position + request->bytes - 1) + 1 - *ret_begin;
}

static pl_status move_locked(struct run *run)
{
    const struct access_request *request = run->request;
    const bool windows = run->options->sieve_writes && !request->view->contiguous && /* they are locked one by one */
                         typemap_shape(request->view->filetype)->monotone;
    if (!run->options->atomic && (!request->write || !run->options->lock_writes || windows))
        return move_all(run);
    int64_t begin, span;
    access_hull(request, &begin, &span);
    const enum storage_lock kind = request->write ? STORAGE_EXCLUSIVE : STORAGE_SHARED;
    const pl_status status = access_lock(run->storage, kind, begin, span, run->options->progress, run->error);
    if (status == PL_E_UNSUPPORTED && !run->options->atomic) { /* no locks here: nobody sieves */
        run->error->status = PL_OK;
        return move_all(run);
    }
    if (status)
        return status;
    run->locked = true;
    move_all(run);
    access_unlock(run->storage, begin, span, run->error);
    return run->error->status;
}

static pl_status access_prepare(struct run *run)
{
    const struct access_request *request = run->request;
    if (access_memory_init(&run->memory, request->memory, request->buffer, run->error))
        return run->error->status;
    if (request->skip > 0)
        access_memory_seek(&run->memory, request->skip);
    if (!request->view->contiguous) {
        if (typemap_cursor_init(&run->file, request->view->filetype, run->error))
            return run->error->status;
        typemap_cursor_seek(&run->file, request->position);
    }
    const struct typemap_shape *shape = typemap_shape(request->memory);
    run->sieves = request->write ? run->options->sieve_writes : run->options->sieve_reads;
    /* guided prefetching must see each range: not by maps */
    run->maps = !run->options->atomic && !run->options->prefetch && !request->view->contiguous &&
                access_map_may(run->storage, request);
    run->vectors = shape->tiles || shape->size / (shape->pieces > 0 ? shape->pieces : 1) >= VECTOR_PIECE_BYTES;
    return PL_OK;
}

/* Side by side in the file and in memory, and nothing to lock: one call of the storage, no cursor, no memory. The most
 * frequent access of all, and the smallest ones are of this kind. */
static bool is_plain(const struct access_request *request, const struct access_options *options)
{
    return request->view->contiguous && typemap_shape(request->memory)->tiles && !options->atomic &&
           !(request->write && options->lock_writes);
}

static pl_status move_plain(struct storage *storage, const struct access_request *request, int64_t *ret_done,
                            struct pl_error *error)
{
    const int64_t offset = request->view->displacement + request->position;
    char *memory = access_memory_at(request->buffer, typemap_shape(request->memory)->true_lb + request->skip);
    return request->write ? storage_way_write(storage, offset, memory, request->bytes, ret_done, error)
                          : storage_read(storage, offset, memory, request->bytes, ret_done, error);
}

pl_status access_run(struct storage *storage, const struct access_request *request,
                     const struct access_options *options, int64_t *ret_done, struct pl_error *error)
{
    *ret_done = 0;
    if (request->bytes == 0)
        return PL_OK;
    error->status = PL_OK;
    if (is_plain(request, options))
        return move_plain(storage, request, ret_done, error);
    struct run run = {.storage = storage, .request = request, .options = options, .error = error};
    if (access_prepare(&run) == PL_OK)
        move_locked(&run);
    assert(run.done >= 0 && run.done <= request->bytes);
    assert(!request->write || error->status != PL_OK || run.done == request->bytes);
    *ret_done = run.done;
    mem_free(run.bounce);
    access_memory_clear(&run.memory);
    typemap_cursor_clear(&run.file);
    return error->status;
}

void access_request_clear(struct access_request *request)
{
    typemap_unref(request->memory);
    view_unref(request->view);
    mem_free(request->staged);
    *request = (struct access_request){0};
}
