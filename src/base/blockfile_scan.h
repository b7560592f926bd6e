/* The bytes of a block file as lines and numbers: what scanning and streaming share. Private to blockfile_*.c. */
#ifndef PIOLET_BLOCKFILE_SCAN_H
#define PIOLET_BLOCKFILE_SCAN_H

#include "base/blockfile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BLOCKFILE_LINE_MAX = 1 << 18 };

/* One line without its line end (and without the CR of a file that went through an editor of another system).
 * `bytes` points into the reader's buffer and is valid until the next call. */
struct blockfile_line {
    const char *bytes;
    size_t length;
    int64_t offset; /* of the first byte in the file */
    int64_t number; /* from 1 */
    bool ended;     /* false: the file ended before the line did */
    bool overlong;  /* longer than BLOCKFILE_LINE_MAX: `bytes` holds nothing, the rest was passed over */
};

struct blockfile_lines {
    int fd;
    char *buffer; /* owned */
    size_t begin, end;
    size_t read_size; /* of the next read */
    int64_t offset;   /* of buffer[begin] */
    int64_t number;
    bool at_end;
    int failed; /* errno of a read that failed */
};

/* Starts at `offset` of `fd`, read by pread(); false: no memory. */
bool blockfile_lines_init(struct blockfile_lines *lines, int fd, int64_t offset);
void blockfile_lines_clear(struct blockfile_lines *lines);

/* False at the end of the file, or when a read failed. */
bool blockfile_lines_next(struct blockfile_lines *lines, struct blockfile_line *ret_line);

/* A decimal 64-bit integer at *cursor, which is moved behind it; false if there is none or it does not fit. */
static inline bool blockfile_number(const char **cursor, const char *end, int64_t *ret_value)
{
    enum { DIGITS_SAFE = 18, DIGITS_MAX = 19 };
    const char *c = *cursor;
    const bool negative = c < end && *c == '-';
    c += negative;
    const char *const digits = c;
    uint64_t value = 0;
    while (c < end && (unsigned char)(*c - '0') < 10 && c - digits <= DIGITS_MAX)
        value = value * 10 + (uint64_t)(*c++ - '0');
    if (c == digits || c - digits > DIGITS_MAX)
        return false;
    if (c - digits > DIGITS_SAFE && value > (uint64_t)INT64_MAX + negative)
        return false;
    *ret_value = negative ? (int64_t)(0 - value) : (int64_t)value;
    *cursor = c;
    return true;
}

/* Scans file->stream into file->blocks and file->warnings. */
pl_status blockfile_scan_file(struct blockfile *file, struct pl_error *error);

void blockfile_scan_clear_set(struct blockfile_set *set);
void blockfile_scan_clear_block(struct blockfile_block *block);

#endif
