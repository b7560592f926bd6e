#include "replay/replay_type_make.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Integers of an MPI are ints: what does not fit makes the call fail by `fits`. */
static int *as_ints(const struct replay_type_list *list, bool *fits)
{
    int *ints = malloc(((size_t)list->count + 1) * sizeof *ints);
    *fits = *fits && ints;
    for (int i = 0; i < list->count && ints; i++) {
        *fits = *fits && list->values[i] >= INT_MIN && list->values[i] <= INT_MAX;
        ints[i] = (int)list->values[i];
    }
    return ints;
}

static MPI_Aint *as_aints(const struct replay_type_list *list, bool *fits)
{
    MPI_Aint *aints = malloc(((size_t)list->count + 1) * sizeof *aints);
    *fits = *fits && aints;
    for (int i = 0; i < list->count && aints; i++)
        aints[i] = (MPI_Aint)list->values[i];
    return aints;
}

static int make_dup(const struct replay_type_arguments *a, MPI_Datatype *ret)
{
    return MPI_Type_dup(a->types[0].type, ret);
}

static int make_contiguous(const struct replay_type_arguments *a, MPI_Datatype *ret)
{
    return MPI_Type_contiguous((int)a->numbers[0], a->types[0].type, ret);
}

static int make_vector(const struct replay_type_arguments *a, MPI_Datatype *ret)
{
    return MPI_Type_vector((int)a->numbers[0], (int)a->numbers[1], (int)a->numbers[2], a->types[0].type, ret);
}

static int make_hvector(const struct replay_type_arguments *a, MPI_Datatype *ret)
{
    return MPI_Type_create_hvector((int)a->numbers[0], (int)a->numbers[1], (MPI_Aint)a->numbers[2], a->types[0].type,
                                   ret);
}

static int make_resized(const struct replay_type_arguments *a, MPI_Datatype *ret)
{
    return MPI_Type_create_resized(a->types[0].type, (MPI_Aint)a->numbers[0], (MPI_Aint)a->numbers[1], ret);
}

static int make_indexed(const struct replay_type_arguments *a, MPI_Datatype *ret)
{
    bool fits = a->lists[0].count == a->lists[1].count;
    int *lengths = as_ints(&a->lists[0], &fits), *places = as_ints(&a->lists[1], &fits);
    const int code = fits ? MPI_Type_indexed(a->lists[0].count, lengths, places, a->types[0].type, ret) : MPI_ERR_ARG;
    free(lengths);
    free(places);
    return code;
}

static int make_hindexed(const struct replay_type_arguments *a, MPI_Datatype *ret)
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

static int make_indexed_block(const struct replay_type_arguments *a, MPI_Datatype *ret)
{
    bool fits = true;
    int *places = as_ints(&a->lists[0], &fits);
    const int code = fits ? MPI_Type_create_indexed_block(a->lists[0].count, (int)a->numbers[0], places,
                                                          a->types[0].type, ret)
                          : MPI_ERR_ARG;
    free(places);
    return code;
}

static int make_hindexed_block(const struct replay_type_arguments *a, MPI_Datatype *ret)
{
    bool fits = true;
    MPI_Aint *places = as_aints(&a->lists[0], &fits);
    const int code = fits ? MPI_Type_create_hindexed_block(a->lists[0].count, (int)a->numbers[0], places,
                                                           a->types[0].type, ret)
                          : MPI_ERR_ARG;
    free(places);
    return code;
}

static int make_struct(const struct replay_type_arguments *a, MPI_Datatype *ret)
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

static int make_subarray(const struct replay_type_arguments *a, MPI_Datatype *ret)
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

static int make_darray(const struct replay_type_arguments *a, MPI_Datatype *ret)
{
    const int dims = a->lists[0].count;
    bool fits = true;
    int *ints[REPLAY_TYPE_LISTS];
    for (int i = 0; i < REPLAY_TYPE_LISTS; i++) {
        fits = fits && a->lists[i].count == dims;
        ints[i] = as_ints(&a->lists[i], &fits);
    }
    for (int i = 0; i < dims && fits; i++) /* the default has another number in each MPI, and none is positive */
        ints[2][i] = ints[2][i] < 0 ? MPI_DISTRIBUTE_DFLT_DARG : ints[2][i];
    const int code = fits ? MPI_Type_create_darray((int)a->numbers[0], (int)a->numbers[1], dims, ints[0], ints[1],
                                                   ints[2], ints[3], a->order, a->types[0].type, ret)
                          : MPI_ERR_ARG;
    for (int i = 0; i < REPLAY_TYPE_LISTS; i++)
        free(ints[i]);
    return code;
}

static int make_f90_real(const struct replay_type_arguments *a, MPI_Datatype *ret)
{
    return MPI_Type_create_f90_real((int)a->numbers[0], (int)a->numbers[1], ret);
}

static int make_f90_complex(const struct replay_type_arguments *a, MPI_Datatype *ret)
{
    return MPI_Type_create_f90_complex((int)a->numbers[0], (int)a->numbers[1], ret);
}

static int make_f90_integer(const struct replay_type_arguments *a, MPI_Datatype *ret)
{
    return MPI_Type_create_f90_integer((int)a->numbers[0], ret);
}

static const struct replay_constructor CONSTRUCTORS[] = {
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

const struct replay_constructor *replay_constructor_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof CONSTRUCTORS / sizeof CONSTRUCTORS[0]; i++)
        if (strlen(CONSTRUCTORS[i].name) == length && strncmp(CONSTRUCTORS[i].name, name, length) == 0)
            return &CONSTRUCTORS[i];
    return NULL;
}
