/* From a constructor's arguments to nodes. */
#include "engine/mem.h"
#include "engine/typemap/typemap_node.h"
#include "engine/typemap/typemap_visit.h"

#include <assert.h>
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
static pl_status typemap_combine_expect(const struct typemap_contents *contents, int64_t values, int64_t types,
                                        struct pl_error *error)
{
    if (contents->n_values >= values && contents->n_types >= types && values >= 0)
        return PL_OK;
    return pl_fail(error, PL_E_TYPE, "MPI gives too few arguments for a datatype of combiner %d", contents->combiner);
}

static pl_status combine_vector(const struct typemap_contents *contents, bool in_bytes, struct typemap **ret_map,
                                struct pl_error *error)
{
    struct typemap *child = contents->maps[0], *block = NULL;
    pl_status status = typemap_combine_expect(contents, 3, 1, error);
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
static pl_status typemap_combine_scale(int64_t n, int64_t *displacements, int64_t unit, struct pl_error *error)
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
    pl_status status = typemap_combine_expect(contents, 1 + 2 * n, 1, error);
    if (!status && !in_bytes)
        status = typemap_combine_scale(n, contents->values + 1 + n, typemap_shape(contents->maps[0])->extent, error);
    if (!status)
        status = typemap_indexed(n, contents->values + 1 + n, contents->values + 1, contents->maps[0], ret_map, error);
    return status;
}

/* count, length, displacements[count] */
static pl_status combine_indexed_block(const struct typemap_contents *contents, bool in_bytes, struct typemap **ret_map,
                                       struct pl_error *error)
{
    const int64_t n = contents->n_values ? contents->values[0] : 0;
    pl_status status = typemap_combine_expect(contents, 2 + n, 1, error);
    if (status)
        return status;
    int64_t *counts = mem_zalloc((size_t)n + 1, sizeof *counts);
    if (!counts)
        return typemap_no_memory(error);
    for (int64_t i = 0; i < n; i++)
        counts[i] = contents->values[1];
    if (!in_bytes)
        status = typemap_combine_scale(n, contents->values + 2, typemap_shape(contents->maps[0])->extent, error);
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
    const pl_status status = typemap_combine_expect(contents, 1 + 2 * n, n, error);
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
    pl_status status = is_struct ? PL_OK : typemap_combine_expect(contents, 0, 1, error);
    if (status)
        return status;
    const int64_t *values = contents->values;
    struct typemap *child = is_struct ? NULL : contents->maps[0];
    switch (contents->combiner) {
    case MPI_COMBINER_DUP:
        *ret_map = typemap_ref(child);
        return PL_OK;
    case MPI_COMBINER_CONTIGUOUS:
        status = typemap_combine_expect(contents, 1, 1, error);
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
        status = typemap_combine_expect(contents, 2, 1, error);
        return status ? status : typemap_resized(child, values[0], values[1], ret_map, error);
    default:
        return pl_fail(error, PL_E_TYPE, "a datatype of the unknown combiner %d", contents->combiner);
    }
}

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

/* Subarrays and distributed arrays. Each dimension, from the fastest to the slowest, is a repeat or two around what
 * the faster ones take: the tree has a few nodes for a dimension, however large the array is. */

/* *array is the array of the dimensions up to now: its extent is that of the whole array in them. It becomes `taken`,
 * with one dimension more; takes the reference to `taken`. */
static pl_status typemap_array_widen(struct typemap **array, struct typemap *taken, int64_t size,
                                     struct pl_error *error)
{
    struct typemap *whole = NULL;
    int64_t extent;
    pl_status status;
    if (__builtin_mul_overflow(size, typemap_shape(*array)->extent, &extent))
        status = typemap_overflow(error);
    else
        status = typemap_resized(taken, 0, extent, &whole, error);
    typemap_unref(taken);
    if (status)
        return status;
    typemap_unref(*array);
    *array = whole;
    return PL_OK;
}

/* Of the `size` elements of the next dimension, `count` are taken, from `start` on. */
static pl_status add_dimension(struct typemap **array, int64_t size, int64_t start, int64_t count,
                               struct pl_error *error)
{
    struct typemap *taken = NULL;
    if (__builtin_mul_overflow(start, typemap_shape(*array)->extent, &start))
        return typemap_overflow(error);
    const pl_status status = typemap_indexed(1, &start, &count, *array, &taken, error);
    return status ? status : typemap_array_widen(array, taken, size, error);
}

/* Elements of a cyclic dimension: `full` blocks, `period` elements apart from `start` on, and a shorter one behind. */
struct cycle {
    int64_t start, block, full, period, rest;
};

static pl_status take_cycle(struct typemap *array, const struct cycle *cycle, struct typemap **ret_taken,
                            struct pl_error *error)
{
    assert(cycle->block > 0 && cycle->rest >= 0 && cycle->rest < cycle->block);
    const int64_t pitch = typemap_shape(array)->extent;
    struct typemap *blocks[3] = {0}; /* one block, all full ones, the short one */
    int64_t stride, at[2];
    if (__builtin_mul_overflow(cycle->period, pitch, &stride) || __builtin_mul_overflow(cycle->start, pitch, &at[0]) ||
        __builtin_mul_overflow(stride, cycle->full, &at[1]) || __builtin_add_overflow(at[0], at[1], &at[1]))
        return typemap_overflow(error);
    pl_status status = typemap_repeat(array, cycle->block, pitch, &blocks[0], error);
    if (!status)
        status = typemap_repeat(blocks[0], cycle->full, stride, &blocks[1], error);
    if (!status)
        status = typemap_repeat(array, cycle->rest, pitch, &blocks[2], error);
    if (!status)
        status = typemap_list(2, at, (const int64_t[]){1, 1}, blocks + 1, ret_taken, error);
    for (int i = 0; i < 3; i++)
        typemap_unref(blocks[i]);
    return status;
}

static pl_status add_cyclic(struct typemap **array, int64_t size, const struct cycle *cycle, struct pl_error *error)
{
    struct typemap *taken = NULL;
    const pl_status status = take_cycle(*array, cycle, &taken, error);
    return status ? status : typemap_array_widen(array, taken, size, error);
}

/* Hands the map over, or drops it. */
static pl_status hand_over(struct typemap *array, pl_status status, struct typemap **ret_map)
{
    if (status)
        typemap_unref(array);
    else
        *ret_map = array;
    return status;
}

static pl_status too_few(struct pl_error *error)
{
    return pl_fail(error, PL_E_TYPE, "MPI gives too few arguments for an array datatype");
}

/* Where a constructor's arguments begin: those in int stand in another order than the large ones. */
struct subarray {
    int64_t dims, order;
    const int64_t *sizes, *subsizes, *starts;
};

static bool typemap_array_read_subarray(const struct typemap_contents *contents, struct subarray *ret)
{
    const int64_t *values = contents->values;
    if (contents->n_values < 2 || values[0] < 0 || contents->n_values != 2 + 3 * values[0])
        return false;
    const bool is_large = contents->integers == 2 && values[0] > 0;
    const int64_t dims = values[0], *sizes = values + (is_large ? 2 : 1);
    *ret = (struct subarray){dims, is_large ? values[1] : values[1 + 3 * dims], sizes, sizes + dims, sizes + 2 * dims};
    return true;
}

pl_status typemap_subarray(const struct typemap_contents *contents, struct typemap **ret_map, struct pl_error *error)
{
    struct subarray args;
    pl_status status = PL_OK;
    if (!typemap_array_read_subarray(contents, &args))
        return too_few(error);
    struct typemap *array = typemap_ref(contents->maps[0]);
    for (int64_t i = 0; !status && i < args.dims; i++) {
        const int64_t d = args.order == MPI_ORDER_C ? args.dims - 1 - i : i;
        status = add_dimension(&array, args.sizes[d], args.starts[d], args.subsizes[d], error);
    }
    return hand_over(array, status, ret_map);
}

struct darray {
    int64_t ranks, rank, dims, order;
    const int64_t *sizes, *distributions, *arguments, *grid;
};

static bool typemap_array_read_darray(const struct typemap_contents *contents, struct darray *ret)
{
    const int64_t *values = contents->values;
    if (contents->n_values < 4 || values[2] < 0 || contents->n_values != 4 + 4 * values[2])
        return false;
    const int64_t dims = values[2];
    const bool is_large = dims > 0 && contents->integers == 4 + 3 * dims;
    const int64_t *distributions = values + 3 + (is_large ? 0 : dims);
    *ret = (struct darray){.ranks = values[0],
                           .rank = values[1],
                           .dims = dims,
                           .order = is_large ? values[3 + 3 * dims] : values[3 + 4 * dims],
                           .sizes = is_large ? values + 4 + 3 * dims : values + 3,
                           .distributions = distributions,
                           .arguments = distributions + dims,
                           .grid = distributions + 2 * dims};
    return true;
}

/* The rank's place in dimension d of the grid: ranks lie there in C order, whatever the order of the array. */
static int64_t place_in_grid(const struct darray *args, int64_t d)
{
    int64_t behind = 1;
    for (int64_t i = args->dims - 1; i > d; i--)
        behind *= args->grid[i]; /* at most the number of ranks, which is an int */
    return args->rank / behind % args->grid[d];
}

static pl_status add_distributed(struct typemap **array, const struct darray *args, int64_t d, struct pl_error *error)
{
    const int64_t size = args->sizes[d], grid = args->grid[d];
    if (grid < 1 || size < 0)
        return pl_fail(error, PL_E_TYPE, "a distributed array without processes or of a negative size");
    const int64_t place = place_in_grid(args, d);
    const bool is_default = args->arguments[d] == MPI_DISTRIBUTE_DFLT_DARG;
    int64_t block = args->arguments[d], start, period;
    if (args->distributions[d] == MPI_DISTRIBUTE_NONE)
        block = size; /* the argument says nothing, and there is one process */
    else if (is_default)
        block = args->distributions[d] == MPI_DISTRIBUTE_BLOCK ? size / grid + (size % grid != 0) : 1;
    if (block < 0 || __builtin_mul_overflow(block, place, &start) || __builtin_mul_overflow(block, grid, &period))
        return typemap_overflow(error);
    const int64_t rest = typemap_max(0, size - start);
    if (args->distributions[d] != MPI_DISTRIBUTE_CYCLIC)
        return add_dimension(array, size, start, typemap_min(block, rest), error);
    if (block == 0)
        return pl_fail(error, PL_E_TYPE, "a cyclic distribution in blocks of nothing");
    struct cycle cycle = {start, block, rest / period, period, rest % period}; /* whole rounds and the last one */
    if (cycle.rest >= block) {
        cycle.full++;
        cycle.rest = 0;
    }
    return add_cyclic(array, size, &cycle, error);
}

pl_status typemap_darray(const struct typemap_contents *contents, struct typemap **ret_map, struct pl_error *error)
{
    struct darray args;
    pl_status status = PL_OK;
    if (!typemap_array_read_darray(contents, &args))
        return too_few(error);
    struct typemap *array = typemap_ref(contents->maps[0]);
    for (int64_t i = 0; !status && i < args.dims; i++)
        status = add_distributed(&array, &args, args.order == MPI_ORDER_C ? args.dims - 1 - i : i, error);
    return hand_over(array, status, ret_map);
}
