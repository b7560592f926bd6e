/* piolet hints: the hints that our MPI-IO understands, from its own table. */
#include "base/json.h"
#include "cli/cli.h"
#include "cli/cli_target.h"
#include "cli/cli_wrap.h"

#include <getopt.h>
#include <piolet/mpiio.h>
#include <stdio.h>
#include <string.h>

extern const struct cli_verb cli_verb_hints;

typedef int hint_at(int index, struct piolet_hint *ret);

static void print_table(hint_at *at)
{
    enum { NAME = 24, DEFAULT = 16, HELP = 4 };
    struct piolet_hint hint;
    printf("%-*s%-*s%s\n", NAME, "NAME", DEFAULT, "DEFAULT", "ALLOWED");
    for (int i = 0; at(i, &hint) == 0; i++) {
        int column = cli_wrap_cell(hint.name, 0, NAME);
        column = cli_wrap_cell(hint.default_value, column, DEFAULT);
        cli_wrap(hint.allowed, column, NAME + DEFAULT);
        printf("%*s", HELP, "");
        cli_wrap(hint.help, HELP, HELP);
        if (hint.changeable)
            printf("%*sMay be changed by MPI_File_set_info.\n", HELP, "");
    }
}

static void print_json(hint_at *at)
{
    struct json json = {.stream = stdout};
    struct piolet_hint hint;
    json_array_begin(&json, NULL);
    for (int i = 0; at(i, &hint) == 0; i++) {
        json_row_begin(&json, NULL);
        json_put_string(&json, "name", hint.name);
        json_put_string(&json, "default", hint.default_value);
        json_put_string(&json, "allowed", hint.allowed);
        json_put_bool(&json, "changeable", hint.changeable);
        json_put_string(&json, "help", hint.help);
        json_object_end(&json);
    }
    json_array_end(&json);
    putchar('\n');
}

static int hints_run(int argc, char **argv)
{
    const char *argument;
    bool json = false;
    int option;
    while ((option = cli_next(&cli_verb_hints, argc, argv, &argument)) > CLI_END)
        json = true;
    if (option == CLI_BAD)
        return CLI_USAGE;
    if (optind < argc)
        return cli_usage_error(&cli_verb_hints, "takes no arguments, but '%s' is given", argv[optind]);
    void *symbol = cli_target_engine_symbol(&cli_verb_hints, "piolet_hint_at");
    hint_at *at;
    if (!symbol)
        return CLI_FAILED;
    memcpy(&at, &symbol, sizeof at); /* ISO C has no cast from an object to a function pointer */
    if (json)
        print_json(at);
    else
        print_table(at);
    return CLI_OK;
}

const struct cli_verb cli_verb_hints = {
    .name = "hints",
    .summary = "list the hints of our MPI-IO",
    .synopsis = "[--json]",
    .details = "Hints are set by a program (MPI_Info), or from outside: PIOLET_HINTS=\"name=value ...\",\n"
               "or 'piolet preload --hints'.",
    .options = (const struct cli_option[]){{1, "json", 0, NULL, "as a JSON array"}, {0}},
    .run = hints_run,
};
