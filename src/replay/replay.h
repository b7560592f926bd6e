/* Replay: doing what a model says on a target, and measuring it.
 *
 * Every rank walks through the steps of the model and does those that are its own: the same calls with the same
 * arguments on files of its own making, in a folder that is made for it and removed. Meetings stand where the program
 * had communication. A rank that fails takes part with nothing until all meet; then all end. */
#ifndef PIOLET_REPLAY_REPLAY_H
#define PIOLET_REPLAY_REPLAY_H

#include "base/status.h"
#include "replay/replay_plan.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct replay_pair {
    const char *key, *value;
};

/* Computing before each call: none, as long as the program did but for REPLAY_SHORT_NS at most, as long as it did. */
enum replay_pace { REPLAY_FAST, REPLAY_SHORT, REPLAY_RECORDED };
#define REPLAY_SHORT_NS INT64_C(100000000)

struct replay_job {
    const char *model_path;
    const struct replay_plan *plan;
    char model_hash[32];
    const char *directory;           /* the target */
    const char *output;              /* the block file */
    const char *mpiio;               /* system or piolet, for the results */
    const struct replay_pair *hints; /* besides, or in the place of, those of the program */
    size_t hint_count;
    enum replay_pace pace;
    bool cold; /* drop the pages of a file before it is read */
    bool all;  /* no sampling */
    bool keep;
    int64_t repeat;        /* from 1 */
    double limit_s;        /* of a repetition: loops end early then; 0: none */
    int64_t start_wait_ns; /* how long this rank waited for the others when all were started */
};

/* A unit when it is over, on rank 0. */
struct replay_row {
    const struct replay_unit *unit;
    int64_t repetition, executed;
    double total_ns, low_ns, high_ns;
};

struct replay_observer {
    void *context;
    /* Outside of timed intervals: seconds since the repetition began, and what was done last. */
    void (*progress)(void *context, int64_t repetition, const struct replay_unit *unit, double elapsed_s);
    void (*row)(void *context, const struct replay_row *row);
    void (*note)(void *context, const char *text); /* what is not as in the program, on rank 0 */
};

/* Appends one block to job->output. Every rank calls; all succeed or all fail. */
pl_status replay_run_coll(MPI_Comm comm, const struct replay_job *job, const struct replay_observer *observer,
                          struct pl_error *error);

/* "/scratch, piolet, cb_nodes=2" */
void replay_label(const struct replay_job *job, struct text *text);

/* The hash of a model's steps, as its line `end-steps` has it, computed where a model by hand has none. */
void replay_model_hash(const struct model *model, char ret_hash[32]);

#endif
