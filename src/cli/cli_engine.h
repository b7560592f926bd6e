/* Benchmarks whose contestants need our MPI-IO: becoming the same program with the engine preloaded. */
#ifndef PIOLET_CLI_ENGINE_H
#define PIOLET_CLI_ENGINE_H

#include "cli/cli.h"

/* Is libpiolet-mpiio.so in this process? */
bool cli_engine_is_there(void);

/* Starts this program again with the engine preloaded; argv[0] is the verb. Before MPI is initialised. Returns only
 * with an exit status, after a message, when that fails. */
int cli_engine_start_again(const struct cli_verb *verb, int argc, char **argv);

#endif
