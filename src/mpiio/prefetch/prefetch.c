#include "mpiio/prefetch/prefetch.h"

#include "mpiio/storage/storage_advise.h"

#include <time.h>

static bool fetch(void *self, struct prefetch_range *range)
{
    struct storage *storage = self;
    const int64_t bytes = range->end - range->begin;
    range->owned = storage_is_cached(storage, range->begin, bytes) == STORAGE_NOT_CACHED;
    return !range->owned || storage_fetch(storage, range->begin, bytes);
}

static bool is_there(void *self, const struct prefetch_range *range)
{
    return storage_is_cached(self, range->begin, range->end - range->begin) == STORAGE_CACHED;
}

static bool release(void *self, const struct prefetch_range *range)
{
    return range->owned && storage_release(self, range->begin, range->end - range->begin);
}

static int64_t now_ns(void *self)
{
    (void)self;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void prefetch_memory_init(struct prefetch_memory *memory)
{
    *memory = (struct prefetch_memory){0};
    pthread_mutex_init(&memory->lock, NULL);
}

void prefetch_memory_clear(struct prefetch_memory *memory)
{
    pthread_mutex_destroy(&memory->lock);
}

void prefetch_begin(struct prefetch *prefetch, struct storage *storage, struct prefetch_memory *memory,
                    const struct prefetch_pieces *pieces, int64_t block_bytes, int together)
{
    prefetch->storage = storage;
    prefetch->memory = memory;
    prefetch_ranges_init(&prefetch->ranges, pieces, block_bytes);
    const struct prefetch_storage functions = {storage, fetch, is_there, release, now_ns};
    const struct prefetch_source source = {&prefetch->ranges, prefetch_ranges_next};
    pthread_mutex_lock(&memory->lock);
    const int ahead = memory->ahead > 0 ? memory->ahead : PREFETCH_AHEAD_FIRST;
    pthread_mutex_unlock(&memory->lock);
    prefetch_policy_begin(&prefetch->policy, &functions, &source, ahead, together);
}

void prefetch_reach(struct prefetch *prefetch, int64_t offset, int64_t bytes)
{
    prefetch_policy_reach(&prefetch->policy, offset, offset + bytes);
}

void prefetch_end(struct prefetch *prefetch)
{
    struct prefetch_memory *memory = prefetch->memory;
    prefetch_policy_end(&prefetch->policy);
    const struct prefetch_counts *counts = &prefetch->policy.counts;
    pthread_mutex_lock(&memory->lock);
    memory->ahead = prefetch->policy.ahead;
    memory->counts.asked += counts->asked;
    memory->counts.accepted += counts->accepted;
    memory->counts.hit += counts->hit;
    memory->counts.released += counts->released;
    pthread_mutex_unlock(&memory->lock);
}
