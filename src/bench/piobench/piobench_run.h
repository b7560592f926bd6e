/* The whole matrix, trial by trial, into a block file. */
#ifndef PIOLET_BENCH_PIOBENCH_RUN_H
#define PIOLET_BENCH_PIOBENCH_RUN_H

#include "bench/piobench/piobench.h"
#include "mpi/coll.h"

#include <mpi.h>

/* What rank 0 tells whoever watches. */
struct piobench_event {
    const struct piobench_cell *cell;
    int number, cells; /* from 1 */
    const struct piobench_config *config;
    const struct piobench_tally *tallies; /* of this cell's contestants */
    double left_s;                        /* estimate; negative: not known yet */
    /* of a failed trial */
    const struct piobench_contestant *contestant;
    const struct coll_verdict *verdict;
};

struct piobench_observer {
    void *context;
    void (*begin)(void *context, const struct piobench_event *event);  /* before a cell */
    void (*failed)(void *context, const struct piobench_event *event); /* after a trial that failed */
    void (*end)(void *context, const struct piobench_event *event);    /* after a cell */
};

struct piobench_job {
    const struct piobench_config *config;
    const struct piobench_matrix *matrix;
    const char *mpi;                /* names this launch in the results: mpich, openmpi, … */
    const char *output;             /* block file */
    bool overwrite;                 /* a test file that is there and not ours */
    struct piobench_tally *tallies; /* rank 0: of earlier runs; cell by cell, contestant by contestant */
    int only_cell;                  /* -1: all */
    int round;                      /* > 0: only trials of this number, by those who have all before it */
    const struct piobench_observer *observer;
};

/* Every rank of `world` calls, which has at least as many ranks as the largest cell. A trial that fails is told in the
 * results and counted; other failures end the run. The answer is agreed. */
pl_status piobench_run_coll(MPI_Comm world, const struct piobench_job *job, int64_t *ret_failed,
                            struct pl_error *error);

/* The test file is a regular one that may be overwritten, or can be made, and the largest fits. One rank calls, before
 * the run. */
pl_status piobench_run_check_place(const struct piobench_config *config, const struct piobench_matrix *matrix,
                                   bool overwrite, struct pl_error *error);

/* A contestant that cannot take part in a cell: broadcasting where ranks want different things. */
bool piobench_run_takes_part(const struct piobench_contestant *contestant, const struct piobench_cell *cell);

#endif
