#include "mpiio/cover/cover.h"

#include <string.h>

enum { WORD = 64 };

/* Bits `from` to `to` - 1 of a word. */
static uint64_t mask(int from, int to)
{
    const uint64_t upto = to == WORD ? ~UINT64_C(0) : (UINT64_C(1) << to) - 1;
    return upto & (~UINT64_C(0) << from);
}

void cover_add(uint64_t *cover, int64_t begin, int64_t bytes)
{
    const int64_t end = begin + bytes, first = begin / WORD, last = (end - 1) / WORD;
    const int from = (int)(begin % WORD), to = (int)((end - 1) % WORD) + 1;
    if (bytes <= 0)
        return;
    if (first == last) {
        cover[first] |= mask(from, to);
        return;
    }
    cover[first] |= mask(from, WORD);
    memset(cover + first + 1, 0xff, (size_t)(last - first - 1) * sizeof *cover);
    cover[last] |= mask(0, to);
}

/* The first place at or behind `place` whose bit is `wanted`, or `window`. */
static int64_t seek(const uint64_t *cover, int64_t window, int64_t place, bool wanted)
{
    while (place < window) {
        const uint64_t word = wanted ? cover[place / WORD] : ~cover[place / WORD];
        const uint64_t rest = word >> (place % WORD);
        if (rest)
            return place + __builtin_ctzll(rest) < window ? place + __builtin_ctzll(rest) : window;
        place += WORD - place % WORD;
    }
    return window;
}

bool cover_next(const uint64_t *cover, int64_t window, int64_t *begin, int64_t *ret_end)
{
    *begin = seek(cover, window, *begin, true);
    if (*begin >= window)
        return false;
    *ret_end = seek(cover, window, *begin, false);
    return true;
}
