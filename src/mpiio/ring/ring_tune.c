/* Which way is faster for a file: through the blocks, or each rank for itself? Found out by trying, and remembered in
 * the shared memory, where the rank that opens a call decides for all. Where there are several nodes, their leaders
 * bring how long the last call took to the meeting that opens the next: all see the same numbers, and decide the same.
 */
#include "mpiio/ring/ring_core.h"
#include "mpiio/storage/storage_map.h"

#include <stdio.h>
#include <time.h>

enum {
    TRIES_RING = 3, /* before one way is preferred; the first pays for fresh memory, and is not counted */
    TRIES_DIRECT = 2,
    TRY_CLOSE = 16, /* calls after which the other is given a chance, where it was not far behind, */
    TRY_AGAIN = 64, /* and where it was */
    HOPELESS = 4,   /* times slower: no chance */
    SPARSE = 64,    /* where fewer than one byte in so many is wanted, whole blocks are a waste */
};

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Calls that differ much in size say little of each other: a class has those within a factor of 4. */
static int class_of(int64_t bytes)
{
    const int class = (63 - __builtin_clzll((uint64_t)bytes)) / 2 - 5;
    return class < 0 ? 0 : class < RING_CLASSES ? class : RING_CLASSES - 1;
}

void ring_tune_note(struct ring_record *record, int way, double cost)
{
    const bool first = record->tried[way] == 0 || (way == RING_WAY_RING && record->tried[way] == 1);
    record->cost[way] = first ? cost : (record->cost[way] + cost) / 2; /* machines change: what is old counts little */
    record->tried[way]++;
}

/* Up to where in the file each rank may go by itself. Small pieces are quick without the ring only by copies through a
 * map of the file, and inside of it. */
static int64_t direct_end(const struct ring *ring)
{
    struct pl_error error;
    int64_t size;
    if (!ring->setup.may_choose)
        return 0;
    if (!ring->setup.small_pieces)
        return INT64_MAX;
    const bool maps = storage_map_reach(ring->setup.storage, ring->request->write) > 0;
    return maps && storage_size(ring->setup.storage, &size, &error) == PL_OK ? size : 0;
}

void ring_tune_report(const struct ring *ring, struct ring_report *ret_report)
{
    const struct ring_tune *tune = &ring->shared->tune;
    *ret_report = (struct ring_report){0};
    for (int i = 0; i < ring->ranks && tune->began_ns > 0; i++) {
        const int64_t took_ns = ring->shared->rank[i].left_ns - tune->began_ns;
        ret_report->took_ns = took_ns > ret_report->took_ns ? took_ns : ret_report->took_ns;
    }
    ret_report->direct_end = direct_end(ring);
}

void ring_tune_add(struct ring_report *report, const struct ring_report *more)
{
    report->took_ns = more->took_ns > report->took_ns ? more->took_ns : report->took_ns;
    report->direct_end = more->direct_end < report->direct_end ? more->direct_end : report->direct_end;
}

/* How the last call went. */
static void learn(struct ring_tune *tune, int64_t took_ns)
{
    if (tune->began_ns > 0 && took_ns > 0) /* it may have failed before anybody left */
        ring_tune_note(&tune->record[tune->write][tune->class], tune->way, (double)took_ns / (double)tune->bytes);
    tune->began_ns = 0;
}

int ring_tune_choose(struct ring_record *record)
{
    record->calls++;
    if (record->tried[RING_WAY_RING] < TRIES_RING)
        return RING_WAY_RING;
    if (record->tried[RING_WAY_DIRECT] < TRIES_DIRECT &&
        record->cost[RING_WAY_DIRECT] < HOPELESS * record->cost[RING_WAY_RING])
        return RING_WAY_DIRECT;
    const int best = record->cost[RING_WAY_DIRECT] < record->cost[RING_WAY_RING];
    const double behind = record->cost[!best] / record->cost[best];
    const int period = behind < 1.3 ? TRY_CLOSE : TRY_AGAIN;
    return record->calls % period == 0 && behind < HOPELESS ? !best : best;
}

bool ring_tune_direct(struct ring *ring, struct ring_plan *plan, int64_t bytes, const struct ring_report *report)
{
    struct ring_tune *tune = &ring->shared->tune;
    learn(tune, report->took_ns);
    if ((plan->high - plan->low) / SPARSE > bytes)
        return true;
    if (report->direct_end < plan->high)
        return false;
    tune->class = class_of(bytes);
    tune->way = ring_tune_choose(&tune->record[ring->request->write][tune->class]);
    plan->tuned = true;
    tune->write = ring->request->write;
    tune->bytes = bytes;
    tune->began_ns = now_ns();
    return tune->way == RING_WAY_DIRECT;
}

void ring_tune_left(struct ring *ring)
{
    if (ring->plan.tuned)
        ring->shared->rank[ring->rank].left_ns = now_ns();
}

void ring_explain(const struct ring *ring, bool write, char *ret_text, size_t bytes)
{
    const struct ring_tune *tune = &ring->shared->tune;
    const struct ring_record *record = &tune->record[write][tune->write == write ? tune->class : 0];
    for (int class = 0; class < RING_CLASSES && record->tried[RING_WAY_DIRECT] == 0; class ++)
        record = &tune->record[write][class]; /* the last call was one of the other kind: any size will do */
    ret_text[0] = '\0';
    if (record->tried[RING_WAY_RING] < 2 || record->tried[RING_WAY_DIRECT] < 2)
        return;
    const double ring_rate = 1 / record->cost[RING_WAY_RING], direct_rate = 1 / record->cost[RING_WAY_DIRECT];
    snprintf(ret_text, bytes, "%s: %.2f GB/s through the ring, %.2f GB/s each rank for itself",
             ring_rate >= direct_rate ? "ring" : "independent", ring_rate, direct_rate);
}
