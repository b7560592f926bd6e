/* The commands of `piolet history`; only where piolet was built with SQLite. */
#ifndef PIOLET_CLI_HISTORY_SHELL_H
#define PIOLET_CLI_HISTORY_SHELL_H

#include "cli/cli.h"
#include "history/history.h"

struct history_request {
    const struct cli_verb *verb;
    const char *command;
    const char *db;    /* NULL: the default one */
    const char *label; /* of add; NULL: none */
    const char *since; /* of regressions; NULL: the newest run of each quantity */
    double level;
    const char *csv, *json, *blocks; /* of export */
    const char *const *words;        /* the operands behind the command */
    size_t word_count;
};

int history_shell(const struct history_request *request);

/* ---- its commands; each gets an open history ---- */

int history_shell_compare(const struct history_request *request, struct history *history);
int history_shell_regressions(const struct history_request *request, struct history *history);
int history_shell_export(const struct history_request *request, struct history *history);

/* Digits behind the point that a number of this size is printed with. */
int history_shell_digits(double value);

/* The words of a failure; returns an exit status. */
int history_shell_failed(const struct history_request *request, const struct pl_error *error);

#endif
