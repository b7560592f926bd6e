/* Measuring all sets on all targets. */
#ifndef PIOLET_BENCH_PEAK_RUN_H
#define PIOLET_BENCH_PEAK_RUN_H

#include "bench/peak/peak_target.h"
#include "mpi/coll.h"

struct peak_event {
    const char *io_node;
    const struct peak_set *set;
    int number, sets;                   /* from 1, over all targets of this run */
    double elapsed_s, limit_s;          /* of the whole run */
    const struct coll_verdict *verdict; /* failed() only */
};

/* Called on rank 0. */
struct peak_observer {
    void *context;
    void (*begin)(void *context, const struct peak_event *event);
    void (*failed)(void *context, const struct peak_event *event);
};

struct peak_job {
    const struct peak_config *config;
    const char *output;
    const struct peak_observer *observer;
};

/* Looks at all targets, then measures one after the other; each set is in the results as soon as it is measured. A set
 * that fails ends its target and counts in *ret_failed. *ret_began: false where nothing was run, since something is not
 * as it must be. */
pl_status peak_run_coll(MPI_Comm world, const struct peak_job *job, bool *ret_began, int64_t *ret_failed,
                        struct pl_error *error);

#endif
