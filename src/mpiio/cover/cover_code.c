#include "mpiio/cover/cover_code.h"

#include "mpiio/cover/cover.h"

#include <string.h>

/* A code begins with its form. RUNS: for each run the gap before it and its length; where the same pair comes again
 * and again, how often. The lowest bit of the gap tells whether that number follows. Numbers have seven bits a byte. */
enum { FORM_RUNS, FORM_BITS };

struct pen {
    unsigned char *at, *end;
};

static bool put(struct pen *pen, uint64_t number)
{
    do {
        if (pen->at == pen->end)
            return false;
        *pen->at++ = (unsigned char)(number & 127) | (number > 127 ? 128 : 0);
        number >>= 7;
    } while (number);
    return true;
}

static bool put_run(struct pen *pen, int64_t gap, int64_t length, int64_t again)
{
    return put(pen, (uint64_t)gap * 2 + (again > 0)) && put(pen, (uint64_t)length) &&
           (again == 0 || put(pen, (uint64_t)again));
}

static bool code_runs(const uint64_t *cover, int64_t window, struct pen *pen)
{
    int64_t place = 0, gap = -1, length = 0, again = 0;
    for (int64_t begin = 0, end; cover_next(cover, window, &begin, &end); begin = place = end) {
        if (begin - place == gap && end - begin == length) {
            again++;
            continue;
        }
        if (gap >= 0 && !put_run(pen, gap, length, again))
            return false;
        gap = begin - place;
        length = end - begin;
        again = 0;
    }
    return gap < 0 || put_run(pen, gap, length, again);
}

size_t cover_code(const uint64_t *cover, int64_t window, unsigned char *ret_code)
{
    struct pen pen = {ret_code + 1, ret_code + cover_code_bytes(window)};
    ret_code[0] = FORM_RUNS;
    if (code_runs(cover, window, &pen))
        return (size_t)(pen.at - ret_code);
    ret_code[0] = FORM_BITS;
    memcpy(ret_code + 1, cover, cover_code_bytes(window) - 1);
    return cover_code_bytes(window);
}

void cover_reader_init(struct cover_reader *reader, const unsigned char *code, size_t bytes, int64_t window)
{
    *reader = (struct cover_reader){.at = code + 1, .end = code + bytes, .window = window};
    reader->bits = bytes > 0 && code[0] == FORM_BITS;
    reader->wrong = bytes == 0 || code[0] > FORM_BITS || (reader->bits && bytes != cover_code_bytes(window));
}

static bool get(struct cover_reader *reader, int64_t *ret_number)
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
static uint64_t word_at(const struct cover_reader *reader, int64_t place)
{
    uint64_t word;
    memcpy(&word, reader->at + place / 64 * 8, sizeof word);
    return word;
}

static int64_t seek(const struct cover_reader *reader, int64_t place, bool wanted)
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

static bool next_bits(struct cover_reader *reader, int64_t *ret_begin, int64_t *ret_length)
{
    *ret_begin = seek(reader, reader->place, true);
    reader->place = seek(reader, *ret_begin, false);
    *ret_length = reader->place - *ret_begin;
    return *ret_length > 0;
}

bool cover_reader_next(struct cover_reader *reader, int64_t *ret_begin, int64_t *ret_length)
{
    if (reader->wrong)
        return false;
    if (reader->bits)
        return next_bits(reader, ret_begin, ret_length);
    if (reader->again > 0) {
        reader->again--;
    } else {
        int64_t head;
        if (reader->at == reader->end || !get(reader, &head) || !get(reader, &reader->length))
            return false;
        reader->gap = head / 2;
        if (head % 2 && !get(reader, &reader->again))
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
