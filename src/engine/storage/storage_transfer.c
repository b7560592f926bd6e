/* The loops around reads and writes, the choice between call and copy, room, and advice to the page cache. */
#include "base/clock.h"
#include "engine/mem.h"
#include "engine/storage/storage.h"
#include "engine/storage/storage_core.h"
#include "engine/storage/storage_map.h"
#include "engine/storage/storage_stream.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What Linux transfers at most in one call. */
#define CALL_BYTES_MAX ((size_t)2147479552)
enum { CALL_PIECES_MAX = IOV_MAX, ZEROS_MAX = 8 };

/* The part of a list that is still to be done. */
struct rest {
    struct iovec *pieces;
    int64_t count;
    int64_t offset;
    int64_t bytes;
};

/* How many pieces the next call takes; *ret_held_back bytes are taken from the last of them. */
static int portion_take(struct rest *rest, size_t *ret_held_back)
{
    size_t total = 0;
    int taken = 0;
    *ret_held_back = 0;
    while (taken < rest->count && taken < CALL_PIECES_MAX && total < CALL_BYTES_MAX) {
        struct iovec *piece = &rest->pieces[taken++];
        if (piece->iov_len > CALL_BYTES_MAX - total) {
            *ret_held_back = piece->iov_len - (CALL_BYTES_MAX - total);
            piece->iov_len -= *ret_held_back;
        }
        total += piece->iov_len;
    }
    return taken;
}

static void rest_advance(struct rest *rest, size_t done)
{
    assert((int64_t)done <= rest->bytes);
    rest->offset += (int64_t)done;
    rest->bytes -= (int64_t)done;
    while (rest->count > 0 && done >= rest->pieces->iov_len) { /* also over empty pieces */
        done -= rest->pieces->iov_len;
        rest->pieces++;
        rest->count--;
    }
    if (done > 0) {
        assert(rest->count > 0);
        rest->pieces->iov_base = (char *)rest->pieces->iov_base + done;
        rest->pieces->iov_len -= done;
    }
}

static ssize_t call_once(const struct storage *storage, bool writing, struct rest *rest)
{
    size_t held_back;
    const int count = portion_take(rest, &held_back);
    assert(count > 0);
    const ssize_t moved = writing ? storage->backend->writev(storage->fd, rest->pieces, count, rest->offset)
                                  : storage->backend->readv(storage->fd, rest->pieces, count, rest->offset);
    rest->pieces[count - 1].iov_len += held_back;
    return moved;
}

static pl_status transfer_fail(const struct storage *storage, bool writing, const struct rest *all, int64_t done,
                               int errno_value, struct pl_error *error)
{
    static const char *const verbs[] = {"reading", "writing"};
    if (errno_value == 0)
        pl_fail(error, PL_E_IO, "%s %lld bytes at byte %lld of '%s%s': no progress: the system took nothing, %d times",
                verbs[writing], (long long)all->bytes, (long long)all->offset, STORAGE_NAME(storage->path), ZEROS_MAX);
    else
        storage_fail(error, errno_value, "%s %lld bytes at byte %lld of '%s%s'", verbs[writing], (long long)all->bytes,
                     (long long)all->offset, STORAGE_NAME(storage->path));
    const size_t used = strlen(error->text);
    if (done > 0)
        snprintf(error->text + used, sizeof error->text - used, " (after %lld bytes)", (long long)done);
    return error->status;
}

/* `moved`: what the first call gave. */
static pl_status storage_transfer_rest(struct storage *storage, bool writing, struct rest rest, ssize_t moved,
                                       int64_t *ret_done, struct pl_error *error)
{
    const struct rest all = rest;
    struct storage_patience patience = {0};
    pl_status status = PL_OK;
    int zeros = 0;
    for (;;) {
        if (moved > 0) {
            rest_advance(&rest, (size_t)moved);
            patience = (struct storage_patience){0};
            zeros = 0;
        } else if (moved == 0 && !writing) {
            break; /* the file ends here */
        } else if (moved == 0 ? ++zeros >= ZEROS_MAX : !storage_again(&patience, (int)-moved)) {
            status = transfer_fail(storage, writing, &all, all.bytes - rest.bytes, (int)-moved, error);
            break;
        }
        if (rest.bytes == 0)
            break;
        moved = call_once(storage, writing, &rest);
    }
    assert(rest.bytes >= 0 && (rest.bytes == 0 || rest.count > 0));
    if (ret_done)
        *ret_done = all.bytes - rest.bytes;
    return status;
}

/* Sums up; false beyond the largest offset. */
static bool rest_make(int64_t offset, struct iovec *pieces, int64_t count, struct rest *ret_rest)
{
    if (offset < 0 || count < 0)
        return false;
    int64_t bytes = 0;
    for (int64_t i = 0; i < count; i++) {
        if (pieces[i].iov_len > (size_t)(INT64_MAX - offset - bytes))
            return false;
        bytes += (int64_t)pieces[i].iov_len;
    }
    *ret_rest = (struct rest){.pieces = pieces, .count = count, .offset = offset, .bytes = bytes};
    return true;
}

static pl_status transfer_list(struct storage *storage, bool writing, int64_t offset, struct iovec *pieces,
                               int64_t count, int64_t *ret_done, struct pl_error *error)
{
    struct rest rest;
    if (ret_done)
        *ret_done = 0;
    if (!rest_make(offset, pieces, count, &rest))
        return pl_fail(error, PL_E_ARG, "%s '%s%s' at byte %lld: the access does not lie between byte 0 and byte %lld",
                       writing ? "writing" : "reading", STORAGE_NAME(storage->path), (long long)offset,
                       (long long)INT64_MAX);
    rest_advance(&rest, 0);
    if (rest.bytes == 0)
        return PL_OK;
    const ssize_t moved = call_once(storage, writing, &rest);
    return storage_transfer_rest(storage, writing, rest, moved, ret_done, error);
}

/* One piece by one call, as nearly every access is; all else that may happen is for the loops. */
static pl_status transfer_piece(struct storage *storage, bool writing, int64_t offset, struct iovec piece,
                                int64_t *ret_done, struct pl_error *error)
{
    const size_t bytes = piece.iov_len;
    if (bytes == 0 || bytes > CALL_BYTES_MAX || offset < 0 || offset > INT64_MAX - (int64_t)bytes)
        return transfer_list(storage, writing, offset, &piece, 1, ret_done, error);
    const ssize_t moved = writing ? storage->backend->writev(storage->fd, &piece, 1, offset)
                                  : storage->backend->readv(storage->fd, &piece, 1, offset);
    if (moved != (ssize_t)bytes) {
        const struct rest rest = {.pieces = &piece, .count = 1, .offset = offset, .bytes = (int64_t)bytes};
        return storage_transfer_rest(storage, writing, rest, moved, ret_done, error);
    }
    if (ret_done)
        *ret_done = moved;
    return PL_OK;
}

pl_status storage_read(struct storage *storage, int64_t offset, void *buffer, int64_t bytes, int64_t *ret_done,
                       struct pl_error *error)
{
    const struct iovec piece = {.iov_base = buffer,
                                .iov_len = (size_t)bytes}; /* a negative one is refused: too large */
    return transfer_piece(storage, false, offset, piece, ret_done, error);
}

pl_status storage_write(struct storage *storage, int64_t offset, const void *buffer, int64_t bytes, int64_t *ret_done,
                        struct pl_error *error)
{
    const struct iovec piece = {.iov_base = (void *)buffer, .iov_len = (size_t)bytes};
    return transfer_piece(storage, true, offset, piece, ret_done, error);
}

pl_status storage_readv(struct storage *storage, int64_t offset, struct iovec *pieces, int64_t count, int64_t *ret_done,
                        struct pl_error *error)
{
    return transfer_list(storage, false, offset, pieces, count, ret_done, error);
}

pl_status storage_writev(struct storage *storage, int64_t offset, struct iovec *pieces, int64_t count,
                         int64_t *ret_done, struct pl_error *error)
{
    return transfer_list(storage, true, offset, pieces, count, ret_done, error);
}

/* ---- By a call or by a copy -------------------------------------------------------------------------------------- */

/* Copies to places that have just been mapped are slow, and pay later or never. They may be behind by as much time as
 * calls take for so many bytes. Then calls are made, and copies are tried again after a rest. */
struct way_limits {
    double debt_bytes;
    int rest_first, rest_most;
    int calls; /* to know what they cost */
};
static const struct way_limits SMALL = {256 << 10, 4096, 1 << 16, 16}, LARGE = {128 << 20, 64, 1 << 14, 2};

enum { WINDOW_BYTES = 4 << 20 };     /* copied at a time, between its multiples */
static const double ADVANTAGE = 1.1; /* so many times quicker, or it is not worth the trouble */

static double storage_way_now_ns(void)
{
    return (double)clock_read_ns(CLOCK_MONOTONIC);
}

/* Threads may lose each other's count: it need not be exact. */
static bool way_rests(struct storage_way *way)
{
    const int resting = atomic_load_explicit(&way->resting, memory_order_relaxed);
    if (resting > 0)
        atomic_store_explicit(&way->resting, resting - 1, memory_order_relaxed);
    return resting > 0;
}

static void way_begin_rest(struct storage_way *way, const struct way_limits *limits)
{
    way->rest = way->rest == 0 ? limits->rest_first : way->rest < limits->rest_most ? 2 * way->rest : limits->rest_most;
    way->debt_ns = 0;
    atomic_store_explicit(&way->resting, way->rest, memory_order_relaxed);
}

static const struct way_limits *limits_of(const struct storage *storage, const struct storage_way *way)
{
    return way == &storage->small ? &SMALL : &LARGE;
}

static bool way_copies(struct storage *storage, struct storage_way *way, int64_t begin, int64_t end)
{
    if (storage_hold_ground(storage, true, begin, end) == STORAGE_NEW)
        return false;
    pthread_mutex_lock(&storage->hold.mutex);
    const bool known = way->calls >= limits_of(storage, way)->calls;
    pthread_mutex_unlock(&storage->hold.mutex);
    return known;
}

static void way_note_call(struct storage *storage, struct storage_way *way, double ns, int64_t bytes)
{
    assert(bytes > 0);
    const struct way_limits *limits = limits_of(storage, way);
    const double cost = ns / (double)bytes;
    pthread_mutex_lock(&storage->hold.mutex);
    if (limits == &SMALL) /* the quickest: the others had blocks to find, or met another process */
        way->call_cost = way->calls == 0 || cost < way->call_cost ? cost : way->call_cost;
    else
        way->call_cost = way->calls < limits->calls ? cost : (way->call_cost + cost) / 2;
    if (way->calls < limits->calls)
        way->calls++;
    pthread_mutex_unlock(&storage->hold.mutex);
}

/* `bytes` 0: it could not be copied, as behind the end of the file. */
static void way_note_copy(struct storage *storage, struct storage_way *way, double ns, int64_t bytes)
{
    assert(bytes >= 0);
    const struct way_limits *limits = limits_of(storage, way);
    pthread_mutex_lock(&storage->hold.mutex);
    const double most = limits->debt_bytes * way->call_cost;
    way->debt_ns += ns * ADVANTAGE - way->call_cost * (double)bytes;
    if (way->debt_ns > most || (bytes == 0 && limits == &SMALL))
        way_begin_rest(way, limits);
    else if (way->debt_ns < -most) {
        way->debt_ns = -most;
        way->rest = 0;
    }
    pthread_mutex_unlock(&storage->hold.mutex);
}

/* ---- copies ---- */

struct source {
    const char *memory;
    size_t bytes;
};

static void copy_small(char *mapped, void *arg)
{
    const struct source *source = arg;
    memcpy(mapped, source->memory, source->bytes);
}

static void copy_large(char *mapped, void *arg)
{
    const struct source *source = arg;
    storage_stream(mapped, source->memory, source->bytes);
    storage_stream_end();
}

/* All or nothing: where the file is cut in the middle, what was copied before may be lost, too. */
static bool copy_windows(struct storage *storage, int64_t offset, const char *memory, int64_t bytes)
{
    for (int64_t done = 0; done < bytes;) {
        const int64_t at = offset + done, room = WINDOW_BYTES - at % WINDOW_BYTES;
        const int64_t length = bytes - done < room ? bytes - done : room;
        const struct storage_map_range range = {.write = true, .offset = at, .bytes = length};
        struct source source = {memory + done, (size_t)length};
        if (!storage_map_copy(storage, &range, bytes <= STORAGE_WAY_SMALL ? copy_small : copy_large, &source))
            return false;
        done += length;
    }
    return true;
}

/* ---- one write ---- */

static pl_status write_measured(struct storage *storage, struct storage_way *way, int64_t offset, const char *memory,
                                int64_t bytes, int64_t *ret_done, struct pl_error *error)
{
    const double began = storage_way_now_ns();
    const pl_status status = storage_write(storage, offset, memory, bytes, ret_done, error);
    if (status == PL_OK) {
        way_note_call(storage, way, storage_way_now_ns() - began, bytes);
        storage_hold_see(storage, offset, offset + bytes);
    }
    return status;
}

pl_status storage_way_write(struct storage *storage, int64_t offset, const char *memory, int64_t bytes,
                            int64_t *ret_done, struct pl_error *error)
{
    const bool small = bytes <= STORAGE_WAY_SMALL;
    struct storage_way *way = small ? &storage->small : &storage->large;
    if ((!small && bytes < STORAGE_WAY_LARGE) || bytes == 0 || offset < 0 || bytes > INT64_MAX - offset ||
        way_rests(way) || storage_map_reach(storage, true) == 0)
        return storage_write(storage, offset, memory, bytes, ret_done, error);
    if (!way_copies(storage, way, offset, offset + bytes))
        return write_measured(storage, way, offset, memory, bytes, ret_done, error);
    const double began = storage_way_now_ns();
    const bool copied = copy_windows(storage, offset, memory, bytes);
    way_note_copy(storage, way, storage_way_now_ns() - began, copied ? bytes : 0);
    if (!copied)
        return storage_write(storage, offset, memory, bytes, ret_done, error);
    if (ret_done)
        *ret_done = bytes;
    return PL_OK;
}

/* ---- Room -------------------------------------------------------------------------------------------------------- */

/* Making room: fallocate(2), or by hand where the file system has no such call. */

enum { PIECE_BYTES = 1 << 20 };

/* A file opened for writing only must be read all the same. The descriptor's own name also works after a chdir(2). */
static pl_status open_reader(const struct storage *storage, struct storage **ret_reader, struct pl_error *error)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", storage->fd);
    if (storage_open(name, O_RDONLY, 0, ret_reader, error) == PL_OK)
        return PL_OK;
    return storage_open(storage->path, O_RDONLY, 0, ret_reader, error);
}

/* Reads before each write, also behind the end: another process may have made the file longer meanwhile. */
static pl_status storage_allocate_rewrite(struct storage *storage, struct storage *reader, char *buffer, int64_t bytes,
                                          struct pl_error *error)
{
    for (int64_t at = 0; at < bytes;) {
        const int64_t wanted = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        int64_t found = 0;
        pl_status status = storage_read(reader, at, buffer, wanted, &found, error);
        if (status != PL_OK)
            return status;
        assert(found >= 0 && found <= wanted);
        memset(buffer + found, 0, (size_t)(wanted - found));
        status = storage_write(storage, at, buffer, wanted, NULL, error);
        if (status != PL_OK)
            return status;
        at += wanted;
    }
    return PL_OK;
}

static pl_status allocate_by_hand(struct storage *storage, int64_t bytes, struct pl_error *error)
{
    char *buffer = mem_alloc(PIECE_BYTES);
    if (!buffer)
        return pl_fail(error, PL_E_NOMEM, "not enough memory");
    struct storage *opened = NULL;
    pl_status status = PL_OK;
    if ((storage->flags & O_ACCMODE) == O_WRONLY)
        status = open_reader(storage, &opened, error);
    if (status == PL_OK)
        status = storage_allocate_rewrite(storage, opened ? opened : storage, buffer, bytes, error);
    struct pl_error ignored; /* closing what was only read loses nothing */
    storage_close(opened, &ignored);
    mem_free(buffer);
    return status;
}

pl_status storage_allocate(struct storage *storage, int64_t bytes, struct pl_error *error)
{
    if (bytes < 0)
        return pl_fail(error, PL_E_ARG, "allocating '%s%s': %lld is negative", STORAGE_NAME(storage->path),
                       (long long)bytes);
    if (bytes == 0)
        return PL_OK;
    struct storage_patience patience = {0};
    int outcome;
    do
        outcome = storage->backend->allocate(storage->fd, 0, bytes);
    while (outcome < 0 && storage_again(&patience, -outcome));
    if (outcome == -EOPNOTSUPP || outcome == -ENOSYS) {
        if (allocate_by_hand(storage, bytes, error) == PL_OK)
            return PL_OK;
        return pl_within(error, "allocating %lld bytes for '%s%s'", (long long)bytes, STORAGE_NAME(storage->path));
    }
    if (outcome < 0)
        return storage_fail(error, -outcome, "allocating %lld bytes for '%s%s'", (long long)bytes,
                            STORAGE_NAME(storage->path));
    return PL_OK;
}

/* ---- The page cache ---------------------------------------------------------------------------------------------- */

static enum storage_cached byte_is_cached(const struct storage *storage, int64_t offset)
{
    char byte;
    const struct iovec piece = {.iov_base = &byte, .iov_len = 1};
    if (preadv2(storage->fd, &piece, 1, offset, RWF_NOWAIT) >= 0)
        return STORAGE_CACHED;
    return errno == EAGAIN ? STORAGE_NOT_CACHED : STORAGE_UNKNOWN;
}

enum storage_cached storage_is_cached(struct storage *storage, int64_t offset, int64_t bytes)
{
    assert(offset >= 0 && bytes > 0);
    const enum storage_cached first = byte_is_cached(storage, offset);
    return first == STORAGE_CACHED && bytes > 1 ? byte_is_cached(storage, offset + bytes - 1) : first;
}

bool storage_fetch(struct storage *storage, int64_t offset, int64_t bytes)
{
    return posix_fadvise(storage->fd, offset, bytes, POSIX_FADV_WILLNEED) == 0;
}

bool storage_release(struct storage *storage, int64_t offset, int64_t bytes)
{
    const int64_t page = sysconf(_SC_PAGESIZE), begin = offset - offset % page; /* the system takes whole ones only */
    const int64_t end = offset + bytes > INT64_MAX - page ? INT64_MAX : (offset + bytes + page - 1) / page * page;
    return posix_fadvise(storage->fd, begin, end - begin, POSIX_FADV_DONTNEED) == 0;
}
