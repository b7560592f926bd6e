#include "base/blockfile.h"

#include "base/blockfile_scan.h"
#include "base/output.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- lines ---- */

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
static bool blockfile_line_refill(struct blockfile_lines *lines)
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

static void blockfile_line_consume(struct blockfile_lines *lines, size_t count)
{
    lines->begin += count;
    lines->offset += (int64_t)count;
}

/* Drops bytes up to and including the next line end. */
static void blockfile_line_pass_over(struct blockfile_lines *lines)
{
    for (;;) {
        const char *start = lines->buffer + lines->begin;
        const char *newline = memchr(start, '\n', lines->end - lines->begin);
        if (newline) {
            blockfile_line_consume(lines, (size_t)(newline - start) + 1);
            return;
        }
        blockfile_line_consume(lines, lines->end - lines->begin);
        if (!blockfile_line_refill(lines))
            return;
    }
}

static void blockfile_line_take(struct blockfile_lines *lines, size_t length, bool ended, struct blockfile_line *line)
{
    line->bytes = lines->buffer + lines->begin;
    line->length = length;
    line->ended = ended;
    blockfile_line_consume(lines, length + ended);
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
            blockfile_line_pass_over(lines);
            break;
        }
        if (newline) {
            blockfile_line_take(lines, (size_t)(newline - start), true, ret_line);
            break;
        }
        if (blockfile_line_refill(lines))
            continue;
        if (lines->failed || have == 0)
            return false;
        blockfile_line_take(lines, have, false, ret_line);
        break;
    }
    lines->number++;
    return true;
}

/* ---- numbers of a series ---- */

/* The numbers of one series, and the lookups in what the scan kept. */

enum { VALUES_MAX = 4096 };

struct stream {
    int64_t values[VALUES_MAX];
    size_t count;  /* in values */
    int64_t first; /* number of values[0] in the series */
    int64_t want;  /* numbers of the whole series */
    blockfile_take *take;
    void *context;
};

static void stream_flush(struct stream *stream)
{
    if (stream->count)
        stream->take(stream->context, stream->first, stream->values, stream->count);
    stream->first += (int64_t)stream->count;
    stream->count = 0;
}

/* False where the line is not what the scan saw: the file was changed in between. */
static bool stream_take_numbers(struct stream *stream, const struct blockfile_line *line)
{
    const char *cursor = line->bytes;
    const char *const end = cursor + line->length;
    for (;;) {
        if (stream->first + (int64_t)stream->count == stream->want ||
            !blockfile_number(&cursor, end, &stream->values[stream->count]))
            return false;
        if (++stream->count == VALUES_MAX)
            stream_flush(stream);
        if (cursor == end)
            return true;
        if (*cursor++ != ' ')
            return false;
    }
}

pl_status blockfile_stream(struct blockfile *file, const struct blockfile_series *series, blockfile_take *take,
                           void *context, struct pl_error *error)
{
    struct blockfile_lines lines;
    if (!blockfile_lines_init(&lines, fileno(file->stream), series->offset))
        return pl_fail_errno(error, ENOMEM, "reading '%s'", file->path);
    struct stream stream = {.want = series->count, .take = take, .context = context};
    bool good = true;
    while (good && stream.first + (int64_t)stream.count < stream.want) {
        struct blockfile_line line;
        good = blockfile_lines_next(&lines, &line) && !line.overlong && stream_take_numbers(&stream, &line);
    }
    const int failed = lines.failed;
    blockfile_lines_clear(&lines);
    if (failed)
        return pl_fail_errno(error, failed, "reading '%s'", file->path);
    if (!good)
        return pl_fail(error, PL_E_DATA, "'%s' was changed while it was read: series %s of rank %d at byte %" PRId64,
                       file->path, series->key, series->rank, series->offset);
    stream_flush(&stream);
    return PL_OK;
}

/* ---- number by number ---- */

/* Small, since there is one for each series of each rank at the same time. */
enum { CURSOR_BYTES = 8192, CURSOR_NUMBER_MAX = 24 };

struct blockfile_cursor {
    int fd;
    int64_t left;   /* numbers */
    int64_t offset; /* of what is read next */
    size_t begin, end;
    bool failed;
    char bytes[CURSOR_BYTES];
};

struct blockfile_cursor *blockfile_cursor_new(struct blockfile *file, const struct blockfile_series *series)
{
    struct blockfile_cursor *cursor = malloc(sizeof *cursor);
    if (cursor) {
        cursor->fd = fileno(file->stream);
        cursor->left = series->count;
        cursor->offset = series->offset;
        cursor->begin = cursor->end = 0;
        cursor->failed = false;
    }
    return cursor;
}

/* A number may lie across the end of what was read. */
static void cursor_refill(struct blockfile_cursor *cursor)
{
    const size_t kept = cursor->end - cursor->begin;
    memmove(cursor->bytes, cursor->bytes + cursor->begin, kept);
    const ssize_t got = pread(cursor->fd, cursor->bytes + kept, CURSOR_BYTES - kept, cursor->offset);
    cursor->begin = 0;
    cursor->end = kept + (got > 0 ? (size_t)got : 0);
    cursor->offset += got > 0 ? got : 0;
    cursor->failed = got < 0;
}

bool blockfile_cursor_next(struct blockfile_cursor *cursor, int64_t *ret_value)
{
    if (cursor->left == 0 || cursor->failed)
        return false;
    if (cursor->end - cursor->begin < CURSOR_NUMBER_MAX)
        cursor_refill(cursor);
    const char *at = cursor->bytes + cursor->begin;
    const char *const end = cursor->bytes + cursor->end;
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r'))
        at++;
    if (cursor->failed || !blockfile_number(&at, end, ret_value)) {
        cursor->failed = true;
        return false;
    }
    cursor->begin = (size_t)(at - cursor->bytes);
    cursor->left--;
    return true;
}

bool blockfile_cursor_failed(const struct blockfile_cursor *cursor)
{
    return cursor->failed;
}

void blockfile_cursor_free(struct blockfile_cursor *cursor)
{
    free(cursor);
}

/* ---- lookups ---- */

static const char *stream_value_of(const struct blockfile_pair *pairs, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(pairs[i].key, key) == 0)
            return pairs[i].value;
    return NULL;
}

const char *blockfile_input_of(const struct blockfile_block *block, const char *key)
{
    return stream_value_of(block->inputs, block->input_count, key);
}

const char *blockfile_fact_of(const struct blockfile_block *block, const char *key)
{
    return stream_value_of(block->facts, block->fact_count, key);
}

const char *blockfile_param_of(const struct blockfile_set *set, const char *key)
{
    return stream_value_of(set->params, set->param_count, key);
}

/* ---- blocks ---- */

/* Opening and closing block files for reading. */

enum { COPY_BUFFER = 1 << 16 };

void blockfile_scan_clear_set(struct blockfile_set *set)
{
    for (size_t i = 0; i < set->param_count; i++) {
        free(set->params[i].key);
        free(set->params[i].value);
    }
    for (size_t i = 0; i < set->hint_count; i++) {
        free(set->hints[i].key);
        free(set->hints[i].value);
    }
    for (size_t i = 0; i < set->time_count; i++)
        free(set->times[i].key);
    for (size_t i = 0; i < set->series_count; i++) {
        free(set->series[i].key);
        free(set->series[i].unit);
    }
    for (size_t i = 0; i < set->error_count; i++) {
        free(set->errors[i].status);
        free(set->errors[i].text);
    }
    for (size_t i = 0; i < set->warning_count; i++)
        free(set->warnings[i]);
    free(set->params);
    free(set->hints);
    free(set->times);
    free(set->series);
    free(set->errors);
    free(set->warnings);
    *set = (struct blockfile_set){0};
}

void blockfile_scan_clear_block(struct blockfile_block *block)
{
    for (size_t i = 0; i < block->input_count; i++) {
        free(block->inputs[i].key);
        free(block->inputs[i].value);
    }
    for (size_t i = 0; i < block->fact_count; i++) {
        free(block->facts[i].key);
        free(block->facts[i].value);
    }
    for (size_t i = 0; i < block->set_count; i++)
        blockfile_scan_clear_set(&block->sets[i]);
    free(block->inputs);
    free(block->facts);
    free(block->sets);
    free(block->id);
    free(block->class_name);
    free(block->testname);
    *block = (struct blockfile_block){0};
}

/* A pipe can be read only once and we need places: its bytes go to a file without a name. */
static FILE *blockfile_copy_to_temporary(FILE *pipe)
{
    FILE *copy_file = tmpfile();
    char *buffer = malloc(COPY_BUFFER);
    bool good = copy_file && buffer;
    size_t got;
    while (good && (got = fread(buffer, 1, COPY_BUFFER, pipe)) > 0)
        good = fwrite(buffer, 1, got, copy_file) == got;
    good = good && !ferror(pipe) && fflush(copy_file) == 0;
    const int failed = errno;
    free(buffer);
    if (!good && copy_file)
        fclose(copy_file);
    errno = failed;
    return good ? copy_file : NULL;
}

static FILE *blockfile_open_seekable(const char *path)
{
    const bool is_input = strcmp(path, "-") == 0;
    const int fd = is_input ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");
    if (!stream) {
        const int failed = errno;
        if (fd >= 0)
            close(fd);
        errno = failed;
        return NULL;
    }
    if (lseek(fd, 0, SEEK_CUR) >= 0)
        return stream;
    FILE *seekable = blockfile_copy_to_temporary(stream);
    const int failed = errno;
    fclose(stream);
    errno = failed;
    return seekable;
}

pl_status blockfile_open(const char *path, struct blockfile *ret_file, struct pl_error *error)
{
    struct blockfile file = {.path = text_dup(strcmp(path, "-") == 0 ? "(standard input)" : path)};
    if (!file.path)
        return pl_fail_errno(error, ENOMEM, "reading '%s'", path);
    output_reads(path);
    file.stream = blockfile_open_seekable(path);
    if (!file.stream) {
        const int failed = errno;
        free(file.path);
        return pl_fail_errno(error, failed, "opening '%s'", path);
    }
    const pl_status status = blockfile_scan_file(&file, error);
    if (status)
        blockfile_close(&file);
    else
        *ret_file = file;
    return status;
}

void blockfile_close(struct blockfile *file)
{
    for (size_t i = 0; i < file->block_count; i++)
        blockfile_scan_clear_block(&file->blocks[i]);
    for (size_t i = 0; i < file->warning_count; i++)
        free(file->warnings[i]);
    free(file->blocks);
    free(file->warnings);
    free(file->path);
    if (file->stream)
        fclose(file->stream);
    *file = (struct blockfile){0};
}
