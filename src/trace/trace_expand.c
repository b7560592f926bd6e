#include "trace/trace_expand.h"

void trace_expand_init(struct trace_expand *expand, const struct trace_tree *tree)
{
    expand->depth = 0;
    expand->levels[0] = (struct trace_expand_level){.nodes = tree->nodes, .count = tree->node_count, .turns = 1};
}

/* Which of the calls of a node this is. */
static int64_t index_of(const struct trace_expand *expand)
{
    int64_t index = 0;
    for (int i = 1; i <= expand->depth; i++)
        index = index * expand->levels[i].turns + expand->levels[i].turn;
    return index;
}

static int64_t offset_of(const struct trace_expand *expand, const struct trace_node *node)
{
    int64_t offset = node->offset;
    if (node->offsets)
        return node->offsets[index_of(expand)];
    for (int i = 0; i < expand->depth; i++)
        offset = (int64_t)((uint64_t)offset +
                           (uint64_t)node->stride[i] * (uint64_t)expand->levels[expand->depth - i].turn);
    return offset;
}

static double duration_of(const struct trace_expand *expand, const struct trace_node *node)
{
    const struct trace_times *times = &node->times;
    const int64_t index = index_of(expand);
    int64_t sum_ns = times->sum_ns, others = times->count;
    if (times->first_took_ns >= 0) {
        if (index == 0)
            return (double)times->first_took_ns;
        sum_ns -= times->first_took_ns;
        others--;
    }
    if (times->last_took_ns >= 0 && times->count > 1) {
        if (index == times->count - 1)
            return (double)times->last_took_ns;
        sum_ns -= times->last_took_ns;
        others--;
    }
    return others > 0 && sum_ns > 0 ? (double)sum_ns / (double)others : 0;
}

bool trace_expand_next(struct trace_expand *expand, struct trace_expanded *ret_call)
{
    for (;;) {
        struct trace_expand_level *level = &expand->levels[expand->depth];
        if (level->at == level->count && ++level->turn < level->turns) {
            level->at = 0;
        } else if (level->at == level->count) {
            if (expand->depth-- == 0) {
                expand->depth = 0;
                level->turn = level->turns;
                return false;
            }
        } else {
            const struct trace_node *node = &level->nodes[level->at++];
            if (node->kind == TRACE_NODE_LOOP) {
                expand->levels[++expand->depth] = (struct trace_expand_level){
                    .nodes = node->body, .count = node->body_count, .turns = node->turns};
                continue;
            }
            *ret_call = (struct trace_expanded){node, offset_of(expand, node), duration_of(expand, node)};
            return true;
        }
    }
}
