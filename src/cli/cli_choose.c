/* piolet choose: replays a model on several configurations, or takes replays that are there, and ranks them. */
#include "base/process.h"
#include "cli/choose_shell.h"
#include "cli/cli_launch.h"
#include "cli/cli_outputs.h"

#include "base/interrupt.h"
#include "base/output.h"
#include "base/path.h"
#include "lab/runner/lab.h"
#include "mpi/launcher.h"
#include "predict/predict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct cli_verb cli_verb_choose;

enum { CHOOSE_SYSTEM, CHOOSE_PIOLET, CHOOSE_MPIIO };

struct choose_request {
    const char *model, *keep;
    struct option_texts on, hints;
    struct option_texts operands; /* behind the model: borrowed */
    uint64_t mpiio;
    struct predict_outputs outputs;
    int64_t ranks, rounds;
    bool dry_run;
};

#define AT(member) OPTION_AT(struct choose_request, member)
static const struct option_row ROWS[] = {
    {.name = "on",
     .type = OPTION_EACH,
     .argument = "DIR",
     AT(on),
     .help = "a place for the program's files; may be repeated"},
    {.name = "mpiio",
     .type = OPTION_CHOICES,
     .argument = "LIST",
     .choices = "system piolet",
     .initial = "system",
     AT(mpiio),
     .help = "the MPI's own MPI-IO, ours, or both with a comma between"},
    {.name = "hints",
     .aliases = "hint",
     .type = OPTION_EACH,
     .argument = "TEXT|@FILE",
     .initial = "none",
     AT(hints),
     .help = "hints for MPI-IO: name=value, several separated by ';', or a file of such lines; 'none' stands for no "
             "hints; may be repeated"},
    {CLI_LAUNCH_RANKS, AT(ranks), .help = "ranks of the replay; by default as many as the model has"},
    {.name = "repeat",
     .aliases = "rounds",
     .letter = 'r',
     .type = OPTION_INT,
     .initial = "3",
     .min = 1,
     .max = 1000,
     AT(rounds),
     .more = "With one round the intervals do not tell how runs differ.",
     .help = "replays of each configuration, in turns"},
    {.name = "keep-results",
     .type = OPTION_TEXT,
     .argument = "DIR",
     AT(keep),
     .more = "It is made, or must be empty.",
     .help = "leave the results of the replays in DIR"},
    {.name = "dry-run", .type = OPTION_FLAG, AT(dry_run), .help = "print the replays; run nothing"},
    PREDICT_OUTPUT_ROWS(struct choose_request, outputs, "In the place of the table.", "In the place of the table."),
    {0}};
#undef AT

/* ---- the command line ---- */

static bool choose_has_separator(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return true;
    return false;
}

/* Options that only make sense with --on, and the other way round. */
static int choose_check(struct choose_request *request, const struct options *options, bool separator)
{
    static const char *const of_replays[] = {"mpiio", "hints", "ranks", "repeat", "keep-results", "dry-run"};
    const struct cli_verb *const verb = &cli_verb_choose;
    if (options->operand_count == 0)
        return cli_usage_error(verb, "which MODEL? (a file that 'piolet model' wrote)");
    request->model = options->operands[0];
    request->operands = (struct option_texts){options->operands + 1, options->operand_count - 1};
    if (request->on.count == 0 && request->operands.count == 0)
        return cli_usage_error(verb, "which configurations? (--on DIR, to replay; or RESULTS that are there)");
    if (request->on.count > 0 && request->operands.count > 0 && !separator)
        return cli_usage_error(verb, "RESULTS ('%s') and --on exclude each other", request->operands.values[0]);
    for (size_t i = 0; i < sizeof of_replays / sizeof of_replays[0] && request->on.count == 0; i++)
        if (options_given(options, of_replays[i]))
            return cli_usage_error(verb, "without --on nothing is run: --%s has no meaning", of_replays[i]);
    output_reads(request->model);
    for (size_t i = 0; i < request->operands.count && request->on.count == 0; i++)
        output_reads(request->operands.values[i]);
    return predict_shell_check(verb, &request->outputs);
}

/* ---- before anything is run ---- */

static int choose_check_places(const struct choose_request *request)
{
    struct pl_error error;
    for (size_t i = 0; i < request->on.count; i++) {
        const char *on = request->on.values[i];
        struct stat info;
        if (stat(on, &info) != 0)
            return cli_usage_error(&cli_verb_choose, "--on '%s': %s", on, strerror(errno));
        if (!S_ISDIR(info.st_mode))
            return cli_usage_error(&cli_verb_choose, "--on '%s': this is not a directory", on);
        if (access(on, W_OK | X_OK) != 0)
            return cli_usage_error(&cli_verb_choose, "--on '%s': %s", on, strerror(errno));
    }
    for (size_t i = 0; i < request->hints.count; i++) {
        const struct option_texts one = {request->hints.values + i, 1};
        struct lab_hints hints = {0};
        if (strcmp(one.values[0], "none") != 0 && lab_hints_parse(&one, &hints, &error) != PL_OK)
            return cli_usage_error(&cli_verb_choose, "%s", error.text);
        lab_hints_clear(&hints);
    }
    return CLI_OK;
}

/* Where the results go: --keep-results, or a directory that is removed at the end. Old results are never mixed in. */
static int choose_make_directory(const struct choose_request *request, char path[PATH_MAX])
{
    const char *parent = getenv("TMPDIR");
    if (!request->keep) {
        snprintf(path, PATH_MAX, "%s/piolet-choose.XXXXXX", parent && *parent ? parent : "/tmp");
        if (interrupt_mkdtemp(path))
            return CLI_OK;
        cli_complain(&cli_verb_choose, "cannot make the directory '%s': %s", path, strerror(errno));
        return CLI_FAILED;
    }
    snprintf(path, PATH_MAX, "%s", request->keep);
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        cli_complain(&cli_verb_choose, "cannot make the directory '%s': %s", path, strerror(errno));
        return CLI_USAGE;
    }
    return cli_outputs_is_empty(path)
               ? CLI_OK
               : cli_usage_error(&cli_verb_choose, "--keep-results '%s': this is not an empty directory", path);
}

static void choose_remove_results(const struct choose_request *request, const char *directory)
{
    if (request->keep)
        return;
    remove_quietly(directory);
    interrupt_keep(directory);
}

/* ---- ranking ---- */

static int choose_rank_results(const struct choose_request *request, struct prediction *prediction,
                               const struct option_texts *files)
{
    struct pl_error error;
    int status = predict_shell_read(&cli_verb_choose, prediction, files, predict_shell_results, false);
    if (status != CLI_OK)
        return status;
    if (prediction->configuration_count == 0) {
        for (size_t i = 0; i < prediction->note_count; i++)
            cli_complain(&cli_verb_choose, "%s", prediction->notes[i]);
        cli_complain(&cli_verb_choose, "no file holds a replay of the model '%s'", request->model);
        return request->on.count ? CLI_FAILED : CLI_USAGE;
    }
    if (predict_finish(prediction, &error) != PL_OK) {
        cli_complain(&cli_verb_choose, "%s", error.text);
        return CLI_FAILED;
    }
    status = predict_shell_write(&cli_verb_choose, prediction, &request->outputs, files, predict_print_ranks);
    for (int i = 0; i < prediction->configuration_count; i++)
        status |= prediction->configurations[i].failure ? CLI_FAILED : CLI_OK;
    return status;
}

/* The results of a replay that failed are there too, as far as it came. */
static int choose_rank_plan(const struct choose_request *request, struct prediction *prediction,
                            const struct choose_plan *plan)
{
    struct option_texts files = {0};
    for (int i = 0; i < plan->count; i++)
        if (access(plan->list[i].results, R_OK) == 0)
            predict_words_add(&files, plan->list[i].results);
    const int status = choose_rank_results(request, prediction, &files);
    free(files.values);
    return status;
}

static int choose_tell_interrupted(const struct choose_request *request, const struct choose_plan *plan)
{
    fflush(stdout);
    cli_complain(&cli_verb_choose, "interrupted; %s%s%s%s",
                 plan->finished ? "the ranks are of what was measured until then" : "nothing was measured yet",
                 plan->finished && request->keep ? ", which is kept in '" : "",
                 plan->finished && request->keep ? request->keep : "", plan->finished && request->keep ? "'" : "");
    return 128 + process_signal();
}

static int choose_replay_and_rank(const struct choose_request *request, struct prediction *prediction)
{
    const char *names[CHOOSE_MPIIO] = {0};
    struct option_texts mpiio = {names, 0};
    struct choose_plan plan = {.model = request->model,
                               .ranks = request->ranks ? request->ranks : prediction->program.ranks,
                               .rounds = (int)request->rounds,
                               .more = request->operands};
    char directory[PATH_MAX] = "DIR";
    int status = choose_check_places(request);
    if (status == CLI_OK && !request->dry_run)
        status = choose_make_directory(request, directory);
    if (status != CLI_OK)
        return status;
    if (request->mpiio >> CHOOSE_SYSTEM & 1)
        names[mpiio.count++] = "system";
    if (request->mpiio >> CHOOSE_PIOLET & 1)
        names[mpiio.count++] = "piolet";
    choose_plan_make(&plan, &request->on, &mpiio, &request->hints, directory);
    if (request->dry_run) {
        choose_plan_print(&plan);
    } else {
        status = choose_plan_run(&cli_verb_choose, &plan);
        if (plan.finished > 0 || !process_signal())
            status |= choose_rank_plan(request, prediction, &plan);
        if (process_signal())
            status = choose_tell_interrupted(request, &plan);
        choose_remove_results(request, directory);
    }
    choose_plan_clear(&plan);
    return status;
}

static int choose_act(void *values, const struct cli_line *line)
{
    struct choose_request *request = values;
    struct prediction prediction = {0};
    int status = choose_check(request, line->options, choose_has_separator(line->argc, line->argv));
    if (status == CLI_OK && request->on.count > 0 && job_is_launched())
        status = cli_usage_error(&cli_verb_choose, "this starts MPI jobs itself; run it without mpiexec");
    if (status == CLI_OK)
        status = predict_shell_model(&cli_verb_choose, request->model, &prediction);
    if (status == CLI_OK)
        status = request->on.count > 0 ? choose_replay_and_rank(request, &prediction)
                                       : choose_rank_results(request, &prediction, &request->operands);
    prediction_clear(&prediction);
    return status;
}

const struct cli_verb cli_verb_choose = {
    .name = "choose",
    .summary = "rank places, MPI-IO implementations and hints for a program",
    .synopsis = "MODEL --on DIR... [OPTION]... [-- REPLAY-OPTION...] | MODEL RESULTS...",
    .details = "Replays the model on every combination of DIR, --mpiio and --hints, or takes\n"
               "RESULTS of 'piolet replay', and ranks them by the time of the program's I/O.",
    .rows = ROWS,
    .values_size = sizeof(struct choose_request),
    .act = choose_act,
};
