#include "bench/iot/iot_spec.h"

#include "base/memory.h"
#include "base/variables.h"
#include "bench/iot/iot.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- keywords of every test ---- */

#define HINT_INT(hint_name, hint_help)                                                                                 \
    {                                                                                                                  \
        .name = hint_name, .type = OPTION_INT, .min = 1, .max = 9e15, .help = hint_help                                \
    }
#define HINT_INTS(hint_name, hint_help)                                                                                \
    {                                                                                                                  \
        .name = hint_name, .type = OPTION_INTS, .min = 1, .max = 9e15, .help = hint_help                               \
    }
#define HINT_TEXT(hint_name, hint_help)                                                                                \
    {                                                                                                                  \
        .name = hint_name, .type = OPTION_TEXT, .argument = "NAME", .help = hint_help                                  \
    }

static const struct option_row SPEC_COMMON[] = {
    {.name = "numhints",
     .type = OPTION_INT,
     .min = 1,
     .max = 1e6,
     .help = "run every set so often, with the next value of each hint that lists several"},
    {0},
};

/* Hints with names reserved by the MPI standard, accepted in every block (IOT-4). */
static const struct option_row SPEC_HINTS[] = {
    {.name = "access_style",
     .aliases = "access_type", /* the document calls it so once */
     .type = OPTION_CHOICES,
     .choices = "read_once write_once read_mostly write_mostly sequential reverse_sequential random",
     .help = "how the file will be accessed"},
    {.name = "collective_buffering",
     .type = OPTION_FLAG,
     .help = "whether collective accesses gain from collective buffering"},
    HINT_INT("cb_block_size", "bytes of a target's access in collective buffering"),
    HINT_INT("cb_buffer_size", "bytes of buffer on each target"),
    HINT_INT("cb_nodes", "number of targets"),
    HINT_INTS("chunked", "dimensions of the array in the file"),
    HINT_INTS("chunked_item", "bytes of an array entry"),
    HINT_INTS("chunked_size", "dimensions of the subarrays"),
    HINT_TEXT("file_perm", "permissions of a created file"),
    HINT_TEXT("io_node_list", "I/O devices to use"),
    HINT_INT("nb_proc", "processes that will typically access the file"),
    HINT_INT("num_io_nodes", "number of I/O devices"),
    HINT_INT("striping_factor", "I/O devices to stripe the file across"),
    HINT_INT("striping_unit", "bytes on one device before the next"),
    {0},
};

/* What opens a block or stands outside of one. */
static const char *const SPEC_FRAME[] = {"classname", "testname", "timingsfilename"};
enum { SPEC_FRAME_COUNT = sizeof SPEC_FRAME / sizeof SPEC_FRAME[0] };

static bool spec_is_hint(const struct option_row *row)
{
    return row >= SPEC_HINTS && row < SPEC_HINTS + sizeof SPEC_HINTS / sizeof SPEC_HINTS[0];
}

const struct option_row *iot_spec_keyword(const struct iot_test *test, const char *name)
{
    static const struct option_row *const everywhere[] = {SPEC_COMMON, SPEC_HINTS, NULL};
    const struct option_row *const *const lists[] = {test->keywords, everywhere};
    for (size_t i = 0; i < 2; i++)
        for (const struct option_row *const *table = lists[i]; *table; table++)
            for (const struct option_row *row = *table; row->name; row++)
                if (option_is(row, name))
                    return row;
    return NULL;
}

/* The keyword that was probably meant, or NULL. */
static const char *spec_nearest(const struct iot_test *test, const char *found)
{
    const char *names[128];
    size_t count = 0;
    for (size_t i = 0; i < SPEC_FRAME_COUNT; i++)
        names[count++] = SPEC_FRAME[i];
    for (const struct option_row *const *table = test->keywords; *table; table++)
        for (const struct option_row *row = *table; row->name; row++) {
            assert(count + sizeof SPEC_HINTS / sizeof SPEC_HINTS[0] < sizeof names / sizeof names[0]);
            names[count++] = row->name;
        }
    for (const struct option_row *row = SPEC_HINTS; row->name; row++)
        names[count++] = row->name;
    names[count] = NULL;
    return variables_nearest(found, names);
}

void iot_spec_print_keywords(const struct iot_test *test, FILE *stream)
{
    fprintf(stream, "  %s\n\nKeywords:\n", test->summary);
    for (const struct option_row *const *table = test->keywords; *table; table++)
        options_print_keywords(*table, stream);
    fputs("\nMPI hints, in every test:\n", stream);
    options_print_keywords(SPEC_COMMON, stream);
    options_print_keywords(SPEC_HINTS, stream);
    fprintf(stream, "  %-14s any other hint for MPI\n  %-14s any remark, copied into the results\n", "hint.NAME",
            "info.NAME");
}

/* ---- a spec ---- */

static void spec_clear_hint(struct iot_hint *hint)
{
    for (size_t i = 0; i < hint->count; i++)
        free(hint->values[i]);
    free(hint->values);
    free(hint->key);
}

static void spec_clear_line(struct iot_line *line)
{
    free(line->key);
    free(line->value);
}

void iot_spec_clear(struct iot_spec *spec)
{
    for (size_t b = 0; b < spec->block_count; b++) {
        struct iot_block *block = &spec->blocks[b];
        for (size_t i = 0; i < block->line_count; i++)
            spec_clear_line(&block->lines[i]);
        for (size_t i = 0; i < block->hint_count; i++)
            spec_clear_hint(&block->hints[i]);
        for (size_t i = 0; i < block->value_count; i++)
            option_value_clear(&block->values[i]);
        free(block->lines);
        free(block->hints);
        free(block->values);
    }
    free(spec->blocks);
    free(spec->path);
    free(spec->timings_path);
    *spec = (struct iot_spec){0};
}

const struct option_value *iot_spec_find(const struct iot_block *block, const char *name)
{
    for (size_t i = 0; i < block->value_count; i++)
        if (option_is(block->values[i].row, name))
            return &block->values[i];
    return NULL;
}

static const struct option_value *spec_must_find(const struct iot_block *block, const char *name)
{
    const struct option_value *value = iot_spec_find(block, name);
    assert(value && value->count > 0); /* the test's rows give it neither OPTION_REQUIRED nor a default */
    return value;
}

bool iot_spec_is_true(const struct iot_block *block, const char *name)
{
    return strcmp(spec_must_find(block, name)->text, "true") == 0;
}

double iot_spec_number(const struct iot_block *block, const char *name)
{
    return spec_must_find(block, name)->numbers[0];
}

const char *iot_spec_text(const struct iot_block *block, const char *name)
{
    return spec_must_find(block, name)->text;
}

const char *iot_spec_hint_value(const struct iot_hint *hint, size_t variant)
{
    assert(hint->count == 1 || variant < hint->count);
    return hint->values[hint->count > 1 ? variant : 0];
}

pl_status iot_spec_fail(const struct iot_spec *spec, const struct iot_block *block, const char *name,
                        struct pl_error *error, const char *format, ...)
{
    char message[PL_ERROR_TEXT_MAX / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    const struct option_value *value = iot_spec_find(block, name);
    const int line = value && value->line ? value->line : block->line;
    return pl_fail(error, PL_E_INPUT, "%s:%d: %s: %s", spec->path, line, name, message);
}

/* ---- messages ---- */

/* What is known while the file is read from top to bottom. */
struct spec_reader {
    struct iot_spec *spec;
    const struct iot_class *classes;
    const struct iot_override *overrides;
    size_t override_count;
    struct pl_error *error;
    int line;
    bool overriding;               /* an override is looked at */
    const struct iot_class *class; /* of an open block that has no test name yet */
    int class_line;
    int timings_line;   /* 0: not given yet */
    bool after_comment; /* the line before was a comment */
};

static pl_status spec_complain(struct spec_reader *reader, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static pl_status spec_complain(struct spec_reader *reader, int line, const char *format, ...)
{
    struct text safe = {0};
    char *message = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&message, format, args) < 0)
        message = NULL;
    va_end(args);
    text_add_escaped(&safe, message ? message : "not enough memory");
    if (reader->overriding)
        pl_fail(reader->error, PL_E_INPUT, "--set: %.900s", text_get(&safe));
    else
        pl_fail(reader->error, PL_E_INPUT, "%s:%d: %.900s", reader->spec->path, line, text_get(&safe));
    text_clear(&safe);
    free(message);
    return PL_E_INPUT;
}

/* What the writer of a line that makes no sense may have had in mind. */
static const char *spec_remark_on_key(const struct spec_reader *reader, const char *key, bool has_value)
{
    const size_t length = strlen(key);
    if (strchr(key, '='))
        return " (keyword and value are separated by a blank, not by '=')";
    if (length > 0 && key[length - 1] == ':')
        return " (no colon behind a keyword)";
    if (strchr("+-.0123456789", key[0]))
        return " (a list ends with its line)";
    if (!has_value && reader->after_comment)
        return " (the rest of the comment above? start it with #)";
    return "";
}

static const char *spec_remark_on_value(const char *value)
{
    return strchr(value, '#') ? " (a comment needs a line of its own)" : "";
}

static pl_status spec_unknown(struct spec_reader *reader, const struct iot_test *test, const char *key, bool has_value)
{
    struct text allowed = {0};
    const char *near = spec_nearest(test, key);
    if (near)
        text_format(&allowed, "did you mean '%s'? ", near);
    text_add(&allowed, "allowed: ");
    for (const struct option_row *const *table = test->keywords; *table; table++)
        for (const struct option_row *row = *table; row->name; row++)
            text_format(&allowed, "%s, ", row->name);
    text_add(&allowed, "the MPI hints, hint.NAME, info.NAME");
    spec_complain(reader, reader->line, "%.80s: not a keyword of test '%s'%s; %s", key, test->name,
                  spec_remark_on_key(reader, key, has_value), text_get(&allowed));
    text_clear(&allowed);
    return PL_E_INPUT;
}

/* A line outside of blocks that is none of `allowed`. Where a remark tells what is wrong, a suggestion says no more. */
static pl_status spec_misplaced(struct spec_reader *reader, const char *where, const char *const *allowed,
                                const char *key, bool has_value)
{
    struct text text = {0};
    const char *remark = spec_remark_on_key(reader, key, has_value);
    const char *near = *remark ? NULL : variables_nearest(key, allowed);
    assert(allowed[0]);
    if (near)
        text_format(&text, "did you mean '%s'? ", near);
    for (size_t i = 0; allowed[i]; i++)
        text_format(&text, "%s%s", i == 0 ? "allowed: " : ", ", allowed[i]);
    spec_complain(reader, reader->line, "%.80s: stands %s%s; %s", key, where, remark, text_get(&text));
    text_clear(&text);
    return PL_E_INPUT;
}

/* "KEYWORD: FOUND; allowed: …"; `found` is cleared. */
static pl_status spec_bad_value(struct spec_reader *reader, int line, const struct option_row *row, const char *remark,
                                struct text *found)
{
    struct text allowed = {0};
    option_allowed(row, &allowed);
    spec_complain(reader, line, "%s: %s%s; allowed: %s", row->name, text_get(found), remark, text_get(&allowed));
    text_clear(&allowed);
    text_clear(found);
    return PL_E_INPUT;
}

/* ---- one line of a block ---- */

static bool spec_has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* `hint.NAME` and `info.NAME`: any name is allowed. */
static bool spec_is_free(const char *key)
{
    return spec_has_prefix(key, "hint.") || spec_has_prefix(key, "info.");
}

/* Does the line give this keyword, in either spelling? `row` NULL: by its key. */
static bool spec_line_is(const struct iot_line *line, const char *key, const struct option_row *row)
{
    return row ? option_is(row, line->key) : strcmp(line->key, key) == 0;
}

static pl_status spec_check_once(struct spec_reader *reader, const struct iot_block *block, const char *key,
                                 const struct option_row *row)
{
    for (size_t i = 0; i < block->line_count; i++)
        if (spec_line_is(&block->lines[i], key, row))
            return spec_complain(reader, reader->line, "%s: given twice, first in line %d; allowed: once in a block",
                                 row ? row->name : key, block->lines[i].line);
    return PL_OK;
}

static pl_status spec_check_free(struct spec_reader *reader, const char *key, const char *value)
{
    if (!strchr(key, '.')[1])
        return spec_complain(reader, reader->line, "%s: no name behind the dot; allowed: %sNAME value", key, key);
    if (!*value)
        return spec_complain(reader, reader->line, "%s: has no value; allowed: any text", key);
    return PL_OK;
}

static pl_status spec_take_value(struct spec_reader *reader, struct iot_block *block, const struct option_row *row,
                                 const char *text, int line)
{
    struct option_value value;
    struct text found = {0};
    if (spec_is_hint(row)) /* looked at when the block is whole: numhints may follow */
        return PL_OK;
    if (option_value_parse(row, text, &value, &found) != PL_OK) {
        option_value_clear(&value);
        return spec_bad_value(reader, reader->line, row, row->type == OPTION_TEXT ? "" : spec_remark_on_value(text),
                              &found);
    }
    value.line = line;
    block->values = memory_grow(block->values, block->value_count, sizeof *block->values);
    block->values[block->value_count++] = value;
    return PL_OK;
}

static pl_status spec_take_keyword(struct spec_reader *reader, struct iot_block *block, const char *key,
                                   const char *value)
{
    const struct option_row *row = spec_is_free(key) ? NULL : iot_spec_keyword(block->test, key);
    const int line = reader->overriding ? 0 : reader->line;
    if (!row && !spec_is_free(key))
        return spec_unknown(reader, block->test, key, *value != '\0');
    pl_status status = spec_check_once(reader, block, key, row);
    if (status == PL_OK)
        status = row ? spec_take_value(reader, block, row, value, line) : spec_check_free(reader, key, value);
    if (status != PL_OK)
        return status;
    block->lines = memory_grow(block->lines, block->line_count, sizeof *block->lines);
    block->lines[block->line_count++] = (struct iot_line){memory_copy(key), memory_copy(value), line};
    return PL_OK;
}

/* ---- overrides ---- */

/* Forgets a keyword that the block gives, in either spelling. */
static void spec_drop(struct iot_block *block, const char *key, const struct option_row *row)
{
    for (size_t i = block->line_count; i-- > 0;)
        if (spec_line_is(&block->lines[i], key, row)) {
            spec_clear_line(&block->lines[i]);
            memmove(&block->lines[i], &block->lines[i + 1], (--block->line_count - i) * sizeof block->lines[0]);
        }
    for (size_t i = block->value_count; i-- > 0;)
        if (block->values[i].row == row) {
            option_value_clear(&block->values[i]);
            memmove(&block->values[i], &block->values[i + 1], (--block->value_count - i) * sizeof block->values[0]);
        }
}

static pl_status spec_override(struct spec_reader *reader, struct iot_block *block)
{
    pl_status status = PL_OK;
    for (size_t i = 0; i < reader->override_count && status == PL_OK; i++) {
        const struct iot_override *override = &reader->overrides[i];
        const struct option_row *row = spec_is_free(override->key) ? NULL
                                                                   : iot_spec_keyword(block->test, override->key);
        if (!row && !spec_is_free(override->key))
            continue; /* meant for other tests of the file; spec_check_overrides() wants one that knows it */
        spec_drop(block, override->key, row);
        reader->overriding = true;
        status = spec_take_keyword(reader, block, override->key, override->value);
        reader->overriding = false;
    }
    return status;
}

/* ---- hints, once the block is whole: with `numhints N` a hint may list N values, one for each variant ---- */

static void spec_add_hint_value(struct iot_hint *hint, const char *text)
{
    hint->values = memory_grow(hint->values, hint->count, sizeof *hint->values);
    hint->values[hint->count++] = memory_copy(text);
}

/* One value: looked at if the name is a reserved one, taken as it is if not. MPI wants lists with commas, whatever
 * separated them in the file. */
static pl_status spec_hint_one(struct iot_hint *hint, const struct option_row *row, const char *text,
                               struct text *found)
{
    const bool list = row && (row->type == OPTION_INTS || row->type == OPTION_CHOICES);
    struct text joined = {0};
    struct option_value value = {0};
    bool between = false;
    const pl_status status = row ? option_value_parse(row, text, &value, found) : PL_OK;
    for (const char *c = text; *c; c++) {
        const bool separates = list && strchr(" \t,", *c);
        if (!separates && between && joined.length)
            text_add(&joined, ",");
        if (!separates)
            text_append(&joined, c, 1);
        between = separates;
    }
    if (status == PL_OK)
        spec_add_hint_value(hint, text_get(&joined));
    option_value_clear(&value);
    text_clear(&joined);
    return status;
}

/* PL_E_FORMAT: `found` is the whole message. */
static pl_status spec_hint_variants(struct iot_hint *hint, const struct option_row *row, const char *text,
                                    size_t variants, struct text *found)
{
    char *copy = memory_copy(text), *rest = NULL;
    pl_status status = PL_OK;
    for (char *word = strtok_r(copy, " \t", &rest); word && status == PL_OK && hint->count < variants;
         word = strtok_r(NULL, " \t", &rest)) {
        for (size_t length = strlen(word); row && length && word[length - 1] == ',';) /* "1, 2": of no value */
            word[--length] = '\0';
        status = spec_hint_one(hint, row, word, found);
    }
    free(copy);
    if (status == PL_OK && hint->count != 1 && hint->count < variants) {
        text_format(found, "the list holds %zu values, but numhints is %zu; allowed: one value, or %zu", hint->count,
                    variants, variants);
        status = PL_E_FORMAT;
    }
    return status;
}

static pl_status spec_take_hint(struct spec_reader *reader, struct iot_block *block, const struct iot_line *line)
{
    const bool named = spec_has_prefix(line->key, "hint.");
    const struct option_row *row = named ? NULL : iot_spec_keyword(block->test, line->key);
    if (!named && !(row && spec_is_hint(row)))
        return PL_OK;
    const char *name = named ? line->key + strlen("hint.") : row->name;
    for (size_t i = 0; i < block->hint_count; i++)
        if (strcmp(block->hints[i].key, name) == 0)
            return spec_complain(reader, line->line, "%s: given twice, first in line %d; allowed: once in a block",
                                 line->key, block->hints[i].line);
    block->hints = memory_grow(block->hints, block->hint_count, sizeof *block->hints);
    struct iot_hint *hint = &block->hints[block->hint_count++];
    struct text found = {0};
    *hint = (struct iot_hint){.key = memory_copy(name), .line = line->line};
    const pl_status status = block->hint_variants > 1
                                 ? spec_hint_variants(hint, row, line->value, block->hint_variants, &found)
                                 : spec_hint_one(hint, row, line->value, &found);
    if (status == PL_OK)
        return PL_OK;
    reader->overriding = line->line == 0;
    if (row && status != PL_E_FORMAT)
        return spec_bad_value(reader, line->line, row,
                              row->type == OPTION_TEXT ? "" : spec_remark_on_value(line->value), &found);
    spec_complain(reader, line->line, "%s: %s", line->key, text_get(&found));
    text_clear(&found);
    return PL_E_INPUT;
}

/* ---- blocks ---- */

static bool spec_is_named(const char *name, const char *also, const char *value)
{
    return strcmp(name, value) == 0 || (also && strcmp(also, value) == 0);
}

static pl_status spec_take_default(struct spec_reader *reader, struct iot_block *block, const struct option_row *row)
{
    for (size_t i = 0; i < block->value_count; i++)
        if (block->values[i].row == row)
            return PL_OK;
    if (row->initial)
        return spec_take_value(reader, block, row, row->initial, 0);
    if (!(row->flags & OPTION_REQUIRED))
        return PL_OK;
    struct text missing = {0};
    text_format(&missing, "missing in this block of test '%s'", block->test->name);
    return spec_bad_value(reader, block->line, row, "", &missing);
}

/* The block is whole: overrides, then hints, then what is missing. */
static pl_status spec_finish_block(struct spec_reader *reader)
{
    if (reader->class)
        return spec_complain(reader, reader->class_line,
                             "classname: no testname follows; allowed: testname in the next line");
    if (reader->spec->block_count == 0)
        return PL_OK;
    struct iot_block *block = &reader->spec->blocks[reader->spec->block_count - 1];
    pl_status status = spec_override(reader, block);
    const struct option_value *variants = iot_spec_find(block, "numhints");
    block->hint_variants = variants ? (size_t)variants->integers[0] : 1;
    for (size_t i = 0; i < block->line_count && status == PL_OK; i++)
        status = spec_take_hint(reader, block, &block->lines[i]);
    for (const struct option_row *const *table = block->test->keywords; *table && status == PL_OK; table++)
        for (const struct option_row *row = *table; row->name && status == PL_OK; row++)
            status = spec_take_default(reader, block, row);
    return status;
}

static pl_status spec_take_class(struct spec_reader *reader, const char *value)
{
    pl_status status = spec_finish_block(reader);
    if (status != PL_OK)
        return status;
    struct text allowed = {0};
    for (const struct iot_class *class = reader->classes; class->name; class ++) {
        if (strcasecmp(class->name, value) == 0 || (class->also && strcasecmp(class->also, value) == 0)) {
            reader->class = class;
            reader->class_line = reader->line;
            text_clear(&allowed);
            return PL_OK;
        }
        text_format(&allowed, "%s%s", allowed.length ? ", " : "", class->name);
        if (class->also)
            text_format(&allowed, ", %s", class->also);
    }
    if (*value)
        spec_complain(reader, reader->line, "classname: '%.80s' is not a class%s; allowed: %s", value,
                      spec_remark_on_value(value), text_get(&allowed));
    else
        spec_complain(reader, reader->line, "classname: has no value; allowed: %s", text_get(&allowed));
    text_clear(&allowed);
    return PL_E_INPUT;
}

static void spec_open_block(struct spec_reader *reader, const struct iot_test *test)
{
    struct iot_spec *spec = reader->spec;
    spec->blocks = memory_grow(spec->blocks, spec->block_count, sizeof *spec->blocks);
    spec->blocks[spec->block_count++] = (struct iot_block){
        .line = reader->line, .class_name = reader->class->name, .test = test};
    reader->class = NULL;
}

static pl_status spec_take_test(struct spec_reader *reader, const char *value)
{
    if (!reader->class)
        return spec_complain(reader, reader->line,
                             "testname: stands without a class; allowed: right behind a classname line");
    struct text allowed = {0};
    for (const struct iot_test *const *test = reader->class->tests; *test; test++) {
        if (spec_is_named((*test)->name, (*test)->also, value)) {
            text_clear(&allowed);
            spec_open_block(reader, *test);
            return PL_OK;
        }
        text_format(&allowed, "%s%s", allowed.length ? ", " : "", (*test)->name);
    }
    if (*value)
        spec_complain(reader, reader->line, "testname: '%.80s' is not a test of class %s%s; allowed: %s", value,
                      reader->class->name, spec_remark_on_value(value), text_get(&allowed));
    else
        spec_complain(reader, reader->line, "testname: has no value; allowed: %s", text_get(&allowed));
    text_clear(&allowed);
    return PL_E_INPUT;
}

static pl_status spec_take_timings(struct spec_reader *reader, const char *value)
{
    if (reader->timings_line)
        return spec_complain(reader, reader->line,
                             "timingsfilename: given twice, first in line %d; allowed: once in a file",
                             reader->timings_line);
    if (!*value)
        return spec_complain(reader, reader->line, "timingsfilename: has no value; allowed: a name");
    if (strcmp(value, reader->spec->path) == 0)
        return spec_complain(reader, reader->line, "timingsfilename: '%s' is this keyword file; allowed: another file",
                             value);
    reader->timings_line = reader->line;
    free(reader->spec->timings_path);
    reader->spec->timings_path = memory_copy(value);
    return PL_OK;
}

static pl_status spec_take_line(struct spec_reader *reader, const char *key, const char *value)
{
    if (strcmp(key, "timingsfilename") == 0)
        return spec_take_timings(reader, value);
    if (strcmp(key, "classname") == 0 || strcmp(key, "class") == 0)
        return spec_take_class(reader, value);
    if (strcmp(key, "testname") == 0)
        return spec_take_test(reader, value);
    if (reader->class)
        return spec_misplaced(reader, "between classname and testname", (const char *const[]){"testname", NULL}, key,
                              *value != '\0');
    if (reader->spec->block_count == 0)
        return spec_misplaced(reader, "before the first block",
                              (const char *const[]){"classname", "timingsfilename", NULL}, key, *value != '\0');
    return spec_take_keyword(reader, &reader->spec->blocks[reader->spec->block_count - 1], key, value);
}

/* ---- the file ---- */

static const char SPEC_BLANKS[] = " \t\r\f\v";

/* Cuts blanks off both ends, splits at the first run of blanks. Returns false for empty and comment lines. */
static bool spec_split(char *line, char **ret_key, char **ret_value)
{
    size_t length = strlen(line);
    while (length && strchr(SPEC_BLANKS, line[length - 1]))
        line[--length] = '\0';
    line += strspn(line, SPEC_BLANKS);
    if (*line == '\0' || *line == '#' || *line == '%')
        return false;
    *ret_key = line;
    line += strcspn(line, SPEC_BLANKS);
    if (*line)
        *line++ = '\0';
    *ret_value = line + strspn(line, SPEC_BLANKS);
    return true;
}

static pl_status spec_read(struct spec_reader *reader, char *text)
{
    pl_status status = PL_OK;
    for (char *line = text; line && status == PL_OK;) {
        char *next = strchr(line, '\n'), *key, *value;
        if (next)
            *next++ = '\0';
        reader->line++;
        if (spec_split(line, &key, &value)) {
            status = spec_take_line(reader, key, value);
            reader->after_comment = false;
        } else {
            reader->after_comment = line[strspn(line, SPEC_BLANKS)] != '\0';
        }
        line = next && *next ? next : NULL; /* what follows the last line end is no line */
    }
    if (status == PL_OK)
        status = spec_finish_block(reader);
    if (status == PL_OK && reader->spec->block_count == 0)
        status = spec_complain(reader, reader->line, "no test in this file; allowed: blocks that begin with classname");
    return status;
}

/* What an override says about the file as a whole; and one that no test of the file knows is a misspelling. */
static pl_status spec_check_overrides(struct spec_reader *reader)
{
    const struct iot_spec *spec = reader->spec;
    reader->overriding = true;
    for (size_t i = 0; i < reader->override_count; i++) {
        const char *key = reader->overrides[i].key;
        if (strcmp(key, "timingsfilename") == 0) {
            reader->timings_line = 0; /* the file's own is replaced */
            if (spec_take_timings(reader, reader->overrides[i].value) != PL_OK)
                return PL_E_INPUT;
            continue;
        }
        if (strcmp(key, "classname") == 0 || strcmp(key, "class") == 0 || strcmp(key, "testname") == 0)
            return spec_complain(reader, 0, "%s: opens a block; allowed: keywords inside a block, timingsfilename",
                                 key);
        bool known = spec_is_free(key);
        for (size_t b = 0; b < spec->block_count && !known; b++)
            known = iot_spec_keyword(spec->blocks[b].test, key) != NULL;
        if (!known)
            return spec_unknown(reader, spec->blocks[0].test, key, true);
    }
    return PL_OK;
}

static int spec_line_at(const char *text, const char *place)
{
    int line = 1;
    for (; text < place; text++)
        line += *text == '\n';
    return line;
}

pl_status iot_spec_parse(const char *path, const char *text, size_t length, const struct iot_class *classes,
                         const struct iot_override *overrides, size_t override_count, struct iot_spec *ret_spec,
                         struct pl_error *error)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    *ret_spec = (struct iot_spec){.path = memory_copy(path), .timings_path = memory_copy("all.out")};
    struct spec_reader reader = {
        .spec = ret_spec, .classes = classes, .overrides = overrides, .override_count = override_count, .error = error};
    char *copy = memory_new(length + 1, 1);
    pl_status status;
    memcpy(copy, text, length);
    if (memchr(copy, '\0', length))
        status = spec_complain(&reader, spec_line_at(copy, memchr(copy, '\0', length)),
                               "holds a zero byte; allowed: text");
    else
        status = spec_read(&reader, copy + (spec_has_prefix(copy, byte_order_mark) ? 3 : 0));
    if (status == PL_OK)
        status = spec_check_overrides(&reader);
    free(copy);
    if (status != PL_OK)
        iot_spec_clear(ret_spec);
    assert(status != PL_OK || ret_spec->block_count > 0);
    return status;
}
