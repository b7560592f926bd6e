/* Application kernels: the I/O of known programs without their computation, request by request as they make it.
 *
 * A kernel is a pure plan (btio.h, madbench.h) that lists the requests of every rank, and a run_coll() that
 * makes them. Here is what surrounds a run: the results, the test files, the timings, the agreement of the ranks. */
#ifndef PIOLET_BENCH_APPS_APPS_H
#define PIOLET_BENCH_APPS_APPS_H

#include "lab/runner/lab.h"

enum { APPS_PHASES_MAX = 4, APPS_PATH_MAX = 4096 };

/* The options of every kernel: the first member of a kernel's own. */
struct apps_options {
    const char *given_file; /* --file */
    int64_t repeat, seed;
    /* made by apps_prepare() */
    char file[APPS_PATH_MAX]; /* the test file; of kernels with a file for each rank, the beginning of their names */
    struct lab_hints hints;
    struct apps_kernel *kernel; /* owned */
};

#define APPS_ROWS(owner)                                                                                               \
    {.name = "file",                                                                                                   \
     .letter = 'f',                                                                                                    \
     .type = OPTION_TEXT,                                                                                              \
     .argument = "FILE",                                                                                               \
     OPTION_AT(owner, apps.given_file),                                                                                \
     .help = "the test file, in the directory of --on where that is given"},                                           \
        {.name = "repeat",                                                                                             \
         .letter = 'r',                                                                                                \
         .type = OPTION_INT,                                                                                           \
         .initial = "1",                                                                                               \
         .min = 1,                                                                                                     \
         .max = 1000000,                                                                                               \
         OPTION_AT(owner, apps.repeat),                                                                                \
         .help = "run so often"},                                                                                      \
    {                                                                                                                  \
        .name = "seed", .type = OPTION_INT, .initial = "1", OPTION_AT(owner, apps.seed), .help = "of the data"         \
    }

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

/* One repetition while it runs. */
struct apps_run {
    struct lab_run *lab;
    const struct apps_options *options;
    MPI_Comm comm;
    int rank, nprocs, node_ranks;
    int64_t repetition; /* from 1 */
    MPI_Info info;      /* the hints asked for */
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
    /* Parameters of the sets (notes): what identifies them. */
    void (*params)(const void *plan, struct text *params);
    void (*clear)(const void *plan);
    /* Every rank calls; all succeed or all fail. */
    pl_status (*run_coll)(struct apps_run *run, const void *plan, struct pl_error *error,
                          struct coll_verdict *ret_verdict);
};

/* ---- for a kernel's struct bench ---- */

/* The test file, its place and the hints; takes the kernel, whose plan it clears. */
pl_status apps_prepare(struct lab_job *job, const struct apps_kernel *kernel, struct pl_error *error);
void apps_clear(struct apps_options *options);
/* The last line of a plan: what all repetitions cost. */
void apps_plan_cost(const struct lab_job *job, struct result *plan);
pl_status apps_run_coll(struct lab_run *run, struct pl_error *error);
pl_status apps_results(const struct analysis_request *request, const struct analysis_input *input,
                       struct result *result, struct pl_error *error);
extern const char *const APPS_CLASSES[];
enum { APPS_TAKES = BENCH_ON | BENCH_TESTFILE | BENCH_HINTS, APPS_RANKS_SHOWN = 16 };

/* ---- for a kernel's run ---- */

void apps_progress(const struct apps_run *run, int64_t done, int64_t total);

/* Every rank adds the same phases in the same order, whatever else has failed. */
pl_status apps_phase_add(struct apps_run *run, const char *key, int64_t capacity, struct apps_phase **ret_phase,
                         struct pl_error *error);
/* One operation, begun at `begin_s`. */
void apps_phase_note(struct apps_phase *phase, double begin_s, int64_t bytes);

/* ---- test files; local ---- */

/* The test file of a rank: FILE, or its own "FILE.RANK", as wide as the highest rank needs. */
pl_status apps_file_name(const struct apps_options *options, bool own, int rank, int nprocs,
                         char ret_name[APPS_PATH_MAX], struct pl_error *error);
/* Removes what stands at the place of a test file; refuses too little space for `bytes`. */
pl_status apps_file_clear(const char *name, int64_t bytes, struct pl_error *error);
/* Refuses memory that the node cannot have. */
pl_status apps_file_memory(const struct apps_run *run, int64_t bytes, struct pl_error *error);
/* Keeps the hints in force, on rank 0. */
void apps_file_note_hints(struct apps_run *run, MPI_File file);

#endif
