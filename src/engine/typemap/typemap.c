/* Nodes and their sums, and typemaps: data and bounds together. */
#include "engine/mem.h"
#include "engine/typemap/typemap_node.h"

#include <assert.h>

/* Sums of data, and the life of nodes. */

pl_status typemap_overflow(struct pl_error *error)
{
    return pl_fail(error, PL_E_TYPE, "a datatype is larger than 64 bits can count");
}

pl_status typemap_no_memory(struct pl_error *error)
{
    return pl_fail(error, PL_E_NOMEM, "not enough memory for the typemap of a datatype");
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

void typemap_sum_dense(int64_t bytes, struct typemap_sum *ret_sum)
{
    *ret_sum = (struct typemap_sum){.size = bytes,
                                    .high = bytes,
                                    .end = bytes,
                                    .head = bytes,
                                    .pieces = bytes > 0,
                                    .largest = bytes,
                                    .monotone = true,
                                    .ascending = true};
}

/* The footprint itself must be countable: then every difference of two displacements inside is, too. */
static bool is_countable(const struct typemap_sum *sum)
{
    int64_t footprint;
    return !__builtin_sub_overflow(sum->high, sum->low, &footprint);
}

bool typemap_sum_append(struct typemap_sum *sum, const struct typemap_sum *next, int64_t at)
{
    assert(sum->size > 0 && next->size > 0);
    const struct typemap_sum old = *sum;
    const bool touch = at == old.end;
    int64_t low, high, end, last;
    if (__builtin_add_overflow(old.size, next->size, &sum->size) || __builtin_add_overflow(at, next->low, &low) ||
        __builtin_add_overflow(at, next->high, &high) || __builtin_add_overflow(at, next->end, &end) ||
        __builtin_add_overflow(at, next->last, &last))
        return false;
    sum->low = typemap_min(old.low, low);
    sum->high = typemap_max(old.high, high);
    if (!is_countable(sum))
        return false;
    sum->end = end;
    sum->last = touch && next->pieces == 1 ? old.last : last;
    sum->head = touch && old.pieces == 1 ? old.head + next->head : old.head;
    sum->pieces = old.pieces + next->pieces - touch;
    sum->largest = typemap_max(old.largest, next->largest);
    if (touch)
        sum->largest = typemap_max(sum->largest, old.end - old.last + next->head);
    sum->height = typemap_max(old.height, next->height);
    sum->monotone = old.monotone && next->monotone && at >= old.end;
    sum->ascending = old.ascending && next->ascending && at >= old.last;
    return true;
}

bool typemap_sum_repeat(const struct typemap_sum *child, int64_t count, int64_t stride, struct typemap_sum *ret_sum)
{
    assert(count > 1 && child->size > 0);
    const bool touch = stride == child->end;
    struct typemap_sum sum = *child;
    int64_t shift;
    if (__builtin_mul_overflow(child->size, count, &sum.size) || __builtin_mul_overflow(stride, count - 1, &shift))
        return false;
    if (touch && child->pieces == 1) {
        typemap_sum_dense(sum.size, ret_sum);
        return true;
    }
    if (__builtin_add_overflow(child->low, typemap_min(shift, 0), &sum.low) ||
        __builtin_add_overflow(child->high, typemap_max(shift, 0), &sum.high) || !is_countable(&sum) ||
        __builtin_add_overflow(child->end, shift, &sum.end) || __builtin_add_overflow(child->last, shift, &sum.last))
        return false;
    sum.pieces = child->pieces * count - (touch ? count - 1 : 0); /* at most the size, which is countable */
    if (touch)
        sum.largest = typemap_max(sum.largest, child->end - child->last + child->head);
    sum.height++;
    sum.monotone = child->monotone && stride >= child->end;
    sum.ascending = child->ascending && stride >= child->last;
    *ret_sum = sum;
    return true;
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

struct typemap_node *typemap_node_new(const struct typemap_sum *sum, int64_t count)
{
    assert(count > 0 && sum->pieces > 1);
    struct typemap_node *node = mem_zalloc(1, sizeof *node);
    if (!node)
        return NULL;
    atomic_init(&node->refs, 1);
    node->sum = *sum;
    node->count = count;
    return node;
}

struct typemap_node *typemap_node_ref(struct typemap_node *node)
{
    assert(!node || atomic_load_explicit(&node->refs, memory_order_relaxed) > 0);
    if (node)
        atomic_fetch_add_explicit(&node->refs, 1, memory_order_relaxed);
    return node;
}

/* Lets go of one reference; who lets the last one go puts the node on the chain of the dead. */
static void typemap_node_let_go(struct typemap_node *node, struct typemap_node **dead)
{
    assert(!node || atomic_load_explicit(&node->refs, memory_order_relaxed) > 0);
    if (!node || atomic_fetch_sub_explicit(&node->refs, 1, memory_order_acq_rel) != 1)
        return;
    node->next_dead = *dead;
    *dead = node;
}

/* A chain in the place of recursion: types may be nested deeper than a thread's stack is. */
void typemap_node_unref(struct typemap_node *node)
{
    struct typemap_node *dead = NULL;
    typemap_node_let_go(node, &dead);
    while (dead) {
        struct typemap_node *gone = dead;
        dead = gone->next_dead;
        typemap_node_let_go(gone->child, &dead);
        for (int64_t i = 0; gone->children && i < gone->count; i++)
            typemap_node_let_go(gone->children[i], &dead);
        mem_free(gone->children);
        mem_free(gone->pieces);
        mem_free(gone);
    }
}

int64_t typemap_node_find(const struct typemap_node *node, int64_t position)
{
    assert(position >= 0 && position < node->sum.size);
    if (!node->pieces)
        return position / node->unit;
    int64_t low = 0, high = node->count; /* piece `low` begins at or before the position, piece `high` behind it */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (node->pieces[middle].before <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- Data and bounds together ------------------------------------------------------------------------------------ */

static pl_status fill_shape(const struct typemap_sum *sum, int64_t first, const struct typemap_bounds *bounds,
                            struct typemap_shape *shape, struct pl_error *error)
{
    assert(sum->size >= 0 && sum->pieces >= 0 && (sum->pieces > 0) == (sum->size > 0));
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
    assert(!part->node || part->sum.pieces > 1);
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
    assert(atomic_load_explicit(&map->refs, memory_order_relaxed) != 0);
    if (!is_kept(map))
        atomic_fetch_add_explicit(&map->refs, 1, memory_order_relaxed);
    return map;
}

void typemap_unref(struct typemap *map)
{
    assert(!map || atomic_load_explicit(&map->refs, memory_order_relaxed) != 0);
    if (!map || is_kept(map) || atomic_fetch_sub_explicit(&map->refs, 1, memory_order_acq_rel) != 1)
        return;
    typemap_node_unref(map->node);
    mem_free(map);
}

const struct typemap_shape *typemap_shape(const struct typemap *map)
{
    return &map->shape;
}
