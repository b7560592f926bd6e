/* How a datatype was made, as text: the name of a basic type, or its constructor with what it was given.
 *
 *     contiguous(n,T)  vector(n,blocklength,stride,T)  hvector(…)  indexed([blocklengths],[displacements],T)
 *     hindexed(…)  indexed_block(blocklength,[displacements],T)  hindexed_block(…)
 *     struct([blocklengths],[displacements],[T T …])  subarray([sizes],[subsizes],[starts],C|F,T)
 *     darray(size,rank,[gsizes],[distributions],[arguments],[psizes],C|F,T)  resized(lb,extent,T)  dup(T)
 *
 * In lists, a row of values at equal distances is FIRST:STEP*COUNT. */
#include "mpi/real.h"
#include "tracer/tracer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, TEXT_MAX = 1 << 20 }; /* a longer one ends in "..." */

/* The arguments of a constructor: integers, then addresses, then counts of the large functions. */
struct contents {
    int combiner;
    int64_t *values;
    int64_t value_count;
    MPI_Datatype *types;
    int64_t type_count;
};

static void add_type(MPI_Datatype type, int depth, struct text *text);

#if PIOLET_IS_OPENMPI
static bool get_contents(MPI_Datatype type, struct contents *contents)
{
    int integers, addresses, types;
    if (real.Type_get_envelope(type, &integers, &addresses, &types, &contents->combiner) != MPI_SUCCESS)
        return false;
    if (contents->combiner == MPI_COMBINER_NAMED)
        return true;
    int *integer = calloc((size_t)integers + 1, sizeof *integer);
    MPI_Aint *address = calloc((size_t)addresses + 1, sizeof *address);
    contents->values = calloc((size_t)integers + (size_t)addresses + 1, sizeof *contents->values);
    contents->types = calloc((size_t)types + 1, sizeof(MPI_Datatype));
    const bool ok = integer && address && contents->values && contents->types &&
                    real.Type_get_contents(type, integers, addresses, types, integer, address, contents->types) ==
                        MPI_SUCCESS;
    for (int i = 0; ok && i < integers; i++)
        contents->values[contents->value_count++] = integer[i];
    for (int i = 0; ok && i < addresses; i++)
        contents->values[contents->value_count++] = address[i];
    contents->type_count = ok ? types : 0;
    free(integer);
    free(address);
    return ok;
}
#else
/* The large form: it answers for types of both. Subarrays and darrays of the large form have their counts among the
 * large ones, behind integers that are single: put() brings them in order. */
static bool get_contents(MPI_Datatype type, struct contents *contents)
{
    MPI_Count integers, addresses, large, types;
    if (real.Type_get_envelope_c(type, &integers, &addresses, &large, &types, &contents->combiner) != MPI_SUCCESS)
        return false;
    if (contents->combiner == MPI_COMBINER_NAMED)
        return true;
    int *integer = calloc((size_t)integers + 1, sizeof *integer);
    MPI_Aint *address = calloc((size_t)addresses + 1, sizeof *address);
    MPI_Count *count = calloc((size_t)large + 1, sizeof *count);
    contents->values = calloc((size_t)(integers + addresses + large) + 1, sizeof *contents->values);
    contents->types = calloc((size_t)types + 1, sizeof(MPI_Datatype));
    const bool ok = integer && address && count && contents->values && contents->types &&
                    real.Type_get_contents_c(type, integers, addresses, large, types, integer, address, count,
                                             contents->types) == MPI_SUCCESS;
    for (MPI_Count i = 0; ok && i < integers; i++)
        contents->values[contents->value_count++] = integer[i];
    for (MPI_Count i = 0; ok && i < addresses; i++)
        contents->values[contents->value_count++] = address[i];
    for (MPI_Count i = 0; ok && i < large; i++)
        contents->values[contents->value_count++] = count[i];
    contents->type_count = ok ? types : 0;
    free(integer);
    free(address);
    free(count);
    return ok;
}
#endif

static void add_list(struct text *text, const int64_t *values, int64_t count)
{
    text_add(text, "[");
    for (int64_t i = 0; i < count && text->length < TEXT_MAX;) {
        const int64_t step = i + 1 < count ? values[i + 1] - values[i] : 0;
        int64_t run = 1;
        while (i + run < count && values[i + run] - values[i + run - 1] == step)
            run++;
        run = run < 3 ? 1 : run;
        text_format(text, "%s%" PRId64, i ? " " : "", values[i]);
        if (run > 1)
            text_format(text, ":%" PRId64 "*%" PRId64, step, run);
        i += run;
    }
    text_add(text, text->length < TEXT_MAX ? "]" : "...]");
}

/* Letters: n a number, l a list of the first number's length, o an order; t a type, T all of them as a list. The first
 * number is told only where it is one of the letters: a list shows its length. */
static const struct form {
    const char *name, *letters;
    int combiner;
    bool counts_first; /* the first value is the length of the lists and not told itself */
} FORMS[] = {
    {"dup", "t", MPI_COMBINER_DUP, false},
    {"contiguous", "nt", MPI_COMBINER_CONTIGUOUS, false},
    {"vector", "nnnt", MPI_COMBINER_VECTOR, false},
    {"hvector", "nnnt", MPI_COMBINER_HVECTOR, false},
    {"indexed", "llt", MPI_COMBINER_INDEXED, true},
    {"hindexed", "llt", MPI_COMBINER_HINDEXED, true},
    {"indexed_block", "nlt", MPI_COMBINER_INDEXED_BLOCK, true},
    {"hindexed_block", "nlt", MPI_COMBINER_HINDEXED_BLOCK, true},
    {"struct", "llT", MPI_COMBINER_STRUCT, true},
    {"subarray", "lllot", MPI_COMBINER_SUBARRAY, true},
    {"resized", "nnt", MPI_COMBINER_RESIZED, false},
    {"f90_real", "nn", MPI_COMBINER_F90_REAL, false},
    {"f90_complex", "nn", MPI_COMBINER_F90_COMPLEX, false},
    {"f90_integer", "n", MPI_COMBINER_F90_INTEGER, false},
};

static void add_order(struct text *text, int64_t order)
{
    text_add(text, order == MPI_ORDER_C ? "C" : "F");
}

/* MPI_Type_create_subarray_c: integers ndims, order; then sizes, subsizes, starts. */
static void put_subarray_in_order(struct contents *contents)
{
    const int64_t dims = contents->values[0];
    if (contents->combiner != MPI_COMBINER_SUBARRAY || contents->value_count != 2 + 3 * dims ||
        (contents->values[1] != MPI_ORDER_C && contents->values[1] != MPI_ORDER_FORTRAN))
        return;
    const int64_t last = contents->values[contents->value_count - 1];
    if (last == MPI_ORDER_C || last == MPI_ORDER_FORTRAN)
        return; /* the usual one: ndims, sizes, subsizes, starts, order */
    const int64_t order = contents->values[1];
    memmove(contents->values + 1, contents->values + 2, (size_t)(3 * dims) * sizeof *contents->values);
    contents->values[contents->value_count - 1] = order;
}

/* size, rank, ndims, gsizes, distributions, arguments, psizes, order. The large form has gsizes at the end. */
static void add_darray(const struct contents *contents, struct text *text)
{
    const int64_t *v = contents->values, dims = v[2];
    const int64_t order = v[3 + 4 * dims]; /* of the usual form */
    const bool is_large = order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN;
    const int64_t *rest = is_large ? v + 3 : v + 3 + dims, *sizes = is_large ? v + 4 + 3 * dims : v + 3;
    text_format(text, "darray(%" PRId64 ",%" PRId64 ",", v[0], v[1]);
    add_list(text, sizes, dims);
    for (int i = 0; i < 3; i++) {
        text_add(text, ",");
        if (i == 0) {
            text_add(text, "[");
            for (int64_t k = 0; k < dims; k++)
                text_format(text, "%s%s", k ? " " : "",
                            rest[k] == MPI_DISTRIBUTE_BLOCK    ? "block"
                            : rest[k] == MPI_DISTRIBUTE_CYCLIC ? "cyclic"
                                                               : "none");
            text_add(text, "]");
        } else {
            add_list(text, rest + i * dims, dims);
        }
    }
    text_add(text, ",");
    add_order(text, rest[3 * dims]);
    text_add(text, ",");
}

static void add_form(const struct form *form, const struct contents *contents, int depth, struct text *text)
{
    const int64_t *value = contents->values, *const end = value + contents->value_count;
    const int64_t length = form->counts_first ? *value++ : 0;
    text_format(text, "%s(", form->name);
    for (const char *c = form->letters; *c; c++) {
        text_add(text, c > form->letters ? "," : "");
        if (*c == 'l' && length <= end - value) {
            add_list(text, value, length);
            value += length;
        } else if (*c == 'n' && value < end) {
            text_format(text, "%" PRId64, *value++);
        } else if (*c == 'o' && value < end) {
            add_order(text, *value++);
        } else if (*c == 't' && contents->type_count > 0) {
            add_type(contents->types[0], depth + 1, text);
        } else if (*c == 'T') {
            text_add(text, "[");
            for (int64_t i = 0; i < contents->type_count; i++) {
                text_add(text, i ? " " : "");
                add_type(contents->types[i], depth + 1, text);
            }
            text_add(text, "]");
        }
    }
    text_add(text, ")");
}

static void add_named(MPI_Datatype type, struct text *text)
{
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    int length = 0;
    tracer_real()->Type_get_name(type, name, &length);
    text_add(text, *name ? name : "?");
}

static void add_made(struct contents *contents, int depth, struct text *text)
{
    if (contents->combiner == MPI_COMBINER_DARRAY && contents->type_count == 1) {
        add_darray(contents, text);
        add_type(contents->types[0], depth + 1, text);
        text_add(text, ")");
        return;
    }
    if (contents->combiner == MPI_COMBINER_SUBARRAY)
        put_subarray_in_order(contents);
    for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; i++)
        if (FORMS[i].combiner == contents->combiner) {
            add_form(&FORMS[i], contents, depth, text);
            return;
        }
    text_format(text, "combiner%d", contents->combiner);
}

/* Those that MPI made itself: the named ones, and Fortran's kinds. */
bool tracer_type_is_basic(MPI_Datatype type)
{
    int combiner;
#if PIOLET_IS_OPENMPI
    int count[3];
    const int code = real.Type_get_envelope(type, &count[0], &count[1], &count[2], &combiner);
#else
    MPI_Count count[4];
    const int code = real.Type_get_envelope_c(type, &count[0], &count[1], &count[2], &count[3], &combiner);
#endif
    return code != MPI_SUCCESS || combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

/* Inner types that are no basic ones are ours to free. */
static void free_types(const struct contents *contents)
{
    for (int64_t i = 0; i < contents->type_count; i++)
        if (!tracer_type_is_basic(contents->types[i]))
            real.Type_free(&contents->types[i]);
}

static void add_type(MPI_Datatype type, int depth, struct text *text)
{
    struct contents contents = {0};
    if (depth > DEPTH_MAX || text->length > TEXT_MAX) {
        text_add(text, "...");
    } else if (!get_contents(type, &contents)) {
        text_add(text, "?");
    } else if (contents.combiner == MPI_COMBINER_NAMED) {
        add_named(type, text);
    } else {
        add_made(&contents, depth, text);
    }
    free_types(&contents);
    free(contents.values);
    free(contents.types);
}

void tracer_type_text(MPI_Datatype type, struct text *text)
{
    add_type(type, 0, text);
}
