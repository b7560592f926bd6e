/* Folding, event by event: the window of the last nodes, the loop that the next event is expected of, and what happens
 * to it. */
#include "trace/trace_fold_core.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- the end of the chain ---- */

/* The end of the chain: a window of the last nodes with hashes of what they do. Two rows of nodes are compared by the
 * hashes of their prefixes; who makes a loop of them compares again, node by node. */

uint64_t fold_mix(uint64_t value)
{
    value ^= value >> 32;
    value *= UINT64_C(0xd6e8feb86659fd93);
    value ^= value >> 32;
    value *= UINT64_C(0xd6e8feb86659fd93);
    return value ^ value >> 32;
}

static uint64_t fold_hash_of(const struct trace_fold_core *core, trace_ref ref)
{
    if (!fold_is_loop(core, ref))
        return fold_mix(fold_leaf(core, ref)->key);
    const struct trace_record_loop *loop = fold_loop(core, ref);
    if (loop->node.listed) /* like nothing else */
        return fold_mix(ref + (UINT64_C(1) << 40));
    uint64_t hash = fold_mix((uint64_t)loop->matched + (UINT64_C(1) << 33));
    trace_ref child = loop->body;
    for (uint32_t i = 0; i < loop->body_count; i++, child = fold_node(core, child)->prev)
        hash = fold_mix(hash + fold_hash_of(core, child));
    return hash;
}

/* nothing more comes into the last node */
static void fold_seal(struct trace_fold_core *core)
{
    assert(core->window_count > 0);
    const int last = core->window_count - 1;
    struct fold_entry *entry = &core->window[last];
    const uint64_t before = last > 0 ? entry[-1].prefix : 0;
    entry->hash = fold_hash_of(core, entry->node);
    entry->prefix = before * core->power[1] + entry->hash;
}

void fold_push(struct trace_fold_core *core, trace_ref node)
{
    assert(node != 0);
    if (core->window_count == FOLD_WINDOW) { /* the older half will not be part of a loop any more */
        memmove(core->window, core->window + FOLD_WINDOW / 2, FOLD_WINDOW / 2 * sizeof core->window[0]);
        core->window_count = FOLD_WINDOW / 2;
    }
    fold_node(core, node)->prev = core->tail;
    core->tail = node;
    core->mixes |= ++core->chain > FOLD_MIX_CHAIN;
    core->window[core->window_count++].node = node;
    fold_seal(core);
}

void fold_pop(struct trace_fold_core *core, int count)
{
    assert(count > 0 && count <= core->window_count);
    core->window_count -= count;
    core->chain -= count;
    core->tail = fold_node(core, core->window[core->window_count].node)->prev;
}

/* Of the entries from `begin` on; equal where these do the same, but for a chance of 2^-64. */
static uint64_t fold_range(const struct trace_fold_core *core, int begin, int count)
{
    assert(begin >= 0 && count > 0 && begin + count <= core->window_count);
    const uint64_t before = begin > 0 ? core->window[begin - 1].prefix : 0;
    return core->window[begin + count - 1].prefix - before * core->power[count];
}

static bool fold_close_span(struct trace_fold_core *core, int span)
{
    const int end = core->window_count;
    assert(span > 0 && FOLD_COPIES * span <= end);
    const uint64_t last = fold_range(core, end - span, span);
    if (fold_range(core, end - 2 * span, span) != last || fold_range(core, end - 3 * span, span) != last)
        return false;
    if (fold_make_loop(core, span))
        return true;
    const int all = FOLD_LIST_COPIES * span;
    return all <= end && fold_range(core, end - all, all - span) == fold_range(core, end - all + span, all - span) &&
           fold_make_list(core, span);
}

/* the last nodes became a loop, which is entered; false: they cannot */
static bool fold_close(struct trace_fold_core *core)
{
    assert(core->window_count > 0 && !core->loop);
    const struct fold_entry *last = &core->window[core->window_count - 1];
    const int longest = core->window_count / FOLD_COPIES;
    for (int span = 1; span <= longest && span <= TRACE_FOLD_SPAN; span++)
        if (last[-span].hash == last->hash && fold_close_span(core, span))
            return true;
    return fold_make_run(core);
}

/* ---- the loop there ---- */

/* The loop at the end of the chain, unrolled into steps: the next event is one comparison away. */

struct fold_step *fold_new_step(struct trace_fold_core *core)
{
    if (!ARRAY_ROOM(core->steps, core->step_count, core->step_room, 64)) {
        core->failed = true;
        return NULL;
    }
    struct fold_step *step = &core->steps[core->step_count++];
    *step = (struct fold_step){0};
    return step;
}

static void fold_unroll(struct trace_fold_core *core, const struct trace_record_loop *loop)
{
    assert(loop->body_count > 0 && loop->body_count <= TRACE_FOLD_SPAN);
    trace_ref nodes[TRACE_FOLD_SPAN];
    fold_body(core, loop, nodes);
    for (uint32_t i = 0; i < loop->body_count && !core->failed; i++) {
        const bool is_loop = fold_is_loop(core, nodes[i]);
        const int begin = core->step_count;
        struct fold_step *step = fold_new_step(core);
        if (!step)
            return;
        step->node = nodes[i];
        step->kind = is_loop ? FOLD_BEGIN : FOLD_CALL;
        if (!is_loop) {
            const struct trace_record_leaf *leaf = fold_leaf(core, nodes[i]);
            step->values = (struct fold_list_end){.chunk = leaf->list, .last = leaf->value};
            if (leaf->node.listed == TRACE_RECORD_SIZED)
                step->sizes.chunk = (trace_ref)leaf->stride[0];
            continue;
        }
        const struct trace_record_loop *inner = fold_loop(core, nodes[i]);
        fold_unroll(core, inner);
        if (!(step = fold_new_step(core)))
            return;
        *step = (struct fold_step){
            .kind = FOLD_END, .node = nodes[i], .begin = begin, .turns = inner->matched / inner->per_turn};
    }
}

/* From a step on to the next call; a turn of the whole loop ends where the steps do. */
static void fold_settle(struct trace_fold_core *core)
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
            assert(core->level + 1 < TRACE_RECORD_LEVELS);
            core->turn[++core->level] = 0;
            core->at++;
        } else if (++core->turn[core->level] < step->turns) {
            core->at = step->begin + 1;
        } else {
            assert(core->level > 0);
            core->level--;
            core->at++;
        }
    }
}

void fold_enter(struct trace_fold_core *core, trace_ref ref)
{
    const struct trace_record_loop *loop = fold_loop(core, ref);
    core->step_count = 0;
    fold_unroll(core, loop);
    if (core->failed)
        return;
    core->loop = ref;
    core->listed = loop->node.listed;
    core->varied = loop->node.listed == TRACE_RECORD_SIZED;
    core->mixed = false;
    core->at = core->level = 0;
    core->partial = 0;
    assert(loop->node.listed != TRACE_RECORD_MIXED); /* it is never entered again */
    assert(loop->per_turn > 0 && loop->matched > 0 && loop->matched % loop->per_turn == 0);
    core->turn[0] = loop->matched / loop->per_turn;
    fold_settle(core);
}

static void fold_leave(struct trace_fold_core *core);

static inline int64_t fold_expected_value(const struct trace_fold_core *core, const struct trace_record_leaf *leaf)
{
    int64_t expected = leaf->value;
    for (int i = core->level; i >= 0; i--)
        expected = wrapping_add(expected, wrapping_mul(core->turn[i], leaf->stride[core->level - i]));
    return expected;
}

static bool fold_expects(const struct trace_fold_core *core, trace_ref key, int64_t value)
{
    assert(core->loop && core->at < core->step_count && core->steps[core->at].kind == FOLD_CALL);
    const struct trace_record_leaf *leaf = fold_leaf(core, core->steps[core->at].node);
    if (core->varied)
        return fold_is_like(trace_arena_at(core->arena, leaf->key), trace_arena_at(core->arena, key));
    if (leaf->key != key)
        return false;
    if (core->listed)
        return true;
    return fold_expected_value(core, leaf) == value;
}

static void fold_take(struct trace_fold_core *core, const struct fold_item *item)
{
    assert(core->loop == core->tail && (!core->listed || core->partial < FOLD_LIST_EVENTS));
    enum { MATCHED = offsetof(struct trace_record_loop, matched) };
    struct fold_step *step = &core->steps[core->at];
    if (core->listed) {
        fold_list_add(core, &step->values, item->value);
        if (step->sizes.chunk && !core->failed) {
            fold_list_add(core, &step->sizes, item->bytes);
            core->period->turn = fold_mix(core->period->turn + (uint64_t)item->bytes);
        }
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
    fold_settle(core);
    if (!core->listed || core->partial != 0)
        return;
    const bool repeats = core->varied && fold_sizes_repeat(core->period, FOLD_SHORT);
    fold_break_list(core);
    if (repeats && core->varied && core->loop && !core->failed)
        fold_leave(core);
}

/* ---- events ---- */

bool trace_fold_init(struct trace_fold *fold, struct trace_arena *arena)
{
    trace_intern_init(&fold->intern, arena);
    struct trace_fold_core *core = calloc(1, sizeof *core);
    fold->core = core;
    if (!core)
        return false;
    core->arena = arena;
    core->intern = &fold->intern;
    core->power[0] = 1;
    for (int i = 1; i <= FOLD_WINDOW; i++)
        core->power[i] = core->power[i - 1] * UINT64_C(0x9e3779b97f4a7c15);
    return true;
}

void trace_fold_clear(struct trace_fold *fold)
{
    if (fold->core) {
        free(fold->core->steps);
        free(fold->core->dead);
        free(fold->core->period);
        free(fold->core);
        fold->core = NULL;
    }
    trace_intern_clear(&fold->intern);
}

static void fold_append(struct trace_fold_core *core, const struct fold_item *item)
{
    const trace_ref ref = fold_new_leaf(core, 0);
    if (!ref)
        return;
    struct trace_record_leaf *leaf = fold_leaf(core, ref);
    leaf->key = item->key;
    leaf->value = item->value;
    fold_add_time(leaf, item);
    fold_push(core, ref);
    if (!fold_close(core) && ++core->appended >= FOLD_VARY_EVERY) {
        core->appended = 0;
        if (core->mixes || !fold_make_varied(core))
            fold_make_mixed(core);
    }
}

static void fold_add(struct trace_fold_core *core, const struct fold_item *item);

/* A listed loop gives back the turn that it had begun: its loop loses the events, which are added anew as if they came
 * now. The first one must not go into the same loop again. */
static void fold_give_back(struct trace_fold_core *core)
{
    const int64_t count = core->partial;
    assert(core->listed && count > 0 && count <= FOLD_LIST_EVENTS);
    struct fold_item *items = malloc((size_t)count * sizeof *items);
    const trace_ref shorter = items ? fold_new_loop(core) : 0;
    if (!shorter) {
        core->failed = true;
        free(items);
        return;
    }
    memcpy(items, core->partial_items, (size_t)count * sizeof *items);
    for (int64_t i = 0; i < count; i++) {
        if (core->varied && !(items[i].key = fold_key_of(core, items[i].key, items[i].bytes))) {
            core->failed = true;
            free(items);
            return;
        }
        struct trace_record_leaf *leaf = fold_leaf_to_change(core, core->partial_leaves[i]);
        assert(leaf->count > 0);
        leaf->count--;
        leaf->sum_ns -= items[i].duration_ns;
        leaf->last_took_ns = -1;
        leaf->gap_ns -= items[i].gap_ns;
    }
    *fold_loop(core, shorter) = *fold_loop(core, core->loop); /* the body, and lists longer than it needs, stay */
    fold_loop(core, shorter)->matched -= count;
    fold_kill_one(core, core->loop);
    core->loop = 0;
    fold_pop(core, 1);
    fold_push(core, shorter);
    fold_seal(core);
    fold_append(core, &items[0]);
    for (int64_t i = 1; i < count && !core->failed; i++)
        fold_add(core, &items[i]);
    free(items);
}

/* The loop at the end did not expect what comes. Whatever is the last node then, it may be a loop that does. */
static void fold_leave(struct trace_fold_core *core)
{
    if (core->partial == 0) {
        core->loop = 0;
        fold_seal(core);
        fold_close(core);
    } else if (core->listed) {
        fold_give_back(core);
    } else {
        fold_materialize(core);
    }
}

static void fold_add(struct trace_fold_core *core, const struct fold_item *item)
{
    while (core->loop && !core->failed) {
        if (core->mixed) {
            const int step = fold_mix_find(core, trace_arena_at(core->arena, item->key));
            if (step >= 0)
                fold_mix_take(core, step, item);
            if (step >= 0 || fold_mix_add_kind(core, item))
                return;
            fold_leave(core);
            continue;
        }
        if (fold_expects(core, item->key, item->value)) {
            fold_take(core, item);
            return;
        }
        core->mixes |= core->varied; /* sizes are not all that varies */
        fold_leave(core);
    }
    if (!core->failed)
        fold_append(core, item);
}

/* Word by word: a call of memcmp() would cost more than the comparison. */
static bool fold_is_key(const struct trace_record_key *a, const struct trace_record_key *b)
{
    return a->bytes == b->bytes && a->call == b->call && a->file == b->file && a->detail == b->detail &&
           a->code == b->code && a->collectives == b->collectives;
}

/* The usual case: what comes is what the loop says. Keys are compared by what they say, so they need not be found. */
static bool fold_add_expected(struct trace_fold_core *core, const struct trace_fold_event *event)
{
    if (core->mixed) {
        const int step = fold_mix_find(core, &event->key);
        const struct fold_item item = {step >= 0 ? fold_leaf(core, core->steps[step].node)->key : 0,
                                       event->key.bytes,
                                       event->value,
                                       event->begin_ns,
                                       event->duration_ns,
                                       event->gap_ns};
        if (step >= 0)
            fold_mix_take(core, step, &item);
        return step >= 0;
    }
    const trace_ref key = fold_leaf(core, core->steps[core->at].node)->key;
    const struct trace_record_key *known = trace_arena_at(core->arena, key);
    if (core->varied ? !fold_is_like(known, &event->key)
                     : !fold_is_key(known, &event->key) || !fold_expects(core, key, event->value))
        return false;
    const struct fold_item item = {key,          event->key.bytes, event->value, event->begin_ns, event->duration_ns,
                                   event->gap_ns};
    fold_take(core, &item);
    return true;
}

bool trace_fold_add(struct trace_fold *fold, const struct trace_fold_event *event)
{
    struct trace_fold_core *core = fold->core;
    if (core->failed)
        return false;
    if (!core->loop || !fold_add_expected(core, event)) {
        const trace_ref key = trace_intern_key(&fold->intern, &event->key);
        const struct fold_item item = {
            key, event->key.bytes, event->value, event->begin_ns, event->duration_ns, event->gap_ns};
        if (!key)
            core->failed = true;
        else
            fold_add(core, &item);
    }
    if (core->failed)
        return false;
    assert(!core->loop || core->loop == core->tail);
    core->arena->control->tail = core->tail;
    if (core->arena->failed || (core->arena->publish && !core->arena->publish(core->arena))) {
        core->failed = true;
        return false;
    }
    if (core->dead_count)
        fold_bury(core);
    return true;
}

/* fold_add_time() for a leaf that has calls already; what changes also goes to the copy. */
static inline void fold_add_time_quick(struct trace_record_leaf *leaf, struct trace_record_leaf *copy,
                                       const struct trace_fold_event *event)
{
#define STORE(field, value)                                                                                            \
    atomic_store_explicit((_Atomic int64_t *)&copy->field, leaf->field = (value), memory_order_relaxed)
    assert(leaf->count > 0);
    STORE(count, leaf->count + 1);
    STORE(sum_ns, leaf->sum_ns + event->duration_ns);
    if (event->duration_ns < leaf->min_ns)
        STORE(min_ns, event->duration_ns);
    if (event->duration_ns > leaf->max_ns)
        STORE(max_ns, event->duration_ns);
    STORE(last_ns, event->begin_ns);
    STORE(last_took_ns, event->duration_ns);
    STORE(gap_ns, leaf->gap_ns + event->gap_ns);
#undef STORE
}

/* Calls in a loop of strides, or in a list of one place, are most of all calls: a counter more, and no detour. */
bool trace_fold_add_quick(struct trace_fold *fold, const struct trace_fold_event *event, uint64_t *copy)
{
    enum { MATCHED = offsetof(struct trace_record_loop, matched) / sizeof(uint64_t) };
    struct trace_fold_core *core = fold->core;
    if (!core->loop || core->failed || core->varied || core->mixed || core->dead_count || core->arena->change_count ||
        (core->listed && core->step_count != 1))
        return false;
    assert(core->at < core->step_count && core->steps[core->at].kind == FOLD_CALL);
    const trace_ref ref = core->steps[core->at].node;
    struct trace_record_leaf *leaf = fold_leaf(core, ref);
    if (leaf->count == 0 || !fold_is_key(trace_arena_at(core->arena, leaf->key), &event->key) ||
        (core->listed ? !fold_list_add_quick(core, &core->steps[0].values, event->value, copy)
                      : fold_expected_value(core, leaf) != event->value))
        return false;
    fold_add_time_quick(leaf, (struct trace_record_leaf *)(void *)(copy + ref), event);
    atomic_signal_fence(memory_order_seq_cst);
    const int64_t matched = ++fold_loop(core, core->loop)->matched; /* the event is in */
    atomic_store_explicit((_Atomic uint64_t *)(copy + core->loop + MATCHED), (uint64_t)matched, memory_order_relaxed);
    if (core->step_count == 1) { /* what fold_settle() would come to */
        core->turn[0]++;
        core->partial = 0;
        return true;
    }
    core->partial++;
    core->at++;
    fold_settle(core);
    return true;
}
