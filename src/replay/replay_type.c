#include "replay/replay_type.h"

#include "mpi/coll.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, LISTS_MAX = 4, NUMBERS_MAX = 3, LENGTH_MAX = 1 << 26 };

struct list {
    int64_t *values;
    int count, capacity;
};

/* What stands between the parentheses of a constructor. */
struct arguments {
    int64_t numbers[NUMBERS_MAX];
    int number_count;
    struct list lists[LISTS_MAX];
    int list_count;
    int order;
    struct replay_type *types;
    int type_count;
};

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

static pl_status list_add(struct parser *parser, struct list *list, int64_t value)
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
static pl_status parse_item(struct parser *parser, struct list *list)
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

static pl_status parse_list(struct parser *parser, struct list *list)
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
static pl_status parse_distributions(struct parser *parser, struct list *list)
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

static pl_status add_type(struct parser *parser, struct arguments *arguments)
{
    struct replay_type *types = realloc(arguments->types, ((size_t)arguments->type_count + 1) * sizeof *types);
    if (!types)
        return pl_fail(parser->error, PL_E_NOMEM, "datatype: not enough memory for its parts");
    arguments->types = types;
    const pl_status status = parse_type(parser, &types[arguments->type_count]);
    arguments->type_count += status == PL_OK;
    return status;
}

static pl_status parse_types(struct parser *parser, struct arguments *arguments)
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

static void clear_arguments(struct arguments *arguments)
{
    for (int i = 0; i < arguments->list_count; i++)
        free(arguments->lists[i].values);
    for (int i = 0; i < arguments->type_count; i++)
        replay_type_clear(&arguments->types[i]);
    free(arguments->types);
}

/* ---- constructors ---- */

/* Integers of an MPI are ints: what does not fit makes the call fail by `fits`. */
static int *as_ints(const struct list *list, bool *fits)
{
    int *ints = malloc(((size_t)list->count + 1) * sizeof *ints);
    *fits = *fits && ints;
    for (int i = 0; i < list->count && ints; i++) {
        *fits = *fits && list->values[i] >= INT_MIN && list->values[i] <= INT_MAX;
        ints[i] = (int)list->values[i];
    }
    return ints;
}

static MPI_Aint *as_aints(const struct list *list, bool *fits)
{
    MPI_Aint *aints = malloc(((size_t)list->count + 1) * sizeof *aints);
    *fits = *fits && aints;
    for (int i = 0; i < list->count && aints; i++)
        aints[i] = (MPI_Aint)list->values[i];
    return aints;
}

typedef int make_type(const struct arguments *a, MPI_Datatype *ret);

static int make_dup(const struct arguments *a, MPI_Datatype *ret)
{
    return MPI_Type_dup(a->types[0].type, ret);
}

static int make_contiguous(const struct arguments *a, MPI_Datatype *ret)
{
    return MPI_Type_contiguous((int)a->numbers[0], a->types[0].type, ret);
}

static int make_vector(const struct arguments *a, MPI_Datatype *ret)
{
    return MPI_Type_vector((int)a->numbers[0], (int)a->numbers[1], (int)a->numbers[2], a->types[0].type, ret);
}

static int make_hvector(const struct arguments *a, MPI_Datatype *ret)
{
    return MPI_Type_create_hvector((int)a->numbers[0], (int)a->numbers[1], (MPI_Aint)a->numbers[2], a->types[0].type,
                                   ret);
}

static int make_resized(const struct arguments *a, MPI_Datatype *ret)
{
    return MPI_Type_create_resized(a->types[0].type, (MPI_Aint)a->numbers[0], (MPI_Aint)a->numbers[1], ret);
}

static int make_indexed(const struct arguments *a, MPI_Datatype *ret)
{
    bool fits = a->lists[0].count == a->lists[1].count;
    int *lengths = as_ints(&a->lists[0], &fits), *places = as_ints(&a->lists[1], &fits);
    const int code = fits ? MPI_Type_indexed(a->lists[0].count, lengths, places, a->types[0].type, ret) : MPI_ERR_ARG;
    free(lengths);
    free(places);
    return code;
}

static int make_hindexed(const struct arguments *a, MPI_Datatype *ret)
{
    bool fits = a->lists[0].count == a->lists[1].count;
    int *lengths = as_ints(&a->lists[0], &fits);
    MPI_Aint *places = as_aints(&a->lists[1], &fits);
    const int code = fits ? MPI_Type_create_hindexed(a->lists[0].count, lengths, places, a->types[0].type, ret)
                          : MPI_ERR_ARG;
    free(lengths);
    free(places);
    return code;
}

static int make_indexed_block(const struct arguments *a, MPI_Datatype *ret)
{
    bool fits = true;
    int *places = as_ints(&a->lists[0], &fits);
    const int code = fits ? MPI_Type_create_indexed_block(a->lists[0].count, (int)a->numbers[0], places,
                                                          a->types[0].type, ret)
                          : MPI_ERR_ARG;
    free(places);
    return code;
}

static int make_hindexed_block(const struct arguments *a, MPI_Datatype *ret)
{
    bool fits = true;
    MPI_Aint *places = as_aints(&a->lists[0], &fits);
    const int code = fits ? MPI_Type_create_hindexed_block(a->lists[0].count, (int)a->numbers[0], places,
                                                           a->types[0].type, ret)
                          : MPI_ERR_ARG;
    free(places);
    return code;
}

static int make_struct(const struct arguments *a, MPI_Datatype *ret)
{
    bool fits = a->lists[0].count == a->lists[1].count && a->lists[0].count == a->type_count;
    int *lengths = as_ints(&a->lists[0], &fits);
    MPI_Aint *places = as_aints(&a->lists[1], &fits);
    MPI_Datatype *types = malloc(((size_t)a->type_count + 1) * sizeof(MPI_Datatype));
    for (int i = 0; i < a->type_count && types; i++)
        types[i] = a->types[i].type;
    const int code = fits && types ? MPI_Type_create_struct(a->type_count, lengths, places, types, ret) : MPI_ERR_ARG;
    free(lengths);
    free(places);
    free(types);
    return code;
}

static int make_subarray(const struct arguments *a, MPI_Datatype *ret)
{
    bool fits = a->lists[0].count == a->lists[1].count && a->lists[0].count == a->lists[2].count;
    int *sizes = as_ints(&a->lists[0], &fits), *parts = as_ints(&a->lists[1], &fits),
        *starts = as_ints(&a->lists[2], &fits);
    const int code = fits ? MPI_Type_create_subarray(a->lists[0].count, sizes, parts, starts, a->order,
                                                     a->types[0].type, ret)
                          : MPI_ERR_ARG;
    free(sizes);
    free(parts);
    free(starts);
    return code;
}

static int make_darray(const struct arguments *a, MPI_Datatype *ret)
{
    const int dims = a->lists[0].count;
    bool fits = true;
    int *ints[LISTS_MAX];
    for (int i = 0; i < LISTS_MAX; i++) {
        fits = fits && a->lists[i].count == dims;
        ints[i] = as_ints(&a->lists[i], &fits);
    }
    for (int i = 0; i < dims && fits; i++) /* the default has another number in each MPI, and none is positive */
        ints[2][i] = ints[2][i] < 0 ? MPI_DISTRIBUTE_DFLT_DARG : ints[2][i];
    const int code = fits ? MPI_Type_create_darray((int)a->numbers[0], (int)a->numbers[1], dims, ints[0], ints[1],
                                                   ints[2], ints[3], a->order, a->types[0].type, ret)
                          : MPI_ERR_ARG;
    for (int i = 0; i < LISTS_MAX; i++)
        free(ints[i]);
    return code;
}

static int make_f90_real(const struct arguments *a, MPI_Datatype *ret)
{
    return MPI_Type_create_f90_real((int)a->numbers[0], (int)a->numbers[1], ret);
}

static int make_f90_complex(const struct arguments *a, MPI_Datatype *ret)
{
    return MPI_Type_create_f90_complex((int)a->numbers[0], (int)a->numbers[1], ret);
}

static int make_f90_integer(const struct arguments *a, MPI_Datatype *ret)
{
    return MPI_Type_create_f90_integer((int)a->numbers[0], ret);
}

/* Letters: n an int, a an address, l a list, d distributions, o an order, t a type, T a list of them. */
static const struct constructor {
    const char *name, *letters;
    make_type *make;
} CONSTRUCTORS[] = {
    {"dup", "t", make_dup},
    {"contiguous", "nt", make_contiguous},
    {"vector", "nnnt", make_vector},
    {"hvector", "nnat", make_hvector},
    {"indexed", "llt", make_indexed},
    {"hindexed", "llt", make_hindexed},
    {"indexed_block", "nlt", make_indexed_block},
    {"hindexed_block", "nlt", make_hindexed_block},
    {"struct", "llT", make_struct},
    {"subarray", "lllot", make_subarray},
    {"darray", "nnldllot", make_darray},
    {"resized", "aat", make_resized},
    {"f90_real", "nn", make_f90_real},
    {"f90_complex", "nn", make_f90_complex},
    {"f90_integer", "n", make_f90_integer},
};

static pl_status parse_argument(struct parser *parser, char letter, struct arguments *arguments)
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

static pl_status parse_made(struct parser *parser, const struct constructor *constructor, struct replay_type *ret_type)
{
    struct arguments arguments = {0};
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
    for (size_t i = 0; i < sizeof CONSTRUCTORS / sizeof CONSTRUCTORS[0]; i++)
        if (strlen(CONSTRUCTORS[i].name) == length && strncmp(CONSTRUCTORS[i].name, parser->at, length) == 0) {
            if (++parser->depth > DEPTH_MAX)
                return fail_at(parser, "too many types inside of each other");
            parser->at += length;
            const pl_status status = parse_made(parser, &CONSTRUCTORS[i], ret_type);
            parser->depth--;
            return status;
        }
    return fail_at(parser, "this is no datatype");
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
