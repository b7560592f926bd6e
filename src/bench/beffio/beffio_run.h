/* Runs b_eff_io: every path, partition, access method, pattern type and pattern, a set of results for each pattern. */
#ifndef PIOLET_BENCH_BEFFIO_RUN_H
#define PIOLET_BENCH_BEFFIO_RUN_H

#include "bench/beffio/beffio_config.h"
#include "bench/beffio/beffio_result.h"
#include "mpi/coll.h"

#include <mpi.h>

enum { BEFFIO_RUN_ID_MAX = 20 };

/* What rank 0 tells whoever watches. */
struct beffio_event {
    const char *path;
    const struct beffio_result *result; /* before a pattern: what is known of it */
    const struct coll_verdict *verdict; /* behind it; NULL before */
    int64_t number, patterns;           /* of the whole run, from 1 */
    double left_s;                      /* by the schedule */
};

struct beffio_observer {
    void *context;
    void (*begin)(void *context, const struct beffio_event *event);
    void (*end)(void *context, const struct beffio_event *event);
};

/* What is run. Rank 0's counts: it is sent to the others. */
struct beffio_job {
    struct beffio_config config;
    const char *output;              /* block file, appended to */
    char run[BEFFIO_RUN_ID_MAX];     /* name of the run, in its blocks and files; "": a new one */
    char resumes[BEFFIO_RUN_ID_MAX]; /* id of the block that this run goes on from; "": none */
    struct beffio_results done;      /* what an earlier run measured */
};

void beffio_job_clear(struct beffio_job *job);

/* Takes the last run of `path` up again: its settings and results. Local. PL_E_INPUT: a setting was changed, or there
 * is nothing to resume. */
pl_status beffio_job_resume(struct beffio_job *job, const char *path, struct pl_error *error);

/* Fills in what was left open: folder, partitions, memory, seed. Local. `ranks`: of the job. */
pl_status beffio_job_complete(struct beffio_job *job, int ranks, struct pl_error *error);

/* Gives rank 0's job to all. */
pl_status beffio_job_share_coll(struct beffio_job *job, MPI_Comm world, struct pl_error *error);

/* Patterns that the run will measure for one partition, and the seconds that they are scheduled for. */
int beffio_job_patterns(const struct beffio_config *config);
double beffio_job_seconds(const struct beffio_config *config);

/* *ret_failed counts the pattern types that failed. Another status than PL_OK: the run had to stop. */
pl_status beffio_run_coll(MPI_Comm world, struct beffio_job *job, const struct beffio_observer *observer,
                          int64_t *ret_failed, struct pl_error *error);

/* Is this pattern part of a run with these settings? */
bool beffio_is_wanted(const struct beffio_config *config, enum beffio_method method, int type);

#endif
