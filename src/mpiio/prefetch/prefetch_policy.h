/* Guided prefetching by access ranges: which ranges of the file are fetched ahead of their use, and when they are given
 * back. One range for each block that will be accessed: from the first to the last byte that is accessed in it.
 *
 *   1. Up to `ahead` ranges are asked for.
 *   2. Of those that the storage took, up to `together` are accessed; where it took none, one.
 *   3. Those are released, and as many are asked for as are missing from `ahead`.
 *   4. And so on from 2, until all ranges have been accessed.
 *
 * `ahead` follows what happens: where more than half of a round's ranges were not there in time, it doubles; where all
 * were, and each took less than PREFETCH_FAST_NS, it shrinks by one, down to `together`: what comes so fast needs not
 * be asked for so early. Pure: the storage and the clock are given. */
#ifndef PIOLET_MPIIO_PREFETCH_POLICY_H
#define PIOLET_MPIIO_PREFETCH_POLICY_H

#include <stdbool.h>
#include <stdint.h>

enum { PREFETCH_AHEAD_MOST = 64, PREFETCH_AHEAD_FIRST = 8, PREFETCH_FAST_NS = 100000 };

struct prefetch_range {
    int64_t begin, end;
    bool owned; /* the storage's: fetched for us, and not there before */
};

struct prefetch_storage {
    void *self;
    bool (*fetch)(void *self, struct prefetch_range *range); /* false: not now */
    bool (*is_there)(void *self, const struct prefetch_range *range);
    bool (*release)(void *self, const struct prefetch_range *range); /* false: it was not ours to give back */
    int64_t (*now_ns)(void *self);
};

/* The ranges, ascending; false: there are no more. */
struct prefetch_source {
    void *self;
    bool (*next)(void *self, struct prefetch_range *ret_range);
};

struct prefetch_counts {
    int64_t asked, accepted, hit, released;
};

struct prefetch_policy {
    struct prefetch_storage storage;
    struct prefetch_source source;
    int ahead, together;
    struct prefetch_counts counts;

    struct prefetch_range fetched[PREFETCH_AHEAD_MOST]; /* a ring: taken by the storage, not accessed yet */
    int first, count;
    struct prefetch_range waiting; /* the storage did not take it, or has not been asked */
    bool has_waiting, at_end;
    struct prefetch_range used[PREFETCH_AHEAD_MOST]; /* of this round: to be released */
    int used_count;
    int64_t used_end; /* behind the last byte of the last range of this round */
    int allowed;      /* ranges of this round */
    int accessed;     /* ranges of it so far, */
    int judged, hits; /* those of them that had been fetched, and were there */
    int64_t began_ns;
};

/* Steps 1 and 2. */
void prefetch_policy_begin(struct prefetch_policy *policy, const struct prefetch_storage *storage,
                           const struct prefetch_source *source, int ahead, int together);
/* The bytes that are accessed next, in ascending order; one access may cover many ranges. */
void prefetch_policy_reach(struct prefetch_policy *policy, int64_t begin, int64_t end);
/* All has been accessed, or will not be. */
void prefetch_policy_end(struct prefetch_policy *policy);

#endif
