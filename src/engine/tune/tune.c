#include "engine/tune/tune.h"

#include <assert.h>
#include <stdio.h>

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
};

/* Calls that differ much in size say little of each other: a class has those within a factor of 4. */
int tune_class(int64_t bytes)
{
    assert(bytes > 0);
    const int class = (63 - __builtin_clzll((uint64_t)bytes)) / 2 - 5;
    return class < 0 ? 0 : class < TUNE_CLASSES ? class : TUNE_CLASSES - 1;
}

/* Machines change, so what is old counts little; but a rank that is kept from running for a while, which makes one call
 * ten times as long, says next to nothing: so it is quickly believed that a way is quicker, and slowly that it is not.
 */
static double tune_mix(double known, double cost)
{
    if (cost < known)
        return (known + cost) / 2;
    return known + (cost < 2 * known ? cost - known : known) / 4;
}

void tune_note(struct tune_record *record, enum tune_way way, double cost)
{
    assert(way < TUNE_WAYS && cost >= 0);
    const bool first = record->tried[way] == 0 || (way == TUNE_AGGREGATE && record->tried[way] == 1);
    record->cost[way] = first ? cost : tune_mix(record->cost[way], cost);
    record->tried[way]++;
}

/* One call alone may have been slow for any reason, but not so slow. */
static bool tune_is_far_behind(const struct tune_record *record, enum tune_way way)
{
    const int times = record->tried[way] > 1 ? FAR : HOPELESS;
    return record->tried[way] > 0 && record->cost[way] >= times * record->cost[TUNE_AGGREGATE];
}

/* Is it worth while to have the file mapped? */
static bool tune_shall_spend(const struct tune_record *record)
{
    const bool good = record->tried[TUNE_HELD] == 0 || record->cost[TUNE_HELD] < record->cost[TUNE_AGGREGATE];
    return good && !tune_is_far_behind(record, TUNE_DIRECT) &&
           record->spent < SPEND + SPEND_MORE * record->tried[TUNE_HELD];
}

enum tune_way tune_choose(struct tune_record *record, enum storage_ground ground, bool direct_first)
{
    const enum tune_way direct = ground == STORAGE_HELD ? TUNE_HELD : TUNE_DIRECT;
    record->calls++;
    if (direct_first && record->tried[TUNE_AGGREGATE] < TRIES_RING)
        return record->calls % TRY_CLOSE == 0 ? TUNE_AGGREGATE : direct;
    if (record->tried[TUNE_AGGREGATE] < TRIES_RING)
        return TUNE_AGGREGATE;
    if (ground == STORAGE_SEEN && tune_shall_spend(record)) {
        record->spent++;
        return direct;
    }
    if (record->tried[direct] < TRIES_DIRECT && !tune_is_far_behind(record, direct))
        return direct;
    const enum tune_way best = record->cost[direct] < record->cost[TUNE_AGGREGATE] ? direct : TUNE_AGGREGATE;
    const enum tune_way other = best == direct ? TUNE_AGGREGATE : direct;
    const double behind = record->cost[other] / record->cost[best];
    const int period = behind < 1.3 ? TRY_CLOSE : behind < FAR ? TRY_AGAIN : TRY_LATE;
    return record->calls % period == 0 && behind < HOPELESS ? other : best;
}

/* The direct way that this file has come to know best. */
static enum tune_way tune_known_direct(const struct tune_record *record)
{
    return record->tried[TUNE_HELD] >= TRIES_DIRECT ? TUNE_HELD : TUNE_DIRECT;
}

void tune_explain(const struct tune_record records[TUNE_CLASSES], int class, char *ret_text, size_t bytes)
{
    const struct tune_record *record = &records[class];
    for (int i = 0; i < TUNE_CLASSES && record->tried[TUNE_DIRECT] == 0; i++)
        record = &records[i]; /* the last call was one of the other kind: any size will do */
    const enum tune_way direct = tune_known_direct(record);
    ret_text[0] = '\0';
    if (record->tried[TUNE_AGGREGATE] < 2 ||
        (record->tried[direct] < TRIES_DIRECT && !tune_is_far_behind(record, direct)))
        return; /* not decided yet */
    const double ring_rate = 1 / record->cost[TUNE_AGGREGATE], direct_rate = 1 / record->cost[direct];
    snprintf(ret_text, bytes, "%s: %.2f GB/s through the ring, %.2f GB/s each rank for itself",
             ring_rate >= direct_rate ? "ring" : "independent", ring_rate, direct_rate);
}
