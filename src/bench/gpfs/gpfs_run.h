/* All cells, repetition by repetition, into a block file. */
#ifndef PIOLET_BENCH_GPFS_RUN_H
#define PIOLET_BENCH_GPFS_RUN_H

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
    const char *output; /* block file */
    const struct gpfs_observer *observer;
};

/* Every rank of `world` calls, which has at least as many ranks as the largest cell. A repetition that fails is told
 * in the results and counted; other failures end the run. The answer is agreed. */
pl_status gpfs_run_coll(MPI_Comm world, const struct gpfs_job *job, int64_t *ret_failed, struct pl_error *error);

/* Before a run: a regular file, or room to make one, and the largest must fit. Local. */
pl_status gpfs_run_check_place(const struct gpfs_config *config, const struct gpfs_cells *cells,
                               struct pl_error *error);

#endif
