/* The commands of `piolet history`; only where piolet was built with SQLite. */
#ifndef PIOLET_HISTORY_COMMAND_H
#define PIOLET_HISTORY_COMMAND_H

#include "history/history.h"

/* Exit statuses, as those of verbs. */
enum { HISTORY_OK, HISTORY_FAILED, HISTORY_USAGE };

struct history_request {
    void (*complain)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    const char *command;
    const char *db;    /* NULL: the default one */
    const char *label; /* of add; NULL: none */
    const char *since; /* of regressions; NULL: the newest run of each quantity */
    double level;
    const char *csv, *json, *blocks; /* of export */
    const char *const *words;        /* the operands behind the command */
    size_t word_count;
};

int history_command(const struct history_request *request);

/* ---- its commands; each gets an open history ---- */

int history_command_compare(const struct history_request *request, struct history *history);
int history_command_regressions(const struct history_request *request, struct history *history);
int history_command_export(const struct history_request *request, struct history *history);

/* Digits behind the point that a number of this size is printed with. */
int history_digits(double value);

/* The words of a failure; returns an exit status. */
int history_failed(const struct history_request *request, const struct pl_error *error);

#endif
