/* What verbs have in common in which contestants move the same data in turn: the command line around them, starting
 * MPI, what is told meanwhile, and exports. */
#ifndef PIOLET_CLI_CONTEST_H
#define PIOLET_CLI_CONTEST_H

#include "cli/cli.h"
#include "mpi/coll.h"

#include <stddef.h>
#include <stdint.h>

/* Ids of a verb's options. From CONTEST_SETTING on they are settings of the benchmark, by their own name. */
enum {
    CONTEST_OUTPUT = 1,
    CONTEST_RESUME,
    CONTEST_DRY_RUN,
    CONTEST_JSON,
    CONTEST_CSV,
    CONTEST_PROGRESS,
    CONTEST_OVERWRITE,
    CONTEST_SETTING
};

struct cli_contest {
    const struct cli_verb *verb; /* for messages */
    const char *output;
    bool resume; /* go on with what `output` holds */
    bool dry_run;
    bool overwrite;                    /* a test file that is there and not ours */
    const char *json, *csv, *progress; /* NULL: no export; auto, always, never */
    int argc;                          /* the verb's own command line, for starting it again */
    char **argv;
};

/* The name of an option of the verb, without dashes. */
const char *cli_contest_option(const struct cli_contest *contest, int id);

/* Takes an option that is not a setting. */
pl_status cli_contest_take(struct cli_contest *contest, int id, const char *value, struct pl_error *error);

/* What the user reads when the run is interrupted. */
void cli_contest_tell_resume(const struct cli_contest *contest);

/* Refuses the command line; of the processes of a launch one speaks for all. Returns CLI_USAGE. */
int cli_contest_refuse(const struct cli_contest *contest, const struct pl_error *error);

/* Are there as many ranks as the settings ask for? */
pl_status cli_contest_check_ranks(int64_t asked, int size, struct pl_error *error);

/* Starts MPI with a level of threads, calls `run_coll`, ends MPI. Every rank calls. */
int cli_contest_run_coll(const struct cli_contest *contest, int thread_level, int (*run_coll)(void *request),
                         void *request);

/* A line of progress: the cell that begins. `left_s` < 0: not known yet. */
void cli_contest_tell_begin(int number, int cells, const char *cell, double left_s);

/* A contestant failed; NULL: the whole cell. */
void cli_contest_tell_failed(const struct cli_contest *contest, const char *cell, const char *contestant,
                             const struct coll_verdict *verdict);

/* --json and --csv of the blocks behind the first `blocks_before`. */
int cli_contest_export(const struct cli_contest *contest, size_t blocks_before);

#endif
