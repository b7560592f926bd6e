/* Calls of several kinds (function, file, whatever is equal but for sizes and values) in any order: a mixed loop has a
 * leaf for each kind, with a list of values and one of sizes, and a list of bytes that tells which kind came when: some
 * 17 bytes a call, 9 where sizes are equal, 1 where values are in line too.
 *
 * It is made when many nodes stand at the end of the chain that nothing else folds, takes every kind that comes later,
 * and is left when the same has come again and again. Opens, closes and deletes are never in one. */
#include "trace/trace_fold_core.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MIX_NODE_EVENTS = FOLD_SHORT * FOLD_VARY_SPAN }; /* of a loop that is taken apart, fewer */

/* ---- kinds ---- */

static bool mix_may_be_in(const struct trace_fold_core *core, const struct trace_record_key *key)
{
    static const char *const NEVER[] = {"open", "close", "delete"};
    if (key->call == 0)
        return true;
    const struct trace_record_call *call = trace_arena_at(core->arena, key->call);
    const char *class = call->class ? trace_arena_at(core->arena, call->class) : "";
    for (size_t i = 0; i < sizeof NEVER / sizeof NEVER[0]; i++)
        if (strcmp(class, NEVER[i]) == 0)
            return false;
    return true;
}

static uint8_t mix_hash(const struct trace_record_key *key)
{
    const uint32_t sum = key->call * 31u + (uint32_t)key->file * 7u + (uint32_t)key->detail * 131u +
                         (uint32_t)key->code * 17u + (uint32_t)key->collectives * 5u +
                         (fold_may_vary(key) ? 0 : (uint32_t)key->bytes * 3u);
    return (uint8_t)(sum ^ sum >> 8 ^ sum >> 16);
}

static const struct trace_record_key *mix_key(const struct trace_fold_core *core, int step)
{
    return trace_arena_at(core->arena, fold_leaf(core, core->steps[step].node)->key);
}

int fold_mix_find(struct trace_fold_core *core, const struct trace_record_key *key)
{
    assert(core->mixed && core->step_count > 0);
    uint8_t *const kind = &core->mix_kind[mix_hash(key)];
    if (*kind && fold_is_like(mix_key(core, *kind - 1), key))
        return *kind - 1;
    for (int i = 0; i < core->step_count; i++)
        if (fold_is_like(mix_key(core, i), key)) {
            *kind = (uint8_t)(i + 1);
            return i;
        }
    return -1;
}

/* A leaf for a kind, with empty lists and no calls. */
static trace_ref mix_new_leaf(struct trace_fold_core *core, trace_ref key, int64_t value)
{
    const bool sized = fold_may_vary(trace_arena_at(core->arena, key));
    const trace_ref made = fold_new_leaf(core, sized ? 1 : 0), values = made ? fold_list_new(core) : 0,
                    sizes = values && sized ? fold_list_new(core) : 0,
                    any = values && sized ? fold_key_of(core, key, TRACE_RECORD_ANY) : key;
    if (!values || (sized && !sizes) || !any) {
        core->failed = true;
        return 0;
    }
    struct trace_record_leaf *leaf = fold_leaf(core, made);
    leaf->node.listed = sized ? TRACE_RECORD_SIZED : TRACE_RECORD_LISTED;
    leaf->key = any;
    leaf->list = values;
    leaf->value = value;
    if (sized)
        leaf->stride[0] = sizes;
    return made;
}

/* Puts a leaf behind those of the loop, whose steps are entered. */
static bool mix_link(struct trace_fold_core *core, trace_ref ref)
{
    enum { BODY = offsetof(struct trace_record_loop, body) };
    struct fold_step *step = fold_new_step(core);
    if (!step)
        return false;
    const struct trace_record_leaf *leaf = fold_leaf(core, ref);
    step->node = ref;
    step->kind = FOLD_CALL;
    step->values = (struct fold_list_end){.chunk = leaf->list, .last = leaf->value};
    if (leaf->node.listed == TRACE_RECORD_SIZED)
        step->sizes.chunk = (trace_ref)leaf->stride[0];
    struct trace_record_loop *loop = fold_loop(core, core->loop);
    assert(loop->body_count < TRACE_FOLD_SPAN);
    fold_node(core, ref)->prev = loop->body;
    loop->body = ref;
    loop->body_count++; /* in the same word */
    _Static_assert(BODY % sizeof(uint64_t) == 0, "body and body_count are one word");
    trace_arena_note(core->arena, core->loop + BODY / sizeof(uint64_t), sizeof(uint64_t));
    return true;
}

bool fold_mix_add_kind(struct trace_fold_core *core, const struct fold_item *item)
{
    assert(core->mixed && core->loop == core->tail);
    if (core->step_count >= TRACE_FOLD_SPAN || !mix_may_be_in(core, trace_arena_at(core->arena, item->key)))
        return false;
    const trace_ref leaf = mix_new_leaf(core, item->key, item->value);
    if (leaf && mix_link(core, leaf))
        fold_mix_take(core, core->step_count - 1, item);
    return true;
}

/* ---- events ---- */

/* The first value of a leaf stands in it, and not in its list. */
static void mix_add_values(struct trace_fold_core *core, struct fold_step *step, int64_t value, int64_t bytes,
                           bool is_first)
{
    if (!is_first)
        fold_list_add(core, &step->values, value);
    if (step->sizes.chunk && !core->failed)
        fold_list_add(core, &step->sizes, bytes);
}

void fold_mix_take(struct trace_fold_core *core, int index, const struct fold_item *item)
{
    enum { MATCHED = offsetof(struct trace_record_loop, matched) };
    struct fold_step *step = &core->steps[index];
    struct fold_period *period = core->period;
    mix_add_values(core, step, item->value, item->bytes, fold_leaf(core, step->node)->count == 0);
    if (!core->failed)
        fold_list_add_byte(core, &core->mix_order, fold_loop(core, core->loop)->matched, (uint8_t)index);
    if (core->failed)
        return;
    fold_add_time(fold_leaf_to_change(core, step->node), item);
    fold_loop(core, core->loop)->matched++; /* the event is in */
    trace_arena_note(core->arena, core->loop + MATCHED / sizeof(uint64_t), sizeof(int64_t));
    period->turn = fold_mix((uint64_t)item->bytes + ((uint64_t)index << 56));
    if (!fold_sizes_repeat(period, FOLD_MIX_SURE))
        return;
    /* The same again and again: it is a loop, when it stands there often enough. */
    core->mix_wait = 4 * (int)period->length;
    core->appended = 0;
    core->loop = 0;
}

/* ---- out of the last nodes ---- */

struct mix_event {
    trace_ref leaf;
    int64_t value;
    bool is_first; /* of this leaf */
};

struct mix {
    struct trace_fold_core *core;
    struct mix_event *events;
    int count, room, nodes;
};

/* How many events a node has that can be taken out of it again; 0: it must stay. */
static int64_t mix_events_of(const struct trace_fold_core *core, trace_ref ref)
{
    if (!fold_is_loop(core, ref))
        return mix_may_be_in(core, trace_arena_at(core->arena, fold_leaf(core, ref)->key));
    const struct trace_record_loop *loop = fold_loop(core, ref);
    if (loop->node.listed >= TRACE_RECORD_SIZED || (loop->node.listed && loop->node.levels > 1) ||
        loop->matched >= MIX_NODE_EVENTS || loop->matched % loop->per_turn != 0)
        return 0;
    trace_ref body[TRACE_FOLD_SPAN];
    fold_body(core, loop, body);
    for (uint32_t i = 0; i < loop->body_count; i++)
        if (mix_events_of(core, body[i]) == 0)
            return 0;
    return loop->matched;
}

/* `turn`: of the loops around, the innermost first. */
static bool mix_flatten_node(struct mix *mix, trace_ref ref, const int64_t *turn, int depth)
{
    struct trace_fold_core *core = mix->core;
    if (!fold_is_loop(core, ref)) {
        const struct trace_record_leaf *leaf = fold_leaf(core, ref);
        int64_t value = leaf->list ? fold_value_of(core, leaf, turn[0]) : leaf->value;
        bool is_first = true;
        for (int i = 0; i < depth; i++) {
            value = leaf->list ? value : wrapping_add(value, wrapping_mul(turn[i], leaf->stride[i]));
            is_first = is_first && turn[i] == 0;
        }
        if (!ARRAY_ROOM(mix->events, mix->count, mix->room, 1024))
            return false;
        mix->events[mix->count++] = (struct mix_event){ref, value, is_first};
        return true;
    }
    const struct trace_record_loop *loop = fold_loop(core, ref);
    trace_ref body[TRACE_FOLD_SPAN];
    int64_t inner[TRACE_RECORD_LEVELS + 1];
    assert(depth < TRACE_RECORD_LEVELS);
    fold_body(core, loop, body);
    memcpy(inner + 1, turn, (size_t)depth * sizeof *inner);
    bool ok = true;
    for (inner[0] = 0; inner[0] < loop->matched / loop->per_turn && ok; inner[0]++)
        for (uint32_t i = 0; i < loop->body_count && ok; i++)
            ok = mix_flatten_node(mix, body[i], inner, depth + 1);
    return ok;
}

/* The last nodes, as far as they can be taken apart, event by event; false: they are too few. */
static bool mix_flatten(struct mix *mix)
{
    const struct trace_fold_core *core = mix->core;
    const int64_t none[1] = {0};
    const int least = core->mixes ? FOLD_VARY_EVERY : FOLD_VARY_EVENTS;
    while (mix->nodes < core->window_count &&
           mix_events_of(core, core->window[core->window_count - 1 - mix->nodes].node) > 0)
        mix->nodes++;
    if (mix->nodes < (core->mix_wait > least ? core->mix_wait : least))
        return false;
    bool ok = true;
    for (int i = mix->nodes; i > 0 && ok; i--)
        ok = mix_flatten_node(mix, core->window[core->window_count - i].node, none, 0);
    return ok;
}

static void mix_take_time(struct trace_fold_core *core, trace_ref to, const struct mix_event *event)
{
    const struct trace_record_leaf *from = fold_leaf(core, event->leaf);
    struct trace_record_leaf *leaf = fold_leaf(core, to);
    if (leaf->count == 0) {
        leaf->first_ns = from->first_ns;
        leaf->first_took_ns = from->first_took_ns;
        leaf->min_ns = from->min_ns;
    }
    if (event->is_first) /* once for all its calls */
        fold_merge_time(leaf, from);
}

/* The loop out of these events; it is entered, but not yet part of the chain. */
static trace_ref mix_make_loop(struct mix *mix)
{
    struct trace_fold_core *core = mix->core;
    const trace_ref made = fold_new_loop(core), order = made ? fold_list_new(core) : 0;
    trace_ref end = order;
    if (!order)
        return 0;
    *fold_loop(core, made) = (struct trace_record_loop){
        .node = {.kind = TRACE_RECORD_LOOP, .levels = 1, .listed = TRACE_RECORD_MIXED}, .per_turn = order};
    core->loop = made;
    core->mixed = true;
    core->step_count = 0;
    memset(core->mix_kind, 0, sizeof core->mix_kind);
    for (int i = 0; i < mix->count && !core->failed; i++) {
        const trace_ref key = fold_leaf(core, mix->events[i].leaf)->key;
        const int64_t bytes = ((const struct trace_record_key *)trace_arena_at(core->arena, key))->bytes;
        int step = core->step_count > 0 ? fold_mix_find(core, trace_arena_at(core->arena, key)) : -1;
        const bool is_first = step < 0;
        if (is_first) {
            const trace_ref leaf = mix_new_leaf(core, key, mix->events[i].value);
            if (!leaf || !mix_link(core, leaf))
                break;
            step = core->step_count - 1;
        }
        mix_add_values(core, &core->steps[step], mix->events[i].value, bytes, is_first);
        if (!core->failed)
            fold_list_add_byte(core, &end, i, (uint8_t)step);
        mix_take_time(core, core->steps[step].node, &mix->events[i]);
        fold_loop(core, made)->matched++;
    }
    core->mix_order = end;
    return core->failed ? 0 : made;
}

/* Whether the events have few enough kinds. */
static bool mix_has_few_kinds(const struct mix *mix)
{
    enum { EACH = 4 }; /* events of a kind, on the average */
    const struct trace_fold_core *core = mix->core;
    trace_ref kinds[TRACE_FOLD_SPAN];
    int count = 0;
    for (int i = 0; i < mix->count; i++) {
        const trace_ref ref = fold_leaf(core, mix->events[i].leaf)->key;
        int kind = 0;
        while (kind < count && kinds[kind] != ref &&
               !fold_is_like(trace_arena_at(core->arena, kinds[kind]), trace_arena_at(core->arena, ref)))
            kind++;
        if (kind == count && (count == TRACE_FOLD_SPAN || EACH * count > mix->count))
            return false;
        if (kind == count)
            kinds[count++] = ref;
    }
    return true;
}

bool fold_make_mixed(struct trace_fold_core *core)
{
    struct mix mix = {.core = core};
    if (!core->period)
        core->period = malloc(sizeof *core->period);
    const bool found = core->period && mix_flatten(&mix) && mix_has_few_kinds(&mix);
    const trace_ref made = found ? mix_make_loop(&mix) : 0;
    if (made) {
        memset(core->period, 0, sizeof *core->period);
        fold_replace(core, mix.nodes, made);
        core->loop = made;
        core->listed = core->mixed = true;
        core->varied = false;
        core->at = core->level = 0;
        core->partial = 0;
        core->mixes = true;
        core->mix_wait = 0;
    }
    free(mix.events);
    return made != 0;
}
