/* Which way is faster for a file: through the blocks, or each rank for itself? Found out by trying, and remembered in
 * the shared memory, where the rank that opens a call decides for all. */
#include "mpiio/ring/ring_core.h"
#include "mpiio/storage/storage_map.h"

#include <stdio.h>
#include <time.h>

enum { WAY_RING, WAY_DIRECT, WAYS };
enum {
    TRIES = 2,       /* of each way before one is preferred; of the ring's, the first pays for fresh memory */
    TRY_AGAIN = 64,  /* calls after which the other is given a chance */
    HOPELESS = 4,    /* times slower: no chance */
    SPARSE = 64,     /* where fewer than one byte in so many is wanted, whole blocks are a waste */
    SAME_FACTOR = 4, /* calls that differ more than this in size say little of each other */
};

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* How the last call went. */
static void learn(struct ring *ring, struct ring_tune *tune)
{
    if (tune->began_ns == 0)
        return;
    int64_t left_ns = 0;
    for (int i = 0; i < ring->ranks; i++)
        if (ring->shared->rank[i].left_ns > left_ns)
            left_ns = ring->shared->rank[i].left_ns;
    const int dir = tune->write, way = tune->way;
    const double cost = (double)(left_ns - tune->began_ns) / (double)tune->bytes;
    struct ring_record *record = &tune->record[dir];
    const bool first = record->tried[way] == 0 || (way == WAY_RING && record->tried[way] == 1);
    record->cost[way] = first ? cost : (record->cost[way] + cost) / 2; /* machines change: what is old counts little */
    record->tried[way]++;
    tune->began_ns = 0;
}

static int choose(struct ring_record *record, int64_t bytes)
{
    if (record->bytes == 0 || bytes / SAME_FACTOR > record->bytes || record->bytes / SAME_FACTOR > bytes)
        *record = (struct ring_record){.bytes = bytes};
    record->calls++;
    if (record->tried[WAY_RING] < TRIES)
        return WAY_RING;
    if (record->tried[WAY_DIRECT] < TRIES && record->cost[WAY_DIRECT] < HOPELESS * record->cost[WAY_RING])
        return WAY_DIRECT;
    const int best = record->cost[WAY_DIRECT] < record->cost[WAY_RING];
    const bool hopeless = record->cost[!best] > HOPELESS * record->cost[best];
    return record->calls % TRY_AGAIN == 0 && !hopeless ? !best : best;
}

/* Small pieces are quick without the ring only by copies through a map of the file, and inside of it. */
static bool may_go_direct(const struct ring *ring, const struct ring_plan *plan)
{
    struct pl_error error;
    int64_t size;
    if (!ring->setup.may_choose)
        return false;
    return !ring->setup.small_pieces ||
           (storage_map_reach(ring->setup.storage, ring->request->write) > 0 &&
            storage_size(ring->setup.storage, &size, &error) == PL_OK && size >= plan->high);
}

bool ring_tune_direct(struct ring *ring, const struct ring_plan *plan, int64_t bytes)
{
    struct ring_tune *tune = &ring->shared->tune;
    learn(ring, tune);
    if ((plan->high - plan->low) / SPARSE > bytes)
        return true;
    if (!may_go_direct(ring, plan))
        return false;
    const int way = choose(&tune->record[ring->request->write], bytes);
    tune->way = way;
    tune->write = ring->request->write;
    tune->bytes = bytes;
    tune->began_ns = now_ns();
    return way == WAY_DIRECT;
}

void ring_tune_left(struct ring *ring)
{
    if (ring->setup.may_choose)
        ring->shared->rank[ring->rank].left_ns = now_ns();
}

void ring_explain(const struct ring *ring, bool write, char *ret_text, size_t bytes)
{
    const struct ring_record *record = &ring->shared->tune.record[write];
    ret_text[0] = '\0';
    if (record->tried[WAY_RING] < 2 || record->tried[WAY_DIRECT] < 2)
        return;
    const double ring_rate = 1 / record->cost[WAY_RING], direct_rate = 1 / record->cost[WAY_DIRECT];
    snprintf(ret_text, bytes, "%s: %.2f GB/s through the ring, %.2f GB/s each rank for itself",
             ring_rate >= direct_rate ? "ring" : "independent", ring_rate, direct_rate);
}
