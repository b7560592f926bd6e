#include "base/busy.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- lanes: a heap of their numbers, the earliest start on top ---- */

static void busy_sink(const struct busy_lane *lanes, size_t *heap, size_t count, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && lanes[heap[child + 1]].head.start_ns < lanes[heap[child]].head.start_ns)
            child++;
        if (lanes[heap[at]].head.start_ns <= lanes[heap[child]].head.start_ns)
            return;
        const size_t lane = heap[at];
        heap[at] = heap[child];
        heap[child] = lane;
    }
}

bool busy_merge(struct busy_lane *lanes, size_t count, busy_take *take, void *context)
{
    size_t left = 0;
    size_t *heap = malloc((count + 1) * sizeof *heap);
    if (!heap)
        return false;
    for (size_t i = 0; i < count; i++)
        if (lanes[i].next(lanes[i].context, &lanes[i].head))
            heap[left++] = i;
    for (size_t i = left / 2; i-- > 0;)
        busy_sink(lanes, heap, left, i);
    while (left > 0) {
        struct busy_lane *lane = &lanes[heap[0]];
        take(context, heap[0], &lane->head);
        if (!lane->next(lane->context, &lane->head))
            heap[0] = heap[--left];
        busy_sink(lanes, heap, left, 0);
    }
    free(heap);
    return true;
}

/* ---- the clock ---- */

void busy_clock_take(struct busy_clock *clock, const struct busy_op *op, double *ret_from, double *ret_to)
{
    const double end_ns = op->start_ns + fmax(0, op->ns);
    if (!clock->begun)
        *clock = (struct busy_clock){.begun = true, .first_ns = op->start_ns, .covered_ns = op->start_ns};
    if (op->start_ns > clock->covered_ns) /* all of them paused */
        clock->covered_ns = op->start_ns;
    *ret_from = fmax(0, clock->busy_ns - (clock->covered_ns - op->start_ns));
    if (end_ns > clock->covered_ns) {
        clock->busy_ns += end_ns - clock->covered_ns;
        clock->covered_ns = end_ns;
    }
    *ret_to = fmax(*ret_from, clock->busy_ns - (clock->covered_ns - end_ns));
}

double busy_clock_span_ns(const struct busy_clock *clock)
{
    return fmax(clock->busy_ns, clock->covered_ns - clock->first_ns); /* stamps far from 0 are rounded */
}

/* ---- slices ---- */

static void busy_slices_widen(struct busy_slices *slices)
{
    slices->width_ns *= 2;
    for (size_t i = 0; i < BUSY_SLICES; i++)
        slices->bytes[i] = i < BUSY_SLICES / 2 ? slices->bytes[2 * i] + slices->bytes[2 * i + 1] : 0;
}

static size_t busy_slice_at(const struct busy_slices *slices, double ns)
{
    const double at = floor(ns / slices->width_ns);
    return at < BUSY_SLICES - 1 ? (size_t)at : BUSY_SLICES - 1;
}

void busy_slices_add(struct busy_slices *slices, double from_ns, double to_ns, double bytes)
{
    assert(from_ns >= 0 && to_ns >= from_ns && isfinite(to_ns));
    if (!(slices->width_ns > 0))
        slices->width_ns = 1;
    while (to_ns > slices->width_ns * BUSY_SLICES)
        busy_slices_widen(slices);
    const size_t first = busy_slice_at(slices, from_ns), last = busy_slice_at(slices, to_ns);
    if (first == last) {
        slices->bytes[first] += bytes;
        return;
    }
    for (size_t i = first; i <= last; i++) {
        const double begin = fmax(from_ns, (double)i * slices->width_ns),
                     end = fmin(to_ns, (double)(i + 1) * slices->width_ns);
        slices->bytes[i] += bytes * (end - begin) / (to_ns - from_ns);
    }
}

void busy_slices_cut(const struct busy_slices *slices, double busy_ns, int count, double *ret_bytes, double *ret_ns)
{
    assert(count > 0);
    for (int part = 0; part < count; part++)
        ret_bytes[part] = ret_ns[part] = 0;
    if (!(slices->width_ns > 0))
        return;
    const size_t used = busy_slice_at(slices, busy_ns) + 1;
    for (size_t i = 0; i < used; i++) {
        const size_t part = i * (size_t)count / used;
        ret_bytes[part] += slices->bytes[i];
        ret_ns[part] += i + 1 < used ? slices->width_ns : fmax(0, busy_ns - (double)i * slices->width_ns);
    }
}
