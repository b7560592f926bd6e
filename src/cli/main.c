/* piolet: finds the verb and runs it. */
#include "base/interrupt.h"
#include "base/output.h"
#include "cli/cli.h"
#include "cli/cli_child.h"
#include "cli/cli_screen.h"
#include "mpi/job_variables.h"
#include "mpi/launcher.h"

#include <stdio.h>
#include <string.h>

static int print_version(void)
{
    printf("piolet %s (%s)\n", PIOLET_VERSION, PIOLET_MPI_NAME);
    return CLI_OK;
}

/* Does an option of this verb take the next word as its argument? */
static bool takes_next(const struct cli_verb *verb, const char *word)
{
    for (const struct cli_option *option = verb->options; option && option->id; option++) {
        const bool is_short = option->letter && word[0] == '-' && word[1] == option->letter && word[2] == '\0';
        const bool is_long = word[0] == '-' && word[1] == '-' && strcmp(word + 2, option->name) == 0;
        if (option->argument && (is_short || is_long))
            return true;
    }
    return false;
}

static bool asks_for_help(const struct cli_verb *verb, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return true;
        if (!verb->runs_program)
            continue;
        if (argv[i][0] != '-')
            return false; /* the program: what follows is its own */
        i += takes_next(verb, argv[i]);
    }
    return false;
}

/* Outputs that no verb committed go; and what was printed may not have arrived: on a full disk, say. */
static int finish(const struct cli_verb *verb, int status)
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
        fprintf(stderr, "piolet: '%s' is not a verb of piolet; 'piolet help' lists them\n", name);
        return CLI_USAGE;
    }
    static char program[64];
    snprintf(program, sizeof program, "piolet %s", name);
    interrupt_start(program);
    if (cli_child_is_supervised() || !job_speaks())
        interrupt_be_silent();
    char *alone[] = {(char *)"help", NULL};
    if (argc < 2)
        return finish(verb, verb->run(1, alone));
    if (asks_for_help(verb, argc - 1, argv + 1)) {
        cli_print_help(verb);
        return finish(verb, CLI_OK);
    }
    return finish(verb, verb->run(argc - 1, argv + 1));
}
