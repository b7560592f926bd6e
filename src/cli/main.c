/* piolet: finds the verb and runs it. */
#include "base/interrupt.h"
#include "base/output.h"
#include "base/process.h"
#include "base/variables.h"
#include "cli/cli.h"
#include "cli/cli_screen.h"
#include "mpi/launcher.h"

#include <stdio.h>
#include <string.h>

static int print_version(void)
{
    printf("piolet %s (%s)\n", PIOLET_VERSION, PIOLET_MPI_NAME);
    return CLI_OK;
}

static bool asks_for_help(const struct cli_verb *verb, int argc, char **argv)
{
    const struct option_row *tables[CLI_TABLES_MAX];
    cli_verb_tables(verb, tables);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return true;
        if (!verb->runs_program)
            continue;
        if (argv[i][0] != '-')
            return false; /* the program: what follows is its own */
        i += options_take_next(tables, argv[i]);
    }
    return false;
}

/* Outputs that no verb committed go; and what was printed may not have arrived: on a full disk, say. */
static int main_finish(const struct cli_verb *verb, int status)
{
    output_discard();
    const int cause = output_stream_errno(stdout);
    if (cause == 0 || output_stdout_failed())
        return status;
    cli_complain(verb, "writing to standard output: %s", strerror(cause));
    return status == CLI_OK ? CLI_FAILED : status;
}

int main(int argc, char **argv)
{
    cli_screen_open();
    if (job_speaks())
        job_variables_tell();
    const char *name = argc > 1 ? argv[1] : "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        return print_version();
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    const struct cli_verb *verb = cli_verb_find(name);
    if (!verb) {
        static const char *const options[] = {"--help", "--version", NULL};
        const char *near = name[0] == '-' ? variables_nearest(name, options) : cli_verb_nearest(name);
        fprintf(stderr, "piolet: '%s' is not a verb of piolet; %s%s%s'piolet help' lists them\n", name,
                near ? "did you mean '" : "", near ? near : "", near ? "'? " : "");
        return CLI_USAGE;
    }
    const struct cli_verb *bench = strcmp(name, "bench") == 0 && argc > 2 ? cli_verb_of_bench(argv[2]) : NULL;
    if (bench) { /* 'piolet bench NAME' is 'piolet NAME' */
        verb = bench;
        name = bench->name;
        argv++;
        argc--;
    }
    if (strcmp(name, "bench") == 0 && argc > 2 && argv[2][0] != '-' && !bench)
        argc = 3; /* no benchmark: its options mean nothing */
    static char program[64];
    snprintf(program, sizeof program, "piolet %s", name);
    interrupt_start(program);
    if (process_is_supervised() || !job_speaks())
        interrupt_be_silent();
    char *alone[] = {(char *)"help", NULL};
    if (argc < 2)
        return main_finish(verb, cli_run_verb(verb, 1, alone));
    if (asks_for_help(verb, argc - 1, argv + 1)) {
        cli_print_help(verb);
        return main_finish(verb, CLI_OK);
    }
    return main_finish(verb, cli_run_verb(verb, argc - 1, argv + 1));
}
