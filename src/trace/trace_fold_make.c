/* Loops out of the last nodes of the chain. */
#include "trace/trace_fold_core.h"

static trace_ref entry(const struct trace_fold_core *core, int back)
{
    return core->window[core->window_count - back].node;
}

/* Three nodes that do the same, with values in line. */
static bool in_line(const struct trace_fold_core *core, trace_ref a, trace_ref b, trace_ref c)
{
    if (fold_node(core, a)->kind != fold_node(core, b)->kind || fold_node(core, b)->kind != fold_node(core, c)->kind)
        return false;
    if (!fold_is_loop(core, a)) {
        const struct trace_record_leaf *x = fold_leaf(core, a), *y = fold_leaf(core, b), *z = fold_leaf(core, c);
        if (x->key != y->key || y->key != z->key ||
            wrapping_sub(y->value, x->value) != wrapping_sub(z->value, y->value))
            return false;
        for (int i = 0; i < x->node.levels; i++)
            if (x->stride[i] != y->stride[i] || y->stride[i] != z->stride[i])
                return false;
        return true;
    }
    const struct trace_record_loop *x = fold_loop(core, a), *y = fold_loop(core, b), *z = fold_loop(core, c);
    if (x->node.listed || y->node.listed || z->node.listed || x->matched != y->matched || y->matched != z->matched ||
        x->body_count != y->body_count || y->body_count != z->body_count)
        return false;
    trace_ref p = x->body, q = y->body, r = z->body;
    for (uint32_t i = 0; i < x->body_count; i++) {
        if (!in_line(core, p, q, r))
            return false;
        p = fold_node(core, p)->prev;
        q = fold_node(core, q)->prev;
        r = fold_node(core, r)->prev;
    }
    return true;
}

static void merge_time(struct trace_record_leaf *into, const struct trace_record_leaf *from)
{
    into->count += from->count;
    into->sum_ns += from->sum_ns;
    into->gap_ns += from->gap_ns;
    into->min_ns = from->min_ns < into->min_ns ? from->min_ns : into->min_ns;
    into->max_ns = from->max_ns > into->max_ns ? from->max_ns : into->max_ns;
    into->last_ns = from->last_ns;
    into->last_took_ns = from->last_took_ns;
}

/* A copy of the first of nodes that do the same, for the body of a new loop around them. `copies` that are `span`
 * apart in the chain stand behind it; their times go into it. Of three that are in line it gets another stride. */
struct copies {
    struct trace_fold_core *core;
    trace_ref nodes[FOLD_LIST_COPIES];
    int count;
    bool listed;
};

static trace_ref join(const struct copies *copies);

static trace_ref join_leaves(const struct copies *copies)
{
    struct trace_fold_core *core = copies->core;
    const int levels = fold_leaf(core, copies->nodes[0])->node.levels;
    const trace_ref made = fold_new_leaf(core, copies->listed ? 0 : levels + 1);
    if (!made)
        return 0;
    const struct trace_record_leaf *first = fold_leaf(core, copies->nodes[0]);
    struct trace_record_leaf *leaf = fold_leaf(core, made);
    leaf->key = first->key;
    leaf->value = first->value;
    leaf->first_ns = first->first_ns;
    leaf->first_took_ns = first->first_took_ns;
    leaf->min_ns = first->min_ns;
    for (int i = 0; i < copies->count; i++)
        merge_time(leaf, fold_leaf(core, copies->nodes[i]));
    if (copies->listed)
        return fold_list_start(core, made) ? made : 0;
    for (int i = 0; i < levels; i++)
        leaf->stride[i] = first->stride[i];
    leaf->stride[levels] = wrapping_sub(fold_leaf(core, copies->nodes[1])->value, first->value);
    return made;
}

static trace_ref join_loops(const struct copies *copies)
{
    struct trace_fold_core *core = copies->core;
    struct copies children = *copies;
    const trace_ref made = fold_new_loop(core);
    if (!made)
        return 0;
    struct trace_record_loop loop = *fold_loop(core, copies->nodes[0]);
    for (int i = 0; i < copies->count; i++)
        children.nodes[i] = fold_loop(core, copies->nodes[i])->body;
    trace_ref behind = 0;
    for (uint32_t i = 0; i < loop.body_count; i++) { /* from the last one on */
        const trace_ref child = join(&children);
        if (!child)
            return 0;
        if (behind)
            fold_node(core, behind)->prev = child;
        else
            loop.body = child;
        behind = child;
        for (int k = 0; k < copies->count; k++)
            children.nodes[k] = fold_node(core, children.nodes[k])->prev;
    }
    loop.node.listed = copies->listed;
    *fold_loop(core, made) = loop;
    return made;
}

static trace_ref join(const struct copies *copies)
{
    return fold_is_loop(copies->core, copies->nodes[0]) ? join_loops(copies) : join_leaves(copies);
}

/* The loop around `copies` rows of `span` nodes, which end the chain. */
static trace_ref loop_around(struct trace_fold_core *core, int span, int copies, bool listed)
{
    const trace_ref made = fold_new_loop(core);
    struct trace_record_loop loop = {.node = {.kind = TRACE_RECORD_LOOP, .listed = listed},
                                     .body_count = (uint32_t)span};
    for (int i = 0; i < span && !core->failed; i++) {
        struct copies row = {.core = core, .count = copies, .listed = listed};
        for (int k = 0; k < copies; k++)
            row.nodes[k] = entry(core, (copies - k) * span - i);
        const trace_ref child = join(&row);
        if (!child) {
            core->failed = true;
            return 0;
        }
        fold_node(core, child)->prev = loop.body;
        loop.body = child;
        loop.per_turn += fold_events(core, child);
        const int height = fold_height(core, child) + 1;
        loop.node.levels = (uint8_t)(height > loop.node.levels ? height : loop.node.levels);
    }
    if (core->failed)
        return 0;
    loop.matched = copies * loop.per_turn;
    *fold_loop(core, made) = loop;
    return made;
}

/* Puts the new node into the place of the last `count` ones. */
static void replace(struct trace_fold_core *core, int count, trace_ref made)
{
    for (int i = count; i > 0; i--)
        fold_kill(core, entry(core, i));
    fold_pop(core, count);
    fold_push(core, made);
}

bool fold_make_loop(struct trace_fold_core *core, int span)
{
    for (int i = 1; i <= span; i++)
        if (!in_line(core, entry(core, i + 2 * span), entry(core, i + span), entry(core, i)) ||
            fold_height(core, entry(core, i)) >= TRACE_RECORD_LEVELS)
            return false;
    const trace_ref made = loop_around(core, span, FOLD_COPIES, false);
    if (!made)
        return false;
    replace(core, FOLD_COPIES * span, made);
    fold_enter(core, made);
    return true;
}

/* Adds the values of a leaf to a list in the order of time; `turns` of the loops around it, the innermost first. */
static void add_values(struct trace_fold_core *core, struct fold_step *list, trace_ref ref, const int64_t *turns,
                       int64_t skip)
{
    const int levels = fold_leaf(core, ref)->node.levels;
    int64_t turn[TRACE_RECORD_LEVELS + 1] = {0};
    for (;;) {
        const struct trace_record_leaf *leaf = fold_leaf(core, ref);
        int64_t value = leaf->value;
        for (int i = 0; i < levels; i++)
            value = wrapping_add(value, wrapping_mul(turn[i], leaf->stride[i]));
        if (skip-- <= 0)
            fold_list_add(core, list, value);
        int i = 0;
        while (i < levels && ++turn[i] == turns[i])
            turn[i++] = 0;
        if (i == levels || core->failed)
            return;
    }
}

/* Fills the lists of the loop that was entered, step by step of its body, from the nodes of one row. */
static void add_row(struct trace_fold_core *core, const trace_ref *nodes, int count, int *step, int64_t *turns,
                    int depth, bool first)
{
    for (int i = 0; i < count && !core->failed; i++, ++*step) {
        if (!fold_is_loop(core, nodes[i])) {
            int64_t inner[TRACE_RECORD_LEVELS] = {0};
            for (int k = 0; k < depth; k++)
                inner[k] = turns[depth - 1 - k];
            add_values(core, &core->steps[*step], nodes[i], inner, first);
            continue;
        }
        trace_ref body[TRACE_FOLD_SPAN];
        const struct trace_record_loop *loop = fold_loop(core, nodes[i]);
        const int body_count = (int)loop->body_count;
        turns[depth] = loop->matched / loop->per_turn;
        fold_body(core, loop, body);
        ++*step;
        add_row(core, body, body_count, step, turns, depth + 1, first);
    }
}

bool fold_make_list(struct trace_fold_core *core, int span)
{
    int64_t events = 0, turns[TRACE_RECORD_LEVELS];
    trace_ref nodes[TRACE_FOLD_SPAN];
    for (int i = 1; i <= span; i++) {
        events += fold_events(core, entry(core, i));
        if (fold_height(core, entry(core, i)) >= TRACE_RECORD_LEVELS ||
            (fold_is_loop(core, entry(core, i)) && fold_loop(core, entry(core, i))->node.listed))
            return false;
    }
    if (events > FOLD_LIST_EVENTS)
        return false;
    const trace_ref made = loop_around(core, span, FOLD_LIST_COPIES, true);
    if (!made)
        return false;
    fold_enter(core, made);
    for (int copy = FOLD_LIST_COPIES; copy > 0 && !core->failed; copy--) {
        int step = 0;
        for (int i = 0; i < span; i++)
            nodes[i] = entry(core, copy * span - i);
        add_row(core, nodes, span, &step, turns, 0, copy == FOLD_LIST_COPIES);
    }
    replace(core, FOLD_LIST_COPIES * span, made);
    return true;
}

/* The only leaf of a node that is a call, or a short loop of one; 0: it is something else. */
static trace_ref short_run(const struct trace_fold_core *core, trace_ref ref, int64_t *ret_turns)
{
    *ret_turns = 1;
    if (!fold_is_loop(core, ref))
        return ref;
    const struct trace_record_loop *loop = fold_loop(core, ref);
    *ret_turns = loop->matched;
    const bool is_one = loop->body_count == 1 && !fold_is_loop(core, loop->body) && !loop->node.listed;
    return is_one && loop->matched < FOLD_SHORT ? loop->body : 0;
}

/* FOLD_LIST_COPIES nodes that are calls of one key, alone or in short loops. */
bool fold_make_run(struct trace_fold_core *core)
{
    trace_ref leaves[FOLD_LIST_COPIES];
    int64_t turns[FOLD_LIST_COPIES], events = 0;
    if (core->window_count < FOLD_LIST_COPIES)
        return false;
    for (int i = FOLD_LIST_COPIES - 1; i >= 0; i--) {
        leaves[i] = short_run(core, entry(core, FOLD_LIST_COPIES - i), &turns[i]);
        if (!leaves[i] || fold_leaf(core, leaves[i])->key != fold_leaf(core, leaves[FOLD_LIST_COPIES - 1])->key)
            return false;
        events += turns[i];
    }
    struct copies row = {.core = core, .count = FOLD_LIST_COPIES, .listed = true};
    for (int i = 0; i < FOLD_LIST_COPIES; i++)
        row.nodes[i] = leaves[i];
    const trace_ref made = fold_new_loop(core), leaf = made ? join_leaves(&row) : 0;
    if (!leaf)
        return false;
    *fold_loop(core, made) = (struct trace_record_loop){
        .node = {.kind = TRACE_RECORD_LOOP, .levels = 1, .listed = 1}, leaf, 1, events, 1};
    fold_enter(core, made);
    for (int i = 0; i < FOLD_LIST_COPIES && !core->failed; i++)
        add_values(core, &core->steps[0], leaves[i], &turns[i], i == 0);
    replace(core, FOLD_LIST_COPIES, made);
    return true;
}

/* The last turns of a listed loop, as a loop with strides. */
static trace_ref straight_turns(struct trace_fold_core *core)
{
    const trace_ref made = fold_new_loop(core);
    trace_ref last = 0;
    for (int i = 0; i < core->step_count && !core->failed; i++) {
        const trace_ref ref = fold_new_leaf(core, 1);
        int64_t step;
        if (!ref)
            return 0;
        struct trace_record_leaf *from = fold_leaf_to_change(core, core->steps[i].node), *leaf = fold_leaf(core, ref);
        fold_list_in_line(core, &core->steps[i], FOLD_SHORT, &step);
        leaf->key = from->key;
        leaf->value = wrapping_sub(core->steps[i].last, wrapping_mul(FOLD_SHORT - 1, step));
        leaf->stride[0] = step;
        fold_share_time(from, leaf, FOLD_SHORT);
        leaf->node.prev = last;
        last = ref;
    }
    if (made)
        *fold_loop(core, made) = (struct trace_record_loop){.node = {.kind = TRACE_RECORD_LOOP, .levels = 1},
                                                            .body = last,
                                                            .body_count = (uint32_t)core->step_count,
                                                            .matched = (int64_t)FOLD_SHORT * core->step_count,
                                                            .per_turn = core->step_count};
    return core->failed ? 0 : made;
}

void fold_break_list(struct trace_fold_core *core)
{
    int64_t step;
    if (core->turn[0] <= FOLD_SHORT || core->step_count != (int)fold_loop(core, core->loop)->body_count)
        return;
    for (int i = 0; i < core->step_count; i++)
        if (!fold_list_in_line(core, &core->steps[i], FOLD_SHORT, &step))
            return;
    const trace_ref straight = straight_turns(core), shorter = fold_new_loop(core);
    if (core->failed)
        return;
    *fold_loop(core, shorter) = *fold_loop(core, core->loop);
    fold_loop(core, shorter)->matched -= (int64_t)FOLD_SHORT * core->step_count;
    fold_kill_one(core, core->loop);
    core->loop = 0;
    fold_pop(core, 1);
    fold_push(core, shorter);
    fold_push(core, straight);
    fold_enter(core, straight);
}
