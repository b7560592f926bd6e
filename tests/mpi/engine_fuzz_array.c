/* Subarrays and distributed arrays, index by index, as the standard describes them. */
#include "engine_fuzz_type.h"

#include <stdio.h>

static int64_t elements(const struct array *array)
{
    int64_t product = 1;
    for (int i = 0; i < array->dims; i++)
        product *= array->sizes[i];
    return product;
}

/* Whether `index` of dimension i belongs to the process with this coordinate. */
static bool owns(const struct array *array, int i, int coordinate, int index)
{
    const int size = array->sizes[i], procs = array->grid[i], argument = array->arguments[i];
    if (array->kinds[i] == MPI_DISTRIBUTE_BLOCK) {
        const int block = argument == MPI_DISTRIBUTE_DFLT_DARG ? (size + procs - 1) / procs : argument;
        return index / block == coordinate;
    }
    if (array->kinds[i] == MPI_DISTRIBUTE_CYCLIC)
        return index / (argument == MPI_DISTRIBUTE_DFLT_DARG ? 1 : argument) % procs == coordinate;
    return true;
}

/* Walks over all elements in the order of the file, and takes those that belong to the part. Both constructors name
 * their elements in this order, too. */
static void walk(struct type *type, const struct type *kid, const struct array *array, const int *coordinates)
{
    const int64_t count = elements(array);
    for (int64_t place = 0; place < count; place++) {
        int64_t rest = place;
        bool is_mine = true;
        for (int j = 0; j < array->dims; j++) {
            const int i = array->order == MPI_ORDER_C ? array->dims - 1 - j : j;
            const int index = (int)(rest % array->sizes[i]);
            rest /= array->sizes[i];
            is_mine = is_mine && (coordinates ? owns(array, i, coordinates[i], index)
                                              : index >= array->start[i] && index < array->start[i] + array->part[i]);
        }
        if (is_mine)
            type_append(type, kid, place * kid->extent);
    }
}

static void sizes_text(const struct array *array, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < array->dims && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%d", i ? "×" : "", array->sizes[i]);
}

struct type *type_subarray(struct type *kid, const struct array *array)
{
    char sizes[80], part[160];
    size_t used = 0;
    sizes_text(array, sizes, sizeof sizes);
    for (int i = 0; i < array->dims && used < sizeof part; i++)
        used += (size_t)snprintf(part + used, sizeof part - used, " %d@%d", array->part[i], array->start[i]);
    struct type *type = type_begin(kid, "subarray(%s %s:%s)", array->order == MPI_ORDER_C ? "C" : "F", sizes, part);
    if (kid->mpi != MPI_DATATYPE_NULL)
        MPI_Type_create_subarray(array->dims, array->sizes, array->part, array->start, array->order, kid->mpi,
                                 &type->mpi);
    walk(type, kid, array, NULL);
    type->is_marked = true;
    return type_end(type, kid, 0, elements(array) * kid->extent);
}

struct type *type_darray(struct type *kid, const struct array *array)
{
    char sizes[80], kinds[160];
    int coordinates[4], rest = array->rank;
    size_t used = 0;
    sizes_text(array, sizes, sizeof sizes);
    for (int i = array->dims - 1; i >= 0; i--) { /* the grid of processes is in C's order always */
        coordinates[i] = rest % array->grid[i];
        rest /= array->grid[i];
    }
    for (int i = 0; i < array->dims && used < sizeof kinds; i++)
        used += (size_t)snprintf(kinds + used, sizeof kinds - used, " %s(%d)/%d",
                                 array->kinds[i] == MPI_DISTRIBUTE_NONE    ? "none"
                                 : array->kinds[i] == MPI_DISTRIBUTE_BLOCK ? "block"
                                                                           : "cyclic",
                                 array->arguments[i] == MPI_DISTRIBUTE_DFLT_DARG ? 0 : array->arguments[i],
                                 array->grid[i]);
    struct type *type = type_begin(kid, "darray(%s %s, %d of %d:%s)", array->order == MPI_ORDER_C ? "C" : "F", sizes,
                                   array->rank, array->procs, kinds);
    if (kid->mpi != MPI_DATATYPE_NULL)
        MPI_Type_create_darray(array->procs, array->rank, array->dims, array->sizes, array->kinds, array->arguments,
                               array->grid, array->order, kid->mpi, &type->mpi);
    walk(type, kid, array, coordinates);
    type->is_marked = type->is_uncountable = true;
    return type_end(type, kid, 0, elements(array) * kid->extent);
}
