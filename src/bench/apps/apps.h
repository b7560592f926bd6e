/* Application kernels: the I/O of known programs without their computation, request by request as they make it.
 *
 * A kernel is a pure plan (btio_plan.h, madbench_plan.h) that lists the requests of every rank, and a run_coll() that
 * makes them. Here is what surrounds a run: the results, the test files, the timings, the agreement of the ranks. */
#ifndef PIOLET_BENCH_APPS_APPS_H
#define PIOLET_BENCH_APPS_APPS_H

#include "base/blockfile.h"
#include "base/status.h"
#include "base/text.h"
#include "measure/sample.h"
#include "mpi/coll.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { APPS_PHASES_MAX = 4, APPS_PATH_MAX = 4096 };

struct apps_pair {
    const char *key;
    const char *value;
};

/* What the user asks of any kernel. The texts belong to the caller. */
struct apps_job {
    const char *file;   /* the test file; of kernels with a file for each rank, the beginning of their names */
    const char *output; /* the block file */
    const struct apps_pair *hints;
    size_t hint_count;
    const struct apps_pair *inputs; /* the command line, for the results */
    size_t input_count;
    int64_t repeat;
    bool keep;      /* leave the test files behind */
    bool overwrite; /* files that are there and not ours */
    uint64_t seed;
};

/* What is known of a run beforehand, the same for every repetition. */
struct apps_cost {
    int64_t file_bytes; /* of all test files together */
    int64_t write_bytes, read_bytes;
    int64_t memory_bytes;   /* of the rank that needs most */
    int64_t write_requests; /* of all ranks */
    int64_t read_requests;
};

/* Operations of one kind: each is timed, and all are summed up in a row. */
struct apps_phase {
    char key[SAMPLE_NAME_MAX];
    struct sample_series *series;
    int64_t bytes; /* that this rank has moved */
};

/* A phase over all ranks, on rank 0: seconds that a rank spent in its operations. */
struct apps_row {
    char key[SAMPLE_NAME_MAX];
    int64_t requests, bytes;
    double mean_s, min_s, max_s;
    double rate_mb_per_s; /* bytes / the longest rank's time */
};

struct apps_observer {
    void *context;
    /* On rank 0, outside of timed intervals: `done` of `total` parts of the repetition. */
    void (*progress)(void *context, int64_t repetition, int64_t done, int64_t total, double elapsed_s);
    /* On rank 0, behind a repetition: its rows, and how it went. */
    void (*end)(void *context, int64_t repetition, const struct apps_row *rows, int count,
                const struct coll_verdict *verdict);
};

/* One repetition while it runs. */
struct apps_run {
    const struct apps_job *job;
    const struct apps_observer *observer;
    MPI_Comm comm;
    int rank, nprocs, node_ranks;
    int64_t repetition; /* from 1 */
    double began;
    MPI_Info info; /* the hints asked for */
    struct samples samples;
    struct apps_phase phases[APPS_PHASES_MAX];
    int phase_count;
    struct text hints_used; /* notes (base/notes.h) */
};

struct apps_kernel {
    const char *name;
    const void *plan;
    struct apps_cost cost;
    bool own_files; /* one for each rank */
    /* Lines `param` of the results, on rank 0. */
    void (*params)(const void *plan, struct blockfile_writer *writer);
    /* Every rank calls; all succeed or all fail. */
    pl_status (*run_coll)(struct apps_run *run, const void *plan, struct pl_error *error,
                          struct coll_verdict *ret_verdict);
};

/* Runs all repetitions on files that were taken (apps_file_take()), each appended to the results when it is measured.
 * *ret_failed counts those that failed; a status other than PL_OK means that the run had to stop (no clock, results not
 * writable). */
pl_status apps_run_coll(MPI_Comm comm, const struct apps_job *job, const struct apps_kernel *kernel,
                        const struct apps_observer *observer, int64_t *ret_failed, struct pl_error *error);

void apps_progress(const struct apps_run *run, int64_t done, int64_t total);

/* ---- phases (apps_phase.c) ---- */

/* Every rank adds the same phases in the same order, whatever else has failed. */
pl_status apps_phase_add(struct apps_run *run, const char *key, int64_t capacity, struct apps_phase **ret_phase,
                         struct pl_error *error);
/* One operation, begun at `begin_s`. */
void apps_phase_note(struct apps_phase *phase, double begin_s, int64_t bytes);
void apps_phase_sum_coll(const struct apps_run *run, const struct apps_phase *phase, struct apps_row *ret_row);

/* ---- test files (apps_file.c); local ---- */

/* The test file of a rank: FILE, or its own "FILE.RANK", as wide as the highest rank needs. */
pl_status apps_file_name(const struct apps_job *job, bool own, int rank, int nprocs, char ret_name[APPS_PATH_MAX],
                         struct pl_error *error);
/* Before any I/O: is one of the files somebody's? Any process may ask for all ranks. */
pl_status apps_file_check(const struct apps_job *job, bool own, int nprocs, struct pl_error *error);
/* The rank's own file, or on rank 0 the shared one, is looked after until testfile_end(). */
pl_status apps_file_take(const struct apps_job *job, bool own, int rank, int nprocs, struct pl_error *error);
/* What a failed repetition left is of no use: its room is needed. */
void apps_file_drop(const struct apps_job *job, bool own, int rank, int nprocs);
/* Removes what stands at the place of a test file; refuses too little space for `bytes`. */
pl_status apps_file_clear(const char *name, int64_t bytes, struct pl_error *error);
/* Refuses memory that the node cannot have. */
pl_status apps_file_memory(const struct apps_run *run, int64_t bytes, struct pl_error *error);
/* Keeps the hints in force, on rank 0. */
void apps_file_note_hints(struct apps_run *run, MPI_File file);

#endif
