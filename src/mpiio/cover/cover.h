/* Which bytes of a window have been filled: one bit for each. Exact, whatever overlaps: a byte that nobody wrote is
 * never written. Pure. */
#ifndef PIOLET_MPIIO_COVER_H
#define PIOLET_MPIIO_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t cover_bytes(int64_t window)
{
    return (size_t)((window + 63) / 64) * sizeof(uint64_t);
}

void cover_add(uint64_t *cover, int64_t begin, int64_t bytes);

/* The next run of filled bytes at or behind *begin and below `window`; false where there is none. */
bool cover_next(const uint64_t *cover, int64_t window, int64_t *begin, int64_t *ret_end);

#endif
