/* Which way is faster for a file: through the blocks, or each rank for itself? Found out by trying, and remembered in
 * the shared memory, where the rank that opens a call decides for all. */
#include "mpiio/ring/ring_core.h"

#include <stdio.h>
#include <time.h>

enum { WAY_RING, WAY_DIRECT, WAYS };
enum {
    TRIES = 3,       /* of each way before one is preferred; the first is left out, it pays for fresh memory */
    TRY_AGAIN = 64,  /* calls after which the other is given a chance, where it is not far behind */
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
    if (record->tried[way]++ == 1 || cost < record->cost[way])
        record->cost[way] = cost;
    else if (record->tried[way] > 2)
        record->cost[way] += (cost - record->cost[way]) / 4;
    tune->began_ns = 0;
}

static int choose(struct ring_record *record, int64_t bytes)
{
    if (record->bytes == 0 || bytes / SAME_FACTOR > record->bytes || record->bytes / SAME_FACTOR > bytes)
        *record = (struct ring_record){.bytes = bytes};
    record->calls++;
    for (int way = 0; way < WAYS; way++)
        if (record->tried[way] < TRIES)
            return way;
    const int best = record->cost[WAY_DIRECT] < record->cost[WAY_RING];
    const bool close = record->cost[!best] < 1.3 * record->cost[best];
    return close && record->calls % TRY_AGAIN == 0 ? !best : best;
}

bool ring_tune_direct(struct ring *ring, const struct ring_plan *plan, int64_t bytes)
{
    struct ring_tune *tune = &ring->shared->tune;
    learn(ring, tune);
    if ((plan->high - plan->low) / SPARSE > bytes)
        return true;
    if (!ring->setup.may_choose)
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
