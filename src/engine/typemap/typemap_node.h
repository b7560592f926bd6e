/* Inside of typemaps: for the files of this folder only.
 *
 * A node describes data relative to its own first byte: position 0 of every node has displacement 0. Where the first
 * byte lies is said by whoever refers to the node (a piece of a list, or the typemap). So a displaced type is the same
 * node, and a chain of resized, duplicated or displaced types adds no depth.
 *
 * Dense data has no node at all: a NULL in the place of a node means "so many bytes side by side". Every node has
 * therefore at least two pieces: what is one piece became dense while it was built. The cursor's cost rests on it. */
#ifndef PIOLET_ENGINE_TYPEMAP_NODE_H
#define PIOLET_ENGINE_TYPEMAP_NODE_H

#include "engine/typemap/typemap.h"

#include <stdatomic.h>
#include <stddef.h>

/* What is known of a stretch of data, relative to its first byte. Sums of neighbours give the exact sum of both, so no
 * walk over the data is ever needed. */
struct typemap_sum {
    int64_t size;
    int64_t low, high; /* footprint: low ≤ 0 < high, and high - low fits 64 bits */
    int64_t last, end; /* the last piece in order: where it begins and ends */
    int64_t head;      /* bytes of the first piece */
    int64_t pieces, largest;
    int64_t height; /* nodes from here to the deepest dense piece; 0 = dense */
    bool monotone, ascending;
};

struct typemap_piece {
    int64_t place;  /* displacement, relative to the node's first byte */
    int64_t before; /* bytes of data before this piece */
};

struct typemap_node {
    _Atomic int64_t refs;
    struct typemap_node *next_dead; /* chain of nodes that wait for their end (see typemap_node_unref) */
    struct typemap_sum sum;
    int64_t count;
    /* repeat: */
    struct typemap_node *child; /* NULL = dense */
    int64_t stride, unit;       /* unit = bytes of one child */
    /* list (pieces is not NULL): */
    struct typemap_piece *pieces;
    struct typemap_node **children; /* NULL = all dense; an entry that is NULL is dense, too */
};

/* Data on its way to become part of a tree: a node (a reference of the holder's), or sum.size dense bytes. */
struct typemap_part {
    struct typemap_node *node;
    struct typemap_sum sum;
};

struct typemap {
    _Atomic int64_t refs;
    struct typemap_node *node; /* NULL = dense, or nothing where the size is 0 */
    int64_t first;             /* displacement of the first byte */
    struct typemap_shape shape;
};

struct typemap_bounds {
    bool known;
    int64_t lb, ub;
};

/* ---- nodes and sums ---- */

void typemap_sum_dense(int64_t bytes, struct typemap_sum *ret_sum);
/* Behind `sum`, at displacement `at` from its first byte, follows `next`. False where 64 bits overflow. */
bool typemap_sum_append(struct typemap_sum *sum, const struct typemap_sum *next, int64_t at);
bool typemap_sum_repeat(const struct typemap_sum *child, int64_t count, int64_t stride, struct typemap_sum *ret_sum);

struct typemap_node *typemap_node_new(const struct typemap_sum *sum, int64_t count); /* NULL for want of memory */
struct typemap_node *typemap_node_ref(struct typemap_node *node);                    /* accepts NULL */
void typemap_node_unref(struct typemap_node *node);                                  /* accepts NULL */

pl_status typemap_overflow(struct pl_error *error);
pl_status typemap_no_memory(struct pl_error *error);

/* ---- typemaps ---- */

struct typemap_part typemap_part_of(const struct typemap *map); /* borrows the map's reference to its node */
/* Takes the part's reference over, also on failure. */
pl_status typemap_finish(struct typemap_part *part, int64_t first, const struct typemap_bounds *bounds,
                         struct typemap **ret_map, struct pl_error *error);

/* ---- what both walks and cursors ask of a node ---- */

static inline int64_t typemap_node_place(const struct typemap_node *node, int64_t index)
{
    return node->pieces ? node->pieces[index].place : index * node->stride;
}

static inline int64_t typemap_node_before(const struct typemap_node *node, int64_t index)
{
    return node->pieces ? node->pieces[index].before : index * node->unit;
}

static inline int64_t typemap_node_length(const struct typemap_node *node, int64_t index)
{
    if (!node->pieces)
        return node->unit;
    const int64_t end = index + 1 < node->count ? node->pieces[index + 1].before : node->sum.size;
    return end - node->pieces[index].before;
}

static inline struct typemap_node *typemap_node_child(const struct typemap_node *node, int64_t index)
{
    if (!node->pieces)
        return node->child;
    return node->children ? node->children[index] : NULL;
}

/* The child that holds the byte at `position` (below the node's size). */
int64_t typemap_node_find(const struct typemap_node *node, int64_t position);

static inline int64_t typemap_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t typemap_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
