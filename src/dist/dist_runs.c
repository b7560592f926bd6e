/* The contiguous runs of a rank, one at a time.
 *
 * Within a box, the axes that are owned wholly and run fastest melt into one; the next axis (piece_axis) yields one
 * piece for each of its intervals; slower axes are counters. Neighbouring pieces that touch are joined at the end: that
 * happens where a cyclic axis ends and begins with the same owner, and between random blocks. */
#include "dist/dist_core.h"

#include <assert.h>
#include <string.h>

int piolet_dist_runs_begin(struct piolet_dist_runs *runs, const piolet_dist *dist, int64_t rank)
{
    if (!dist_rank_ok(dist, rank))
        return PIOLET_DIST_E_RANGE;
    *runs = (struct piolet_dist_runs){.dist = dist, .rank = rank};
    return PIOLET_DIST_OK;
}

/* Goes to the next box that is not empty. */
static bool box_enter(struct piolet_dist_runs *runs)
{
    const struct piolet_dist *dist = runs->dist;
    do {
        if (runs->part >= dist_box_count(dist))
            return false;
        dist_box(dist, runs->rank, runs->part++, runs->axis);
    } while (dist_box_size(dist, runs->axis) == 0);
    memset(runs->position, 0, sizeof runs->position);
    runs->piece_axis = 0;
    while (runs->piece_axis < dist->axes - 1 &&
           piolet_dist_axis_size(&runs->axis[runs->piece_axis]) == dist->axis[runs->piece_axis].size)
        runs->piece_axis++;
    runs->in_box = true;
    return true;
}

/* Counts one piece further; leaves the box after the last. */
static void box_advance(struct piolet_dist_runs *runs)
{
    int a = runs->piece_axis;
    int64_t limit = runs->axis[a].count;
    while (++runs->position[a] == limit) {
        runs->position[a] = 0;
        if (++a == runs->dist->axes) {
            runs->in_box = false;
            return;
        }
        limit = piolet_dist_axis_size(&runs->axis[a]);
    }
}

static bool box_piece(struct piolet_dist_runs *runs, struct piolet_dist_run *ret_piece)
{
    if (!runs->in_box && !box_enter(runs))
        return false;
    const struct piolet_dist *dist = runs->dist;
    const int p = runs->piece_axis;
    const struct piolet_dist_axis *axis = &runs->axis[p];
    const int64_t interval = runs->position[p];
    int64_t offset = (axis->first + interval * axis->stride) * dist->axis[p].pitch;
    for (int a = p + 1; a < dist->axes; a++)
        offset += dist_axis_index(&runs->axis[a], runs->position[a]) * dist->axis[a].pitch;
    const int64_t indices = interval == axis->count - 1 ? axis->last : axis->length;
    *ret_piece = (struct piolet_dist_run){.offset = offset, .length = indices * dist->axis[p].pitch};
    assert(ret_piece->length > 0);
    box_advance(runs);
    return true;
}

static bool random_piece(struct piolet_dist_runs *runs, struct piolet_dist_run *ret_piece)
{
    const struct piolet_dist *dist = runs->dist;
    while (runs->slot_next == runs->slots) {
        if (runs->part >= dist_random_windows(dist))
            return false;
        runs->slots = dist_random_slots(dist, runs->rank, runs->part++, runs->slot);
        runs->slot_next = 0;
    }
    const int64_t block = dist_random_window_begin(dist, runs->part - 1) + runs->slot[runs->slot_next++];
    const int64_t offset = block * dist->block;
    const int64_t left = dist->elements - offset;
    assert(left > 0);
    *ret_piece = (struct piolet_dist_run){.offset = offset, .length = left < dist->block ? left : dist->block};
    return true;
}

static bool dist_runs_next_piece(struct piolet_dist_runs *runs, struct piolet_dist_run *ret_piece)
{
    return runs->dist->spec.kind == PIOLET_DIST_RANDOM ? random_piece(runs, ret_piece) : box_piece(runs, ret_piece);
}

bool piolet_dist_runs_next(struct piolet_dist_runs *runs, struct piolet_dist_run *ret_run)
{
    struct piolet_dist_run run = runs->pending, piece;
    runs->pending.length = 0;
    if (run.length == 0 && !dist_runs_next_piece(runs, &run))
        return false;
    while (dist_runs_next_piece(runs, &piece)) {
        if (piece.offset != run.offset + run.length) {
            runs->pending = piece;
            break;
        }
        run.length += piece.length;
        assert(run.length > piece.length);
    }
    *ret_run = run;
    return true;
}
