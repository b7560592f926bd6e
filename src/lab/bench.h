/* A benchmark: option rows, a plan, a run and its results; everything else is the laboratory's.
 *
 * To add one: a folder src/bench/NAME that defines `const struct bench bench_NAME`, and one line in bench/bench.def. It
 * is then a verb (`piolet NAME`, `piolet bench NAME`) with --help, man page, completion, -n, --resume, --dry-run,
 * exports and progress, and analyze, history, survey and page know its results. src/bench/metadata is the example. */
#ifndef PIOLET_LAB_BENCH_H
#define PIOLET_LAB_BENCH_H

#include "base/option.h"
#include "lab/result/analysis_select.h"
#include "lab/result/result.h"

#include <mpi.h>

struct analysis_tool;
struct lab_job;
struct lab_run;

/* One launch of many that alternate (--mpis), or that come one after the other. */
struct bench_launch {
    const char *mpi; /* mpich, openmpi, openmpi-romio */
    char step[64];   /* lab_job.step of the launch */
    char label[256]; /* for progress */
    int64_t steps;   /* of progress, in all, as far as it is known */
};

/* What a benchmark has of the common options besides -n, -o, --resume, --dry-run, --config, exports and progress. */
enum bench_takes {
    BENCH_ON = 1,       /* --on DIR: one place */
    BENCH_ON_MANY = 3,  /* --on DIR, repeated */
    BENCH_TESTFILE = 4, /* --keep, --overwrite: it has test files by names that the user knows */
    BENCH_HINTS = 8,    /* --hints TEXT|@FILE */
    BENCH_RANK_LIST =
        16,            /* -n 2,4: one job measures on each number of ranks; else one job after the other is started */
    BENCH_WHOLE = 64,  /* what a block holds belongs together: analyze selects whole blocks */
    BENCH_TIMES = 128, /* analyze --times: every single measurement */
    BENCH_OWN_INPUTS = 256, /* the inputs of its blocks are not its options: it writes and compares them itself */
    BENCH_TELLS = 512,      /* it tells its results while it runs (lab_tell): they are not shown again behind it */
    BENCH_NO_VERB = 1024,   /* its name is a verb of its own: `piolet bench NAME` alone */
    BENCH_OWN_RANKS = 2048, /* -n is of the programs that it starts by itself */
    BENCH_FROM_FILE =
        4096 /* a file that `prepare` reads says what is measured and on how many ranks: it sets
                job->ranks where that is 0, the job is started without -n, and no output may replace the file */
};

/* What 'piolet survey' runs: quick, by default and with --full. Words behind the verb, separated by blanks, with {n}
 * (the ranks), {out} (the folder of results) and {work} (a folder for test files); NULL: not in that form. */
struct bench_survey {
    const char *words[3];
    double seconds[3]; /* on 2 ranks of an idle machine and a laptop's disk, rather too many than too few */
};

struct bench {
    const char *name; /* the verb */
    const struct option_row *rows;
    size_t options_size; /* of the struct that the rows fill */
    unsigned takes;
    int thread_level;                  /* of MPI_Init_thread; 0 is MPI_THREAD_SINGLE */
    const struct bench_survey *survey; /* NULL: it is no part of a survey, or of its own table of steps */

    /* Of the blocks that it writes and reads: named here and nowhere else. Each ends with NULL. */
    const char *const *classes;
    const char *const *tests;      /* where another benchmark has blocks of the class; NULL: all */
    const char *const *conditions; /* options whose value makes equal sets different things; NULL: none */

    const char *summary;  /* one line of the list of verbs */
    const char *operands; /* "DIR...", for --help; NULL: takes none */
    const char *details;  /* of --help: what is measured; wrapped where it is shown */
    const char *example;  /* a command line without "piolet "; NULL: the name alone */
    const char *output;   /* of -o by default: "beff.out"; NULL: `prepare` says it */

    /* What rows cannot say: operands, what options say together, defaults that follow from others. Pure but for a look
     * at places. Called before anything is started (job->ranks 0 where -n is not given) and on every rank. */
    pl_status (*prepare)(struct lab_job *job, struct pl_error *error);
    /* The same once MPI runs, for one that reads what other ranks may not see. Every rank calls; the caller agrees on
     * the status. NULL: `prepare`. */
    pl_status (*prepare_coll)(struct lab_job *job, MPI_Comm world, struct pl_error *error);
    /* An option that only asks for information: prints it, *ret_asked, and nothing is run. NULL: there is none. */
    pl_status (*answer)(const struct lab_job *job, FILE *stream, bool *ret_asked, struct pl_error *error);
    /* --dry-run: what would be done, as a document. Pure. */
    pl_status (*plan)(struct lab_job *job, struct result *plan, struct pl_error *error);
    /* Every rank calls; what fails inside is agreed (coll_agree_coll), and the status only says that results can no
     * longer be written or that nothing can be measured. */
    pl_status (*run_coll)(struct lab_run *run, struct pl_error *error);
    /* The document of the selected blocks, with all quantities. PL_E_INPUT: nothing of it is selected. No MPI. */
    pl_status (*results)(const struct analysis_request *request, const struct analysis_input *input,
                         struct result *result, struct pl_error *error);
    const struct analysis_tool *tools; /* further ones of analyze, for its blocks; ends with {0}. NULL: none */
    void (*clear)(void *options);      /* what `prepare` allocated; may be NULL */
    /* It must run with the engine preloaded; NULL: never. Called before `prepare`. */
    bool (*needs_engine)(const struct lab_job *job);
    /* A library of ours that is preloaded behind the engine, so that it sees what the engine asks for; NULL: none. */
    const char *(*behind_engine)(const void *options);
    int (*threads)(const struct lab_job *job); /* level of MPI_Init_thread by what is asked for; NULL: thread_level */
    /* Where `prepare` says that launches alternate: what is to be launched next, as the output tells; launch->mpi NULL:
     * nothing more. Called in the process that launches. */
    pl_status (*next_launch)(struct lab_job *job, struct bench_launch *launch, struct pl_error *error);
};

#endif
