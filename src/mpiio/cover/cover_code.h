/* A cover as a sequence of bytes: the shorter of two forms. Regular gaps and runs are a few bytes whatever their
 * number, irregular ones about three bytes each, and never more than a bit for each byte of the window. Pure. */
#ifndef PIOLET_MPIIO_COVER_CODE_H
#define PIOLET_MPIIO_COVER_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most that cover_code() writes for a window of so many bytes. */
static inline size_t cover_code_bytes(int64_t window)
{
    return (size_t)((window + 63) / 64) * sizeof(uint64_t) + 1;
}

/* Returns how many bytes were written. */
size_t cover_code(const uint64_t *cover, int64_t window, unsigned char *ret_code);

/* Goes through the runs of a code. */
struct cover_reader {
    const unsigned char *at, *end;
    int64_t window;
    int64_t place; /* behind the last run */
    int64_t gap, length, again;
    bool bits, wrong;
};
void cover_reader_init(struct cover_reader *reader, const unsigned char *code, size_t bytes, int64_t window);

/* The next run; false at the end, and where the code is no code of such a window (reader->wrong). */
bool cover_reader_next(struct cover_reader *reader, int64_t *ret_begin, int64_t *ret_length);

#endif
