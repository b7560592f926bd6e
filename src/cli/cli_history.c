/* piolet history: results kept over time. The command line; history_shell.c has the commands. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifdef PIOLET_HAVE_SQLITE
#include "history/history_command.h"
#endif

extern const struct cli_verb cli_verb_history;

struct cli_history_values {
    const char *db, *label, *since, *csv, *json, *blocks;
    double level;
};

#define AT(member) OPTION_AT(struct cli_history_values, member)
static const struct option_row ROWS[] = {
    {.name = "db",
     .type = OPTION_TEXT,
     .argument = "FILE",
     AT(db),
     .help = "the history; by default piolet/history.db in XDG_DATA_HOME or ~/.local/share"},
    {.name = "label",
     .letter = 'l',
     .type = OPTION_TEXT,
     .argument = "NAME",
     AT(label),
     .more = "Blocks that are there already get it too.",
     .help = "add: a name for these results"},
    {.name = "since",
     .type = OPTION_TEXT,
     .argument = "WHEN",
     AT(since),
     .more = "Days and times are in UTC.",
     .help = "regressions: the new runs are those from this day (2026-11-15), time, label or ID on; by default the "
             "newest run of each quantity"},
    {.name = "level",
     .type = OPTION_NUMBER,
     .argument = "P",
     .initial = "0.95",
     .min = 0.5,
     .max = 0.999999,
     AT(level),
     .help = "confidence"},
    {.name = "csv",
     .type = OPTION_TEXT,
     .argument = "FILE|-",
     AT(csv),
     .more = "A row for each number.",
     .help = "export: numbers as CSV (- is standard output)"},
    {.name = "json", .type = OPTION_TEXT, .argument = "FILE|-", AT(json), .help = "export: runs and numbers as JSON"},
    {.name = "blocks",
     .type = OPTION_TEXT,
     .argument = "FILE|-",
     AT(blocks),
     .more = "A last line that was cut is ended.",
     .help = "export: the blocks, byte by byte"},
    {0}};
#undef AT

static const char *const COMMAND_NAMES[] = {"add", "list", "show", "compare", "regressions", "export", "remove", NULL};

static const char *const *history_command_names(void)
{
    return COMMAND_NAMES;
}

#ifdef PIOLET_HAVE_SQLITE

/* The commands, the operands that each needs, and the options that it knows. */
static const struct history_command {
    size_t least, most;
    const char *wants;
    const char *options;
} COMMANDS[] = {
    {1, SIZE_MAX, "block files", "label"}, {0, SIZE_MAX, "", ""},     {1, SIZE_MAX, "an ID or label", ""},
    {2, 2, "two IDs or labels", "level"},  {0, 0, "", "since level"}, {0, SIZE_MAX, "", "csv json blocks"},
    {1, SIZE_MAX, "IDs or labels", ""},
};

static void history_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void history_complain(const char *format, ...)
{
    char text[PL_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cli_complain(&cli_verb_history, "%s", text);
}

static int history_check(const struct history_request *request, const struct history_command *command,
                         const struct options *options)
{
    for (const struct option_row *row = ROWS + 1; row->name; row++) /* all but --db */
        if (options_given(options, row->name) && !strstr(command->options, row->name))
            return cli_usage_error(&cli_verb_history, "'%s' has no option --%s", request->command, row->name);
    if (request->word_count < command->least)
        return cli_usage_error(&cli_verb_history, "'%s' needs %s", request->command, command->wants);
    if (request->word_count > command->most)
        return cli_usage_error(&cli_verb_history, "'%s' does not take '%s'", request->command,
                               request->words[command->most]);
    if (strcmp(request->command, "export") == 0 && !request->blocks && !request->csv && !request->json)
        return cli_usage_error(&cli_verb_history, "'export' needs --blocks, --csv or --json");
    if (request->label && (!request->label[0] || strpbrk(request->label, "\n\t")))
        return cli_usage_error(&cli_verb_history, "--label: a word or some, on one line");
    return CLI_OK;
}

static int history_act(void *target, const struct cli_line *line)
{
    const struct cli_history_values *values = target;
    const struct options *options = line->options;
    size_t number = 0;
    if (options->operand_count == 0)
        return cli_usage_error(&cli_verb_history,
                               "which command? add, list, show, compare, regressions, export, remove");
    while (COMMAND_NAMES[number] && strcmp(COMMAND_NAMES[number], options->operands[0]) != 0)
        number++;
    if (!COMMAND_NAMES[number])
        return cli_unknown(&cli_verb_history, "a command", options->operands[0], COMMAND_NAMES);
    const struct history_request request = {.complain = history_complain,
                                            .command = COMMAND_NAMES[number],
                                            .db = values->db,
                                            .label = values->label,
                                            .since = values->since,
                                            .level = values->level,
                                            .csv = values->csv,
                                            .json = values->json,
                                            .blocks = values->blocks,
                                            .words = options->operands + 1,
                                            .word_count = options->operand_count - 1};
    const int status = history_check(&request, &COMMANDS[number], options);
    return status == CLI_OK ? history_command(&request) : status;
}

#else

static int history_act(void *target, const struct cli_line *line)
{
    (void)target;
    (void)line;
    cli_complain(&cli_verb_history, "this piolet has no history: SQLite was not there when it was built "
                                    "(Debian: libsqlite3-dev)");
    return CLI_FAILED;
}

#endif

const struct cli_verb cli_verb_history = {
    .name = "history",
    .summary = "keep results over time, compare them, find regressions",
    .synopsis = "add FILE... | list [ID]... | show ID... | compare A B | regressions | "
                "export [ID]... | remove ID...",
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
    .rows = ROWS,
    .operands = history_command_names,
    .values_size = sizeof(struct cli_history_values),
    .act = history_act,
};
