#include "mpiio/storage/storage_way.h"

#include "mpiio/storage/storage_core.h"
#include "mpiio/storage/storage_map.h"
#include "mpiio/storage/storage_stream.h"

#include <time.h>

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

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
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
    const double began = now_ns();
    const pl_status status = storage_write(storage, offset, memory, bytes, ret_done, error);
    if (status == PL_OK) {
        way_note_call(storage, way, now_ns() - began, bytes);
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
    const double began = now_ns();
    const bool copied = copy_windows(storage, offset, memory, bytes);
    way_note_copy(storage, way, now_ns() - began, copied ? bytes : 0);
    if (!copied)
        return storage_write(storage, offset, memory, bytes, ret_done, error);
    if (ret_done)
        *ret_done = bytes;
    return PL_OK;
}
