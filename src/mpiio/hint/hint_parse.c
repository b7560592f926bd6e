/* From a hint's text to its value. */
#include "base/units.h"
#include "mpiio/hint/hint_core.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct word {
    const char *name;
    int64_t value;
};

static const struct word SWITCHES[] = {
    {"disable", HINT_DISABLE}, {"enable", HINT_ENABLE}, {"automatic", HINT_AUTOMATIC}, {NULL, 0}};
static const struct word MAPS[] = {{"disable", HINT_DISABLE}, {"automatic", HINT_AUTOMATIC}, {NULL, 0}};
static const struct word TRUTHS[] = {{"false", 0}, {"true", 1}, {NULL, 0}};
static const struct word IMPLS[] = {{"piolet", HINT_IMPL_PIOLET}, {"system", HINT_IMPL_SYSTEM}, {NULL, 0}};
static const struct word STYLES[] = {{"read_once", 0},    {"write_once", 0}, {"read_mostly", 0},
                                     {"write_mostly", 0}, {"sequential", 0}, {"reverse_sequential", 0},
                                     {"random", 0},       {NULL, 0}};

/* In any mixture of small and capital letters, as ROMIO's programs have both. */
static const struct word *word_find(const struct word *words, const char *text, size_t length)
{
    for (const struct word *word = words; word->name; word++)
        if (strlen(word->name) == length && strncasecmp(word->name, text, length) == 0)
            return word;
    return NULL;
}

static bool parse_word(const struct word *words, const char *text, struct hint_parsed *parsed)
{
    const struct word *word = word_find(words, text, strlen(text));
    if (!word)
        return false;
    parsed->number = word->value;
    snprintf(parsed->text, sizeof parsed->text, "%s", word->name);
    return true;
}

static bool parse_number(const struct hint_entry *entry, const char *text, struct hint_parsed *parsed)
{
    const bool is_number = entry->kind == HINT_KIND_SIZE
                               ? units_parse_size(text, &parsed->number)
                               : units_parse_int(text, entry->least, entry->most, &parsed->number);
    if (!is_number || parsed->number < entry->least || parsed->number > entry->most)
        return false;
    snprintf(parsed->text, sizeof parsed->text, "%" PRId64, parsed->number);
    return true;
}

static bool parse_octal(const struct hint_entry *entry, const char *text, struct hint_parsed *parsed)
{
    parsed->number = 0;
    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '7')
            return false;
        parsed->number = parsed->number * 8 + (*c - '0');
        if (parsed->number > entry->most)
            return false;
    }
    snprintf(parsed->text, sizeof parsed->text, "%s", text);
    return *text != '\0';
}

static bool parse_name(const char *text, struct hint_parsed *parsed)
{
    size_t length = 0;
    for (; text[length]; length++)
        if (!isalnum((unsigned char)text[length]) && text[length] != '_')
            return false;
    if (length == 0 || length >= sizeof((struct hint_values *)0)->strategy)
        return false;
    memcpy(parsed->text, text, length + 1);
    return true;
}

static bool parse_styles(const char *text, struct hint_parsed *parsed)
{
    snprintf(parsed->text, sizeof parsed->text, "%s", text);
    for (;;) {
        text += strspn(text, " ");
        size_t length = strcspn(text, ",");
        const char *comma = text + length;
        while (length > 0 && text[length - 1] == ' ')
            length--;
        if (!word_find(STYLES, text, length))
            return false;
        if (!*comma)
            return true;
        text = comma + 1;
    }
}

/* Blanks around a value are not part of it: Fortran programs bring some. */
static bool trimmed(const char *text, char ret_text[HINT_TEXT_MAX])
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    if (length == 0 || length >= HINT_TEXT_MAX)
        return false;
    memcpy(ret_text, text, length);
    ret_text[length] = '\0';
    return true;
}

bool hint_parse(const struct hint_entry *entry, const char *text, struct hint_parsed *ret_parsed)
{
    char value[HINT_TEXT_MAX];
    if (!trimmed(text, value))
        return false;
    *ret_parsed = (struct hint_parsed){.number = 0};
    switch (entry->kind) {
    case HINT_KIND_NUMBER:
    case HINT_KIND_SIZE:
        return parse_number(entry, value, ret_parsed);
    case HINT_KIND_SWITCH:
        return parse_word(SWITCHES, value, ret_parsed);
    case HINT_KIND_TRUTH:
        return parse_word(TRUTHS, value, ret_parsed);
    case HINT_KIND_MAP:
        return parse_word(MAPS, value, ret_parsed);
    case HINT_KIND_IMPL:
        return parse_word(IMPLS, value, ret_parsed);
    case HINT_KIND_OCTAL:
        return parse_octal(entry, value, ret_parsed);
    case HINT_KIND_WORD:
        return parse_name(value, ret_parsed);
    case HINT_KIND_STYLE:
        return parse_styles(value, ret_parsed);
    case HINT_KIND_TEXT:
        memcpy(ret_parsed->text, value, sizeof value);
        return true;
    }
    assert(!"a kind without a parser");
    return false;
}
