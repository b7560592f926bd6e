/* An unstructured mesh of tetrahedra and its partition, computed instead of stored. Pure.
 *
 * A box of cells is cut into six tetrahedra each; nodes are moved off the lattice, and nodes and elements are numbered
 * anew, at random within windows: the larger the window, the less two neighbours' numbers have to do with each other.
 * "Natural" numbers are those of the lattice, x fastest; files know only the new ones. All of this depends on cells,
 * window and seed alone, so that any number of ranks makes the same mesh.
 *
 * The partition deals blocks of cells to a grid of ranks. Blocks differ in size and their faces are ragged, as a graph
 * partitioner leaves them. An element belongs to one rank; a node to the lowest rank with an element that touches it.
 */
#ifndef PIOLET_BENCH_IOT_MESH_H
#define PIOLET_BENCH_IOT_MESH_H

#include "base/status.h"

#include <stdint.h>

enum { IOT_MESH_TETRAHEDRA = 6 /* of a cell */ };

struct iot_mesh {
    int64_t cells[3]; /* along each axis */
    int64_t nodes, elements;
    int64_t window;
    uint64_t seed;
    int nprocs;
    int grid[3]; /* ranks along each axis; those beyond the product own nothing */
};

/* At most so many cells that 64 bits count bytes of the file: the caller looks after that. */
struct iot_mesh iot_mesh_make(const int64_t cells[3], int64_t window, uint64_t seed, int nprocs);

/* ---- the mesh: everything by natural numbers ---- */

int64_t iot_mesh_node_number(const struct iot_mesh *mesh, int64_t node);
int64_t iot_mesh_element_number(const struct iot_mesh *mesh, int64_t element);

/* A cell has edges of length 1; the box's faces stay flat, and every tetrahedron keeps a positive volume. */
void iot_mesh_coordinates(const struct iot_mesh *mesh, int64_t node, double ret_xyz[3]);

/* Element 6c + t is tetrahedron t of cell c; its nodes in positive orientation. */
void iot_mesh_element_nodes(const struct iot_mesh *mesh, int64_t element, int64_t ret_nodes[4]);

/* ---- the partition ---- */

int iot_mesh_cell_owner(const struct iot_mesh *mesh, const int64_t cell[3]);

/* No rank has more, whatever the seed. */
void iot_mesh_most(const struct iot_mesh *mesh, int64_t *ret_elements, int64_t *ret_nodes);

struct iot_mesh_item {
    int64_t number; /* the place in the file */
    int64_t natural;
};

/* Numbers ascend, as MPI wants the pieces of a filetype. */
struct iot_mesh_list {
    struct iot_mesh_item *items; /* owned */
    int64_t count;
};

struct iot_mesh_part {
    struct iot_mesh_list elements; /* that the rank owns */
    struct iot_mesh_list nodes;    /* that it owns */
    struct iot_mesh_list touched;  /* nodes of its elements, also those that others own */
};

/* Memory and time grow with the rank's part only. Clear it in any case. */
pl_status iot_mesh_part_init(const struct iot_mesh *mesh, int rank, struct iot_mesh_part *ret_part,
                             struct pl_error *error);
void iot_mesh_part_clear(struct iot_mesh_part *part);

#endif
