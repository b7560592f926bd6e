/* piolet history: results kept over time. The command line; history_shell.c has the commands. */
#include "base/units.h"
#include "cli/cli.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#ifdef PIOLET_HAVE_SQLITE
#include "cli/history_shell.h"
#endif

extern const struct cli_verb cli_verb_history;

enum { OPT_DB = 1, OPT_LABEL, OPT_SINCE, OPT_LEVEL, OPT_CSV, OPT_JSON, OPT_BLOCKS };

#ifdef PIOLET_HAVE_SQLITE

/* The commands, the operands that each needs, and the options that it knows. */
static const struct command {
    const char *name;
    size_t least, most;
    const char *wants;
    const char *options;
} COMMANDS[] = {
    {"add", 1, SIZE_MAX, "block files", "label"}, {"list", 0, SIZE_MAX, "", ""},
    {"show", 1, SIZE_MAX, "an ID or label", ""},  {"compare", 2, 2, "two IDs or labels", "level"},
    {"regressions", 0, 0, "", "since level"},     {"export", 0, SIZE_MAX, "", "csv json blocks"},
    {"remove", 1, SIZE_MAX, "IDs or labels", ""},
};

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < sizeof COMMANDS / sizeof COMMANDS[0]; i++)
        if (strcmp(COMMANDS[i].name, name) == 0)
            return &COMMANDS[i];
    return NULL;
}

static const char *option_name(int id)
{
    return cli_verb_history.options[id - 1].name;
}

static bool take_option(struct history_request *request, int option, const char *argument)
{
    const char **const texts[] = {
        [OPT_DB] = &request->db,   [OPT_LABEL] = &request->label, [OPT_SINCE] = &request->since,  [OPT_LEVEL] = NULL,
        [OPT_CSV] = &request->csv, [OPT_JSON] = &request->json,   [OPT_BLOCKS] = &request->blocks};
    if (option != OPT_LEVEL) {
        *texts[option] = argument;
        return true;
    }
    if (units_parse_number(argument, &request->level) && request->level >= 0.5 && request->level < 1)
        return true;
    cli_usage_error(&cli_verb_history, "--level: '%s'; allowed: 0.5 and more, below 1", argument);
    return false;
}

static int check(const struct history_request *request, const struct command *command, unsigned given)
{
    for (int id = OPT_LABEL; id <= OPT_BLOCKS; id++)
        if (given >> id & 1 && !strstr(command->options, option_name(id)))
            return cli_usage_error(&cli_verb_history, "'%s' has no option --%s", command->name, option_name(id));
    if (request->word_count < command->least)
        return cli_usage_error(&cli_verb_history, "'%s' needs %s", command->name, command->wants);
    if (request->word_count > command->most)
        return cli_usage_error(&cli_verb_history, "'%s' does not take '%s'", command->name,
                               request->words[command->most]);
    if (request->label && (!request->label[0] || strpbrk(request->label, "\n\t")))
        return cli_usage_error(&cli_verb_history, "--label: a word or some, on one line");
    return CLI_OK;
}

static int history_run(int argc, char **argv)
{
    struct history_request request = {.verb = &cli_verb_history, .level = 0.95};
    const char *argument;
    unsigned given = 0;
    int option;
    while ((option = cli_next(&cli_verb_history, argc, argv, &argument)) > CLI_END) {
        if (!take_option(&request, option, argument))
            return CLI_USAGE;
        given |= 1u << option;
    }
    if (option == CLI_BAD)
        return CLI_USAGE;
    if (optind == argc)
        return cli_usage_error(&cli_verb_history,
                               "which command? add, list, show, compare, regressions, export, remove");
    const struct command *command = find(argv[optind]);
    if (!command)
        return cli_usage_error(&cli_verb_history,
                               "'%s' is no command; there are add, list, show, compare, regressions, export, remove",
                               argv[optind]);
    request.command = command->name;
    request.words = (const char *const *)argv + optind + 1;
    request.word_count = (size_t)(argc - optind - 1);
    const int status = check(&request, command, given);
    return status == CLI_OK ? history_shell(&request) : status;
}

#else

static int history_run(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    cli_complain(&cli_verb_history, "this piolet has no history: SQLite was not there when it was built "
                                    "(Debian: libsqlite3-dev)");
    return CLI_FAILED;
}

#endif

const struct cli_verb cli_verb_history = {
    .name = "history",
    .summary = "keep results over time, compare them, find regressions",
    .synopsis = "add FILE... | list [ID]... | show ID... | compare A B | regressions |\n"
                "       export [ID]... | remove ID...",
    .details = "Commands:\n"
               "  add FILE...       keep all blocks of block files; twice does no harm\n"
               "  list [ID]...      what is there\n"
               "  show ID...        one run: its settings and its numbers\n"
               "  compare A B       numbers measured under the same conditions\n"
               "  regressions       what became slower, with confidence; exit status 1\n"
               "                    where something did\n"
               "  export [ID]...    as blocks, CSV or JSON\n"
               "  remove ID...      forget runs\n"
               "ID is the beginning of a run's id, a label (all its runs), or 'last'.",
    .options = (const struct cli_option[]){{OPT_DB, "db", 0, "FILE",
                                            "the history; by default piolet/history.db in\n"
                                            "XDG_DATA_HOME or ~/.local/share"},
                                           {OPT_LABEL, "label", 'l', "NAME", "add: a name for these results"},
                                           {OPT_SINCE, "since", 0, "WHEN",
                                            "regressions: the new runs are those from this day\n"
                                            "(2026-11-15), time, label or ID on; by default the\n"
                                            "newest run of each quantity"},
                                           {OPT_LEVEL, "level", 0, "P", "confidence, 0.95 by default"},
                                           {OPT_CSV, "csv", 0, "FILE", "export: numbers as CSV (- is standard output)"},
                                           {OPT_JSON, "json", 0, "FILE", "export: runs and numbers as JSON"},
                                           {OPT_BLOCKS, "blocks", 0, "FILE", "export: the blocks, byte by byte"},
                                           {0}},
    .run = history_run,
};
