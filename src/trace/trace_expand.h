/* Every single call of a tree, in the order of time. */
#ifndef PIOLET_TRACE_EXPAND_H
#define PIOLET_TRACE_EXPAND_H

#include "trace/trace_tree.h"

struct trace_expand {
    struct trace_expand_level {
        const struct trace_node *nodes;
        int count, at;
        int64_t turns, turn;
    } levels[TRACE_LEVELS_MAX + 1];
    int depth;
};

struct trace_expanded {
    const struct trace_node *node; /* a call, or communication */
    int64_t offset;                /* of this call */
    double duration_ns;            /* of the first and last of a node as it was, else the mean of the others */
};

void trace_expand_init(struct trace_expand *expand, const struct trace_tree *tree);
bool trace_expand_next(struct trace_expand *expand, struct trace_expanded *ret_call); /* false: that was all */

#endif
