/* Subarrays and distributed arrays. Each dimension, from the fastest to the slowest, is a repeat or two around what
 * the faster ones take: the tree has a few nodes for a dimension, however large the array is. */
#include "mpiio/typemap/typemap_combine.h"
#include "mpiio/typemap/typemap_node.h"

#include <mpi.h>

/* *array is the array of the dimensions up to now: its extent is that of the whole array in them. It becomes `taken`,
 * with one dimension more; takes the reference to `taken`. */
static pl_status widen(struct typemap **array, struct typemap *taken, int64_t size, struct pl_error *error)
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
    return status ? status : widen(array, taken, size, error);
}

/* Elements of a cyclic dimension: `full` blocks, `period` elements apart from `start` on, and a shorter one behind. */
struct cycle {
    int64_t start, block, full, period, rest;
};

static pl_status take_cycle(struct typemap *array, const struct cycle *cycle, struct typemap **ret_taken,
                            struct pl_error *error)
{
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
    return status ? status : widen(array, taken, size, error);
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

static bool read_subarray(const struct typemap_contents *contents, struct subarray *ret)
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
    if (!read_subarray(contents, &args))
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

static bool read_darray(const struct typemap_contents *contents, struct darray *ret)
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
    if (!read_darray(contents, &args))
        return too_few(error);
    struct typemap *array = typemap_ref(contents->maps[0]);
    for (int64_t i = 0; !status && i < args.dims; i++)
        status = add_distributed(&array, &args, args.order == MPI_ORDER_C ? args.dims - 1 - i : i, error);
    return hand_over(array, status, ret_map);
}
