/* Distributions as text: "BLOCK,CYCLIC(4),*", "multipartition", "random(64)". */
#include "dist/dist_core.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum argument { NO_ARGUMENT, BLOCK_ARGUMENT, LIST_ARGUMENT };

/* One row for each word that stands for a whole distribution; the first row of a kind is the word that is printed. */
static const struct whole_word {
    const char *name;
    enum piolet_dist_kind kind;
    enum argument argument;
    int64_t block; /* when the text gives none */
} WHOLE_WORDS[] = {
    {"multipartition", PIOLET_DIST_MULTIPARTITION, NO_ARGUMENT, 0},
    {"multi-partition", PIOLET_DIST_MULTIPARTITION, NO_ARGUMENT, 0},
    {"random", PIOLET_DIST_RANDOM, BLOCK_ARGUMENT, 1},
    {"broadcast", PIOLET_DIST_BROADCAST, NO_ARGUMENT, 0},
    {"reduce", PIOLET_DIST_BROADCAST, NO_ARGUMENT, 0},
    {"scatter", PIOLET_DIST_SCATTER, BLOCK_ARGUMENT, 0},
    {"gather", PIOLET_DIST_SCATTER, BLOCK_ARGUMENT, 0},
    {"transposed", PIOLET_DIST_RULES, LIST_ARGUMENT, 0},
};

static const char *const RULE_WORDS[] = {
    [PIOLET_DIST_WHOLE] = "*",
    [PIOLET_DIST_BLOCK] = "BLOCK",
    [PIOLET_DIST_CYCLIC] = "CYCLIC",
    [PIOLET_DIST_BALANCED] = "BALANCED",
};

static const char RULES_ALLOWED[] = "BLOCK, BALANCED, CYCLIC, CYCLIC(k), *";
static const char WHOLE_ALLOWED[] =
    "multipartition, random(k), broadcast, reduce, scatter(k), gather(k), transposed(list)";

enum { RULE_KINDS = sizeof RULE_WORDS / sizeof RULE_WORDS[0], WHOLES = sizeof WHOLE_WORDS / sizeof WHOLE_WORDS[0] };

struct reader {
    const char *text;
    const char *at;
    char *message;
    size_t message_size;
};

static void skip_blanks(struct reader *reader)
{
    while (isspace((unsigned char)*reader->at))
        reader->at++;
}

/* Takes a sign, and the blanks before it. */
static bool dist_text_take(struct reader *reader, char sign)
{
    skip_blanks(reader);
    if (*reader->at != sign)
        return false;
    reader->at++;
    return true;
}

/* The length of the word at `at`: letters, digits and '-', or one sign. 0 at the end. */
static int word_length(const char *at)
{
    int length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '-' || at[length] == '_')
        length++;
    return length == 0 && *at ? 1 : length;
}

static bool is_word(const char *at, int length, const char *word)
{
    return strlen(word) == (size_t)length && strncasecmp(at, word, (size_t)length) == 0;
}

/* Says what stands where reading stopped, and what may stand there. */
static int dist_text_unexpected(const struct reader *reader, const char *allowed, const char *more_allowed)
{
    const char *stop = reader->at;
    while (isspace((unsigned char)*stop))
        stop++;
    char found[48];
    const int length = word_length(stop);
    const bool is_text = length > 0 && isprint((unsigned char)*stop);
    if (is_text)
        snprintf(found, sizeof found, "'%.*s%s'", length > 32 ? 32 : length, stop, length > 32 ? "..." : "");
    else
        snprintf(found, sizeof found, length ? "a strange sign" : "the end");
    return dist_fail(reader->message, reader->message_size, PIOLET_DIST_E_TEXT,
                     "distribution '%.100s', position %d: %s found; allowed: %s%s%s", reader->text,
                     (int)(stop - reader->text) + 1, found, allowed, more_allowed ? "; " : "",
                     more_allowed ? more_allowed : "");
}

/* "(k)" if there is one; otherwise *block stays as it is. */
static int dist_text_read_block(struct reader *reader, int64_t *block)
{
    static const char allowed[] = "a whole number from 1 to 9223372036854775807";
    if (!dist_text_take(reader, '('))
        return PIOLET_DIST_OK;
    skip_blanks(reader);
    const int length = word_length(reader->at);
    int64_t number = 0;
    for (int i = 0; i < length; i++) {
        const int digit = reader->at[i] - '0';
        if (digit < 0 || digit > 9 || number > (INT64_MAX - digit) / 10)
            return dist_text_unexpected(reader, allowed, NULL);
        number = number * 10 + digit;
    }
    if (number < 1)
        return dist_text_unexpected(reader, allowed, NULL);
    reader->at += length;
    if (!dist_text_take(reader, ')'))
        return dist_text_unexpected(reader, ")", NULL);
    *block = number;
    return PIOLET_DIST_OK;
}

static int read_rule(struct reader *reader, const char *more_allowed, struct piolet_dist_rule *ret_rule)
{
    skip_blanks(reader);
    const int length = word_length(reader->at);
    int kind = 0;
    while (kind < RULE_KINDS && !is_word(reader->at, length, RULE_WORDS[kind]))
        kind++;
    if (kind == RULE_KINDS)
        return dist_text_unexpected(reader, RULES_ALLOWED, more_allowed);
    reader->at += length;
    *ret_rule = (struct piolet_dist_rule){.kind = (enum piolet_dist_rule_kind)kind};
    if (ret_rule->kind != PIOLET_DIST_CYCLIC)
        return PIOLET_DIST_OK;
    ret_rule->block = 1;
    return dist_text_read_block(reader, &ret_rule->block);
}

/* Rules with commas between them. */
static int read_rules(struct reader *reader, const char *more_allowed, struct piolet_dist_spec *spec)
{
    do {
        if (spec->rules == PIOLET_DIST_DIMS_MAX) {
            reader->at--; /* at the comma */
            return dist_text_unexpected(reader, "no more than 4 dimensions", NULL);
        }
        const int status = read_rule(reader, spec->rules ? NULL : more_allowed, &spec->rule[spec->rules]);
        if (status)
            return status;
        spec->rules++;
    } while (dist_text_take(reader, ','));
    return PIOLET_DIST_OK;
}

static int dist_text_read_list(struct reader *reader, const char *more_allowed, struct piolet_dist_spec *spec)
{
    const bool is_enclosed = dist_text_take(reader, '(');
    const int status = read_rules(reader, is_enclosed ? NULL : more_allowed, spec);
    if (status || !is_enclosed)
        return status;
    return dist_text_take(reader, ')') ? PIOLET_DIST_OK : dist_text_unexpected(reader, "a comma, )", NULL);
}

static int read_transposed(struct reader *reader, struct piolet_dist_spec *spec)
{
    spec->transposed = true;
    skip_blanks(reader);
    if (*reader->at != '(') {
        spec->rules = 2;
        spec->rule[1].kind = PIOLET_DIST_BLOCK;
        return PIOLET_DIST_OK;
    }
    const char *const list = reader->at;
    const int status = dist_text_read_list(reader, NULL, spec);
    if (status || spec->rules >= 2)
        return status;
    reader->at = list;
    return dist_text_unexpected(reader, "a list of 2 dimensions or more", NULL);
}

static int dist_text_read_whole(struct reader *reader, const struct whole_word *word, struct piolet_dist_spec *spec)
{
    reader->at += strlen(word->name);
    spec->kind = word->kind;
    spec->block = word->block;
    switch (word->argument) {
    case BLOCK_ARGUMENT:
        return dist_text_read_block(reader, &spec->block);
    case LIST_ARGUMENT:
        return read_transposed(reader, spec);
    case NO_ARGUMENT:
        break;
    }
    return PIOLET_DIST_OK;
}

static int read_spec(struct reader *reader, struct piolet_dist_spec *spec)
{
    skip_blanks(reader);
    const int length = word_length(reader->at);
    for (int i = 0; i < WHOLES; i++)
        if (is_word(reader->at, length, WHOLE_WORDS[i].name))
            return dist_text_read_whole(reader, &WHOLE_WORDS[i], spec);
    return dist_text_read_list(reader, WHOLE_ALLOWED, spec);
}

int piolet_dist_parse(const char *text, struct piolet_dist_spec *ret_spec, char *message, size_t message_size)
{
    struct reader reader = {.text = text, .at = text, .message_size = message_size};
    reader.message = message;
    struct piolet_dist_spec spec = {.kind = PIOLET_DIST_RULES};
    const int status = read_spec(&reader, &spec);
    if (status)
        return status;
    skip_blanks(&reader);
    if (*reader.at) {
        const bool is_open_list = spec.kind == PIOLET_DIST_RULES && !spec.transposed && !strchr(text, '(');
        return dist_text_unexpected(&reader, is_open_list ? "a comma, the end" : "the end", NULL);
    }
    *ret_spec = spec;
    return PIOLET_DIST_OK;
}

/* ---- And back ---------------------------------------------------------------------------------------------------- */

struct writer {
    char *text;
    size_t size;
    size_t used;
};

static void dist_text_put(struct writer *writer, const char *string)
{
    const size_t length = strlen(string);
    if (writer->used + length < writer->size)
        memcpy(writer->text + writer->used, string, length + 1);
    writer->used += length;
}

static void dist_text_put_block(struct writer *writer, int64_t block)
{
    char number[32];
    snprintf(number, sizeof number, "(%" PRId64 ")", block);
    dist_text_put(writer, number);
}

static bool put_rule(struct writer *writer, const struct piolet_dist_rule *rule)
{
    if ((unsigned)rule->kind >= RULE_KINDS)
        return false;
    const bool is_cyclic = rule->kind == PIOLET_DIST_CYCLIC;
    if (is_cyclic ? rule->block < 1 : rule->block != 0)
        return false;
    dist_text_put(writer, RULE_WORDS[rule->kind]);
    if (is_cyclic && rule->block > 1)
        dist_text_put_block(writer, rule->block);
    return true;
}

static bool put_rules(struct writer *writer, const struct piolet_dist_spec *spec)
{
    if (spec->rules < (spec->transposed ? 2 : 1) || spec->rules > PIOLET_DIST_DIMS_MAX || spec->block)
        return false;
    dist_text_put(writer, spec->transposed ? "transposed(" : "");
    for (int d = 0; d < spec->rules; d++) {
        dist_text_put(writer, d ? "," : "");
        if (!put_rule(writer, &spec->rule[d]))
            return false;
    }
    dist_text_put(writer, spec->transposed ? ")" : "");
    return true;
}

static bool dist_text_put_whole(struct writer *writer, const struct piolet_dist_spec *spec)
{
    int i = 0;
    while (i < WHOLES && WHOLE_WORDS[i].kind != spec->kind)
        i++;
    if (i == WHOLES || spec->transposed || spec->rules)
        return false;
    const struct whole_word *word = &WHOLE_WORDS[i];
    const bool has_block = word->argument == BLOCK_ARGUMENT && spec->block > 0;
    if (!has_block && spec->block != word->block)
        return false;
    dist_text_put(writer, word->name);
    if (has_block && spec->block != word->block)
        dist_text_put_block(writer, spec->block);
    return true;
}

int piolet_dist_format(const struct piolet_dist_spec *spec, char *text, size_t size)
{
    char whole[PIOLET_DIST_TEXT_MAX];
    struct writer writer = {.text = whole, .size = sizeof whole};
    if (spec->kind == PIOLET_DIST_RULES ? !put_rules(&writer, spec) : !dist_text_put_whole(&writer, spec))
        return PIOLET_DIST_E_TEXT;
    if (writer.used >= size)
        return PIOLET_DIST_E_SPACE;
    memcpy(text, whole, writer.used + 1);
    return PIOLET_DIST_OK;
}
