/* The state of a run, and of the I/O node that is measured now. For the files peak_*.c of a run only. */
#ifndef PIOLET_BENCH_PEAK_COURSE_H
#define PIOLET_BENCH_PEAK_COURSE_H

#include "base/blockfile.h"
#include "bench/peak/peak_meta.h"
#include "bench/peak/peak_run.h"
#include "measure/devices.h"

enum { PEAK_NODE_MAX = PATH_MAX + 128 };

struct peak_state {
    const struct peak_job *job;
    MPI_Comm world, node; /* node: the ranks of this host */
    int rank, size, node_rank, node_size;
    int host, host_count;            /* which host this is */
    struct peak_target *targets;     /* owned; one for each directory */
    struct blockfile_writer *writer; /* rank 0 */
    struct peak_set sets[PEAK_SETS_MAX];
    int set_count;
    int number, number_count; /* sets begun; of all targets */
    double began;
    int64_t failed;
};

/* One I/O node: a directory, on one host or on all. */
struct peak_course {
    struct peak_state *state;
    const struct peak_target *target;
    char io_node[PEAK_NODE_MAX];
    bool active; /* this rank takes part */
    int processes, leader;
    int64_t file_bytes; /* of this process, as planned */
    struct peak_file file;
    struct peak_meta meta;
    struct devices *devices; /* rank 0, where it is on that host */
    int64_t start_ns;        /* CLOCK_REALTIME */
    double began, limit_s;   /* of this course */
    bool stopped;            /* a set failed */
};

/* The head of the block. */
pl_status peak_head_coll(struct peak_course *course, struct pl_error *error);
/* Measures one set and writes it; a set that fails sets `stopped`. Fails where results cannot be written. */
pl_status peak_set_coll(struct peak_course *course, int index, struct pl_error *error);

#endif
