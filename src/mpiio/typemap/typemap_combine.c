#include "mpiio/typemap/typemap_combine.h"
#include "mpiio/mem.h"
#include "mpiio/typemap/typemap_node.h"

#include <mpi.h>

/* Open MPI hides the names of the combiners that MPI 3 removed, but keeps their values: each stands before the one
 * that replaced it. Their strides and displacements are integers in the place of addresses, which makes no difference
 * here. */
enum {
#if PIOLET_IS_OPENMPI
    HVECTOR_INTEGER = MPI_COMBINER_HVECTOR - 1,
    HINDEXED_INTEGER = MPI_COMBINER_HINDEXED - 1,
    STRUCT_INTEGER = MPI_COMBINER_STRUCT - 1
#else
    HVECTOR_INTEGER = MPI_COMBINER_HVECTOR_INTEGER,
    HINDEXED_INTEGER = MPI_COMBINER_HINDEXED_INTEGER,
    STRUCT_INTEGER = MPI_COMBINER_STRUCT_INTEGER
#endif
};

/* Contents that are shorter than their own first words say: an MPI that is not the one of the header. */
static pl_status expect(const struct typemap_contents *contents, int64_t values, int64_t types, struct pl_error *error)
{
    if (contents->n_values >= values && contents->n_types >= types && values >= 0)
        return PL_OK;
    return pl_fail(error, PL_E_TYPE, "MPI gives too few arguments for a datatype of combiner %d", contents->combiner);
}

static pl_status combine_vector(const struct typemap_contents *contents, bool in_bytes, struct typemap **ret_map,
                                struct pl_error *error)
{
    struct typemap *child = contents->maps[0], *block = NULL;
    pl_status status = expect(contents, 3, 1, error);
    if (status)
        return status;
    const int64_t count = contents->values[0], length = contents->values[1], extent = typemap_shape(child)->extent;
    int64_t stride = contents->values[2];
    if (count <= 1)
        stride = 0; /* may be anything, and says nothing */
    else if (!in_bytes && __builtin_mul_overflow(stride, extent, &stride))
        return typemap_overflow(error);
    status = typemap_repeat(child, length, extent, &block, error);
    if (!status)
        status = typemap_repeat(block, count, stride, ret_map, error);
    typemap_unref(block);
    return status;
}

/* Displacements in bytes, whatever the constructor counts in; written in place. */
static pl_status scale(int64_t n, int64_t *displacements, int64_t unit, struct pl_error *error)
{
    for (int64_t i = 0; i < n; i++)
        if (__builtin_mul_overflow(displacements[i], unit, &displacements[i]))
            return typemap_overflow(error);
    return PL_OK;
}

/* count, lengths[count], displacements[count] */
static pl_status combine_indexed(const struct typemap_contents *contents, bool in_bytes, struct typemap **ret_map,
                                 struct pl_error *error)
{
    const int64_t n = contents->n_values ? contents->values[0] : 0;
    pl_status status = expect(contents, 1 + 2 * n, 1, error);
    if (!status && !in_bytes)
        status = scale(n, contents->values + 1 + n, typemap_shape(contents->maps[0])->extent, error);
    if (!status)
        status = typemap_indexed(n, contents->values + 1 + n, contents->values + 1, contents->maps[0], ret_map, error);
    return status;
}

/* count, length, displacements[count] */
static pl_status combine_indexed_block(const struct typemap_contents *contents, bool in_bytes, struct typemap **ret_map,
                                       struct pl_error *error)
{
    const int64_t n = contents->n_values ? contents->values[0] : 0;
    pl_status status = expect(contents, 2 + n, 1, error);
    if (status)
        return status;
    int64_t *counts = mem_zalloc((size_t)n + 1, sizeof *counts);
    if (!counts)
        return typemap_no_memory(error);
    for (int64_t i = 0; i < n; i++)
        counts[i] = contents->values[1];
    if (!in_bytes)
        status = scale(n, contents->values + 2, typemap_shape(contents->maps[0])->extent, error);
    if (!status)
        status = typemap_indexed(n, contents->values + 2, counts, contents->maps[0], ret_map, error);
    mem_free(counts);
    return status;
}

/* count, lengths[count], displacements[count] and as many types */
static pl_status combine_struct(const struct typemap_contents *contents, struct typemap **ret_map,
                                struct pl_error *error)
{
    const int64_t n = contents->n_values ? contents->values[0] : 0;
    const pl_status status = expect(contents, 1 + 2 * n, n, error);
    return status ? status
                  : typemap_list(n, contents->values + 1 + n, contents->values + 1, contents->maps, ret_map, error);
}

bool typemap_combines_struct(int combiner)
{
    return combiner == MPI_COMBINER_STRUCT || combiner == (int)STRUCT_INTEGER;
}

pl_status typemap_combine(const struct typemap_contents *contents, struct typemap **ret_map, struct pl_error *error)
{
    const bool is_struct = typemap_combines_struct(contents->combiner);
    pl_status status = is_struct ? PL_OK : expect(contents, 0, 1, error);
    if (status)
        return status;
    const int64_t *values = contents->values;
    struct typemap *child = is_struct ? NULL : contents->maps[0];
    switch (contents->combiner) {
    case MPI_COMBINER_DUP:
        *ret_map = typemap_ref(child);
        return PL_OK;
    case MPI_COMBINER_CONTIGUOUS:
        status = expect(contents, 1, 1, error);
        return status ? status : typemap_repeat(child, values[0], typemap_shape(child)->extent, ret_map, error);
    case MPI_COMBINER_VECTOR:
        return combine_vector(contents, false, ret_map, error);
    case MPI_COMBINER_HVECTOR:
    case HVECTOR_INTEGER:
        return combine_vector(contents, true, ret_map, error);
    case MPI_COMBINER_INDEXED:
        return combine_indexed(contents, false, ret_map, error);
    case MPI_COMBINER_HINDEXED:
    case HINDEXED_INTEGER:
        return combine_indexed(contents, true, ret_map, error);
    case MPI_COMBINER_INDEXED_BLOCK:
        return combine_indexed_block(contents, false, ret_map, error);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return combine_indexed_block(contents, true, ret_map, error);
    case MPI_COMBINER_STRUCT:
    case STRUCT_INTEGER:
        return combine_struct(contents, ret_map, error);
    case MPI_COMBINER_SUBARRAY:
        return typemap_subarray(contents, ret_map, error);
    case MPI_COMBINER_DARRAY:
        return typemap_darray(contents, ret_map, error);
    case MPI_COMBINER_RESIZED:
        status = expect(contents, 2, 1, error);
        return status ? status : typemap_resized(child, values[0], values[1], ret_map, error);
    default:
        return pl_fail(error, PL_E_TYPE, "a datatype of the unknown combiner %d", contents->combiner);
    }
}
