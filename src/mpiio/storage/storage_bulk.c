#include "mpiio/storage/storage_bulk.h"

#include "mpiio/storage/storage_core.h"
#include "mpiio/storage/storage_map.h"
#include "mpiio/storage/storage_stream.h"

#include <time.h>

enum {
    WINDOW_BYTES = 4 << 20, /* copied at a time, between its multiples */
    CALLS_ENOUGH = 2,       /* to know what they cost */
    REST_FIRST = 64,
    REST_MOST = 1 << 14,
};
/* Copies to places that have just been mapped are slow, and pay later or never. They may be behind by as much time as
 * calls take for so many bytes. */
static const double DEBT_BYTES = 128 << 20;
static const double ADVANTAGE = 1.1; /* so many times quicker, or it is not worth the trouble */

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static bool shall_copy(struct storage *storage, int64_t begin, int64_t end)
{
    struct storage_bulk *bulk = &storage->bulk;
    if (storage_map_reach(storage, true) == 0 || storage_hold_ground(storage, true, begin, end) == STORAGE_NEW)
        return false;
    pthread_mutex_lock(&storage->hold.mutex);
    const bool copy = bulk->calls >= CALLS_ENOUGH && bulk->resting == 0;
    if (bulk->resting > 0)
        bulk->resting--;
    pthread_mutex_unlock(&storage->hold.mutex);
    return copy;
}

static void note_call(struct storage *storage, double ns, int64_t bytes)
{
    struct storage_bulk *bulk = &storage->bulk;
    const double cost = ns / (double)bytes;
    pthread_mutex_lock(&storage->hold.mutex);
    bulk->call_cost = bulk->calls < CALLS_ENOUGH ? cost : (bulk->call_cost + cost) / 2;
    if (bulk->calls < CALLS_ENOUGH) /* the first may have had blocks to find */
        bulk->calls++;
    pthread_mutex_unlock(&storage->hold.mutex);
}

static void note_copy(struct storage *storage, double ns, int64_t bytes)
{
    struct storage_bulk *bulk = &storage->bulk;
    pthread_mutex_lock(&storage->hold.mutex);
    const double most = DEBT_BYTES * bulk->call_cost;
    bulk->debt_ns += ns * ADVANTAGE - bulk->call_cost * (double)bytes;
    bulk->debt_ns = bulk->debt_ns > -most ? bulk->debt_ns : -most;
    if (bulk->debt_ns > most) {
        bulk->rest = bulk->rest == 0 ? REST_FIRST : bulk->rest < REST_MOST ? 2 * bulk->rest : REST_MOST;
        bulk->resting = bulk->rest;
        bulk->debt_ns = 0;
    }
    pthread_mutex_unlock(&storage->hold.mutex);
}

struct source {
    const char *memory;
    size_t bytes;
};

static void copy(char *mapped, void *arg)
{
    const struct source *source = arg;
    storage_stream(mapped, source->memory, source->bytes);
    storage_stream_end();
}

/* By copies as far as that goes; returns how far. */
static int64_t copy_windows(struct storage *storage, int64_t offset, const char *memory, int64_t bytes)
{
    int64_t done = 0;
    while (done < bytes) {
        const int64_t at = offset + done, room = WINDOW_BYTES - at % WINDOW_BYTES;
        const int64_t length = bytes - done < room ? bytes - done : room;
        const struct storage_map_range range = {.write = true, .offset = at, .bytes = length};
        struct source source = {memory + done, (size_t)length};
        if (!storage_map_copy(storage, &range, copy, &source))
            break;
        done += length;
    }
    return done;
}

static pl_status write_rest(struct storage *storage, int64_t offset, const char *memory, int64_t bytes, int64_t copied,
                            int64_t *ret_done, struct pl_error *error)
{
    const pl_status status = storage_write(storage, offset + copied, memory + copied, bytes - copied, ret_done, error);
    *ret_done += copied;
    return status;
}

pl_status storage_bulk_write(struct storage *storage, int64_t offset, const char *memory, int64_t bytes,
                             int64_t *ret_done, struct pl_error *error)
{
    if (offset < 0 || bytes > INT64_MAX - offset)
        return storage_write(storage, offset, memory, bytes, ret_done, error);
    const bool copies = shall_copy(storage, offset, offset + bytes);
    const double began = now_ns();
    if (copies) {
        const int64_t copied = copy_windows(storage, offset, memory, bytes);
        note_copy(storage, now_ns() - began, copied);
        *ret_done = copied;
        return copied == bytes ? PL_OK : write_rest(storage, offset, memory, bytes, copied, ret_done, error);
    }
    const pl_status status = storage_write(storage, offset, memory, bytes, ret_done, error);
    if (status == PL_OK) {
        note_call(storage, now_ns() - began, bytes);
        storage_hold_see(storage, offset, offset + bytes);
    }
    return status;
}
