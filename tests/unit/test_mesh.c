/* The generated mesh and its partition: properties over many sizes, windows and rank counts.
 * proves: IOT-27
 * It would fail if an element or a node belonged to nobody or to two ranks, if a node's owner did not touch it or were
 * not the lowest rank that does, if two nodes had the same number, if tetrahedra overlapped, left a gap or were turned
 * inside out, or if a rank's lists were not in file order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "bench/iot/iot_mesh.h"

static const int64_t SIZES[][3] = {{1, 1, 1}, {5, 1, 1}, {1, 2, 3}, {4, 4, 4}, {7, 5, 3}, {1, 17, 2}, {12, 11, 10}};
static const int RANKS[] = {1, 2, 3, 4, 6, 7, 8, 9, 16, 61, 64, 100};

enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0], RANK_COUNT = sizeof RANKS / sizeof RANKS[0] };

/* ---- the mesh ---- */

static void mark_once(char *seen, int64_t count, int64_t number)
{
    assert_in_range(number, 0, count - 1);
    assert_int_equal(seen[number], 0);
    seen[number] = 1;
}

static void numbers_are_permutations(void **state)
{
    (void)state;
    static const int64_t windows[] = {1, 2, 7, 64, 4096, 1000000000000};
    for (int s = 0; s < SIZE_COUNT; s++)
        for (size_t w = 0; w < sizeof windows / sizeof windows[0]; w++) {
            const struct iot_mesh mesh = iot_mesh_make(SIZES[s], windows[w], 11 + w, 1);
            char *nodes = calloc((size_t)mesh.nodes, 1), *elements = calloc((size_t)mesh.elements, 1);
            for (int64_t i = 0; i < mesh.nodes; i++) {
                mark_once(nodes, mesh.nodes, iot_mesh_node_number(&mesh, i));
                assert_int_equal(iot_mesh_node_number(&mesh, i) / windows[w], i / windows[w]); /* local */
            }
            for (int64_t i = 0; i < mesh.elements; i++)
                mark_once(elements, mesh.elements, iot_mesh_element_number(&mesh, i));
            free(nodes);
            free(elements);
        }
}

/* A window scatters what is in it: few neighbours stay neighbours, and another seed scatters otherwise. */
static void numbers_are_irregular(void **state)
{
    (void)state;
    const int64_t cells[3] = {30, 30, 30};
    const struct iot_mesh mesh = iot_mesh_make(cells, 4096, 1, 1), other = iot_mesh_make(cells, 4096, 2, 1);
    int64_t neighbours = 0, equal = 0;
    for (int64_t i = 0; i + 1 < mesh.nodes; i++) {
        neighbours += iot_mesh_node_number(&mesh, i + 1) == iot_mesh_node_number(&mesh, i) + 1;
        equal += iot_mesh_node_number(&mesh, i) == iot_mesh_node_number(&other, i);
    }
    assert_true(neighbours < mesh.nodes / 100);
    assert_true(equal < mesh.nodes / 100);
}

static double volume(const double corner[4][3])
{
    double e[3][3];
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 3; d++)
            e[i][d] = corner[i + 1][d] - corner[0][d];
    return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
            e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
           6;
}

/* On the lattice each tetrahedron is a sixth of its cell, and stays inside of it. */
static void tetrahedra_fill_cells(void **state)
{
    (void)state;
    const struct iot_mesh mesh = iot_mesh_make(SIZES[4], 4096, 3, 1);
    const int64_t width = mesh.cells[0] + 1, height = mesh.cells[1] + 1;
    for (int64_t element = 0; element < mesh.elements; element++) {
        const int64_t cell = element / IOT_MESH_TETRAHEDRA;
        const int64_t low[3] = {cell % mesh.cells[0], cell / mesh.cells[0] % mesh.cells[1],
                                cell / mesh.cells[0] / mesh.cells[1]};
        int64_t nodes[4];
        double corner[4][3];
        iot_mesh_element_nodes(&mesh, element, nodes);
        for (int i = 0; i < 4; i++) {
            const int64_t at[3] = {nodes[i] % width, nodes[i] / width % height, nodes[i] / width / height};
            for (int d = 0; d < 3; d++) {
                assert_in_range(at[d], low[d], low[d] + 1);
                corner[i][d] = (double)at[d];
            }
        }
        assert_true(fabs(volume(corner) - 1.0 / 6) < 1e-14);
    }
}

/* Moved nodes: neighbours cut their common face alike, so volumes still add up to the box; none is turned around. */
static void moved_tetrahedra_fill_box(void **state)
{
    (void)state;
    for (int s = 0; s < SIZE_COUNT; s++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            const struct iot_mesh mesh = iot_mesh_make(SIZES[s], 4096, seed, 1);
            double total = 0;
            for (int64_t element = 0; element < mesh.elements; element++) {
                int64_t nodes[4];
                double corner[4][3];
                iot_mesh_element_nodes(&mesh, element, nodes);
                for (int i = 0; i < 4; i++)
                    iot_mesh_coordinates(&mesh, nodes[i], corner[i]);
                assert_true(volume(corner) > 0.005);
                total += volume(corner);
            }
            assert_true(fabs(total - (double)mesh.elements / IOT_MESH_TETRAHEDRA) < 1e-9);
        }
}

/* ---- the partition ---- */

/* Who touches a node, found by asking for the owner of every cell; INT32_MAX: nobody yet. */
static int *lowest_ranks(const struct iot_mesh *mesh)
{
    int *lowest = malloc((size_t)mesh->nodes * sizeof *lowest);
    for (int64_t i = 0; i < mesh->nodes; i++)
        lowest[i] = INT32_MAX;
    for (int64_t element = 0; element < mesh->elements; element++) {
        const int64_t c = element / IOT_MESH_TETRAHEDRA;
        const int64_t cell[3] = {c % mesh->cells[0], c / mesh->cells[0] % mesh->cells[1],
                                 c / mesh->cells[0] / mesh->cells[1]};
        const int owner = iot_mesh_cell_owner(mesh, cell);
        int64_t nodes[4];
        assert_in_range(owner, 0, mesh->nprocs - 1);
        iot_mesh_element_nodes(mesh, element, nodes);
        for (int i = 0; i < 4; i++)
            lowest[nodes[i]] = owner < lowest[nodes[i]] ? owner : lowest[nodes[i]];
    }
    return lowest;
}

static void check_order(const struct iot_mesh_list *list)
{
    for (int64_t i = 1; i < list->count; i++)
        assert_true(list->items[i - 1].number < list->items[i].number);
}

/* The nodes of a rank's elements, no more and no fewer; marks are `rank + 1`, so that one array serves all ranks. */
static void check_touched(const struct iot_mesh *mesh, const struct iot_mesh_part *part, int rank, int *marks)
{
    int64_t distinct = 0;
    for (int64_t i = 0; i < part->elements.count; i++) {
        int64_t nodes[4];
        iot_mesh_element_nodes(mesh, part->elements.items[i].natural, nodes);
        for (int j = 0; j < 4; j++) {
            distinct += marks[nodes[j]] != rank + 1;
            marks[nodes[j]] = rank + 1;
        }
    }
    assert_int_equal(part->touched.count, distinct);
    for (int64_t i = 0; i < part->touched.count; i++)
        assert_int_equal(marks[part->touched.items[i].natural], rank + 1);
}

static void check_part(const struct iot_mesh *mesh, int rank, const int *lowest, char *nodes, char *elements,
                       int *marks)
{
    struct iot_mesh_part part;
    struct pl_error error;
    int64_t most_elements, most_nodes;
    assert_int_equal(iot_mesh_part_init(mesh, rank, &part, &error), PL_OK);
    iot_mesh_most(mesh, &most_elements, &most_nodes);
    assert_true(part.elements.count <= most_elements && part.touched.count <= most_nodes);
    check_order(&part.elements);
    check_order(&part.nodes);
    check_order(&part.touched);
    check_touched(mesh, &part, rank, marks);
    for (int64_t i = 0; i < part.elements.count; i++)
        mark_once(elements, mesh->elements, part.elements.items[i].number);
    for (int64_t i = 0; i < part.nodes.count; i++) {
        const struct iot_mesh_item item = part.nodes.items[i];
        mark_once(nodes, mesh->nodes, item.number);
        assert_int_equal(item.number, iot_mesh_node_number(mesh, item.natural));
        assert_int_equal(lowest[item.natural], rank);
    }
    iot_mesh_part_clear(&part);
}

static void everything_owned_once(void **state)
{
    (void)state;
    for (int s = 0; s < SIZE_COUNT; s++)
        for (int r = 0; r < RANK_COUNT; r++) {
            const struct iot_mesh mesh = iot_mesh_make(SIZES[s], 50, (uint64_t)(s + r), RANKS[r]);
            char *nodes = calloc((size_t)mesh.nodes, 1), *elements = calloc((size_t)mesh.elements, 1);
            int *marks = calloc((size_t)mesh.nodes, sizeof *marks), *lowest = lowest_ranks(&mesh);
            for (int rank = 0; rank < RANKS[r]; rank++)
                check_part(&mesh, rank, lowest, nodes, elements, marks);
            assert_null(memchr(nodes, 0, (size_t)mesh.nodes));
            assert_null(memchr(elements, 0, (size_t)mesh.elements));
            free(nodes);
            free(elements);
            free(marks);
            free(lowest);
        }
}

/* Every rank that can have cells stands in the grid, and large blocks are near cubes. */
static void grids(void **state)
{
    (void)state;
    for (int s = 0; s < SIZE_COUNT; s++)
        for (int r = 0; r < RANK_COUNT; r++) {
            const struct iot_mesh mesh = iot_mesh_make(SIZES[s], 1, 1, RANKS[r]);
            assert_true(mesh.grid[0] * mesh.grid[1] * mesh.grid[2] <= RANKS[r]);
            for (int d = 0; d < 3; d++)
                assert_true(mesh.grid[d] >= 1 && mesh.grid[d] <= mesh.cells[d]);
        }
    const int64_t cube[3] = {100, 100, 100}, flat[3] = {400, 100, 1};
    const struct iot_mesh large = iot_mesh_make(cube, 1, 1, 64), plate = iot_mesh_make(flat, 1, 1, 16);
    assert_true(large.grid[0] == 4 && large.grid[1] == 4 && large.grid[2] == 4);
    assert_true(plate.grid[0] == 8 && plate.grid[1] == 2 && plate.grid[2] == 1);
}

/* Parts differ in size, but none is far from the mean; neighbours share nodes. */
static void parts_are_irregular(void **state)
{
    (void)state;
    const int64_t cells[3] = {24, 24, 24};
    const struct iot_mesh mesh = iot_mesh_make(cells, 4096, 9, 8);
    int64_t low = INT64_MAX, high = 0, touched = 0;
    for (int rank = 0; rank < 8; rank++) {
        struct iot_mesh_part part;
        struct pl_error error;
        assert_int_equal(iot_mesh_part_init(&mesh, rank, &part, &error), PL_OK);
        low = part.elements.count < low ? part.elements.count : low;
        high = part.elements.count > high ? part.elements.count : high;
        touched += part.touched.count;
        iot_mesh_part_clear(&part);
    }
    assert_true(low < high);
    assert_true(low > mesh.elements / 8 / 2 && high < mesh.elements / 8 * 2);
    assert_true(touched > mesh.nodes * 11 / 10);
}

/* 10^15 cells: numbers beyond 32 bits, and still any of them at once. */
static void far_out(void **state)
{
    (void)state;
    const int64_t cells[3] = {100000, 100000, 100000};
    const struct iot_mesh mesh = iot_mesh_make(cells, 4096, 1, 1000);
    const int64_t last[3] = {99999, 99999, 99999};
    int64_t nodes[4];
    double xyz[3];
    iot_mesh_element_nodes(&mesh, mesh.elements - 1, nodes);
    assert_int_equal(nodes[3], mesh.nodes - 1);
    iot_mesh_coordinates(&mesh, mesh.nodes - 1, xyz);
    assert_true(xyz[0] == 100000 && xyz[1] == 100000 && xyz[2] == 100000);
    assert_true(iot_mesh_node_number(&mesh, mesh.nodes - 1) / 4096 == (mesh.nodes - 1) / 4096);
    assert_true(iot_mesh_element_number(&mesh, mesh.elements - 1) < mesh.elements);
    assert_int_equal(iot_mesh_cell_owner(&mesh, last), 999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_permutations), cmocka_unit_test(numbers_are_irregular),
        cmocka_unit_test(tetrahedra_fill_cells),    cmocka_unit_test(moved_tetrahedra_fill_box),
        cmocka_unit_test(everything_owned_once),    cmocka_unit_test(grids),
        cmocka_unit_test(parts_are_irregular),      cmocka_unit_test(far_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
