/* The scan of a block file: one pass over its lines that keeps what is whole and says what is not. */
#include "base/blockfile_scan.h"
#include "base/checksum.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { MAJOR_VERSION = 1 };

static const char OPENING[] = "piolet-block";

/* ---- records ---- */

static void begin_record(struct blockfile_scan *scan, enum blockfile_place place, int64_t line)
{
    XXH64_reset(scan->hash, 0);
    scan->record_start = line;
    scan->record_lines = 0;
    scan->damage[0] = '\0';
    scan->series_left = 0;
    scan->place = place;
}

static void count_line(struct blockfile_scan *scan)
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
static bool record_is_whole(struct blockfile_scan *scan, struct blockfile_words words, char *ret_why, size_t why_size)
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

static void lose_set(struct blockfile_scan *scan, const char *why)
{
    blockfile_scan_warn(scan, scan->record_start, "a set is left out: %s", why);
    blockfile_scan_clear_set(&scan->set);
    scan->set_lost = true;
    scan->place = BETWEEN;
}

static void keep_block(struct blockfile_scan *scan, bool complete)
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
static void abandon_block(struct blockfile_scan *scan)
{
    if (scan->place == SET)
        lose_set(scan, "it is not finished");
    if (scan->place == BETWEEN) {
        blockfile_scan_warn(scan, scan->block.line, "the block is not finished: its %zu complete sets are kept",
                            scan->block.set_count);
        keep_block(scan, false);
    } else if (scan->place == HEAD) {
        blockfile_scan_warn(scan, scan->block.line, "a block is left out: its head is not finished");
    }
    blockfile_scan_clear_block(&scan->block);
    scan->place = OUTSIDE;
}

static void report_strays(struct blockfile_scan *scan)
{
    if (scan->stray_lines)
        blockfile_scan_warn(scan, scan->stray_start, "%" PRId64 " line(s) that belong to no block or set",
                            scan->stray_lines);
    scan->stray_lines = 0;
}

static void stray(struct blockfile_scan *scan)
{
    if (scan->line.length == 0 && !scan->line.overlong)
        return; /* blank lines between blocks do no harm */
    if (scan->stray_lines++ == 0)
        scan->stray_start = scan->line.number;
}

/* ---- lines of each place ---- */

static void open_block(struct blockfile_scan *scan, const char *rest, const char *end)
{
    report_strays(scan);
    abandon_block(scan);
    scan->set_lost = false;
    scan->block.line = scan->line.number;
    int64_t version = -1;
    const char *cursor = rest + 1;
    if (rest < end && *rest == ' ' && blockfile_number(&cursor, end, &version) && cursor == end &&
        version == MAJOR_VERSION) {
        begin_record(scan, HEAD, scan->line.number + 1);
        return;
    }
    blockfile_scan_warn(scan, scan->line.number,
                        "a block is left out: its version is not %d, the one that this program knows", MAJOR_VERSION);
    scan->place = PASSED;
}

static void end_head(struct blockfile_scan *scan, struct blockfile_words words)
{
    char why[BLOCKFILE_DAMAGE_MAX + 64];
    if (!scan->block.id || !scan->block.class_name || !scan->block.testname)
        blockfile_scan_damage(scan, "id, class or testname is missing");
    if (record_is_whole(scan, words, why, sizeof why)) {
        scan->place = BETWEEN;
        return;
    }
    blockfile_scan_warn(scan, scan->block.line, "a block is left out, its head is damaged: %s", why);
    blockfile_scan_clear_block(&scan->block);
    scan->place = PASSED;
}

static void head_line(struct blockfile_scan *scan, const char *name, size_t length, struct blockfile_words words)
{
    struct blockfile_block *block = &scan->block;
    if (blockfile_scan_is(name, length, "end-head")) {
        end_head(scan, words);
        return;
    }
    count_line(scan);
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

static void begin_set(struct blockfile_scan *scan, struct blockfile_words words)
{
    begin_record(scan, SET, scan->line.number);
    count_line(scan);
    scan->set.number = blockfile_scan_int(scan, &words, 1, INT64_MAX);
}

static void end_set(struct blockfile_scan *scan, struct blockfile_words words)
{
    struct blockfile_block *block = &scan->block;
    char why[BLOCKFILE_DAMAGE_MAX + 64];
    if (!record_is_whole(scan, words, why, sizeof why)) {
        lose_set(scan, why);
        return;
    }
    if (block->set_count && block->sets[block->set_count - 1].number >= scan->set.number) {
        lose_set(scan, "its number does not grow");
        return;
    }
    scan->place = BETWEEN;
    struct blockfile_set *slot = blockfile_scan_grow(scan, &block->sets, &block->set_count, sizeof *slot);
    if (!slot)
        return;
    *slot = scan->set;
    scan->set = (struct blockfile_set){0};
}

static void between_line(struct blockfile_scan *scan, const char *name, size_t length, struct blockfile_words words);

static void set_line(struct blockfile_scan *scan, const char *name, size_t length, struct blockfile_words words)
{
    if (scan->series_left) {
        blockfile_scan_damage(scan, "a series has fewer numbers than it says");
        scan->series_left = 0;
    }
    if (blockfile_scan_is(name, length, "end-set")) {
        end_set(scan, words);
        return;
    }
    /* id, end-head: the opening line of another block was glued to a killed run's half line. */
    if (blockfile_scan_is(name, length, "set") || blockfile_scan_is(name, length, "end-block") ||
        blockfile_scan_is(name, length, "id") || blockfile_scan_is(name, length, "end-head")) {
        lose_set(scan, "it is not finished");
        between_line(scan, name, length, words);
        return;
    }
    count_line(scan);
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

static void end_block(struct blockfile_scan *scan, struct blockfile_words words)
{
    const char *cursor = words.at;
    int64_t sets = -1;
    const bool right = blockfile_number(&cursor, words.end, &sets) && cursor == words.end &&
                       sets == (int64_t)scan->block.set_count;
    if (!right && !scan->set_lost)
        blockfile_scan_warn(scan, scan->line.number, "the block has not as many sets as its last line says");
    keep_block(scan, right);
    blockfile_scan_clear_block(&scan->block);
    scan->place = OUTSIDE;
}

static void between_line(struct blockfile_scan *scan, const char *name, size_t length, struct blockfile_words words)
{
    if (blockfile_scan_is(name, length, "set")) {
        report_strays(scan);
        begin_set(scan, words);
    } else if (blockfile_scan_is(name, length, "end-block")) {
        report_strays(scan);
        end_block(scan, words);
    } else {
        /* Lines of a head here mean that the opening line of another block was lost: its sets are not ours. */
        if (blockfile_scan_is(name, length, "id") || blockfile_scan_is(name, length, "end-head"))
            abandon_block(scan);
        else if (blockfile_scan_is(name, length, "end-set"))
            scan->set_lost = true;
        stray(scan);
    }
}

static bool opens_block(const char *bytes, size_t length)
{
    return length >= sizeof OPENING - 1 && memcmp(bytes, OPENING, sizeof OPENING - 1) == 0;
}

/* A line of numbers; a killed run's half line may have another file's opening line glued to it by cat. */
static void number_line(struct blockfile_scan *scan)
{
    const char *cursor = scan->line.bytes;
    const char *const end = cursor + scan->line.length;
    int64_t value;
    count_line(scan);
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
    if (opens_block(cursor, (size_t)(end - cursor)))
        open_block(scan, cursor + sizeof OPENING - 1, end);
    else
        blockfile_scan_damage(scan, "not a number");
}

static void scan_line(struct blockfile_scan *scan)
{
    const char *bytes = scan->line.bytes;
    const char *const end = bytes + scan->line.length;
    if (scan->place == SET && scan->series_left && bytes < end && (*bytes == '-' || (*bytes >= '0' && *bytes <= '9'))) {
        number_line(scan);
        return;
    }
    if (opens_block(bytes, scan->line.length)) {
        open_block(scan, bytes + sizeof OPENING - 1, end);
        return;
    }
    struct blockfile_words words = {bytes, end};
    size_t length;
    const char *name = blockfile_scan_word(&words, &length);
    switch (scan->place) {
    case OUTSIDE:
        stray(scan);
        break;
    case PASSED:
        break;
    case HEAD:
        head_line(scan, name, length, words);
        break;
    case BETWEEN:
        between_line(scan, name, length, words);
        break;
    case SET:
        set_line(scan, name, length, words);
        break;
    }
}

/* ---- the whole file ---- */

static void finish_scan(struct blockfile_scan *scan)
{
    report_strays(scan);
    abandon_block(scan);
    if (scan->more_warnings) {
        free(scan->file->warnings[BLOCKFILE_WARNINGS_MAX - 1]);
        if (asprintf(&scan->file->warnings[BLOCKFILE_WARNINGS_MAX - 1], "%s:%" PRId64 ": and %zu more",
                     scan->file->path, scan->lines.number, scan->more_warnings + 1) < 0) {
            scan->file->warnings[BLOCKFILE_WARNINGS_MAX - 1] = NULL;
            scan->no_memory = true;
        }
    }
}

pl_status blockfile_scan_file(struct blockfile *file, struct pl_error *error)
{
    XXH64_state_t hash;
    struct blockfile_scan scan = {.file = file, .place = OUTSIDE, .hash = &hash};
    if (!blockfile_lines_init(&scan.lines, fileno(file->stream), 0))
        return pl_fail_errno(error, ENOMEM, "reading '%s'", file->path);
    while (!scan.no_memory && blockfile_lines_next(&scan.lines, &scan.line))
        scan_line(&scan);
    finish_scan(&scan);
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
