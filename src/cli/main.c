/* piolet: finds the verb and runs it. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static int print_version(void)
{
    printf("piolet %s (%s)\n", PIOLET_VERSION, PIOLET_MPI_NAME);
    return CLI_OK;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
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
    char *alone[] = {(char *)"help", NULL};
    if (argc < 2)
        return verb->run(1, alone);
    if (asks_for_help(argc - 1, argv + 1)) {
        cli_print_help(verb);
        return CLI_OK;
    }
    return verb->run(argc - 1, argv + 1);
}
