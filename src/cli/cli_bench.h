/* The command line around every benchmark: `piolet NAME`, `piolet bench NAME`. */
#ifndef PIOLET_CLI_BENCH_H
#define PIOLET_CLI_BENCH_H

#include "cli/cli.h"
#include "lab/bench.h"

/* argv[0] is the benchmark's name. */
int cli_bench_main(const struct cli_verb *verb, int argc, char **argv);

/* Launches `first`, and then what bench->next_launch() names until there is nothing more: cli_bench_drive.c. Returns
 * the exit status. */
int cli_bench_drive(const struct cli_verb *verb, struct lab_job *job, const struct bench_launch *first, int argc,
                    char **argv);

#endif
