/* Inside BT-IO: one rank's cells in memory, the datatypes that describe them, and the calls of one dump. */
#ifndef PIOLET_BENCH_APPS_BTIO_IO_H
#define PIOLET_BENCH_APPS_BTIO_IO_H

#include "bench/apps/btio_plan.h"

/* The grid of a rank as BT holds it: cell after cell, each as large as the largest and with 2 ghost points on every
 * side, so that what goes into the file is not contiguous in memory. */
struct btio_memory {
    double *values;         /* owned */
    MPI_Datatype point;     /* the etype: 5 doubles */
    MPI_Datatype filetype;  /* full: the cells in the grid */
    MPI_Datatype all_cells; /* full: the cells in memory */
    MPI_Datatype *cell;     /* epio: each cell from its first point on; owned */
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

/* Makes all requests of one dump, writing or reading. `takes_part` false: a rank that failed before goes on in
 * collective calls, with nothing. Every rank calls. */
pl_status btio_io_dump_coll(const struct btio_plan *plan, int rank, int64_t dump, bool writes, bool takes_part,
                            MPI_File file, const struct btio_memory *memory, struct apps_phase *phase,
                            struct pl_error *error);

#endif
