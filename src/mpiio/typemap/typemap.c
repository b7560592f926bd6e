/* Typemaps: data and bounds together. */
#include "mpiio/mem.h"
#include "mpiio/typemap/typemap_node.h"

static pl_status fill_shape(const struct typemap_sum *sum, int64_t first, const struct typemap_bounds *bounds,
                            struct typemap_shape *shape, struct pl_error *error)
{
    int64_t true_ub = 0;
    *shape = (struct typemap_shape){.size = sum->size, .pieces = sum->pieces, .largest = sum->largest};
    if (bounds->known) {
        shape->lb = bounds->lb;
        if (__builtin_sub_overflow(bounds->ub, bounds->lb, &shape->extent))
            return typemap_overflow(error);
    }
    if (sum->size > 0) {
        shape->true_extent = sum->high - sum->low;
        if (__builtin_add_overflow(first, sum->low, &shape->true_lb) ||
            __builtin_add_overflow(first, sum->high, &true_ub))
            return typemap_overflow(error);
    }
    shape->dense = sum->pieces <= 1;
    shape->tiles = shape->dense && shape->extent == sum->size;
    /* One copy as such, and the first byte of the next one (extent behind that of this) not before its last. */
    shape->monotone = sum->monotone && (sum->size == 0 || shape->extent >= sum->end);
    shape->ascending = sum->ascending && (sum->size == 0 || shape->extent >= sum->last);
    return PL_OK;
}

pl_status typemap_finish(struct typemap_part *part, int64_t first, const struct typemap_bounds *bounds,
                         struct typemap **ret_map, struct pl_error *error)
{
    struct typemap *map = mem_zalloc(1, sizeof *map);
    if (!map) {
        typemap_node_unref(part->node);
        return typemap_no_memory(error);
    }
    atomic_init(&map->refs, 1);
    map->node = part->node;
    map->first = part->sum.size ? first : 0;
    const pl_status status = fill_shape(&part->sum, map->first, bounds, &map->shape, error);
    if (status) {
        typemap_unref(map);
        return status;
    }
    *ret_map = map;
    return PL_OK;
}

struct typemap_part typemap_part_of(const struct typemap *map)
{
    struct typemap_part part = {.node = map->node};
    if (map->node)
        part.sum = map->node->sum;
    else
        typemap_sum_dense(map->shape.size, &part.sum);
    return part;
}

pl_status typemap_dense(int64_t bytes, struct typemap **ret_map, struct pl_error *error)
{
    struct typemap_part part = {0};
    if (bytes < 0)
        return pl_fail(error, PL_E_TYPE, "a datatype of a negative size");
    typemap_sum_dense(bytes, &part.sum);
    return typemap_finish(&part, 0, &(struct typemap_bounds){true, 0, bytes}, ret_map, error);
}

pl_status typemap_resized(struct typemap *map, int64_t lb, int64_t extent, struct typemap **ret_map,
                          struct pl_error *error)
{
    struct typemap_part part = typemap_part_of(map);
    struct typemap_bounds bounds = {.known = true, .lb = lb};
    if (__builtin_add_overflow(lb, extent, &bounds.ub))
        return typemap_overflow(error);
    typemap_node_ref(part.node);
    return typemap_finish(&part, map->first, &bounds, ret_map, error);
}

/* So far below 0 that no number of holders brings it back. */
static const int64_t FOR_EVER = INT64_MIN / 2;

void typemap_keep(struct typemap *map)
{
    atomic_store_explicit(&map->refs, FOR_EVER, memory_order_relaxed);
}

static bool is_kept(const struct typemap *map)
{
    return atomic_load_explicit(&map->refs, memory_order_relaxed) < 0;
}

struct typemap *typemap_ref(struct typemap *map)
{
    if (!is_kept(map))
        atomic_fetch_add_explicit(&map->refs, 1, memory_order_relaxed);
    return map;
}

void typemap_unref(struct typemap *map)
{
    if (!map || is_kept(map) || atomic_fetch_sub_explicit(&map->refs, 1, memory_order_acq_rel) != 1)
        return;
    typemap_node_unref(map->node);
    mem_free(map);
}

const struct typemap_shape *typemap_shape(const struct typemap *map)
{
    return &map->shape;
}
