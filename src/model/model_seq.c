#include "model/model_fold.h"

#include "base/array.h"
#include "base/checked.h"
#include "base/rng.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- sequences of numbers ---- */

int64_t model_grid_total(const struct model_grid *grid)
{
    assert(grid->levels >= MODEL_GRID_LIST && grid->levels <= MODEL_GRID_LEVELS);
    int64_t total = 1;
    if (grid->levels == MODEL_GRID_LIST)
        return grid->count[0];
    for (int i = 0; i < grid->levels; i++)
        total *= grid->count[i];
    return total;
}

int64_t model_grid_at(const struct model_grid *grid, int64_t index)
{
    assert(grid->levels >= 0 && index >= 0 && index < model_grid_total(grid));
    int64_t value = grid->base;
    for (int i = 0; i < grid->levels; i++) {
        value = wrapping_add(value, wrapping_mul(index % grid->count[i], grid->stride[i]));
        index /= grid->count[i];
    }
    return value;
}

/* Drops levels of one, and joins levels of which one continues the other. */
static void model_grid_tidy(struct model_grid *grid)
{
    int kept = 0;
    for (int i = 0; i < grid->levels; i++) {
        if (grid->count[i] == 1)
            continue;
        if (kept > 0 && grid->stride[i] == wrapping_mul(grid->count[kept - 1], grid->stride[kept - 1])) {
            grid->count[kept - 1] *= grid->count[i];
            continue;
        }
        grid->count[kept] = grid->count[i];
        grid->stride[kept] = grid->stride[i];
        kept++;
    }
    grid->levels = kept;
}

void model_seq_clear(struct model_seq *seq)
{
    free(seq->grids);
    free(seq->values);
    *seq = (struct model_seq){0};
}

int64_t model_seq_total(const struct model_seq *seq)
{
    return seq->count ? seq->grids[seq->count - 1].start + model_grid_total(&seq->grids[seq->count - 1]) : 0;
}

/* The grid that holds number `index`. */
static size_t seq_find(const struct model_seq *seq, int64_t index)
{
    assert(seq->count > 0 && index >= 0 && index < model_seq_total(seq));
    size_t low = 0, high = seq->count;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (seq->grids[middle].start <= index)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int64_t model_seq_at(const struct model_seq *seq, int64_t index)
{
    const struct model_grid *grid = &seq->grids[seq_find(seq, index)];
    return model_seq_grid_at(seq, grid, index - grid->start);
}

int64_t model_seq_grid_at(const struct model_seq *seq, const struct model_grid *grid, int64_t index)
{
    if (grid->levels != MODEL_GRID_LIST)
        return model_grid_at(grid, index);
    assert(index >= 0 && (size_t)(grid->base + index) < seq->value_count);
    return seq->values[grid->base + index];
}

/* The same counts and strides in the first `levels` levels. */
static bool seq_same_levels(const struct model_grid *a, const struct model_grid *b, int levels)
{
    for (int i = 0; i < levels; i++)
        if (a->count[i] != b->count[i] || a->stride[i] != b->stride[i])
            return false;
    return true;
}

/* Makes `last` larger by `next` where the two are one grid; there are three ways to be. */
static bool seq_join(struct model_grid *last, const struct model_grid *next)
{
    const int outer = last->levels - 1;
    if (last->levels == MODEL_GRID_LIST || next->levels == MODEL_GRID_LIST)
        return false;
    if (outer >= 0 && next->base == wrapping_add(last->base, wrapping_mul(last->count[outer], last->stride[outer]))) {
        if (next->levels == outer && seq_same_levels(last, next, outer)) { /* one more turn */
            last->count[outer]++;
            return true;
        }
        if (next->levels == outer + 1 && seq_same_levels(last, next, outer) &&
            next->stride[outer] == last->stride[outer]) {
            last->count[outer] += next->count[outer]; /* more turns */
            return true;
        }
    }
    if (last->levels == next->levels && last->levels < MODEL_GRID_LEVELS && seq_same_levels(last, next, last->levels)) {
        last->count[last->levels] = 2; /* the same, elsewhere */
        last->stride[last->levels] = wrapping_sub(next->base, last->base);
        last->levels++;
        model_grid_tidy(last);
        return true;
    }
    return false;
}

enum { SMALL_NUMBERS = 4, SMALL_GRIDS = 64 }; /* a grid of no more numbers is short; more of such are no rule */

/* The first half of the short grids at the end goes into a list, behind the one before them if that is a list. */
static bool seq_pack(struct model_seq *seq)
{
    const size_t first = seq->count - seq->small, packed = SMALL_GRIDS / 2;
    int64_t numbers = 0;
    assert(seq->small > SMALL_GRIDS && first + packed < seq->count);
    for (size_t i = first; i < first + packed; i++) {
        const struct model_grid *grid = &seq->grids[i];
        for (int64_t at = 0; at < model_grid_total(grid); at++, numbers++) {
            if (!ARRAY_ROOM(seq->values, seq->value_count, seq->value_capacity, 64))
                return false;
            seq->values[seq->value_count++] = model_grid_at(grid, at);
        }
    }
    struct model_grid list = {.levels = MODEL_GRID_LIST, .count = {numbers}, .start = seq->grids[first].start};
    list.base = (int64_t)seq->value_count - numbers;
    size_t at = first;
    if (first > 0 && seq->grids[first - 1].levels == MODEL_GRID_LIST)
        seq->grids[first - 1].count[0] += numbers;
    else
        seq->grids[at++] = list;
    memmove(seq->grids + at, seq->grids + first + packed, (seq->count - first - packed) * sizeof *seq->grids);
    seq->count -= packed - (at - first);
    seq->small -= packed;
    return true;
}

bool model_seq_add_grid(struct model_seq *seq, struct model_grid grid)
{
    assert(grid.levels >= 0);
    model_grid_tidy(&grid);
    while (seq->count > 0 &&
           seq_join(&seq->grids[seq->count - 1], &grid)) { /* what has grown may join the one before it */
        grid = seq->grids[--seq->count];
        seq->small -= seq->small > 0;
    }
    if (!ARRAY_ROOM(seq->grids, seq->count, seq->capacity, 1))
        return false;
    grid.start = model_seq_total(seq);
    seq->grids[seq->count++] = grid;
    seq->small = model_grid_total(&grid) <= SMALL_NUMBERS ? seq->small + 1 : 0;
    return seq->small <= SMALL_GRIDS || seq_pack(seq);
}

/* Appends numbers of a list of `from`. */
static bool seq_add_values(struct model_seq *seq, const struct model_seq *from, const struct model_grid *grid,
                           int64_t index, int64_t count)
{
    bool ok = true;
    for (int64_t at = 0; at < count && ok; at++)
        ok = model_seq_add(seq, model_seq_grid_at(from, grid, index + at));
    return ok;
}

bool model_seq_add(struct model_seq *seq, int64_t value)
{
    return model_seq_add_grid(seq, (struct model_grid){.base = value});
}

bool model_seq_add_seq(struct model_seq *seq, const struct model_seq *more)
{
    bool ok = true;
    for (size_t i = 0; i < more->count && ok; i++)
        ok = more->grids[i].levels == MODEL_GRID_LIST
                 ? seq_add_values(seq, more, &more->grids[i], 0, more->grids[i].count[0])
                 : model_seq_add_grid(seq, more->grids[i]);
    return ok;
}

/* Appends `count` numbers of a grid from `index` on: whole turns of its outer level as grids, the rest deeper. */
static bool seq_add_part(struct model_seq *seq, struct model_grid grid, int64_t index, int64_t count)
{
    if (count <= 0)
        return true;
    if (grid.levels == 0)
        return model_seq_add_grid(seq, grid);
    const int outer = grid.levels - 1;
    const int64_t turn = model_grid_total(&grid) / grid.count[outer];
    assert(turn > 0 && index >= 0 && index + count <= model_grid_total(&grid));
    struct model_grid inner = grid;
    inner.levels = outer;
    inner.base = wrapping_add(inner.base, wrapping_mul(index / turn, grid.stride[outer]));
    const int64_t skip = index % turn;
    if (skip > 0) {
        const int64_t head = turn - skip < count ? turn - skip : count;
        return seq_add_part(seq, inner, skip, head) && seq_add_part(seq, grid, index + head, count - head);
    }
    struct model_grid whole = grid;
    whole.base = inner.base;
    whole.count[outer] = count / turn;
    if (whole.count[outer] > 0 && !model_seq_add_grid(seq, whole))
        return false;
    inner.base = wrapping_add(inner.base, wrapping_mul(count / turn, grid.stride[outer]));
    return seq_add_part(seq, inner, 0, count % turn);
}

bool model_seq_add_slice(struct model_seq *seq, const struct model_seq *from, int64_t index, int64_t count)
{
    assert(count <= 0 || (index >= 0 && index + count <= model_seq_total(from)));
    bool ok = true;
    for (size_t i = count > 0 ? seq_find(from, index) : 0; count > 0 && ok; i++) {
        const int64_t skip = index - from->grids[i].start;
        const int64_t left = model_grid_total(&from->grids[i]) - skip;
        const int64_t part = left < count ? left : count;
        ok = from->grids[i].levels == MODEL_GRID_LIST ? seq_add_values(seq, from, &from->grids[i], skip, part)
                                                      : seq_add_part(seq, from->grids[i], skip, part);
        index += part;
        count -= part;
    }
    return ok;
}

enum { SETTLE_MAX = 1 << 20 };

bool model_seq_settle(struct model_seq *seq)
{
    const int64_t total = model_seq_total(seq);
    struct model_seq settled = {0};
    if (seq->count < 2 || total > SETTLE_MAX)
        return true;
    for (size_t i = 0; i < seq->count; i++)
        for (int64_t at = 0; at < model_grid_total(&seq->grids[i]); at++)
            if (!model_seq_add(&settled, model_seq_grid_at(seq, &seq->grids[i], at))) {
                model_seq_clear(&settled);
                return false;
            }
    assert(model_seq_total(&settled) == total); /* the same numbers, in other grids */
    model_seq_clear(seq);
    *seq = settled;
    return true;
}

static bool seq_is_list_moved(const struct model_seq *a, const struct model_grid *x, const struct model_seq *b,
                              const struct model_grid *y, int64_t by)
{
    bool same = x->count[0] == y->count[0];
    for (int64_t i = 0; i < x->count[0] && same; i++)
        same = wrapping_sub(model_seq_grid_at(b, y, i), model_seq_grid_at(a, x, i)) == by;
    return same;
}

bool model_seq_is_moved(const struct model_seq *a, const struct model_seq *b, int64_t *ret_by)
{
    if (a->count != b->count || a->count == 0)
        return false;
    *ret_by = wrapping_sub(model_seq_at(b, 0), model_seq_at(a, 0));
    for (size_t i = 0; i < a->count; i++) {
        const struct model_grid *x = &a->grids[i], *y = &b->grids[i];
        if (x->levels == MODEL_GRID_LIST && y->levels == MODEL_GRID_LIST) {
            if (!seq_is_list_moved(a, x, b, y, *ret_by))
                return false;
            continue;
        }
        if (x->levels != y->levels || !seq_same_levels(x, y, x->levels) || wrapping_sub(y->base, x->base) != *ret_by)
            return false;
    }
    return true;
}
