/* The command line around the application kernels, shared by `piolet btio` and `piolet madbench`. */
#ifndef PIOLET_CLI_APPS_SHELL_H
#define PIOLET_CLI_APPS_SHELL_H

#include "bench/apps/apps.h"
#include "cli/cli.h"

enum { APPS_SHELL_PAIRS_MAX = 64, APPS_SHELL_KEY_MAX = 256 };

/* Options that every kernel has; a verb puts its own before them, with ids from 1 on. */
enum {
    APPS_OPT_FILE = 100,
    APPS_OPT_RANKS,
    APPS_OPT_OUTPUT,
    APPS_OPT_REPEAT,
    APPS_OPT_HINT,
    APPS_OPT_SEED,
    APPS_OPT_KEEP,
    APPS_OPT_OVERWRITE,
    APPS_OPT_DRY_RUN,
    APPS_OPT_JSON,
    APPS_OPT_CSV,
    APPS_OPT_PROGRESS
};

#define APPS_SHELL_OPTIONS                                                                                             \
    {APPS_OPT_FILE, "file", 'f', "FILE", "the test file"},                                                             \
        {APPS_OPT_RANKS, "ranks", 'n', "N", "start mpiexec (srun under SLURM) with N ranks"},                          \
        {APPS_OPT_OUTPUT, "output", 'o', "FILE", "append the results to FILE (apps.out)"},                             \
        {APPS_OPT_REPEAT, "repeat", 0, "N", "run so often (1)"},                                                       \
        {APPS_OPT_HINT, "hint", 0, "KEY=VALUE", "a hint for MPI-IO; may be repeated"},                                 \
        {APPS_OPT_SEED, "seed", 0, "N", "of the data (1)"},                                                            \
        {APPS_OPT_KEEP, "keep", 0, NULL, "leave the test files behind"},                                               \
        {APPS_OPT_OVERWRITE, "overwrite", 0, NULL,                                                                     \
         "take test files that are there and that piolet\ndid not leave as they are"},                                 \
        {APPS_OPT_DRY_RUN, "dry-run", 0, NULL, "print the requests, the bytes and the memory;\nrun nothing"},          \
        {APPS_OPT_JSON, "json", 0, "FILE", "export what was measured as JSON"},                                        \
        {APPS_OPT_CSV, "csv", 0, "FILE", "export what was measured as CSV"},                                           \
        {APPS_OPT_PROGRESS, "progress", 0, "WHEN", "auto (on a terminal), always, never"},                             \
    {                                                                                                                  \
        0                                                                                                              \
    }

struct apps_shell {
    const struct cli_verb *verb;
    struct apps_job job;
    int ranks; /* of -n; 0: not given */
    bool dry_run;
    const char *json, *csv, *progress;
    struct apps_pair hints[APPS_SHELL_PAIRS_MAX], inputs[APPS_SHELL_PAIRS_MAX];
    char hint_keys[APPS_SHELL_PAIRS_MAX][APPS_SHELL_KEY_MAX];
};

/* What a verb brings. `make` is pure; the kernel belongs to the caller, who hands it to `clear`. */
struct apps_shell_app {
    const void *options;
    pl_status (*make)(const void *options, int ranks, struct apps_kernel *ret_kernel, struct pl_error *error);
    void (*clear)(struct apps_kernel *kernel);
    void (*print_plan)(const struct apps_kernel *kernel, int ranks); /* the requests, for --dry-run */
};

void apps_shell_init(struct apps_shell *shell, const struct cli_verb *verb);

/* Takes an option of APPS_SHELL_OPTIONS (others are left alone), and notes any for the results. CLI_OK, or a message
 * was printed. */
int apps_shell_take(struct apps_shell *shell, int option, const char *argument);

/* A whole number within limits, or a message about `--name`. */
int apps_shell_number(const struct apps_shell *shell, const char *name, const char *text, int64_t min, int64_t max,
                      int64_t *ret_value);
/* Place of a word in `words`, which ends with NULL; or a message. */
int apps_shell_choice(const struct apps_shell *shell, const char *name, const char *text, const char *const *words,
                      int *ret_index);

/* Plan, start of mpiexec, or run; every rank calls. An exit status. */
int apps_shell_main(struct apps_shell *shell, const struct apps_shell_app *app, int argc, char **argv);

/* Rows of --dry-run are printed for so many ranks. */
enum { APPS_SHELL_RANKS_SHOWN = 16 };

#endif
