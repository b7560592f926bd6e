/* The command line of b_eff_io: what was asked for, the plan of a dry run, and the run itself. */
#ifndef PIOLET_CLI_BEFFIO_SHELL_H
#define PIOLET_CLI_BEFFIO_SHELL_H

#include "bench/beffio/beffio_run.h"
#include "cli/cli.h"

struct beffio_request {
    const struct cli_verb *verb; /* for messages */
    struct beffio_job job;
    const char *resume;     /* block file, or NULL */
    const char *json, *csv; /* exports of the report; NULL: none, "-": standard output */
    const char *progress;   /* auto, always, never */
    double assume_bytes_per_s;
};

/* Looks at everything that can be known before a launch, so that a mistake is one message. `ranks`: to come. */
int beffio_shell_check(struct beffio_request *request, int ranks);

/* Seconds of each pattern, and file sizes at the assumed rate. */
int beffio_shell_plan(struct beffio_request *request, int ranks);

/* Starts MPI and runs; prints the report. Every rank calls. */
int beffio_shell_run_coll(struct beffio_request *request, int argc, char **argv);

#endif
