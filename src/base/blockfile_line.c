#include "base/blockfile_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads grow from small to large: a file may hold many short series, each read from its own place. */
enum { BUFFER_SIZE = 2 * BLOCKFILE_LINE_MAX, FIRST_READ = 1 << 13 };

bool blockfile_lines_init(struct blockfile_lines *lines, int fd, int64_t offset)
{
    *lines = (struct blockfile_lines){
        .fd = fd, .offset = offset, .read_size = FIRST_READ, .buffer = malloc(BUFFER_SIZE)};
    return lines->buffer != NULL;
}

void blockfile_lines_clear(struct blockfile_lines *lines)
{
    free(lines->buffer);
    *lines = (struct blockfile_lines){0};
}

/* Moves what is left to the front and reads behind it; false when nothing more came. */
static bool refill(struct blockfile_lines *lines)
{
    const size_t kept = lines->end - lines->begin;
    memmove(lines->buffer, lines->buffer + lines->begin, kept);
    lines->begin = 0;
    lines->end = kept;
    if (lines->at_end)
        return false;
    const size_t room = BUFFER_SIZE - kept;
    const size_t size = lines->read_size < room ? lines->read_size : room;
    if (lines->read_size < BUFFER_SIZE)
        lines->read_size *= 4;
    ssize_t got;
    do
        got = pread(lines->fd, lines->buffer + kept, size, (off_t)(lines->offset + (int64_t)kept));
    while (got < 0 && errno == EINTR);
    if (got < 0)
        lines->failed = errno;
    if (got <= 0) {
        lines->at_end = true;
        return false;
    }
    lines->end += (size_t)got;
    return true;
}

static void consume(struct blockfile_lines *lines, size_t count)
{
    lines->begin += count;
    lines->offset += (int64_t)count;
}

/* Drops bytes up to and including the next line end. */
static void pass_over_line(struct blockfile_lines *lines)
{
    for (;;) {
        const char *start = lines->buffer + lines->begin;
        const char *newline = memchr(start, '\n', lines->end - lines->begin);
        if (newline) {
            consume(lines, (size_t)(newline - start) + 1);
            return;
        }
        consume(lines, lines->end - lines->begin);
        if (!refill(lines))
            return;
    }
}

static void take_line(struct blockfile_lines *lines, size_t length, bool ended, struct blockfile_line *line)
{
    line->bytes = lines->buffer + lines->begin;
    line->length = length;
    line->ended = ended;
    consume(lines, length + ended);
    if (length && line->bytes[length - 1] == '\r')
        line->length--;
}

bool blockfile_lines_next(struct blockfile_lines *lines, struct blockfile_line *ret_line)
{
    *ret_line = (struct blockfile_line){.number = lines->number + 1};
    size_t searched = 0;
    for (;;) {
        const char *start = lines->buffer + lines->begin;
        const size_t have = lines->end - lines->begin;
        ret_line->offset = lines->offset;
        const char *newline = have > searched ? memchr(start + searched, '\n', have - searched) : NULL;
        searched = have;
        if (newline ? newline - start > BLOCKFILE_LINE_MAX : have > BLOCKFILE_LINE_MAX) {
            ret_line->overlong = true;
            ret_line->bytes = "";
            ret_line->ended = true;
            pass_over_line(lines);
            break;
        }
        if (newline) {
            take_line(lines, (size_t)(newline - start), true, ret_line);
            break;
        }
        if (refill(lines))
            continue;
        if (lines->failed || have == 0)
            return false;
        take_line(lines, have, false, ret_line);
        break;
    }
    lines->number++;
    return true;
}
