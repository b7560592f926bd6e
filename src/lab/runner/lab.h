/* The runner: what every benchmark's run has in common. Results file, head with facts, sets, agreement, progress with
 * time left, what is resumed, messages about what failed, and the watch on the machine.
 *
 * A run_coll() of a benchmark reads like this:
 *
 *     lab_plan(run, steps, weight_of_all);
 *     lab_block_begin(run, CLASS, TEST);
 *     blockfile_fact(run->writer, "seed", "1");                    // on rank 0: facts of its own
 *     status = lab_block_head_coll(run, path, error);
 *     // for each step, while status is PL_OK:
 *     notes_add(&set.params, "ranks", "4");                        // what identifies the set
 *     known = lab_is_measured_coll(run, TEST, &set.params);        // then lab_skip(run, weight)
 *     lab_step(run, weight, "write, %s", size);
 *     coll_agree_coll(run->world, mine, &failure, &set.verdict);   // mine: what this rank measured
 *     status = lab_set_write_coll(run, run->world, &set, error);   // also where it failed: the results say why
 *     // and behind the last one:
 *     status = lab_block_end_coll(run, status, error);
 */
#ifndef PIOLET_LAB_RUNNER_LAB_H
#define PIOLET_LAB_RUNNER_LAB_H

#include "base/blockfile.h"
#include "base/option.h"
#include "base/progress.h"
#include "lab/bench.h"
#include "lab/runner/sample.h"
#include "lab/runner/timebase.h"
#include "lab/runner/watch.h"
#include "mpi/coll.h"

/* The common options of all benchmarks; rows below. */
struct lab_options {
    struct option_numbers ranks; /* -n */
    const char *output, *resume, *config;
    const char *json, *csv, *plot;
    int progress; /* enum progress_when */
    bool dry_run, strict;
    bool keep, overwrite;
    struct option_texts on;
    struct option_texts hints;
};

extern const struct option_row LAB_ROWS[], LAB_ROWS_RESUME[], LAB_ROWS_ON[], LAB_ROWS_TESTFILE[], LAB_ROWS_HINTS[];

enum { LAB_TABLES_MAX = 8 };

/* A command line, read: the same on all ranks. */
struct lab_job {
    const struct bench *bench;
    struct lab_options common;
    void *own; /* the struct that the benchmark's rows fill */
    struct options all;
    int ranks;             /* of the job: those there are, or those -n asks for at most; 0: not known yet */
    char *test;            /* of the block that a resumed run goes on with; NULL: none is resumed */
    const char *mpi;       /* names this launch in the results */
    const char *step;      /* of launches that alternate (bench->next_launch): which one this is; "": an ordinary run */
    bool alternates;       /* that `prepare` says: launches take turns (bench->next_launch) */
    const char *test_file; /* that `prepare` names: no output may go there; NULL: none */
};

/* The last block of a file that the benchmark wrote; NULL: none. */
const struct blockfile_block *lab_last_block(const struct bench *bench, const struct blockfile *file);

/* Tables of a benchmark's rows, its own first, ended by NULL. */
void lab_tables(const struct bench *bench, const struct option_row *ret_tables[LAB_TABLES_MAX]);
/* Reads environment (PIOLET_OPT_NAME_OPTION), --config, and the words of the command line; resumes. The caller clears,
 * also after an error. */
pl_status lab_job_init(struct lab_job *job, const struct bench *bench, int count, char *const *words,
                       struct pl_error *error);
void lab_job_clear(struct lab_job *job);
/* Is standard output free for tables, or does an export go there? */
bool lab_stdout_is_free(const struct lab_options *common);
/* DIR/name of --on, or `name` where there is none; the caller frees. */
char *lab_job_path(const struct lab_job *job, const char *name);

/* Hints "key=value", separated by ';' or line ends, or @FILE: of --hints. */
struct lab_hint {
    char *key, *value;
};
struct lab_hints { /* {0} is empty */
    struct lab_hint *list;
    size_t count;
};
pl_status lab_hints_parse(const struct option_texts *texts, struct lab_hints *ret_hints, struct pl_error *error);
void lab_hints_clear(struct lab_hints *hints);
/* MPI_INFO_NULL where there are none; the caller frees it. */
pl_status lab_hints_info(const struct lab_hints *hints, MPI_Info *ret_info, struct pl_error *error);

/* ---- a run ---- */

struct lab_run {
    const struct lab_job *job;
    MPI_Comm world;
    int rank, size;
    struct blockfile_writer *writer; /* rank 0 */
    int64_t failed;                  /* sets; the same on all ranks */
    double began_s;                  /* MPI_Wtime */
    const char *place;               /* of --on: the one that the next block is about; NULL: all of them */
    const char *node;                /* the fact "io_node" that earlier blocks must have to be of this one; NULL: any */
    struct timebase clock;           /* one for all ranks */
    /* private */
    struct blockfile earlier; /* rank 0, where a run is resumed */
    bool resumes;
    struct progress progress;
    struct watch watch;
    void (*complain)(const char *text);
};

/* Opens the results, runs the benchmark, closes. `complain` prints a message about a set that failed, on rank 0.
 * Returns the status that all agree on; run->failed counts sets that failed. */
pl_status lab_run_coll(struct lab_run *run, MPI_Comm world, const struct lab_job *job,
                       void (*complain)(const char *text), struct pl_error *error);

/* How many steps, and their weights' sum: bytes, seconds or 1 each. Again where it is known better. */
void lab_plan(struct lab_run *run, int64_t steps, double weight);
/* A step begins: its label is shown as progress. Any rank may call; rank 0 prints. */
void lab_step(struct lab_run *run, double weight, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A part (0 to 1) of a long step is done. */
void lab_part(struct lab_run *run, double part, const char *label);
void lab_skip(struct lab_run *run, double weight);
/* A line on standard output from rank 0, where exports do not go there: what is known already. */
void lab_tell(const struct lab_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A message on standard error from rank 0. */
void lab_warn(const struct lab_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same from the rank that calls: what only one of them knows. */
void lab_warn_here(const struct lab_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Begins a block on rank 0: options that were given are its inputs (not with BENCH_OWN_INPUTS); name of the MPI; state
 * of the machine. */
void lab_block_begin(struct lab_run *run, const char *class_name, const char *test);
/* Facts of the machine and of the place `path`, and the head's end. */
pl_status lab_block_head_coll(struct lab_run *run, const char *path, struct pl_error *error);
/* Ends it where `status` is PL_OK; agreed. */
pl_status lab_block_end_coll(struct lab_run *run, pl_status status, struct pl_error *error);

/* What the results to resume hold, on rank 0; NULL: nothing is resumed. For a benchmark with BENCH_OWN_INPUTS. */
const struct blockfile *lab_earlier(const struct lab_run *run);

/* Is there a set without errors in the results that are resumed, of a block of this test, that has all these parameters
 * (notes: "KEY VALUE" lines)? The same answer on all ranks. */
bool lab_is_measured_coll(struct lab_run *run, const char *test, const struct text *params);
/* Calls `take` with each of them: on rank 0 alone. A launch that is a step of many counts what the output holds, as if
 * it were resumed. */
void lab_each_measured(const struct lab_run *run, const char *test, const struct text *params,
                       void (*take)(void *context, const struct blockfile_block *block,
                                    const struct blockfile_set *set),
                       void *context);
/* How many such sets. */
int lab_count_measured_coll(struct lab_run *run, const char *test, const struct text *params);

/* Rank 0 of a resumed run: the last block of it that the results hold, for benchmarks where more than parameters tells
 * what is measured; NULL on other ranks, and of a new run. */
const struct blockfile_block *lab_resumed(struct lab_run *run, struct blockfile **ret_file);

/* A set on its way into the results. */
struct lab_set {
    char label[256];    /* for messages */
    struct text params; /* notes: what identifies it */
    const struct lab_hints *asked;
    struct text hints_used, warnings; /* notes */
    struct samples samples;
    struct coll_verdict verdict; /* agreed */
};
void lab_set_clear(struct lab_set *set);
/* Compares clocks behind what was measured, so that the samples' starts can be put on the common one. Where it is not
 * called, writing the set does it. */
void lab_set_clock_coll(struct lab_run *run, MPI_Comm comm, struct samples *samples);
/* Ranks of `comm` call, rank 0 of the world among them as its rank 0. Tells and counts failures. The status is agreed
 * in `comm`. */
pl_status lab_set_write_coll(struct lab_run *run, MPI_Comm comm, struct lab_set *set, struct pl_error *error);
/* Tells a failure and counts it, where the set is written in another way. Every rank calls. */
void lab_failed(struct lab_run *run, const char *label, const struct coll_verdict *verdict);

#endif
