/* iot_all, iot_low_level, iot_kernel: the test suite as programs of their own, one for all classes or one for each
 * (IOT-1). CMake compiles this file once for each, with IOT_PROGRAM and IOT_CLASS. */
#include "base/interrupt.h"
#include "base/output.h"
#include "cli/cli.h"
#include "cli/cli_child.h"
#include "cli/cli_screen.h"
#include "cli/suite_shell.h"
#include "mpi/job_variables.h"
#include "mpi/launcher.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct cli_verb PROGRAM = {
    .name = IOT_PROGRAM,
    .summary = "Runs the tests of a keyword file.",
    .synopsis = "[OPTION]... [FILE]",
    .options = SUITE_OPTIONS,
    .standalone = true,
};

int main(int argc, char **argv)
{
    cli_screen_open();
    if (job_speaks())
        job_variables_tell();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            cli_print_help(&PROGRAM);
            return CLI_OK;
        }
        if (strcmp(argv[i], "--version") == 0) {
            printf("%s %s (%s)\n", IOT_PROGRAM, PIOLET_VERSION, PIOLET_MPI_NAME);
            return CLI_OK;
        }
    }
    interrupt_start(IOT_PROGRAM);
    if (cli_child_is_supervised() || !job_speaks())
        interrupt_be_silent();
    const int status = suite_shell_main(&PROGRAM, IOT_CLASS, argc, argv);
    output_discard();
    return status;
}
