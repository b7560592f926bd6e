#include "engine/prefetch/prefetch.h"
#include "base/clock.h"
#include "engine/storage/storage.h"

#include <assert.h>

/* ---- Policy ------------------------------------------------------------------------------------------------------ */

static bool wait_for_one(struct prefetch_policy *policy)
{
    if (!policy->has_waiting && !policy->at_end) {
        policy->has_waiting = policy->source.next(policy->source.self, &policy->waiting);
        policy->at_end = !policy->has_waiting;
    }
    return policy->has_waiting;
}

/* Until `ahead` ranges are fetched, or the storage takes no more. */
static void fetch_more(struct prefetch_policy *policy)
{
    while (policy->count < policy->ahead && wait_for_one(policy)) {
        policy->counts.asked++;
        if (!policy->storage.fetch(policy->storage.self, &policy->waiting))
            return;
        policy->counts.accepted++;
        assert(policy->count < PREFETCH_AHEAD_MOST);
        policy->fetched[(policy->first + policy->count++) % PREFETCH_AHEAD_MOST] = policy->waiting;
        policy->has_waiting = false;
    }
}

static void begin_round(struct prefetch_policy *policy)
{
    fetch_more(policy);
    policy->allowed = policy->count < 1 ? 1 : policy->count < policy->together ? policy->count : policy->together;
    policy->accessed = policy->judged = policy->hits = 0;
    policy->began_ns = policy->storage.now_ns(policy->storage.self);
}

static void prefetch_policy_release(struct prefetch_policy *policy, const struct prefetch_range *range)
{
    policy->counts.released += policy->storage.release(policy->storage.self, range);
}

static void prefetch_policy_adapt(struct prefetch_policy *policy)
{
    if (policy->judged == 0)
        return;
    assert(policy->accessed > 0 && policy->hits <= policy->judged);
    const int64_t each_ns = (policy->storage.now_ns(policy->storage.self) - policy->began_ns) / policy->accessed;
    if (policy->hits * 2 < policy->judged)
        policy->ahead = policy->ahead * 2 < PREFETCH_AHEAD_MOST ? policy->ahead * 2 : PREFETCH_AHEAD_MOST;
    else if (policy->hits == policy->judged && each_ns < PREFETCH_FAST_NS && policy->ahead > policy->together)
        policy->ahead--;
}

static void end_round(struct prefetch_policy *policy)
{
    for (int i = 0; i < policy->used_count; i++)
        prefetch_policy_release(policy, &policy->used[i]);
    policy->used_count = 0;
    prefetch_policy_adapt(policy);
}

/* The next range that has not been accessed: the first of those that are fetched, else one that is not. */
static bool prefetch_policy_peek(struct prefetch_policy *policy, struct prefetch_range *ret_range, bool *ret_fetched)
{
    *ret_fetched = policy->count > 0;
    if (!*ret_fetched && !wait_for_one(policy))
        return false;
    *ret_range = *ret_fetched ? policy->fetched[policy->first] : policy->waiting;
    return true;
}

static void prefetch_policy_use(struct prefetch_policy *policy, const struct prefetch_range *range, bool fetched)
{
    policy->accessed++;
    policy->used_end = range->end;
    if (!fetched) {
        policy->has_waiting = false;
        return;
    }
    assert(policy->count > 0);
    policy->first = (policy->first + 1) % PREFETCH_AHEAD_MOST;
    policy->count--;
    const bool hit = policy->storage.is_there(policy->storage.self, range);
    policy->judged++;
    policy->hits += hit;
    policy->counts.hit += hit;
    if (policy->used_count < PREFETCH_AHEAD_MOST) /* else it is left to the system: it may not be given back yet */
        policy->used[policy->used_count++] = *range;
}

void prefetch_policy_begin(struct prefetch_policy *policy, const struct prefetch_storage *storage,
                           const struct prefetch_source *source, int ahead, int together)
{
    *policy = (struct prefetch_policy){
        .storage = *storage, .source = *source, .together = together, .ahead = ahead > together ? ahead : together};
    assert(policy->ahead > 0 && policy->ahead <= PREFETCH_AHEAD_MOST);
    begin_round(policy);
}

void prefetch_policy_reach(struct prefetch_policy *policy, int64_t begin, int64_t end)
{
    assert(begin <= end);
    struct prefetch_range range;
    bool fetched;
    if (policy->accessed >= policy->allowed && begin >= policy->used_end) {
        end_round(policy);
        begin_round(policy);
    }
    while (prefetch_policy_peek(policy, &range, &fetched) && range.begin < end)
        prefetch_policy_use(policy, &range, fetched);
}

void prefetch_policy_end(struct prefetch_policy *policy)
{
    end_round(policy);
    for (; policy->count > 0; policy->count--) {
        prefetch_policy_release(policy, &policy->fetched[policy->first]);
        policy->first = (policy->first + 1) % PREFETCH_AHEAD_MOST;
    }
}

/* ---- Ranges ------------------------------------------------------------------------------------------------------ */

bool prefetch_is_regular(const struct prefetch_pieces *pieces)
{
    const struct prefetch_piece first = pieces->next(pieces->self);
    struct prefetch_piece before = pieces->next(pieces->self);
    if (first.bytes == 0 || before.bytes == 0)
        return true;
    const int64_t distance = before.offset - first.offset;
    for (int i = 2; i < PREFETCH_LOOK; i++) {
        const struct prefetch_piece piece = pieces->next(pieces->self);
        if (piece.bytes == 0) /* the one before was the last, and may be cut off */
            return before.bytes <= first.bytes;
        if (before.bytes != first.bytes || piece.offset - before.offset != distance)
            return false;
        before = piece;
    }
    return true;
}

void prefetch_ranges_init(struct prefetch_ranges *ranges, const struct prefetch_pieces *pieces, int64_t block_bytes)
{
    assert(block_bytes > 0);
    *ranges = (struct prefetch_ranges){.pieces = *pieces, .block_bytes = block_bytes};
}

bool prefetch_ranges_next(void *self, struct prefetch_range *ret_range)
{
    struct prefetch_ranges *ranges = self;
    struct prefetch_piece *rest = &ranges->rest;
    if (rest->bytes == 0)
        *rest = ranges->pieces.next(ranges->pieces.self);
    if (rest->bytes == 0)
        return false;
    const int64_t block = rest->offset / ranges->block_bytes;
    const int64_t behind = block >= INT64_MAX / ranges->block_bytes ? INT64_MAX : (block + 1) * ranges->block_bytes;
    *ret_range = (struct prefetch_range){.begin = rest->offset, .end = rest->offset};
    while (rest->bytes > 0 && rest->offset < behind) {
        const int64_t within = behind - rest->offset, bytes = within < rest->bytes ? within : rest->bytes;
        if (rest->offset + bytes > ret_range->end)
            ret_range->end = rest->offset + bytes;
        rest->offset += bytes;
        rest->bytes -= bytes;
        if (rest->bytes == 0)
            *rest = ranges->pieces.next(ranges->pieces.self);
    }
    return true;
}

/* ---- Of a storage ------------------------------------------------------------------------------------------------ */

static bool prefetch_fetch(void *self, struct prefetch_range *range)
{
    struct storage *storage = self;
    const int64_t bytes = range->end - range->begin;
    range->owned = storage_is_cached(storage, range->begin, bytes) == STORAGE_NOT_CACHED;
    return !range->owned || storage_fetch(storage, range->begin, bytes);
}

static bool prefetch_is_there(void *self, const struct prefetch_range *range)
{
    return storage_is_cached(self, range->begin, range->end - range->begin) == STORAGE_CACHED;
}

static bool prefetch_release(void *self, const struct prefetch_range *range)
{
    return range->owned && storage_release(self, range->begin, range->end - range->begin);
}

static int64_t prefetch_now_ns(void *self)
{
    (void)self;
    return clock_read_ns(CLOCK_MONOTONIC);
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
    const struct prefetch_storage functions = {storage, prefetch_fetch, prefetch_is_there, prefetch_release,
                                               prefetch_now_ns};
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
