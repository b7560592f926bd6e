#include "replay/replay_type_make.h"

#include "mpi/coll.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, LENGTH_MAX = 1 << 26 };

struct parser {
    const char *text, *at;
    int depth;
    struct pl_error *error;
};

static pl_status fail_at(const struct parser *parser, const char *what)
{
    enum { SHOWN = 40 };
    if (strncmp(parser->at, "...", 3) == 0)
        return pl_fail(parser->error, PL_E_FORMAT,
                       "datatype: its text was too long for the trace and ends in '...': it cannot be made again");
    return pl_fail(parser->error, PL_E_FORMAT, "datatype: %s at '%.*s' (character %lld)", what, SHOWN, parser->at,
                   (long long)(parser->at - parser->text) + 1);
}

static pl_status parse_type(struct parser *parser, struct replay_type *ret_type);

static pl_status take(struct parser *parser, char wanted)
{
    if (*parser->at != wanted) {
        const char what[] = {'\'', wanted, '\'', ' ', 'i', 's', ' ', 'm', 'i', 's', 's', 'i', 'n', 'g', '\0'};
        return fail_at(parser, what);
    }
    parser->at++;
    return PL_OK;
}

/* ---- numbers and lists ---- */

static pl_status parse_number(struct parser *parser, int64_t *ret_number)
{
    char *end;
    *ret_number = strtoll(parser->at, &end, 10);
    if (end == parser->at || isspace((unsigned char)*parser->at))
        return fail_at(parser, "a number is missing");
    parser->at = end;
    return PL_OK;
}

static pl_status list_add(struct parser *parser, struct replay_type_list *list, int64_t value)
{
    if (list->count == list->capacity) {
        const int capacity = list->capacity ? 2 * list->capacity : 16;
        int64_t *values = list->capacity < LENGTH_MAX ? realloc(list->values, (size_t)capacity * sizeof *values) : NULL;
        if (!values)
            return pl_fail(parser->error, PL_E_NOMEM, "datatype: not enough memory for a list");
        list->values = values;
        list->capacity = capacity;
    }
    list->values[list->count++] = value;
    return PL_OK;
}

/* FIRST or FIRST:STEP*COUNT. */
static pl_status parse_item(struct parser *parser, struct replay_type_list *list)
{
    int64_t first, step = 0, count = 1;
    pl_status status = parse_number(parser, &first);
    if (status == PL_OK && *parser->at == ':') {
        parser->at++;
        status = parse_number(parser, &step);
        if (status == PL_OK)
            status = take(parser, '*');
        if (status == PL_OK)
            status = parse_number(parser, &count);
        if (status == PL_OK && (count < 1 || count > LENGTH_MAX))
            status = fail_at(parser, "a list of that length is not possible before");
    }
    for (int64_t i = 0; i < count && status == PL_OK; i++)
        status = list_add(parser, list, (int64_t)((uint64_t)first + (uint64_t)i * (uint64_t)step));
    return status;
}

static pl_status parse_list(struct parser *parser, struct replay_type_list *list)
{
    pl_status status = take(parser, '[');
    while (status == PL_OK && *parser->at != ']') {
        status = parse_item(parser, list);
        if (status == PL_OK && *parser->at == ' ')
            parser->at++;
        else if (status == PL_OK && *parser->at != ']')
            status = fail_at(parser, "']' is missing");
    }
    return status == PL_OK ? take(parser, ']') : status;
}

/* [block cyclic none] */
static pl_status parse_distributions(struct parser *parser, struct replay_type_list *list)
{
    static const struct {
        const char *word;
        int value;
    } words[] = {{"block", MPI_DISTRIBUTE_BLOCK}, {"cyclic", MPI_DISTRIBUTE_CYCLIC}, {"none", MPI_DISTRIBUTE_NONE}};
    pl_status status = take(parser, '[');
    while (status == PL_OK && *parser->at != ']') {
        const size_t length = strcspn(parser->at, " ],()");
        size_t i = 0;
        while (i < 3 && (strlen(words[i].word) != length || strncmp(words[i].word, parser->at, length) != 0))
            i++;
        if (i == 3)
            return fail_at(parser, "expected block, cyclic or none");
        status = list_add(parser, list, words[i].value);
        parser->at += length + (parser->at[length] == ' ');
    }
    return status == PL_OK ? take(parser, ']') : status;
}

static pl_status parse_order(struct parser *parser, int *ret_order)
{
    if (*parser->at != 'C' && *parser->at != 'F')
        return fail_at(parser, "expected the order C or F");
    *ret_order = *parser->at++ == 'C' ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    return PL_OK;
}

static pl_status add_type(struct parser *parser, struct replay_type_arguments *arguments)
{
    struct replay_type *types = realloc(arguments->types, ((size_t)arguments->type_count + 1) * sizeof *types);
    if (!types)
        return pl_fail(parser->error, PL_E_NOMEM, "datatype: not enough memory for its parts");
    arguments->types = types;
    const pl_status status = parse_type(parser, &types[arguments->type_count]);
    arguments->type_count += status == PL_OK;
    return status;
}

static pl_status parse_types(struct parser *parser, struct replay_type_arguments *arguments)
{
    pl_status status = take(parser, '[');
    while (status == PL_OK && *parser->at != ']') {
        status = add_type(parser, arguments);
        if (status == PL_OK && *parser->at == ' ')
            parser->at++;
        else if (status == PL_OK && *parser->at != ']')
            status = fail_at(parser, "']' is missing");
    }
    return status == PL_OK ? take(parser, ']') : status;
}

static void clear_arguments(struct replay_type_arguments *arguments)
{
    for (int i = 0; i < arguments->list_count; i++)
        free(arguments->lists[i].values);
    for (int i = 0; i < arguments->type_count; i++)
        replay_type_clear(&arguments->types[i]);
    free(arguments->types);
}

static pl_status parse_argument(struct parser *parser, char letter, struct replay_type_arguments *arguments)
{
    int64_t *number = &arguments->numbers[arguments->number_count];
    pl_status status;
    switch (letter) {
    case 'n':
    case 'a':
        arguments->number_count++;
        status = parse_number(parser, number);
        if (status == PL_OK && letter == 'n' && (*number < INT_MIN || *number > INT_MAX))
            status = fail_at(parser, "a number beyond 2^31 is not possible before");
        return status;
    case 'l':
        return parse_list(parser, &arguments->lists[arguments->list_count++]);
    case 'd':
        return parse_distributions(parser, &arguments->lists[arguments->list_count++]);
    case 'o':
        return parse_order(parser, &arguments->order);
    case 'T':
        return parse_types(parser, arguments);
    default:
        return add_type(parser, arguments);
    }
}

static pl_status parse_made(struct parser *parser, const struct replay_constructor *constructor,
                            struct replay_type *ret_type)
{
    struct replay_type_arguments arguments = {0};
    pl_status status = take(parser, '(');
    for (const char *letter = constructor->letters; *letter && status == PL_OK; letter++) {
        if (letter > constructor->letters)
            status = take(parser, ',');
        if (status == PL_OK)
            status = parse_argument(parser, *letter, &arguments);
    }
    if (status == PL_OK)
        status = take(parser, ')');
    if (status == PL_OK) {
        const int code = constructor->make(&arguments, &ret_type->type);
        /* MPI owns the types of Fortran's kinds. */
        ret_type->owned = strncmp(constructor->name, "f90_", 4) != 0;
        if (code != MPI_SUCCESS) {
            *ret_type = (struct replay_type){MPI_DATATYPE_NULL, false};
            status = coll_fail_mpi(parser->error, code, "datatype: %s", constructor->name);
        }
    }
    clear_arguments(&arguments);
    return status;
}

static bool find_named(const char *name, size_t length, MPI_Datatype *ret_type)
{
    static const struct {
        const char *name;
        MPI_Datatype type;
    } names[] = {
#define TYPE(name) {#name, name},
#include "replay/replay_type.def"
#undef TYPE
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i].name) == length && strncmp(names[i].name, name, length) == 0) {
            *ret_type = names[i].type;
            return true;
        }
    return false;
}

static pl_status parse_type(struct parser *parser, struct replay_type *ret_type)
{
    size_t length = 0;
    *ret_type = (struct replay_type){MPI_DATATYPE_NULL, false};
    while (isalnum((unsigned char)parser->at[length]) || parser->at[length] == '_')
        length++;
    if (find_named(parser->at, length, &ret_type->type) && ret_type->type != MPI_DATATYPE_NULL) {
        parser->at += length;
        return PL_OK;
    }
    const struct replay_constructor *constructor = replay_constructor_find(parser->at, length);
    if (!constructor)
        return fail_at(parser, "this is no datatype");
    if (++parser->depth > DEPTH_MAX)
        return fail_at(parser, "too many types inside of each other");
    parser->at += length;
    const pl_status status = parse_made(parser, constructor, ret_type);
    parser->depth--;
    return status;
}

pl_status replay_type_make(const char *text, struct replay_type *ret_type, struct pl_error *error)
{
    struct parser parser = {.text = text, .at = text, .error = error};
    pl_status status = parse_type(&parser, ret_type);
    if (status == PL_OK && *parser.at)
        status = fail_at(&parser, "nothing is expected");
    if (status == PL_OK && ret_type->owned && MPI_Type_commit(&ret_type->type) != MPI_SUCCESS)
        status = pl_fail(error, PL_E_MPI, "datatype: MPI_Type_commit failed");
    if (status != PL_OK)
        replay_type_clear(ret_type);
    return status;
}

void replay_type_clear(struct replay_type *type)
{
    if (type->owned && type->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&type->type);
    *type = (struct replay_type){MPI_DATATYPE_NULL, false};
}
