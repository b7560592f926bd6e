/* Guided prefetching of a storage: the policy below on the page cache of the system.
 *
 * A range is asked for with posix_fadvise(); whether it is there is asked with a read that does not wait. Only what was
 * not there before is given back after use, so that nothing is thrown out that others brought in. */
#ifndef PIOLET_ENGINE_PREFETCH_PREFETCH_H
#define PIOLET_ENGINE_PREFETCH_PREFETCH_H

#include "engine/storage/storage.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- policy ---- */
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

/* ---- ranges ---- */
/* From the pieces of an access to one range for each block. Pure. */

struct prefetch_piece {
    int64_t offset, bytes; /* bytes 0: there are no more */
};

/* Pieces in ascending order, from anywhere. */
struct prefetch_pieces {
    void *self;
    struct prefetch_piece (*next)(void *self);
};

/* One range, or pieces of one length at one distance (but for the last): the file system sees that by itself. Looks at
 * the first PREFETCH_LOOK pieces. */
enum { PREFETCH_LOOK = 64 };
bool prefetch_is_regular(const struct prefetch_pieces *pieces);

struct prefetch_ranges {
    struct prefetch_pieces pieces;
    int64_t block_bytes;
    struct prefetch_piece rest; /* of the last piece: what lies behind the last range */
};

void prefetch_ranges_init(struct prefetch_ranges *ranges, const struct prefetch_pieces *pieces, int64_t block_bytes);
/* As prefetch_source wants it. */
bool prefetch_ranges_next(void *ranges, struct prefetch_range *ret_range);

/* ---- of a storage ---- */

/* What is known from one request to the next, of one file on one rank. */
struct prefetch_memory {
    pthread_mutex_t lock;
    int ahead; /* 0: not yet known */
    struct prefetch_counts counts;
};
void prefetch_memory_init(struct prefetch_memory *memory);
void prefetch_memory_clear(struct prefetch_memory *memory);

/* Of one request. */
struct prefetch {
    struct storage *storage;
    struct prefetch_memory *memory;
    struct prefetch_ranges ranges;
    struct prefetch_policy policy;
};

/* `pieces` from their beginning. What is regular is to be found out before. */
void prefetch_begin(struct prefetch *prefetch, struct storage *storage, struct prefetch_memory *memory,
                    const struct prefetch_pieces *pieces, int64_t block_bytes, int together);
void prefetch_reach(struct prefetch *prefetch, int64_t offset, int64_t bytes); /* is accessed next */
void prefetch_end(struct prefetch *prefetch);

#endif
