/* The lines of a record: taken apart, checked and kept. */
#include "base/blockfile_scan.h"
#include "base/progress.h"

#include "base/checksum.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { BLOCKFILE_DAMAGE_MAX = 160, BLOCKFILE_WARNINGS_MAX = 1000 };

enum blockfile_place {
    OUTSIDE, /* before, between and after blocks */
    PASSED,  /* in a block that cannot be used: up to the next opening line */
    HEAD,
    BETWEEN, /* after a head or a set */
    SET
};

struct blockfile_scan {
    struct blockfile *file;
    struct blockfile_lines lines;
    struct blockfile_line line;
    enum blockfile_place place;
    struct blockfile_block block; /* being read, owned here until it is kept */
    struct blockfile_set set;
    void *hash; /* state of blockfile_scan.c, over the record from record_start on, of record_lines so far */
    int64_t record_start;
    int64_t record_lines;
    char damage[BLOCKFILE_DAMAGE_MAX]; /* first thing that is wrong in the record; "": nothing */
    int64_t series_left;               /* numbers still missing */
    bool set_lost;                     /* a set of this block was left out */
    int64_t stray_lines;               /* since the last line that belonged somewhere */
    int64_t stray_start;
    size_t more_warnings; /* beyond BLOCKFILE_WARNINGS_MAX */
    bool no_memory;
};

struct blockfile_words {
    const char *at, *end;
};

/* ---- lines ---- */

/* Room for one more, zeroed, at the end of an array whose capacity is the next power of two; NULL: no memory. */
static void *blockfile_scan_grow(struct blockfile_scan *scan, void *array_pointer, size_t *count, size_t size)
{
    void **array = array_pointer;
    if ((*count & (*count - 1)) == 0) {
        void *bigger = realloc(*array, (*count ? 2 * *count : 1) * size);
        if (!bigger) {
            scan->no_memory = true;
            return NULL;
        }
        *array = bigger;
    }
    void *slot = (char *)*array + *count * size;
    memset(slot, 0, size);
    ++*count;
    return slot;
}

/* A warning of the file. */
static void blockfile_scan_warn(struct blockfile_scan *scan, int64_t line, const char *format, ...)
{
    struct blockfile *file = scan->file;
    if (file->warning_count >= BLOCKFILE_WARNINGS_MAX) {
        scan->more_warnings++;
        return;
    }
    char message[2 * BLOCKFILE_DAMAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    char *text = NULL;
    if (asprintf(&text, "%s:%" PRId64 ": %s", file->path, line, message) < 0) {
        scan->no_memory = true;
        return;
    }
    char **slot = blockfile_scan_grow(scan, &file->warnings, &file->warning_count, sizeof *slot);
    if (slot)
        *slot = text;
    else
        free(text);
}

/* Something in the current record, which will be left out: told when it ends. */
static void blockfile_scan_damage(struct blockfile_scan *scan, const char *what)
{
    if (!scan->damage[0])
        snprintf(scan->damage, sizeof scan->damage, "line %" PRId64 ": %s", scan->line.number, what);
}

static char *scan_copy(struct blockfile_scan *scan, const char *bytes, size_t length)
{
    char *text = strndup(bytes, length);
    if (!text)
        scan->no_memory = true;
    else if (strlen(text) != length)
        blockfile_scan_damage(scan, "a NUL byte");
    return text;
}

static const char *blockfile_scan_word(struct blockfile_words *words, size_t *ret_length)
{
    const char *start = words->at;
    const char *blank = memchr(start, ' ', (size_t)(words->end - start));
    const char *stop = blank ? blank : words->end;
    *ret_length = (size_t)(stop - start);
    words->at = blank ? blank + 1 : words->end;
    return start;
}

static char *scan_copy_word(struct blockfile_scan *scan, struct blockfile_words *words)
{
    size_t length;
    const char *start = blockfile_scan_word(words, &length);
    if (length == 0)
        blockfile_scan_damage(scan, "a word is missing");
    return scan_copy(scan, start, length);
}

/* The last word: up to the end of the line, escaped, may be empty. */
static char *scan_copy_rest(struct blockfile_scan *scan, struct blockfile_words *words)
{
    char *text = scan_copy(scan, words->at, (size_t)(words->end - words->at));
    words->at = words->end;
    if (text && !text_unescape(text))
        blockfile_scan_damage(scan, "a broken escape");
    return text;
}

static int64_t blockfile_scan_int(struct blockfile_scan *scan, struct blockfile_words *words, int64_t min, int64_t max)
{
    size_t length;
    const char *cursor = blockfile_scan_word(words, &length);
    const char *const end = cursor + length;
    int64_t value = 0;
    if (!blockfile_number(&cursor, end, &value) || cursor != end || value < min || value > max) {
        blockfile_scan_damage(scan, "a number is missing or wrong");
        return 0;
    }
    return value;
}

static bool blockfile_scan_is(const char *start, size_t length, const char *name)
{
    return length == strlen(name) && memcmp(start, name, length) == 0;
}

static void blockfile_scan_pair(struct blockfile_scan *scan, struct blockfile_words *words,
                                struct blockfile_pair **pairs, size_t *count)
{
    struct blockfile_pair *pair = blockfile_scan_grow(scan, pairs, count, sizeof *pair);
    if (!pair)
        return;
    pair->key = scan_copy_word(scan, words);
    pair->value = scan_copy_rest(scan, words);
}

static void blockfile_scan_once(struct blockfile_scan *scan, struct blockfile_words *words, char **slot)
{
    if (*slot)
        blockfile_scan_damage(scan, "a line that occurs twice");
    else
        *slot = scan_copy_rest(scan, words);
}

static void blockfile_scan_hint(struct blockfile_scan *scan, struct blockfile_words *words)
{
    struct blockfile_hint *hint = blockfile_scan_grow(scan, &scan->set.hints, &scan->set.hint_count, sizeof *hint);
    if (!hint)
        return;
    size_t length;
    const char *kind = blockfile_scan_word(words, &length);
    hint->used = blockfile_scan_is(kind, length, "used");
    if (!hint->used && !blockfile_scan_is(kind, length, "asked"))
        blockfile_scan_damage(scan, "a hint that is neither asked nor used");
    hint->key = scan_copy_word(scan, words);
    hint->value = scan_copy_rest(scan, words);
}

static void blockfile_scan_time(struct blockfile_scan *scan, struct blockfile_words *words)
{
    struct blockfile_timing *timing = blockfile_scan_grow(scan, &scan->set.times, &scan->set.time_count,
                                                          sizeof *timing);
    if (!timing)
        return;
    timing->rank = (int)blockfile_scan_int(scan, words, 0, INT_MAX);
    timing->key = scan_copy_word(scan, words);
    timing->nanoseconds = blockfile_scan_int(scan, words, INT64_MIN, INT64_MAX);
}

static void blockfile_scan_series(struct blockfile_scan *scan, struct blockfile_words *words)
{
    struct blockfile_series *series = blockfile_scan_grow(scan, &scan->set.series, &scan->set.series_count,
                                                          sizeof *series);
    if (!series)
        return;
    series->rank = (int)blockfile_scan_int(scan, words, 0, INT_MAX);
    series->key = scan_copy_word(scan, words);
    series->unit = scan_copy_word(scan, words);
    series->count = blockfile_scan_int(scan, words, 0, INT64_MAX);
    series->offset = scan->lines.offset;
    scan->series_left = series->count;
}

static void blockfile_scan_error(struct blockfile_scan *scan, struct blockfile_words *words)
{
    struct blockfile_failure *failure = blockfile_scan_grow(scan, &scan->set.errors, &scan->set.error_count,
                                                            sizeof *failure);
    if (!failure)
        return;
    failure->status = scan_copy_word(scan, words);
    failure->rank = (int)blockfile_scan_int(scan, words, INT_MIN, INT_MAX);
    failure->text = scan_copy_rest(scan, words);
}

static void blockfile_scan_warning(struct blockfile_scan *scan, struct blockfile_words *words)
{
    char **slot = blockfile_scan_grow(scan, &scan->set.warnings, &scan->set.warning_count, sizeof *slot);
    if (slot)
        *slot = scan_copy_rest(scan, words);
}

/* ---- blocks ---- */

/* The scan of a block file: one pass over its lines that keeps what is whole and says what is not. */

enum { MAJOR_VERSION = 1 };

static const char OPENING[] = "piolet-block";

/* ---- records ---- */

static void scan_begin_record(struct blockfile_scan *scan, enum blockfile_place place, int64_t line)
{
    XXH64_reset(scan->hash, 0);
    scan->record_start = line;
    scan->record_lines = 0;
    scan->damage[0] = '\0';
    scan->series_left = 0;
    scan->place = place;
}

static void scan_count_line(struct blockfile_scan *scan)
{
    const struct blockfile_line *line = &scan->line;
    scan->record_lines++;
    if (line->overlong)
        blockfile_scan_damage(scan, "a line that is too long");
    else if (!line->ended)
        blockfile_scan_damage(scan, "a line without its end");
    else if (line->bytes[line->length] == '\n')
        XXH64_update(scan->hash, line->bytes, line->length + 1);
    else { /* the line ended in CR LF: the hash is over what was written */
        XXH64_update(scan->hash, line->bytes, line->length);
        XXH64_update(scan->hash, "\n", 1);
    }
}

/* Compares the counted lines and the hash with those of the `end-…` line; the reason in ret_why if they differ. */
static bool scan_record_is_whole(struct blockfile_scan *scan, struct blockfile_words words, char *ret_why,
                                 size_t why_size)
{
    size_t length;
    const char *cursor = blockfile_scan_word(&words, &length);
    const char *const end = cursor + length;
    int64_t lines = -1;
    const bool counted = checksum_agrees(blockfile_number(&cursor, end, &lines) && cursor == end &&
                                         lines == scan->record_lines);
    char hash[17];
    snprintf(hash, sizeof hash, "%016" PRIx64, (uint64_t)XXH64_digest(scan->hash));
    const bool hashed = checksum_agrees(words.end - words.at == 16 && memcmp(words.at, hash, 16) == 0);
    if (counted && hashed && !scan->damage[0])
        return true;
    snprintf(ret_why, why_size, "%s%s%s", hashed ? "" : "its hash is wrong", hashed || !scan->damage[0] ? "" : ", ",
             scan->damage);
    if (hashed && !scan->damage[0])
        snprintf(ret_why, why_size, "its number of lines is wrong");
    return false;
}

static void scan_lose_set(struct blockfile_scan *scan, const char *why)
{
    blockfile_scan_warn(scan, scan->record_start, "a set is left out: %s", why);
    blockfile_scan_clear_set(&scan->set);
    scan->set_lost = true;
    scan->place = BETWEEN;
}

static void scan_keep_block(struct blockfile_scan *scan, bool complete)
{
    scan->block.complete = complete && !scan->set_lost;
    struct blockfile_block *slot = blockfile_scan_grow(scan, &scan->file->blocks, &scan->file->block_count,
                                                       sizeof *slot);
    if (!slot)
        return;
    *slot = scan->block;
    scan->block = (struct blockfile_block){0};
}

/* A block ends without its last line: the file ends, or another block begins. */
static void scan_abandon_block(struct blockfile_scan *scan)
{
    if (scan->place == SET)
        scan_lose_set(scan, "it is not finished");
    if (scan->place == BETWEEN) {
        blockfile_scan_warn(scan, scan->block.line, "the block is not finished: its %zu complete sets are kept",
                            scan->block.set_count);
        scan_keep_block(scan, false);
    } else if (scan->place == HEAD) {
        blockfile_scan_warn(scan, scan->block.line, "a block is left out: its head is not finished");
    }
    blockfile_scan_clear_block(&scan->block);
    scan->place = OUTSIDE;
}

static void scan_report_strays(struct blockfile_scan *scan)
{
    if (scan->stray_lines)
        blockfile_scan_warn(scan, scan->stray_start, "%" PRId64 " line(s) that belong to no block or set",
                            scan->stray_lines);
    scan->stray_lines = 0;
}

static void scan_stray(struct blockfile_scan *scan)
{
    if (scan->line.length == 0 && !scan->line.overlong)
        return; /* blank lines between blocks do no harm */
    if (scan->stray_lines++ == 0)
        scan->stray_start = scan->line.number;
}

/* ---- lines of each place ---- */

static void scan_open_block(struct blockfile_scan *scan, const char *rest, const char *end)
{
    scan_report_strays(scan);
    scan_abandon_block(scan);
    scan->set_lost = false;
    scan->block.line = scan->line.number;
    int64_t version = -1;
    const char *cursor = rest + 1;
    if (rest < end && *rest == ' ' && blockfile_number(&cursor, end, &version) && cursor == end &&
        version == MAJOR_VERSION) {
        scan_begin_record(scan, HEAD, scan->line.number + 1);
        return;
    }
    blockfile_scan_warn(scan, scan->line.number,
                        "a block is left out: its version is not %d, the one that this program knows", MAJOR_VERSION);
    scan->place = PASSED;
}

static void scan_end_head(struct blockfile_scan *scan, struct blockfile_words words)
{
    char why[BLOCKFILE_DAMAGE_MAX + 64];
    if (!scan->block.id || !scan->block.class_name || !scan->block.testname)
        blockfile_scan_damage(scan, "id, class or testname is missing");
    if (scan_record_is_whole(scan, words, why, sizeof why)) {
        scan->place = BETWEEN;
        return;
    }
    blockfile_scan_warn(scan, scan->block.line, "a block is left out, its head is damaged: %s", why);
    blockfile_scan_clear_block(&scan->block);
    scan->place = PASSED;
}

static void scan_head_line(struct blockfile_scan *scan, const char *name, size_t length, struct blockfile_words words)
{
    struct blockfile_block *block = &scan->block;
    if (blockfile_scan_is(name, length, "end-head")) {
        scan_end_head(scan, words);
        return;
    }
    scan_count_line(scan);
    if (blockfile_scan_is(name, length, "input"))
        blockfile_scan_pair(scan, &words, &block->inputs, &block->input_count);
    else if (blockfile_scan_is(name, length, "fact"))
        blockfile_scan_pair(scan, &words, &block->facts, &block->fact_count);
    else if (blockfile_scan_is(name, length, "id"))
        blockfile_scan_once(scan, &words, &block->id);
    else if (blockfile_scan_is(name, length, "class"))
        blockfile_scan_once(scan, &words, &block->class_name);
    else if (blockfile_scan_is(name, length, "testname"))
        blockfile_scan_once(scan, &words, &block->testname);
}

static void scan_begin_set(struct blockfile_scan *scan, struct blockfile_words words)
{
    scan_begin_record(scan, SET, scan->line.number);
    scan_count_line(scan);
    scan->set.number = blockfile_scan_int(scan, &words, 1, INT64_MAX);
}

static void scan_end_set(struct blockfile_scan *scan, struct blockfile_words words)
{
    struct blockfile_block *block = &scan->block;
    char why[BLOCKFILE_DAMAGE_MAX + 64];
    if (!scan_record_is_whole(scan, words, why, sizeof why)) {
        scan_lose_set(scan, why);
        return;
    }
    if (block->set_count && block->sets[block->set_count - 1].number >= scan->set.number) {
        scan_lose_set(scan, "its number does not grow");
        return;
    }
    scan->place = BETWEEN;
    struct blockfile_set *slot = blockfile_scan_grow(scan, &block->sets, &block->set_count, sizeof *slot);
    if (!slot)
        return;
    *slot = scan->set;
    scan->set = (struct blockfile_set){0};
}

static void scan_between_line(struct blockfile_scan *scan, const char *name, size_t length,
                              struct blockfile_words words);

static void scan_set_line(struct blockfile_scan *scan, const char *name, size_t length, struct blockfile_words words)
{
    if (scan->series_left) {
        blockfile_scan_damage(scan, "a series has fewer numbers than it says");
        scan->series_left = 0;
    }
    if (blockfile_scan_is(name, length, "end-set")) {
        scan_end_set(scan, words);
        return;
    }
    /* id, end-head: the opening line of another block was glued to a killed run's half line. */
    if (blockfile_scan_is(name, length, "set") || blockfile_scan_is(name, length, "end-block") ||
        blockfile_scan_is(name, length, "id") || blockfile_scan_is(name, length, "end-head")) {
        scan_lose_set(scan, "it is not finished");
        scan_between_line(scan, name, length, words);
        return;
    }
    scan_count_line(scan);
    if (blockfile_scan_is(name, length, "param"))
        blockfile_scan_pair(scan, &words, &scan->set.params, &scan->set.param_count);
    else if (blockfile_scan_is(name, length, "hint"))
        blockfile_scan_hint(scan, &words);
    else if (blockfile_scan_is(name, length, "time"))
        blockfile_scan_time(scan, &words);
    else if (blockfile_scan_is(name, length, "series"))
        blockfile_scan_series(scan, &words);
    else if (blockfile_scan_is(name, length, "error"))
        blockfile_scan_error(scan, &words);
    else if (blockfile_scan_is(name, length, "warning"))
        blockfile_scan_warning(scan, &words);
    else if (length && (*name == '-' || (*name >= '0' && *name <= '9')))
        blockfile_scan_damage(scan, "numbers that belong to no series");
}

static void scan_end_block(struct blockfile_scan *scan, struct blockfile_words words)
{
    const char *cursor = words.at;
    int64_t sets = -1;
    const bool right = blockfile_number(&cursor, words.end, &sets) && cursor == words.end &&
                       sets == (int64_t)scan->block.set_count;
    if (!right && !scan->set_lost)
        blockfile_scan_warn(scan, scan->line.number, "the block has not as many sets as its last line says");
    scan_keep_block(scan, right);
    blockfile_scan_clear_block(&scan->block);
    scan->place = OUTSIDE;
}

static void scan_between_line(struct blockfile_scan *scan, const char *name, size_t length,
                              struct blockfile_words words)
{
    if (blockfile_scan_is(name, length, "set")) {
        scan_report_strays(scan);
        scan_begin_set(scan, words);
    } else if (blockfile_scan_is(name, length, "end-block")) {
        scan_report_strays(scan);
        scan_end_block(scan, words);
    } else {
        /* Lines of a head here mean that the opening line of another block was lost: its sets are not ours. */
        if (blockfile_scan_is(name, length, "id") || blockfile_scan_is(name, length, "end-head"))
            scan_abandon_block(scan);
        else if (blockfile_scan_is(name, length, "end-set"))
            scan->set_lost = true;
        scan_stray(scan);
    }
}

static bool scan_opens_block(const char *bytes, size_t length)
{
    return length >= sizeof OPENING - 1 && memcmp(bytes, OPENING, sizeof OPENING - 1) == 0;
}

/* A line of numbers; a killed run's half line may have another file's opening line glued to it by cat. */
static void scan_number_line(struct blockfile_scan *scan)
{
    const char *cursor = scan->line.bytes;
    const char *const end = cursor + scan->line.length;
    int64_t value;
    scan_count_line(scan);
    while (blockfile_number(&cursor, end, &value)) {
        if (scan->series_left-- == 0) {
            blockfile_scan_damage(scan, "a series has more numbers than it says");
            scan->series_left = 0;
            return;
        }
        if (cursor == end)
            return;
        if (*cursor != ' ')
            break;
        cursor++;
    }
    if (scan_opens_block(cursor, (size_t)(end - cursor)))
        scan_open_block(scan, cursor + sizeof OPENING - 1, end);
    else
        blockfile_scan_damage(scan, "not a number");
}

static void scan_line(struct blockfile_scan *scan)
{
    const char *bytes = scan->line.bytes;
    const char *const end = bytes + scan->line.length;
    if (scan->place == SET && scan->series_left && bytes < end && (*bytes == '-' || (*bytes >= '0' && *bytes <= '9'))) {
        scan_number_line(scan);
        return;
    }
    if (scan_opens_block(bytes, scan->line.length)) {
        scan_open_block(scan, bytes + sizeof OPENING - 1, end);
        return;
    }
    struct blockfile_words words = {bytes, end};
    size_t length;
    const char *name = blockfile_scan_word(&words, &length);
    switch (scan->place) {
    case OUTSIDE:
        scan_stray(scan);
        break;
    case PASSED:
        break;
    case HEAD:
        scan_head_line(scan, name, length, words);
        break;
    case BETWEEN:
        scan_between_line(scan, name, length, words);
        break;
    case SET:
        scan_set_line(scan, name, length, words);
        break;
    }
}

/* ---- the whole file ---- */

static void scan_finish(struct blockfile_scan *scan)
{
    scan_report_strays(scan);
    scan_abandon_block(scan);
    if (scan->more_warnings) {
        free(scan->file->warnings[BLOCKFILE_WARNINGS_MAX - 1]);
        if (asprintf(&scan->file->warnings[BLOCKFILE_WARNINGS_MAX - 1], "%s:%" PRId64 ": and %zu more",
                     scan->file->path, scan->lines.number, scan->more_warnings + 1) < 0) {
            scan->file->warnings[BLOCKFILE_WARNINGS_MAX - 1] = NULL;
            scan->no_memory = true;
        }
    }
}

enum { LINES_TOLD = 100000 }; /* progress is looked at so often */

pl_status blockfile_scan_file(struct blockfile *file, struct pl_error *error)
{
    XXH64_state_t hash;
    struct blockfile_scan scan = {.file = file, .place = OUTSIDE, .hash = &hash};
    if (!blockfile_lines_init(&scan.lines, fileno(file->stream), 0))
        return pl_fail_errno(error, ENOMEM, "reading '%s'", file->path);
    struct stat info;
    struct progress progress;
    const int descriptor = fileno(file->stream);
    const double bytes = fstat(descriptor, &info) == 0 && info.st_size > 0 ? (double)info.st_size : 1;
    progress_begin(&progress, PROGRESS_AUTO, 1, 1);
    progress_step(&progress, file->path, 1);
    for (int64_t number = 1; !scan.no_memory && blockfile_lines_next(&scan.lines, &scan.line); number++) {
        scan_line(&scan);
        if (number % LINES_TOLD == 0)
            progress_part(&progress, file->path, fmin(1, (double)scan.lines.offset / bytes));
    }
    scan_finish(&scan);
    const int failed = scan.no_memory ? ENOMEM : scan.lines.failed;
    const bool empty = scan.lines.number == 0;
    blockfile_scan_clear_set(&scan.set);
    blockfile_scan_clear_block(&scan.block);
    blockfile_lines_clear(&scan.lines);
    if (failed)
        return pl_fail_errno(error, failed, "reading '%s'", file->path);
    if (file->block_count == 0)
        return pl_fail(error, PL_E_FORMAT, "'%s' %s%s%s", file->path,
                       empty ? "is empty" : "holds no block of results that could be read",
                       file->warning_count ? "; " : "", file->warning_count ? file->warnings[0] : "");
    return PL_OK;
}
