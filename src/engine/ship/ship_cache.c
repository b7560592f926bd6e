#include "engine/ship/ship_agent.h"

#include "engine/coverage/coverage.h"
#include "engine/mem.h"

#include <assert.h>
#include <string.h>

enum { GAP_BYTES = 4096 }; /* a system call more costs as much as writing these */

struct slot {
    int64_t block; /* number of the block in the file; -1: empty */
    int64_t used;  /* when */
    char *data;
    uint64_t *known, *dirty; /* a bit for each byte */
    bool is_dirty;
    bool filled;       /* every byte is known; behind the end of the file they are zeros */
    int64_t file_end;  /* bytes of the block that the file had when it was filled */
    bool write_failed; /* in the search for a place that is under way */
};

struct ship_cache {
    struct storage *storage;
    bool readable;
    int64_t block_bytes, clock;
    _Atomic int64_t *end;
    int count;
    struct slot *slots, *last;
    char *memory, *scratch;
    struct ship_cache_counts counts;
};

/* ---- making ---- */

static void place_slots(struct ship_cache *cache)
{
    const size_t block = (size_t)cache->block_bytes, map_bytes = coverage_bytes(cache->block_bytes);
    char *maps = cache->memory + block * (size_t)(cache->count + 1);
    cache->scratch = cache->memory + block * (size_t)cache->count;
    for (int i = 0; i < cache->count; i++) {
        struct slot *slot = &cache->slots[i];
        slot->block = -1;
        slot->data = cache->memory + block * (size_t)i;
        slot->known = (uint64_t *)(void *)(maps + 2 * map_bytes * (size_t)i);
        slot->dirty = (uint64_t *)(void *)(maps + 2 * map_bytes * (size_t)i + map_bytes);
    }
}

pl_status ship_cache_new(struct storage *storage, bool readable, int64_t block_bytes, int blocks, _Atomic int64_t *end,
                         struct ship_cache **ret_cache, struct pl_error *error)
{
    assert(block_bytes > 0 && blocks > 0);
    const size_t bytes = (size_t)block_bytes * (size_t)(blocks + 1) + 2 * coverage_bytes(block_bytes) * (size_t)blocks;
    struct ship_cache *cache = mem_zalloc(1, sizeof *cache);
    if (cache) {
        cache->slots = mem_zalloc((size_t)blocks, sizeof *cache->slots);
        cache->memory = mem_alloc(bytes);
    }
    if (!cache || !cache->slots || !cache->memory) {
        ship_cache_free(cache);
        return pl_fail(error, PL_E_NOMEM, "no memory for an agent's %d blocks of %lld bytes", blocks,
                       (long long)block_bytes);
    }
    cache->storage = storage;
    cache->readable = readable;
    cache->block_bytes = block_bytes;
    cache->count = blocks;
    cache->end = end;
    place_slots(cache);
    *ret_cache = cache;
    return PL_OK;
}

void ship_cache_free(struct ship_cache *cache)
{
    if (!cache)
        return;
    mem_free(cache->slots);
    mem_free(cache->memory);
    mem_free(cache);
}

struct ship_cache_counts ship_cache_count(const struct ship_cache *cache)
{
    return cache->counts;
}

/* ---- one block ---- */

static int64_t ship_cache_begin_of(const struct ship_cache *cache, const struct slot *slot)
{
    assert(slot->block >= 0);
    return slot->block * cache->block_bytes;
}

static bool ship_cache_covers(const uint64_t *coverage, int64_t at, int64_t bytes)
{
    int64_t begin = at, end = at;
    return coverage_next(coverage, at + bytes, &begin, &end) && begin == at && end == at + bytes;
}

/* What is not known yet comes from `from`, which holds `there` bytes of the file; behind them there are zeros. */
static void fill_gap(struct slot *slot, const char *from, int64_t there, int64_t begin, int64_t end)
{
    assert(begin <= end && there >= 0);
    const int64_t split = there < begin ? begin : there < end ? there : end;
    if (split > begin && from != slot->data)
        memcpy(slot->data + begin, from + begin, (size_t)(split - begin));
    if (end > split)
        memset(slot->data + split, 0, (size_t)(end - split));
}

static pl_status ship_cache_fill(struct ship_cache *cache, struct slot *slot, struct pl_error *error)
{
    int64_t there = 0, begin = 0, end = 0, reached = 0;
    if (slot->filled)
        return PL_OK;
    const bool empty = !coverage_next(slot->known, cache->block_bytes, &begin, &end);
    char *to = empty ? slot->data : cache->scratch;
    if (storage_read(cache->storage, ship_cache_begin_of(cache, slot), to, cache->block_bytes, &there, error))
        return error->status;
    begin = 0;
    while (coverage_next(slot->known, cache->block_bytes, &begin, &end)) {
        fill_gap(slot, to, there, reached, begin);
        reached = begin = end;
    }
    fill_gap(slot, to, there, reached, cache->block_bytes);
    slot->filled = true;
    slot->file_end = there;
    assert(there >= 0 && there <= cache->block_bytes);
    return PL_OK;
}

/* The next bytes to write at or behind *begin: as one with those behind a short gap, where its bytes are known. */
static bool ship_cache_next_run(const struct ship_cache *cache, const struct slot *slot, int64_t *begin,
                                int64_t *ret_end)
{
    if (!coverage_next(slot->dirty, cache->block_bytes, begin, ret_end))
        return false;
    for (int64_t more = *ret_end, end; coverage_next(slot->dirty, cache->block_bytes, &more, &end); more = end) {
        if (!slot->filled || more - *ret_end > GAP_BYTES)
            break;
        *ret_end = end;
    }
    return true;
}

static bool has_short_gaps(const struct ship_cache *cache, const struct slot *slot)
{
    int64_t begin = 0, end = 0, before = -GAP_BYTES - 1;
    for (; coverage_next(slot->dirty, cache->block_bytes, &begin, &end); begin = before = end)
        if (begin - before <= GAP_BYTES)
            return true;
    return false;
}

static pl_status write_back(struct ship_cache *cache, struct slot *slot, struct pl_error *error)
{
    if (!slot->is_dirty)
        return PL_OK;
    struct pl_error unfilled = {0}; /* then each run is written by itself */
    if (cache->readable && !slot->filled && has_short_gaps(cache, slot))
        ship_cache_fill(cache, slot, &unfilled);
    int64_t begin = 0, end = 0;
    for (; ship_cache_next_run(cache, slot, &begin, &end); begin = end)
        if (storage_write(cache->storage, ship_cache_begin_of(cache, slot) + begin, slot->data + begin, end - begin,
                          NULL, error))
            return error->status;
    memset(slot->dirty, 0, coverage_bytes(cache->block_bytes));
    slot->is_dirty = false;
    cache->counts.writes++;
    assert(!slot->is_dirty);
    return PL_OK;
}

/* ---- which block is where ---- */

static struct slot *ship_cache_oldest(const struct ship_cache *cache)
{
    struct slot *found = NULL;
    for (int i = 0; i < cache->count; i++) {
        struct slot *slot = &cache->slots[i];
        if (!slot->write_failed && (!found || slot->used < found->used))
            found = slot;
    }
    return found;
}

/* NULL: all blocks wait to be written, and none can be. */
static struct slot *ship_cache_make_room(struct ship_cache *cache)
{
    struct slot *slot;
    struct pl_error error = {0};
    while ((slot = ship_cache_oldest(cache)) && write_back(cache, slot, &error) != PL_OK)
        slot->write_failed = true; /* nothing is lost: it stays, and the next flush tells */
    for (int i = 0; i < cache->count; i++)
        cache->slots[i].write_failed = false;
    return slot;
}

static struct slot *ship_cache_find(struct ship_cache *cache, int64_t block)
{
    if (cache->last && cache->last->block == block)
        return cache->last;
    for (int i = 0; i < cache->count; i++)
        if (cache->slots[i].block == block)
            return &cache->slots[i];
    return NULL;
}

static struct slot *ship_cache_get(struct ship_cache *cache, int64_t block)
{
    assert(block >= 0);
    struct slot *slot = ship_cache_find(cache, block);
    cache->counts.hits += slot != NULL;
    cache->counts.misses += slot == NULL;
    if (!slot && (slot = ship_cache_make_room(cache))) {
        const size_t map_bytes = coverage_bytes(cache->block_bytes);
        memset(slot->known, 0, map_bytes);
        memset(slot->dirty, 0, map_bytes);
        slot->block = block;
        slot->filled = slot->is_dirty = false;
        slot->file_end = 0;
    }
    assert(!slot || slot->block == block);
    if (slot)
        slot->used = ++cache->clock;
    cache->last = slot;
    return slot;
}

/* ---- access ---- */

static void ship_cache_note_end(struct ship_cache *cache, int64_t end)
{
    int64_t before = atomic_load(cache->end);
    while (before < end && !atomic_compare_exchange_weak(cache->end, &before, end))
        ;
}

/* How much of a piece lies before the end of the file, whatever part of it is still in memory. */
static int64_t before_end(const struct ship_cache *cache, int64_t file_end, int64_t offset, int64_t bytes)
{
    const int64_t cached = atomic_load(cache->end), end = cached > file_end ? cached : file_end;
    return end <= offset ? 0 : end - offset < bytes ? end - offset : bytes;
}

static pl_status read_around(struct ship_cache *cache, int64_t offset, char *to, int64_t bytes, int64_t *ret_done,
                             struct pl_error *error)
{
    int64_t there = 0;
    const pl_status status = storage_read(cache->storage, offset, to, bytes, &there, error);
    *ret_done = there;
    if (status)
        return status;
    *ret_done = before_end(cache, offset + there, offset, bytes);
    assert(*ret_done >= there && *ret_done <= bytes);
    memset(to + there, 0, (size_t)(*ret_done - there));
    return PL_OK;
}

static pl_status ship_cache_read_block(struct ship_cache *cache, int64_t offset, char *to, int64_t bytes,
                                       int64_t *ret_done, struct pl_error *error)
{
    struct slot *slot = ship_cache_get(cache, offset / cache->block_bytes);
    *ret_done = 0;
    if (!slot)
        return read_around(cache, offset, to, bytes, ret_done, error);
    const int64_t begin = ship_cache_begin_of(cache, slot), at = offset - begin;
    assert(at >= 0 && at + bytes <= cache->block_bytes);
    *ret_done = bytes;
    if (!ship_cache_covers(slot->known, at, bytes)) {
        *ret_done = 0;
        if (ship_cache_fill(cache, slot, error))
            return error->status;
        *ret_done = before_end(cache, begin + slot->file_end, offset, bytes);
    }
    memcpy(to, slot->data + at, (size_t)*ret_done);
    return PL_OK;
}

static pl_status write_block(struct ship_cache *cache, int64_t offset, const char *from, int64_t bytes,
                             int64_t *ret_done, struct pl_error *error)
{
    struct slot *slot = ship_cache_get(cache, offset / cache->block_bytes);
    *ret_done = bytes;
    if (!slot) {
        storage_write(cache->storage, offset, from, bytes, ret_done, error);
    } else {
        const int64_t at = offset - ship_cache_begin_of(cache, slot);
        assert(at >= 0 && at + bytes <= cache->block_bytes);
        memcpy(slot->data + at, from, (size_t)bytes);
        coverage_add(slot->known, at, bytes);
        coverage_add(slot->dirty, at, bytes);
        slot->is_dirty = true;
    }
    if (*ret_done > 0)
        ship_cache_note_end(cache, offset + *ret_done);
    return error->status;
}

static int64_t within_block(const struct ship_cache *cache, int64_t offset, int64_t bytes)
{
    const int64_t left = cache->block_bytes - offset % cache->block_bytes;
    return left < bytes ? left : bytes;
}

pl_status ship_cache_read(struct ship_cache *cache, int64_t offset, char *to, int64_t bytes, int64_t *ret_done,
                          struct pl_error *error)
{
    int64_t done = 0;
    *ret_done = 0;
    error->status = PL_OK;
    while (*ret_done < bytes && error->status == PL_OK) {
        const int64_t part = within_block(cache, offset + *ret_done, bytes - *ret_done);
        ship_cache_read_block(cache, offset + *ret_done, to + *ret_done, part, &done, error);
        *ret_done += done;
        if (done < part)
            break;
    }
    return error->status;
}

pl_status ship_cache_write(struct ship_cache *cache, int64_t offset, const char *from, int64_t bytes, int64_t *ret_done,
                           struct pl_error *error)
{
    int64_t done = 0;
    *ret_done = 0;
    error->status = PL_OK;
    while (*ret_done < bytes && error->status == PL_OK) {
        const int64_t part = within_block(cache, offset + *ret_done, bytes - *ret_done);
        write_block(cache, offset + *ret_done, from + *ret_done, part, &done, error);
        *ret_done += done;
    }
    return error->status;
}

pl_status ship_cache_flush(struct ship_cache *cache, struct pl_error *error)
{
    error->status = PL_OK;
    for (int i = 0; i < cache->count; i++) {
        struct pl_error own = {0};
        if (write_back(cache, &cache->slots[i], &own) != PL_OK && error->status == PL_OK)
            *error = own;
    }
    return error->status;
}

void ship_cache_drop(struct ship_cache *cache)
{
    for (int i = 0; i < cache->count; i++)
        if (!cache->slots[i].is_dirty)
            cache->slots[i].block = -1;
    cache->last = NULL;
}
