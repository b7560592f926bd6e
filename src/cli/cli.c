#include "cli/cli.h"

#include "base/variables.h"
#include "lab/runner/lab.h"
#include "mpi/launcher.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* "piolet VERB", or the name of a program of its own. */
static const char *name_of(const struct cli_verb *verb, char *buffer, size_t capacity)
{
    snprintf(buffer, capacity, "%s%s", verb->standalone ? "" : "piolet ", verb->name);
    return buffer;
}

/* ---- rows ---- */

void cli_verb_tables(const struct cli_verb *verb, const struct option_row *ret_tables[CLI_TABLES_MAX])
{
    static_assert((int)CLI_TABLES_MAX == (int)LAB_TABLES_MAX, "one array serves both");
    static const struct option_row none[] = {{0}};
    if (verb->bench) {
        lab_tables(verb->bench, ret_tables);
        return;
    }
    ret_tables[0] = verb->rows ? verb->rows : none;
    ret_tables[1] = NULL;
}

int cli_options(const struct cli_verb *verb, int argc, char **argv, void *values, struct options *ret_options)
{
    const struct option_row *tables[CLI_TABLES_MAX];
    struct pl_error error;
    assert(!verb->bench);
    cli_verb_tables(verb, tables);
    const struct option_table table = {tables[0], values};
    options_init(ret_options, &table, 1);
    if (options_take_words(ret_options, argc, argv, verb->runs_program, &error) == PL_OK)
        return CLI_OK;
    if (job_speaks())
        cli_usage_error(verb, "%s", error.text);
    return CLI_USAGE;
}

int cli_unknown(const struct cli_verb *verb, const char *what, const char *word, const char *const *names)
{
    struct text all = {0};
    assert(names[0]);
    const char *near = variables_nearest(word, names);
    for (size_t i = 0; names[i]; i++)
        text_format(&all, "%s%s", i == 0 ? "" : names[i + 1] ? ", " : " or ", names[i]);
    if (near)
        cli_usage_error(verb, "'%s' is not %s; did you mean '%s'?", word, what, near);
    else
        cli_usage_error(verb, "'%s' is not %s: %s", word, what, text_get(&all));
    text_clear(&all);
    return CLI_USAGE;
}

/* ---- help ---- */

const char *cli_verb_page(const struct cli_verb *verb, char *buffer, size_t capacity)
{
    snprintf(buffer, capacity, "%s", verb->name);
    for (char *at = buffer; (at = strchr(at, ' ')); at++)
        *at = '-';
    return buffer;
}

void cli_print_help(const struct cli_verb *verb)
{
    char name[CLI_NAME_MAX];
    const struct bench *bench = verb->bench;
    const struct option_row *tables[CLI_TABLES_MAX];
    cli_verb_tables(verb, tables);
    struct text usage = {0};
    text_format(&usage, "Usage: %s %s%s%s", name_of(verb, name, sizeof name), bench ? "[OPTION]..." : verb->synopsis,
                bench && bench->operands ? " " : "", bench && bench->operands ? bench->operands : "");
    text_print_wrapped(stdout, text_get(&usage), 0, strlen("Usage: "));
    text_clear(&usage);
    printf("%s\n\n", verb->summary);
    if (bench && bench->details) {
        text_print_wrapped(stdout, bench->details, 0, 0);
        putchar('\n');
    } else if (verb->details) {
        printf("%s\n\n", verb->details);
    } else if (verb->explain) {
        verb->explain(stdout);
        putchar('\n');
    }
    printf("Options:\n");
    options_print_help(tables, stdout);
    printf("      --help                this text\n\nThe manual: man piolet-%s%s\n", verb->standalone ? "run" : "",
           verb->standalone ? "" : cli_verb_page(verb, name, sizeof name));
}

static void complain_of(const struct cli_verb *verb, const char *format, va_list args, bool of_usage)
{
    char name[CLI_NAME_MAX];
    fprintf(stderr, "%s: ", name_of(verb, name, sizeof name));
    vfprintf(stderr, format, args);
    if (of_usage)
        fprintf(stderr, "\nTry '%s --help'.", name);
    fputc('\n', stderr);
}

void cli_print_row(const char *name, const char *summary)
{
    enum { COLUMN = 13 };
    printf("  %-10s ", name);
    text_print_wrapped(stdout, summary, COLUMN, COLUMN);
}

void cli_complain(const struct cli_verb *verb, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain_of(verb, format, args, false);
    va_end(args);
}

int cli_usage_error(const struct cli_verb *verb, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain_of(verb, format, args, true);
    va_end(args);
    return CLI_USAGE;
}
