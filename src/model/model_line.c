#include "model/model_line.h"

#include "base/array.h"
#include "base/checksum.h"
#include "base/text.h"
#include "base/units.h"
#include "model/model_formula.h"
#include "trace/trace_format.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines ---- */

pl_status model_line_fail(struct model_lines *lines, const char *format, ...)
{
    char message[PL_ERROR_TEXT_MAX / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return pl_fail(lines->error, PL_E_FORMAT, "%s:%d: %s", lines->name, lines->number, message);
}

pl_status model_line_within(struct model_lines *lines, const char *key)
{
    return pl_within(lines->error, "%s:%d: %s", lines->name, lines->number, key);
}

pl_status model_lines_begin(struct model_lines *lines, const char *name, const char *text, const char *first_line,
                            struct pl_error *error)
{
    *lines = (struct model_lines){.name = name, .text = text, .number = 1, .error = error};
    const size_t length = strlen(first_line);
    if (strncmp(text, first_line, length) != 0)
        return pl_fail(error, PL_E_FORMAT, "%s:1: a model file begins with '%.*s'", name, (int)length - 1, first_line);
    lines->next = lines->begin = text + length;
    return PL_OK;
}

void model_lines_clear(struct model_lines *lines)
{
    free(lines->line);
    free(lines->copy);
    lines->line = lines->copy = NULL;
}

/* The end of a word or an attribute: a blank outside of quotes. */
static char *line_word_end(char *word)
{
    bool quoted = false;
    for (; *word && (quoted || *word != ' '); word++)
        quoted ^= *word == '"';
    return word;
}

/* A word is an attribute if a key of lower case letters and "=" begin it. */
static char *line_equals_in(char *word)
{
    char *c = word;
    while (islower((unsigned char)*c) || *c == '_')
        c++;
    return c > word && *c == '=' ? c : NULL;
}

static void line_add_attribute(struct model_line *words, char *word, char *equals)
{
    if (words->attribute_count == MODEL_ATTRIBUTES_MAX)
        return;
    char *value = equals + 1;
    const size_t length = strlen(value);
    *equals = '\0';
    if (length >= 2 && value[0] == '"' && value[length - 1] == '"') {
        value[length - 1] = '\0';
        value++;
    }
    words->attribute[words->attribute_count].key = word;
    words->attribute[words->attribute_count++].value = value;
}

static void line_cut(char *line, char *copy, struct model_line *words)
{
    static char nothing[] = "";
    *words = (struct model_line){.rest = nothing, .attributes = nothing};
    char *word = line;
    while (*word) {
        char *end = line_word_end(word);
        const bool last = *end == '\0';
        *end = '\0';
        char *equals = line_equals_in(word);
        if (equals && words->attribute_count == 0)
            words->attributes = copy + (word - line);
        if (equals)
            line_add_attribute(words, word, equals);
        else if (*word && words->count < MODEL_WORDS_MAX)
            words->word[words->count++] = word;
        if (words->count == 1 && words->attribute_count == 0 && !last && words->rest == nothing)
            words->rest = copy + (end + 1 - line);
        word = last ? end : end + 1;
    }
}

bool model_line_next(struct model_lines *lines, struct model_line *ret_words)
{
    while (*lines->next) {
        const char *begin = lines->next;
        const size_t length = strcspn(begin, "\n");
        lines->next += length + (begin[length] == '\n');
        lines->number++;
        const size_t skip = strspn(begin, " ");
        if (skip >= length || begin[skip] == '#')
            continue;
        model_lines_clear(lines);
        lines->line = strndup(begin + skip, length - skip);
        lines->copy = strndup(begin + skip, length - skip);
        if (!lines->line || !lines->copy)
            return false;
        line_cut(lines->line, lines->copy, ret_words);
        if (ret_words->count == 0)
            ret_words->word[ret_words->count++] = lines->copy; /* begins with an attribute: no such step */
        return true;
    }
    return false;
}

const char *model_line_value(const struct model_line *words, const char *key)
{
    for (int i = 0; i < words->attribute_count; i++)
        if (strcmp(words->attribute[i].key, key) == 0)
            return words->attribute[i].value;
    return NULL;
}

static bool line_is_in(const char *key, const char *const *keys)
{
    for (; *keys; keys++)
        if (strcmp(*keys, key) == 0)
            return true;
    return false;
}

pl_status model_line_check(struct model_lines *lines, const struct model_line *words, int count,
                           const char *const *keys)
{
    if (words->count > count)
        return model_line_fail(lines, "'%s' is not expected behind '%s'", words->word[count], words->word[0]);
    for (int i = 0; i < words->attribute_count; i++) {
        if (!line_is_in(words->attribute[i].key, keys))
            return model_line_fail(lines, "'%s' has no '%s='", words->word[0], words->attribute[i].key);
        if (model_line_value(words, words->attribute[i].key) != words->attribute[i].value)
            return model_line_fail(lines, "%s= stands twice", words->attribute[i].key);
    }
    return PL_OK;
}

pl_status model_line_sum(struct model_lines *lines, const struct model_line *words)
{
    /* this line is the last that was read: the sum is over those before it */
    const char *end = lines->next - 1;
    while (end > lines->begin && end[-1] != '\n')
        end--;
    struct text sum = {0};
    text_append(&sum, lines->begin, (size_t)(end - lines->begin));
    const size_t length = sum.length;
    trace_add_end(&sum, 0, words->word[0] + strlen("end-"));
    lines->begin = lines->next;
    if (sum.failed || !sum.data)
        return pl_fail(lines->error, PL_E_NOMEM, "not enough memory for a model");
    char *told = sum.data + length;
    told[strcspn(told, "\n")] = '\0';
    const bool same = checksum_agrees(strcmp(lines->copy, told) == 0 ||
                                      (words->count == 3 && strcmp(words->word[2], "-") == 0));
    const pl_status status =
        same ? PL_OK : model_line_fail(lines, "the lines above have been changed: their sum is '%s', or '-'", told);
    text_clear(&sum);
    return status;
}

/* ---- layouts ---- */

/* The lines of a model that tell how accesses lie in memory: memory NUMBER type="…", or left_out=yes. */

pl_status model_layout_read(struct model_lines *lines, const struct model_line *words, struct model *model)
{
    static const char *const KEYS[] = {"type", "left_out", NULL};
    const char *type = model_line_value(words, "type"), *left_out = model_line_value(words, "left_out");
    const int next = model->layout_count + 1;
    int64_t number;
    const pl_status status = model_line_check(lines, words, 2, KEYS);
    if (status != PL_OK)
        return status;
    if (words->count < 2 || !units_parse_int(words->word[1], next, next, &number))
        return model_line_fail(lines, "this is memory %d", next);
    if (!type == !left_out || (left_out && strcmp(left_out, "yes") != 0))
        return model_line_fail(lines, "memory needs type= or left_out=yes");
    char *layout = type ? text_dup(type) : NULL;
    char **layouts = !type || layout ? realloc(model->layouts, (size_t)next * sizeof *layouts) : NULL;
    if (!layouts) {
        free(layout);
        return pl_fail(lines->error, PL_E_NOMEM, "not enough memory for a model");
    }
    model->layouts = layouts;
    layouts[model->layout_count++] = layout;
    return PL_OK;
}

/* ---- sets of ranks ---- */

/* Sets of ranks: few ranges for the usual ones, any set exactly. */

void model_ranks_clear(struct model_ranks *ranks)
{
    free(ranks->ranges);
    *ranks = (struct model_ranks){0};
}

static bool ranks_add_range(struct model_ranks *ranks, struct model_range range)
{
    if (!ARRAY_ROOM(ranks->ranges, ranks->count, ranks->capacity, 1))
        return false;
    ranks->ranges[ranks->count++] = range;
    return true;
}

bool model_ranks_add(struct model_ranks *ranks, int64_t rank)
{
    struct model_range *last = ranks->count ? &ranks->ranges[ranks->count - 1] : NULL;
    if (last && last->first == last->last) { /* two make a step that others may follow */
        last->step = rank - last->last;
        last->last = rank;
        return true;
    }
    if (last && rank == last->last + last->step) {
        last->last = rank;
        return true;
    }
    return ranks_add_range(ranks, (struct model_range){rank, rank, 1});
}

static bool ranks_range_has(const struct model_range *range, int64_t rank)
{
    return rank >= range->first && rank <= range->last && (rank - range->first) % range->step == 0;
}

bool model_ranks_has(const struct model_ranks *ranks, int64_t rank)
{
    size_t low = 0, high = ranks->count; /* ranges are sorted and do not overlap */
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (ranks->ranges[middle].last < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ranks->count && ranks_range_has(&ranks->ranges[low], rank);
}

int64_t model_ranks_total(const struct model_ranks *ranks)
{
    int64_t total = 0;
    for (size_t i = 0; i < ranks->count; i++)
        total += (ranks->ranges[i].last - ranks->ranges[i].first) / ranks->ranges[i].step + 1;
    return total;
}

int64_t model_ranks_next(const struct model_ranks *ranks, int64_t rank)
{
    size_t low = 0, high = ranks->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (ranks->ranges[middle].last <= rank)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == ranks->count)
        return -1;
    const struct model_range *range = &ranks->ranges[low];
    return rank < range->first ? range->first : rank + range->step - (rank - range->first) % range->step;
}

static bool ranks_take_number(const char **text, int64_t *ret_value)
{
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    const long long value = strtoll(*text, &end, 10);
    *ret_value = value;
    *text = end;
    return errno == 0 && value <= INT32_MAX;
}

static bool ranks_take_range(const char **text, struct model_range *range)
{
    range->step = 1;
    if (!ranks_take_number(text, &range->first))
        return false;
    range->last = range->first;
    if (**text != '-')
        return true;
    ++*text;
    if (!ranks_take_number(text, &range->last) || range->last < range->first)
        return false;
    if (**text != '/')
        return true;
    ++*text;
    return ranks_take_number(text, &range->step) && range->step > 0 && (range->last - range->first) % range->step == 0;
}

pl_status model_ranks_parse(const char *text, struct model_ranks *ret_ranks, const char **ret_end,
                            struct pl_error *error)
{
    struct model_ranks ranks = {0};
    struct model_range range;
    pl_status status = PL_OK;
    for (bool more = true; more && status == PL_OK;) {
        const char *const begin = text;
        if (!ranks_take_range(&text, &range) || (ranks.count && range.first <= ranks.ranges[ranks.count - 1].last))
            status = pl_fail(error, PL_E_FORMAT,
                             "'%.20s' is no range of ranks (FIRST, FIRST-LAST or FIRST-LAST/STEP, ascending)", begin);
        else if (!ranks_add_range(&ranks, range))
            status = pl_fail(error, PL_E_NOMEM, "not enough memory for a set of ranks");
        more = *text == ',';
        text += more;
    }
    if (status != PL_OK) {
        model_ranks_clear(&ranks);
        return status;
    }
    *ret_ranks = ranks;
    *ret_end = text;
    return PL_OK;
}

static void ranks_write_range(const struct model_range *range, struct text *text)
{
    if (range->first == range->last)
        text_format(text, "%" PRId64, range->first);
    else if (range->step == 1)
        text_format(text, "%" PRId64 "-%" PRId64, range->first, range->last);
    else if (range->last == range->first + range->step)
        text_format(text, "%" PRId64 ",%" PRId64, range->first, range->last);
    else
        text_format(text, "%" PRId64 "-%" PRId64 "/%" PRId64, range->first, range->last, range->step);
}

void model_ranks_write(const struct model_ranks *ranks, struct text *text)
{
    for (size_t i = 0; i < ranks->count; i++) {
        if (i > 0)
            text_add(text, ",");
        ranks_write_range(&ranks->ranges[i], text);
    }
}
