#include "model/model_line.h"

#include "base/checksum.h"
#include "trace/trace_format.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
static char *word_end(char *word)
{
    bool quoted = false;
    for (; *word && (quoted || *word != ' '); word++)
        quoted ^= *word == '"';
    return word;
}

/* A word is an attribute if a key of lower case letters and "=" begin it. */
static char *equals_in(char *word)
{
    char *c = word;
    while (islower((unsigned char)*c) || *c == '_')
        c++;
    return c > word && *c == '=' ? c : NULL;
}

static void add_attribute(struct model_line *words, char *word, char *equals)
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

static void cut(char *line, char *copy, struct model_line *words)
{
    static char nothing[] = "";
    *words = (struct model_line){.rest = nothing, .attributes = nothing};
    char *word = line;
    while (*word) {
        char *end = word_end(word);
        const bool last = *end == '\0';
        *end = '\0';
        char *equals = equals_in(word);
        if (equals && words->attribute_count == 0)
            words->attributes = copy + (word - line);
        if (equals)
            add_attribute(words, word, equals);
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
        cut(lines->line, lines->copy, ret_words);
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

static bool is_in(const char *key, const char *const *keys)
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
        if (!is_in(words->attribute[i].key, keys))
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
