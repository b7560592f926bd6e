/* The lines of a record: taken apart, checked and kept. */
#include "base/blockfile_scan.h"
#include "base/text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void *blockfile_scan_grow(struct blockfile_scan *scan, void *array_pointer, size_t *count, size_t size)
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

void blockfile_scan_warn(struct blockfile_scan *scan, int64_t line, const char *format, ...)
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

void blockfile_scan_damage(struct blockfile_scan *scan, const char *what)
{
    if (!scan->damage[0])
        snprintf(scan->damage, sizeof scan->damage, "line %" PRId64 ": %s", scan->line.number, what);
}

static char *copy(struct blockfile_scan *scan, const char *bytes, size_t length)
{
    char *text = strndup(bytes, length);
    if (!text)
        scan->no_memory = true;
    else if (strlen(text) != length)
        blockfile_scan_damage(scan, "a NUL byte");
    return text;
}

const char *blockfile_scan_word(struct blockfile_words *words, size_t *ret_length)
{
    const char *start = words->at;
    const char *blank = memchr(start, ' ', (size_t)(words->end - start));
    const char *stop = blank ? blank : words->end;
    *ret_length = (size_t)(stop - start);
    words->at = blank ? blank + 1 : words->end;
    return start;
}

static char *copy_word(struct blockfile_scan *scan, struct blockfile_words *words)
{
    size_t length;
    const char *start = blockfile_scan_word(words, &length);
    if (length == 0)
        blockfile_scan_damage(scan, "a word is missing");
    return copy(scan, start, length);
}

/* The last word: up to the end of the line, escaped, may be empty. */
static char *copy_rest(struct blockfile_scan *scan, struct blockfile_words *words)
{
    char *text = copy(scan, words->at, (size_t)(words->end - words->at));
    words->at = words->end;
    if (text && !text_unescape(text))
        blockfile_scan_damage(scan, "a broken escape");
    return text;
}

int64_t blockfile_scan_int(struct blockfile_scan *scan, struct blockfile_words *words, int64_t min, int64_t max)
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

bool blockfile_scan_is(const char *start, size_t length, const char *name)
{
    return length == strlen(name) && memcmp(start, name, length) == 0;
}

void blockfile_scan_pair(struct blockfile_scan *scan, struct blockfile_words *words, struct blockfile_pair **pairs,
                         size_t *count)
{
    struct blockfile_pair *pair = blockfile_scan_grow(scan, pairs, count, sizeof *pair);
    if (!pair)
        return;
    pair->key = copy_word(scan, words);
    pair->value = copy_rest(scan, words);
}

void blockfile_scan_once(struct blockfile_scan *scan, struct blockfile_words *words, char **slot)
{
    if (*slot)
        blockfile_scan_damage(scan, "a line that occurs twice");
    else
        *slot = copy_rest(scan, words);
}

void blockfile_scan_hint(struct blockfile_scan *scan, struct blockfile_words *words)
{
    struct blockfile_hint *hint = blockfile_scan_grow(scan, &scan->set.hints, &scan->set.hint_count, sizeof *hint);
    if (!hint)
        return;
    size_t length;
    const char *kind = blockfile_scan_word(words, &length);
    hint->used = blockfile_scan_is(kind, length, "used");
    if (!hint->used && !blockfile_scan_is(kind, length, "asked"))
        blockfile_scan_damage(scan, "a hint that is neither asked nor used");
    hint->key = copy_word(scan, words);
    hint->value = copy_rest(scan, words);
}

void blockfile_scan_time(struct blockfile_scan *scan, struct blockfile_words *words)
{
    struct blockfile_timing *timing = blockfile_scan_grow(scan, &scan->set.times, &scan->set.time_count,
                                                          sizeof *timing);
    if (!timing)
        return;
    timing->rank = (int)blockfile_scan_int(scan, words, 0, INT_MAX);
    timing->key = copy_word(scan, words);
    timing->nanoseconds = blockfile_scan_int(scan, words, INT64_MIN, INT64_MAX);
}

void blockfile_scan_series(struct blockfile_scan *scan, struct blockfile_words *words)
{
    struct blockfile_series *series = blockfile_scan_grow(scan, &scan->set.series, &scan->set.series_count,
                                                          sizeof *series);
    if (!series)
        return;
    series->rank = (int)blockfile_scan_int(scan, words, 0, INT_MAX);
    series->key = copy_word(scan, words);
    series->unit = copy_word(scan, words);
    series->count = blockfile_scan_int(scan, words, 0, INT64_MAX);
    series->offset = scan->lines.offset;
    scan->series_left = series->count;
}

void blockfile_scan_error(struct blockfile_scan *scan, struct blockfile_words *words)
{
    struct blockfile_failure *failure = blockfile_scan_grow(scan, &scan->set.errors, &scan->set.error_count,
                                                            sizeof *failure);
    if (!failure)
        return;
    failure->status = copy_word(scan, words);
    failure->rank = (int)blockfile_scan_int(scan, words, INT_MIN, INT_MAX);
    failure->text = copy_rest(scan, words);
}

void blockfile_scan_warning(struct blockfile_scan *scan, struct blockfile_words *words)
{
    char **slot = blockfile_scan_grow(scan, &scan->set.warnings, &scan->set.warning_count, sizeof *slot);
    if (slot)
        *slot = copy_rest(scan, words);
}
