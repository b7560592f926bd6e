#include "mpiio/prefetch/prefetch_ranges.h"

bool prefetch_is_regular(const struct prefetch_pieces *pieces)
{
    const struct prefetch_piece first = pieces->next(pieces->self);
    struct prefetch_piece before = pieces->next(pieces->self);
    if (first.bytes == 0 || before.bytes == 0)
        return true;
    const int64_t distance = before.offset - first.offset;
    for (int i = 2; i < PREFETCH_LOOK; i++) {
        const struct prefetch_piece piece = pieces->next(pieces->self);
        if (piece.bytes == 0) /* the one before was the last, and may be cut off */
            return before.bytes <= first.bytes;
        if (before.bytes != first.bytes || piece.offset - before.offset != distance)
            return false;
        before = piece;
    }
    return true;
}

void prefetch_ranges_init(struct prefetch_ranges *ranges, const struct prefetch_pieces *pieces, int64_t block_bytes)
{
    *ranges = (struct prefetch_ranges){.pieces = *pieces, .block_bytes = block_bytes};
}

bool prefetch_ranges_next(void *self, struct prefetch_range *ret_range)
{
    struct prefetch_ranges *ranges = self;
    struct prefetch_piece *rest = &ranges->rest;
    if (rest->bytes == 0)
        *rest = ranges->pieces.next(ranges->pieces.self);
    if (rest->bytes == 0)
        return false;
    const int64_t block = rest->offset / ranges->block_bytes;
    const int64_t behind = block >= INT64_MAX / ranges->block_bytes ? INT64_MAX : (block + 1) * ranges->block_bytes;
    *ret_range = (struct prefetch_range){.begin = rest->offset, .end = rest->offset};
    while (rest->bytes > 0 && rest->offset < behind) {
        const int64_t within = behind - rest->offset, bytes = within < rest->bytes ? within : rest->bytes;
        if (rest->offset + bytes > ret_range->end)
            ret_range->end = rest->offset + bytes;
        rest->offset += bytes;
        rest->bytes -= bytes;
        if (rest->bytes == 0)
            *rest = ranges->pieces.next(ranges->pieces.self);
    }
    return true;
}
