/* The list that folds itself: after each item, what stands twice behind each other becomes a loop. */
#include "model/model_fold.h"

#include "base/array.h"
#include "base/checked.h"
#include "base/rng.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64 }; /* items that a loop may have at most */

void model_item_clear(struct model_item *item)
{
    for (int i = 0; i < item->count; i++)
        model_item_clear(&item->body[i]);
    free(item->body);
    for (int i = 0; i < item->param_count; i++)
        model_seq_clear(&item->params[i]);
    free(item->params);
    *item = (struct model_item){0};
}

void model_list_clear(struct model_list *list)
{
    for (int i = 0; i < list->count; i++)
        model_item_clear(&list->items[i]);
    free(list->items);
    *list = (struct model_list){0};
}

void model_observed_add(struct model_observed *sum, const struct model_observed *more)
{
    if (more->calls == 0)
        return;
    if (sum->calls == 0 || more->min_ns < sum->min_ns)
        sum->min_ns = more->min_ns;
    if (more->max_ns > sum->max_ns)
        sum->max_ns = more->max_ns;
    if (sum->calls == 0 || more->first_ns < sum->first_ns)
        sum->first_ns = more->first_ns;
    sum->calls += more->calls;
    sum->sum_ns += more->sum_ns;
    sum->gap_ns += more->gap_ns;
    sum->events += more->events;
}

void model_loop_rehash(struct model_item *loop)
{
    loop->hash = rng_at((uint64_t)MODEL_LOOP, (uint64_t)loop->turns);
    loop->shape = loop->hash;
    for (int i = 0; i < loop->count; i++) {
        loop->hash = rng_at(loop->hash, loop->any_size ? loop->body[i].shape : loop->body[i].hash);
        loop->shape = rng_at(loop->shape, loop->body[i].shape);
    }
}

static int64_t list_more(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

bool model_item_absorb(struct model_item *item, const struct model_item *more)
{
    assert(item->kind == more->kind && item->count == more->count && item->param_count == more->param_count);
    item->entry_events = list_more(item->entry_events, more->entry_events);
    item->exit_events = list_more(item->exit_events, more->exit_events);
    item->inner_events = list_more(item->inner_events, more->inner_events);
    bool ok = true;
    for (int i = 0; i < item->count && ok; i++)
        ok = model_item_absorb(&item->body[i], &more->body[i]);
    for (int i = 0; i < item->param_count && ok; i++)
        ok = model_seq_add_seq(&item->params[i], &more->params[i]);
    model_observed_add(&item->observed, &more->observed);
    return ok;
}

bool model_items_same(const struct model_item *a, const struct model_item *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i].hash != b[i].hash)
            return false;
    return true;
}

int64_t model_items_events(const struct model_item *items, int count)
{
    int64_t most = 0;
    for (int i = 0; i < count; i++) {
        const bool begins = i == 0, ends = i == count - 1;
        if (items[i].kind != MODEL_COMM || (!begins && !ends))
            most = list_more(most, items[i].inner_events);
        if (items[i].kind == MODEL_LOOP && !begins)
            most = list_more(most, items[i].entry_events);
        if (items[i].kind == MODEL_LOOP && !ends)
            most = list_more(most, items[i].exit_events);
    }
    return most;
}

void model_loop_join_events(struct model_item *loop, const struct model_item *turn, int width)
{
    loop->inner_events = list_more(loop->inner_events, model_items_events(turn, width));
    loop->inner_events = list_more(loop->inner_events, list_more(loop->exit_events, turn[0].entry_events));
    loop->exit_events = turn[width - 1].exit_events;
}

/* The last `width` items are one more turn of the loop before them. */
static bool list_extend(struct model_list *list, int width, bool *ok)
{
    assert(width > 0 && width <= list->count);
    struct model_item *const tail = &list->items[list->count - width];
    if (list->count <= width || tail[-1].kind != MODEL_LOOP || tail[-1].count != width ||
        !model_items_same(tail[-1].body, tail, width))
        return false;
    model_loop_join_events(&tail[-1], tail, width);
    for (int i = 0; i < width; i++) {
        *ok = *ok && model_item_absorb(&tail[-1].body[i], &tail[i]);
        model_item_clear(&tail[i]);
    }
    tail[-1].turns++;
    model_loop_rehash(&tail[-1]);
    list->count -= width;
    return true;
}

/* The last `width` items are what stands before them: a loop of two turns. */
static bool list_begin(struct model_list *list, int width, bool *ok)
{
    assert(width > 0 && width <= list->count);
    struct model_item *const second = &list->items[list->count - width];
    struct model_item *const first = second - width;
    if (list->count < 2 * width || !model_items_same(first, second, width))
        return false;
    struct model_item loop = {.kind = MODEL_LOOP, .turns = 2, .count = width};
    loop.body = malloc((size_t)width * sizeof *loop.body);
    if (!loop.body) {
        *ok = false;
        return false;
    }
    loop.entry_events = first[0].entry_events;
    loop.exit_events = first[width - 1].exit_events;
    loop.inner_events = model_items_events(first, width);
    model_loop_join_events(&loop, second, width);
    for (int i = 0; i < width; i++) {
        *ok = *ok && model_item_absorb(&first[i], &second[i]);
        model_item_clear(&second[i]);
        loop.body[i] = first[i];
        loop.has_comm |= first[i].has_comm;
    }
    model_loop_rehash(&loop);
    *first = loop;
    list->count -= 2 * width - 1;
    return true;
}

bool model_list_push(struct model_list *list, struct model_item *item)
{
    if (!ARRAY_ROOM(list->items, list->count, list->capacity, 16)) {
        model_item_clear(item);
        return false;
    }
    list->items[list->count++] = *item;
    bool ok = true;
    for (int width = 1; width <= WINDOW && width <= list->count && ok;) {
        if (list_extend(list, width, &ok) || list_begin(list, width, &ok))
            width = 1; /* what has become a loop may be a turn of another */
        else
            width++;
    }
    return ok;
}

bool model_items_access(const struct model_item *items, int count)
{
    for (int i = 0; i < count; i++)
        if (items[i].kind == MODEL_LOOP ? model_items_access(items[i].body, items[i].count) : items[i].call.access)
            return true;
    return false;
}

/* ---- what folding leaves ---- */

enum {
    COMPACT_LONG = 64,   /* calls of an item that is no more than chance, or a burst */
    COMPACT_PART = 8,    /* an item with more than this part of all calls stands for itself */
    COMPACT_REGULAR = 8, /* turns of a loop that is no chance among calls in no order */
    COMPACT_TRIED = 4,   /* such loops before or behind them, at most */
    COMPACT_BACK = 256,  /* items of a turn that is not whole yet, at most */
    COMPACT_OPEN = 64    /* files that are open at once in such a turn, at most */
};

/* How many items from `items` on may be in a loop without a rule, and are not much longer than the others. */
static int list_stretch(const struct model_item *items, int count)
{
    int64_t calls = 0;
    int length = 0;
    while (length < count && model_free_calls(&items[length]) > 0 && !model_free_has_files(&items[length]))
        calls = saturating_add(calls, model_free_calls(&items[length++]));
    const int64_t most = list_more(COMPACT_LONG, calls / COMPACT_PART);
    for (int i = 0; i < length; i++)
        if (model_free_calls(&items[i]) > most)
            return i;
    return length;
}

/* The same where files are opened and closed again and again: up to where none of them is open. Communication is in
 * none, since a loop with both is no phase. `goes_on`: there were some before. */
static int list_stretch_of_files(const struct model_item *items, int count, bool goes_on, bool *ret_begun)
{
    int64_t open = 0, opens = 0;
    int length = 0, i = 0;
    for (; i < count && model_free_calls(&items[i]) > 0 && !items[i].has_comm; i++) {
        open = saturating_add(open, model_free_open_files(&items[i], &opens));
        if (open < 0 || open > COMPACT_OPEN || (i == 0 && opens == 0)) /* it begins in the middle, or never ends */
            break;
        length = open == 0 ? i + 1 : length;
    }
    *ret_begun = goes_on && length == 0 && i == count && count < COMPACT_BACK; /* more of it may come */
    return goes_on || opens >= COMPACT_REGULAR ? length : 0;
}

/* Items become a loop without a rule at the end of `out`, or the rest of the one there. */
static bool list_take_free(struct model_item *items, int count, bool goes_on, int64_t apart, struct model_list *out)
{
    bool ok = true;
    assert(!goes_on || (out->count > 0 && out->items[out->count - 1].free));
    if (!goes_on) {
        struct model_item loop;
        if (!model_free_begin(&loop))
            return false;
        if (!ARRAY_ROOM(out->items, out->count, out->capacity, 16)) {
            model_item_clear(&loop);
            return false;
        }
        out->items[out->count++] = loop;
    }
    for (int i = 0; i < count && ok; i++)
        ok = model_free_take(&out->items[out->count - 1], &items[i], apart);
    return ok;
}

/* Whether items[at] is a loop of many turns, and few others do the same some times: no burst among others. */
static bool list_is_regular(const struct model_item *items, int count, int at)
{
    const struct model_item *loop = &items[at];
    int like = 0;
    if (loop->kind != MODEL_LOOP || loop->turns < COMPACT_REGULAR)
        return false;
    for (int i = 0; i < count; i++) {
        bool same = i != at && items[i].kind == MODEL_LOOP && items[i].count == loop->count;
        for (int k = 0; same && k < loop->count; k++)
            same = items[i].body[k].shape == loop->body[k].shape;
        like += same;
    }
    return like * COMPACT_PART <= count;
}

/* Which of these items, from *ret_first on, become a loop without a rule, or go on with the one before; 0: none. What
 * exact folding tells at their begin or end stands for itself. */
static int list_find_free(const struct model_item *grows, const struct model_item *items, int count, int *ret_first)
{
    int front = 0, inner;
    for (int i = 0; i < COMPACT_TRIED && !grows && front < count && list_is_regular(items, count, front); i++)
        front++;
    for (int i = 0; i < COMPACT_TRIED && count > front && list_is_regular(items, count, count - 1); i++)
        count--;
    *ret_first = front;
    if (count == front || (!grows && model_rows_cover(items + front, count - front)))
        return 0;
    const int taken = model_free_reach(grows, items + front, count - front, &inner);
    *ret_first += inner;
    return taken;
}

/* The loop without a rule at the end of `out` that may go on with items[at]; NULL: there is none. Loops with files have
 * no communication, and others no files. */
static const struct model_item *list_loop_before(const struct model_item *items, int at, int left,
                                                 const struct model_list *out)
{
    const struct model_item *last = left == at && out->count > 0 ? &out->items[out->count - 1] : NULL;
    return last && last->free && model_free_has_files(last) == model_free_has_files(&items[at]) ? last : NULL;
}

/* Items that may all be in a loop without a rule, from `at` on: those that are, and all from *left on that stand before
 * them, go to `out`; *left is behind them then. */
static bool list_take_stretch(struct model_item *items, int at, int stretch, int64_t apart, int *left,
                              struct model_list *out)
{
    const struct model_item *last = list_loop_before(items, at, *left, out);
    int *ends = malloc((size_t)stretch * sizeof *ends);
    bool goes_on = false;
    const int parts = ends ? model_free_cut(last, items + at, stretch, ends, &goes_on) : 0;
    bool ok = parts > 0;
    for (int i = 0, begin = 0; i < parts && ok; begin = ends[i++]) {
        int first;
        const bool grows = goes_on && i == 0;
        const int taken = list_find_free(grows ? last : NULL, items + at + begin, ends[i] - begin, &first);
        if (taken == 0)
            continue;
        first += at + begin;
        ok = model_rows_take(items + *left, first - *left, out) &&
             list_take_free(items + first, taken, grows, apart, out);
        *left = first + taken;
    }
    free(ends);
    return ok;
}

/* Whether a list of sizes tells the loop, or one inside of it. */
static bool list_was_made(const struct model_item *item)
{
    for (int i = 0; i < item->count; i++)
        if (list_was_made(&item->body[i]))
            return true;
    return item->free || item->any_size;
}

/* Where the next look begins: behind the last loop that was made, if only the begin of another turn is behind it. A
 * turn that was cut would stay as single calls, and what comes behind it fold from its middle on. */
static int list_next_from(const struct model_list *list, int behind)
{
    const int end = list->count > behind ? list->count - behind : 0;
    for (int i = end; i > 0 && i > end - COMPACT_BACK; i--)
        if (list_was_made(&list->items[i - 1]))
            return i;
    return end;
}

bool model_list_compact(struct model_list *list, int behind, int64_t apart, int *from_to)
{
    const int from = *from_to < list->count ? *from_to : list->count;
    int end = list->count - behind > from ? list->count - behind : from;
    struct model_list out = {.capacity = list->count + 16};
    struct model_item *const items = list->items;
    bool ok = true;
    int left = from; /* items from here on are no part of a loop without a rule */
    assert(from >= 0);
    if (list->count == 0) /* there is no array to look at either */
        return true;
    out.items = calloc((size_t)out.capacity, sizeof *out.items);
    if (!out.items)
        return false;
    if (from > 0)
        memcpy(out.items, items, (size_t)from * sizeof *items);
    out.count = from;
    for (int at = from; at < end && ok;) {
        const bool goes_on = list_loop_before(items, at, left, &out) != NULL;
        bool begun = false;
        const int stretch = model_free_has_files(&items[at])
                                ? list_stretch_of_files(items + at, end - at, goes_on, &begun)
                                : list_stretch(items + at, end - at);
        if (begun && behind > 0)
            end = at;
        ok = stretch == 0 || list_take_stretch(items, at, stretch, apart, &left, &out);
        at += stretch > 0 ? stretch : 1;
    }
    ok = ok && model_rows_take(items + left, end - left, &out);
    for (int i = end; i < list->count && ok; i++) {
        ok = model_list_push(&out, &items[i]);
        items[i] = (struct model_item){0};
    }
    for (int i = from; i < list->count; i++)
        model_item_clear(&items[i]); /* what has moved is empty */
    free(items);
    *list = out;
    *from_to = list_next_from(list, behind);
    return ok;
}
