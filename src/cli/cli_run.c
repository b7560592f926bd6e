/* piolet run: the Parallel I/O Test Suite, from a keyword file. */
#include "cli/cli.h"
#include "cli/suite_shell.h"

#include <stddef.h>

extern const struct cli_verb cli_verb_run;

static int run_run(int argc, char **argv)
{
    return suite_shell_main(&cli_verb_run, NULL, argc, argv);
}

const struct cli_verb cli_verb_run = {
    .name = "run",
    .summary = "run the tests of a keyword file",
    .synopsis = "[OPTION]... [FILE]",
    .details = "FILE is a keyword file, 'iotparams.in' by default, '-' for standard input.\n"
               "'mpiexec -n 4 piolet run FILE' and 'piolet run -n 4 FILE' do the same.",
    .options = SUITE_OPTIONS,
    .run = run_run,
};
