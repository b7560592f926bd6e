/* Constructors: they join what touches, so that the tree is as small as what it describes is regular. */
#include "engine/mem.h"
#include "engine/typemap/typemap_node.h"

#include <assert.h>

/* ---- Bounds ------------------------------------------------------------------------------------------------------ */

/* `count` copies of something with these bounds, `stride` apart, the first displaced by `at`. */
static bool add_bounds(struct typemap_bounds *bounds, const struct typemap_shape *shape, int64_t at, int64_t count,
                       int64_t stride)
{
    int64_t shift, lb, ub;
    if (count == 0)
        return true;
    if (__builtin_mul_overflow(stride, count - 1, &shift) || __builtin_add_overflow(at, shape->lb, &lb) ||
        __builtin_add_overflow(lb, shape->extent, &ub) || __builtin_add_overflow(lb, typemap_min(shift, 0), &lb) ||
        __builtin_add_overflow(ub, typemap_max(shift, 0), &ub))
        return false;
    bounds->lb = bounds->known ? typemap_min(bounds->lb, lb) : lb;
    bounds->ub = bounds->known ? typemap_max(bounds->ub, ub) : ub;
    bounds->known = true;
    return true;
}

/* ---- Repeat ------------------------------------------------------------------------------------------------------ */

/* Copies of copies whose distances go on evenly are copies of the innermost. */
static bool merges_with_child(const struct typemap_node *node, int64_t count, int64_t stride)
{
    int64_t whole, all;
    return node && !node->pieces && !__builtin_mul_overflow(node->stride, node->count, &whole) && whole == stride &&
           !__builtin_mul_overflow(node->count, count, &all);
}

/* Gives a part with a reference of its own; takes none. */
static pl_status repeat_part(const struct typemap_part *part, int64_t count, int64_t stride,
                             struct typemap_part *ret_part, struct pl_error *error)
{
    assert(count >= 0);
    struct typemap_part made = {0};
    if (count == 0 || part->sum.size == 0) {
        typemap_sum_dense(0, &made.sum);
    } else if (count == 1) {
        made = (struct typemap_part){typemap_node_ref(part->node), part->sum};
    } else {
        if (!typemap_sum_repeat(&part->sum, count, stride, &made.sum))
            return typemap_overflow(error);
        if (made.sum.pieces > 1) {
            const struct typemap_node *inner = part->node;
            const bool merges = merges_with_child(inner, count, stride);
            made.sum.height = merges ? inner->sum.height : made.sum.height;
            made.node = typemap_node_new(&made.sum, merges ? inner->count * count : count);
            if (!made.node)
                return typemap_no_memory(error);
            made.node->child = typemap_node_ref(merges ? inner->child : part->node);
            made.node->stride = merges ? inner->stride : stride;
            made.node->unit = merges ? inner->unit : part->sum.size;
        }
    }
    *ret_part = made;
    return PL_OK;
}

pl_status typemap_repeat(struct typemap *child, int64_t count, int64_t stride, struct typemap **ret_map,
                         struct pl_error *error)
{
    const struct typemap_part inner = typemap_part_of(child);
    struct typemap_bounds bounds = {0};
    struct typemap_part part;
    if (count < 0)
        return pl_fail(error, PL_E_TYPE, "a datatype with a negative count");
    if (!add_bounds(&bounds, &child->shape, 0, count, stride))
        return typemap_overflow(error);
    const pl_status status = repeat_part(&inner, count, stride, &part, error);
    return status ? status : typemap_finish(&part, child->first, &bounds, ret_map, error);
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

enum { BLOCK_CACHE = 16 };

/* A list while it grows. Its pieces are relative to the first one, which lies at `first`. */
struct builder {
    int64_t count, room, first;
    struct typemap_sum sum;
    struct typemap_bounds bounds;
    struct typemap_piece *pieces;
    struct typemap_node **children; /* made with the first child that is not dense */
    /* Blocks of equal counts and types share one node: of a million blocks in an index, few are different. */
    struct {
        const struct typemap *map;
        int64_t count;
        struct typemap_part part;
    } cache[BLOCK_CACHE];
};

static void builder_clear(struct builder *builder)
{
    for (int i = 0; i < BLOCK_CACHE; i++)
        typemap_node_unref(builder->cache[i].part.node);
    for (int64_t i = 0; builder->children && i < builder->count; i++)
        typemap_node_unref(builder->children[i]);
    mem_free(builder->children);
    mem_free(builder->pieces);
}

static bool typemap_build_resize(void **array, int64_t count, size_t bytes)
{
    size_t total;
    if (__builtin_mul_overflow((size_t)count, bytes, &total))
        return false;
    void *moved = *array ? mem_resize(*array, total) : mem_alloc(total);
    if (moved)
        *array = moved;
    return moved;
}

static bool typemap_build_make_room(struct builder *builder, int64_t room)
{
    void *pieces = builder->pieces, *children = builder->children;
    const bool made = typemap_build_resize(&pieces, room, sizeof *builder->pieces) &&
                      (!children || typemap_build_resize(&children, room, sizeof(struct typemap_node *)));
    builder->pieces = pieces;
    builder->children = children;
    if (made)
        builder->room = room;
    return made;
}

/* Only longer than before: the last piece is dense and ends where dense bytes begin. */
static bool lengthens_last(const struct builder *builder, const struct typemap_part *part, int64_t at)
{
    const int64_t i = builder->count - 1;
    return i >= 0 && !part->node && !(builder->children && builder->children[i]) && at == builder->sum.end;
}

/* Takes no reference. */
static pl_status builder_append(struct builder *builder, const struct typemap_part *part, int64_t at,
                                struct pl_error *error)
{
    const int64_t before = builder->sum.size;
    bool lengthens = false;
    if (part->sum.size == 0)
        return PL_OK;
    if (builder->count == 0) {
        builder->first = at;
        builder->sum = part->sum;
        at = 0;
    } else {
        if (__builtin_sub_overflow(at, builder->first, &at))
            return typemap_overflow(error);
        lengthens = lengthens_last(builder, part, at);
        if (!typemap_sum_append(&builder->sum, &part->sum, at))
            return typemap_overflow(error);
    }
    if (lengthens)
        return PL_OK;
    if (builder->count == builder->room && !typemap_build_make_room(builder, builder->room ? 2 * builder->room : 4))
        return typemap_no_memory(error);
    if (part->node && !builder->children)
        builder->children = mem_zalloc((size_t)builder->room, sizeof(struct typemap_node *));
    if (part->node && !builder->children)
        return typemap_no_memory(error);
    assert(builder->count < builder->room);
    builder->pieces[builder->count] = (struct typemap_piece){at, before};
    if (builder->children)
        builder->children[builder->count] = typemap_node_ref(part->node);
    builder->count++;
    return PL_OK;
}

/* `count` copies of `map`, each its extent behind the one before. */
static pl_status builder_add_block(struct builder *builder, const struct typemap *map, int64_t displacement,
                                   int64_t count, struct pl_error *error)
{
    int64_t at;
    if (count < 0)
        return pl_fail(error, PL_E_TYPE, "a datatype with a negative count");
    if (count == 0)
        return PL_OK; /* and its displacement may be anything */
    if (!add_bounds(&builder->bounds, &map->shape, displacement, count, map->shape.extent) ||
        __builtin_add_overflow(displacement, map->first, &at))
        return typemap_overflow(error);
    const uint64_t slot = ((uint64_t)count + ((uintptr_t)map >> 4)) % BLOCK_CACHE;
    if (builder->cache[slot].map != map || builder->cache[slot].count != count) {
        const struct typemap_part inner = typemap_part_of(map);
        struct typemap_part part;
        const pl_status status = repeat_part(&inner, count, map->shape.extent, &part, error);
        if (status)
            return status;
        typemap_node_unref(builder->cache[slot].part.node);
        builder->cache[slot].map = map;
        builder->cache[slot].count = count;
        builder->cache[slot].part = part;
    }
    return builder_append(builder, &builder->cache[slot].part, at, error);
}

static int64_t typemap_build_length_of(const struct builder *builder, int64_t i)
{
    assert(builder->pieces && i < builder->count);
    const int64_t end = i + 1 < builder->count ? builder->pieces[i + 1].before : builder->sum.size;
    return end - builder->pieces[i].before;
}

/* The same thing again and again at even distances is a repeat. */
static bool typemap_build_is_regular(const struct builder *builder)
{
    const int64_t step = builder->count > 1 ? builder->pieces[1].place : 0,
                  length = typemap_build_length_of(builder, 0);
    for (int64_t i = 1; i < builder->count; i++) {
        /* The difference fits: the footprint does. */
        if (builder->pieces[i].place - builder->pieces[i - 1].place != step ||
            typemap_build_length_of(builder, i) != length)
            return false;
        if (builder->children && builder->children[i] != builder->children[0])
            return false;
    }
    return true;
}

static pl_status make_list(struct builder *builder, struct typemap_part *ret_part, struct pl_error *error)
{
    assert(builder->count > 1 && builder->sum.pieces > 1);
    struct typemap_part part = {.sum = builder->sum};
    part.sum.height++;
    part.node = typemap_node_new(&part.sum, builder->count);
    if (!part.node)
        return typemap_no_memory(error);
    if (builder->room > builder->count)
        typemap_build_make_room(builder, builder->count); /* gives memory back; nothing is lost where it fails */
    part.node->pieces = builder->pieces;
    part.node->children = builder->children;
    builder->pieces = NULL;
    builder->children = NULL;
    builder->count = 0;
    *ret_part = part;
    return PL_OK;
}

static pl_status builder_finish(struct builder *builder, struct typemap **ret_map, struct pl_error *error)
{
    struct typemap_part part = {0};
    pl_status status = PL_OK;
    if (builder->sum.pieces <= 1) {
        typemap_sum_dense(builder->sum.size, &part.sum);
    } else if (typemap_build_is_regular(builder)) {
        struct typemap_part child = {.node = builder->children ? builder->children[0] : NULL};
        if (child.node)
            child.sum = child.node->sum;
        else
            typemap_sum_dense(typemap_build_length_of(builder, 0), &child.sum);
        status = repeat_part(&child, builder->count, builder->count > 1 ? builder->pieces[1].place : 0, &part, error);
    } else {
        status = make_list(builder, &part, error);
    }
    return status ? status : typemap_finish(&part, builder->first, &builder->bounds, ret_map, error);
}

pl_status typemap_list(int64_t n, const int64_t *displacements, const int64_t *counts, struct typemap *const *children,
                       struct typemap **ret_map, struct pl_error *error)
{
    struct builder builder = {0};
    pl_status status = PL_OK;
    for (int64_t i = 0; !status && i < n; i++)
        status = builder_add_block(&builder, children[i], displacements[i], counts[i], error);
    if (!status)
        status = builder_finish(&builder, ret_map, error);
    builder_clear(&builder);
    return status;
}

pl_status typemap_indexed(int64_t n, const int64_t *displacements, const int64_t *counts, struct typemap *child,
                          struct typemap **ret_map, struct pl_error *error)
{
    struct builder builder = {0};
    pl_status status = PL_OK;
    for (int64_t i = 0; !status && i < n; i++)
        status = builder_add_block(&builder, child, displacements[i], counts[i], error);
    if (!status)
        status = builder_finish(&builder, ret_map, error);
    builder_clear(&builder);
    return status;
}
