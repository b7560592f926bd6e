/* The command line: verbs, their options, and the exit statuses.
 *
 * A verb is one file cli_NAME.c and one line in verb.def. Its option table serves parsing, --help and the man page
 * check. Verbs parse, call a library and print; libraries never print. */
#ifndef PIOLET_CLI_CLI_H
#define PIOLET_CLI_CLI_H

#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>

enum cli_exit {
    CLI_OK = 0,
    CLI_FAILED = 1, /* it ran, and something in it failed */
    CLI_USAGE = 2   /* the command line or an input file is wrong: nothing was run */
};

struct cli_option {
    int id; /* > 0, returned by cli_next() */
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* shown in --help; NULL: takes none */
    const char *help;     /* may hold \n: the lines are indented under each other */
};

struct cli_verb {
    const char *name;
    const char *summary;               /* one line */
    const char *synopsis;              /* what stands behind the verb */
    const char *details;               /* shown by --help between synopsis and options; may be NULL */
    const struct cli_option *options;  /* ends with {0} */
    int (*run)(int argc, char **argv); /* argv[0] is the verb; returns an exit status */
    bool standalone;                   /* a program of its own, not a verb of piolet */
    bool runs_program;                 /* its first operand is a program, and what follows belongs to that */
};

extern const struct cli_verb *const CLI_VERBS[]; /* ends with NULL */
const struct cli_verb *cli_verb_find(const char *name);

enum { CLI_END = 0, CLI_BAD = -1 };

/* The next option's id, its argument in *ret_argument; CLI_END at the end, with the operands from argv[optind] on
 * (options and operands may be mixed). CLI_BAD: a message was printed, return CLI_USAGE. */
int cli_next(const struct cli_verb *verb, int argc, char **argv, const char **ret_argument);

void cli_print_help(const struct cli_verb *verb);

/* "piolet VERB: message" on stderr, with a pointer to --help when the command line itself was wrong. */
int cli_usage_error(const struct cli_verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_complain(const struct cli_verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
