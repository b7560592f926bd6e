/* piolet beff: the effective communication bandwidth of Rabenseifner and Koniges. */
#include "cli/cli_launch.h"
#include "cli/cli_outputs.h"
#include "cli/suite_shell.h"

#include "base/interrupt.h"
#include "base/units.h"
#include "bench/beff/beff_analyze.h"
#include "bench/beff/beff_run.h"
#include "measure/environment.h"
#include "mpi/job.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

extern const struct cli_verb cli_verb_beff;

enum {
    OPT_RANKS = 1,
    OPT_OUTPUT,
    OPT_MEMORY,
    OPT_PATTERNS,
    OPT_SEED,
    OPT_TIME,
    OPT_RMAX,
    OPT_QUICK,
    OPT_PLOT,
    OPT_DRY_RUN,
    OPT_JSON,
    OPT_CSV,
    OPT_PROGRESS
};

enum { PATTERNS_MAX = 10000, TIME_MAX_S = 7 * 86400 };

struct request {
    struct beff_wish wish;
    struct suite_request files; /* --json, --csv, --progress: as for the test suite */
    const char *plot;
    int ranks;
    bool dry_run;
};

/* ---- the command line ---- */

static int bad_value(const char *option, const char *value, const char *allowed)
{
    return cli_usage_error(&cli_verb_beff, "%s '%s': allowed: %s", option, value, allowed);
}

/* Seconds, or a number with s, m or h. */
static bool parse_seconds(const char *text, double *ret_seconds)
{
    char number[32];
    const size_t length = strlen(text);
    if (length == 0 || length >= sizeof number)
        return false;
    memcpy(number, text, length + 1);
    const char unit = number[length - 1];
    const double factor = unit == 'm' ? 60 : unit == 'h' ? 3600 : 1;
    if (unit == 's' || unit == 'm' || unit == 'h')
        number[length - 1] = '\0';
    if (!units_parse_number(number, ret_seconds))
        return false;
    *ret_seconds *= factor;
    return *ret_seconds >= 1 && *ret_seconds <= TIME_MAX_S;
}

static int take_number(int option, const char *value, struct beff_wish *wish)
{
    int64_t number = 0;
    if (option == OPT_MEMORY &&
        !(units_parse_size(value, &wish->memory_bytes) && wish->memory_bytes >= BEFF_MEMORY_LEAST))
        return bad_value("--memory", value, "the memory of a process, 1m or more (k, m, g: powers of 1024)");
    if (option == OPT_PATTERNS && !units_parse_int(value, 1, PATTERNS_MAX, &number))
        return bad_value("--patterns", value, "1 to 10000 random patterns");
    if (option == OPT_PATTERNS)
        wish->random_patterns = (int)number;
    if (option == OPT_SEED && !units_parse_int(value, 0, INT64_MAX, &number))
        return bad_value("--seed", value, "a whole number from 0 on");
    if (option == OPT_SEED) {
        wish->has_seed = true;
        wish->seed = (uint64_t)number;
    }
    if (option == OPT_TIME && !parse_seconds(value, &wish->time_s))
        return bad_value("--time", value, "1 second to 7 days, as 90, 90s, 5m or 1h");
    if (option == OPT_RMAX && !(units_parse_number(value, &wish->rmax_gflops) && wish->rmax_gflops > 0))
        return bad_value("--rmax", value, "the Linpack performance of these processes in GFlop/s, above 0");
    return CLI_OK;
}

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

static int check_request(const struct request *request)
{
    struct pl_error error;
    const struct cli_outputs outputs = {
        .results = request->wish.output, .json = request->files.json, .csv = request->files.csv, .plot = request->plot};
    if (cli_outputs_check(&outputs, &error) != PL_OK)
        return cli_usage_error(&cli_verb_beff, "%s", error.text);
    if (request->plot && !ends_in(request->plot, ".svg") && !ends_in(request->plot, ".png"))
        return bad_value("--plot", request->plot, "a name that ends in .svg or .png");
    return suite_check_progress(request->files.progress, &error) == PL_OK
               ? CLI_OK
               : cli_usage_error(&cli_verb_beff, "%s", error.text);
}

static int parse(int argc, char **argv, struct request *request)
{
    const struct cli_verb *verb = &cli_verb_beff;
    const char *argument;
    int option;
    while ((option = cli_next(verb, argc, argv, &argument)) != CLI_END) {
        if (option == CLI_BAD || take_number(option, argument, &request->wish) != CLI_OK)
            return CLI_USAGE;
        if (option == OPT_RANKS && (request->ranks = cli_launch_ranks(verb, argument)) == 0)
            return CLI_USAGE;
        request->wish.output = option == OPT_OUTPUT ? argument : request->wish.output;
        request->files.json = option == OPT_JSON ? argument : request->files.json;
        request->files.csv = option == OPT_CSV ? argument : request->files.csv;
        request->files.progress = option == OPT_PROGRESS ? argument : request->files.progress;
        request->plot = option == OPT_PLOT ? argument : request->plot;
        request->wish.quick = request->wish.quick || option == OPT_QUICK;
        request->dry_run = request->dry_run || option == OPT_DRY_RUN;
    }
    if (optind < argc)
        return cli_usage_error(verb, "'%s': beff takes no operands", argv[optind]);
    return check_request(request);
}

/* ---- the plan ---- */

static void print_patterns(const struct beff_plan *plan)
{
    struct beff_pattern pattern;
    for (int i = 0; beff_pattern_next(plan->nprocs, 0, i, &pattern); i++) {
        char label[BEFF_NAME_MAX], shape[BEFF_RINGS_TEXT_MAX] = "";
        int grid[BEFF_DIMENSIONS];
        if (pattern.kind == BEFF_RING) {
            const struct beff_rings rings = beff_rings_of(pattern.number, plan->nprocs);
            beff_rings_text(&rings, shape);
        } else if (pattern.kind == BEFF_CART2 || pattern.kind == BEFF_CART3) {
            beff_grid(plan->nprocs, pattern.kind == BEFF_CART2 ? 2 : 3, grid);
            snprintf(shape, sizeof shape, pattern.kind == BEFF_CART2 ? "%d x %d" : "%d x %d x %d", grid[0], grid[1],
                     grid[2]);
        }
        printf("  %-18s %8lld messages  %s\n", beff_pattern_label(pattern, label),
               (long long)beff_pattern_messages(pattern, plan->nprocs), shape);
    }
    printf("  %-18s %8lld messages  1 x %d, in random order, each\n", "random 1, 2, ...", 2LL * plan->nprocs,
           plan->nprocs);
}

static void print_plan(const struct beff_plan *plan, const char *output)
{
    char text[BEFF_LENGTH_TEXT_MAX], bytes[UNITS_TEXT_MAX];
    const int patterns = beff_pattern_count(plan->nprocs, plan->random_patterns);
    printf("Plan for %d ranks, %s of memory each (%s).\n\nMessage lengths:\n ", plan->nprocs,
           units_bytes(plan->memory_bytes, bytes),
           plan->memory_given ? "--memory" : "this host's, shared by all ranks");
    for (int i = 0; i < BEFF_LENGTHS; i++)
        printf(" %s%s", beff_length_text(plan->lengths[i], text),
               i == BEFF_LENGTHS - 1 ? "\n"
               : i % 9 == 8          ? ",\n "
                                     : ",");
    printf("\nPatterns, ping-pong first and random ones (%d) last:\n", plan->random_patterns);
    print_patterns(plan);
    const int loops = (patterns - 1) * BEFF_LENGTHS * (BEFF_METHODS - 1) * BEFF_REPETITIONS;
    printf("\nIn all: %d patterns of %d lengths, 3 methods, %d repetitions (ping-pong: one method).\n", patterns,
           BEFF_LENGTHS, BEFF_REPETITIONS);
    printf("Loops of %.3g to %.3g ms, from %lld rounds down to 1: %.0f s at most, and more where one\n"
           "round takes longer than that. After %.0f s no further random pattern is begun.\n",
           plan->loop_target_s * 1e3, 2e3 * plan->loop_target_s, (long long)plan->loop_first,
           loops * 2 * plan->loop_target_s, plan->time_s);
    printf("Messages of a rank take %s; results, about %.1f MB, are appended to '%s'.\nNothing was run.\n",
           units_bytes(beff_plan_buffer_bytes(plan), bytes), patterns * BEFF_LENGTHS * 420e-6, output);
}

/* Also what is looked at before anything is started: a mistake is one message and no launcher's besides. */
static int make_plan(const struct request *request, int ranks, struct beff_plan *ret_plan)
{
    struct pl_error error;
    if (beff_plan_make(&request->wish, ranks, environment_memory_bytes() / ranks, ret_plan, &error) == PL_OK)
        return CLI_OK;
    return cli_usage_error(&cli_verb_beff, "%s", error.text);
}

/* ---- the run ---- */

struct watcher {
    bool progress;
};

static void print_progress(void *context, const struct beff_event *event)
{
    const struct watcher *watcher = context;
    char label[BEFF_NAME_MAX], left[UNITS_TEXT_MAX] = "";
    if (!watcher->progress)
        return;
    const int done = event->number - 1;
    if (done > 1)
        units_duration(event->elapsed_s * (event->patterns - done) / done, left);
    fprintf(stderr, "[%d/%d] %s%s%s%s\n", event->number, event->patterns, beff_pattern_label(event->pattern, label),
            *left ? "; about " : "", left, *left ? " left" : "");
}

static void print_failure(void *context, struct beff_pattern pattern, int64_t length, const char *text)
{
    char label[BEFF_NAME_MAX];
    (void)context;
    cli_complain(&cli_verb_beff, "%s, messages of %lld bytes: %s", beff_pattern_label(pattern, label),
                 (long long)length, text);
}

/* What the run wrote is read back: the tables come from the file, as they will for whoever analyses it later. */
static int show_results(const struct request *request)
{
    struct pl_error error;
    struct blockfile file;
    if (blockfile_open(request->wish.output, &file, &error) != PL_OK) {
        cli_complain(&cli_verb_beff, "%s", error.text);
        return CLI_FAILED;
    }
    const size_t before = file.block_count - 1; /* the last one is ours */
    struct analysis_input input = {.files = &file, .file_count = 1};
    const bool stdout_taken = (request->files.json && strcmp(request->files.json, "-") == 0) ||
                              (request->files.csv && strcmp(request->files.csv, "-") == 0);
    const struct analysis_request wanted = {
        .block = (int64_t)before + 1, .plot = request->plot, .text = stdout_taken ? NULL : stdout};
    pl_status status = beff_analyze(&wanted, &input, &error);
    blockfile_close(&file);
    if (status == PL_OK)
        status = suite_export(&request->files, request->wish.output, before, &error);
    if (status != PL_OK)
        cli_complain(&cli_verb_beff, "%s", error.text);
    else if (!stdout_taken)
        printf("results: %s\n", request->wish.output);
    return status == PL_OK ? CLI_OK : CLI_FAILED;
}

static int run_coll(const struct request *request)
{
    struct watcher watcher = {.progress = suite_wants_progress(request->files.progress)};
    const struct beff_observer observer = {&watcher, print_progress, print_failure};
    struct pl_error error;
    int64_t failed;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const pl_status status = beff_run_coll(MPI_COMM_WORLD, &request->wish, &observer, &failed, &error);
    if (rank == 0 && status != PL_OK)
        cli_complain(&cli_verb_beff, "%s", error.text);
    if (status != PL_OK)
        return status == PL_E_USAGE ? CLI_USAGE : CLI_FAILED;
    const int shown = rank == 0 ? show_results(request) : CLI_OK;
    if (rank == 0 && failed)
        cli_complain(&cli_verb_beff, "%lld of the patterns and lengths failed; the results say why", (long long)failed);
    return failed ? CLI_FAILED : shown;
}

static int start_coll(const struct request *request, int argc, char **argv)
{
    struct pl_error error;
    int exit_status = CLI_USAGE;
    if (job_init_coll(&argc, &argv, &error) == PL_OK)
        exit_status = run_coll(request);
    else if (job_speaks())
        cli_complain(&cli_verb_beff, "%s", error.text);
    job_finalize_coll();
    return exit_status;
}

static int beff_run(int argc, char **argv)
{
    struct request request = {.wish = {.output = "beff.out"}, .files = {.verb = &cli_verb_beff, .progress = "auto"}};
    struct beff_plan plan;
    if (parse(argc, argv, &request) != CLI_OK)
        return CLI_USAGE;
    if (request.dry_run) {
        if (make_plan(&request, request.ranks ? request.ranks : 2, &plan) != CLI_OK)
            return CLI_USAGE;
        print_plan(&plan, request.wish.output);
        return CLI_OK;
    }
    interrupt_results(request.wish.output, NULL);
    if (request.ranks && !cli_launch_is_child())
        return make_plan(&request, request.ranks, &plan) == CLI_OK
                   ? cli_launch(&cli_verb_beff, request.ranks, argc, argv)
                   : CLI_USAGE;
    return start_coll(&request, argc, argv);
}

const struct cli_verb cli_verb_beff = {
    .name = "beff",
    .summary = "measure the effective communication bandwidth, b_eff",
    .synopsis = "[OPTION]...",
    .details = "All processes send messages at the same time, in rings and in random order.\n"
               "'mpiexec -n 4 piolet beff' and 'piolet beff -n 4' do the same.\n"
               "'piolet analyze beff FILE...' shows results again, several side by side.",
    .options =
        (const struct cli_option[]){
            {OPT_RANKS, "ranks", 'n', "N", "start mpiexec (srun under SLURM) with N ranks,\nat least 2"},
            {OPT_OUTPUT, "output", 'o', "FILE", "append the results to FILE, not to beff.out"},
            {OPT_MEMORY, "memory", 0, "SIZE",
             "memory of a process (k, m, g); by default that\nof its node, divided by the ranks there"},
            {OPT_PATTERNS, "patterns", 0, "N", "random patterns (30)"},
            {OPT_SEED, "seed", 0, "N", "of the random patterns; drawn and reported"},
            {OPT_TIME, "time", 0, "T",
             "begin no further random pattern after T (5m);\nbelow 3m loops are shortened too"},
            {OPT_RMAX, "rmax", 0, "GFLOPS", "Linpack performance, for the balance factor"},
            {OPT_QUICK, "quick", 0, NULL,
             "a try of some seconds: 3 random patterns,\nmessages up to 256 kB, short loops"},
            {OPT_PLOT, "plot", 0, "FILE", "bandwidth against message length: .svg, .png"},
            {OPT_DRY_RUN, "dry-run", 0, NULL, "print lengths, patterns and memory; run nothing"},
            {OPT_JSON, "json", 0, "FILE", "export what was measured as JSON"},
            {OPT_CSV, "csv", 0, "FILE", "export what was measured as CSV"},
            {OPT_PROGRESS, "progress", 0, "WHEN", "auto (on a terminal), always, never"},
            {0}},
    .run = beff_run,
};
