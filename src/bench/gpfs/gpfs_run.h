/* All cells, repetition by repetition, into a block file. */
#ifndef PIOLET_BENCH_GPFS_RUN_H
#define PIOLET_BENCH_GPFS_RUN_H

#include "base/blockfile.h"
#include "bench/gpfs/gpfs.h"
#include "mpi/coll.h"

#include <mpi.h>

/* What a contestant has reached in a cell. */
struct gpfs_tally {
    double rates[GPFS_REPS_MAX]; /* MB/s */
    int count;
    bool failed; /* no more repetitions */
};

/* What rank 0 tells whoever watches. */
struct gpfs_event {
    const struct gpfs_config *config;
    const struct gpfs_cell *cell;
    int number, cells;                /* from 1 */
    const struct gpfs_tally *tallies; /* of the contestants */
    double left_s;                    /* estimate; negative: not known yet */
    /* of a repetition that failed */
    const struct gpfs_contestant *contestant; /* NULL: of all */
    const struct coll_verdict *verdict;
};

struct gpfs_observer {
    void *context;
    void (*begin)(void *context, const struct gpfs_event *event);  /* before a cell */
    void (*failed)(void *context, const struct gpfs_event *event); /* after a repetition that failed */
    void (*end)(void *context, const struct gpfs_event *event);    /* after a cell */
};

struct gpfs_job {
    const struct gpfs_config *config;
    const struct gpfs_cells *cells;
    const char *output;              /* block file */
    bool overwrite;                  /* a test file that is there and not ours */
    const struct blockfile *earlier; /* rank 0: what an earlier run measured counts; NULL: nothing */
    const struct gpfs_observer *observer;
};

/* Every rank of `world` calls, which has at least as many ranks as the largest cell. A repetition that fails is told
 * in the results and counted; other failures end the run. The answer is agreed. */
pl_status gpfs_run_coll(MPI_Comm world, const struct gpfs_job *job, int64_t *ret_failed, struct pl_error *error);

/* The settings of the last block of these benchmarks in a file; PL_E_INPUT where there is none. */
pl_status gpfs_results_config(const struct blockfile *file, struct gpfs_config *ret_config, struct pl_error *error);
/* Adds the repetitions of a cell that a file holds, of this MPI. Those that failed are left out: they are tried again.
 */
void gpfs_results_count(const struct blockfile *file, const struct gpfs_config *config, const struct gpfs_cell *cell,
                        struct gpfs_tally *tallies);
/* The cell of a set, but for what its parameters do not tell; false where one is missing. */
bool gpfs_results_cell(const struct gpfs_benchmark *benchmark, const struct blockfile_set *set,
                       struct gpfs_cell *ret_cell);

/* Before a run: a regular file that may be overwritten, or room to make one, and the largest must fit. Local. */
pl_status gpfs_run_check_place(const struct gpfs_config *config, const struct gpfs_cells *cells, bool overwrite,
                               struct pl_error *error);

#endif
