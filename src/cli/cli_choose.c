/* piolet choose: replays a model on several configurations, or takes replays that are there, and ranks them. */
#include "cli/choose_shell.h"
#include "cli/cli_child.h"
#include "cli/cli_launch.h"

#include "base/interrupt.h"
#include "base/output.h"
#include "base/remove.h"
#include "base/units.h"
#include "mpi/launcher.h"
#include "predict/predict_text.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct cli_verb cli_verb_choose;

enum { ON = 1, MPIIO, HINTS, RANKS, ROUNDS, KEEP, DRY_RUN, OUTPUT, JSON, CSV };
enum { ROUNDS_DEFAULT = 3, ROUNDS_MAX = 1000 };

struct request {
    const char *model, *keep;
    struct predict_words on, mpiio, hints, operands;
    struct predict_outputs outputs;
    int ranks, rounds;
    bool dry_run;
};

static void request_clear(struct request *request)
{
    predict_words_clear(&request->on);
    predict_words_clear(&request->mpiio);
    predict_words_clear(&request->hints);
    predict_words_clear(&request->operands);
}

/* ---- the command line ---- */

static int fail_memory(void)
{
    cli_complain(&cli_verb_choose, "not enough memory");
    return CLI_FAILED;
}

/* "system,piolet", each at most once. */
static int take_mpiio(struct request *request, const char *list)
{
    static const char *const KNOWN[] = {"system", "piolet"};
    for (const char *word = list;; word += strcspn(word, ",") + 1) {
        const size_t length = strcspn(word, ",");
        int found = -1;
        for (int i = 0; i < 2; i++)
            if (strlen(KNOWN[i]) == length && memcmp(word, KNOWN[i], length) == 0)
                found = i;
        if (found < 0)
            return cli_usage_error(&cli_verb_choose,
                                   "--mpiio: '%.*s' is not known; allowed: system, piolet, or both with a "
                                   "comma between",
                                   (int)length, word);
        for (int i = 0; i < request->mpiio.count; i++)
            if (request->mpiio.list[i] == KNOWN[found])
                return cli_usage_error(&cli_verb_choose, "--mpiio: '%s' is there twice", KNOWN[found]);
        if (!predict_words_add(&request->mpiio, KNOWN[found]))
            return fail_memory();
        if (word[length] == '\0')
            return CLI_OK;
    }
}

static int take_option(struct request *request, int option, const char *argument)
{
    int64_t rounds;
    switch (option) {
    case ON:
        return predict_words_add(&request->on, argument) ? CLI_OK : fail_memory();
    case HINTS:
        return predict_words_add(&request->hints, argument) ? CLI_OK : fail_memory();
    case MPIIO:
        return take_mpiio(request, argument);
    case RANKS:
        request->ranks = cli_launch_ranks(&cli_verb_choose, argument);
        return request->ranks ? CLI_OK : CLI_USAGE;
    case ROUNDS:
        if (!units_parse_int(argument, 1, ROUNDS_MAX, &rounds))
            return cli_usage_error(&cli_verb_choose, "--rounds: '%s' is not a number of rounds; allowed: 1 to %d",
                                   argument, ROUNDS_MAX);
        request->rounds = (int)rounds;
        return CLI_OK;
    case KEEP:
        request->keep = argument;
        return CLI_OK;
    case DRY_RUN:
        request->dry_run = true;
        return CLI_OK;
    default:
        *(option == OUTPUT ? &request->outputs.output
          : option == JSON ? &request->outputs.json
                           : &request->outputs.csv) = argument;
        return CLI_OK;
    }
}

static bool has_separator(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return true;
    return false;
}

/* Options that only make sense with --on, and the other way round. */
static int check_task(const struct request *request, bool separator)
{
    const struct cli_verb *const verb = &cli_verb_choose;
    if (request->on.count == 0 && request->operands.count == 0)
        return cli_usage_error(verb, "which configurations? (--on DIR, to replay; or RESULTS that are there)");
    if (request->on.count > 0 && request->operands.count > 0 && !separator)
        return cli_usage_error(verb, "RESULTS ('%s') and --on exclude each other", request->operands.list[0]);
    if (request->on.count == 0 && (request->mpiio.count || request->hints.count || request->ranks || request->rounds ||
                                   request->keep || request->dry_run))
        return cli_usage_error(verb, "without --on nothing is run: --mpiio, --hints, -n, --rounds, --keep-results and "
                                     "--dry-run have no meaning");
    output_reads(request->model);
    for (int i = 0; i < request->operands.count && request->on.count == 0; i++)
        output_reads(request->operands.list[i]);
    for (int i = 0; i < request->hints.count; i++)
        output_reads(request->hints.list[i]);
    return predict_shell_check(verb, &request->outputs);
}

static int parse(struct request *request, int argc, char **argv)
{
    const struct cli_verb *const verb = &cli_verb_choose;
    const bool separator = has_separator(argc, argv);
    const char *argument;
    int option, status;
    while ((option = cli_next(verb, argc, argv, &argument)) > CLI_END)
        if ((status = take_option(request, option, argument)) != CLI_OK)
            return status;
    if (option != CLI_END)
        return CLI_USAGE;
    if (optind >= argc)
        return cli_usage_error(verb, "which MODEL? (a file that 'piolet model' wrote)");
    request->model = argv[optind];
    for (int i = optind + 1; i < argc; i++)
        if (!predict_words_add(&request->operands, argv[i]))
            return fail_memory();
    if ((status = check_task(request, separator)) != CLI_OK)
        return status;
    if ((request->mpiio.count == 0 && !predict_words_add(&request->mpiio, "system")) ||
        (request->hints.count == 0 && !predict_words_add(&request->hints, "none")))
        return fail_memory();
    request->rounds = request->rounds ? request->rounds : ROUNDS_DEFAULT;
    return CLI_OK;
}

/* ---- before anything is run ---- */

static int check_places(const struct request *request)
{
    struct pl_error error;
    for (int i = 0; i < request->on.count; i++) {
        const char *on = request->on.list[i];
        struct stat info;
        if (stat(on, &info) != 0)
            return cli_usage_error(&cli_verb_choose, "--on '%s': %s", on, strerror(errno));
        if (!S_ISDIR(info.st_mode))
            return cli_usage_error(&cli_verb_choose, "--on '%s': this is not a directory", on);
        if (access(on, W_OK | X_OK) != 0)
            return cli_usage_error(&cli_verb_choose, "--on '%s': %s", on, strerror(errno));
    }
    for (int i = 0; i < request->hints.count; i++)
        if (strcmp(request->hints.list[i], "none") != 0 && choose_check_hints(request->hints.list[i], &error) != PL_OK)
            return cli_usage_error(&cli_verb_choose, "--hints: %s", error.text);
    return CLI_OK;
}

static bool is_empty(const char *directory)
{
    DIR *stream = opendir(directory);
    int count = 0;
    if (!stream)
        return false;
    while (count < 3 && readdir(stream))
        count++;
    closedir(stream);
    return count < 3; /* . and .. */
}

/* Where the results go: --keep-results, or a directory that is removed at the end. Old results are never mixed in. */
static int make_directory(const struct request *request, char path[PATH_MAX])
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
    return is_empty(path)
               ? CLI_OK
               : cli_usage_error(&cli_verb_choose, "--keep-results '%s': this is not an empty directory", path);
}

static void remove_results(const struct request *request, const char *directory)
{
    if (request->keep)
        return;
    remove_quietly(directory);
    interrupt_keep(directory);
}

/* ---- ranking ---- */

static int rank_results(const struct request *request, struct prediction *prediction, const struct predict_words *files)
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
static int rank_plan(const struct request *request, struct prediction *prediction, const struct choose_plan *plan)
{
    struct predict_words files = {0};
    bool ok = true;
    for (int i = 0; i < plan->count && ok; i++)
        if (access(plan->list[i].results, R_OK) == 0)
            ok = predict_words_add(&files, plan->list[i].results);
    const int status = ok ? rank_results(request, prediction, &files) : fail_memory();
    predict_words_clear(&files);
    return status;
}

static int tell_interrupted(const struct request *request, const struct choose_plan *plan)
{
    fflush(stdout);
    cli_complain(&cli_verb_choose, "interrupted; %s%s%s%s",
                 plan->finished ? "the ranks are of what was measured until then" : "nothing was measured yet",
                 plan->finished && request->keep ? ", which is kept in '" : "",
                 plan->finished && request->keep ? request->keep : "", plan->finished && request->keep ? "'" : "");
    return 128 + cli_child_signal();
}

static int replay_and_rank(const struct request *request, struct prediction *prediction)
{
    struct choose_plan plan = {.model = request->model,
                               .ranks = request->ranks ? request->ranks : prediction->program.ranks,
                               .rounds = request->rounds,
                               .more = request->operands.list};
    char directory[PATH_MAX] = "DIR";
    int status = check_places(request);
    if (status == CLI_OK && !request->dry_run)
        status = make_directory(request, directory);
    if (status != CLI_OK)
        return status;
    if (!choose_plan_make(&plan, &request->on, &request->mpiio, &request->hints, directory)) {
        status = fail_memory();
    } else if (request->dry_run) {
        choose_plan_print(&plan);
    } else {
        status = choose_plan_run(&cli_verb_choose, &plan);
        if (plan.finished > 0 || !cli_child_signal())
            status |= rank_plan(request, prediction, &plan);
        if (cli_child_signal())
            status = tell_interrupted(request, &plan);
    }
    if (!request->dry_run)
        remove_results(request, directory);
    choose_plan_clear(&plan);
    return status;
}

static int choose_run(int argc, char **argv)
{
    struct request request = {0};
    struct prediction prediction = {0};
    int status = parse(&request, argc, argv);
    if (status == CLI_OK && request.on.count > 0 && job_is_launched())
        status = cli_usage_error(&cli_verb_choose, "this starts MPI jobs itself; run it without mpiexec");
    if (status == CLI_OK)
        status = predict_shell_model(&cli_verb_choose, request.model, &prediction);
    if (status == CLI_OK)
        status = request.on.count > 0 ? replay_and_rank(&request, &prediction)
                                      : rank_results(&request, &prediction, &request.operands);
    prediction_clear(&prediction);
    request_clear(&request);
    return status;
}

const struct cli_verb cli_verb_choose = {
    .name = "choose",
    .summary = "rank places, MPI-IO implementations and hints for a program",
    .synopsis = "MODEL --on DIR... [OPTION]... [-- REPLAY-OPTION...] | MODEL RESULTS...",
    .details = "Replays the model on every combination of DIR, --mpiio and --hints, or takes\n"
               "RESULTS of 'piolet replay', and ranks them by the time of the program's I/O.",
    .options = (const struct cli_option[]){{ON, "on", 0, "DIR", "a place for the program's files; may be repeated"},
                                           {MPIIO, "mpiio", 0, "LIST",
                                            "system (the MPI's own), piolet, or system,piolet (system)"},
                                           {HINTS, "hints", 0, "FILE",
                                            "lines KEY VALUE with hints for MPI-IO; 'none' stands for\n"
                                            "no hints; may be repeated (none)"},
                                           {RANKS, "ranks", 'n', "N", "ranks of the replay (as many as the model has)"},
                                           {ROUNDS, "rounds", 0, "N", "replays of each configuration, in turns (3)"},
                                           {KEEP, "keep-results", 0, "DIR", "leave the results of the replays in DIR"},
                                           {DRY_RUN, "dry-run", 0, NULL, "print the replays; run nothing"},
                                           {OUTPUT, "output", 'o', "FILE", "append the prediction to FILE, as a block"},
                                           {JSON, "json", 0, "FILE", "the prediction as JSON (- is standard output)"},
                                           {CSV, "csv", 0, "FILE", "the prediction as CSV (- is standard output)"},
                                           {0}},
    .run = choose_run,
};
