/* Rows of items that are the same but for sizes. */
#include "model/model_fold.h"

#include "base/array.h"
#include "base/checked.h"
#include "base/rng.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    COMPACT_ROWS = 8,  /* as many make a loop */
    COMPACT_WIDTH = 8, /* items of a row, at most */
    COMPACT_SHORT = 8  /* turns of a loop of one size that is no more than chance */
};

/* A call or communication in a row of the list; a short loop stands for its calls. */
struct list_atom {
    uint64_t shape;
    int item, part; /* place in the list; which of the calls of a short loop, -1: the item itself */
    bool ends;      /* the last one of its item */
};

struct list_atoms {
    struct list_atom *atoms;
    size_t count, capacity;
};

static bool list_is_short(const struct model_item *item)
{
    bool is_short = item->kind == MODEL_LOOP && item->turns <= COMPACT_SHORT && !item->any_size &&
                    item->count <= COMPACT_WIDTH;
    for (int i = 0; i < item->count && is_short; i++)
        is_short = item->body[i].kind != MODEL_LOOP && !model_free_has_files(&item->body[i]);
    return is_short;
}

static bool list_add_atoms(struct list_atoms *atoms, const struct model_item *item, int index)
{
    const int parts = list_is_short(item) ? (int)item->turns * item->count : 0;
    for (int part = 0; part < (parts ? parts : 1); part++) {
        if (!ARRAY_ROOM(atoms->atoms, atoms->count, atoms->capacity, 64))
            return false;
        atoms->atoms[atoms->count++] = (struct list_atom){.shape = parts ? item->body[part % item->count].shape
                                                                         : item->shape,
                                                          .item = index,
                                                          .part = parts ? part : -1,
                                                          .ends = part == (parts ? parts - 1 : 0)};
    }
    return true;
}

/* How many rows of `width` atoms from `at` on are like `body` (NULL: like the first of them); whole items only. */
static size_t list_count_rows(const struct list_atoms *atoms, size_t at, int width, const struct model_item *body)
{
    const size_t w = (size_t)width;
    size_t rows = 0, whole = 0;
    for (; at + (rows + 1) * w <= atoms->count; rows++) {
        const struct list_atom *row = &atoms->atoms[at + rows * w];
        for (size_t i = 0; i < w; i++)
            if (row[i].shape != (body ? body[i].shape : atoms->atoms[at + i].shape))
                return whole;
        if (row[w - 1].ends)
            whole = rows + 1;
    }
    return whole;
}

/* What an atom stands for, moved into *ret_item: of a short loop, a copy of one turn. */
static bool list_take_atom(struct model_item *items, const struct list_atom *atom, struct model_item *ret_item)
{
    struct model_item *item = &items[atom->item];
    if (atom->part < 0) {
        *ret_item = *item;
        *item = (struct model_item){0};
        return true;
    }
    const struct model_item *call = &item->body[atom->part % item->count];
    const int turn = atom->part / item->count;
    *ret_item = *call;
    ret_item->params = calloc((size_t)call->param_count, sizeof *ret_item->params);
    bool ok = ret_item->params != NULL;
    ret_item->param_count = ok ? call->param_count : 0;
    for (int i = 0; i < call->param_count && ok; i++)
        ok = model_seq_add_slice(&ret_item->params[i], &call->params[i], turn, 1);
    if (turn > 0)
        ret_item->observed = (struct model_observed){0}; /* all of it goes with the first */
    if (atom->ends)
        model_item_clear(item);
    return ok;
}

/* Adds `rows` rows to the loop, which may be empty yet. */
static bool list_take_rows(struct model_item *items, const struct list_atom *atom, size_t rows, struct model_item *loop)
{
    bool ok = true;
    assert(loop->count > 0 && loop->count <= COMPACT_WIDTH);
    for (size_t row = 0; row < rows && ok; row++) {
        struct model_item turn[COMPACT_WIDTH];
        for (int i = 0; i < loop->count; i++, atom++)
            ok = list_take_atom(items, atom, &turn[i]) && ok;
        if (loop->turns++ == 0) {
            loop->entry_events = turn[0].entry_events;
            loop->exit_events = turn[loop->count - 1].exit_events;
            loop->inner_events = model_items_events(turn, loop->count);
            for (int i = 0; i < loop->count; i++) {
                loop->body[i] = turn[i];
                loop->has_comm |= turn[i].has_comm;
            }
            continue;
        }
        model_loop_join_events(loop, turn, loop->count);
        for (int i = 0; i < loop->count; i++) {
            ok = ok && model_item_absorb(&loop->body[i], &turn[i]);
            model_item_clear(&turn[i]);
        }
    }
    model_loop_rehash(loop);
    return ok;
}

static bool list_row_has_access(const struct model_item *items, const struct list_atom *atom, int width)
{
    for (int i = 0; i < width; i++) {
        const struct model_item *item = &items[atom[i].item];
        if (model_items_access(item, 1))
            return true;
    }
    return false;
}

/* The shortest row that repeats from `at` on, and how often; 0: there is none. */
static int list_find_rows(const struct model_item *items, const struct list_atoms *atoms, size_t at, size_t *ret_rows)
{
    for (int width = 1; width <= COMPACT_WIDTH; width++) {
        const size_t rows = list_count_rows(atoms, at, width, NULL), taken = rows * (size_t)width;
        *ret_rows = rows;
        if (rows >= COMPACT_ROWS && list_row_has_access(items, &atoms->atoms[at], width) &&
            atoms->atoms[at + taken - 1].item - atoms->atoms[at].item + 1 >= COMPACT_ROWS * width)
            return width;
    }
    return 0;
}

/* The loop that begins at `at`, pushed to `out`; *ret_taken: atoms that went into it, 0: there is none. */
static bool list_take_rows_at(struct model_item *items, const struct list_atoms *atoms, size_t at,
                              struct model_list *out, size_t *ret_taken)
{
    struct model_item *last = out->count > 0 ? &out->items[out->count - 1] : NULL;
    size_t rows;
    *ret_taken = 0;
    if (last && last->kind == MODEL_LOOP && last->any_size && last->count <= COMPACT_WIDTH) {
        rows = list_count_rows(atoms, at, last->count, last->body);
        *ret_taken = rows * (size_t)last->count;
        if (rows > 0)
            return list_take_rows(items, &atoms->atoms[at], rows, last);
    }
    const int width = list_find_rows(items, atoms, at, &rows);
    if (width == 0)
        return true;
    struct model_item loop = {.kind = MODEL_LOOP, .count = width, .any_size = true};
    loop.body = calloc((size_t)width, sizeof *loop.body);
    if (!loop.body)
        return false;
    const bool ok = list_take_rows(items, &atoms->atoms[at], rows, &loop);
    *ret_taken = rows * (size_t)width;
    return model_list_push(out, &loop) && ok;
}

static size_t list_behind_item(const struct list_atoms *atoms, size_t at)
{
    const int item = atoms->atoms[at].item;
    while (at < atoms->count && atoms->atoms[at].item == item)
        at++;
    return at;
}

static bool list_make_atoms(const struct model_item *items, int count, struct list_atoms *ret_atoms)
{
    bool ok = true;
    *ret_atoms = (struct list_atoms){0};
    for (int i = 0; i < count && ok; i++)
        ok = list_add_atoms(ret_atoms, &items[i], i);
    return ok;
}

/* Rows of several calls among which many are short loops are rather rows of loops. */
static bool list_has_loops(const struct model_item *items, const struct list_atoms *atoms, size_t at, size_t end)
{
    const int first = atoms->atoms[at].item, last = atoms->atoms[end - 1].item;
    int loops = 0;
    for (int i = first; i <= last; i++)
        loops += items[i].kind == MODEL_LOOP;
    return 4 * loops > last - first;
}

/* A row, wherever in it one begins. */
static uint64_t list_hash_row(const struct list_atoms *atoms, size_t at, int width)
{
    uint64_t sum = (uint64_t)width;
    for (int i = 0; i < width; i++)
        sum += rng_mix(atoms->atoms[at + (size_t)i].shape);
    return sum;
}

bool model_rows_cover(const struct model_item *items, int count)
{
    struct list_atoms atoms;
    size_t outside = 0, loops = 0;
    uint64_t seen[COMPACT_ROWS];
    bool ok = list_make_atoms(items, count, &atoms);
    for (size_t at = 0; at < atoms.count && ok;) {
        size_t rows, next;
        const int width = list_find_rows(items, &atoms, at, &rows);
        for (size_t i = 0; i < loops && width > 0; i++) /* the same again: something parts them now and then */
            ok = ok && seen[i] != list_hash_row(&atoms, at, width);
        if (width > 0 && loops < COMPACT_ROWS)
            seen[loops] = list_hash_row(&atoms, at, width);
        next = width > 0 ? at + (size_t)width * rows : list_behind_item(&atoms, at);
        ok = ok && loops < COMPACT_ROWS && (width < 2 || !list_has_loops(items, &atoms, at, next));
        loops += width > 0;
        outside += width > 0 ? 0 : next - at;
        at = next;
    }
    const bool most = ok && loops > 0 && outside <= COMPACT_WIDTH + atoms.count / 16;
    free(atoms.atoms);
    return most;
}

bool model_rows_take(struct model_item *items, int count, struct model_list *out)
{
    struct list_atoms atoms;
    bool ok = list_make_atoms(items, count, &atoms);
    for (size_t at = 0; at < atoms.count && ok;) {
        size_t taken = 0;
        ok = list_take_rows_at(items, &atoms, at, out, &taken);
        if (taken == 0 && ok) {
            struct model_item *item = &items[atoms.atoms[at].item];
            ok = model_list_push(out, item);
            *item = (struct model_item){0};
            taken = list_behind_item(&atoms, at) - at;
        }
        at += taken;
    }
    free(atoms.atoms);
    return ok;
}
