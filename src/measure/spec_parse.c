#include "base/text.h"
#include "measure/spec.h"
#include "measure/spec_value.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the parser knows while it walks down the file. */
struct parser {
    struct spec *spec;
    const struct spec_test *const *tests;
    const struct spec_override *overrides;
    size_t override_count;
    struct pl_error *error;
    int line;
    const char *place;      /* "--set" while an override is looked at, else NULL */
    const char *class_name; /* of an open block that has no test name yet */
    int class_line;
    int timings_line;   /* 0: not given yet */
    bool after_comment; /* the line before was a comment */
};

/* ---- messages ---- */

static pl_status complain(struct parser *parser, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static pl_status complain(struct parser *parser, int line, const char *format, ...)
{
    char *words = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&words, format, args) < 0)
        words = NULL;
    va_end(args);
    struct text safe = {0};
    text_add_escaped(&safe, words ? words : "not enough memory");
    if (parser->place)
        pl_fail(parser->error, PL_E_INPUT, "%s: %.900s", parser->place, text_get(&safe));
    else
        pl_fail(parser->error, PL_E_INPUT, "%s:%d: %.900s", parser->spec->path, line, text_get(&safe));
    text_clear(&safe);
    free(words);
    return PL_E_INPUT;
}

static pl_status no_memory(struct parser *parser)
{
    return pl_fail(parser->error, PL_E_NOMEM, "not enough memory to read '%s'", parser->spec->path);
}

/* ---- growing lists ---- */

static void *grow(void *list, size_t count, size_t size)
{
    if (count & (count - 1)) /* capacity is the next power of two */
        return list;
    return realloc(list, (count ? 2 * count : 1) * size);
}

static pl_status add_line(struct spec_line **list, size_t *count, const char *key, const char *value, int line)
{
    struct spec_line *grown = grow(*list, *count, sizeof **list);
    if (!grown)
        return PL_E_NOMEM;
    *list = grown;
    grown[*count] = (struct spec_line){.key = text_dup(key), .value = text_dup(value), .line = line};
    if (!grown[*count].key || !grown[*count].value)
        return PL_E_NOMEM;
    ++*count;
    return PL_OK;
}

static pl_status add_value(struct spec_block *block, struct spec_value value)
{
    struct spec_value *grown = grow(block->values, block->value_count, sizeof *grown);
    if (!grown)
        return PL_E_NOMEM;
    block->values = grown;
    grown[block->value_count++] = value;
    return PL_OK;
}

/* What the writer of a line that makes no sense may have had in mind. */
static const char *remark_on_key(const struct parser *parser, const char *key, bool has_value)
{
    const size_t length = strlen(key);
    if (strchr(key, '='))
        return " (keyword and value are separated by a blank, not by '=')";
    if (length > 0 && key[length - 1] == ':')
        return " (no colon behind a keyword)";
    if (strchr("+-.0123456789", key[0]))
        return " (a list ends with its line)";
    if (!has_value && parser->after_comment)
        return " (the rest of the comment above? start it with #)";
    return "";
}

static const char *remark_on_value(const char *value)
{
    return strchr(value, '#') ? " (a comment needs a line of its own)" : "";
}

static pl_status unknown_keyword(struct parser *parser, const struct spec_test *test, const char *key, bool has_value)
{
    struct text allowed = {0};
    const char *near = spec_keyword_nearest(test, key);
    if (near)
        text_format(&allowed, "did you mean '%s'? ", near);
    text_add(&allowed, "allowed: ");
    for (const struct spec_keyword *const *table = test->keywords; *table; table++)
        for (const struct spec_keyword *keyword = *table; keyword->name; keyword++)
            text_format(&allowed, "%s, ", keyword->name);
    text_add(&allowed, "the MPI hints, hint.NAME, info.NAME");
    complain(parser, parser->line, "%.80s: not a keyword of test '%s'%s; %s", key, test->name,
             remark_on_key(parser, key, has_value), text_get(&allowed));
    text_clear(&allowed);
    return PL_E_INPUT;
}

/* ---- one line of a block ---- */

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static int line_of(const struct spec_block *block, const char *name)
{
    for (size_t i = 0; i < block->line_count; i++)
        if (strcmp(block->lines[i].key, name) == 0)
            return block->lines[i].line;
    return 0;
}

static pl_status check_duplicate(struct parser *parser, const struct spec_block *block, const char *key,
                                 const char *alias)
{
    const char *other = line_of(block, key) ? key : alias && line_of(block, alias) ? alias : NULL;
    if (!other)
        return PL_OK;
    return complain(parser, parser->line, "%s: given twice, first in line %d; allowed: once in a block", key,
                    line_of(block, other));
}

/* `hint.NAME value` and `info.NAME value`: any name is allowed. */
static pl_status check_free_key(struct parser *parser, const char *key, const char *value)
{
    const char *name = strchr(key, '.') + 1;
    if (!*name)
        return complain(parser, parser->line, "%s: no name behind the dot; allowed: %sNAME value", key, key);
    if (!*value)
        return complain(parser, parser->line, "%s: has no value; allowed: any text", key);
    return PL_OK;
}

static pl_status bad_value(struct parser *parser, int line, const struct spec_keyword *keyword, const char *text,
                           struct text *found)
{
    struct text allowed = {0};
    spec_value_allowed(keyword, &allowed);
    complain(parser, line, "%s: %s%s; allowed: %s", keyword->name, text_get(found),
             keyword->type == SPEC_STRING ? "" : remark_on_value(text), text_get(&allowed));
    text_clear(&allowed);
    text_clear(found);
    return PL_E_INPUT;
}

static pl_status take_value(struct parser *parser, struct spec_block *block, const struct spec_keyword *keyword,
                            const char *text, int line)
{
    struct spec_value value;
    struct text found = {0};
    if (keyword->hint) /* looked at when the block is whole: numhints may follow */
        return PL_OK;
    if (spec_value_parse(keyword, text, &value, &found) != PL_OK) {
        spec_value_clear(&value);
        return bad_value(parser, parser->line, keyword, text, &found);
    }
    text_clear(&found);
    value.line = line;
    if (add_value(block, value) == PL_OK)
        return PL_OK;
    spec_value_clear(&value);
    return no_memory(parser);
}

static pl_status take_keyword(struct parser *parser, struct spec_block *block, const char *key, const char *value)
{
    const bool free_key = has_prefix(key, "hint.") || has_prefix(key, "info.");
    const struct spec_keyword *keyword = free_key ? NULL : spec_keyword_find(block->test, key);
    if (!free_key && !keyword)
        return unknown_keyword(parser, block->test, key, *value != '\0');
    pl_status status = check_duplicate(parser, block, keyword ? keyword->name : key, keyword ? keyword->alias : NULL);
    if (status == PL_OK)
        status = free_key ? check_free_key(parser, key, value)
                          : take_value(parser, block, keyword, value, parser->place ? 0 : parser->line);
    const int line = parser->place ? 0 : parser->line;
    if (status == PL_OK && add_line(&block->lines, &block->line_count, key, value, line) != PL_OK)
        status = no_memory(parser);
    return status;
}

/* ---- blocks ---- */

static pl_status missing_keyword(struct parser *parser, const struct spec_block *block,
                                 const struct spec_keyword *keyword)
{
    struct text allowed = {0};
    spec_value_allowed(keyword, &allowed);
    complain(parser, block->line, "%s: missing in this block of test '%s'; allowed: %s", keyword->name,
             block->test->name, text_get(&allowed));
    text_clear(&allowed);
    return PL_E_INPUT;
}

static void remove_line(struct spec_line *lines, size_t *count, size_t index)
{
    free(lines[index].key);
    free(lines[index].value);
    memmove(&lines[index], &lines[index + 1], (--*count - index) * sizeof lines[0]);
}

static void remove_named(struct spec_line *lines, size_t *count, const char *name)
{
    for (size_t i = *count; i-- > 0;)
        if (name && strcmp(lines[i].key, name) == 0)
            remove_line(lines, count, i);
}

/* Forgets a keyword that the block gives, in either spelling. */
static void drop_given(struct spec_block *block, const char *key, const struct spec_keyword *keyword)
{
    remove_named(block->lines, &block->line_count, keyword ? keyword->name : key);
    remove_named(block->lines, &block->line_count, keyword ? keyword->alias : NULL);
    for (size_t i = block->value_count; i-- > 0;)
        if (block->values[i].keyword == keyword) {
            spec_value_clear(&block->values[i]);
            memmove(&block->values[i], &block->values[i + 1], (--block->value_count - i) * sizeof block->values[0]);
        }
}

static pl_status apply_overrides(struct parser *parser, struct spec_block *block)
{
    pl_status status = PL_OK;
    for (size_t i = 0; i < parser->override_count && status == PL_OK; i++) {
        const struct spec_override *override = &parser->overrides[i];
        const bool free_key = has_prefix(override->key, "hint.") || has_prefix(override->key, "info.");
        const struct spec_keyword *keyword = free_key ? NULL : spec_keyword_find(block->test, override->key);
        if (!free_key && !keyword)
            continue; /* meant for other tests of the file; check_overrides() wants one that knows it */
        drop_given(block, override->key, keyword);
        parser->place = "--set";
        status = take_keyword(parser, block, override->key, override->value);
        parser->place = NULL;
    }
    return status;
}

static pl_status take_default(struct parser *parser, struct spec_block *block, const struct spec_keyword *keyword)
{
    for (size_t i = 0; i < block->value_count; i++)
        if (block->values[i].keyword == keyword)
            return PL_OK;
    if (keyword->default_text)
        return take_value(parser, block, keyword, keyword->default_text, 0);
    return keyword->required ? missing_keyword(parser, block, keyword) : PL_OK;
}

static pl_status take_hint(struct parser *parser, struct spec_block *block, const struct spec_line *line)
{
    const bool named = has_prefix(line->key, "hint.");
    const struct spec_keyword *keyword = named ? NULL : spec_keyword_find(block->test, line->key);
    if (!named && !(keyword && keyword->hint))
        return PL_OK;
    const char *name = named ? line->key + strlen("hint.") : line->key;
    for (size_t i = 0; i < block->hint_count; i++)
        if (strcmp(block->hints[i].key, name) == 0)
            return complain(parser, line->line, "%s: given twice, first in line %d; allowed: once in a block",
                            line->key, block->hints[i].line);
    struct spec_hint *grown = grow(block->hints, block->hint_count, sizeof *grown);
    if (!grown)
        return no_memory(parser);
    block->hints = grown;
    struct text found = {0};
    const pl_status status = spec_hint_parse(keyword, line, block->hint_variants, &grown[block->hint_count++], &found);
    if (status == PL_E_NOMEM)
        return no_memory(parser);
    if (status == PL_OK)
        return PL_OK;
    parser->place = line->line ? NULL : "--set";
    if (keyword && status != PL_E_FORMAT)
        return bad_value(parser, line->line, keyword, line->value, &found);
    complain(parser, line->line, "%s: %s", line->key, text_get(&found));
    text_clear(&found);
    return PL_E_INPUT;
}

static pl_status take_hints(struct parser *parser, struct spec_block *block)
{
    const struct spec_value *variants = spec_find(block, "numhints");
    block->hint_variants = variants ? (size_t)variants->numbers[0] : 1;
    pl_status status = PL_OK;
    for (size_t i = 0; i < block->line_count && status == PL_OK; i++)
        status = take_hint(parser, block, &block->lines[i]);
    return status;
}

/* The block is whole: overrides, then hints, then what is missing. */
static pl_status finish_block(struct parser *parser)
{
    if (parser->class_name)
        return complain(parser, parser->class_line,
                        "classname: no testname follows; allowed: testname in the next line");
    if (parser->spec->block_count == 0)
        return PL_OK;
    struct spec_block *block = &parser->spec->blocks[parser->spec->block_count - 1];
    pl_status status = apply_overrides(parser, block);
    if (status == PL_OK)
        status = take_hints(parser, block);
    for (const struct spec_keyword *const *table = block->test->keywords; *table && status == PL_OK; table++)
        for (const struct spec_keyword *keyword = *table; keyword->name && status == PL_OK; keyword++)
            status = take_default(parser, block, keyword);
    return status;
}

static pl_status take_class(struct parser *parser, const char *value)
{
    pl_status status = finish_block(parser);
    if (status != PL_OK)
        return status;
    for (const struct spec_test *const *test = parser->tests; *test; test++)
        if (strcmp((*test)->class_name, value) == 0) {
            parser->class_name = (*test)->class_name;
            parser->class_line = parser->line;
            return PL_OK;
        }
    struct text allowed = {0};
    const char *last = "";
    for (const struct spec_test *const *test = parser->tests; *test; test++) {
        if (strcmp(last, (*test)->class_name) != 0)
            text_format(&allowed, "%s%s", *last ? ", " : "", (*test)->class_name);
        last = (*test)->class_name;
    }
    if (*value)
        complain(parser, parser->line, "classname: '%.80s' is not a class%s; allowed: %s", value,
                 remark_on_value(value), text_get(&allowed));
    else
        complain(parser, parser->line, "classname: has no value; allowed: %s", text_get(&allowed));
    text_clear(&allowed);
    return PL_E_INPUT;
}

static pl_status open_block(struct parser *parser, const struct spec_test *test)
{
    struct spec *spec = parser->spec;
    struct spec_block *grown = grow(spec->blocks, spec->block_count, sizeof *grown);
    if (!grown)
        return no_memory(parser);
    spec->blocks = grown;
    grown[spec->block_count++] = (struct spec_block){.line = parser->line, .test = test};
    parser->class_name = NULL;
    return PL_OK;
}

static pl_status take_testname(struct parser *parser, const char *value)
{
    if (!parser->class_name)
        return complain(parser, parser->line,
                        "testname: stands without a class; allowed: right behind a classname line");
    struct text allowed = {0};
    for (const struct spec_test *const *test = parser->tests; *test; test++) {
        if (strcmp((*test)->class_name, parser->class_name) != 0)
            continue;
        if (strcmp((*test)->name, value) == 0) {
            text_clear(&allowed);
            return open_block(parser, *test);
        }
        text_format(&allowed, "%s%s", allowed.length ? ", " : "", (*test)->name);
    }
    if (*value)
        complain(parser, parser->line, "testname: '%.80s' is not a test of class %s%s; allowed: %s", value,
                 parser->class_name, remark_on_value(value), text_get(&allowed));
    else
        complain(parser, parser->line, "testname: has no value; allowed: %s", text_get(&allowed));
    text_clear(&allowed);
    return PL_E_INPUT;
}

static pl_status take_timings(struct parser *parser, const char *value)
{
    if (parser->timings_line)
        return complain(parser, parser->line, "timingsfilename: given twice, first in line %d; allowed: once in a file",
                        parser->timings_line);
    if (!*value)
        return complain(parser, parser->line, "timingsfilename: has no value; allowed: a name");
    if (strcmp(value, parser->spec->path) == 0)
        return complain(parser, parser->line, "timingsfilename: '%s' is this keyword file; allowed: another file",
                        value);
    parser->timings_line = parser->line;
    free(parser->spec->timings_path);
    parser->spec->timings_path = text_dup(value);
    return parser->spec->timings_path ? PL_OK : no_memory(parser);
}

static pl_status take_line(struct parser *parser, const char *key, const char *value)
{
    if (strcmp(key, "timingsfilename") == 0)
        return take_timings(parser, value);
    if (strcmp(key, "classname") == 0 || strcmp(key, "class") == 0)
        return take_class(parser, value);
    if (strcmp(key, "testname") == 0)
        return take_testname(parser, value);
    if (parser->class_name)
        return complain(parser, parser->line, "%.80s: stands between classname and testname%s; allowed: testname", key,
                        remark_on_key(parser, key, *value != '\0'));
    if (parser->spec->block_count == 0)
        return complain(parser, parser->line,
                        "%.80s: stands before the first block%s; allowed: classname, timingsfilename", key,
                        remark_on_key(parser, key, *value != '\0'));
    return take_keyword(parser, &parser->spec->blocks[parser->spec->block_count - 1], key, value);
}

/* ---- the file ---- */

static const char BLANKS[] = " \t\r\f\v";

/* Cuts blanks off both ends, splits at the first run of blanks. Returns false for empty and comment lines. */
static bool split_line(char *line, char **ret_key, char **ret_value)
{
    size_t length = strlen(line);
    while (length && strchr(BLANKS, line[length - 1]))
        line[--length] = '\0';
    line += strspn(line, BLANKS);
    if (*line == '\0' || *line == '#' || *line == '%')
        return false;
    *ret_key = line;
    line += strcspn(line, BLANKS);
    if (*line)
        *line++ = '\0';
    *ret_value = line + strspn(line, BLANKS);
    return true;
}

static pl_status parse_lines(struct parser *parser, char *text)
{
    pl_status status = PL_OK;
    for (char *line = text; line && status == PL_OK;) {
        char *next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        parser->line++;
        char *key, *value;
        if (split_line(line, &key, &value)) {
            status = take_line(parser, key, value);
            parser->after_comment = false;
        } else {
            parser->after_comment = line[strspn(line, BLANKS)] != '\0';
        }
        line = next && *next ? next : NULL; /* what follows the last line end is no line */
    }
    if (status == PL_OK)
        status = finish_block(parser);
    if (status == PL_OK && parser->spec->block_count == 0)
        status = complain(parser, parser->line, "no test in this file; allowed: blocks that begin with classname");
    return status;
}

/* What an override says about the file as a whole; and one that no test of the file knows is a misspelling. */
static pl_status check_overrides(struct parser *parser)
{
    const struct spec *spec = parser->spec;
    parser->place = "--set";
    for (size_t i = 0; i < parser->override_count; i++) {
        const char *key = parser->overrides[i].key;
        if (strcmp(key, "timingsfilename") == 0) {
            parser->timings_line = 0; /* the file's own is replaced */
            if (take_timings(parser, parser->overrides[i].value) != PL_OK)
                return parser->error->status;
            continue;
        }
        if (strcmp(key, "classname") == 0 || strcmp(key, "class") == 0 || strcmp(key, "testname") == 0)
            return complain(parser, 0, "%s: opens a block; allowed: keywords inside a block, timingsfilename", key);
        bool known = has_prefix(key, "hint.") || has_prefix(key, "info.");
        for (size_t b = 0; b < spec->block_count && !known; b++)
            known = spec_keyword_find(spec->blocks[b].test, key) != NULL;
        if (!known)
            return unknown_keyword(parser, spec->blocks[0].test, key, true);
    }
    return PL_OK;
}

static int line_at(const char *text, const char *place)
{
    int line = 1;
    for (; text < place; text++)
        line += *text == '\n';
    return line;
}

pl_status spec_parse(const char *path, const char *text, size_t length, const struct spec_test *const *tests,
                     const struct spec_override *overrides, size_t override_count, struct spec *ret_spec,
                     struct pl_error *error)
{
    *ret_spec = (struct spec){.path = text_dup(path), .timings_path = text_dup("all.out")};
    struct parser parser = {
        .spec = ret_spec, .tests = tests, .overrides = overrides, .override_count = override_count, .error = error};
    char *copy = strndup(text, length);
    pl_status status;
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    if (!copy || !ret_spec->path || !ret_spec->timings_path)
        status = no_memory(&parser);
    else if (memchr(text, '\0', length))
        status = complain(&parser, line_at(text, memchr(text, '\0', length)), "holds a zero byte; allowed: text");
    else
        status = parse_lines(&parser, copy + (has_prefix(copy, byte_order_mark) ? 3 : 0));
    if (status == PL_OK)
        status = check_overrides(&parser);
    free(copy);
    if (status != PL_OK)
        spec_clear(ret_spec);
    return status;
}
