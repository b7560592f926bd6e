/* The command line around PIOBENCH: what was asked for, running it in this MPI job, and alternating launches. */
#ifndef PIOLET_CLI_PIOBENCH_SHELL_H
#define PIOLET_CLI_PIOBENCH_SHELL_H

#include "bench/piobench/piobench.h"
#include "cli/cli_contest.h"

struct piobench_request {
    struct cli_contest common;
    struct piobench_config config;
};

/* What one launch of an alternating run does; from the environment. */
struct piobench_step {
    bool is_one; /* false: an ordinary run */
    int cell, round;
    char mpi[PIOBENCH_MPI_MAX];
};
struct piobench_step piobench_shell_step(void);
/* For the processes to come, on all hosts. */
void piobench_shell_step_export(const struct piobench_step *step);

/* The plan; nothing is run. The config is finished. */
int piobench_shell_dry_run(const struct piobench_request *request);

/* Starts MPI and runs. Every rank calls. */
int piobench_shell_run_coll(struct piobench_request *request);

/* Alternates launches of the MPIs that the config names. The config is finished. */
int piobench_driver_run(struct piobench_request *request);

/* Trials that `output` holds of this launch, cell by cell; the caller frees. NULL after a message. */
struct piobench_tally *piobench_shell_tallies(const struct piobench_request *request,
                                              const struct piobench_matrix *matrix, const char *mpi, bool count);

/* The rates of a cell, as rows. `mpi` NULL: there is one only. */
void piobench_shell_print_rows(const struct piobench_config *config, const struct piobench_cell *cell, const char *mpi,
                               const struct piobench_tally *tallies);
void piobench_shell_print_cell(const struct piobench_cell *cell);

#endif
