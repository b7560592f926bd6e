/* Which way is faster for a file: through the blocks, or each rank for itself? Found out by trying, and remembered in
 * the shared memory, where the rank that opens a call decides for all. Where there are several nodes, their leaders
 * bring how long the last call took to the meeting that opens the next: all see the same numbers, and decide the same.
 *
 * A rank by itself copies small pieces through a map of the file, which is quick only where that is made already
 * (storage_hold.h). So it counts as a way of its own, and where all ranks come to places they have been to before,
 * calls go the direct way so that the next ones may take it. (On one node: several do not tell each other of maps.) */
#include "mpiio/access/access_map.h"
#include "mpiio/ring/ring_core.h"
#include "mpiio/storage/storage_map.h"

#include <stdio.h>
#include <time.h>

enum {
    TRIES_RING = 3, /* before one way is preferred; the first pays for fresh memory, and is not counted */
    TRIES_DIRECT = 3,
    TRY_CLOSE = 16,  /* calls after which the other is given a chance, where it was not far behind, */
    TRY_AGAIN = 64,  /* and where it was */
    TRY_LATE = 1024, /* and where it was far behind */
    FAR = 4,         /* times slower, */
    HOPELESS = 32,   /* and so much that it gets no chance any more */
    SPEND = 256,     /* calls for the sake of later ones, */
    SPEND_MORE = 2,  /* and for each that had the good of it */
    SPARSE = 64,     /* where fewer than one byte in so many is wanted, whole blocks are a waste */
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

/* Machines change, so what is old counts little; but a rank that is kept from running for a while, which makes one call
 * ten times as long, says next to nothing: so it is quickly believed that a way is quicker, and slowly that it is not.
 */
static double mix(double known, double cost)
{
    if (cost < known)
        return (known + cost) / 2;
    return known + (cost < 2 * known ? cost - known : known) / 4;
}

void ring_tune_note(struct ring_record *record, enum ring_way way, double cost)
{
    const bool first = record->tried[way] == 0 || (way == RING_WAY_RING && record->tried[way] == 1);
    record->cost[way] = first ? cost : mix(record->cost[way], cost);
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

/* One call alone may have been slow for any reason, but not so slow. */
static bool is_far_behind(const struct ring_record *record, enum ring_way way)
{
    const int times = record->tried[way] > 1 ? FAR : HOPELESS;
    return record->tried[way] > 0 && record->cost[way] >= times * record->cost[RING_WAY_RING];
}

/* Is it worth while to have the file mapped? */
static bool shall_spend(const struct ring_record *record)
{
    const bool good = record->tried[RING_WAY_HELD] == 0 || record->cost[RING_WAY_HELD] < record->cost[RING_WAY_RING];
    return good && !is_far_behind(record, RING_WAY_DIRECT) &&
           record->spent < SPEND + SPEND_MORE * record->tried[RING_WAY_HELD];
}

enum ring_way ring_tune_choose(struct ring_record *record, enum storage_ground ground)
{
    const enum ring_way direct = ground == STORAGE_HELD ? RING_WAY_HELD : RING_WAY_DIRECT;
    record->calls++;
    if (record->tried[RING_WAY_RING] < TRIES_RING)
        return RING_WAY_RING;
    if (ground == STORAGE_SEEN && shall_spend(record)) {
        record->spent++;
        return direct;
    }
    if (record->tried[direct] < TRIES_DIRECT && !is_far_behind(record, direct))
        return direct;
    const enum ring_way best = record->cost[direct] < record->cost[RING_WAY_RING] ? direct : RING_WAY_RING;
    const enum ring_way other = best == direct ? RING_WAY_RING : direct;
    const double behind = record->cost[other] / record->cost[best];
    const int period = behind < 1.3 ? TRY_CLOSE : behind < FAR ? TRY_AGAIN : TRY_LATE;
    return record->calls % period == 0 && behind < HOPELESS ? other : best;
}

enum storage_ground ring_tune_ground(const struct ring *ring, int64_t low, int64_t high)
{
    if (!ring->setup.may_choose || ring->nodes > 1)
        return STORAGE_NEW;
    return access_map_ground(ring->setup.storage, ring->request, low, high);
}

static enum storage_ground least_ground(const struct ring *ring)
{
    enum storage_ground least = ring->nodes > 1 ? STORAGE_NEW : STORAGE_HELD;
    for (int i = 0; i < ring->ranks; i++) {
        const struct ring_rank *rank = &ring->shared->rank[i];
        least = rank->bytes > 0 && rank->ground < least ? rank->ground : least;
    }
    return least;
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
    tune->way = ring_tune_choose(&tune->record[ring->request->write][tune->class], least_ground(ring));
    plan->tuned = true;
    tune->write = ring->request->write;
    tune->bytes = bytes;
    tune->began_ns = now_ns();
    return tune->way != RING_WAY_RING;
}

void ring_tune_left(struct ring *ring)
{
    struct ring_rank *rank = &ring->shared->rank[ring->rank];
    if (!ring->plan.tuned)
        return;
    rank->left_ns = now_ns();
    if (!ring->plan.direct && rank->bytes > 0)
        storage_hold_see(ring->setup.storage, rank->low, rank->high);
}

/* The direct way that this file has come to know best. */
static enum ring_way known_direct(const struct ring_record *record)
{
    return record->tried[RING_WAY_HELD] >= TRIES_DIRECT ? RING_WAY_HELD : RING_WAY_DIRECT;
}

void ring_explain(const struct ring *ring, bool write, char *ret_text, size_t bytes)
{
    const struct ring_tune *tune = &ring->shared->tune;
    const struct ring_record *record = &tune->record[write][tune->write == write ? tune->class : 0];
    for (int class = 0; class < RING_CLASSES && record->tried[RING_WAY_DIRECT] == 0; class ++)
        record = &tune->record[write][class]; /* the last call was one of the other kind: any size will do */
    const enum ring_way direct = known_direct(record);
    ret_text[0] = '\0';
    if (record->tried[RING_WAY_RING] < 2 || (record->tried[direct] < TRIES_DIRECT && !is_far_behind(record, direct)))
        return; /* not decided yet */
    const double ring_rate = 1 / record->cost[RING_WAY_RING], direct_rate = 1 / record->cost[direct];
    snprintf(ret_text, bytes, "%s: %.2f GB/s through the ring, %.2f GB/s each rank for itself",
             ring_rate >= direct_rate ? "ring" : "independent", ring_rate, direct_rate);
}
