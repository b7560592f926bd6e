/* Calls that are equal but for their sizes, which follow no rule: a loop of such calls has a list of offsets and one of
 * sizes for each. It is made late, when no row that repeats was found for so long that there is none, and left early,
 * when sizes begin to repeat: what is regular is folded without lists. */
#include "trace/trace_fold_core.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool fold_may_vary(const struct trace_record_key *key)
{
    return key->call != 0 && (key->bytes >= 0 || key->bytes == TRACE_RECORD_ANY);
}

bool fold_is_like(const struct trace_record_key *a, const struct trace_record_key *b)
{
    return a->call == b->call && a->file == b->file && a->detail == b->detail && a->code == b->code &&
           a->collectives == b->collectives && (a->bytes == b->bytes || (fold_may_vary(a) && fold_may_vary(b)));
}

trace_ref fold_key_of(struct trace_fold_core *core, trace_ref key, int64_t bytes)
{
    struct trace_record_key made = *(const struct trace_record_key *)trace_arena_at(core->arena, key);
    if (!fold_may_vary(&made))
        return key;
    made.bytes = bytes;
    const trace_ref ref = trace_intern_key(core->intern, &made);
    core->failed |= !ref;
    return ref;
}

/* ---- the last events ---- */

struct vary_event {
    trace_ref leaf;
    int64_t value, bytes;
    bool is_first; /* of this leaf */
};

struct vary {
    struct trace_fold_core *core;
    struct vary_event events[2 * FOLD_VARY_EVENTS];
    int count, nodes, span;
};

static const struct trace_record_key *vary_key(const struct vary *vary, int event)
{
    return trace_arena_at(vary->core->arena, fold_leaf(vary->core, vary->events[event].leaf)->key);
}

/* How many events a node has that can be taken out of it again; 0: it must stay. */
static int64_t vary_events_of(const struct trace_fold_core *core, trace_ref ref)
{
    if (!fold_is_loop(core, ref))
        return 1;
    const struct trace_record_loop *loop = fold_loop(core, ref);
    const bool is_short = loop->node.levels == 1 && loop->node.listed < TRACE_RECORD_SIZED &&
                          loop->matched < FOLD_SHORT * FOLD_VARY_SPAN && loop->matched % loop->per_turn == 0;
    return is_short ? loop->matched : 0;
}

int64_t fold_value_of(const struct trace_fold_core *core, const struct trace_record_leaf *leaf, int64_t index)
{
    const int unused = 64 - TRACE_RECORD_STEP_BITS;
    int64_t value = leaf->value;
    if (!leaf->list)
        return wrapping_add(value, wrapping_mul(index, leaf->stride[0]));
    for (trace_ref ref = leaf->list; ref && index > 0;) {
        const struct trace_record_chunk *chunk = trace_arena_at(core->arena, ref);
        for (uint32_t i = 0; i < chunk->used && index > 0; i++) {
            int64_t repeat = (int64_t)(chunk->words[i] >> TRACE_RECORD_STEP_BITS),
                    step = (int64_t)(chunk->words[i] << unused) >> unused;
            if (repeat == 0) {
                repeat = 1;
                step = (int64_t)chunk->words[++i];
            }
            repeat = repeat < index ? repeat : index;
            value = wrapping_add(value, wrapping_mul(repeat, step));
            index -= repeat;
        }
        ref = chunk->next;
    }
    assert(index == 0);
    return value;
}

static void vary_add_event(struct vary *vary, trace_ref ref, int64_t value, bool is_first)
{
    const struct trace_record_leaf *leaf = fold_leaf(vary->core, ref);
    const struct trace_record_key *key = trace_arena_at(vary->core->arena, leaf->key);
    vary->events[vary->count++] = (struct vary_event){ref, value, key->bytes, is_first};
}

/* The last nodes that have FOLD_VARY_EVENTS events or a few more, event by event. */
static bool vary_flatten(struct vary *vary)
{
    struct trace_fold_core *core = vary->core;
    int64_t events = 0;
    while (events < FOLD_VARY_EVENTS && vary->nodes < core->window_count) {
        const int64_t more = vary_events_of(core, core->window[core->window_count - 1 - vary->nodes].node);
        if (more == 0 || events + more > 2 * FOLD_VARY_EVENTS)
            return false;
        events += more;
        vary->nodes++;
    }
    for (int i = vary->nodes; i > 0; i--) {
        const trace_ref ref = core->window[core->window_count - i].node;
        if (!fold_is_loop(core, ref)) {
            vary_add_event(vary, ref, fold_leaf(core, ref)->value, true);
            continue;
        }
        trace_ref body[TRACE_FOLD_SPAN];
        const struct trace_record_loop *loop = fold_loop(core, ref);
        fold_body(core, loop, body);
        for (int64_t turn = 0; turn < loop->matched / loop->per_turn; turn++)
            for (uint32_t k = 0; k < loop->body_count; k++)
                vary_add_event(vary, body[k], fold_value_of(core, fold_leaf(core, body[k]), turn), turn == 0);
    }
    assert(vary->count == events);
    return events >= FOLD_VARY_EVENTS;
}

/* The shortest row that repeats but for sizes. */
static bool vary_find_span(struct vary *vary)
{
    bool varies = false;
    for (vary->span = 1; vary->span <= FOLD_VARY_SPAN; vary->span++) {
        int i = vary->span;
        while (i < vary->count && fold_is_like(vary_key(vary, i), vary_key(vary, i - vary->span)))
            i++;
        if (i == vary->count)
            break;
    }
    for (int i = vary->span; i < vary->count && vary->span <= FOLD_VARY_SPAN; i++)
        varies |= vary->events[i].bytes != vary->events[i - vary->span].bytes;
    return varies;
}

/* Whole turns: nodes at the front are left where they are. Loops go as they are into leaves of a turn. */
static bool vary_cut(struct vary *vary)
{
    struct trace_fold_core *core = vary->core;
    int dropped = 0;
    while ((vary->count - dropped) % vary->span != 0 && vary->nodes > 1) {
        const trace_ref ref = core->window[core->window_count - vary->nodes].node;
        dropped += (int)vary_events_of(core, ref);
        vary->nodes--;
    }
    vary->count -= dropped;
    memmove(vary->events, vary->events + dropped, (size_t)vary->count * sizeof vary->events[0]);
    for (int i = vary->nodes; i > 0; i--) {
        const trace_ref ref = core->window[core->window_count - i].node;
        if (fold_is_loop(core, ref) && fold_loop(core, ref)->body_count % (uint32_t)vary->span != 0)
            return false;
    }
    return vary->count % vary->span == 0 && vary->count >= 2 * vary->span;
}

/* ---- their loop ---- */

/* A leaf for the events of one place of a turn. */
static trace_ref vary_make_leaf(const struct vary *vary, int column)
{
    struct trace_fold_core *core = vary->core;
    const bool sized = fold_may_vary(vary_key(vary, column));
    const trace_ref made = fold_new_leaf(core, sized ? 1 : 0), values = made ? fold_list_new(core) : 0,
                    sizes = values && sized ? fold_list_new(core) : 0;
    if (!values || (sized && !sizes))
        return 0;
    const trace_ref first = fold_leaf(core, vary->events[column].leaf)->key,
                    key = sized ? fold_key_of(core, first, TRACE_RECORD_ANY) : first;
    if (!key)
        return 0;
    struct trace_record_leaf *leaf = fold_leaf(core, made);
    leaf->node.listed = sized ? TRACE_RECORD_SIZED : TRACE_RECORD_LISTED;
    leaf->key = key;
    leaf->list = values;
    leaf->value = vary->events[column].value;
    if (sized)
        leaf->stride[0] = sizes;
    for (int i = column; i < vary->count; i += vary->span) {
        const struct trace_record_leaf *from = fold_leaf(core, vary->events[i].leaf);
        if (i == column) {
            leaf->first_ns = from->first_ns;
            leaf->first_took_ns = from->first_took_ns;
            leaf->min_ns = from->min_ns;
        }
        if (vary->events[i].is_first) /* once for all its calls */
            fold_merge_time(leaf, from);
    }
    return made;
}

static trace_ref vary_make_loop(const struct vary *vary)
{
    struct trace_fold_core *core = vary->core;
    const trace_ref made = fold_new_loop(core);
    trace_ref last = 0;
    for (int i = 0; i < vary->span && made; i++) {
        const trace_ref leaf = vary_make_leaf(vary, i);
        if (!leaf) {
            core->failed = true;
            return 0;
        }
        fold_node(core, leaf)->prev = last;
        last = leaf;
    }
    if (made)
        *fold_loop(core, made) = (struct trace_record_loop){
            .node = {.kind = TRACE_RECORD_LOOP, .levels = 1, .listed = TRACE_RECORD_SIZED},
            .body = last,
            .body_count = (uint32_t)vary->span,
            .matched = vary->count,
            .per_turn = vary->span};
    return made;
}

bool fold_make_varied(struct trace_fold_core *core)
{
    struct vary *vary = malloc(sizeof *vary);
    if (!vary)
        return false; /* without it, the trace is longer */
    vary->core = core;
    vary->count = vary->nodes = vary->span = 0;
    if (!core->period)
        core->period = malloc(sizeof *core->period);
    const bool found = core->period && vary_flatten(vary) && vary_find_span(vary) && vary_cut(vary);
    const trace_ref made = found ? vary_make_loop(vary) : 0;
    if (made) {
        memset(core->period, 0, sizeof *core->period);
        fold_enter(core, made);
        for (int i = 0; i < vary->count && !core->failed; i++) {
            struct fold_step *step = &core->steps[i % vary->span];
            if (i >= vary->span)
                fold_list_add(core, &step->values, vary->events[i].value);
            if (step->sizes.chunk && !core->failed)
                fold_list_add(core, &step->sizes, vary->events[i].bytes);
        }
        fold_replace(core, vary->nodes, made);
    }
    free(vary);
    return made != 0;
}

/* ---- sizes that repeat ---- */

bool fold_sizes_repeat(struct fold_period *period, int sure)
{
    enum { RING = 2 * TRACE_FOLD_SPAN };
    const uint64_t hash = period->turn;
    int64_t *last = &period->last[hash % 256];
    if (period->length && period->ring[(period->seen - period->length) % RING] == hash) {
        period->streak++;
    } else {
        const int64_t ago = *last ? period->seen - (*last - 1) : 0;
        period->length = ago > 0 && ago <= TRACE_FOLD_SPAN && period->ring[(*last - 1) % RING] == hash ? ago : 0;
        period->streak = 0;
    }
    period->ring[period->seen % RING] = hash;
    *last = ++period->seen;
    period->turn = 0;
    return period->length && period->streak >= sure && period->streak >= 3 * period->length;
}
