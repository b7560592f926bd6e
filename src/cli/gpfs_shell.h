/* The command line around the MPI-IO/GPFS benchmarks: what was asked for, and running it in this MPI job. */
#ifndef PIOLET_CLI_GPFS_SHELL_H
#define PIOLET_CLI_GPFS_SHELL_H

#include "bench/gpfs/gpfs.h"
#include "cli/cli_contest.h"

struct gpfs_request {
    struct cli_contest common;
    struct gpfs_config config;
};

/* The plan; nothing is run. The config is finished. */
int gpfs_shell_dry_run(const struct gpfs_request *request);

/* Starts MPI and runs. Every rank calls. */
int gpfs_shell_run_coll(struct gpfs_request *request);

#endif
