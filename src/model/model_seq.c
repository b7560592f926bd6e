#include "model/model_seq.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

int64_t model_grid_total(const struct model_grid *grid)
{
    int64_t total = 1;
    for (int i = 0; i < grid->levels; i++)
        total *= grid->count[i];
    return total;
}

int64_t model_grid_at(const struct model_grid *grid, int64_t index)
{
    int64_t value = grid->base;
    for (int i = 0; i < grid->levels; i++) {
        value = wrapping_add(value, wrapping_mul(index % grid->count[i], grid->stride[i]));
        index /= grid->count[i];
    }
    return value;
}

void model_grid_tidy(struct model_grid *grid)
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
    *seq = (struct model_seq){0};
}

int64_t model_seq_total(const struct model_seq *seq)
{
    return seq->count ? seq->grids[seq->count - 1].start + model_grid_total(&seq->grids[seq->count - 1]) : 0;
}

/* The grid that holds number `index`. */
static size_t find(const struct model_seq *seq, int64_t index)
{
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
    const struct model_grid *grid = &seq->grids[find(seq, index)];
    return model_grid_at(grid, index - grid->start);
}

/* The same counts and strides in the first `levels` levels. */
static bool same_levels(const struct model_grid *a, const struct model_grid *b, int levels)
{
    for (int i = 0; i < levels; i++)
        if (a->count[i] != b->count[i] || a->stride[i] != b->stride[i])
            return false;
    return true;
}

/* Makes `last` larger by `next` where the two are one grid; there are three ways to be. */
static bool join(struct model_grid *last, const struct model_grid *next)
{
    const int outer = last->levels - 1;
    if (outer >= 0 && next->base == wrapping_add(last->base, wrapping_mul(last->count[outer], last->stride[outer]))) {
        if (next->levels == outer && same_levels(last, next, outer)) { /* one more turn */
            last->count[outer]++;
            return true;
        }
        if (next->levels == outer + 1 && same_levels(last, next, outer) && next->stride[outer] == last->stride[outer]) {
            last->count[outer] += next->count[outer]; /* more turns */
            return true;
        }
    }
    if (last->levels == next->levels && last->levels < MODEL_GRID_LEVELS && same_levels(last, next, last->levels)) {
        last->count[last->levels] = 2; /* the same, elsewhere */
        last->stride[last->levels] = wrapping_sub(next->base, last->base);
        last->levels++;
        model_grid_tidy(last);
        return true;
    }
    return false;
}

bool model_seq_add_grid(struct model_seq *seq, struct model_grid grid)
{
    model_grid_tidy(&grid);
    while (seq->count > 0 && join(&seq->grids[seq->count - 1], &grid)) /* what has grown may join the one before it */
        grid = seq->grids[--seq->count];
    if (seq->count == seq->capacity) {
        const size_t capacity = seq->capacity ? 2 * seq->capacity : 1;
        struct model_grid *grids = realloc(seq->grids, capacity * sizeof *grids);
        if (!grids)
            return false;
        seq->grids = grids;
        seq->capacity = capacity;
    }
    grid.start = model_seq_total(seq);
    seq->grids[seq->count++] = grid;
    return true;
}

bool model_seq_add(struct model_seq *seq, int64_t value)
{
    return model_seq_add_grid(seq, (struct model_grid){.base = value});
}

bool model_seq_add_seq(struct model_seq *seq, const struct model_seq *more)
{
    bool ok = true;
    for (size_t i = 0; i < more->count && ok; i++)
        ok = model_seq_add_grid(seq, more->grids[i]);
    return ok;
}

/* Appends `count` numbers of a grid from `index` on: whole turns of its outer level as grids, the rest deeper. */
static bool add_part(struct model_seq *seq, struct model_grid grid, int64_t index, int64_t count)
{
    if (count <= 0)
        return true;
    if (grid.levels == 0)
        return model_seq_add_grid(seq, grid);
    const int outer = grid.levels - 1;
    const int64_t turn = model_grid_total(&grid) / grid.count[outer];
    struct model_grid inner = grid;
    inner.levels = outer;
    inner.base = wrapping_add(inner.base, wrapping_mul(index / turn, grid.stride[outer]));
    const int64_t skip = index % turn;
    if (skip > 0) {
        const int64_t head = turn - skip < count ? turn - skip : count;
        return add_part(seq, inner, skip, head) && add_part(seq, grid, index + head, count - head);
    }
    struct model_grid whole = grid;
    whole.base = inner.base;
    whole.count[outer] = count / turn;
    if (whole.count[outer] > 0 && !model_seq_add_grid(seq, whole))
        return false;
    inner.base = wrapping_add(inner.base, wrapping_mul(count / turn, grid.stride[outer]));
    return add_part(seq, inner, 0, count % turn);
}

bool model_seq_add_slice(struct model_seq *seq, const struct model_seq *from, int64_t index, int64_t count)
{
    bool ok = true;
    for (size_t i = count > 0 ? find(from, index) : 0; count > 0 && ok; i++) {
        const int64_t skip = index - from->grids[i].start;
        const int64_t left = model_grid_total(&from->grids[i]) - skip;
        const int64_t part = left < count ? left : count;
        ok = add_part(seq, from->grids[i], skip, part);
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
            if (!model_seq_add(&settled, model_grid_at(&seq->grids[i], at))) {
                model_seq_clear(&settled);
                return false;
            }
    model_seq_clear(seq);
    *seq = settled;
    return true;
}

bool model_seq_is_moved(const struct model_seq *a, const struct model_seq *b, int64_t *ret_by)
{
    if (a->count != b->count || a->count == 0)
        return false;
    *ret_by = wrapping_sub(b->grids[0].base, a->grids[0].base);
    for (size_t i = 0; i < a->count; i++) {
        const struct model_grid *x = &a->grids[i], *y = &b->grids[i];
        if (x->levels != y->levels || !same_levels(x, y, x->levels) || wrapping_sub(y->base, x->base) != *ret_by)
            return false;
    }
    return true;
}
