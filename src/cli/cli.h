/* The command line: verbs, their options, and the exit statuses.
 *
 * A verb is one file cli_NAME.c and one line in verb.def. Its rows serve parsing, --help, the manual and completion.
 * Verbs parse, call a library and print; libraries never print. */
#ifndef PIOLET_CLI_CLI_H
#define PIOLET_CLI_CLI_H

#include "base/status.h"

#include "base/option.h"

#include <stdbool.h>
#include <stdio.h>

enum cli_exit {
    CLI_OK = 0,
    CLI_FAILED = 1, /* it ran, and something in it failed */
    CLI_USAGE = 2   /* the command line or an input file is wrong: nothing was run */
};

enum { CLI_TABLES_MAX = 8, CLI_VERBS_MAX = 64, CLI_NAME_MAX = 64 };

/* A command line that was read. */
struct cli_line {
    const struct options *options;
    int argc;
    char **argv; /* argv[0] is the verb */
};

struct cli_verb {
    const char *name;
    const char *summary;           /* one line */
    const char *synopsis;          /* what stands behind the verb */
    const char *details;           /* shown by --help between synopsis and options; may be NULL */
    void (*explain)(FILE *stream); /* the same, where tables have to be gone through; may be NULL */
    const struct option_row *rows; /* its options; ends with {0}. NULL: none */
    /* Words that the first operand may be, for completion; NULL: it is a file. */
    const char *const *(*operands)(void);
    /* What it does once its command line is read into `values`. Returns an exit status. */
    int (*act)(void *values, const struct cli_line *line);
    size_t values_size;                /* of the struct that the rows fill */
    const void *values;                /* what stands in it before; NULL: zeros */
    int (*run)(int argc, char **argv); /* in the place of `act`: reads the command line itself; argv[0] is the verb */
    const struct bench *bench;         /* a benchmark: options and the rest come from there */
    bool standalone;                   /* a program of its own, not a verb of piolet */
    bool runs_program;                 /* its first operand is a program, and what follows belongs to that */
};

const struct cli_verb *const *cli_verbs(void); /* ends with NULL */
int cli_run_verb(const struct cli_verb *verb, int argc, char **argv);
const struct cli_verb *cli_verb_find(const char *name);
/* 'piolet bench NAME', also where NAME alone is another verb. NULL: there is no such benchmark. */
const struct cli_verb *cli_verb_of_bench(const char *name);
/* The verb that was probably meant, or NULL. */
const char *cli_verb_nearest(const char *name);

/* The tables of a verb's rows, ended by NULL. */
void cli_verb_tables(const struct cli_verb *verb, const struct option_row *ret_tables[CLI_TABLES_MAX]);

/* Reads the command line of a verb into `values`, the struct that its rows fill; operands are in ret_options. Not
 * CLI_OK: a message was printed, by one process of a job. The caller clears ret_options in any case, and not before it
 * is done with the values. */
int cli_options(const struct cli_verb *verb, int argc, char **argv, void *values, struct options *ret_options);
/* "'x' is not a tool; did you mean y?" with the nearest of `names`, or with all of them where none is near. */
int cli_unknown(const struct cli_verb *verb, const char *what, const char *word, const char *const *names);

void cli_print_help(const struct cli_verb *verb);
/* The name of its manual page, without "piolet-": that of the verb, "bench-NAME" of a benchmark that is none. */
const char *cli_verb_page(const struct cli_verb *verb, char *buffer, size_t capacity);

/* In the order of the choices of 'piolet help --completion'. */
enum cli_shell { CLI_BASH, CLI_ZSH, CLI_FISH };
void cli_complete(enum cli_shell shell, FILE *stream);

/* "piolet VERB: message" on stderr, with a pointer to --help when the command line itself was wrong. */
int cli_usage_error(const struct cli_verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "  name       summary" of a list, wrapped at 79 columns. */
void cli_print_row(const char *name, const char *summary);
void cli_complain(const struct cli_verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
