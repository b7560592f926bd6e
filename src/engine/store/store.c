#include "engine/store/store.h"
#include "engine/access/access.h"
#include "engine/coverage/coverage.h"
#include "engine/mem.h"
#include "engine/storage/storage_map.h"

#include <assert.h>
#include <string.h>

enum {
    GAP_BYTES = 8192, /* gaps up to this size (in the mean) are cheaper to read and write back than to leave out */
    MAP_RUNS = 16,    /* fewer runs than this, or longer ones than MAP_RUN_BYTES, are written one by one */
    MAP_RUN_BYTES = 8192,
    PAGE_BYTES = 4096,
};

struct store {
    const struct store_options *options;
    int64_t offset, bytes;
    char *window;
    const uint64_t *coverage;
    struct pl_error *error;
};

/* What is filled: from where to where, in how many runs, with how many bytes. */
struct filling {
    int64_t begin, end, runs, bytes;
};

static struct filling store_measure(const struct store *store)
{
    if (!store->coverage)
        return (struct filling){.end = store->bytes, .runs = store->bytes > 0, .bytes = store->bytes};
    struct filling filling = {.begin = -1};
    for (int64_t begin = 0, end; coverage_next(store->coverage, store->bytes, &begin, &end); begin = end) {
        filling.begin = filling.begin < 0 ? begin : filling.begin;
        filling.end = end;
        filling.runs++;
        filling.bytes += end - begin;
    }
    return filling;
}

static void store_write_range(const struct store *store, int64_t begin, int64_t end)
{
    assert(begin >= 0 && begin < end && end <= store->bytes);
    struct pl_error error;
    if (storage_write(store->options->storage, store->offset + begin, store->window + begin, end - begin, NULL,
                      &error) != PL_OK &&
        store->error->status == PL_OK)
        *store->error = error;
}

/* ---- runs that are left as they are ---- */

static void store_copy_runs(char *memory, void *arg)
{
    const struct store *store = arg;
    int64_t first = -1;
    for (int64_t begin = 0, end; coverage_next(store->coverage, store->bytes, &begin, &end); begin = end) {
        first = first < 0 ? begin : first;
        memcpy(memory + (begin - first), store->window + begin, (size_t)(end - begin));
    }
}

/* Many small runs by copies through a map of the file: nothing but the runs is touched. */
static bool map_runs(const struct store *store, const struct filling *filling)
{
    const int64_t span = filling->end - filling->begin, pages = span / PAGE_BYTES + 1;
    const int64_t reach = storage_map_reach(store->options->storage, true);
    if (filling->runs < MAP_RUNS || filling->bytes / filling->runs > MAP_RUN_BYTES || pages > filling->runs * reach)
        return false;
    const struct storage_map_range range = {.write = true,
                                            .offset = store->offset + filling->begin,
                                            .bytes = span,
                                            .allocate = filling->runs > pages && filling->bytes >= span / 2};
    return storage_map_copy(store->options->storage, &range, store_copy_runs, (void *)store);
}

static void write_runs(const struct store *store, const struct filling *filling)
{
    if (map_runs(store, filling))
        return;
    for (int64_t begin = 0, end; coverage_next(store->coverage, store->bytes, &begin, &end); begin = end)
        store_write_range(store, begin, end);
}

/* Completes the gaps with what the file has, so that the whole can be written at once. */
static bool fill_gaps(const struct store *store, const struct filling *filling)
{
    const int64_t span = filling->end - filling->begin;
    char *back = mem_alloc((size_t)span);
    struct pl_error error;
    int64_t there = 0;
    if (!back || storage_read(store->options->storage, store->offset + filling->begin, back, span, &there, &error)) {
        mem_free(back);
        return false; /* then each run is written by itself */
    }
    memset(back + there, 0, (size_t)(span - there));
    int64_t gap = filling->begin;
    for (int64_t begin = gap, end; coverage_next(store->coverage, filling->end, &begin, &end); begin = gap = end)
        memcpy(store->window + gap, back + (gap - filling->begin), (size_t)(begin - gap));
    mem_free(back);
    return true;
}

static void write_filled(const struct store *store, const struct filling *filling, bool whole)
{
    if (whole && (filling->runs == 1 || fill_gaps(store, filling)))
        store_write_range(store, filling->begin, filling->end);
    else
        write_runs(store, filling);
}

/* Where there are no locks, nobody sieves: runs are written by themselves. */
static void write_locked(const struct store *store, const struct filling *filling, bool whole)
{
    struct storage *storage = store->options->storage;
    const int64_t offset = store->offset + filling->begin, span = filling->end - filling->begin;
    struct pl_error error = {0};
    if (access_lock(storage, STORAGE_EXCLUSIVE, offset, span, store->options->progress, &error) != PL_OK) {
        write_filled(store, filling, filling->runs == 1);
        return;
    }
    write_filled(store, filling, whole);
    error.status = PL_OK;
    access_unlock(storage, offset, span, &error);
    if (error.status != PL_OK && store->error->status == PL_OK)
        *store->error = error;
}

static pl_status store_filling(const struct store *store, const struct filling *filling)
{
    const int64_t gaps = filling->end - filling->begin - filling->bytes;
    store->error->status = PL_OK;
    if (filling->runs == 0)
        return PL_OK;
    assert(gaps >= 0 && (filling->runs > 1 || gaps == 0));
    const bool sieve = filling->runs > 1 && store->options->sieve && gaps / (filling->runs - 1) <= GAP_BYTES;
    if (sieve || store->options->lock)
        write_locked(store, filling, sieve || filling->runs == 1);
    else
        write_filled(store, filling, filling->runs == 1);
    return store->error->status;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): gaps are filled through it */
pl_status store_window(const struct store_options *options, int64_t offset, char *window, int64_t bytes,
                       const uint64_t *coverage, struct pl_error *error)
{
    assert(offset >= 0 && bytes > 0);
    const struct store store = {options, offset, bytes, window, coverage, error};
    const struct filling filling = store_measure(&store);
    return store_filling(&store, &filling);
}
