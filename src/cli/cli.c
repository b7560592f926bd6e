#include "cli/cli.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ENTRY(name) extern const struct cli_verb cli_verb_##name;
#include "cli/verb.def"
#undef ENTRY

const struct cli_verb *const CLI_VERBS[] = {
#define ENTRY(name) &cli_verb_##name,
#include "cli/verb.def"
#undef ENTRY
    NULL};

const struct cli_verb *cli_verb_find(const char *name)
{
    for (const struct cli_verb *const *verb = CLI_VERBS; *verb; verb++)
        if (strcmp((*verb)->name, name) == 0)
            return *verb;
    return NULL;
}

enum { OPTIONS_MAX = 48, ID_BASE = 1000 };

int cli_next(const struct cli_verb *verb, int argc, char **argv, const char **ret_argument)
{
    struct option longs[OPTIONS_MAX + 1] = {{0}};
    char letters[2 * OPTIONS_MAX + 2] = "";
    size_t count = 0;
    for (const struct cli_option *option = verb->options; option->id; option++) {
        const int takes = option->argument ? required_argument : no_argument;
        longs[count++] = (struct option){option->name, takes, NULL, ID_BASE + option->id};
        if (option->letter) {
            const char spec[3] = {option->letter, option->argument ? ':' : '\0', '\0'};
            strcat(letters, spec);
        }
    }
    const int got = getopt_long(argc, argv, letters, longs, NULL);
    *ret_argument = optarg;
    if (got == -1)
        return CLI_END;
    if (got == '?') {
        fprintf(stderr, "Try 'piolet %s --help'.\n", verb->name);
        return CLI_BAD;
    }
    if (got > ID_BASE)
        return got - ID_BASE;
    for (const struct cli_option *option = verb->options; option->id; option++)
        if (option->letter == got)
            return option->id;
    return CLI_BAD;
}

static void print_option(const struct cli_option *option)
{
    enum { COLUMN = 28 };
    char left[80];
    const int width = snprintf(left, sizeof left, "  %c%c%s--%s%s%s", option->letter ? '-' : ' ',
                               option->letter ? option->letter : ' ', option->letter ? ", " : "  ", option->name,
                               option->argument ? "=" : "", option->argument ? option->argument : "");
    printf("%s", left);
    if (width >= COLUMN - 1)
        printf("\n%*s", COLUMN, "");
    else
        printf("%*s", COLUMN - width, "");
    for (const char *c = option->help; *c; c++)
        if (*c == '\n')
            printf("\n%*s", COLUMN, "");
        else
            putchar(*c);
    putchar('\n');
}

void cli_print_help(const struct cli_verb *verb)
{
    printf("Usage: piolet %s %s\n%s\n", verb->name, verb->synopsis, verb->summary);
    if (verb->details)
        printf("\n%s\n", verb->details);
    printf("\nOptions:\n");
    for (const struct cli_option *option = verb->options; option->id; option++)
        print_option(option);
    printf("      --help                this text\n\nThe manual: man piolet-%s\n", verb->name);
}

void cli_complain(const struct cli_verb *verb, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "piolet %s: ", verb->name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

int cli_usage_error(const struct cli_verb *verb, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "piolet %s: ", verb->name);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nTry 'piolet %s --help'.\n", verb->name);
    va_end(args);
    return CLI_USAGE;
}
