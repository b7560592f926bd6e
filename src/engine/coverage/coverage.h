/* Which bytes of a window have been filled: one bit for each. Exact, whatever overlaps: a byte that nobody wrote is
 * never written. Pure. */
#ifndef PIOLET_ENGINE_COVERAGE_COVERAGE_H
#define PIOLET_ENGINE_COVERAGE_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t coverage_bytes(int64_t window)
{
    return (size_t)((window + 63) / 64) * sizeof(uint64_t);
}

void coverage_add(uint64_t *coverage, int64_t begin, int64_t bytes);
/* The same where other processes mark the same map meanwhile: only the edges of a piece can be shared. bytes > 0. */
void coverage_add_shared(uint64_t *coverage, int64_t begin, int64_t bytes);

/* The next run of filled bytes at or behind *begin and below `window`; false where there is none. */
bool coverage_next(const uint64_t *coverage, int64_t window, int64_t *begin, int64_t *ret_end);

/* ---- as a short sequence of bytes ---- */
/* A coverage map as a sequence of bytes: the shorter of two forms. Regular gaps and runs are a few bytes whatever their
 * number, irregular ones about three bytes each, and never more than a bit for each byte of the window. Pure. */

/* The most that coverage_encode() writes for a window of so many bytes. */
static inline size_t coverage_code_bytes(int64_t window)
{
    return (size_t)((window + 63) / 64) * sizeof(uint64_t) + 1;
}

/* Returns how many bytes were written. */
size_t coverage_encode(const uint64_t *coverage, int64_t window, unsigned char *ret_code);

/* Goes through the runs of a code. */
struct coverage_reader {
    const unsigned char *at, *end;
    int64_t window;
    int64_t place; /* behind the last run */
    int64_t gap, length, again;
    bool bits, wrong;
};
void coverage_reader_init(struct coverage_reader *reader, const unsigned char *code, size_t bytes, int64_t window);

/* The next run; false at the end, and where the code is no code of such a window (reader->wrong). */
bool coverage_reader_next(struct coverage_reader *reader, int64_t *ret_begin, int64_t *ret_length);

#endif
