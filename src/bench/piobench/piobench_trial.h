/* One trial: a contestant moves the data of a cell once. */
#ifndef PIOLET_BENCH_PIOBENCH_TRIAL_H
#define PIOLET_BENCH_PIOBENCH_TRIAL_H

#include "bench/piobench/piobench.h"
#include "measure/sample.h"
#include "mpi/coll.h"

#include <mpi.h>

/* What a rank needs for all trials of a cell. */
struct piobench_place {
    MPI_Comm comm; /* the ranks of the cell; borrowed */
    int rank, ranks;
    int64_t clock_offset_ns; /* of this rank's clock against that of rank 0 */
    const struct piobench_config *config;
    const struct piobench_cell *cell;
    piolet_dist *dist;
    MPI_Datatype filetype, memtype;
    int64_t count;      /* elements of this rank */
    uint64_t *elements; /* its data */
    uint64_t file_seed; /* of the data that the file holds; 0: unknown */
};

/* Takes memory and types, and writes the file so that every trial finds it there. Every rank of `comm` calls; the
 * answer is agreed. piobench_place_clear() is local. */
pl_status piobench_place_init_coll(struct piobench_place *place, MPI_Comm comm, const struct piobench_config *config,
                                   const struct piobench_cell *cell, struct pl_error *error,
                                   struct coll_verdict *ret_verdict);
void piobench_place_clear(struct piobench_place *place);

struct piobench_trial {
    struct piobench_place *place;
    const struct piobench_contestant *contestant;
    int number; /* from 1 */
    bool check;
    uint64_t seed; /* of the data that it writes */
    /* results */
    struct samples samples;
    double total_ns;            /* from the first start to the last end; the same on all ranks */
    struct text used, warnings; /* notes, on rank 0 */
};

/* The answer is agreed; ret_verdict tells who failed. The caller clears with piobench_trial_clear(). */
pl_status piobench_trial_run_coll(struct piobench_trial *trial, struct pl_error *error,
                                  struct coll_verdict *ret_verdict);
void piobench_trial_clear(struct piobench_trial *trial);

/* ---- how data are moved ---- */

/* An open file: POSIX or MPI-IO. */
struct piobench_file {
    int descriptor;
    MPI_File handle;
};

/* The calls of one kind of access. Each may fail on one rank alone; the caller agrees after it. */
struct piobench_mover {
    pl_status (*open_coll)(struct piobench_trial *trial, struct piobench_file *file, struct pl_error *error);
    pl_status (*ready_coll)(struct piobench_trial *trial, struct piobench_file *file, struct pl_error *error);
    pl_status (*move_coll)(struct piobench_trial *trial, struct piobench_file *file, struct pl_error *error);
    pl_status (*sync_coll)(struct piobench_trial *trial, struct piobench_file *file, struct pl_error *error);
    pl_status (*close_coll)(struct piobench_trial *trial, struct piobench_file *file, struct pl_error *error);
};

extern const struct piobench_mover PIOBENCH_MOVER_POSIX, PIOBENCH_MOVER_MPIIO;

/* A remark for the set of this trial. */
void piobench_trial_warn(struct piobench_trial *trial, const char *text);

/* ---- data: every 8 bytes of the file tell their place and who wrote them ---- */

uint64_t piobench_data_at(uint64_t seed, int64_t element);
/* This rank's elements, in the order of its buffer. */
void piobench_data_fill(struct piobench_place *place, uint64_t seed);
/* The first element that is not as it should be is told in *error. */
pl_status piobench_data_check(const struct piobench_place *place, uint64_t seed, struct pl_error *error);
/* This rank's share of the whole file, read or written side by side by POSIX calls. Local. */
pl_status piobench_data_check_file(const struct piobench_place *place, uint64_t seed, struct pl_error *error);
pl_status piobench_data_write_file(const struct piobench_place *place, uint64_t seed, struct pl_error *error);

/* ---- clock ---- */

int64_t piobench_clock_ns(void);

/* One exchange with another rank: sent and received by our clock, answered at by its. */
struct piobench_ping {
    int64_t sent_ns, answered_ns, received_ns;
};
/* How far the other clock is ahead, from the exchange that took least. Pure. */
int64_t piobench_clock_estimate(const struct piobench_ping *pings, int count);

/* How far this rank's clock is ahead of rank 0's: 0 where all ranks are on one node. */
int64_t piobench_clock_offset_coll(MPI_Comm comm, bool *ret_one_node);

#endif
