#include "base/option.h"

#include "base/memory.h"
#include "base/output.h"
#include "base/units.h"
#include "base/variables.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

struct option_state {
    const struct option_row *row;
    void *target;
    enum option_source source;
    struct text given; /* OPTION_CALL without a text function: as given, one a line */
};

/* ---- rows ---- */

static size_t option_row_count(const struct option_row *rows)
{
    size_t count = 0;
    while (rows[count].name)
        count++;
    return count;
}

static void *option_value(const struct option_state *state)
{
    return (char *)state->target + state->row->offset;
}

static size_t options_count(const struct options *options)
{
    size_t count = 0;
    for (int t = 0; t < options->table_count; t++)
        count += option_row_count(options->tables[t].rows);
    return count;
}

/* Is `word` among the words of a list that blanks separate? Its number, or -1. */
static int option_word_number(const char *list, const char *word, size_t length)
{
    int number = 0;
    for (const char *at = list; at && *at; number++) {
        const size_t here = strcspn(at, " ");
        if (here == length && strncmp(at, word, length) == 0)
            return number;
        at += here + strspn(at + here, " ");
    }
    return -1;
}

/* The text of word `number`. */
static void option_add_word(const char *list, int number, struct text *out)
{
    const char *at = list;
    for (; number > 0 && *at; number--) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    text_append(out, at, strcspn(at, " "));
}

static bool option_is_named(const struct option_row *row, const char *name, size_t length)
{
    return (strlen(row->name) == length && strncmp(row->name, name, length) == 0) ||
           option_word_number(row->aliases, name, length) >= 0;
}

bool option_is(const struct option_row *row, const char *name)
{
    return option_is_named(row, name, strlen(name));
}

/* By name or alias, or by the only name that begins with it. */
static struct option_state *options_find(const struct options *options, const char *name, size_t length, bool prefix)
{
    const size_t count = options_count(options);
    struct option_state *found = NULL;
    for (size_t i = 0; i < count; i++)
        if (option_is_named(options->states[i].row, name, length))
            return &options->states[i];
    for (size_t i = 0; prefix && length > 0 && i < count; i++)
        if (strncmp(options->states[i].row->name, name, length) == 0) {
            if (found)
                return NULL;
            found = &options->states[i];
        }
    return found;
}

static struct option_state *options_state(const struct options *options, const char *name)
{
    struct option_state *state = options_find(options, name, strlen(name), false);
    assert(state); /* a row's name */
    return state;
}

/* ---- what is allowed ---- */

static bool option_is_list(enum option_type type)
{
    return type == OPTION_INTS || type == OPTION_SIZES || type == OPTION_MBS || type == OPTION_NUMBERS ||
           type == OPTION_CHOICES || type == OPTION_TEXTS;
}

static bool option_is_mb(enum option_type type)
{
    return type == OPTION_MB || type == OPTION_MBS;
}

void option_add_choices(const char *choices, struct text *out)
{
    for (const char *c = choices; *c; c++)
        if (*c == ' ')
            text_add(out, ", ");
        else
            text_append(out, c, 1);
}

static void option_add_number(const struct option_row *row, double value, struct text *out)
{
    char buffer[UNITS_TEXT_MAX];
    const bool is_size = row->type == OPTION_SIZE || row->type == OPTION_SIZES;
    if (is_size && value >= 1024)
        text_add(out, units_binary((int64_t)value, buffer));
    else if (is_size || row->type == OPTION_INT || row->type == OPTION_INTS)
        text_format(out, "%.0f", value);
    else if (row->type == OPTION_PERCENT)
        text_format(out, "%g%%", value * 100);
    else if (row->type == OPTION_TIME)
        text_format(out, "%g s", value);
    else if (option_is_mb(row->type) && value < 1)
        text_format(out, "%.6f", value);
    else if (row->type != OPTION_SIZE && row->type != OPTION_SIZES)
        text_format(out, "%.15g", value);
}

static void option_add_range(const struct option_row *row, struct text *out)
{
    text_add(out, " from ");
    option_add_number(row, row->min, out);
    if (row->max > 0 && isfinite(row->max)) {
        text_add(out, " to ");
        option_add_number(row, row->max, out);
    } else {
        text_add(out, " on");
    }
}

void option_allowed(const struct option_row *row, struct text *out)
{
    static const char *const nouns[] = {[OPTION_FLAG] = "true, false",
                                        [OPTION_TEXT] = "a text",
                                        [OPTION_INT] = "a whole number",
                                        [OPTION_NUMBER] = "a number",
                                        [OPTION_SIZE] = "a size",
                                        [OPTION_MB] = "a size in MB (10^6 bytes)",
                                        [OPTION_TIME] = "a time",
                                        [OPTION_PERCENT] = "a part in %",
                                        [OPTION_INTS] = "whole numbers",
                                        [OPTION_SIZES] = "sizes",
                                        [OPTION_MBS] = "sizes in MB (10^6 bytes)",
                                        [OPTION_NUMBERS] = "numbers",
                                        [OPTION_TEXTS] = "texts",
                                        [OPTION_EACH] = "a text",
                                        [OPTION_CALL] = "a text",
                                        [OPTION_CHOICE] = "",
                                        [OPTION_CHOICES] = ""};
    if (row->choices)
        option_add_choices(row->choices, out);
    else if (row->type == OPTION_TEXT && row->argument) /* "NAME": a name */
        for (const char *c = (text_add(out, "a "), row->argument); *c; c++)
            text_append(out, &(char){(char)tolower((unsigned char)*c)}, 1);
    else
        text_add(out, nouns[row->type]);
    switch (row->type) {
    case OPTION_INT:
    case OPTION_INTS:
    case OPTION_NUMBER:
    case OPTION_NUMBERS:
    case OPTION_MB:
    case OPTION_MBS:
    case OPTION_PERCENT:
        option_add_range(row, out);
        break;
    case OPTION_SIZE:
    case OPTION_SIZES:
        option_add_range(row, out);
        text_add(out, ", as 512, 64k or 16m");
        break;
    case OPTION_TIME:
        option_add_range(row, out);
        text_add(out, ", as 90, 90s, 5m or 1h");
        break;
    default:
        break;
    }
    if (option_is_list(row->type))
        text_add(out, ", separated by blanks or commas");
}

static pl_status option_refuse(const struct option_row *row, const char *value, struct pl_error *error)
{
    struct text allowed = {0};
    option_allowed(row, &allowed);
    pl_fail(error, PL_E_USAGE, "'%.200s'; allowed: %s", value, text_get(&allowed));
    text_clear(&allowed);
    return error->status;
}

/* ---- one value ---- */

static bool option_in_range(const struct option_row *row, double value)
{
    return value >= row->min && (row->max <= 0 || value <= row->max);
}

/* "1.5h", "5%": the number before the unit, in *ret_value. */
static bool option_parse_unit(const struct option_row *row, const char *text, double *ret_value)
{
    static const struct {
        char letter;
        double seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    char number[64];
    double scale = row->type == OPTION_PERCENT ? 0.01 : 1;
    const size_t length = strlen(text);
    if (length == 0 || length >= sizeof number)
        return units_parse_number(text, ret_value);
    memcpy(number, text, length + 1);
    if (row->type == OPTION_TIME) {
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
            if (number[length - 1] == units[i].letter) {
                scale = units[i].seconds;
                number[length - 1] = '\0';
                break;
            }
    } else if (row->type == OPTION_PERCENT && number[length - 1] == '%') {
        number[length - 1] = '\0';
    }
    if (!units_parse_number(number, ret_value))
        return false;
    *ret_value *= scale;
    return true;
}

/* A whole number also where it is written as 1e6 or 3.0. NULL, or what is wrong with it. */
static const char *option_parse_whole(const char *text, double number, int64_t *ret_value)
{
    static const double exact = 9007199254740992.0; /* 2^53: from there on a double has gaps */
    if (units_parse_int(text, INT64_MIN, INT64_MAX, ret_value))
        return NULL;
    if (number != floor(number))
        return "is not a whole number";
    if (!(number > -exact && number < exact))
        return "is out of range";
    *ret_value = (int64_t)number;
    return NULL;
}

/* One number of the row: *ret_number as written (times in seconds, parts of 1), *ret_integer of whole numbers and of
 * sizes in bytes. NULL, or what is wrong with it. The only place that reads numbers of options and keywords. */
static const char *option_parse_word(const struct option_row *row, const char *word, double *ret_number,
                                     int64_t *ret_integer)
{
    if (row->type == OPTION_SIZE || row->type == OPTION_SIZES) {
        if (!units_parse_size(word, ret_integer))
            return "is not a size";
        *ret_number = (double)*ret_integer;
    } else if (!option_parse_unit(row, word, ret_number)) {
        return "is not a number";
    } else if (row->type == OPTION_INT || row->type == OPTION_INTS) {
        const char *wrong = option_parse_whole(word, *ret_number, ret_integer);
        if (wrong)
            return wrong;
        *ret_number = (double)*ret_integer;
    }
    if (!option_in_range(row, *ret_number))
        return "is out of range";
    if (option_is_mb(row->type))
        *ret_integer = llround(*ret_number * 1e6 / 8) * 8;
    return NULL;
}

static bool option_is_number(enum option_type type)
{
    return type != OPTION_FLAG && type != OPTION_TEXT && type != OPTION_CHOICE && type != OPTION_CHOICES &&
           type != OPTION_TEXTS && type != OPTION_EACH && type != OPTION_CALL;
}

/* ---- a value by itself ---- */

static const char OPTION_SEPARATORS[] = " \t,";

void option_value_clear(struct option_value *value)
{
    free(value->text);
    free(value->numbers);
    free(value->integers);
    *value = (struct option_value){0};
}

static pl_status option_value_add(struct option_value *value, const char *word, struct text *found)
{
    const struct option_row *row = value->row;
    const char *choices = row->type == OPTION_FLAG ? "true false" : row->choices, *wrong = NULL;
    if (option_is_number(row->type))
        wrong = option_parse_word(row, word, &value->numbers[value->count], &value->integers[value->count]);
    else if (choices && option_word_number(choices, word, strlen(word)) < 0)
        wrong = "is not allowed";
    value->count++;
    if (wrong)
        text_format(found, "'%.80s' %s", word, wrong);
    return wrong ? PL_E_INPUT : PL_OK;
}

pl_status option_value_parse(const struct option_row *row, const char *text, struct option_value *ret_value,
                             struct text *found)
{
    *ret_value = (struct option_value){.row = row, .text = memory_copy(text)};
    if (!*text) {
        text_add(found, "has no value");
        return PL_E_INPUT;
    }
    if (row->type == OPTION_TEXT) {
        ret_value->count = 1;
        return PL_OK;
    }
    char *copy = memory_copy(text), *rest = NULL;
    const size_t room = strlen(text) / 2 + 1;
    pl_status status = PL_OK;
    ret_value->numbers = memory_new(room, sizeof *ret_value->numbers);
    ret_value->integers = memory_new(room, sizeof *ret_value->integers);
    for (char *word = strtok_r(copy, OPTION_SEPARATORS, &rest); word && status == PL_OK;
         word = strtok_r(NULL, OPTION_SEPARATORS, &rest)) {
        assert(ret_value->count < room);
        if (ret_value->count == 1 && !option_is_list(row->type)) {
            text_format(found, "'%.80s' holds more than one value", text);
            status = PL_E_INPUT;
        } else {
            status = option_value_add(ret_value, word, found);
        }
    }
    free(copy);
    if (status == PL_OK && ret_value->count == 0) {
        text_format(found, "'%.80s' holds no value", text);
        status = PL_E_INPUT;
    }
    return status;
}

/* ---- a value in the caller's struct ---- */

/* Memory that lives as long as the options. */
static void *options_own(struct options *options, void *memory)
{
    options->owned = memory_grow(options->owned, options->owned_count, sizeof *options->owned);
    return options->owned[options->owned_count++] = memory;
}

/* Splits a list, in a copy that the options own. Commas and blanks separate, in any number. */
static size_t option_split(struct options *options, const char *value, const char ***ret_words)
{
    char *copy = options_own(options, memory_copy(value)), *rest = NULL;
    const char **words = options_own(options, memory_new(strlen(value) / 2 + 2, sizeof *words));
    size_t count = 0;
    for (char *word = strtok_r(copy, OPTION_SEPARATORS, &rest); word; word = strtok_r(NULL, OPTION_SEPARATORS, &rest))
        words[count++] = word;
    *ret_words = words;
    return count;
}

static pl_status option_set_list(struct options *options, struct option_state *state, const char *value,
                                 struct pl_error *error)
{
    const struct option_row *row = state->row;
    const char **words;
    const size_t count = option_split(options, value, &words);
    if (count == 0)
        return option_refuse(row, value, error);
    if (row->type == OPTION_TEXTS) {
        *(struct option_texts *)option_value(state) = (struct option_texts){words, count};
        return PL_OK;
    }
    if (row->type == OPTION_CHOICES) {
        uint64_t bits = 0;
        for (size_t i = 0; i < count; i++) {
            const int number = option_word_number(row->choices, words[i], strlen(words[i]));
            if (number < 0)
                return option_refuse(row, words[i], error);
            bits |= UINT64_C(1) << number;
        }
        *(uint64_t *)option_value(state) = bits;
        return PL_OK;
    }
    int64_t *integers = options_own(options, memory_new(count, sizeof *integers));
    double *numbers = options_own(options, memory_new(count, sizeof *numbers));
    for (size_t i = 0; i < count; i++)
        if (option_parse_word(row, words[i], &numbers[i], &integers[i]))
            return option_refuse(row, words[i], error);
    if (row->type == OPTION_NUMBERS)
        *(struct option_decimals *)option_value(state) = (struct option_decimals){numbers, count};
    else
        *(struct option_numbers *)option_value(state) = (struct option_numbers){integers, count};
    return PL_OK;
}

static void option_add_each(struct options *options, struct option_state *state, const char *value)
{
    struct option_texts *texts = option_value(state);
    const char **more = options_own(options, memory_new(texts->count + 1, sizeof *more));
    for (size_t i = 0; i < texts->count; i++)
        more[i] = texts->values[i];
    more[texts->count] = options_own(options, memory_copy(value));
    *texts = (struct option_texts){more, texts->count + 1};
}

static pl_status option_set_value(struct options *options, struct option_state *state, const char *value,
                                  struct pl_error *error)
{
    const struct option_row *row = state->row;
    void *to = option_value(state);
    int64_t integer;
    double decimal = 0;
    int number;
    switch (row->type) {
    case OPTION_FLAG:
        number = strcmp(value, "true") == 0 || strcmp(value, "yes") == 0;
        if (!number && strcmp(value, "false") != 0 && strcmp(value, "no") != 0)
            return option_refuse(row, value, error);
        *(bool *)to = number;
        return PL_OK;
    case OPTION_TEXT:
        *(const char **)to = options_own(options, memory_copy(value));
        return PL_OK;
    case OPTION_CHOICE:
        number = option_word_number(row->choices, value, strlen(value));
        if (number < 0)
            return option_refuse(row, value, error);
        *(int *)to = number;
        return PL_OK;
    case OPTION_INT:
    case OPTION_SIZE:
    case OPTION_MB:
        if (option_parse_word(row, value, &decimal, &integer))
            return option_refuse(row, value, error);
        *(int64_t *)to = integer;
        return PL_OK;
    case OPTION_NUMBER:
    case OPTION_TIME:
    case OPTION_PERCENT:
        if (option_parse_word(row, value, &decimal, &integer))
            return option_refuse(row, value, error);
        *(double *)to = decimal;
        return PL_OK;
    case OPTION_EACH:
        option_add_each(options, state, value);
        return PL_OK;
    case OPTION_CALL:
        return PL_OK;
    default:
        return option_set_list(options, state, value, error);
    }
}

/* "--size", or "line 3: size", as the source has it, before the message. */
static pl_status option_within(struct pl_error *error, const struct option_row *row, enum option_source source)
{
    return source == OPTION_FROM_COMMAND || source == OPTION_FROM_DEFAULT ? pl_within(error, "--%s", row->name)
                                                                          : pl_within(error, "%s", row->name);
}

static pl_status option_set_state(struct options *options, struct option_state *state, const char *value,
                                  enum option_source source, struct pl_error *error)
{
    const struct option_row *row = state->row;
    const bool adds = row->flags & OPTION_REPEATS || row->type == OPTION_EACH;
    if (adds && state->source != source) { /* what is given takes the place of what was there before */
        text_clear(&state->given);
        if (row->type == OPTION_EACH)
            *(struct option_texts *)option_value(state) = (struct option_texts){0};
        else if (state->source != OPTION_FROM_DEFAULT && row->set)
            row->set(state->target, row, NULL, error);
    }
    pl_status status = option_set_value(options, state, value, error);
    if (status == PL_OK && row->set)
        status = row->set(state->target, row, options_own(options, memory_copy(value)), error);
    if (status != PL_OK)
        return option_within(error, row, source);
    if (row->type == OPTION_CALL) {
        if (!adds)
            text_clear(&state->given);
        text_format(&state->given, "%s%s", state->given.length ? "\n" : "", value);
    }
    state->source = source;
    return PL_OK;
}

/* ---- all options ---- */

void options_init(struct options *options, const struct option_table *tables, int table_count)
{
    assert(table_count > 0 && table_count <= OPTION_TABLES_MAX);
    *options = (struct options){.table_count = table_count};
    memcpy(options->tables, tables, (size_t)table_count * sizeof *tables);
    options->states = memory_new(options_count(options), sizeof *options->states);
    size_t at = 0;
    for (int t = 0; t < table_count; t++)
        for (const struct option_row *row = tables[t].rows; row->name; row++, at++) {
            struct pl_error error = {.status = PL_OK};
            struct option_state *state = &options->states[at];
            *state = (struct option_state){.row = row, .target = tables[t].target};
            assert(row->type >= OPTION_FLAG && row->type <= OPTION_CALL && row->help);
            assert((row->type != OPTION_CHOICE && row->type != OPTION_CHOICES) || row->choices);
            const pl_status status = row->initial
                                         ? option_set_state(options, state, row->initial, OPTION_FROM_DEFAULT, &error)
                                         : PL_OK;
            assert(status == PL_OK); /* a default that its own row allows */
            (void)status;
        }
}

void options_clear(struct options *options)
{
    const size_t count = options->states ? options_count(options) : 0;
    for (size_t i = 0; i < count; i++)
        text_clear(&options->states[i].given);
    for (size_t i = 0; i < options->owned_count; i++)
        free(options->owned[i]);
    free(options->owned);
    free(options->states);
    free(options->operands);
    *options = (struct options){0};
}

const char *options_nearest(const struct options *options, const char *word)
{
    const size_t count = options_count(options);
    const char **names = memory_new(count + 1, sizeof *names);
    size_t at = 0;
    for (size_t i = 0; i < count; i++)
        if (!(options->states[i].row->flags & OPTION_QUIET))
            names[at++] = options->states[i].row->name;
    const char *nearest = variables_nearest(word, names);
    free(names);
    return nearest;
}

static pl_status options_unknown(const struct options *options, const char *dashes, const char *name,
                                 struct pl_error *error)
{
    const char *nearest = options_nearest(options, name);
    return nearest ? pl_fail(error, PL_E_USAGE, "'%s%.100s' is not an option; did you mean %s%s?", dashes, name, dashes,
                             nearest)
                   : pl_fail(error, PL_E_USAGE, "'%s%.100s' is not an option", dashes, name);
}

pl_status options_set(struct options *options, const char *name, const char *value, enum option_source source,
                      struct pl_error *error)
{
    struct option_state *state = options_find(options, name, strlen(name), false);
    return state ? option_set_state(options, state, value, source, error)
                 : options_unknown(options, source == OPTION_FROM_COMMAND ? "--" : "", name, error);
}

/* ---- the command line ---- */

/* `word` is "--name" or "--name=value", without the dashes; *ret_used: `next` was taken as its value. */
static pl_status options_take_long(struct options *options, const char *word, const char *next, bool *ret_used,
                                   struct pl_error *error)
{
    const size_t length = strcspn(word, "=");
    const char *value = word[length] == '=' ? word + length + 1 : NULL;
    struct option_state *state = options_find(options, word, length, true);
    if (!state && strncmp(word, "no-", 3) == 0 && !value) {
        state = options_find(options, word + 3, length - 3, false);
        if (state && state->row->type == OPTION_FLAG)
            return option_set_state(options, state, "false", OPTION_FROM_COMMAND, error);
        state = NULL;
    }
    if (!state) {
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)(length < 100 ? length : 100), word);
        return options_unknown(options, "--", name, error);
    }
    if (state->row->type == OPTION_FLAG)
        return value ? pl_fail(error, PL_E_USAGE, "option '--%s' takes no value", state->row->name)
                     : option_set_state(options, state, "true", OPTION_FROM_COMMAND, error);
    if (!value && !next)
        return pl_fail(error, PL_E_USAGE, "option '--%s' needs a value", state->row->name);
    *ret_used = !value;
    return option_set_state(options, state, value ? value : next, OPTION_FROM_COMMAND, error);
}

/* "-abc": flags a and b, and c with what follows. */
static pl_status options_take_letters(struct options *options, const char *letters, const char *next, bool *ret_used,
                                      struct pl_error *error)
{
    const size_t count = options_count(options);
    for (; *letters; letters++) {
        struct option_state *state = NULL;
        for (size_t i = 0; i < count && !state; i++)
            state = options->states[i].row->letter == *letters ? &options->states[i] : NULL;
        if (!state)
            return pl_fail(error, PL_E_USAGE, "'-%c' is not an option", *letters);
        if (state->row->type == OPTION_FLAG) {
            if (option_set_state(options, state, "true", OPTION_FROM_COMMAND, error) != PL_OK)
                return error->status;
            continue;
        }
        if (!letters[1] && !next)
            return pl_fail(error, PL_E_USAGE, "option '-%c' needs a value", *letters);
        *ret_used = !letters[1];
        return option_set_state(options, state, letters[1] ? letters + 1 : next, OPTION_FROM_COMMAND, error);
    }
    return PL_OK;
}

static void options_add_operand(struct options *options, const char *word)
{
    options->operands = memory_grow(options->operands, options->operand_count, sizeof *options->operands);
    options->operands[options->operand_count++] = word;
}

pl_status options_take_words(struct options *options, int count, char *const *words, bool stops_at_operand,
                             struct pl_error *error)
{
    int i = 1;
    for (; i < count; i++) {
        const char *word = words[i], *next = i + 1 < count ? words[i + 1] : NULL;
        bool used = false;
        pl_status status = PL_OK;
        if (strcmp(word, "--") == 0) {
            i++;
            break;
        }
        if (word[0] != '-' || word[1] == '\0') {
            if (stops_at_operand)
                break;
            options_add_operand(options, word);
        } else if (word[1] == '-') {
            status = options_take_long(options, word + 2, next, &used, error);
        } else {
            status = options_take_letters(options, word + 1, next, &used, error);
        }
        if (status != PL_OK)
            return status;
        i += used;
    }
    for (; i < count; i++)
        options_add_operand(options, words[i]);
    return PL_OK;
}

/* By name, alias, or the only name that begins with it. */
static const struct option_row *option_row_find(const struct option_row *const *tables, const char *name)
{
    const size_t length = strlen(name);
    const struct option_row *found = NULL;
    int count = 0;
    for (; *tables; tables++)
        for (const struct option_row *row = *tables; row->name; row++) {
            if (option_is_named(row, name, length))
                return row;
            if (strncmp(row->name, name, length) == 0) {
                found = row;
                count++;
            }
        }
    return count == 1 ? found : NULL;
}

static const struct option_row *option_row_of_letter(const struct option_row *const *tables, char letter)
{
    for (; *tables; tables++)
        for (const struct option_row *row = *tables; row->name; row++)
            if (row->letter == letter)
                return row;
    return NULL;
}

bool options_take_next(const struct option_row *const *tables, const char *word)
{
    const struct option_row *row = NULL;
    if (word[0] != '-' || !word[1])
        return false;
    if (word[1] == '-') {
        row = strchr(word, '=') ? NULL : option_row_find(tables, word + 2);
        return row && row->type != OPTION_FLAG;
    }
    for (const char *letter = word + 1; *letter; letter++) {
        row = option_row_of_letter(tables, *letter);
        if (!row || row->type != OPTION_FLAG)
            return row && !letter[1];
    }
    return false;
}

/* ---- environment and files ---- */

pl_status options_take_environment(struct options *options, const char *prefix, struct pl_error *error)
{
    const size_t length = strlen(prefix);
    for (char **variable = environ; *variable; variable++) {
        char name[128];
        const char *equals = strchr(*variable, '=');
        if (strncmp(*variable, prefix, length) != 0 || !equals || equals - *variable >= (ptrdiff_t)sizeof name)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(equals - *variable - (ptrdiff_t)length), *variable + length);
        for (char *c = name; *c; c++)
            *c = (char)(*c == '_' ? '-' : tolower((unsigned char)*c));
        if (options_set(options, name, equals + 1, OPTION_FROM_ENVIRONMENT, error) != PL_OK)
            return pl_within(error, "environment variable %.*s", (int)(equals - *variable), *variable);
    }
    return PL_OK;
}

pl_status options_take_file(struct options *options, const char *path, struct pl_error *error)
{
    struct text text = {0};
    if (text_read_file(path, &text, error) != PL_OK)
        return error->status;
    output_reads(path);
    pl_status status = PL_OK;
    int number = 0;
    char *rest = text.data, *line;
    while (status == PL_OK && rest && (line = strsep(&rest, "\n")) != NULL) {
        number++;
        line[strcspn(line, "#%\r")] = '\0';
        line += strspn(line, " \t");
        size_t length = strlen(line);
        while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
            line[--length] = '\0';
        if (!*line)
            continue;
        const size_t name = strcspn(line, " \t=");
        char *value = line + name + strspn(line + name, " \t=");
        line[name] = '\0';
        struct option_state *state = options_find(options, line, name, false);
        if (!state)
            status = options_unknown(options, "", line, error);
        else if (!*value && state->row->type != OPTION_FLAG)
            status = pl_fail(error, PL_E_USAGE, "%s: has no value", line);
        else
            status = option_set_state(options, state, *value ? value : "true", OPTION_FROM_FILE, error);
    }
    text_clear(&text);
    return status == PL_OK ? PL_OK : pl_within(error, "%s:%d", path, number);
}

/* ---- values as text ---- */

bool options_knows(const struct options *options, const char *name)
{
    return options_find(options, name, strlen(name), false) != NULL;
}

bool options_is_input(const struct options *options, const char *name)
{
    return !(options_state(options, name)->row->flags & OPTION_NO_INPUT);
}

bool options_given(const struct options *options, const char *name)
{
    return options_state(options, name)->source != OPTION_FROM_DEFAULT;
}

enum option_source options_source(const struct options *options, const char *name)
{
    return options_state(options, name)->source;
}

static void option_state_text(const struct option_state *state, struct text *out)
{
    const struct option_row *row = state->row;
    const void *from = option_value(state);
    const struct option_texts *texts = from;
    const struct option_numbers *numbers = from;
    const struct option_decimals *decimals = from;
    switch (row->type) {
    case OPTION_FLAG:
        text_add(out, *(const bool *)from ? "true" : "false");
        break;
    case OPTION_TEXT:
        text_add(out, *(const char *const *)from ? *(const char *const *)from : "");
        break;
    case OPTION_CHOICE:
        option_add_word(row->choices, *(const int *)from, out);
        break;
    case OPTION_INT:
    case OPTION_SIZE:
        text_format(out, "%" PRId64, *(const int64_t *)from);
        break;
    case OPTION_MB:
        text_format(out, "%.15g", (double)*(const int64_t *)from / 1e6);
        break;
    case OPTION_NUMBER:
    case OPTION_TIME:
        text_format(out, "%.15g", *(const double *)from);
        break;
    case OPTION_PERCENT:
        text_format(out, "%.15g%%", *(const double *)from * 100);
        break;
    case OPTION_INTS:
    case OPTION_SIZES:
        for (size_t i = 0; i < numbers->count; i++)
            text_format(out, "%s%" PRId64, i ? "," : "", numbers->values[i]);
        break;
    case OPTION_MBS:
        for (size_t i = 0; i < numbers->count; i++)
            text_format(out, "%s%.15g", i ? "," : "", (double)numbers->values[i] / 1e6);
        break;
    case OPTION_NUMBERS:
        for (size_t i = 0; i < decimals->count; i++)
            text_format(out, "%s%.15g", i ? "," : "", decimals->values[i]);
        break;
    case OPTION_CHOICES:
        for (int i = 0, first = 1; i < 64; i++)
            if (*(const uint64_t *)from >> i & 1) {
                text_add(out, first ? "" : ",");
                option_add_word(row->choices, i, out);
                first = 0;
            }
        break;
    case OPTION_TEXTS:
    case OPTION_EACH:
        for (size_t i = 0; i < texts->count; i++)
            text_format(out, "%s%s", i == 0 ? "" : row->type == OPTION_EACH ? "\n" : ",", texts->values[i]);
        break;
    case OPTION_CALL:
        if (row->text)
            row->text(state->target, row, out);
        else
            text_add(out, text_get(&state->given));
        break;
    }
}

void options_text(const struct options *options, const char *name, struct text *out)
{
    option_state_text(options_state(options, name), out);
}

void options_each_given(const struct options *options, void (*put)(void *context, const char *name, const char *value),
                        void *context)
{
    const size_t count = options_count(options);
    for (size_t i = 0; i < count; i++) {
        const struct option_state *state = &options->states[i];
        if (state->source == OPTION_FROM_DEFAULT || state->row->flags & OPTION_NO_INPUT)
            continue;
        struct text text = {0};
        option_state_text(state, &text);
        const bool lines = state->row->type == OPTION_EACH || state->row->flags & OPTION_REPEATS;
        char *rest = text.data, *line;
        if (!lines)
            put(context, state->row->name, text_get(&text));
        while (lines && rest && (line = strsep(&rest, "\n")) != NULL)
            put(context, state->row->name, line);
        text_clear(&text);
    }
}
