/* One repetition: a contestant moves the data of a cell once. */
#ifndef PIOLET_BENCH_GPFS_TRIAL_H
#define PIOLET_BENCH_GPFS_TRIAL_H

#include "bench/gpfs/gpfs.h"
#include "measure/sample.h"
#include "mpi/coll.h"

#include <mpi.h>

/* What a rank needs for all repetitions of a cell. */
struct gpfs_place {
    MPI_Comm comm; /* the ranks of the cell; borrowed */
    int rank, ranks;
    const struct gpfs_config *config;
    const struct gpfs_cell *cell;
    struct gpfs_plan plan;
    char *data;         /* its pieces, one behind the other */
    uint64_t file_seed; /* of what the file holds where nobody writes */
    int64_t *touched;   /* writing: pieces of all ranks that reach into this rank's share of the file, ascending */
    int64_t touched_count;
    int thread_level;    /* that the MPI gave */
    double spins_per_us; /* of the computation of threads */
};

/* Takes memory, makes the lists, and writes the file, unless it `is_ready` and has the contents already. Every rank of
 * `comm` calls; the answer is agreed. gpfs_place_clear() is local. */
pl_status gpfs_place_init_coll(struct gpfs_place *place, MPI_Comm comm, const struct gpfs_config *config,
                               const struct gpfs_cell *cell, bool is_ready, struct pl_error *error,
                               struct coll_verdict *ret_verdict);
/* The file as it was, after a repetition that may have spoilt it. */
pl_status gpfs_place_mend_coll(const struct gpfs_place *place, struct pl_error *error,
                               struct coll_verdict *ret_verdict);
void gpfs_place_clear(struct gpfs_place *place);

/* Of the contents that reading expects, and that lie between what is written. */
uint64_t gpfs_place_seed(const struct gpfs_config *config, const struct gpfs_cell *cell);

struct gpfs_trial {
    struct gpfs_place *place;
    const struct gpfs_contestant *contestant;
    int number;    /* of the repetition, from 1 */
    uint64_t seed; /* of the data that it writes */
    /* results */
    struct samples samples;
    double total_ns;  /* of the job: the same on all ranks */
    struct text used; /* notes, on rank 0 */
};

/* The answer is agreed; ret_verdict tells who failed. The caller clears with gpfs_trial_clear(). */
pl_status gpfs_trial_run_coll(struct gpfs_trial *trial, struct pl_error *error, struct coll_verdict *ret_verdict);
void gpfs_trial_clear(struct gpfs_trial *trial);

/* ---- how data are moved ---- */

/* An open file: POSIX or MPI-IO. */
struct gpfs_file {
    int descriptor;
    MPI_File handle;
};

/* The calls of one kind of access. Each may fail on one rank alone; the caller agrees behind it. */
struct gpfs_mover {
    pl_status (*open_coll)(struct gpfs_trial *trial, struct gpfs_file *file, struct pl_error *error);
    /* Not timed: what is in force is looked up, and space allocated. */
    pl_status (*ready_coll)(struct gpfs_trial *trial, struct gpfs_file *file, struct pl_error *error);
    /* Timed. The one view of all calls. */
    pl_status (*view_coll)(struct gpfs_trial *trial, struct gpfs_file *file, struct pl_error *error);
    /* Timed. One call of the plan; collective where the cell says so, or has a view for each. */
    pl_status (*call)(const struct gpfs_trial *trial, struct gpfs_file *file, int64_t call, struct pl_error *error);
    pl_status (*sync_coll)(struct gpfs_trial *trial, struct gpfs_file *file, struct pl_error *error);
    pl_status (*close_coll)(struct gpfs_trial *trial, struct gpfs_file *file, struct pl_error *error);
};

extern const struct gpfs_mover GPFS_MOVER_POSIX, GPFS_MOVER_MPIIO;

/* All calls of the plan, by as many threads as the cell asks for. */
pl_status gpfs_calls_run_coll(struct gpfs_trial *trial, const struct gpfs_mover *mover, struct gpfs_file *file,
                              struct pl_error *error);
/* What the threads compute, without the calls; in seconds. */
double gpfs_calls_compute_alone(const struct gpfs_place *place);
/* How fast this machine computes. */
double gpfs_calls_spins_per_us(void);

/* ---- contents ---- */

/* Every byte of a file tells its place and who wrote it. */
void gpfs_data_fill(char *to, int64_t offset, int64_t bytes, uint64_t seed);
/* The first of `bytes` that is not as gpfs_data_fill() would have it, or -1. */
int64_t gpfs_data_differs(const char *data, int64_t offset, int64_t bytes, uint64_t seed);

void gpfs_data_fill_pieces(const struct gpfs_place *place, uint64_t seed);
/* What was read. */
pl_status gpfs_data_check_pieces(const struct gpfs_place *place, struct pl_error *error);
/* Makes the list place->touched. */
pl_status gpfs_data_touched(struct gpfs_place *place, struct pl_error *error);
/* This rank's share of the file; POSIX calls only. */
pl_status gpfs_data_write_file(const struct gpfs_place *place, struct pl_error *error);
pl_status gpfs_data_check_file(const struct gpfs_place *place, uint64_t seed, struct pl_error *error);
/* Rank 0: no file is there. */
pl_status gpfs_data_remove(const struct gpfs_place *place, struct pl_error *error);

#endif
