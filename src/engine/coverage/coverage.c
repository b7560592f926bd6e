#include "engine/coverage/coverage.h"

#include <assert.h>
#include <string.h>

enum { WORD = 64 };

/* Bits `from` to `to` - 1 of a word. */
static uint64_t coverage_mask(int from, int to)
{
    const uint64_t upto = to == WORD ? ~UINT64_C(0) : (UINT64_C(1) << to) - 1;
    return upto & (~UINT64_C(0) << from);
}

void coverage_add(uint64_t *coverage, int64_t begin, int64_t bytes)
{
    const int64_t end = begin + bytes, first = begin / WORD, last = (end - 1) / WORD;
    const int from = (int)(begin % WORD), to = (int)((end - 1) % WORD) + 1;
    if (bytes <= 0)
        return;
    if (first == last) {
        coverage[first] |= coverage_mask(from, to);
        return;
    }
    coverage[first] |= coverage_mask(from, WORD);
    memset(coverage + first + 1, 0xff, (size_t)(last - first - 1) * sizeof *coverage);
    coverage[last] |= coverage_mask(0, to);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): it is written through, by atomic operations */
void coverage_add_shared(uint64_t *coverage, int64_t begin, int64_t bytes)
{
    const int64_t end = begin + bytes, first = begin / WORD, last = (end - 1) / WORD;
    const uint64_t head = ~UINT64_C(0) << (begin % WORD), tail = ~UINT64_C(0) >> (WORD - 1 - (end - 1) % WORD);
    if (first == last) {
        __atomic_fetch_or(&coverage[first], head & tail, __ATOMIC_RELAXED);
        return;
    }
    __atomic_fetch_or(&coverage[first], head, __ATOMIC_RELAXED);
    for (int64_t word = first + 1; word < last; word++)
        __atomic_store_n(&coverage[word], ~UINT64_C(0), __ATOMIC_RELAXED);
    __atomic_fetch_or(&coverage[last], tail, __ATOMIC_RELAXED);
}

/* The first place at or behind `place` whose bit is `wanted`, or `window`. */
static int64_t coverage_seek(const uint64_t *coverage, int64_t window, int64_t place, bool wanted)
{
    while (place < window) {
        const uint64_t word = wanted ? coverage[place / WORD] : ~coverage[place / WORD];
        const uint64_t rest = word >> (place % WORD);
        if (rest)
            return place + __builtin_ctzll(rest) < window ? place + __builtin_ctzll(rest) : window;
        place += WORD - place % WORD;
    }
    return window;
}

bool coverage_next(const uint64_t *coverage, int64_t window, int64_t *begin, int64_t *ret_end)
{
    *begin = coverage_seek(coverage, window, *begin, true);
    if (*begin >= window)
        return false;
    *ret_end = coverage_seek(coverage, window, *begin, false);
    return true;
}

/* ---- As a short sequence of bytes -------------------------------------------------------------------------------- */

/* A code begins with its form. RUNS: for each run the gap before it and its length; where the same pair comes again
 * and again, how often. The lowest bit of the gap tells whether that number follows. Numbers have seven bits a byte. */
enum { FORM_RUNS, FORM_BITS };

struct pen {
    unsigned char *at, *end;
};

static bool coverage_code_put(struct pen *pen, uint64_t number)
{
    do {
        if (pen->at == pen->end)
            return false;
        *pen->at++ = (unsigned char)(number & 127) | (number > 127 ? 128 : 0);
        number >>= 7;
    } while (number);
    return true;
}

static bool coverage_code_put_run(struct pen *pen, int64_t gap, int64_t length, int64_t again)
{
    return coverage_code_put(pen, (uint64_t)gap * 2 + (again > 0)) && coverage_code_put(pen, (uint64_t)length) &&
           (again == 0 || coverage_code_put(pen, (uint64_t)again));
}

static bool code_runs(const uint64_t *coverage, int64_t window, struct pen *pen)
{
    int64_t place = 0, gap = -1, length = 0, again = 0;
    for (int64_t begin = 0, end; coverage_next(coverage, window, &begin, &end); begin = place = end) {
        if (begin - place == gap && end - begin == length) {
            again++;
            continue;
        }
        if (gap >= 0 && !coverage_code_put_run(pen, gap, length, again))
            return false;
        gap = begin - place;
        length = end - begin;
        again = 0;
    }
    return gap < 0 || coverage_code_put_run(pen, gap, length, again);
}

size_t coverage_encode(const uint64_t *coverage, int64_t window, unsigned char *ret_code)
{
    assert(window > 0);
    struct pen pen = {ret_code + 1, ret_code + coverage_code_bytes(window)};
    ret_code[0] = FORM_RUNS;
    if (code_runs(coverage, window, &pen)) {
        assert(pen.at <= pen.end);
        return (size_t)(pen.at - ret_code);
    }
    ret_code[0] = FORM_BITS;
    memcpy(ret_code + 1, coverage, coverage_code_bytes(window) - 1);
    return coverage_code_bytes(window);
}

void coverage_reader_init(struct coverage_reader *reader, const unsigned char *code, size_t bytes, int64_t window)
{
    *reader = (struct coverage_reader){.at = code + 1, .end = code + bytes, .window = window};
    reader->bits = bytes > 0 && code[0] == FORM_BITS;
    reader->wrong = bytes == 0 || code[0] > FORM_BITS || (reader->bits && bytes != coverage_code_bytes(window));
}

static bool coverage_code_get(struct coverage_reader *reader, int64_t *ret_number)
{
    uint64_t number = 0;
    for (int shift = 0; reader->at < reader->end && shift < 63; shift += 7) {
        const unsigned char byte = *reader->at++;
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *ret_number = (int64_t)number;
            return true;
        }
    }
    reader->wrong = true;
    return false;
}

/* The bytes of the code are not aligned to words. */
static uint64_t word_at(const struct coverage_reader *reader, int64_t place)
{
    uint64_t word;
    memcpy(&word, reader->at + place / 64 * 8, sizeof word);
    return word;
}

static int64_t coverage_code_seek(const struct coverage_reader *reader, int64_t place, bool wanted)
{
    while (place < reader->window) {
        const uint64_t word = word_at(reader, place), rest = (wanted ? word : ~word) >> (place % 64);
        if (rest) {
            place += __builtin_ctzll(rest);
            break;
        }
        place += 64 - place % 64;
    }
    return place < reader->window ? place : reader->window;
}

static bool next_bits(struct coverage_reader *reader, int64_t *ret_begin, int64_t *ret_length)
{
    *ret_begin = coverage_code_seek(reader, reader->place, true);
    reader->place = coverage_code_seek(reader, *ret_begin, false);
    *ret_length = reader->place - *ret_begin;
    return *ret_length > 0;
}

bool coverage_reader_next(struct coverage_reader *reader, int64_t *ret_begin, int64_t *ret_length)
{
    if (reader->wrong)
        return false;
    if (reader->bits)
        return next_bits(reader, ret_begin, ret_length);
    if (reader->again > 0) {
        reader->again--;
    } else {
        int64_t head;
        if (reader->at == reader->end || !coverage_code_get(reader, &head) ||
            !coverage_code_get(reader, &reader->length))
            return false;
        reader->gap = head / 2;
        if (head % 2 && !coverage_code_get(reader, &reader->again))
            return false;
    }
    const int64_t left = reader->window - reader->place;
    if (reader->length <= 0 || reader->gap > left || reader->length > left - reader->gap) {
        reader->wrong = true;
        return false;
    }
    *ret_begin = reader->place + reader->gap;
    *ret_length = reader->length;
    reader->place = *ret_begin + reader->length;
    return true;
}
