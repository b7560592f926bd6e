/* piolet hints: the hints that our MPI-IO understands, from its own table. */
#include "base/text.h"
#include "cli/cli_listing.h"

#include <piolet/mpiio.h>
#include <stdio.h>

extern const struct cli_verb cli_verb_hints;

typedef int hint_at(int index, struct piolet_hint *ret);

static void print_table(cli_listing_function *function)
{
    enum { NAME = 24, DEFAULT = 16, HELP = 4 };
    hint_at *at = (hint_at *)function;
    struct piolet_hint hint;
    printf("%-*s%-*s%s\n", NAME, "NAME", DEFAULT, "DEFAULT", "ALLOWED");
    for (int i = 0; at(i, &hint) == 0; i++) {
        size_t column = text_print_cell(stdout, hint.name, 0, NAME);
        column = text_print_cell(stdout, hint.default_value, column, DEFAULT);
        text_print_wrapped(stdout, hint.allowed, column, NAME + DEFAULT);
        printf("%*s", HELP, "");
        text_print_wrapped(stdout, hint.help, HELP, HELP);
        if (hint.changeable)
            printf("%*sMay be changed by MPI_File_set_info.\n", HELP, "");
    }
}

static void print_json(cli_listing_function *function, struct json *json)
{
    hint_at *at = (hint_at *)function;
    struct piolet_hint hint;
    for (int i = 0; at(i, &hint) == 0; i++) {
        json_row_begin(json, NULL);
        json_put_string(json, "name", hint.name);
        json_put_string(json, "default", hint.default_value);
        json_put_string(json, "allowed", hint.allowed);
        json_put_bool(json, "changeable", hint.changeable);
        json_put_string(json, "help", hint.help);
        json_object_end(json);
    }
}

static int hints_run(int argc, char **argv)
{
    static const struct cli_listing listing = {"piolet_hint_at", print_table, print_json};
    return cli_listing_run(&cli_verb_hints, &listing, argc, argv);
}

const struct cli_verb cli_verb_hints = {
    .name = "hints",
    .summary = "list the hints of our MPI-IO",
    .synopsis = "[--json]",
    .details = "Hints are set by a program (MPI_Info), or from outside:\n"
               "PIOLET_HINTS=\"name=value ...\", or 'piolet preload --hints'.",
    .rows = CLI_LISTING_ROWS,
    .run = hints_run,
};
