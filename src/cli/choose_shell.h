/* piolet choose: which configurations there are, and replaying the model on each of them by child processes. */
#ifndef PIOLET_CLI_CHOOSE_SHELL_H
#define PIOLET_CLI_CHOOSE_SHELL_H

#include "cli/cli.h"
#include "cli/predict_shell.h"

struct choose_configuration {
    const char *on, *mpiio;
    const char *hints; /* NULL: none */
    char *results;     /* the file that its replays append to; owned */
    bool failed;
};

struct choose_plan {
    const char *model;
    int64_t ranks;
    int rounds;
    struct option_texts more;          /* further words for 'piolet replay'; borrowed */
    struct choose_configuration *list; /* owned */
    int count;
    int finished; /* replays that ended well */
};

/* All combinations of places, implementations and hints, with results in `directory`. */
void choose_plan_make(struct choose_plan *plan, const struct option_texts *places, const struct option_texts *mpiio,
                      const struct option_texts *hints, const char *directory);
void choose_plan_clear(struct choose_plan *plan);

/* The command lines, for a dry run. */
void choose_plan_print(const struct choose_plan *plan);

/* Replays round by round, every configuration once in each: a machine that gets slower hits all of them. One that fails
 * is told and left out of later rounds. Returns CLI_OK, or CLI_FAILED if one failed. A signal ends the replays:
 * process_signal() tells. */
int choose_plan_run(const struct cli_verb *verb, struct choose_plan *plan);

#endif
