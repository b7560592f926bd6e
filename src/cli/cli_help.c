/* piolet help [VERB]: lists the verbs, or shows one verb's --help; and the same tables as manual pages and for the
 * completion of shells. */
#include "cli/cli.h"

#include "bench/bench.h"

#include <stdio.h>
#include <string.h>

extern const struct cli_verb cli_verb_help;

struct help_values {
    const char *man, *options;
    int completion; /* enum cli_shell; -1: not asked for */
};

#define AT(member) OPTION_AT(struct help_values, member)
static const struct option_row ROWS[] = {
    {.name = "man",
     .type = OPTION_TEXT,
     .argument = "VERB",
     AT(man),
     .help = "print a manual page of the verb, in scdoc's language"},
    {.name = "options",
     .type = OPTION_TEXT,
     .argument = "VERB",
     AT(options),
     .help = "print the options of the verb as a part of a manual page; of piolet: the verbs"},
    {.name = "completion",
     .type = OPTION_CHOICE,
     .argument = "SHELL",
     .choices = "bash zsh fish",
     AT(completion),
     .help = "print what a shell needs to complete verbs, options and their words"},
    {0}};
#undef AT

static const char *const *help_names(void)
{
    static const char *names[CLI_VERBS_MAX];
    size_t count = 0;
    for (const struct cli_verb *const *verb = cli_verbs(); *verb; verb++)
        names[count++] = (*verb)->name;
    return names;
}

/* ---- manual pages ---- */

static void help_print_options(const struct cli_verb *verb)
{
    const struct option_row *tables[CLI_TABLES_MAX];
    cli_verb_tables(verb, tables);
    options_print_man(tables, stdout);
    printf("*--help*\n\tA short text on these options.\n");
}

static void help_print_man(const struct cli_verb *verb)
{
    const struct bench *bench = verb->bench;
    const char *operands = bench ? bench->operands : NULL;
    char page[CLI_NAME_MAX];
    cli_verb_page(verb, page, sizeof page);
    printf("piolet-%s(1)\n\n# NAME\n\npiolet-%s - ", page, page);
    option_print_man_text(verb->summary, stdout);
    printf("\n\n# SYNOPSIS\n\n*piolet %s* [_OPTION_]...", verb->name);
    if (operands) {
        fputs(" _", stdout);
        option_print_man_text(operands, stdout);
        fputs("_", stdout);
    }
    printf("\n\n# DESCRIPTION\n\n");
    option_print_man_text(bench && bench->details ? bench->details : verb->summary, stdout);
    if (bench) {
        printf("\n\nMeasurements are appended to a block file as soon as they are made, to _");
        option_print_man_text(bench->output, stdout);
        printf("_ where *-o* names no other. *piolet analyze %s* shows them again, *piolet history* keeps them, and "
               "*piolet "
               "report* makes a page of them.",
               bench->name);
    }
    printf("\n\n# OPTIONS\n\n");
    help_print_options(verb);
    printf("\n# EXIT STATUS\n\n*0* all well; *1* something failed; *2* wrong command line or input; *130* "
           "interrupted.\n\n# EXAMPLES\n\n\tpiolet ");
    option_print_man_text(bench && bench->example ? bench->example : verb->name, stdout);
    printf("\n\n# SEE ALSO\n\n*piolet*(1), *piolet-analyze*(1), *piolet-history*(1)\n");
}

static void help_print_man_verb(const struct cli_verb *verb)
{
    char page[CLI_NAME_MAX];
    printf("*%s*\n\t", verb->name);
    option_print_man_text(verb->summary, stdout);
    printf(". See *piolet-%s*(1).\n\n", cli_verb_page(verb, page, sizeof page));
}

/* The section of piolet(1) on verbs, and on the benchmarks that are none. */
static void help_print_man_verbs(void)
{
    for (const struct cli_verb *const *verb = cli_verbs(); *verb; verb++)
        help_print_man_verb(*verb);
    for (const struct bench *const *bench = BENCHES; *bench; bench++)
        if ((*bench)->takes & BENCH_NO_VERB)
            help_print_man_verb(cli_verb_of_bench((*bench)->name));
}

/* ---- the list ---- */

static void help_print_verbs(void)
{
    printf("Usage: piolet VERB [OPTION]... [ARGUMENT]...\n"
           "A parallel I/O laboratory: measures, explains and speeds up parallel I/O.\n\nVerbs:\n");
    for (const struct cli_verb *const *verb = cli_verbs(); *verb; verb++)
        cli_print_row((*verb)->name, (*verb)->summary);
    printf("\n'piolet VERB --help' tells a verb's options, 'piolet --version' the version.\n"
           "Exit status: 0 all well, 1 something failed, 2 wrong command line or input,\n130 Ctrl-C.\n");
}

/* Also 'bench-NAME': benchmarks that share their name with a verb have a page of that name. */
static int help_on(const char *name, void (*print)(const struct cli_verb *verb))
{
    const bool of_bench = strncmp(name, "bench-", strlen("bench-")) == 0;
    const struct cli_verb *verb = of_bench ? cli_verb_of_bench(name + strlen("bench-")) : cli_verb_find(name);
    if (!verb)
        return cli_unknown(&cli_verb_help, "a verb of piolet", name, help_names());
    print(verb);
    return CLI_OK;
}

static int help_act(void *target, const struct cli_line *line)
{
    const struct help_values *values = target;
    if (values->man)
        return help_on(values->man, help_print_man);
    if (values->options && strcmp(values->options, "piolet") != 0)
        return help_on(values->options, help_print_options);
    if (values->options)
        help_print_man_verbs();
    else if (values->completion >= 0)
        cli_complete(values->completion, stdout);
    else if (line->options->operand_count)
        return help_on(line->options->operands[0], cli_print_help);
    else
        help_print_verbs();
    return CLI_OK;
}

const struct cli_verb cli_verb_help = {
    .name = "help",
    .summary = "list the verbs, or explain one",
    .synopsis = "[VERB]",
    .rows = ROWS,
    .operands = help_names,
    .values_size = sizeof(struct help_values),
    .values = &(const struct help_values){.completion = -1},
    .act = help_act,
};
