/* What NAS BT-IO asks of a file, as arithmetic: no MPI call, no I/O.
 *
 * A grid of size^3 points, 5 doubles each, is dealt out by diagonal multi-partitioning to q^2 ranks, q cells each.
 * Every 5 time steps the whole grid is written behind the one before; at the end all dumps are read back. The file
 * holds dump after dump in the order component, x, y, z. Subtypes: full     one collective call a dump, through a view
 * of the rank's cells; offsets in etypes of 5 doubles simple   independent calls for one x-line of a cell each; offsets
 * in doubles epio     a file for each rank, one call for each cell: what is its own, dump after dump, cell after cell;
 * by UNIX calls with the record marks of Fortran, or by MPI-IO without */
#ifndef PIOLET_BENCH_APPS_BTIO_H
#define PIOLET_BENCH_APPS_BTIO_H

#include "bench/apps/apps.h"
#include "piolet/dist.h"

enum { BTIO_COMPONENTS = 5, BTIO_INTERVAL = 5, BTIO_POINT_BYTES = 40, BTIO_GHOST = 2, BTIO_CELL_LEAST = 3 };

enum btio_subtype { BTIO_FULL, BTIO_SIMPLE, BTIO_EPIO, BTIO_SUBTYPES };
enum btio_method { BTIO_POSIX, BTIO_MPI }; /* of epio; the others are MPI-IO */
/* Of a record that a Fortran program writes in one piece; and the bytes of both marks. */
enum { BTIO_RECORD_MOST = 2147483639, BTIO_MARK_BYTES = 8 };
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
    enum btio_method method;
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
int64_t btio_plan_side(const struct btio_plan *plan); /* of a cell in memory: room for the largest, and ghost points */
int64_t btio_plan_buffer_bytes(const struct btio_plan *plan); /* all cells, with their ghost points */
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

/* ---- one rank's cells in memory, and the datatypes that describe them ---- */

/* The grid of a rank as BT holds it: cell after cell, with room for the largest and 2 ghost points on every
 * side, so that what goes into the file is not contiguous in memory. */
struct btio_memory {
    double *values;         /* owned */
    MPI_Datatype point;     /* the etype: 5 doubles */
    MPI_Datatype filetype;  /* full: the cells in the grid */
    MPI_Datatype all_cells; /* full: the cells in memory */
    MPI_Datatype *cell;     /* epio: each cell from its first point on; owned */
    char *record;           /* epio by UNIX calls: one record; owned */
    int64_t cells;
};

/* Takes memory and makes the types that the subtype needs. btio_memory_clear() also after a failure. */
pl_status btio_memory_make(const struct btio_plan *plan, int rank, struct btio_memory *ret_memory,
                           struct pl_error *error);
void btio_memory_clear(struct btio_memory *memory);

/* First number of line (y, z) of a cell. */
double *btio_memory_line(const struct btio_plan *plan, const struct btio_memory *memory, int64_t cell, int64_t y,
                         int64_t z);

void btio_memory_fill(const struct btio_plan *plan, int rank, uint64_t seed, int64_t dump, struct btio_memory *memory);
void btio_memory_forget(const struct btio_plan *plan, struct btio_memory *memory);
pl_status btio_memory_check(const struct btio_plan *plan, int rank, uint64_t seed, int64_t dump,
                            const struct btio_memory *memory, struct pl_error *error);

/* ---- epio by UNIX calls: one record, timed ---- */

bool btio_plan_is_records(const struct btio_plan *plan);
pl_status btio_record_transfer(const struct btio_plan *plan, int rank, bool writes, int fd,
                               const struct btio_request *request, struct btio_memory *memory, struct apps_phase *phase,
                               struct pl_error *error);

/* ---- communication of a time step ---- */

struct btio_comm {
    int cells;                              /* of a rank */
    MPI_Comm solve, faces;                  /* the original has one for each kind */
    int before[3], behind[3];               /* neighbours along x, y, z */
    int face[6], elimination, substitution; /* numbers of the messages */
    double *sent, *received;                /* owned */
};

int64_t btio_comm_bytes(const struct btio_plan *plan); /* of memory */
/* btio_comm_clear_coll() also after a failure. */
pl_status btio_comm_make_coll(const struct btio_plan *plan, int rank, MPI_Comm world, struct btio_comm *comm,
                              struct pl_error *error);
void btio_comm_clear_coll(struct btio_comm *comm);
/* The exchange of faces alone; and a whole step, behind which all know whether anybody has failed. */
void btio_comm_faces_coll(struct btio_comm *comm);
bool btio_comm_step_coll(struct btio_comm *comm, bool failed);

#endif
