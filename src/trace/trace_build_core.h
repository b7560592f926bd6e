/* Inside of trace_build*.c. */
#ifndef PIOLET_TRACE_BUILD_CORE_H
#define PIOLET_TRACE_BUILD_CORE_H

#include "trace/trace_build.h"

struct build_values {
    trace_ref leaf;
    int64_t *values, count;
};

struct build {
    const struct trace_records *records;
    struct trace_tree *tree;
    struct pl_error *error;
    size_t visited;                        /* records of the chains: no more than fit into the arena */
    int64_t comm_events, comm_collectives; /* that were found in the nodes */
    struct build_values last;              /* of the listed leaf that was looked at last, in a turn that was begun */
    struct trace_node *nodes;              /* of the chain, so far */
    int node_count, node_room, detail_room;
};

/* Where a node stands: turns of the loops around it that are part of the tree, and loops of which it is one turn. */
struct build_place {
    int64_t turns[TRACE_LEVELS_MAX]; /* the outermost first */
    int depth;
    int64_t fixed[TRACE_LEVELS_MAX + 1]; /* the innermost first */
    int fixed_count;
};

/* The record at `ref`, of at least so many bytes; NULL: it lies outside, and the error is set. */
const void *build_at(struct build *build, trace_ref ref, size_t bytes);
const char *build_text(struct build *build, trace_ref ref);

/* A leaf as a node of the tree. `listed`: NULL, or its values there. */
pl_status build_leaf(struct build *build, trace_ref ref, const struct build_place *place, const int64_t *listed,
                     struct trace_node *ret_node);
/* The first values of a listed leaf: `count` of them, and up to `more` where there are more. */
pl_status build_list(struct build *build, const struct trace_record_leaf *leaf, int64_t count, int64_t more,
                     struct build_values *ret_values);

pl_status build_damaged(struct build *build, const char *what);
pl_status build_no_memory(struct build *build);

#endif
