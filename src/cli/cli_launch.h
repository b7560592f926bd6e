/* Starting oneself again under mpiexec (or srun), for `piolet VERB -n N`. */
#ifndef PIOLET_CLI_LAUNCH_H
#define PIOLET_CLI_LAUNCH_H

#include "cli/cli.h"

enum { CLI_RANKS_MAX = 1000000 };

/* Set for the processes that cli_launch() started: they have -n on their command line too, and pass over it. */
bool cli_launch_is_child(void);
/* Takes the mark away, before this process becomes a program of the user's. */
void cli_launch_forget(void);

/* What -n N asks of this process: refuses it inside MPI, else starts the launcher, running the same command line on N
 * ranks, and waits for it. Returns the exit status. Signals are the launcher's and ours from then on: see cli_child.h.
 */
int cli_launch(const struct cli_verb *verb, int ranks, int argc, char **argv);

/* Parses the argument of -n; 0 and a message if it is not a number of ranks. */
int cli_launch_ranks(const struct cli_verb *verb, const char *text);

#endif
