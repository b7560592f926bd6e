#include "base/blockfile.h"
#include "base/path.h"
#include "base/rng.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { NUMBERS_PER_LINE = 32, NUMBER_MAX = 21, WRITE_BUFFER = 1 << 20, NOT_BLOCKS = -1 /* in the place of an errno */ };

struct blockfile_writer {
    FILE *stream;
    char *path;
    int errno_first; /* of the first write that failed, 0 while all is well */
    int64_t lines;   /* of the record being written */
    int64_t sets;    /* of the block being written */
    XXH64_state_t hash;
    int64_t series_left; /* numbers still owed to the open series */
    size_t on_line;      /* numbers on the unfinished line */
};

static void blockfile_note_errno(struct blockfile_writer *writer)
{
    if (!writer->errno_first)
        writer->errno_first = errno ? errno : EIO;
}

static void blockfile_put(struct blockfile_writer *writer, const char *bytes, size_t count)
{
    if (writer->errno_first)
        return;
    if (fwrite(bytes, 1, count, writer->stream) != count)
        blockfile_note_errno(writer);
}

/* A line of the current record: counted and hashed. `line` includes its line end. */
static void blockfile_put_line(struct blockfile_writer *writer, struct text *line)
{
    if (line->failed) {
        errno = ENOMEM;
        blockfile_note_errno(writer);
    } else {
        blockfile_put(writer, line->data, line->length);
        XXH64_update(&writer->hash, line->data, line->length);
        writer->lines++;
    }
    text_clear(line);
}

/* `words` are taken as they are, `value` is escaped. */
static void blockfile_put_record_line(struct blockfile_writer *writer, const char *words, const char *value)
{
    assert(writer->series_left == 0);
    struct text line = {0};
    text_add(&line, words);
    text_add(&line, " ");
    text_add_escaped(&line, value);
    text_add(&line, "\n");
    blockfile_put_line(writer, &line);
}

static void blockfile_begin_record(struct blockfile_writer *writer)
{
    XXH64_reset(&writer->hash, 0);
    writer->lines = 0;
}

/* The last line of a record or block: from here on all before it is in the file, or the first error is told. */
static pl_status blockfile_put_last(struct blockfile_writer *writer, const char *line, int length,
                                    struct pl_error *error)
{
    assert(length > 0 && line[length - 1] == '\n');
    blockfile_put(writer, line, (size_t)length);
    if (!writer->errno_first && fflush(writer->stream) != 0)
        blockfile_note_errno(writer);
    if (writer->errno_first)
        return pl_fail_errno(error, writer->errno_first, "writing results to '%s'", writer->path);
    return PL_OK;
}

static pl_status blockfile_end_record(struct blockfile_writer *writer, const char *name, struct pl_error *error)
{
    assert(writer->series_left == 0);
    char line[64];
    const int length = snprintf(line, sizeof line, "%s %" PRId64 " %016" PRIx64 "\n", name, writer->lines,
                                (uint64_t)XXH64_digest(&writer->hash));
    return blockfile_put_last(writer, line, length, error);
}

/* A killed run can leave half a line; blocks always start on a new one. */
static int blockfile_end_unfinished_line(FILE *stream)
{
    char last = '\n';
    if (fseeko(stream, 0, SEEK_END) != 0)
        return errno == ESPIPE ? 0 : errno; /* a pipe or a terminal has nothing before us */
    if (ftello(stream) == 0)
        return 0;
    if (fseeko(stream, -1, SEEK_END) != 0 || fread(&last, 1, 1, stream) != 1)
        return errno;
    if (fseeko(stream, 0, SEEK_END) != 0)
        return errno;
    if (last != '\n' && fputc('\n', stream) == EOF)
        return errno;
    return 0;
}

/* Results go behind results only: a file that begins otherwise is somebody's. A killed run may have left a part of the
 * first word. */
static bool blockfile_is_block_file(int fd)
{
    static const char opening[] = "piolet-block ";
    char start[sizeof opening - 1];
    const ssize_t length = pread(fd, start, sizeof start, 0);
    return length >= 0 && memcmp(start, opening, (size_t)length) == 0;
}

static pl_status blockfile_refuse_other_file(const char *path, struct pl_error *error)
{
    return pl_fail(error, PL_E_USAGE,
                   "'%s' is there and is no block file; results are appended to block files only: name another file",
                   path);
}

pl_status blockfile_check_append(const char *path, struct pl_error *error)
{
    struct stat info;
    char target[PATH_MAX], folder[PATH_MAX];
    if (strcmp(path, "-") == 0 || !*path)
        return pl_fail(error, PL_E_USAGE, "'%s': results are appended to a file", path);
    const int followed = path_follow(path, target);
    if (followed)
        return pl_fail_errno(error, followed, "'%s' cannot be made", path);
    if (stat(target, &info) != 0) {
        path_folder(target, folder);
        return errno == ENOENT && access(folder, W_OK | X_OK) == 0
                   ? PL_OK
                   : pl_fail_errno(error, errno, "'%s' cannot be made", path);
    }
    if (S_ISDIR(info.st_mode))
        return pl_fail(error, PL_E_USAGE, "'%s' is a directory; allowed: a file", path);
    if (access(target, W_OK) != 0)
        return pl_fail_errno(error, errno, "'%s' cannot be written", path);
    if (!S_ISREG(info.st_mode))
        return PL_OK;
    const int fd = open(target, O_RDONLY | O_CLOEXEC);
    const bool ours = fd >= 0 && blockfile_is_block_file(fd);
    if (fd >= 0)
        close(fd);
    return ours ? PL_OK : blockfile_refuse_other_file(path, error);
}

/* Sets of two runs between each other would make both unreadable: the second one is refused (EWOULDBLOCK). Where locks
 * are not known, as on some network file systems, there is none. */
static FILE *blockfile_open_for_append(const char *path)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return NULL;
    struct stat about; /* any number of runs may write to /dev/null */
    const bool shared = fstat(fd, &about) != 0 || !S_ISREG(about.st_mode);
    const bool taken = !shared && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    const int failed = taken ? EWOULDBLOCK : !shared && !blockfile_is_block_file(fd) ? NOT_BLOCKS : 0;
    FILE *stream = failed ? NULL : fdopen(fd, "a+");
    if (!stream)
        close(fd);
    errno = failed ? failed : errno;
    return stream;
}

pl_status blockfile_writer_open(const char *path, struct blockfile_writer **ret_writer, struct pl_error *error)
{
    struct blockfile_writer *writer = calloc(1, sizeof *writer);
    if (!writer || !(writer->path = text_dup(path))) {
        free(writer);
        return pl_fail_errno(error, ENOMEM, "opening '%s' for results", path);
    }
    writer->stream = blockfile_open_for_append(path);
    const int failed = writer->stream ? blockfile_end_unfinished_line(writer->stream) : errno;
    if (failed) {
        if (writer->stream)
            fclose(writer->stream);
        free(writer->path);
        free(writer);
        if (failed == EWOULDBLOCK)
            return pl_fail(error, PL_E_IN_USE, "'%s' is being written by another run; give each its own file", path);
        if (failed == NOT_BLOCKS)
            return blockfile_refuse_other_file(path, error);
        return pl_fail_errno(error, failed, "opening '%s' for results", path);
    }
    setvbuf(writer->stream, NULL, _IOFBF, WRITE_BUFFER);
    *ret_writer = writer;
    return PL_OK;
}

pl_status blockfile_writer_close(struct blockfile_writer *writer, struct pl_error *error)
{
    if (!writer)
        return PL_OK;
    if (fflush(writer->stream) != 0)
        blockfile_note_errno(writer);
    if (fsync(fileno(writer->stream)) != 0 && errno != EINVAL && errno != EROFS)
        blockfile_note_errno(writer);
    if (fclose(writer->stream) != 0)
        blockfile_note_errno(writer);
    pl_status status = PL_OK;
    if (writer->errno_first)
        status = pl_fail_errno(error, writer->errno_first, "writing results to '%s'", writer->path);
    free(writer->path);
    free(writer);
    return status;
}

void blockfile_begin(struct blockfile_writer *writer, const char *class_name, const char *testname)
{
    static const char opening[] = "piolet-block 1\n";
    blockfile_put(writer, opening, sizeof opening - 1);
    blockfile_begin_record(writer);
    writer->sets = 0;
    char id[32];
    snprintf(id, sizeof id, "id %016" PRIx64, rng_seed_from_system());
    struct text line = {0};
    text_format(&line, "%s\n", id);
    blockfile_put_line(writer, &line);
    blockfile_put_record_line(writer, "class", class_name);
    blockfile_put_record_line(writer, "testname", testname);
}

static void blockfile_put_keyed(struct blockfile_writer *writer, const char *kind, const char *key, const char *value)
{
    struct text words = {0};
    text_format(&words, "%s %s", kind, key);
    blockfile_put_record_line(writer, text_get(&words), value);
    text_clear(&words);
}

void blockfile_input(struct blockfile_writer *writer, const char *key, const char *value)
{
    blockfile_put_keyed(writer, "input", key, value);
}

static void blockfile_put_formatted(struct blockfile_writer *writer, const char *kind, const char *key,
                                    const char *format, va_list args)
{
    char *value = NULL;
    if (vasprintf(&value, format, args) < 0) {
        blockfile_note_errno(writer);
        return;
    }
    blockfile_put_keyed(writer, kind, key, value);
    free(value);
}

void blockfile_fact(struct blockfile_writer *writer, const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    blockfile_put_formatted(writer, "fact", key, format, args);
    va_end(args);
}

pl_status blockfile_end_head(struct blockfile_writer *writer, struct pl_error *error)
{
    return blockfile_end_record(writer, "end-head", error);
}

void blockfile_set(struct blockfile_writer *writer)
{
    blockfile_begin_record(writer);
    writer->sets++;
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, writer->sets);
    blockfile_put_record_line(writer, "set", number);
}

void blockfile_param(struct blockfile_writer *writer, const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    blockfile_put_formatted(writer, "param", key, format, args);
    va_end(args);
}

void blockfile_hint(struct blockfile_writer *writer, const char *kind, const char *key, const char *value)
{
    struct text words = {0};
    text_format(&words, "%s %s", kind, key);
    blockfile_put_keyed(writer, "hint", text_get(&words), value);
    text_clear(&words);
}

void blockfile_time(struct blockfile_writer *writer, int rank, const char *key, int64_t nanoseconds)
{
    assert(writer->series_left == 0);
    struct text line = {0};
    text_format(&line, "time %d %s %" PRId64 "\n", rank, key, nanoseconds);
    blockfile_put_line(writer, &line);
}

void blockfile_series(struct blockfile_writer *writer, int rank, const char *key, const char *unit, int64_t count)
{
    assert(writer->series_left == 0);
    struct text line = {0};
    text_format(&line, "series %d %s %s %" PRId64 "\n", rank, key, unit, count);
    blockfile_put_line(writer, &line);
    writer->series_left = count;
    writer->on_line = 0;
}

/* Writes `value` in decimal at `out`; returns its length. printf would take half of the time of a large run's output.
 */
static size_t blockfile_format_number(int64_t value, char *out)
{
    char digits[NUMBER_MAX];
    size_t count = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    size_t length = 0;
    if (value < 0)
        out[length++] = '-';
    while (count)
        out[length++] = digits[--count];
    return length;
}

void blockfile_values(struct blockfile_writer *writer, const int64_t *values, size_t count)
{
    assert((int64_t)count <= writer->series_left);
    char line[NUMBERS_PER_LINE * (NUMBER_MAX + 1)];
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        length += blockfile_format_number(values[i], line + length);
        writer->on_line++;
        writer->series_left--;
        const bool line_ends = writer->on_line == NUMBERS_PER_LINE || writer->series_left == 0;
        line[length++] = line_ends ? '\n' : ' ';
        if (!line_ends && i + 1 < count)
            continue;
        blockfile_put(writer, line, length);
        XXH64_update(&writer->hash, line, length);
        length = 0;
        if (line_ends) {
            writer->lines++;
            writer->on_line = 0;
        }
    }
}

void blockfile_error(struct blockfile_writer *writer, const char *status, int rank, const char *text)
{
    char words[64];
    snprintf(words, sizeof words, "error %s %d", status, rank);
    blockfile_put_record_line(writer, words, text);
}

void blockfile_warning(struct blockfile_writer *writer, const char *text)
{
    blockfile_put_record_line(writer, "warning", text);
}

pl_status blockfile_end_set(struct blockfile_writer *writer, struct pl_error *error)
{
    return blockfile_end_record(writer, "end-set", error);
}

pl_status blockfile_end(struct blockfile_writer *writer, struct pl_error *error)
{
    char line[48];
    const int length = snprintf(line, sizeof line, "end-block %" PRId64 "\n", writer->sets);
    return blockfile_put_last(writer, line, length, error);
}
