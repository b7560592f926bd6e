/* The loop at the end of the chain, unrolled into steps: the next event is one comparison away. */
#include "trace/trace_fold_core.h"

#include <stdlib.h>

static struct fold_step *new_step(struct trace_fold_core *core)
{
    if (core->step_count == core->step_room) {
        const int room = core->step_room ? 2 * core->step_room : 64;
        struct fold_step *grown = realloc(core->steps, (size_t)room * sizeof *grown);
        if (!grown) {
            core->failed = true;
            return NULL;
        }
        core->steps = grown;
        core->step_room = room;
    }
    struct fold_step *step = &core->steps[core->step_count++];
    *step = (struct fold_step){0};
    return step;
}

static void unroll(struct trace_fold_core *core, const struct trace_record_loop *loop)
{
    trace_ref nodes[TRACE_FOLD_SPAN];
    fold_body(core, loop, nodes);
    for (uint32_t i = 0; i < loop->body_count && !core->failed; i++) {
        const bool is_loop = fold_is_loop(core, nodes[i]);
        const int begin = core->step_count;
        struct fold_step *step = new_step(core);
        if (!step)
            return;
        step->node = nodes[i];
        step->kind = is_loop ? FOLD_BEGIN : FOLD_CALL;
        if (!is_loop) {
            step->chunk = fold_leaf(core, nodes[i])->list;
            step->last = fold_leaf(core, nodes[i])->value;
            continue;
        }
        const struct trace_record_loop *inner = fold_loop(core, nodes[i]);
        unroll(core, inner);
        if (!(step = new_step(core)))
            return;
        *step = (struct fold_step){
            .kind = FOLD_END, .node = nodes[i], .begin = begin, .turns = inner->matched / inner->per_turn};
    }
}

/* From a step on to the next call; a turn of the whole loop ends where the steps do. */
static void settle(struct trace_fold_core *core)
{
    for (;;) {
        if (core->at == core->step_count) {
            core->at = 0;
            core->turn[0]++;
            core->partial = 0;
        }
        const struct fold_step *step = &core->steps[core->at];
        if (step->kind == FOLD_CALL)
            return;
        if (step->kind == FOLD_BEGIN) {
            core->turn[++core->level] = 0;
            core->at++;
        } else if (++core->turn[core->level] < step->turns) {
            core->at = step->begin + 1;
        } else {
            core->level--;
            core->at++;
        }
    }
}

void fold_enter(struct trace_fold_core *core, trace_ref ref)
{
    const struct trace_record_loop *loop = fold_loop(core, ref);
    core->step_count = 0;
    unroll(core, loop);
    if (core->failed)
        return;
    core->loop = ref;
    core->listed = loop->node.listed;
    core->at = core->level = 0;
    core->partial = 0;
    core->turn[0] = loop->matched / loop->per_turn;
    settle(core);
}

bool fold_expects(const struct trace_fold_core *core, trace_ref key, int64_t value)
{
    const struct trace_record_leaf *leaf = fold_leaf(core, core->steps[core->at].node);
    if (leaf->key != key)
        return false;
    if (core->listed)
        return true;
    int64_t expected = leaf->value;
    for (int i = core->level; i >= 0; i--)
        expected = wrapping_add(expected, wrapping_mul(core->turn[i], leaf->stride[core->level - i]));
    return expected == value;
}

void fold_take(struct trace_fold_core *core, const struct fold_item *item)
{
    enum { MATCHED = offsetof(struct trace_record_loop, matched) };
    struct fold_step *step = &core->steps[core->at];
    if (core->listed) {
        fold_list_add(core, step, item->value);
        if (core->failed)
            return;
        core->partial_items[core->partial] = *item;
        core->partial_leaves[core->partial] = step->node;
    }
    fold_add_time(fold_leaf_to_change(core, step->node), item);
    fold_loop(core, core->loop)->matched++; /* the event is in */
    trace_arena_note(core->arena, core->loop + MATCHED / sizeof(uint64_t), sizeof(int64_t));
    core->partial++;
    core->at++;
    settle(core);
    if (core->listed && core->partial == 0)
        fold_break_list(core);
}
