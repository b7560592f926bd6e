/* The same loop, whatever communication it began or ended with. */
#include "model/model_fold.h"

#include "base/array.h"
#include "base/checked.h"
#include "base/rng.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int64_t list_more(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

enum {
    ROTATE_WIDTH = 8,
    ROTATE_MAX = 1 << 16
}; /* items that stand twice alone; executions that are woven one by one */

/* Puts the numbers of `more` behind those of `item` in each of so many executions of the two. */
static bool list_weave(struct model_item *item, const struct model_item *more, int64_t executions)
{
    assert(item->kind == more->kind && item->count == more->count && item->param_count == more->param_count);
    bool ok = true;
    for (int i = 0; i < item->count && ok; i++)
        ok = list_weave(&item->body[i], &more->body[i], executions);
    for (int i = 0; i < item->param_count && ok; i++) {
        const int64_t first = model_seq_total(&item->params[i]) / executions,
                      then = model_seq_total(&more->params[i]) / executions;
        struct model_seq woven = {0};
        for (int64_t m = 0; m < executions && ok; m++)
            ok = model_seq_add_slice(&woven, &item->params[i], m * first, first) &&
                 model_seq_add_slice(&woven, &more->params[i], m * then, then);
        model_seq_clear(&item->params[i]);
        item->params[i] = woven;
    }
    item->entry_events = list_more(item->entry_events, more->entry_events);
    item->exit_events = list_more(item->exit_events, more->exit_events);
    item->inner_events = list_more(item->inner_events, more->inner_events);
    model_observed_add(&item->observed, &more->observed);
    return ok;
}

/* No communication: it was done as often, and had no collectives. */
static bool list_make_silence(int64_t executions, struct model_item *ret_item)
{
    struct model_item item = {.kind = MODEL_COMM, .has_comm = true};
    item.params = calloc(MODEL_COMM_PARAMS, sizeof *item.params);
    item.param_count = item.params ? MODEL_COMM_PARAMS : 0;
    const struct model_grid none = {.levels = 1, .count = {executions}};
    const bool ok = item.params && model_seq_add_grid(&item.params[MODEL_PARAM_COLLECTIVES], none);
    *ret_item = item;
    return ok;
}

static void list_drop(struct model_item *items, int *count, int at, int dropped)
{
    memmove(items + at, items + at + dropped, (size_t)(*count - at - dropped) * sizeof *items);
    *count -= dropped;
}

/* items[at]: a loop (A c), or A and then c where `width` items stand alone; behind it A once more. What becomes of it
 * is a loop (c A); the communication before it, if any, is its first c. */
static bool list_rotate_at(struct model_item *items, int *count, int at, int width, bool is_loop, int64_t executions)
{
    assert(!is_loop || (items[at].kind == MODEL_LOOP && items[at].count == width + 1));
    const int behind = is_loop ? at + 1 : at + width + 1;
    struct model_item *row = is_loop ? items[at].body : &items[at]; /* A c */
    struct model_item loop = {.kind = MODEL_LOOP, .has_comm = true, .count = width + 1, .turns = 2};
    const bool has_before = at > 0 && items[at - 1].kind == MODEL_COMM;
    bool ok = true;
    loop.body = calloc((size_t)width + 1, sizeof *loop.body);
    if (!loop.body)
        return false;
    if (is_loop) {
        loop.turns = items[at].turns + 1;
        loop.inner_events = list_more(items[at].inner_events, items[at].exit_events);
    } else {
        loop.inner_events = list_more(model_items_events(row, width), row[width].inner_events);
    }
    model_loop_join_events(&loop, &items[behind], width);
    if (has_before)
        loop.body[0] = items[at - 1];
    else
        ok = list_make_silence(executions, &loop.body[0]);
    loop.entry_events = loop.body[0].entry_events;
    loop.body[0].hash = loop.body[0].shape = row[width].hash;
    ok = ok && list_weave(&loop.body[0], &row[width], executions);
    model_item_clear(&row[width]);
    for (int i = 0; i < width; i++) {
        ok = ok && list_weave(&row[i], &items[behind + i], executions);
        model_item_clear(&items[behind + i]);
        loop.body[1 + i] = row[i];
    }
    model_loop_rehash(&loop);
    if (is_loop)
        free(items[at].body);
    items[at] = loop;
    list_drop(items, count, at + 1, behind + width - at - 1);
    if (has_before)
        list_drop(items, count, at - 1, 1);
    return ok;
}

/* How many items of A stand from `at` on as A c A or n × (A c) A; 0: none. Which of the two is not to be seen by the
 * number of items: A may be a loop itself. */
static int list_rotates(const struct model_item *items, int count, int at, bool *ret_is_loop)
{
    const struct model_item *loop = &items[at];
    const int width = loop->kind == MODEL_LOOP ? loop->count - 1 : 0;
    *ret_is_loop = true;
    if (width > 0 && loop->body[width].kind == MODEL_COMM && at + width < count &&
        model_items_same(loop->body, &items[at + 1], width) && model_items_access(loop->body, width))
        return width;
    *ret_is_loop = false;
    for (int alone = 1; alone <= ROTATE_WIDTH && at + 2 * alone < count && loop->kind != MODEL_COMM; alone++)
        if (items[at + alone].kind == MODEL_COMM && items[at + alone - 1].kind != MODEL_COMM &&
            model_items_same(&items[at], &items[at + alone + 1], alone) && model_items_access(&items[at], alone))
            return alone;
    return 0;
}

static bool list_is_wait(const struct model_item *item)
{
    return item->kind == MODEL_CALL && strncmp(item->call.function, "MPI_File_", 9) != 0;
}

/* How many items from `at` on are one access again and again, with its completions and little communication between in
 * whatever order; 0: no such row. */
static int list_row_of_waits(const struct model_item *items, int count, int at, int64_t apart)
{
    int width = 0;
    bool waits = false;
    if (items[at].kind != MODEL_CALL || !items[at].call.access)
        return 0;
    for (int i = at + 1; i < count; i++) {
        if (items[i].kind == MODEL_CALL && items[i].hash == items[at].hash && waits) {
            width = i - at + 1;
            waits = false;
        } else if (list_is_wait(&items[i])) {
            waits = true;
        } else if (items[i].kind != MODEL_COMM || items[i].inner_events > apart) {
            break;
        }
    }
    return width;
}

/* Makes it a loop of one turn: one step, as a phase must be. */
static bool list_wrap(struct model_item *items, int *count, int at, int width)
{
    struct model_item loop = {.kind = MODEL_LOOP, .has_comm = true, .count = width, .turns = 1};
    loop.body = malloc((size_t)width * sizeof *loop.body);
    if (!loop.body)
        return false;
    memcpy(loop.body, items + at, (size_t)width * sizeof *loop.body);
    loop.inner_events = model_items_events(loop.body, width);
    model_loop_rehash(&loop);
    items[at] = loop;
    list_drop(items, count, at + 1, width - 1);
    return true;
}

static bool list_rotate_items(struct model_item *items, int *count, int64_t executions, int64_t apart)
{
    bool ok = true;
    for (int i = 0; i < *count && ok; i++)
        if (items[i].kind == MODEL_LOOP && !items[i].free) {
            ok = list_rotate_items(items[i].body, &items[i].count, saturating_mul(executions, items[i].turns), apart);
            model_loop_rehash(&items[i]);
        }
    for (int i = 0; i < *count && ok && executions <= ROTATE_MAX; i++) {
        bool is_loop;
        const int width = list_rotates(items, *count, i, &is_loop);
        if (width > 0)
            ok = list_rotate_at(items, count, i, width, is_loop, executions);
    }
    for (int i = 0; i < *count && ok; i++) {
        const int width = list_row_of_waits(items, *count, i, apart);
        if (width > 0)
            ok = list_wrap(items, count, i, width);
    }
    return ok;
}

bool model_list_rotate(struct model_list *list, int64_t apart)
{
    return list_rotate_items(list->items, &list->count, 1, apart);
}
