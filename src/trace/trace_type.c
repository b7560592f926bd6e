#include "trace/trace_type.h"

#include "base/array.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A file may come from anybody: how deep a type may be, and how many values all of its lists may have. */
enum { DEPTH_MAX = 64, LENGTH_MAX = 1 << 26 };

/* Letters: n an int, a an address, l a list, d distributions, o an order, t a type, T a list of them. */
static const struct type_constructor {
    const char *name, *letters;
} CONSTRUCTORS[] = {
    [TRACE_TYPE_NAMED] = {"", ""},
    [TRACE_TYPE_DUP] = {"dup", "t"},
    [TRACE_TYPE_CONTIGUOUS] = {"contiguous", "nt"},
    [TRACE_TYPE_VECTOR] = {"vector", "nnnt"},
    [TRACE_TYPE_HVECTOR] = {"hvector", "nnat"},
    [TRACE_TYPE_INDEXED] = {"indexed", "llt"},
    [TRACE_TYPE_HINDEXED] = {"hindexed", "llt"},
    [TRACE_TYPE_INDEXED_BLOCK] = {"indexed_block", "nlt"},
    [TRACE_TYPE_HINDEXED_BLOCK] = {"hindexed_block", "nlt"},
    [TRACE_TYPE_STRUCT] = {"struct", "llT"},
    [TRACE_TYPE_SUBARRAY] = {"subarray", "lllot"},
    [TRACE_TYPE_DARRAY] = {"darray", "nnldllot"},
    [TRACE_TYPE_RESIZED] = {"resized", "aat"},
    [TRACE_TYPE_F90_REAL] = {"f90_real", "nn"},
    [TRACE_TYPE_F90_COMPLEX] = {"f90_complex", "nn"},
    [TRACE_TYPE_F90_INTEGER] = {"f90_integer", "n"},
};

static const char *const NAMES[] = {
#define TYPE(name, c)    #name,
#define PAIR(name, a, b) #name,
#include "trace/trace_type.def"
#undef TYPE
#undef PAIR
};

const char *trace_type_kind_text(enum trace_type_kind kind)
{
    assert((size_t)kind < sizeof CONSTRUCTORS / sizeof CONSTRUCTORS[0]);
    return CONSTRUCTORS[kind].name;
}

struct type_parser {
    const char *text, *at;
    int depth;
    int values; /* of all lists */
    struct pl_error *error;
};

static pl_status type_fail_at(const struct type_parser *parser, const char *what)
{
    enum { SHOWN = 40 };
    if (strncmp(parser->at, "...", 3) == 0)
        return pl_fail(parser->error, PL_E_FORMAT,
                       "datatype: its text was too long for the trace and ends in '...': it cannot be made again");
    return pl_fail(parser->error, PL_E_FORMAT, "datatype: %s at '%.*s' (character %lld)", what, SHOWN, parser->at,
                   (long long)(parser->at - parser->text) + 1);
}

static pl_status type_parse_type(struct type_parser *parser, struct trace_type *ret_type);

static pl_status type_take(struct type_parser *parser, char wanted)
{
    if (*parser->at != wanted) {
        const char what[] = {'\'', wanted, '\'', ' ', 'i', 's', ' ', 'm', 'i', 's', 's', 'i', 'n', 'g', '\0'};
        return type_fail_at(parser, what);
    }
    parser->at++;
    return PL_OK;
}

/* ---- numbers and lists ---- */

static pl_status type_parse_number(struct type_parser *parser, int64_t *ret_number)
{
    char *end;
    *ret_number = strtoll(parser->at, &end, 10);
    if (end == parser->at || isspace((unsigned char)*parser->at))
        return type_fail_at(parser, "a number is missing");
    parser->at = end;
    return PL_OK;
}

static pl_status type_list_add(struct type_parser *parser, struct trace_type_list *list, int64_t value)
{
    if (parser->values++ >= LENGTH_MAX || !ARRAY_ROOM(list->values, list->count, list->room, 16))
        return pl_fail(parser->error, PL_E_NOMEM, "datatype: not enough memory for a list");
    list->values[list->count++] = value;
    return PL_OK;
}

/* FIRST or FIRST:STEP*COUNT. */
static pl_status type_parse_item(struct type_parser *parser, struct trace_type_list *list)
{
    int64_t first, step = 0, count = 1;
    pl_status status = type_parse_number(parser, &first);
    if (status == PL_OK && *parser->at == ':') {
        parser->at++;
        status = type_parse_number(parser, &step);
        if (status == PL_OK)
            status = type_take(parser, '*');
        if (status == PL_OK)
            status = type_parse_number(parser, &count);
        if (status == PL_OK && (count < 1 || count > LENGTH_MAX))
            status = type_fail_at(parser, "a list of that length is not possible before");
    }
    for (int64_t i = 0; i < count && status == PL_OK; i++)
        status = type_list_add(parser, list, (int64_t)((uint64_t)first + (uint64_t)i * (uint64_t)step));
    return status;
}

static pl_status type_parse_list(struct type_parser *parser, struct trace_type_list *list)
{
    pl_status status = type_take(parser, '[');
    while (status == PL_OK && *parser->at != ']') {
        status = type_parse_item(parser, list);
        if (status == PL_OK && *parser->at == ' ')
            parser->at++;
        else if (status == PL_OK && *parser->at != ']')
            status = type_fail_at(parser, "']' is missing");
    }
    return status == PL_OK ? type_take(parser, ']') : status;
}

/* [block cyclic none] */
static pl_status type_parse_distributions(struct type_parser *parser, struct trace_type_list *list)
{
    static const struct {
        const char *word;
        enum trace_type_distribution value;
    } words[] = {{"block", TRACE_TYPE_BLOCK}, {"cyclic", TRACE_TYPE_CYCLIC}, {"none", TRACE_TYPE_NONE}};
    pl_status status = type_take(parser, '[');
    while (status == PL_OK && *parser->at != ']') {
        const size_t length = strcspn(parser->at, " ],()");
        size_t i = 0;
        while (i < 3 && (strlen(words[i].word) != length || strncmp(words[i].word, parser->at, length) != 0))
            i++;
        if (i == 3)
            return type_fail_at(parser, "expected block, cyclic or none");
        status = type_list_add(parser, list, words[i].value);
        parser->at += length + (parser->at[length] == ' ');
    }
    return status == PL_OK ? type_take(parser, ']') : status;
}

static pl_status type_add_type(struct type_parser *parser, struct trace_type *type)
{
    struct trace_type *types = realloc(type->types, ((size_t)type->type_count + 1) * sizeof *types);
    if (!types)
        return pl_fail(parser->error, PL_E_NOMEM, "datatype: not enough memory for its parts");
    type->types = types;
    return type_parse_type(parser, &types[type->type_count++]);
}

static pl_status type_parse_types(struct type_parser *parser, struct trace_type *type)
{
    pl_status status = type_take(parser, '[');
    while (status == PL_OK && *parser->at != ']') {
        status = type_add_type(parser, type);
        if (status == PL_OK && *parser->at == ' ')
            parser->at++;
        else if (status == PL_OK && *parser->at != ']')
            status = type_fail_at(parser, "']' is missing");
    }
    return status == PL_OK ? type_take(parser, ']') : status;
}

static pl_status type_parse_argument(struct type_parser *parser, char letter, struct trace_type *type)
{
    int64_t *number = &type->numbers[type->number_count];
    pl_status status;
    switch (letter) {
    case 'n':
    case 'a':
        assert(type->number_count < TRACE_TYPE_NUMBERS);
        type->number_count++;
        status = type_parse_number(parser, number);
        if (status == PL_OK && letter == 'n' && (*number < INT_MIN || *number > INT_MAX))
            status = type_fail_at(parser, "a number beyond 2^31 is not possible before");
        return status;
    case 'l':
        assert(type->list_count < TRACE_TYPE_LISTS);
        return type_parse_list(parser, &type->lists[type->list_count++]);
    case 'd':
        return type_parse_distributions(parser, &type->lists[type->list_count++]);
    case 'o':
        if (*parser->at != 'C' && *parser->at != 'F')
            return type_fail_at(parser, "expected the order C or F");
        type->is_fortran = *parser->at++ == 'F';
        return PL_OK;
    case 'T':
        return type_parse_types(parser, type);
    default:
        return type_add_type(parser, type);
    }
}

/* Lists that describe the same things are of the same length. */
static bool type_lists_agree(const struct trace_type *type)
{
    for (int i = 1; i < type->list_count; i++)
        if (type->lists[i].count != type->lists[0].count)
            return false;
    return type->kind != TRACE_TYPE_STRUCT || type->type_count == type->lists[0].count;
}

static pl_status type_parse_made(struct type_parser *parser, struct trace_type *type)
{
    pl_status status = type_take(parser, '(');
    for (const char *first = CONSTRUCTORS[type->kind].letters, *c = first; *c && status == PL_OK; c++) {
        if (c > first)
            status = type_take(parser, ',');
        if (status == PL_OK)
            status = type_parse_argument(parser, *c, type);
    }
    if (status == PL_OK)
        status = type_take(parser, ')');
    if (status == PL_OK && !type_lists_agree(type))
        status = type_fail_at(parser, "lists of different lengths stand before");
    return status;
}

static bool type_is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && strncmp(word, text, length) == 0;
}

static pl_status type_parse_type(struct type_parser *parser, struct trace_type *ret_type)
{
    const char *word = parser->at;
    size_t length = 0;
    *ret_type = (struct trace_type){0};
    while (isalnum((unsigned char)word[length]) || word[length] == '_')
        length++;
    for (int i = 0; i < TRACE_TYPE_NAMES; i++)
        if (type_is_word(NAMES[i], word, length)) {
            ret_type->name = (enum trace_type_name)i;
            parser->at += length;
            return PL_OK;
        }
    for (size_t i = TRACE_TYPE_NAMED + 1; i < sizeof CONSTRUCTORS / sizeof CONSTRUCTORS[0]; i++) {
        if (!type_is_word(CONSTRUCTORS[i].name, word, length))
            continue;
        if (++parser->depth > DEPTH_MAX)
            return type_fail_at(parser, "too many types inside of each other");
        ret_type->kind = (enum trace_type_kind)i;
        parser->at += length;
        const pl_status status = type_parse_made(parser, ret_type);
        parser->depth--;
        return status;
    }
    return type_fail_at(parser, "this is no datatype");
}

pl_status trace_type_parse(const char *text, struct trace_type *ret_type, struct pl_error *error)
{
    struct type_parser parser = {.text = text, .at = text, .error = error};
    pl_status status = type_parse_type(&parser, ret_type);
    if (status == PL_OK && *parser.at)
        status = type_fail_at(&parser, "nothing is expected");
    if (status != PL_OK)
        trace_type_clear(ret_type);
    return status;
}

void trace_type_clear(struct trace_type *type)
{
    for (int i = 0; i < type->list_count; i++)
        free(type->lists[i].values);
    for (int i = 0; i < type->type_count; i++)
        trace_type_clear(&type->types[i]);
    free(type->types);
    *type = (struct trace_type){0};
}
