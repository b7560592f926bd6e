/* The command line around replay: what was asked for, and what is printed. */
#ifndef PIOLET_CLI_REPLAY_SHELL_H
#define PIOLET_CLI_REPLAY_SHELL_H

#include "cli/cli.h"
#include "replay/replay.h"

enum { REPLAY_SHELL_PLACES = 32, REPLAY_SHELL_HINTS = 64, REPLAY_SHELL_PHASES = 256 };

struct replay_shell {
    const struct cli_verb *verb;
    struct replay_job job; /* directory and mpiio are those of the one under way */
    struct model model;
    struct replay_plan plan;
    const char *places[REPLAY_SHELL_PLACES];
    int place_count;
    struct replay_pair hints[REPLAY_SHELL_HINTS];
    char *hint_texts[REPLAY_SHELL_HINTS]; /* "KEY\0VALUE"; owned */
    int phases[REPLAY_SHELL_PHASES];
    int phase_count;
    int ranks;         /* of -n; 0: not given */
    const char *mpiio; /* NULL, system, piolet, both */
    bool dry_run;
    const char *json, *csv, *progress;
};

/* A hint "KEY=VALUE" of the command line, or all of a file. */
pl_status replay_shell_hint(struct replay_shell *shell, const char *text, struct pl_error *error);
pl_status replay_shell_hints(struct replay_shell *shell, const char *path, struct pl_error *error);

/* Reads the model and makes the plan. */
pl_status replay_shell_load(struct replay_shell *shell, struct pl_error *error);
void replay_shell_clear(struct replay_shell *shell);

void replay_shell_print_plan(const struct replay_shell *shell);
/* Starts MPI and replays on one place after the other; every rank calls. An exit status. */
int replay_shell_run_coll(struct replay_shell *shell, int argc, char **argv);

#endif
