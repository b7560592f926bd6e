/* piolet replay: doing what a model says on a target, and measuring it. */
#include "cli/cli.h"
#include "cli/cli_child.h"
#include "cli/cli_engine.h"
#include "cli/cli_launch.h"
#include "cli/cli_outputs.h"
#include "cli/replay_shell.h"

#include "base/interrupt.h"
#include "base/units.h"
#include "mpi/job.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct cli_verb cli_verb_replay;

/* Which MPI-IO one of two launches takes, where --mpiio is both. */
#define MPIIO_MARK "PIOLET_REPLAY_MPIIO"

enum {
    ON = 1,
    RANKS,
    MPIIO,
    HINT,
    HINTS,
    PACE,
    CACHE,
    REPEAT,
    LIMIT,
    ALL,
    PHASE,
    KEEP,
    OUTPUT,
    DRY_RUN,
    JSON,
    CSV,
    PROGRESS
};

/* One of the processes of a launch speaks for all. */
static int refuse(const struct pl_error *error)
{
    if (job_speaks())
        cli_usage_error(&cli_verb_replay, "%s", error->text);
    return CLI_USAGE;
}

/* ---- options ---- */

static pl_status take_word(const char *option, const char *text, const char *const *words, int *ret_index,
                           struct pl_error *error)
{
    struct text allowed = {0};
    for (int i = 0; words[i]; i++) {
        text_format(&allowed, "%s%s", i ? ", " : "", words[i]);
        if (strcmp(words[i], text) == 0) {
            *ret_index = i;
            text_clear(&allowed);
            return PL_OK;
        }
    }
    pl_fail(error, PL_E_USAGE, "--%s: '%s'; allowed: %s", option, text, text_get(&allowed));
    text_clear(&allowed);
    return error->status;
}

static pl_status take_choice(struct replay_shell *shell, int id, const char *value, struct pl_error *error)
{
    static const char *const mpiio[] = {"system", "piolet", "both", NULL},
                             *const pace[] = {"fast", "short", "recorded", NULL},
                             *const cache[] = {"asis", "cold", NULL},
                             *const progress[] = {"auto", "always", "never", NULL};
    int index = 0;
    pl_status status = PL_OK;
    if (id == MPIIO && (status = take_word("mpiio", value, mpiio, &index, error)) == PL_OK)
        shell->mpiio = mpiio[index];
    if (id == PACE && (status = take_word("pace", value, pace, &index, error)) == PL_OK)
        shell->job.pace = (enum replay_pace)index;
    if (id == CACHE && (status = take_word("cache", value, cache, &index, error)) == PL_OK)
        shell->job.cold = index == 1;
    if (id == PROGRESS && (status = take_word("progress", value, progress, &index, error)) == PL_OK)
        shell->progress = progress[index];
    return status;
}

/* "30", "20s", "15m", "1h" */
static pl_status take_limit(struct replay_shell *shell, const char *text, struct pl_error *error)
{
    char number[64];
    const size_t length = strlen(text);
    const char last = length ? text[length - 1] : '\0';
    const double factor = last == 'h' ? 3600 : last == 'm' ? 60 : 1;
    snprintf(number, sizeof number, "%.*s", (int)(length - (last == 's' || last == 'm' || last == 'h')), text);
    if (length >= sizeof number || !units_parse_number(number, &shell->job.limit_s) || shell->job.limit_s <= 0)
        return pl_fail(error, PL_E_USAGE, "--limit: '%s'; allowed: a time as 30, 20s, 15m or 1h", text);
    shell->job.limit_s *= factor;
    return PL_OK;
}

static pl_status take_number(struct replay_shell *shell, int id, const char *value, struct pl_error *error)
{
    enum { REPEAT_MAX = 1000000 };
    int64_t number = 0;
    if (id == REPEAT && !units_parse_int(value, 1, REPEAT_MAX, &shell->job.repeat))
        return pl_fail(error, PL_E_USAGE, "--repeat: '%s'; allowed: 1 to %d", value, REPEAT_MAX);
    if (id == RANKS && !units_parse_int(value, 1, CLI_RANKS_MAX, &number))
        return pl_fail(error, PL_E_USAGE, "-n: '%s'; allowed: 1 to %d", value, CLI_RANKS_MAX);
    if (id == RANKS)
        shell->ranks = (int)number;
    if (id == PHASE && (!units_parse_int(value, 1, INT32_MAX, &number) || shell->phase_count == REPLAY_SHELL_PHASES))
        return pl_fail(error, PL_E_USAGE, "--phase: '%s'; allowed: up to %d numbers of phases, from 1 on", value,
                       REPLAY_SHELL_PHASES);
    if (id == PHASE)
        shell->phases[shell->phase_count++] = (int)number;
    return id == LIMIT ? take_limit(shell, value, error) : PL_OK;
}

static pl_status take_option(struct replay_shell *shell, int id, const char *value, struct pl_error *error)
{
    switch (id) {
    case ON:
        if (shell->place_count == REPLAY_SHELL_PLACES)
            return pl_fail(error, PL_E_USAGE, "--on: more than %d directories", REPLAY_SHELL_PLACES);
        shell->places[shell->place_count++] = value;
        break;
    case HINT:
        return replay_shell_hint(shell, value, error);
    case HINTS:
        return replay_shell_hints(shell, value, error);
    case OUTPUT:
        shell->job.output = value;
        break;
    case JSON:
        shell->json = value;
        break;
    case CSV:
        shell->csv = value;
        break;
    default:
        shell->job.all |= id == ALL;
        shell->job.keep |= id == KEEP;
        shell->dry_run |= id == DRY_RUN;
        return value && take_choice(shell, id, value, error) == PL_OK ? take_number(shell, id, value, error)
               : value                                                ? error->status
                                                                      : PL_OK;
    }
    return PL_OK;
}

/* ---- checks ---- */

static pl_status check_place(const char *directory, struct pl_error *error)
{
    struct stat info;
    if (stat(directory, &info) != 0)
        return pl_fail_errno(error, errno, "--on '%s'", directory);
    if (!S_ISDIR(info.st_mode))
        return pl_fail(error, PL_E_USAGE, "--on '%s' is no directory", directory);
    return access(directory, W_OK | X_OK) == 0 ? PL_OK : pl_fail_errno(error, errno, "--on '%s'", directory);
}

static pl_status check(struct replay_shell *shell, int argc, char **argv, struct pl_error *error)
{
    if (argc - optind != 1)
        return pl_fail(error, PL_E_USAGE, "which MODEL? (one file that 'piolet model' made)");
    if (shell->place_count == 0 && !shell->dry_run)
        return pl_fail(error, PL_E_USAGE, "--on is missing: a directory on the target");
    shell->job.model_path = argv[optind];
    pl_status status = replay_shell_load(shell, error);
    if (status == PL_OK && shell->ranks && shell->ranks != shell->model.ranks)
        status = pl_fail(error, PL_E_USAGE, "-n %d: the model is of %lld ranks; allowed: as many, or no -n",
                         shell->ranks, (long long)shell->model.ranks);
    for (int i = 0; i < shell->place_count && status == PL_OK; i++)
        status = check_place(shell->places[i], error);
    const struct cli_outputs outputs = {
        .results = shell->job.output, .of_others = true, .json = shell->json, .csv = shell->csv};
    return status == PL_OK ? cli_outputs_check(&outputs, error) : status;
}

/* ---- starting ---- */

/* Each MPI-IO in a launch of its own: what is preloaded is preloaded. */
static int launch_both(const struct replay_shell *shell, int argc, char **argv)
{
    static const char *const kinds[] = {"system", "piolet"};
    int worst = CLI_OK;
    for (int i = 0; i < 2 && !cli_child_signal(); i++) {
        setenv(MPIIO_MARK, kinds[i], 1);
        const int status = cli_launch(shell->verb, (int)shell->model.ranks, argc, argv);
        worst = worst == CLI_OK || cli_child_signal() ? status : worst;
    }
    return worst;
}

static int start(struct replay_shell *shell, int argc, char **argv)
{
    struct pl_error error;
    interrupt_results(shell->job.output, NULL);
    const char *mark = getenv(MPIIO_MARK);
    const bool both = shell->mpiio && strcmp(shell->mpiio, "both") == 0;
    const char *mpiio = both && mark ? mark : shell->mpiio;
    if (!job_is_launched())
        return both && !mark ? launch_both(shell, argc, argv)
                             : cli_launch(shell->verb, (int)shell->model.ranks, argc, argv);
    if (both && !mark) {
        pl_fail(&error, PL_E_USAGE, "--mpiio both starts MPI twice: leave mpiexec away");
        return refuse(&error);
    }
    if (mpiio && strcmp(mpiio, "system") == 0 && cli_engine_is_there()) {
        pl_fail(&error, PL_E_USAGE, "--mpiio system: libpiolet-mpiio.so is preloaded");
        return refuse(&error);
    }
    if (mpiio && strcmp(mpiio, "piolet") == 0 && !cli_engine_is_there())
        return cli_engine_start_again(shell->verb, argc, argv);
    return replay_shell_run_coll(shell, argc, argv);
}

static int run_replay(int argc, char **argv)
{
    static struct replay_shell shell; /* large */
    struct pl_error error;
    const char *value;
    int id, exit_status;
    shell = (struct replay_shell){.verb = &cli_verb_replay, .progress = "auto"};
    shell.job.repeat = 1;
    shell.job.pace = REPLAY_SHORT;
    shell.job.output = "replay.out";
    while ((id = cli_next(&cli_verb_replay, argc, argv, &value)) != CLI_END) {
        if (id == CLI_BAD)
            return CLI_USAGE;
        if (take_option(&shell, id, value, &error) != PL_OK)
            return refuse(&error);
    }
    if (check(&shell, argc, argv, &error) != PL_OK) {
        exit_status = refuse(&error);
    } else if (shell.dry_run) {
        replay_shell_print_plan(&shell);
        exit_status = CLI_OK;
    } else {
        exit_status = start(&shell, argc, argv);
    }
    replay_shell_clear(&shell);
    return exit_status;
}

const struct cli_verb cli_verb_replay = {
    .name = "replay",
    .summary = "do the I/O of a model on a target, and measure it",
    .synopsis = "MODEL --on DIR [OPTION]...",
    .details = "MODEL is a file that 'piolet model' made. Its calls are made on files in a folder\n"
               "of their own in DIR. As many ranks as the program had are started.",
    .options =
        (const struct cli_option[]){
            {ON, "on", 0, "DIR", "a directory on the target; may be repeated"},
            {RANKS, "ranks", 'n', "N", "as many ranks as the model has (not needed)"},
            {MPIIO, "mpiio", 0, "WHICH", "system, piolet, or both one after the other"},
            {HINT, "hint", 0, "KEY=VALUE", "a hint for MPI-IO, over those of the program; may be\nrepeated"},
            {HINTS, "hints", 0, "FILE", "hints, a line KEY=VALUE each"},
            {PACE, "pace", 0, "HOW",
             "compute before calls: fast (not), short (as long as the\nprogram, at most 0.1 s), recorded (as long)"},
            {CACHE, "cache", 0, "HOW", "asis, or cold: drop a file's pages before it is read"},
            {REPEAT, "repeat", 0, "N", "replay so often (1)"},
            {LIMIT, "limit", 0, "TIME", "do fewer turns of loops where a repetition would take\nlonger: 30, 15m"},
            {ALL, "all", 0, NULL, "no sampling: do all turns of all loops"},
            {PHASE, "phase", 0, "N", "only this phase; may be repeated"},
            {KEEP, "keep", 0, NULL, "leave the files behind"},
            {OUTPUT, "output", 'o', "FILE", "append the results to FILE (replay.out)"},
            {DRY_RUN, "dry-run", 0, NULL, "print what would be done; run nothing"},
            {JSON, "json", 0, "FILE", "export what was measured as JSON"},
            {CSV, "csv", 0, "FILE", "export what was measured as CSV"},
            {PROGRESS, "progress", 0, "WHEN", "auto (on a terminal), always, never"},
            {0}},
    .run = run_replay,
};
