#include "bench/iot/iot_mesh.h"

#include "base/rng.h"
#include "bench/iot/iot_data.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* Each use of the seed has a sequence of its own. */
enum salt { SALT_NODES = 1, SALT_ELEMENTS, SALT_PLACES, SALT_CUTS, SALT_RAGS };

static int64_t mesh_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- the grid of ranks ---- */

/* Faces between blocks, counted in cells. */
static double mesh_surface(const int64_t cells[3], const int64_t grid[3])
{
    return (double)grid[0] * (double)cells[1] * (double)cells[2] +
           (double)grid[1] * (double)cells[0] * (double)cells[2] +
           (double)grid[2] * (double)cells[0] * (double)cells[1];
}

/* As many ranks as can have cells; among such grids the one that cuts mesh_least. */
static void mesh_choose_grid(struct iot_mesh *mesh)
{
    int64_t most = 0;
    double smallest = 0;
    for (int64_t x = 1; x <= mesh_least(mesh->nprocs, mesh->cells[0]); x++)
        for (int64_t y = 1; y <= mesh_least(mesh->nprocs / x, mesh->cells[1]); y++) {
            const int64_t z = mesh_least(mesh->nprocs / (x * y), mesh->cells[2]);
            const double mesh_cut = mesh_surface(mesh->cells, (const int64_t[]){x, y, z});
            if (x * y * z < most || (x * y * z == most && mesh_cut >= smallest))
                continue;
            most = x * y * z;
            smallest = mesh_cut;
            mesh->grid[0] = (int)x;
            mesh->grid[1] = (int)y;
            mesh->grid[2] = (int)z;
        }
}

struct iot_mesh iot_mesh_make(const int64_t cells[3], int64_t window, uint64_t seed, int nprocs)
{
    assert(cells[0] > 0 && cells[1] > 0 && cells[2] > 0 && window > 0 && nprocs > 0);
    struct iot_mesh mesh = {.cells = {cells[0], cells[1], cells[2]},
                            .nodes = (cells[0] + 1) * (cells[1] + 1) * (cells[2] + 1),
                            .elements = IOT_MESH_TETRAHEDRA * cells[0] * cells[1] * cells[2],
                            .window = window,
                            .seed = seed,
                            .nprocs = nprocs};
    mesh_choose_grid(&mesh);
    return mesh;
}

/* ---- numbers ---- */

/* A window's numbers stay inside of it, in an order of its own. */
static int64_t mesh_renumber(const struct iot_mesh *mesh, int64_t natural, int64_t count, enum salt salt)
{
    const int64_t which = natural / mesh->window, begin = which * mesh->window;
    const uint64_t seed = rng_at(rng_at(mesh->seed, salt), (uint64_t)which);
    const struct iot_order order = iot_order_make(mesh_least(mesh->window, count - begin), seed);
    return begin + iot_order_at(&order, natural - begin);
}

int64_t iot_mesh_node_number(const struct iot_mesh *mesh, int64_t node)
{
    return mesh_renumber(mesh, node, mesh->nodes, SALT_NODES);
}

int64_t iot_mesh_element_number(const struct iot_mesh *mesh, int64_t element)
{
    return mesh_renumber(mesh, element, mesh->elements, SALT_ELEMENTS);
}

/* ---- geometry ---- */

static int64_t mesh_cell_index(const struct iot_mesh *mesh, const int64_t at[3])
{
    return (at[2] * mesh->cells[1] + at[1]) * mesh->cells[0] + at[0];
}

static int64_t mesh_node_index(const struct iot_mesh *mesh, const int64_t at[3])
{
    return (at[2] * (mesh->cells[1] + 1) + at[1]) * (mesh->cells[0] + 1) + at[0];
}

static void mesh_place_of(int64_t index, int64_t width, int64_t height, int64_t ret_at[3])
{
    ret_at[0] = index % width;
    ret_at[1] = index / width % height;
    ret_at[2] = index / width / height;
}

/* With moves of up to J the three edges of a tetrahedron that follow the axes are I + E, |E| <= 2J in each entry: below
 * J = 1/6 each row is dominated by its diagonal, so no volume reaches 0. */
#define MOVE 0.15

void iot_mesh_coordinates(const struct iot_mesh *mesh, int64_t node, double ret_xyz[3])
{
    int64_t at[3];
    mesh_place_of(node, mesh->cells[0] + 1, mesh->cells[1] + 1, at);
    const uint64_t random = rng_at(rng_at(mesh->seed, SALT_PLACES), (uint64_t)node);
    for (int d = 0; d < 3; d++) {
        const bool inside = at[d] > 0 && at[d] < mesh->cells[d];
        const double unit = rng_unit(rng_at(random, (uint64_t)d));
        ret_xyz[d] = (double)at[d] + (inside ? MOVE * (2 * unit - 1) : 0);
    }
}

/* Kuhn's division: a path along the edges from corner 0 to corner 7 for each order of the axes. Neighbouring cells
 * mesh_cut their common face alike. Corners are bits: x 1, y 2, z 4. */
static const unsigned char CORNERS[IOT_MESH_TETRAHEDRA][4] = {
    {0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 3, 2, 7}, {0, 5, 1, 7}, {0, 6, 4, 7},
};

void iot_mesh_element_nodes(const struct iot_mesh *mesh, int64_t element, int64_t ret_nodes[4])
{
    int64_t cell[3];
    mesh_place_of(element / IOT_MESH_TETRAHEDRA, mesh->cells[0], mesh->cells[1], cell);
    for (int i = 0; i < 4; i++) {
        const unsigned corner = CORNERS[element % IOT_MESH_TETRAHEDRA][i];
        const int64_t at[3] = {cell[0] + (corner & 1), cell[1] + (corner >> 1 & 1), cell[2] + (corner >> 2)};
        ret_nodes[i] = mesh_node_index(mesh, at);
    }
}

/* ---- who owns what ---- */

enum { CUT_UNIT = 256, CUT_MOVE = 32 /* a mesh_cut moves by an eighth of a mean block */, RAG = 1 /* cells */ };

/* The first cell of block k along axis d. Whole numbers: every rank must find the same. */
static int64_t mesh_cut(const struct iot_mesh *mesh, int d, int64_t k)
{
    const int64_t blocks = mesh->grid[d];
    if (k <= 0 || k >= blocks)
        return k <= 0 ? 0 : mesh->cells[d];
    const uint64_t random = rng_at(rng_at(mesh->seed, SALT_CUTS + 16 * (uint64_t)d), (uint64_t)k);
    const int64_t move = (int64_t)(random % (2 * CUT_MOVE + 1)) - CUT_MOVE;
    return (k * CUT_UNIT + move) * mesh->cells[d] / (CUT_UNIT * blocks);
}

static int64_t mesh_block_at(const struct iot_mesh *mesh, int d, int64_t place)
{
    int64_t k = place * mesh->grid[d] / mesh->cells[d]; /* one off at most */
    while (mesh_cut(mesh, d, k) > place)
        k--;
    while (mesh_cut(mesh, d, k + 1) <= place)
        k++;
    return k;
}

/* Of the block at a place up to RAG cells away: inside a block that changes nothing, at its faces it makes them ragged.
 */
int iot_mesh_cell_owner(const struct iot_mesh *mesh, const int64_t cell[3])
{
    uint64_t random = rng_at(rng_at(mesh->seed, SALT_RAGS), (uint64_t)mesh_cell_index(mesh, cell));
    int64_t block[3];
    for (int d = 0; d < 3; d++) {
        int64_t place = cell[d] + (int64_t)(random % (2 * RAG + 1)) - RAG;
        random /= 2 * RAG + 1;
        place = place < 0 ? 0 : mesh_least(place, mesh->cells[d] - 1);
        block[d] = mesh_block_at(mesh, d, place);
    }
    return (int)((block[2] * mesh->grid[1] + block[1]) * mesh->grid[0] + block[0]);
}

void iot_mesh_most(const struct iot_mesh *mesh, int64_t *ret_elements, int64_t *ret_nodes)
{
    *ret_elements = IOT_MESH_TETRAHEDRA;
    *ret_nodes = 1;
    for (int d = 0; d < 3; d++) {
        const int64_t n = mesh->cells[d], blocks = mesh->grid[d];
        const int64_t widest = n * (CUT_UNIT + 2 * CUT_MOVE) / (CUT_UNIT * blocks) + 1 + 2 * RAG;
        *ret_elements *= blocks == 1 ? n : mesh_least(n, widest);
        *ret_nodes *= (blocks == 1 ? n : mesh_least(n, widest)) + 1;
    }
}

/* ---- the part of a rank ---- */

/* The cells that a rank may own, and all around them those that share a node with such a cell. */
struct region {
    int64_t low[3], size[3];
    int *owner; /* of each cell, x fastest; -1 outside of the mesh */
};

static void mesh_span_region(const struct iot_mesh *mesh, int rank, struct region *region)
{
    int64_t block[3];
    mesh_place_of(rank, mesh->grid[0], mesh->grid[1], block);
    for (int d = 0; d < 3; d++) {
        const int64_t low = mesh_cut(mesh, d, block[d]) - RAG, high = mesh_cut(mesh, d, block[d] + 1) + RAG;
        region->low[d] = (low < 0 ? 0 : low) - 1;
        region->size[d] = mesh_least(high, mesh->cells[d]) + 1 - region->low[d];
    }
}

static pl_status mesh_make_region(const struct iot_mesh *mesh, int rank, struct region *region, struct pl_error *error)
{
    mesh_span_region(mesh, rank, region);
    const int64_t *size = region->size, count = size[0] * size[1] * size[2];
    region->owner = malloc((size_t)count * sizeof *region->owner);
    if (!region->owner)
        return pl_fail_errno(error, ENOMEM, "taking memory for the owners of %lld cells", (long long)count);
    for (int64_t i = 0; i < count; i++) {
        int64_t cell[3];
        bool inside = true;
        mesh_place_of(i, size[0], size[1], cell);
        for (int d = 0; d < 3; d++) {
            cell[d] += region->low[d];
            inside = inside && cell[d] >= 0 && cell[d] < mesh->cells[d];
        }
        region->owner[i] = inside ? iot_mesh_cell_owner(mesh, cell) : -1;
    }
    return PL_OK;
}

/* Without memory a list only counts. */
static void mesh_add(struct iot_mesh_list *list, int64_t natural)
{
    if (list->items)
        list->items[list->count].natural = natural;
    list->count++;
}

/* A node at the low corner of cell i of the region: seven more cells touch it, each one back along some axes. */
static void mesh_add_node(const struct region *region, int64_t i, int64_t node, int rank, struct iot_mesh_part *part)
{
    const int64_t row = region->size[0], layer = row * region->size[1];
    bool touches = false, owns = true;
    for (int corner = 0; corner < 8; corner++) {
        const int owner = region->owner[i - (corner & 1) - (corner >> 1 & 1) * row - (corner >> 2) * layer];
        touches = touches || owner == rank;
        owns = owns && (owner < 0 || owner >= rank);
    }
    if (touches)
        mesh_add(&part->touched, node);
    if (touches && owns)
        mesh_add(&part->nodes, node);
}

static void mesh_walk_region(const struct iot_mesh *mesh, const struct region *region, int rank,
                             struct iot_mesh_part *part)
{
    const int64_t *size = region->size;
    for (int64_t z = 1; z < size[2]; z++)
        for (int64_t y = 1; y < size[1]; y++)
            for (int64_t x = 1; x < size[0]; x++) {
                const int64_t i = (z * size[1] + y) * size[0] + x;
                const int64_t at[3] = {x + region->low[0], y + region->low[1], z + region->low[2]};
                mesh_add_node(region, i, mesh_node_index(mesh, at), rank, part);
                for (int t = 0; region->owner[i] == rank && t < IOT_MESH_TETRAHEDRA; t++)
                    mesh_add(&part->elements, mesh_cell_index(mesh, at) * IOT_MESH_TETRAHEDRA + t);
            }
}

static pl_status mesh_take_memory(struct iot_mesh_list *list, struct pl_error *error)
{
    list->items = malloc((size_t)(list->count + 1) * sizeof *list->items);
    if (!list->items)
        return pl_fail_errno(error, ENOMEM, "taking memory for a list of %lld numbers", (long long)list->count);
    list->count = 0;
    return PL_OK;
}

static int mesh_by_number(const void *a, const void *b)
{
    const int64_t x = ((const struct iot_mesh_item *)a)->number, y = ((const struct iot_mesh_item *)b)->number;
    return (x > y) - (x < y);
}

static void mesh_sort_list(const struct iot_mesh *mesh, int64_t (*number)(const struct iot_mesh *, int64_t),
                           struct iot_mesh_list *list)
{
    for (int64_t i = 0; i < list->count; i++)
        list->items[i].number = number(mesh, list->items[i].natural);
    qsort(list->items, (size_t)list->count, sizeof *list->items, mesh_by_number);
}

pl_status iot_mesh_part_init(const struct iot_mesh *mesh, int rank, struct iot_mesh_part *ret_part,
                             struct pl_error *error)
{
    *ret_part = (struct iot_mesh_part){0};
    struct region region = {.owner = NULL};
    pl_status status = PL_OK;
    if (rank < mesh->grid[0] * mesh->grid[1] * mesh->grid[2]) {
        status = mesh_make_region(mesh, rank, &region, error);
        if (status == PL_OK)
            mesh_walk_region(mesh, &region, rank, ret_part); /* counts */
    }
    struct iot_mesh_list *lists[] = {&ret_part->elements, &ret_part->nodes, &ret_part->touched};
    for (int i = 0; i < 3 && status == PL_OK; i++)
        status = mesh_take_memory(lists[i], error);
    if (status == PL_OK && region.owner) {
        mesh_walk_region(mesh, &region, rank, ret_part);
        mesh_sort_list(mesh, iot_mesh_element_number, &ret_part->elements);
        mesh_sort_list(mesh, iot_mesh_node_number, &ret_part->nodes);
        mesh_sort_list(mesh, iot_mesh_node_number, &ret_part->touched);
    }
    free(region.owner);
    return status;
}

void iot_mesh_part_clear(struct iot_mesh_part *part)
{
    free(part->elements.items);
    free(part->nodes.items);
    free(part->touched.items);
    *part = (struct iot_mesh_part){0};
}
