/* Nodes: making them, giving them back, taking a part out of them. */
#include "trace/trace_fold_core.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static trace_ref fold_take_record(struct trace_fold_core *core, trace_ref *free_list, size_t bytes)
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
    assert(levels >= 0 && levels <= TRACE_RECORD_LEVELS);
    const trace_ref ref = fold_take_record(core, &core->free_leaf[levels],
                                           sizeof(struct trace_record_leaf) + (size_t)levels * sizeof(int64_t));
    if (ref) {
        fold_node(core, ref)->kind = TRACE_RECORD_LEAF;
        fold_node(core, ref)->levels = (uint8_t)levels;
    }
    return ref;
}

trace_ref fold_new_loop(struct trace_fold_core *core)
{
    const trace_ref ref = fold_take_record(core, &core->free_loop, sizeof(struct trace_record_loop));
    if (ref)
        fold_node(core, ref)->kind = TRACE_RECORD_LOOP;
    return ref;
}

void fold_kill_one(struct trace_fold_core *core, trace_ref ref)
{
    assert(ref != 0);
    if (ARRAY_ROOM(core->dead, core->dead_count, core->dead_room,
                   64)) /* else it is never used again: a pity, no error */
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
    assert(loop->body_count > 0 && loop->body_count <= TRACE_FOLD_SPAN);
    trace_ref child = loop->body;
    for (uint32_t i = loop->body_count; i > 0; i--, child = fold_node(core, child)->prev)
        ret_nodes[i - 1] = child;
}

/* What the last `count` calls of a leaf took: the last one as it was, the others the mean of those that are not known.
 */
static int64_t fold_share_sum(const struct trace_record_leaf *leaf, int64_t count)
{
    const bool has_first = leaf->first_took_ns >= 0 && leaf->count > count, has_last = leaf->last_took_ns >= 0;
    const int64_t known_ns = (has_first ? leaf->first_took_ns : 0) + (has_last ? leaf->last_took_ns : 0);
    const int64_t unknown = leaf->count - has_first - has_last;
    const double mean = unknown > 0 ? (double)(leaf->sum_ns - known_ns) / (double)unknown : 0;
    return (has_last ? leaf->last_took_ns : 0) + (int64_t)(mean * (double)(count - has_last));
}

void fold_share_time(struct trace_record_leaf *from, struct trace_record_leaf *to, int64_t count)
{
    assert(count > 0 && count <= from->count);
    const double share = from->count > 0 ? (double)count / (double)from->count : 0;
    to->count = count;
    to->sum_ns = fold_share_sum(from, count);
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

/* ---- a turn that was begun ---- */

/* A turn that was begun and goes on otherwise than expected: what was done of it becomes nodes of their own. */

/* Copies a node out of loops of which each stands at a certain turn: `fixed`, the innermost first. `inside` loops
 * around it are copied with it. */
struct part {
    struct trace_fold_core *core;
    const int64_t *fixed;
    int fixed_count;
};

static trace_ref fold_part_copy(const struct part *part, trace_ref ref, int inside, int64_t events);

static trace_ref fold_part_copy_leaf(const struct part *part, trace_ref ref, int inside, int64_t events)
{
    struct trace_fold_core *core = part->core;
    const trace_ref made = fold_new_leaf(core, inside);
    if (!made)
        return 0;
    struct trace_record_leaf *from = fold_leaf_to_change(core, ref), *to = fold_leaf(core, made);
    to->key = from->key;
    to->value = from->value;
    for (int i = 0; i < inside; i++)
        to->stride[i] = from->stride[i];
    for (int i = 0; i < part->fixed_count; i++)
        to->value = wrapping_add(to->value, wrapping_mul(part->fixed[i], from->stride[inside + i]));
    fold_share_time(from, to, events);
    return made;
}

static trace_ref fold_part_copy_loop(const struct part *part, trace_ref ref, int64_t turns, int inside, int64_t events)
{
    struct trace_fold_core *core = part->core;
    const trace_ref made = fold_new_loop(core);
    trace_ref nodes[TRACE_FOLD_SPAN], last = 0;
    if (!made)
        return 0;
    struct trace_record_loop loop = *fold_loop(core, ref);
    fold_body(core, &loop, nodes);
    for (uint32_t i = 0; i < loop.body_count; i++) {
        const trace_ref child = fold_part_copy(part, nodes[i], inside + 1, events * turns);
        if (!child)
            return 0;
        fold_node(core, child)->prev = last;
        last = child;
    }
    loop.body = last;
    loop.matched = turns * loop.per_turn;
    *fold_loop(core, made) = loop;
    return made;
}

/* `events`: how often the node is passed in what is copied. */
static trace_ref fold_part_copy(const struct part *part, trace_ref ref, int inside, int64_t events)
{
    if (!fold_is_loop(part->core, ref))
        return fold_part_copy_leaf(part, ref, inside, events);
    const struct trace_record_loop *loop = fold_loop(part->core, ref);
    return fold_part_copy_loop(part, ref, loop->matched / loop->per_turn, inside, events);
}

static void fold_part_push_made(struct trace_fold_core *core, trace_ref made)
{
    if (made)
        fold_push(core, made);
    else
        core->failed = true;
}

static int fold_part_steps_of(const struct trace_fold_core *core, trace_ref ref)
{
    if (!fold_is_loop(core, ref))
        return 1;
    const struct trace_record_loop *loop = fold_loop(core, ref);
    trace_ref child = loop->body;
    int count = 2;
    for (uint32_t i = 0; i < loop->body_count; i++, child = fold_node(core, child)->prev)
        count += fold_part_steps_of(core, child);
    return count;
}

/* The loop `ref` stands in its turn[level]: pushes what was done of that turn. Its body begins at `step`. */
static void fold_part_push_turn(struct trace_fold_core *core, trace_ref ref, int level, int step)
{
    assert(level >= 0 && level <= core->level && step <= core->at);
    int64_t fixed[TRACE_RECORD_LEVELS + 1];
    trace_ref nodes[TRACE_FOLD_SPAN];
    const struct trace_record_loop *loop = fold_loop(core, ref);
    const uint32_t count = loop->body_count;
    fold_body(core, loop, nodes);
    fixed[0] = 0; /* for the first turn of a loop inside */
    for (int i = 0; i <= level; i++)
        fixed[1 + i] = core->turn[level - i];
    const struct part part = {core, fixed + 1, level + 1}, first = {core, fixed, level + 2};
    uint32_t i = 0;
    for (; i < count && !core->failed && step + fold_part_steps_of(core, nodes[i]) <= core->at; i++) {
        step += fold_part_steps_of(core, nodes[i]);
        fold_part_push_made(core, fold_part_copy(&part, nodes[i], 0, 1));
    }
    if (level == core->level || core->failed)
        return;
    const int64_t turns = core->turn[level + 1];
    if (turns > 1) {
        fold_part_push_made(core, fold_part_copy_loop(&part, nodes[i], turns, 0, 1));
    } else if (turns == 1) {
        trace_ref inner[TRACE_FOLD_SPAN];
        const struct trace_record_loop *child = fold_loop(core, nodes[i]);
        const uint32_t inner_count = child->body_count;
        fold_body(core, child, inner);
        for (uint32_t k = 0; k < inner_count && !core->failed; k++)
            fold_part_push_made(core, fold_part_copy(&first, inner[k], 0, 1));
    }
    if (!core->failed)
        fold_part_push_turn(core, nodes[i], level + 1, step + 1);
}

void fold_materialize(struct trace_fold_core *core)
{
    assert(core->loop && core->partial > 0 && !core->listed);
    const trace_ref longer = core->loop, shorter = fold_new_loop(core);
    if (!shorter)
        return;
    *fold_loop(core, shorter) = *fold_loop(core, longer);
    fold_loop(core, shorter)->matched -= core->partial;
    assert(fold_loop(core, shorter)->matched % fold_loop(core, shorter)->per_turn == 0);
    core->loop = 0;
    fold_pop(core, 1);
    fold_kill_one(core, longer);
    fold_push(core, shorter);
    fold_part_push_turn(core, shorter, 0, 0);
    if (!core->failed && fold_is_loop(core, core->tail))
        fold_enter(core, core->tail);
}
