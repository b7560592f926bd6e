/* The command line around the MPI-IO/GPFS benchmarks: what was asked for, and running it in this MPI job. */
#ifndef PIOLET_CLI_GPFS_SHELL_H
#define PIOLET_CLI_GPFS_SHELL_H

#include "bench/gpfs/gpfs.h"
#include "cli/cli.h"

struct gpfs_request {
    const struct cli_verb *verb; /* for messages */
    struct gpfs_config config;
    const char *output;
    bool resume; /* go on with what `output` holds */
    bool dry_run;
    const char *json, *csv, *progress; /* NULL: no export; auto, always, never */
    int argc;                          /* the verb's own command line, for starting it again */
    char **argv;
};

/* The plan; nothing is run. The config is finished. */
int gpfs_shell_dry_run(const struct gpfs_request *request);

/* Starts MPI and runs. Every rank calls. */
int gpfs_shell_run_coll(struct gpfs_request *request);

#endif
