/* Loops out of the last nodes, with strides or with lists of values. */
#include "trace/trace_fold_core.h"

#include <assert.h>

/* ---- lists of values ---- */

/* Values one by one: the steps from each to the next, equal ones in a row as one word. */

enum { CHUNK_FIRST = 8, CHUNK_MAX = 512, COUNT_MAX = 65535 };

static const uint64_t STEP_MASK = (UINT64_C(1) << TRACE_RECORD_STEP_BITS) - 1;
static const uint64_t COUNT_ONE = UINT64_C(1) << TRACE_RECORD_STEP_BITS;

static trace_ref fold_list_new_chunk(struct trace_fold_core *core, uint32_t room)
{
    const trace_ref ref = trace_arena_take(core->arena, sizeof(struct trace_record_chunk) + room * sizeof(uint64_t));
    if (ref)
        ((struct trace_record_chunk *)trace_arena_at(core->arena, ref))->room = room;
    else
        core->failed = true;
    return ref;
}

trace_ref fold_list_new(struct trace_fold_core *core)
{
    return fold_list_new_chunk(core, CHUNK_FIRST);
}

static bool fold_list_start(struct trace_fold_core *core, trace_ref leaf)
{
    const trace_ref chunk = fold_list_new(core);
    if (!chunk)
        return false;
    fold_leaf(core, leaf)->list = chunk;
    fold_leaf(core, leaf)->node.listed = 1;
    return true;
}

static bool fold_list_fits(int64_t step)
{
    const int64_t limit = INT64_C(1) << (TRACE_RECORD_STEP_BITS - 1);
    return step >= -limit && step < limit;
}

static void fold_list_note_word(struct trace_fold_core *core, trace_ref chunk, uint32_t word)
{
    const size_t before = sizeof(struct trace_record_chunk) / sizeof(uint64_t);
    trace_arena_note(core->arena, chunk + (trace_ref)before + word, sizeof(uint64_t));
}

void fold_list_add_byte(struct trace_fold_core *core, trace_ref *last, int64_t index, uint8_t byte)
{
    struct trace_record_chunk *chunk = trace_arena_at(core->arena, *last);
    if (index % 8 == 0 && chunk->used == chunk->room) {
        const trace_ref next = fold_list_new_chunk(core, chunk->room < CHUNK_MAX ? 2 * chunk->room : CHUNK_MAX);
        if (!next)
            return;
        chunk = trace_arena_at(core->arena, *last);
        chunk->next = next;
        trace_arena_note(core->arena, *last, sizeof *chunk);
        *last = next;
        chunk = trace_arena_at(core->arena, next);
    }
    if (index % 8 == 0)
        chunk->words[chunk->used++] = 0;
    assert(chunk->used > 0 && chunk->used <= chunk->room);
    chunk->words[chunk->used - 1] |= (uint64_t)byte << (8 * (index % 8));
    fold_list_note_word(core, *last, chunk->used - 1);
    if (index % 8 == 0)
        trace_arena_note(core->arena, *last, sizeof *chunk);
}

/* The last chunk, with room for two more words. */
static struct trace_record_chunk *fold_list_chunk_with_room(struct trace_fold_core *core, struct fold_list_end *end)
{
    struct trace_record_chunk *chunk = trace_arena_at(core->arena, end->chunk);
    if (chunk->used + 2 <= chunk->room)
        return chunk;
    const trace_ref next = fold_list_new_chunk(core, chunk->room < CHUNK_MAX ? 2 * chunk->room : CHUNK_MAX);
    if (!next)
        return NULL;
    chunk = trace_arena_at(core->arena, end->chunk);
    chunk->next = next;
    trace_arena_note(core->arena, end->chunk, sizeof *chunk);
    end->chunk = next;
    return trace_arena_at(core->arena, next);
}

void fold_list_add(struct trace_fold_core *core, struct fold_list_end *end, int64_t value)
{
    assert(end->chunk != 0); /* of a listed loop */
    const int64_t step = wrapping_sub(value, end->last);
    struct trace_record_chunk *chunk = trace_arena_at(core->arena, end->chunk);
    end->last = value;
    if (chunk->used > 0 && fold_list_fits(step)) {
        uint64_t *word = &chunk->words[chunk->used - 1];
        const bool same = end->plain && (*word & STEP_MASK) == ((uint64_t)step & STEP_MASK);
        if (same && *word >> TRACE_RECORD_STEP_BITS < COUNT_MAX) {
            *word += COUNT_ONE;
            fold_list_note_word(core, end->chunk, chunk->used - 1);
            return;
        }
    }
    if (!(chunk = fold_list_chunk_with_room(core, end)))
        return;
    end->plain = fold_list_fits(step);
    if (end->plain) {
        chunk->words[chunk->used] = ((uint64_t)step & STEP_MASK) | COUNT_ONE;
    } else {
        chunk->words[chunk->used] = 0;
        chunk->words[chunk->used + 1] = (uint64_t)step;
    }
    const uint32_t before = chunk->used;
    assert(before + 2 <= chunk->room);
    chunk->used += end->plain ? 1 : 2;
    for (uint32_t i = before; i < chunk->used; i++)
        fold_list_note_word(core, end->chunk, i);
    trace_arena_note(core->arena, end->chunk, sizeof *chunk);
}

bool fold_list_add_quick(struct trace_fold_core *core, struct fold_list_end *end, int64_t value, uint64_t *copy)
{
    struct trace_record_chunk *chunk = trace_arena_at(core->arena, end->chunk);
    const int64_t step = wrapping_sub(value, end->last);
    const uint64_t word = ((uint64_t)step & STEP_MASK) | COUNT_ONE;
    const uint32_t at = chunk->used;
    if (at == 0 || at + 2 > chunk->room || !fold_list_fits(step) || ((chunk->words[at - 1] ^ word) & STEP_MASK) == 0)
        return false;
    chunk->words[at] = word;
    uint64_t *const to = copy + end->chunk;
    atomic_store_explicit((_Atomic uint64_t *)(to + sizeof *chunk / sizeof(uint64_t) + at), word, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    chunk->used = at + 1;
    atomic_store_explicit((_Atomic uint64_t *)to, *(const uint64_t *)(const void *)chunk, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    end->last = value;
    end->plain = true;
    return true;
}

bool fold_list_in_line(const struct trace_fold_core *core, const struct fold_list_end *end, int count,
                       int64_t *ret_step)
{
    assert(count > 0 && end->chunk != 0);
    const struct trace_record_chunk *chunk = trace_arena_at(core->arena, end->chunk);
    if (!end->plain || chunk->used == 0)
        return false;
    const uint64_t word = chunk->words[chunk->used - 1];
    const int unused = 64 - TRACE_RECORD_STEP_BITS;
    *ret_step = (int64_t)(word << unused) >> unused;
    return word >> TRACE_RECORD_STEP_BITS >= (uint64_t)count;
}

/* ---- loops ---- */

/* Loops out of the last nodes of the chain. */

static trace_ref fold_entry_at(const struct trace_fold_core *core, int back)
{
    assert(back > 0 && back <= core->window_count);
    return core->window[core->window_count - back].node;
}

/* Three nodes that do the same, with values in line. */
static bool fold_in_line(const struct trace_fold_core *core, trace_ref a, trace_ref b, trace_ref c)
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
        if (!fold_in_line(core, p, q, r))
            return false;
        p = fold_node(core, p)->prev;
        q = fold_node(core, q)->prev;
        r = fold_node(core, r)->prev;
    }
    return true;
}

void fold_merge_time(struct trace_record_leaf *into, const struct trace_record_leaf *from)
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

static trace_ref fold_join(const struct copies *copies);

static trace_ref fold_join_leaves(const struct copies *copies)
{
    assert(copies->count >= FOLD_COPIES && copies->count <= FOLD_LIST_COPIES);
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
        fold_merge_time(leaf, fold_leaf(core, copies->nodes[i]));
    if (copies->listed)
        return fold_list_start(core, made) ? made : 0;
    for (int i = 0; i < levels; i++)
        leaf->stride[i] = first->stride[i];
    leaf->stride[levels] = wrapping_sub(fold_leaf(core, copies->nodes[1])->value, first->value);
    return made;
}

static trace_ref fold_join_loops(const struct copies *copies)
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
        const trace_ref child = fold_join(&children);
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

static trace_ref fold_join(const struct copies *copies)
{
    return fold_is_loop(copies->core, copies->nodes[0]) ? fold_join_loops(copies) : fold_join_leaves(copies);
}

/* The loop around `copies` rows of `span` nodes, which end the chain. */
static trace_ref fold_loop_around(struct trace_fold_core *core, int span, int copies, bool listed)
{
    assert(span > 0 && span <= TRACE_FOLD_SPAN && copies * span <= core->window_count);
    const trace_ref made = fold_new_loop(core);
    struct trace_record_loop loop = {.node = {.kind = TRACE_RECORD_LOOP, .listed = listed},
                                     .body_count = (uint32_t)span};
    for (int i = 0; i < span && !core->failed; i++) {
        struct copies row = {.core = core, .count = copies, .listed = listed};
        for (int k = 0; k < copies; k++)
            row.nodes[k] = fold_entry_at(core, (copies - k) * span - i);
        const trace_ref child = fold_join(&row);
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
    assert(loop.per_turn >= span && loop.node.levels <= TRACE_RECORD_LEVELS);
    loop.matched = copies * loop.per_turn;
    *fold_loop(core, made) = loop;
    return made;
}

void fold_replace(struct trace_fold_core *core, int count, trace_ref made)
{
    assert(made != 0 && count <= core->window_count);
    for (int i = count; i > 0; i--)
        fold_kill(core, fold_entry_at(core, i));
    fold_pop(core, count);
    fold_push(core, made);
}

bool fold_make_loop(struct trace_fold_core *core, int span)
{
    for (int i = 1; i <= span; i++)
        if (!fold_in_line(core, fold_entry_at(core, i + 2 * span), fold_entry_at(core, i + span),
                          fold_entry_at(core, i)) ||
            fold_height(core, fold_entry_at(core, i)) >= TRACE_RECORD_LEVELS)
            return false;
    const trace_ref made = fold_loop_around(core, span, FOLD_COPIES, false);
    if (!made)
        return false;
    fold_replace(core, FOLD_COPIES * span, made);
    fold_enter(core, made);
    return true;
}

/* Adds the values of a leaf to a list in the order of time; `turns` of the loops around it, the innermost first. */
static void fold_add_values(struct trace_fold_core *core, struct fold_list_end *list, trace_ref ref,
                            const int64_t *turns, int64_t skip)
{
    const int levels = fold_leaf(core, ref)->node.levels;
    assert(levels <= TRACE_RECORD_LEVELS);
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
static void fold_add_row(struct trace_fold_core *core, const trace_ref *nodes, int count, int *step, int64_t *turns,
                         int depth, bool first)
{
    for (int i = 0; i < count && !core->failed; i++, ++*step) {
        if (!fold_is_loop(core, nodes[i])) {
            int64_t inner[TRACE_RECORD_LEVELS] = {0};
            for (int k = 0; k < depth; k++)
                inner[k] = turns[depth - 1 - k];
            fold_add_values(core, &core->steps[*step].values, nodes[i], inner, first);
            continue;
        }
        trace_ref body[TRACE_FOLD_SPAN];
        const struct trace_record_loop *loop = fold_loop(core, nodes[i]);
        const int body_count = (int)loop->body_count;
        assert(depth < TRACE_RECORD_LEVELS && *step < core->step_count);
        turns[depth] = loop->matched / loop->per_turn;
        fold_body(core, loop, body);
        ++*step;
        fold_add_row(core, body, body_count, step, turns, depth + 1, first);
    }
}

bool fold_make_list(struct trace_fold_core *core, int span)
{
    int64_t events = 0, turns[TRACE_RECORD_LEVELS];
    trace_ref nodes[TRACE_FOLD_SPAN];
    for (int i = 1; i <= span; i++) {
        events += fold_events(core, fold_entry_at(core, i));
        if (fold_height(core, fold_entry_at(core, i)) >= TRACE_RECORD_LEVELS ||
            (fold_is_loop(core, fold_entry_at(core, i)) && fold_loop(core, fold_entry_at(core, i))->node.listed))
            return false;
    }
    if (events > FOLD_LIST_EVENTS)
        return false;
    const trace_ref made = fold_loop_around(core, span, FOLD_LIST_COPIES, true);
    if (!made)
        return false;
    fold_enter(core, made);
    for (int copy = FOLD_LIST_COPIES; copy > 0 && !core->failed; copy--) {
        int step = 0;
        for (int i = 0; i < span; i++)
            nodes[i] = fold_entry_at(core, copy * span - i);
        fold_add_row(core, nodes, span, &step, turns, 0, copy == FOLD_LIST_COPIES);
    }
    fold_replace(core, FOLD_LIST_COPIES * span, made);
    return true;
}

/* The only leaf of a node that is a call, or a short loop of one; 0: it is something else. */
static trace_ref fold_short_run(const struct trace_fold_core *core, trace_ref ref, int64_t *ret_turns)
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
        leaves[i] = fold_short_run(core, fold_entry_at(core, FOLD_LIST_COPIES - i), &turns[i]);
        if (!leaves[i] || fold_leaf(core, leaves[i])->key != fold_leaf(core, leaves[FOLD_LIST_COPIES - 1])->key)
            return false;
        events += turns[i];
    }
    struct copies row = {.core = core, .count = FOLD_LIST_COPIES, .listed = true};
    for (int i = 0; i < FOLD_LIST_COPIES; i++)
        row.nodes[i] = leaves[i];
    const trace_ref made = fold_new_loop(core), leaf = made ? fold_join_leaves(&row) : 0;
    if (!leaf)
        return false;
    *fold_loop(core, made) = (struct trace_record_loop){
        .node = {.kind = TRACE_RECORD_LOOP, .levels = 1, .listed = 1}, leaf, 1, events, 1};
    fold_enter(core, made);
    for (int i = 0; i < FOLD_LIST_COPIES && !core->failed; i++)
        fold_add_values(core, &core->steps[0].values, leaves[i], &turns[i], i == 0);
    fold_replace(core, FOLD_LIST_COPIES, made);
    return true;
}

/* The last turns of a listed loop, as a loop with strides. */
static trace_ref fold_straight_turns(struct trace_fold_core *core)
{
    const trace_ref made = fold_new_loop(core);
    trace_ref last = 0;
    for (int i = 0; i < core->step_count && !core->failed; i++) {
        const trace_ref ref = fold_new_leaf(core, 1);
        int64_t step = 0;
        if (!ref)
            return 0;
        struct trace_record_leaf *from = fold_leaf_to_change(core, core->steps[i].node), *leaf = fold_leaf(core, ref);
        fold_list_in_line(core, &core->steps[i].values, FOLD_SHORT, &step);
        leaf->key = from->key;
        leaf->value = wrapping_sub(core->steps[i].values.last, wrapping_mul(FOLD_SHORT - 1, step));
        leaf->stride[0] = step;
        fold_share_time(from, leaf, FOLD_SHORT);
        const trace_ref key = core->steps[i].sizes.chunk ? fold_key_of(core, leaf->key, core->steps[i].sizes.last)
                                                         : leaf->key;
        if (!key)
            return 0;
        fold_leaf(core, ref)->key = key; /* the arena may have moved */
        leaf = fold_leaf(core, ref);
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
    assert(core->loop && core->listed && core->partial == 0);
    int64_t step;
    if (core->turn[0] <= FOLD_SHORT || core->step_count != (int)fold_loop(core, core->loop)->body_count)
        return;
    for (int i = 0; i < core->step_count; i++)
        if (!fold_list_in_line(core, &core->steps[i].values, FOLD_SHORT, &step) ||
            (core->steps[i].sizes.chunk &&
             (!fold_list_in_line(core, &core->steps[i].sizes, FOLD_SHORT, &step) || step != 0)))
            return;
    const trace_ref straight = fold_straight_turns(core), shorter = fold_new_loop(core);
    if (core->failed)
        return;
    *fold_loop(core, shorter) = *fold_loop(core, core->loop);
    fold_loop(core, shorter)->matched -= (int64_t)FOLD_SHORT * core->step_count;
    assert(fold_loop(core, shorter)->matched > 0); /* it had more turns than these */
    fold_kill_one(core, core->loop);
    core->loop = 0;
    fold_pop(core, 1);
    fold_push(core, shorter);
    fold_push(core, straight);
    fold_enter(core, straight);
}
