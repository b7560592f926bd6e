/* From the pieces of an access to one range for each block. Pure. */
#ifndef PIOLET_MPIIO_PREFETCH_RANGES_H
#define PIOLET_MPIIO_PREFETCH_RANGES_H

#include "mpiio/prefetch/prefetch_policy.h"

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

#endif
