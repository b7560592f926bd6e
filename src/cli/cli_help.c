/* piolet help [VERB]: lists the verbs, or shows one verb's --help. */
#include "cli/cli.h"

#include <stdio.h>

extern const struct cli_verb cli_verb_help;

static int help_run(int argc, char **argv)
{
    if (argc > 1) {
        const struct cli_verb *verb = cli_verb_find(argv[1]);
        if (!verb)
            return cli_usage_error(&cli_verb_help, "'%s' is not a verb of piolet; 'piolet help' lists them", argv[1]);
        cli_print_help(verb);
        return CLI_OK;
    }
    printf("Usage: piolet VERB [OPTION]... [ARGUMENT]...\n"
           "A parallel I/O laboratory: measures, explains and speeds up parallel I/O.\n\nVerbs:\n");
    for (const struct cli_verb *const *verb = CLI_VERBS; *verb; verb++)
        printf("  %-10s %s\n", (*verb)->name, (*verb)->summary);
    printf("\n'piolet VERB --help' tells a verb's options, 'piolet --version' the version.\n"
           "Exit status: 0 all well, 1 something failed, 2 wrong command line or input, 130 Ctrl-C.\n");
    return CLI_OK;
}

const struct cli_verb cli_verb_help = {
    .name = "help",
    .summary = "list the verbs, or explain one",
    .synopsis = "[VERB]",
    .options = (const struct cli_option[]){{0}},
    .run = help_run,
};
