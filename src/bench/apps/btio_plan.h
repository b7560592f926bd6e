/* What NAS BT-IO asks of a file, as arithmetic: no MPI call, no I/O.
 *
 * A grid of size^3 points, 5 doubles each, is dealt out by diagonal multi-partitioning to q^2 ranks, q cells each.
 * Every 5 time steps the whole grid is written behind the one before; at the end all dumps are read back. The file
 * holds dump after dump in the order component, x, y, z. Subtypes: full     one collective call a dump, through a view
 * of the rank's cells; offsets in etypes of 5 doubles simple   independent calls for one x-line of a cell each; offsets
 * in doubles epio     a file for each rank, one call for each cell: what is its own, dump after dump, cell after cell
 */
#ifndef PIOLET_BENCH_APPS_BTIO_PLAN_H
#define PIOLET_BENCH_APPS_BTIO_PLAN_H

#include "base/status.h"
#include "bench/apps/apps.h"
#include "piolet/dist.h"

enum { BTIO_COMPONENTS = 5, BTIO_INTERVAL = 5, BTIO_POINT_BYTES = 40, BTIO_GHOST = 2, BTIO_CELL_LEAST = 3 };

enum btio_subtype { BTIO_FULL, BTIO_SIMPLE, BTIO_EPIO, BTIO_SUBTYPES };
extern const char *const BTIO_SUBTYPE_NAMES[BTIO_SUBTYPES];

struct btio_class {
    const char *name;
    int64_t size;  /* points along each side */
    int64_t steps; /* time steps */
};
extern const struct btio_class BTIO_CLASSES[]; /* ends with a NULL name */

struct btio_options {
    const struct btio_class *class;
    enum btio_subtype subtype;
    int64_t dumps; /* 0: all of the class */
    bool reads;
    int64_t compute_ms; /* before each dump */
};

struct btio_plan {
    struct btio_options options; /* dumps filled in */
    int ranks;
    int64_t cells;    /* of a rank: q */
    int64_t cell_max; /* points along the longest side of a cell */
    piolet_dist *dist;
};

/* Refuses numbers of ranks that are no squares, cells too small, more dumps than the class has. */
pl_status btio_plan_make(const struct btio_options *options, int ranks, struct btio_plan *ret_plan,
                         struct pl_error *error);
void btio_plan_clear(struct btio_plan *plan);

/* Cell `number` of a rank: where it begins in the grid, and its points along x, y and z. */
struct btio_cell {
    int64_t low[3];
    int64_t size[3];
};
struct btio_cell btio_plan_cell(const struct btio_plan *plan, int rank, int64_t number);

int64_t btio_plan_points(const struct btio_plan *plan, int rank);   /* of all cells */
int64_t btio_plan_requests(const struct btio_plan *plan, int rank); /* of a rank in each dump */
int64_t btio_plan_buffer_bytes(const struct btio_plan *plan);       /* all cells, with their ghost points */
/* Bytes of every request, where all have the same; 0 where cells differ. */
int64_t btio_plan_even_bytes(const struct btio_plan *plan);
struct apps_cost btio_plan_cost(const struct btio_plan *plan);

/* ---- the requests of a rank in one dump, in order ---- */

struct btio_request {
    int64_t offset; /* as passed to MPI: full: etypes of the view; simple: doubles; epio: bytes of the own file */
    int64_t bytes;
    int64_t cell;   /* simple, epio */
    int64_t row[2]; /* simple: y and z within the cell */
};

struct btio_walk {
    const struct btio_plan *plan; /* the rest is private */
    int rank;
    int64_t dump, cell, row[2], behind;
    struct btio_cell at;
};

void btio_walk_begin(struct btio_walk *walk, const struct btio_plan *plan, int rank, int64_t dump);
bool btio_walk_next(struct btio_walk *walk, struct btio_request *ret_request);

/* ---- the data: a function of component, point and dump, so that any rank may write or check it ---- */

/* Number of the point in the grid, x fastest. */
int64_t btio_plan_point(const struct btio_plan *plan, int64_t x, int64_t y, int64_t z);
double btio_value(uint64_t seed, int64_t dump, int64_t point, int component);

#endif
