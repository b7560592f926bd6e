/* iot_all, iot_low_level, iot_kernel: the test suite as programs of their own, one for all classes or one for each
 * (IOT-1). CMake compiles this file once for each, with IOT_PROGRAM and IOT_CLASS: the place of the class among those
 * of the benchmark; -1: all. */
#include "base/interrupt.h"
#include "base/output.h"
#include "base/process.h"
#include "bench/bench.h"
#include "cli/cli_bench.h"
#include "cli/cli_screen.h"
#include "mpi/launcher.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *classes[] = {NULL, NULL};
    struct bench bench = *bench_find("run");
    const struct cli_verb program = {
        .name = IOT_PROGRAM, .summary = bench.summary, .bench = &bench, .standalone = true};
    bench.name = IOT_PROGRAM;
    const int number = IOT_CLASS;
    if (number >= 0) {
        classes[0] = bench.classes[number];
        bench.classes = classes;
    }
    cli_screen_open();
    if (job_speaks())
        job_variables_tell();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            cli_print_help(&program);
            return CLI_OK;
        }
        if (strcmp(argv[i], "--version") == 0) {
            printf("%s %s (%s)\n", IOT_PROGRAM, PIOLET_VERSION, PIOLET_MPI_NAME);
            return CLI_OK;
        }
    }
    interrupt_start(IOT_PROGRAM);
    if (process_is_supervised() || !job_speaks())
        interrupt_be_silent();
    const int status = cli_bench_main(&program, argc, argv);
    output_discard();
    return status;
}
