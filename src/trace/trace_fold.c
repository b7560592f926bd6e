#include "trace/trace_fold_core.h"

#include <stdlib.h>
#include <string.h>

bool trace_fold_init(struct trace_fold *fold, struct trace_arena *arena)
{
    trace_intern_init(&fold->intern, arena);
    struct trace_fold_core *core = calloc(1, sizeof *core);
    fold->core = core;
    if (!core)
        return false;
    core->arena = arena;
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
        free(fold->core);
        fold->core = NULL;
    }
    trace_intern_clear(&fold->intern);
}

static void append(struct trace_fold_core *core, const struct fold_item *item)
{
    const trace_ref ref = fold_new_leaf(core, 0);
    if (!ref)
        return;
    struct trace_record_leaf *leaf = fold_leaf(core, ref);
    leaf->key = item->key;
    leaf->value = item->value;
    fold_add_time(leaf, item);
    fold_push(core, ref);
    fold_close(core);
}

static void add(struct trace_fold_core *core, const struct fold_item *item);

/* A listed loop gives back the turn that it had begun: its loop loses the events, which are added anew as if they came
 * now. The first one must not go into the same loop again. */
static void give_back(struct trace_fold_core *core)
{
    const int64_t count = core->partial;
    struct fold_item *items = malloc((size_t)count * sizeof *items);
    const trace_ref shorter = items ? fold_new_loop(core) : 0;
    if (!shorter) {
        core->failed = true;
        free(items);
        return;
    }
    memcpy(items, core->partial_items, (size_t)count * sizeof *items);
    for (int64_t i = 0; i < count; i++) {
        struct trace_record_leaf *leaf = fold_leaf_to_change(core, core->partial_leaves[i]);
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
    append(core, &items[0]);
    for (int64_t i = 1; i < count && !core->failed; i++)
        add(core, &items[i]);
    free(items);
}

/* The loop at the end did not expect what comes. Whatever is the last node then, it may be a loop that does. */
static void leave(struct trace_fold_core *core)
{
    if (core->partial == 0) {
        core->loop = 0;
        fold_seal(core);
        fold_close(core);
    } else if (core->listed) {
        give_back(core);
    } else {
        fold_materialize(core);
    }
}

static void add(struct trace_fold_core *core, const struct fold_item *item)
{
    while (core->loop && !core->failed) {
        if (fold_expects(core, item->key, item->value)) {
            fold_take(core, item);
            return;
        }
        leave(core);
    }
    if (!core->failed)
        append(core, item);
}

/* The usual case: what comes is what the loop says. Keys are compared by what they say, so they need not be found. */
static bool add_expected(struct trace_fold_core *core, const struct trace_fold_event *event)
{
    const trace_ref key = fold_leaf(core, core->steps[core->at].node)->key;
    if (memcmp(trace_arena_at(core->arena, key), &event->key, sizeof event->key) != 0 ||
        !fold_expects(core, key, event->value))
        return false;
    const struct fold_item item = {key, event->value, event->begin_ns, event->duration_ns, event->gap_ns};
    fold_take(core, &item);
    return true;
}

bool trace_fold_add(struct trace_fold *fold, const struct trace_fold_event *event)
{
    struct trace_fold_core *core = fold->core;
    if (core->failed)
        return false;
    if (!core->loop || !add_expected(core, event)) {
        const trace_ref key = trace_intern_key(&fold->intern, &event->key);
        const struct fold_item item = {key, event->value, event->begin_ns, event->duration_ns, event->gap_ns};
        if (!key)
            core->failed = true;
        else
            add(core, &item);
    }
    if (core->failed)
        return false;
    core->arena->control->tail = core->tail;
    if (core->arena->failed || (core->arena->publish && !core->arena->publish(core->arena))) {
        core->failed = true;
        return false;
    }
    if (core->dead_count)
        fold_bury(core);
    return true;
}
