/* piolet preload: runs a program on our MPI-IO. */
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/cli_launch.h"
#include "cli/cli_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct cli_verb cli_verb_preload;

struct preload_values {
    int64_t ranks; /* 0: -n was not given */
    const char *hints;
    bool system, print;
};

/* Words NAME=VALUE, or those of a file. */
static pl_status preload_set_hints(void *target, const struct option_row *row, const char *value,
                                   struct pl_error *error)
{
    struct preload_values *values = target;
    struct text file = {0};
    pl_status status = PL_OK;
    (void)row;
    if (value[0] == '@') {
        status = text_read_file(value + 1, &file, error);
        for (char *c = file.data; c && *c; c++)
            if (*c == '\n' || *c == ';')
                *c = ' ';
    }
    const char *all = value[0] == '@' ? text_get(&file) : value;
    for (const char *at = all; status == PL_OK && *(at += strspn(at, " \t"));) {
        const size_t word = strcspn(at, " \t"), name = strcspn(at, "= \t");
        if (name == 0 || name == word)
            status = pl_fail(error, PL_E_USAGE, "'%.*s' is not NAME=VALUE", (int)word, at);
        at += word;
    }
    if (status == PL_OK && value[0] == '@')
        values->hints = memory_copy(all); /* until this process becomes the program */
    text_clear(&file);
    return status;
}

#define AT(member) OPTION_AT(struct preload_values, member)
static const struct option_row ROWS[] = {
    {CLI_LAUNCH_RANKS, AT(ranks),
     .more = "Or srun inside a SLURM job. Where the ranks are more than the cores, the MPI is told to yield while it "
             "waits.",
     .help = "start mpiexec with N ranks of PROGRAM"},
    {.name = "hints",
     .aliases = "hint",
     .type = OPTION_TEXT,
     .argument = "TEXT|@FILE",
     AT(hints),
     .set = preload_set_hints,
     .more = "They are put behind what PIOLET_HINTS holds already. @FILE: lines NAME=VALUE.",
     .help = "hints for every file, as \"NAME=VALUE NAME=VALUE\"; 'piolet hints' lists them"},
    {.name = "system",
     .type = OPTION_FLAG,
     AT(system),
     .more = "Our library is still in between: the hint piolet_impl=system.",
     .help = "leave all files to the MPI's own functions: for comparisons"},
    {.name = "print",
     .type = OPTION_FLAG,
     AT(print),
     .more = "For scripts of one's own. PROGRAM may be left out.",
     .help = "print the value for LD_PRELOAD, and run nothing"},
    {0}};
#undef AT

/* Behind what the environment has already: of two values the later one counts. */
static void preload_export_hints(const struct preload_values *values)
{
    const char *before = getenv("PIOLET_HINTS");
    const char *const parts[] = {before, values->hints, values->system ? "piolet_impl=system" : NULL};
    struct text all = {0};
    for (int i = 0; i < 3; i++)
        if (parts[i] && *parts[i])
            text_format(&all, "%s%s", all.length ? " " : "", parts[i]);
    if (all.length)
        setenv("PIOLET_HINTS", text_get(&all), 1);
    text_clear(&all);
}

static int preload_launch(const struct preload_values *values, int argc, char **argv)
{
    const char *words[4] = {0};
    int count = 0;
    if (values->hints) {
        words[count++] = "--hints";
        words[count++] = values->hints;
    }
    if (values->system)
        words[count++] = "--system";
    return cli_launch_program(&cli_verb_preload, (int)values->ranks, words, argc, argv);
}

static int preload_act(void *target, const struct cli_line *line)
{
    const struct preload_values *values = target;
    const int count = (int)line->options->operand_count;
    char **program = line->argv + line->argc - count;
    static const char *const libraries[] = {"libpiolet-mpiio.so", NULL};
    static char list[CLI_PRELOAD_MAX];
    const struct cli_verb *const verb = &cli_verb_preload;
    char path[PATH_MAX];
    int status;
    if ((count > 0 || !values->print) && (status = cli_target_take(verb, line, path)))
        return status;
    if (!cli_target_preload(verb, libraries, list))
        return CLI_FAILED;
    if (values->print) {
        puts(list);
        return CLI_OK;
    }
    if (values->ranks)
        return preload_launch(values, count, program);
    preload_export_hints(values);
    setenv("LD_PRELOAD", list, 1);
    return cli_target_exec(verb, path, program);
}

const struct cli_verb cli_verb_preload = {
    .name = "preload",
    .runs_program = true,
    .summary = "run a program on our MPI-IO",
    .synopsis = "[OPTION]... [--] PROGRAM [ARGUMENT]...",
    .details = "PROGRAM is any MPI program that is linked dynamically; it is not changed.\n"
               "'mpiexec -n 4 piolet preload PROGRAM' and 'piolet preload -n 4 PROGRAM' do\n"
               "the same. The exit status is that of PROGRAM.",
    .rows = ROWS,
    .values_size = sizeof(struct preload_values),
    .act = preload_act,
};
