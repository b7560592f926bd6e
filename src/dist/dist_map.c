/* Who owns what: counts, owners, indices and places in a rank's buffer. */
#include "dist/dist_core.h"

#include <assert.h>
#include <string.h>

bool dist_rank_ok(const struct piolet_dist *dist, int64_t rank)
{
    return rank >= 0 && rank < dist->shape.procs;
}

static bool offset_ok(const struct piolet_dist *dist, int64_t offset)
{
    return offset >= 0 && offset < dist->elements;
}

const struct piolet_dist_spec *piolet_dist_spec_of(const piolet_dist *dist)
{
    return &dist->spec;
}

const struct piolet_dist_shape *piolet_dist_shape_of(const piolet_dist *dist)
{
    return &dist->shape;
}

int64_t piolet_dist_elements(const piolet_dist *dist)
{
    return dist->elements;
}

int64_t piolet_dist_count(const piolet_dist *dist, int64_t rank)
{
    if (!dist_rank_ok(dist, rank))
        return PIOLET_DIST_E_RANGE;
    if (dist->spec.kind == PIOLET_DIST_RANDOM)
        return dist_random_count(dist, rank);
    int64_t count = 0;
    for (int64_t box = 0; box < dist_box_count(dist); box++) {
        struct piolet_dist_axis parts[PIOLET_DIST_DIMS_MAX];
        dist_box(dist, rank, box, parts);
        count += dist_box_size(dist, parts);
    }
    return count;
}

/* The index on an axis of the element at an offset. */
static int64_t axis_index(const struct piolet_dist *dist, int axis, int64_t offset)
{
    return offset / dist->axis[axis].pitch % dist->axis[axis].size;
}

/* The place on an axis, that of the slowest axis in a multi-partition being the number of the box. */
static int64_t axis_place(const struct piolet_dist *dist, int axis, int64_t offset)
{
    const struct dist_axis_rule *rule = &dist->axis[axis];
    return dist_axis_owner(rule->size, &rule->rule, rule->grid, axis_index(dist, axis, offset));
}

/* The scheme of dist_axis.c, turned around: the column of cells, followed down to the lowest plane. */
static int64_t multipartition_owner(const struct piolet_dist *dist, int64_t offset)
{
    const int64_t q = dist->cells;
    int64_t cell[3] = {0};
    for (int a = 0; a < dist->axes; a++)
        cell[dist_dimension(dist, a)] = axis_place(dist, a, offset);
    const int64_t x = (cell[0] - cell[2] + q) % q, y = (cell[1] + cell[2]) % q;
    assert(x >= 0 && y >= 0 && x + q * y < dist->shape.procs);
    return x + q * y;
}

int64_t piolet_dist_owner(const piolet_dist *dist, int64_t offset)
{
    if (!offset_ok(dist, offset))
        return PIOLET_DIST_E_RANGE;
    if (dist->spec.kind == PIOLET_DIST_RANDOM)
        return dist_random_owner(dist, offset / dist->block);
    if (dist->spec.kind == PIOLET_DIST_MULTIPARTITION)
        return multipartition_owner(dist, offset);
    int64_t rank = 0;
    for (int a = 0; a < dist->axes; a++)
        rank += axis_place(dist, a, offset) * dist->axis[a].rank_pitch;
    assert(dist_rank_ok(dist, rank));
    return rank;
}

int piolet_dist_owns(const piolet_dist *dist, int64_t rank, int64_t offset)
{
    if (!dist_rank_ok(dist, rank) || !offset_ok(dist, offset))
        return PIOLET_DIST_E_RANGE;
    return dist->spec.kind == PIOLET_DIST_BROADCAST || piolet_dist_owner(dist, offset) == rank;
}

int64_t piolet_dist_offset(const piolet_dist *dist, const int64_t *index)
{
    int64_t offset = 0;
    for (int a = dist->shape.dims - 1; a >= 0; a--) {
        const int d = dist_dimension(dist, a);
        if (index[d] < 0 || index[d] >= dist->shape.size[d])
            return PIOLET_DIST_E_RANGE;
        offset = offset * dist->shape.size[d] + index[d];
    }
    return offset;
}

int piolet_dist_index(const piolet_dist *dist, int64_t offset, int64_t *ret_index)
{
    if (!offset_ok(dist, offset))
        return PIOLET_DIST_E_RANGE;
    for (int a = 0; a < dist->shape.dims; a++) {
        const int d = dist_dimension(dist, a);
        ret_index[d] = offset % dist->shape.size[d];
        offset /= dist->shape.size[d];
    }
    return PIOLET_DIST_OK;
}

/* The box that holds place *local of the rank's buffer; *local becomes the place within the box. */
static void box_of_local(const struct piolet_dist *dist, int64_t rank, int64_t *local, struct piolet_dist_axis *parts)
{
    for (int64_t box = 0;; box++) {
        dist_box(dist, rank, box, parts);
        const int64_t size = dist_box_size(dist, parts);
        if (*local < size)
            return;
        *local -= size;
    }
}

int64_t piolet_dist_offset_of_local(const piolet_dist *dist, int64_t rank, int64_t local)
{
    if (!dist_rank_ok(dist, rank) || local < 0 || local >= piolet_dist_count(dist, rank))
        return PIOLET_DIST_E_RANGE;
    if (dist->spec.kind == PIOLET_DIST_RANDOM)
        return dist_random_offset_of_local(dist, rank, local);
    struct piolet_dist_axis parts[PIOLET_DIST_DIMS_MAX];
    int64_t pitches[PIOLET_DIST_DIMS_MAX], offset = 0;
    box_of_local(dist, rank, &local, parts);
    dist_box_pitches(dist, parts, pitches);
    for (int a = 0; a < dist->axes; a++) {
        const int64_t place = local / pitches[a] % piolet_dist_axis_size(&parts[a]);
        offset += dist_axis_index(&parts[a], place) * dist->axis[a].pitch;
    }
    assert(offset_ok(dist, offset));
    return offset;
}

int64_t piolet_dist_local_of_offset(const piolet_dist *dist, int64_t rank, int64_t offset)
{
    const int owns = piolet_dist_owns(dist, rank, offset);
    if (owns != 1)
        return PIOLET_DIST_E_RANGE;
    if (dist->spec.kind == PIOLET_DIST_RANDOM)
        return dist_random_local_of_offset(dist, rank, offset);
    const bool in_cells = dist->spec.kind == PIOLET_DIST_MULTIPARTITION;
    const int64_t ours = in_cells ? axis_place(dist, dist->axes - 1, offset) : 0;
    struct piolet_dist_axis parts[PIOLET_DIST_DIMS_MAX];
    int64_t pitches[PIOLET_DIST_DIMS_MAX], local = 0;
    for (int64_t box = 0; box < ours; box++) {
        dist_box(dist, rank, box, parts);
        local += dist_box_size(dist, parts);
    }
    dist_box(dist, rank, ours, parts);
    dist_box_pitches(dist, parts, pitches);
    for (int a = 0; a < dist->axes; a++)
        local += dist_axis_local(&parts[a], axis_index(dist, a, offset)) * pitches[a];
    return local;
}

int64_t piolet_dist_boxes(const piolet_dist *dist, int64_t rank)
{
    if (!dist_rank_ok(dist, rank))
        return PIOLET_DIST_E_RANGE;
    return dist->spec.kind == PIOLET_DIST_SCATTER ? 0 : dist_box_count(dist);
}

int piolet_dist_box(const piolet_dist *dist, int64_t rank, int64_t number, struct piolet_dist_axis *ret_axes)
{
    if (number < 0 || number >= piolet_dist_boxes(dist, rank))
        return PIOLET_DIST_E_RANGE;
    struct piolet_dist_axis parts[PIOLET_DIST_DIMS_MAX];
    dist_box(dist, rank, number, parts);
    for (int a = 0; a < dist->axes; a++)
        ret_axes[dist_dimension(dist, a)] = parts[a];
    return PIOLET_DIST_OK;
}
