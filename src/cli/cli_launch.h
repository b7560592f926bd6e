/* Starting oneself again under mpiexec (or srun), for `piolet VERB -n N`. */
#ifndef PIOLET_CLI_LAUNCH_H
#define PIOLET_CLI_LAUNCH_H

#include "cli/cli.h"

enum { CLI_RANKS_MAX = 1000000 };
/* What all rows of -n have in common. */
#define CLI_LAUNCH_RANKS .name = "ranks", .letter = 'n', .type = OPTION_INT, .min = 1, .max = CLI_RANKS_MAX

/* Set for the processes that cli_launch() started: they have -n on their command line too, and pass over it. */
bool cli_launch_is_child(void);
/* Takes the mark away, before this process becomes a program of the user's. */
void cli_launch_forget(void);

/* What -n N asks of this process: refuses it inside MPI, else starts the launcher, running the same command line on N
 * ranks, and waits for it. Returns the exit status. Signals are the launcher's and ours from then on: see
 * base/process.h.
 */
int cli_launch(const struct cli_verb *verb, int ranks, int argc, char **argv);

/* The same for a verb that becomes a program: its ranks are 'piolet VERB OPTION... -- PROGRAM...', so that LD_PRELOAD
 * is never set for the launcher. `options` ends with NULL; argv[0] is the program. */
int cli_launch_program(const struct cli_verb *verb, int ranks, const char *const *options, int argc, char **argv);

#endif
