/* A turn that was begun and goes on otherwise than expected: what was done of it becomes nodes of their own. */
#include "trace/trace_fold_core.h"

/* Copies a node out of loops of which each stands at a certain turn: `fixed`, the innermost first. `inside` loops
 * around it are copied with it. */
struct part {
    struct trace_fold_core *core;
    const int64_t *fixed;
    int fixed_count;
};

static trace_ref copy(const struct part *part, trace_ref ref, int inside, int64_t events);

static trace_ref copy_leaf(const struct part *part, trace_ref ref, int inside, int64_t events)
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

static trace_ref copy_loop(const struct part *part, trace_ref ref, int64_t turns, int inside, int64_t events)
{
    struct trace_fold_core *core = part->core;
    const trace_ref made = fold_new_loop(core);
    trace_ref nodes[TRACE_FOLD_SPAN], last = 0;
    if (!made)
        return 0;
    struct trace_record_loop loop = *fold_loop(core, ref);
    fold_body(core, &loop, nodes);
    for (uint32_t i = 0; i < loop.body_count; i++) {
        const trace_ref child = copy(part, nodes[i], inside + 1, events * turns);
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
static trace_ref copy(const struct part *part, trace_ref ref, int inside, int64_t events)
{
    if (!fold_is_loop(part->core, ref))
        return copy_leaf(part, ref, inside, events);
    const struct trace_record_loop *loop = fold_loop(part->core, ref);
    return copy_loop(part, ref, loop->matched / loop->per_turn, inside, events);
}

static void push_made(struct trace_fold_core *core, trace_ref made)
{
    if (made)
        fold_push(core, made);
    else
        core->failed = true;
}

static int steps_of(const struct trace_fold_core *core, trace_ref ref)
{
    if (!fold_is_loop(core, ref))
        return 1;
    const struct trace_record_loop *loop = fold_loop(core, ref);
    trace_ref child = loop->body;
    int count = 2;
    for (uint32_t i = 0; i < loop->body_count; i++, child = fold_node(core, child)->prev)
        count += steps_of(core, child);
    return count;
}

/* The loop `ref` stands in its turn[level]: pushes what was done of that turn. Its body begins at `step`. */
static void push_turn(struct trace_fold_core *core, trace_ref ref, int level, int step)
{
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
    for (; i < count && !core->failed && step + steps_of(core, nodes[i]) <= core->at; i++) {
        step += steps_of(core, nodes[i]);
        push_made(core, copy(&part, nodes[i], 0, 1));
    }
    if (level == core->level || core->failed)
        return;
    const int64_t turns = core->turn[level + 1];
    if (turns > 1) {
        push_made(core, copy_loop(&part, nodes[i], turns, 0, 1));
    } else if (turns == 1) {
        trace_ref inner[TRACE_FOLD_SPAN];
        const struct trace_record_loop *child = fold_loop(core, nodes[i]);
        const uint32_t inner_count = child->body_count;
        fold_body(core, child, inner);
        for (uint32_t k = 0; k < inner_count && !core->failed; k++)
            push_made(core, copy(&first, inner[k], 0, 1));
    }
    if (!core->failed)
        push_turn(core, nodes[i], level + 1, step + 1);
}

void fold_materialize(struct trace_fold_core *core)
{
    const trace_ref longer = core->loop, shorter = fold_new_loop(core);
    if (!shorter)
        return;
    *fold_loop(core, shorter) = *fold_loop(core, longer);
    fold_loop(core, shorter)->matched -= core->partial;
    core->loop = 0;
    fold_pop(core, 1);
    fold_kill_one(core, longer);
    fold_push(core, shorter);
    push_turn(core, shorter, 0, 0);
    if (!core->failed && fold_is_loop(core, core->tail))
        fold_enter(core, core->tail);
}
