/* Loops without a rule: calls of a few kinds (which function, on which file) in any order and any number.
 *
 * The kinds are put in a row, and whatever comes is a sequence of rows in which each kind is done some times, or never:
 *
 *     w w r w w w r r c w r        3 × ( [2,3,1] × w  [1,2,1] × r  [0,1,0] × c )
 *
 * so that the only thing that is new to a loop is that its number of turns is a column too. What repeats with other
 * numbers of turns (bursts between barriers) is the same. Much communication ends a row of rows, since it parts phases:
 *
 *     M × ( rows[n] × ( turns[n] × kind … )  [1,1,…] × much communication )
 *
 * Calls go in one by one, or as runs of one kind: linear in these, whatever their number of kinds. Columns that are
 * always the same, and loops of one turn, vanish when the model is written. */
#include "model/model_fold.h"

#include "base/array.h"
#include "base/checked.h"
#include "base/rng.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    FREE_KINDS = 64, /* in a loop, at most */
    FREE_LEAST = 16, /* items that make a loop, at least */
    FREE_EACH = 8,   /* as many for each of its kinds, on the average */
    FREE_RUNS = 128, /* of a loop of several calls that is taken apart, at most */
    FREE_DEPTH = 4   /* loops inside of each other that are */
};

/* ---- what may be in one ---- */

static bool free_is_of_file(const struct model_item *item)
{
    return item->kind == MODEL_CALL &&
           (item->call.name || strcmp(item->call.class, "close") == 0 || strcmp(item->call.class, "delete") == 0);
}

bool model_free_has_files(const struct model_item *item)
{
    bool found = free_is_of_file(item);
    for (int i = 0; i < item->count && !found; i++)
        found = model_free_has_files(&item->body[i]);
    return found;
}

int64_t model_free_open_files(const struct model_item *item, int64_t *opens)
{
    int64_t open = 0;
    for (int i = 0; i < item->count; i++)
        open = saturating_add(open, saturating_mul(item->turns, model_free_open_files(&item->body[i], opens)));
    if (item->kind != MODEL_CALL)
        return open;
    const bool opening = strcmp(item->call.class, "open") == 0;
    *opens += opening;
    return opening ? 1 : strcmp(item->call.class, "close") == 0 ? -1 : 0;
}

/* `runs`: how often one call, or some of one kind in a row, are taken out of it. */
static int64_t free_calls(const struct model_item *item, int depth, int64_t *runs)
{
    int64_t calls = 0, inside_runs = 0;
    *runs = 1;
    if (item->kind != MODEL_LOOP)
        return 1;
    if (item->any_size || item->free || depth == FREE_DEPTH)
        return 0;
    for (int i = 0; i < item->count; i++) {
        const int64_t inside = free_calls(&item->body[i], depth + 1, runs);
        if (inside == 0)
            return 0;
        calls = saturating_add(calls, inside);
        inside_runs = saturating_add(inside_runs, *runs);
    }
    *runs = item->count == 1 && item->body[0].kind == MODEL_CALL ? 1 : saturating_mul(inside_runs, item->turns);
    return *runs <= FREE_RUNS ? saturating_mul(calls, item->turns) : 0;
}

int64_t model_free_calls(const struct model_item *item)
{
    int64_t runs;
    return free_calls(item, 0, &runs);
}

/* The kinds of some items, and how many of the items have each. */
struct free_kinds {
    uint64_t shape[FREE_KINDS];
    int items[FREE_KINDS];
    int count;
    bool too_many, access;
};

static int free_find_kind(const struct free_kinds *kinds, uint64_t shape)
{
    int kind = 0;
    while (kind < kinds->count && kinds->shape[kind] != shape)
        kind++;
    return kind;
}

static void free_count_kinds(struct free_kinds *kinds, const struct model_item *item)
{
    for (int i = 0; i < item->count; i++)
        free_count_kinds(kinds, &item->body[i]);
    if (item->kind == MODEL_LOOP)
        return;
    const int kind = free_find_kind(kinds, item->shape);
    kinds->access |= item->kind == MODEL_CALL && item->call.access;
    if (kind == FREE_KINDS) {
        kinds->too_many = true;
        return;
    }
    kinds->shape[kind] = item->shape;
    kinds->items[kind]++;
    kinds->count += kind == kinds->count;
}

/* Whether a kind of the item is in no other one, and not known from before. */
static bool free_is_alone(const struct free_kinds *kinds, int known, const struct model_item *item)
{
    for (int i = 0; i < item->count; i++)
        if (free_is_alone(kinds, known, &item->body[i]))
            return true;
    const int kind = item->kind == MODEL_LOOP ? -1 : free_find_kind(kinds, item->shape);
    return kind >= known && kinds->items[kind] == 1;
}

/* How many items from the first on have kinds that were known before. */
static int free_count_known(const struct free_kinds *kinds, int known, const struct model_item *items, int count)
{
    for (int i = 0; i < count; i++) {
        struct free_kinds all = *kinds;
        all.count = known;
        free_count_kinds(&all, &items[i]);
        if (all.count > known || all.too_many)
            return i;
    }
    return count;
}

int model_free_reach(const struct model_item *loop, const struct model_item *items, int count, int *ret_first)
{
    struct free_kinds kinds = {0};
    for (int i = 0; loop && i < loop->body[0].count; i++)
        kinds.shape[kinds.count++] = loop->body[0].body[i].body[0].shape;
    for (int i = 1; loop && i < loop->count && kinds.count < FREE_KINDS; i++)
        kinds.shape[kinds.count++] = loop->body[i].body[0].shape;
    const int known = kinds.count;
    for (int i = 0; i < count && !kinds.too_many; i++)
        free_count_kinds(&kinds, &items[i]);
    *ret_first = 0;
    const bool enough = count >= FREE_LEAST && count / FREE_EACH >= kinds.count - known && !kinds.too_many;
    if (!enough)
        return loop ? free_count_known(&kinds, known, items, count) : 0;
    if (!loop && !kinds.access)
        return 0;
    while (!loop && count > 0 &&
           (items[*ret_first].kind == MODEL_COMM || free_is_alone(&kinds, known, &items[*ret_first]))) {
        ++*ret_first;
        count--;
    }
    while (count > 0 && free_is_alone(&kinds, known, &items[*ret_first + count - 1]))
        count--;
    return count;
}

/* ---- what belongs together ---- */

/* Where a kind stands last among some items. */
struct free_place {
    uint64_t shape;
    int last;
    bool used;
};

struct free_places {
    struct free_place *slots;
    size_t mask; /* their number is a power of two */
};

static size_t free_count_leaves(const struct model_item *item)
{
    size_t leaves = item->kind != MODEL_LOOP;
    for (int i = 0; i < item->count; i++)
        leaves += free_count_leaves(&item->body[i]);
    return leaves;
}

static struct free_place *free_find_place(const struct free_places *places, uint64_t shape)
{
    size_t at = shape & places->mask;
    while (places->slots[at].used && places->slots[at].shape != shape)
        at = (at + 1) & places->mask;
    return &places->slots[at];
}

static void free_note_places(struct free_places *places, const struct model_item *item, int index)
{
    for (int i = 0; i < item->count; i++)
        free_note_places(places, &item->body[i], index);
    if (item->kind == MODEL_LOOP)
        return;
    struct free_place *place = free_find_place(places, item->shape);
    if (!place->used)
        *place = (struct free_place){.shape = item->shape, .used = true};
    place->last = index;
}

/* Where the last one of the calls of an item stands; -1: nowhere. Communication belongs to whatever is around it. */
static int free_last_place(const struct free_places *places, const struct model_item *item)
{
    int last = -1;
    for (int i = 0; i < item->count; i++) {
        const int inside = free_last_place(places, &item->body[i]);
        last = inside > last ? inside : last;
    }
    if (item->kind != MODEL_CALL)
        return last;
    const struct free_place *place = free_find_place(places, item->shape);
    return place->used ? place->last : -1;
}

/* The last place among the items of a kind that is in the loop already; -1: nothing of it comes again. */
static int free_last_of_loop(const struct free_places *places, const struct model_item *loop)
{
    int last = -1;
    for (int i = 0; i < loop->body[0].count; i++) {
        const int place = free_last_place(places, &loop->body[0].body[i].body[0]);
        last = place > last ? place : last;
    }
    return last;
}

int model_free_cut(const struct model_item *loop, const struct model_item *items, int count, int *ret_ends,
                   bool *ret_goes_on)
{
    size_t leaves = 1, slots = 4;
    for (int i = 0; i < count; i++)
        leaves += free_count_leaves(&items[i]);
    while (slots < 2 * leaves)
        slots *= 2;
    struct free_places places = {.slots = calloc(slots, sizeof *places.slots), .mask = slots - 1};
    if (!places.slots)
        return 0;
    for (int i = 0; i < count; i++)
        free_note_places(&places, &items[i], i);
    int cuts = 0, end = loop ? 1 + free_last_of_loop(&places, loop) : 0;
    *ret_goes_on = end > 0;
    bool has_call = end > 0, has_comm = end > 0 && loop->has_comm;
    for (int i = 0; i < count; i++) { /* `end`: what belongs together reaches up to it */
        const int last = free_last_place(&places, &items[i]);
        const bool ends_turn = items[i].kind == MODEL_COMM && has_comm; /* as others before it */
        if (i >= end && has_call && !ends_turn) {
            ret_ends[cuts++] = i;
            has_call = has_comm = false;
        }
        has_call = has_call || last >= 0;
        has_comm = has_comm || items[i].has_comm;
        end = last >= end ? last + 1 : end;
    }
    ret_ends[cuts++] = count;
    free(places.slots);
    return cuts;
}

/* ---- making it ---- */

/* One more loop inside of `parent`, around a copy of `call` without its numbers (NULL: around nothing yet). */
static struct model_item *free_add_loop(struct model_item *parent, const struct model_item *call)
{
    struct model_item loop = {.kind = MODEL_LOOP, .free = true};
    struct model_item *body = realloc(parent->body, ((size_t)parent->count + 1) * sizeof *body);
    if (!body)
        return NULL;
    parent->body = body;
    loop.params = calloc(MODEL_FREE_PARAMS, sizeof *loop.params);
    loop.param_count = loop.params ? MODEL_FREE_PARAMS : 0;
    if (loop.params && call) {
        loop.body = malloc(sizeof *loop.body);
        if (loop.body) {
            loop.body[0] = *call;
            loop.body[0].observed = (struct model_observed){0};
            loop.body[0].params = calloc((size_t)call->param_count, sizeof *call->params);
            loop.count = 1;
            if (!loop.body[0].params)
                loop.body[0].param_count = 0;
        }
    }
    if (!loop.params || (call && (!loop.body || loop.body[0].param_count != call->param_count))) {
        model_item_clear(&loop);
        return NULL;
    }
    body[parent->count] = loop;
    return &body[parent->count++];
}

/* Its hash is like no other one's that lives now. */
static void free_rehash(struct model_item *loop)
{
    loop->hash = loop->shape = rng_at(UINT64_C(0x66726565), (uint64_t)(uintptr_t)loop->body);
}

bool model_free_begin(struct model_item *ret_loop)
{
    struct model_item loop = {.kind = MODEL_LOOP, .free = true, .turns = 1};
    if (!free_add_loop(&loop, NULL))
        return false;
    loop.body[0].at = -1;
    free_rehash(&loop);
    *ret_loop = loop;
    return true;
}

/* The turns of the execution that is over go into the column, zeros before it for those in which there were none. */
static bool free_note_turns(struct model_item *loop, int64_t executions)
{
    struct model_seq *turns = &loop->params[MODEL_PARAM_TURNS];
    const int64_t before = loop->pending > 0 ? loop->row : executions, none = before - model_seq_total(turns);
    bool ok = true;
    assert(none >= 0);
    if (none > 0)
        ok = model_seq_add_grid(turns, (struct model_grid){.levels = 1, .count = {none}});
    if (loop->pending > 0)
        ok = ok && model_seq_add(turns, loop->pending);
    loop->pending = 0;
    return ok;
}

/* So many turns more of the loop in its execution `row`. */
static bool free_turn(struct model_item *loop, int64_t row, int64_t turns)
{
    bool ok = true;
    if (loop->pending > 0 && loop->row != row)
        ok = free_note_turns(loop, row);
    loop->row = row;
    loop->pending += turns;
    return ok;
}

/* The loop of the kind of a call inside of `parent`, from body[first] on: its index; -1: no memory. */
static int free_find_loop(struct model_item *parent, int first, const struct model_item *call)
{
    for (int i = first; i < parent->count; i++)
        if (parent->body[i].body[0].shape == call->shape)
            return i;
    return free_add_loop(parent, call) ? parent->count - 1 : -1;
}

/* `count` executions of a call, of which the first is number `from` of those that it stands for. */
static bool free_take_run(struct model_item *loop, const struct model_item *call, int64_t from, int64_t count,
                          int64_t apart)
{
    const bool much = call->kind == MODEL_COMM && call->inner_events > apart;
    bool ok = true;
    if (loop->at > 0) { /* much communication has ended a turn */
        loop->turns++;
        loop->at = 0;
        loop->body[0].at = -1;
    }
    struct model_item *parent = much ? loop : &loop->body[0];
    const int kind = free_find_loop(parent, much ? 1 : 0, call);
    if (kind < 0)
        return false;
    if (much) {
        assert(count == 1); /* no two of them stand behind each other */
        loop->at = 1;
    } else if (kind < parent->at || parent->at < 0) {
        parent->turns++;
        ok = free_turn(parent, loop->turns - 1, 1);
    }
    if (!much)
        parent->at = kind;
    ok = ok && free_turn(&parent->body[kind], parent->turns - 1, count);
    struct model_item *to = parent->body[kind].body;
    for (int i = 0; i < call->param_count && ok; i++)
        ok = model_seq_add_slice(&to->params[i], &call->params[i], from, count);
    if (from == 0)
        model_observed_add(&to->observed, &call->observed); /* all of it goes with the first */
    if (call->kind == MODEL_COMM) {
        to->inner_events = call->inner_events > to->inner_events ? call->inner_events : to->inner_events;
        to->entry_events = to->exit_events = to->inner_events;
        parent->has_comm = parent->body[kind].has_comm = loop->has_comm = true;
        if (to->inner_events > parent->inner_events)
            parent->inner_events = to->inner_events;
        if (to->inner_events > loop->inner_events)
            loop->inner_events = to->inner_events;
    }
    return ok;
}

/* One execution of an item: of a call the next one, which it keeps in `pending`. */
static bool free_take_once(struct model_item *loop, struct model_item *item, int64_t apart)
{
    bool ok = true;
    if (item->kind != MODEL_LOOP)
        return free_take_run(loop, item, item->pending++, 1, apart);
    if (item->count == 1 && item->body[0].kind == MODEL_CALL) {
        ok = free_take_run(loop, &item->body[0], item->body[0].pending, item->turns, apart);
        item->body[0].pending += item->turns;
        return ok;
    }
    for (int64_t turn = 0; turn < item->turns && ok; turn++)
        for (int i = 0; i < item->count && ok; i++)
            ok = free_take_once(loop, &item->body[i], apart);
    return ok;
}

bool model_free_take(struct model_item *loop, struct model_item *item, int64_t apart)
{
    assert(loop->free && model_free_calls(item) > 0);
    const bool ok = free_take_once(loop, item, apart);
    model_item_clear(item);
    free_rehash(loop);
    return ok;
}

static bool free_end_turns(struct model_item *loop, int64_t executions)
{
    const struct model_seq *turns = &loop->params[MODEL_PARAM_TURNS];
    bool ok = free_note_turns(loop, executions) &&
              (model_seq_total(turns) == executions || free_note_turns(loop, executions));
    assert(!ok || model_seq_total(turns) == executions);
    loop->turns = 0;
    for (size_t i = 0; i < turns->count; i++)
        for (int64_t at = 0; at < model_grid_total(&turns->grids[i]); at++) {
            const int64_t now = model_seq_grid_at(turns, &turns->grids[i], at);
            loop->turns = now > loop->turns ? now : loop->turns;
        }
    return ok;
}

bool model_free_end(struct model_item *loop)
{
    assert(loop->free && loop->count > 0);
    const int64_t rows = loop->body[0].turns;
    bool ok = true;
    for (int i = 1; i < loop->count && ok && loop->at == 0; i++) /* none at the end is one without collectives */
        ok = free_turn(&loop->body[i], loop->turns - 1, 1) &&
             model_seq_add(&loop->body[i].body[0].params[MODEL_PARAM_COLLECTIVES], 0);
    for (int i = 0; i < loop->body[0].count && ok; i++)
        ok = free_end_turns(&loop->body[0].body[i], rows);
    for (int i = 0; i < loop->count && ok; i++)
        ok = free_end_turns(&loop->body[i], loop->turns);
    return ok;
}

/* ---- another order of the kinds ---- */

bool model_free_reorder(struct model_item *loop, const int *place)
{
    assert(loop->free && loop->count > 0);
    struct model_item *rows = &loop->body[0];
    struct model_seq old_rows = rows->params[MODEL_PARAM_TURNS];
    struct model_seq *old = calloc((size_t)rows->count + 1, sizeof *old);
    bool ok = old != NULL;
    int64_t row = 0;
    if (!ok)
        return false;
    rows->params[MODEL_PARAM_TURNS] = (struct model_seq){0};
    rows->turns = 0;
    for (int i = 0; i < rows->count; i++) {
        old[i] = rows->body[i].params[MODEL_PARAM_TURNS];
        rows->body[i].params[MODEL_PARAM_TURNS] = (struct model_seq){0};
    }
    for (int64_t turn = 0; turn < loop->turns && ok; turn++) {
        int at = -1;
        for (const int64_t end = row + model_seq_at(&old_rows, turn); row < end && ok; row++)
            for (int i = 0; i < rows->count && ok; i++) {
                const int64_t turns = model_seq_at(&old[i], row);
                if (turns == 0)
                    continue;
                if (at < 0 || place[i] < at) {
                    rows->turns++;
                    ok = free_turn(rows, turn, 1);
                }
                at = place[i];
                ok = ok && free_turn(&rows->body[i], rows->turns - 1, turns);
            }
    }
    const int64_t all = rows->turns;
    for (int i = 0; i < rows->count; i++) {
        ok = ok && free_end_turns(&rows->body[i], all);
        model_seq_clear(&old[i]);
    }
    ok = ok && free_end_turns(rows, loop->turns);
    model_seq_clear(&old_rows);
    free(old);
    return ok;
}
