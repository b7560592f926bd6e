/* One pattern type in one access method: opens its file, measures its patterns one after the other, closes. */
#ifndef PIOLET_BENCH_BEFFIO_TYPE_H
#define PIOLET_BENCH_BEFFIO_TYPE_H

#include "bench/beffio/beffio_loop.h"
#include "bench/beffio/beffio_result.h"
#include "bench/beffio/beffio_run.h"

/* Where a run stands. */
struct beffio_stage {
    const struct beffio_config *config;
    const char *run;
    struct beffio_results *results; /* of this run and of what it resumes; the same on all ranks of a partition */
    const struct beffio_observer *observer;
    struct blockfile_writer *writer; /* rank 0 */
    int node_ranks;
    struct iot_data data;
    double *buffer;
    /* of the moment */
    int path;
    MPI_Comm comm;
    int rank, nprocs;
    enum beffio_method method;
    /* for the observer */
    int64_t number, patterns;
    double left_s;
    int64_t failed; /* pattern types */
};

/* Passes over what an earlier run has measured. A type that fails is recorded and closed, and PL_OK returned; another
 * status means that results cannot be written. */
pl_status beffio_type_run_coll(struct beffio_stage *stage, int type, struct pl_error *error);

/* All its patterns are there, or one failed. */
bool beffio_type_is_done(const struct beffio_results *results, int path, int partition, enum beffio_method method,
                         int type);

/* Removes the files of all types of this partition and path. Local. */
void beffio_type_remove_all(struct beffio_stage *stage);

#endif
