/* Benchmarks whose contestants need our MPI-IO: becoming the same program with the engine preloaded. */
#ifndef PIOLET_CLI_ENGINE_H
#define PIOLET_CLI_ENGINE_H

#include "cli/cli.h"

/* Starts this program again with the engine preloaded, and `behind` (NULL: nothing) behind it; argv[0] is the verb.
 * Before MPI is initialised. Returns only with an exit status, after a message, when that fails. */
int cli_engine_start_again(const struct cli_verb *verb, const char *behind, int argc, char **argv);

#endif
