/* Copies past the caches, for data that nobody looks at soon: whole lines are stored without being fetched first, which
 * is half of the traffic of a copy. */
#ifndef PIOLET_ENGINE_STORAGE_STORAGE_STREAM_H
#define PIOLET_ENGINE_STORAGE_STORAGE_STREAM_H

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

/* Ranges must not overlap. Others see it after storage_stream_end(). */
static inline void storage_stream(char *to, const char *from, size_t bytes)
{
    enum { LINE = 64, PART = 16 };
    const size_t head = -(size_t)to % LINE;
    if (bytes < head + LINE) {
        memcpy(to, from, bytes);
        return;
    }
    memcpy(to, from, head);
    const char *const last = from + bytes - LINE;
    for (to += head, from += head; from <= last; to += LINE, from += LINE)
        for (int i = 0; i < LINE; i += PART)
            _mm_stream_si128((__m128i *)(to + i), _mm_loadu_si128((const __m128i *)(from + i)));
    memcpy(to, from, (size_t)(last + LINE - from));
}

static inline void storage_stream_end(void)
{
    _mm_sfence();
}

#else

static inline void storage_stream(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static inline void storage_stream_end(void)
{
}

#endif

#endif
