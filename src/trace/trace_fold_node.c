#include "trace/trace_fold_core.h"

#include <stdlib.h>
#include <string.h>

static trace_ref take(struct trace_fold_core *core, trace_ref *free_list, size_t bytes)
{
    trace_ref ref = *free_list;
    if (ref) {
        *free_list = fold_node(core, ref)->prev;
        memset(fold_node(core, ref), 0, bytes);
        trace_arena_note(core->arena, ref, bytes);
    } else if (!(ref = trace_arena_take(core->arena, bytes))) {
        core->failed = true;
    }
    return ref;
}

trace_ref fold_new_leaf(struct trace_fold_core *core, int levels)
{
    const trace_ref ref = take(core, &core->free_leaf[levels],
                               sizeof(struct trace_record_leaf) + (size_t)levels * sizeof(int64_t));
    if (ref) {
        fold_node(core, ref)->kind = TRACE_RECORD_LEAF;
        fold_node(core, ref)->levels = (uint8_t)levels;
    }
    return ref;
}

trace_ref fold_new_loop(struct trace_fold_core *core)
{
    const trace_ref ref = take(core, &core->free_loop, sizeof(struct trace_record_loop));
    if (ref)
        fold_node(core, ref)->kind = TRACE_RECORD_LOOP;
    return ref;
}

void fold_kill_one(struct trace_fold_core *core, trace_ref ref)
{
    if (core->dead_count == core->dead_room) {
        const size_t room = core->dead_room ? 2 * core->dead_room : 64;
        trace_ref *grown = realloc(core->dead, room * sizeof *grown);
        if (!grown)
            return; /* it is never used again: a pity, not an error */
        core->dead = grown;
        core->dead_room = room;
    }
    core->dead[core->dead_count++] = ref;
}

void fold_kill(struct trace_fold_core *core, trace_ref root)
{
    if (fold_is_loop(core, root)) {
        const struct trace_record_loop *loop = fold_loop(core, root);
        trace_ref child = loop->body;
        for (uint32_t i = 0; i < loop->body_count; i++, child = fold_node(core, child)->prev)
            fold_kill(core, child);
    }
    fold_kill_one(core, root);
}

void fold_bury(struct trace_fold_core *core)
{
    for (size_t i = 0; i < core->dead_count; i++) {
        struct trace_record_node *node = fold_node(core, core->dead[i]);
        trace_ref *list = node->kind == TRACE_RECORD_LOOP ? &core->free_loop : &core->free_leaf[node->levels];
        node->prev = *list;
        *list = core->dead[i];
    }
    core->dead_count = 0;
}

int64_t fold_events(const struct trace_fold_core *core, trace_ref root)
{
    return fold_is_loop(core, root) ? fold_loop(core, root)->matched : 1;
}

int fold_height(const struct trace_fold_core *core, trace_ref root)
{
    return fold_is_loop(core, root) ? fold_node(core, root)->levels : 0;
}

void fold_body(const struct trace_fold_core *core, const struct trace_record_loop *loop, trace_ref *ret_nodes)
{
    trace_ref child = loop->body;
    for (uint32_t i = loop->body_count; i > 0; i--, child = fold_node(core, child)->prev)
        ret_nodes[i - 1] = child;
}

void fold_add_time(struct trace_record_leaf *leaf, const struct fold_item *item)
{
    if (leaf->count == 0) {
        leaf->first_ns = item->begin_ns;
        leaf->first_took_ns = item->duration_ns;
        leaf->min_ns = leaf->max_ns = item->duration_ns;
    }
    if (item->duration_ns < leaf->min_ns)
        leaf->min_ns = item->duration_ns;
    if (item->duration_ns > leaf->max_ns)
        leaf->max_ns = item->duration_ns;
    leaf->count++;
    leaf->sum_ns += item->duration_ns;
    leaf->gap_ns += item->gap_ns;
    leaf->last_ns = item->begin_ns;
    leaf->last_took_ns = item->duration_ns;
}

/* What the last `count` calls of a leaf took: the last one as it was, the others the mean of those that are not known.
 */
static int64_t share_sum(const struct trace_record_leaf *leaf, int64_t count)
{
    const bool has_first = leaf->first_took_ns >= 0 && leaf->count > count, has_last = leaf->last_took_ns >= 0;
    const int64_t known_ns = (has_first ? leaf->first_took_ns : 0) + (has_last ? leaf->last_took_ns : 0);
    const int64_t unknown = leaf->count - has_first - has_last;
    const double mean = unknown > 0 ? (double)(leaf->sum_ns - known_ns) / (double)unknown : 0;
    return (has_last ? leaf->last_took_ns : 0) + (int64_t)(mean * (double)(count - has_last));
}

void fold_share_time(struct trace_record_leaf *from, struct trace_record_leaf *to, int64_t count)
{
    const double share = from->count > 0 ? (double)count / (double)from->count : 0;
    to->count = count;
    to->sum_ns = share_sum(from, count);
    to->first_took_ns = count == 1 ? to->sum_ns : -1;
    to->last_took_ns = from->last_took_ns;
    from->last_took_ns = -1;
    to->gap_ns = (int64_t)((double)from->gap_ns * share);
    to->min_ns = from->min_ns;
    to->max_ns = from->max_ns;
    to->first_ns = to->last_ns = from->last_ns;
    from->count -= count;
    from->sum_ns -= to->sum_ns;
    from->gap_ns -= to->gap_ns;
}
