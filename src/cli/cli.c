#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* "piolet VERB", or the name of a program of its own. */
static const char *name_of(const struct cli_verb *verb, char *buffer, size_t capacity)
{
    snprintf(buffer, capacity, "%s%s", verb->standalone ? "" : "piolet ", verb->name);
    return buffer;
}

enum { NAME_MAX_CHARS = 64, OPTIONS_MAX = 48, ID_BASE = 1000 };

/* getopt leaves the letter of a short option in optopt, and a long option's word behind it. */
static int bad_option(const struct cli_verb *verb, char **argv, bool lacks_value)
{
    const char letter[] = {'-', (char)optopt, '\0'};
    const bool is_short = optopt > 0 && optopt < ID_BASE && strncmp(argv[optind - 1], "--", 2) != 0;
    const char *word = is_short ? letter : argv[optind - 1];
    if (lacks_value)
        cli_usage_error(verb, "option '%s' needs a value", word);
    else
        cli_usage_error(verb, optopt > ID_BASE ? "option '%s' takes no value" : "'%s' is not an option", word);
    return CLI_BAD;
}

int cli_next(const struct cli_verb *verb, int argc, char **argv, const char **ret_argument)
{
    struct option longs[OPTIONS_MAX + 1] = {{0}};
    char letters[2 * OPTIONS_MAX + 3] = ":";
    size_t count = 0;
    for (const struct cli_option *option = verb->options; option->id; option++) {
        const int takes = option->argument ? required_argument : no_argument;
        longs[count++] = (struct option){option->name, takes, NULL, ID_BASE + option->id};
        if (option->letter) {
            const char spec[3] = {option->letter, option->argument ? ':' : '\0', '\0'};
            strcat(letters, spec);
        }
    }
    opterr = 0; /* the messages are ours */
    const int got = getopt_long(argc, argv, letters, longs, NULL);
    *ret_argument = optarg;
    if (got == -1)
        return CLI_END;
    if (got == '?' || got == ':')
        return bad_option(verb, argv, got == ':');
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
    char name[NAME_MAX_CHARS];
    printf("Usage: %s %s\n%s\n", name_of(verb, name, sizeof name), verb->synopsis, verb->summary);
    if (verb->details)
        printf("\n%s\n", verb->details);
    printf("\nOptions:\n");
    for (const struct cli_option *option = verb->options; option->id; option++)
        print_option(option);
    printf("      --help                this text\n\nThe manual: man piolet-%s\n",
           verb->standalone ? "run" : verb->name);
}

void cli_complain(const struct cli_verb *verb, const char *format, ...)
{
    va_list args;
    char name[NAME_MAX_CHARS];
    va_start(args, format);
    fprintf(stderr, "%s: ", name_of(verb, name, sizeof name));
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

int cli_usage_error(const struct cli_verb *verb, const char *format, ...)
{
    va_list args;
    char name[NAME_MAX_CHARS];
    va_start(args, format);
    fprintf(stderr, "%s: ", name_of(verb, name, sizeof name));
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nTry '%s --help'.\n", name);
    va_end(args);
    return CLI_USAGE;
}
