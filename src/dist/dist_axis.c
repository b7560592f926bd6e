/* One axis, and the boxes that axes make. */
#include "dist/dist_core.h"

#include <assert.h>

int64_t dist_ceil_div(int64_t a, int64_t b)
{
    assert(a >= 0 && b > 0);
    return a / b + (a % b != 0);
}

static struct piolet_dist_axis axis_interval(int64_t first, int64_t length)
{
    if (length <= 0)
        return (struct piolet_dist_axis){0};
    return (struct piolet_dist_axis){.first = first, .length = length, .count = 1, .last = length};
}

static struct piolet_dist_axis part_block(int64_t size, int64_t grid, int64_t place)
{
    const int64_t block = dist_ceil_div(size, grid);
    const int64_t first = place * block;
    return axis_interval(first, size - first < block ? size - first : block);
}

static struct piolet_dist_axis part_balanced(int64_t size, int64_t grid, int64_t place)
{
    const int64_t base = size / grid, larger = size % grid;
    return axis_interval(place * base + (place < larger ? place : larger), base + (place < larger));
}

/* Never multiplies block by grid before it is known that the product lies inside of the axis. */
static struct piolet_dist_axis part_cyclic(int64_t size, int64_t block, int64_t grid, int64_t place)
{
    const int64_t blocks = dist_ceil_div(size, block);
    if (place >= blocks)
        return (struct piolet_dist_axis){0};
    struct piolet_dist_axis part = {.first = place * block, .length = block, .last = block};
    part.count = (blocks - 1 - place) / grid + 1;
    if ((blocks - 1 - place) % grid == 0) /* the last block of all is ours */
        part.last = size - (blocks - 1) * block;
    assert(part.count > 0 && part.last > 0 && part.last <= block);
    if (part.count == 1)
        part.length = part.last;
    else
        part.stride = block * grid;
    return part;
}

struct piolet_dist_axis dist_axis_part(int64_t size, const struct piolet_dist_rule *rule, int64_t grid, int64_t place)
{
    assert(place >= 0 && place < grid);
    if (grid == 1)
        return axis_interval(0, size);
    switch (rule->kind) {
    case PIOLET_DIST_BLOCK:
        return part_block(size, grid, place);
    case PIOLET_DIST_CYCLIC:
        return part_cyclic(size, rule->block, grid, place);
    case PIOLET_DIST_BALANCED:
        return part_balanced(size, grid, place);
    case PIOLET_DIST_WHOLE:
        break;
    }
    return axis_interval(0, size);
}

static int64_t owner_balanced(int64_t size, int64_t grid, int64_t index)
{
    const int64_t base = size / grid, larger = size % grid;
    const int64_t border = larger * (base + 1);
    return index < border ? index / (base + 1) : larger + (index - border) / base;
}

int64_t dist_axis_owner(int64_t size, const struct piolet_dist_rule *rule, int64_t grid, int64_t index)
{
    assert(index >= 0 && index < size);
    switch (rule->kind) {
    case PIOLET_DIST_BLOCK:
        return index / dist_ceil_div(size, grid);
    case PIOLET_DIST_CYCLIC:
        return index / rule->block % grid;
    case PIOLET_DIST_BALANCED:
        return owner_balanced(size, grid, index);
    case PIOLET_DIST_WHOLE:
        break;
    }
    return 0;
}

int64_t piolet_dist_axis_size(const struct piolet_dist_axis *axis)
{
    return axis->count == 0 ? 0 : (axis->count - 1) * axis->length + axis->last;
}

int64_t dist_axis_index(const struct piolet_dist_axis *part, int64_t local)
{
    assert(part->count > 0 && local >= 0 && local < piolet_dist_axis_size(part));
    return part->first + local / part->length * part->stride + local % part->length;
}

int64_t dist_axis_local(const struct piolet_dist_axis *part, int64_t index)
{
    const int64_t from_first = index - part->first;
    if (part->count == 0 || from_first < 0)
        return -1;
    const int64_t interval = part->stride ? from_first / part->stride : 0;
    const int64_t within = from_first - interval * part->stride;
    if (interval >= part->count || within >= (interval == part->count - 1 ? part->last : part->length))
        return -1;
    return interval * part->length + within;
}

int dist_dimension(const struct piolet_dist *dist, int axis)
{
    return dist->shape.order == PIOLET_DIST_COLUMN_ORDER ? axis : dist->shape.dims - 1 - axis;
}

int64_t dist_box_count(const struct piolet_dist *dist)
{
    switch (dist->spec.kind) {
    case PIOLET_DIST_RANDOM:
        return 0;
    case PIOLET_DIST_MULTIPARTITION:
        return dist->cells;
    default:
        return 1;
    }
}

/* The scheme of NAS BT: the first cell of a rank lies in the lowest plane at (rank mod q, rank / q); from plane to
 * plane it goes one up in the first and one down in the second dimension. Asked for by slab of the slowest axis, so
 * that boxes ascend in the file: that is the plane in column order, the first dimension in row order. */
static void multipartition_cell(const struct piolet_dist *dist, int64_t rank, int64_t slab, int64_t cell[3])
{
    const int64_t q = dist->cells, x = rank % q, y = rank / q;
    const int64_t plane = dist->shape.order == PIOLET_DIST_COLUMN_ORDER ? slab : (slab - x + q) % q;
    cell[0] = (x + plane) % q;
    cell[1] = (y - plane + q) % q;
    cell[2] = plane;
}

void dist_box(const struct piolet_dist *dist, int64_t rank, int64_t number, struct piolet_dist_axis *ret_parts)
{
    assert(number >= 0 && number < dist_box_count(dist));
    int64_t cell[3] = {0};
    const bool in_cells = dist->spec.kind == PIOLET_DIST_MULTIPARTITION;
    if (in_cells)
        multipartition_cell(dist, rank, number, cell);
    for (int a = 0; a < dist->axes; a++) {
        const struct dist_axis_rule *axis = &dist->axis[a];
        const int64_t place = in_cells ? cell[dist_dimension(dist, a)] : rank / axis->rank_pitch % axis->grid;
        ret_parts[a] = dist_axis_part(axis->size, &axis->rule, axis->grid, place);
    }
}

int64_t dist_box_size(const struct piolet_dist *dist, const struct piolet_dist_axis *parts)
{
    int64_t size = 1;
    for (int a = 0; a < dist->axes; a++)
        size *= piolet_dist_axis_size(&parts[a]);
    return size;
}

void dist_box_pitches(const struct piolet_dist *dist, const struct piolet_dist_axis *parts, int64_t *ret_pitches)
{
    int64_t pitch = 1;
    for (int i = 0; i < dist->axes; i++) {
        const int a = dist->spec.transposed ? dist->axes - 1 - i : i;
        ret_pitches[a] = pitch;
        pitch *= piolet_dist_axis_size(&parts[a]);
    }
}
