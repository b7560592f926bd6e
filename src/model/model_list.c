/* The list that folds itself: after each item, what stands twice behind each other becomes a loop. */
#include "model/model_fold.h"

#include "base/rng.h"

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
    for (int i = 0; i < loop->count; i++)
        loop->hash = rng_at(loop->hash, loop->body[i].hash);
}

/* Appends the numbers of `more`, which has the same shape, behind those of `item`. */
static bool absorb(struct model_item *item, const struct model_item *more)
{
    bool ok = true;
    for (int i = 0; i < item->count && ok; i++)
        ok = absorb(&item->body[i], &more->body[i]);
    for (int i = 0; i < item->param_count && ok; i++)
        ok = model_seq_add_seq(&item->params[i], &more->params[i]);
    model_observed_add(&item->observed, &more->observed);
    return ok;
}

static bool same(const struct model_item *a, const struct model_item *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i].hash != b[i].hash)
            return false;
    return true;
}

/* The last `width` items are one more turn of the loop before them. */
static bool extend(struct model_list *list, int width, bool *ok)
{
    struct model_item *const tail = &list->items[list->count - width];
    if (list->count <= width || tail[-1].kind != MODEL_LOOP || tail[-1].count != width ||
        !same(tail[-1].body, tail, width))
        return false;
    for (int i = 0; i < width; i++) {
        *ok = *ok && absorb(&tail[-1].body[i], &tail[i]);
        model_item_clear(&tail[i]);
    }
    tail[-1].turns++;
    model_loop_rehash(&tail[-1]);
    list->count -= width;
    return true;
}

/* The last `width` items are what stands before them: a loop of two turns. */
static bool begin(struct model_list *list, int width, bool *ok)
{
    struct model_item *const second = &list->items[list->count - width];
    struct model_item *const first = second - width;
    if (list->count < 2 * width || !same(first, second, width))
        return false;
    struct model_item loop = {.kind = MODEL_LOOP, .turns = 2, .count = width};
    loop.body = malloc((size_t)width * sizeof *loop.body);
    if (!loop.body) {
        *ok = false;
        return false;
    }
    for (int i = 0; i < width; i++) {
        *ok = *ok && absorb(&first[i], &second[i]);
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
    if (list->count == list->capacity) {
        const int capacity = list->capacity ? 2 * list->capacity : 16;
        struct model_item *items = realloc(list->items, (size_t)capacity * sizeof *items);
        if (!items) {
            model_item_clear(item);
            return false;
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = *item;
    bool ok = true;
    for (int width = 1; width <= WINDOW && width <= list->count && ok;) {
        if (extend(list, width, &ok) || begin(list, width, &ok))
            width = 1; /* what has become a loop may be a turn of another */
        else
            width++;
    }
    return ok;
}
