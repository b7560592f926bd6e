/* The end of the chain: a window of the last nodes with hashes of what they do. Two rows of nodes are compared by the
 * hashes of their prefixes; who makes a loop of them compares again, node by node. */
#include "trace/trace_fold_core.h"

#include <string.h>

static uint64_t mix(uint64_t value)
{
    value ^= value >> 32;
    value *= UINT64_C(0xd6e8feb86659fd93);
    value ^= value >> 32;
    value *= UINT64_C(0xd6e8feb86659fd93);
    return value ^ value >> 32;
}

static uint64_t hash_of(const struct trace_fold_core *core, trace_ref ref)
{
    if (!fold_is_loop(core, ref))
        return mix(fold_leaf(core, ref)->key);
    const struct trace_record_loop *loop = fold_loop(core, ref);
    if (loop->node.listed) /* like nothing else */
        return mix(ref + (UINT64_C(1) << 40));
    uint64_t hash = mix((uint64_t)loop->matched + (UINT64_C(1) << 33));
    trace_ref child = loop->body;
    for (uint32_t i = 0; i < loop->body_count; i++, child = fold_node(core, child)->prev)
        hash = mix(hash + hash_of(core, child));
    return hash;
}

void fold_seal(struct trace_fold_core *core)
{
    const int last = core->window_count - 1;
    struct fold_entry *entry = &core->window[last];
    const uint64_t before = last > 0 ? entry[-1].prefix : 0;
    entry->hash = hash_of(core, entry->node);
    entry->prefix = before * core->power[1] + entry->hash;
}

void fold_push(struct trace_fold_core *core, trace_ref node)
{
    if (core->window_count == FOLD_WINDOW) { /* the older half will not be part of a loop any more */
        memmove(core->window, core->window + FOLD_WINDOW / 2, FOLD_WINDOW / 2 * sizeof core->window[0]);
        core->window_count = FOLD_WINDOW / 2;
    }
    fold_node(core, node)->prev = core->tail;
    core->tail = node;
    core->window[core->window_count++].node = node;
    fold_seal(core);
}

void fold_pop(struct trace_fold_core *core, int count)
{
    core->window_count -= count;
    core->tail = fold_node(core, core->window[core->window_count].node)->prev;
}

/* Of the entries from `begin` on; equal where these do the same, but for a chance of 2^-64. */
static uint64_t range(const struct trace_fold_core *core, int begin, int count)
{
    const uint64_t before = begin > 0 ? core->window[begin - 1].prefix : 0;
    return core->window[begin + count - 1].prefix - before * core->power[count];
}

static bool close_span(struct trace_fold_core *core, int span)
{
    const int end = core->window_count;
    const uint64_t last = range(core, end - span, span);
    if (range(core, end - 2 * span, span) != last || range(core, end - 3 * span, span) != last)
        return false;
    if (fold_make_loop(core, span))
        return true;
    const int all = FOLD_LIST_COPIES * span;
    return all <= end && range(core, end - all, all - span) == range(core, end - all + span, all - span) &&
           fold_make_list(core, span);
}

bool fold_close(struct trace_fold_core *core)
{
    const struct fold_entry *last = &core->window[core->window_count - 1];
    const int longest = core->window_count / FOLD_COPIES;
    for (int span = 1; span <= longest && span <= TRACE_FOLD_SPAN; span++)
        if (last[-span].hash == last->hash && close_span(core, span))
            return true;
    return fold_make_run(core);
}
