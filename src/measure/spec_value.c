#include "measure/spec_value.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HINT_INT(hint_name, hint_help)                                                                                 \
    {                                                                                                                  \
        .name = hint_name, .type = SPEC_INT, .hint = true, .min = 1, .max = 9e15, .help = hint_help                    \
    }
#define HINT_INTS(hint_name, hint_help)                                                                                \
    {                                                                                                                  \
        .name = hint_name, .type = SPEC_INT, .list = true, .hint = true, .min = 1, .max = 9e15, .help = hint_help      \
    }
#define HINT_STRING(hint_name, hint_help)                                                                              \
    {                                                                                                                  \
        .name = hint_name, .type = SPEC_STRING, .hint = true, .help = hint_help                                        \
    }

const struct spec_keyword SPEC_COMMON[] = {
    {.name = "numhints",
     .type = SPEC_INT,
     .min = 1,
     .max = 1e6,
     .help = "run every set so often, with the next value of each hint that lists several"},
    {0},
};

const struct spec_keyword SPEC_HINTS[] = {
    {.name = "access_style",
     .type = SPEC_CHOICE,
     .list = true,
     .hint = true,
     .choices = "read_once write_once read_mostly write_mostly sequential reverse_sequential random",
     .help = "how the file will be accessed"},
    {.name = "collective_buffering",
     .type = SPEC_BOOL,
     .hint = true,
     .help = "whether collective accesses gain from collective buffering"},
    HINT_INT("cb_block_size", "bytes of a target's access in collective buffering"),
    HINT_INT("cb_buffer_size", "bytes of buffer on each target"),
    HINT_INT("cb_nodes", "number of targets"),
    HINT_INTS("chunked", "dimensions of the array in the file"),
    HINT_INTS("chunked_item", "bytes of an array entry"),
    HINT_INTS("chunked_size", "dimensions of the subarrays"),
    HINT_STRING("file_perm", "permissions of a created file"),
    HINT_STRING("io_node_list", "I/O devices to use"),
    HINT_INT("nb_proc", "processes that will typically access the file"),
    HINT_INT("num_io_nodes", "number of I/O devices"),
    HINT_INT("striping_factor", "I/O devices to stripe the file across"),
    HINT_INT("striping_unit", "bytes on one device before the next"),
    {0},
};

/* Larger values are taken for a mistake: 10^12 MB is an exabyte. */
static bool is_number_type(enum spec_type type)
{
    return type == SPEC_INT || type == SPEC_NUMBER || type == SPEC_MB;
}

static bool is_choice(const char *choices, const char *word, size_t length)
{
    for (const char *c = choices; *c;) {
        const size_t n = strcspn(c, " ");
        if (n == length && strncmp(c, word, n) == 0)
            return true;
        c += n + (c[n] == ' ');
    }
    return false;
}

static pl_status add_number(struct spec_value *value, const char *word, struct text *found)
{
    const struct spec_keyword *keyword = value->keyword;
    double number;
    if (!units_parse_number(word, &number)) {
        text_format(found, "'%.80s' is not a number", word);
        return PL_E_INPUT;
    }
    if (keyword->type == SPEC_INT && number != floor(number)) {
        text_format(found, "'%.80s' is not a whole number", word);
        return PL_E_INPUT;
    }
    if (number < keyword->min || number > keyword->max) {
        text_format(found, "'%.80s' is out of range", word);
        return PL_E_INPUT;
    }
    value->numbers[value->count] = number;
    if (value->bytes)
        value->bytes[value->count] = llround(number * 1e6 / 8) * 8;
    return PL_OK;
}

static pl_status add_word(struct spec_value *value, const char *word, struct text *found)
{
    const struct spec_keyword *keyword = value->keyword;
    const char *choices = keyword->type == SPEC_BOOL ? "true false" : keyword->choices;
    pl_status status = PL_OK;
    if (is_number_type(keyword->type)) {
        status = add_number(value, word, found);
    } else if (choices && !is_choice(choices, word, strlen(word))) {
        text_format(found, "'%.80s' is not allowed", word);
        status = PL_E_INPUT;
    }
    value->count++;
    return status;
}

static pl_status allocate_lists(struct spec_value *value, size_t words)
{
    value->numbers = calloc(words, sizeof *value->numbers);
    if (value->keyword->type == SPEC_MB)
        value->bytes = calloc(words, sizeof *value->bytes);
    return value->numbers && (value->keyword->type != SPEC_MB || value->bytes) ? PL_OK : PL_E_NOMEM;
}

/* Commas and blanks separate, in any number: "1,,2", "1, 2" and "1 2," all hold two values. */
static pl_status parse_words(struct spec_value *value, struct text *found)
{
    static const char separators[] = " \t,";
    char *copy = text_dup(value->text);
    if (!copy || allocate_lists(value, strlen(copy) / 2 + 1) != PL_OK) {
        free(copy);
        text_add(found, "not enough memory");
        return PL_E_NOMEM;
    }
    pl_status status = PL_OK;
    char *rest = NULL;
    for (char *word = strtok_r(copy, separators, &rest); word && status == PL_OK;
         word = strtok_r(NULL, separators, &rest)) {
        if (value->count == 1 && !value->keyword->list) {
            text_format(found, "'%.80s' holds more than one value", value->text);
            status = PL_E_INPUT;
            break;
        }
        status = add_word(value, word, found);
    }
    free(copy);
    if (status == PL_OK && value->count == 0) {
        text_format(found, "'%.80s' holds no value", value->text);
        status = PL_E_INPUT;
    }
    return status;
}

pl_status spec_value_parse(const struct spec_keyword *keyword, const char *text, struct spec_value *ret_value,
                           struct text *found)
{
    *ret_value = (struct spec_value){.keyword = keyword, .text = text_dup(text)};
    if (!ret_value->text) {
        text_add(found, "not enough memory");
        return PL_E_NOMEM;
    }
    if (!*text) {
        text_add(found, "has no value");
        return PL_E_INPUT;
    }
    if (keyword->type == SPEC_STRING) {
        ret_value->count = 1;
        return PL_OK;
    }
    return parse_words(ret_value, found);
}

void spec_value_clear(struct spec_value *value)
{
    free(value->text);
    free(value->numbers);
    free(value->bytes);
    *value = (struct spec_value){0};
}

static void add_choices(struct text *out, const char *choices)
{
    for (const char *c = choices; *c; c++)
        if (*c == ' ')
            text_add(out, ", ");
        else
            text_append(out, c, 1);
}

void spec_value_allowed(const struct spec_keyword *keyword, struct text *out)
{
    switch (keyword->type) {
    case SPEC_STRING:
        text_add(out, "a name");
        return;
    case SPEC_BOOL:
        text_add(out, "true, false");
        return;
    case SPEC_CHOICE:
        add_choices(out, keyword->choices);
        break;
    case SPEC_INT:
        text_format(out, "%s from %.0f to %.0f", keyword->list ? "whole numbers" : "a whole number", keyword->min,
                    keyword->max);
        break;
    case SPEC_NUMBER:
        text_format(out, "%s from %.15g to %.15g", keyword->list ? "numbers" : "a number", keyword->min, keyword->max);
        break;
    case SPEC_MB:
        text_format(out, "%s in MB (10^6 bytes) from %.6f to %.15g", keyword->list ? "sizes" : "a size", keyword->min,
                    keyword->max);
        break;
    }
    if (keyword->list)
        text_add(out, ", separated by blanks or commas");
}
