/* piolet gpfs BENCHMARK: the benchmarks of the MPI-IO/GPFS document. */
#include "bench/gpfs/gpfs_run.h"
#include "cli/cli.h"
#include "cli/cli_engine.h"
#include "cli/cli_launch.h"
#include "cli/cli_outputs.h"
#include "cli/gpfs_shell.h"
#include "mpi/job.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

extern const struct cli_verb cli_verb_gpfs;

/* Options from SETTING on are settings of the benchmark, by their own name. */
enum { OUTPUT = 1, RESUME, DRY_RUN, JSON, CSV, PROGRESS, SETTING };

enum { OPTIONS_MAX = 64 };

/* What stands on the command line, before the benchmark is known. */
struct words {
    struct {
        int id;
        const char *value;
    } options[OPTIONS_MAX];
    int count;
};

/* One of the processes of a launch speaks for all. */
static int refuse(const struct pl_error *error)
{
    if (job_speaks())
        cli_usage_error(&cli_verb_gpfs, "%s", error->text);
    return CLI_USAGE;
}

/* ---- the command line ---- */

static const char *option_name(int id)
{
    for (const struct cli_option *option = cli_verb_gpfs.options; option->id; option++)
        if (option->id == id)
            return option->name;
    return "";
}

static bool is_progress(const char *word)
{
    return strcmp(word, "auto") == 0 || strcmp(word, "always") == 0 || strcmp(word, "never") == 0;
}

static pl_status take_option(struct gpfs_request *request, int id, const char *value, struct pl_error *error)
{
    if (id >= SETTING)
        return gpfs_config_set(&request->config, option_name(id), value ? value : "true", error);
    if (id == PROGRESS && !is_progress(value))
        return pl_fail(error, PL_E_USAGE, "--progress: '%s'; allowed: auto, always, never", value);
    request->output = id == OUTPUT || id == RESUME ? value : request->output;
    request->resume |= id == RESUME;
    request->dry_run |= id == DRY_RUN;
    request->json = id == JSON ? value : request->json;
    request->csv = id == CSV ? value : request->csv;
    request->progress = id == PROGRESS ? value : request->progress;
    return PL_OK;
}

static pl_status check_files(const struct gpfs_request *request, struct pl_error *error)
{
    return cli_outputs_check(request->config.file, request->output, request->json, request->csv, error);
}

/* The one operand. */
static pl_status find_benchmark(struct gpfs_request *request, struct pl_error *error)
{
    char names[GPFS_CELL_TEXT_MAX];
    if (optind == request->argc)
        return pl_fail(error, PL_E_USAGE, "which benchmark? Allowed: %s", gpfs_benchmark_names(names));
    const struct gpfs_benchmark *benchmark = gpfs_benchmark_find(request->argv[optind]);
    if (!benchmark)
        return pl_fail(error, PL_E_USAGE, "'%s' is no benchmark; allowed: %s", request->argv[optind],
                       gpfs_benchmark_names(names));
    if (optind + 1 < request->argc)
        return pl_fail(error, PL_E_USAGE, "'%s': one benchmark at a time", request->argv[optind + 1]);
    gpfs_config_init(&request->config, benchmark);
    return PL_OK;
}

/* A resumed run is asked for what the killed one was. */
static pl_status load_resumed(struct gpfs_request *request, const char *path, const struct words *words,
                              struct pl_error *error)
{
    struct blockfile file;
    for (int i = 0; i < words->count; i++)
        if (words->options[i].id >= SETTING || words->options[i].id == OUTPUT)
            return pl_fail(error, PL_E_USAGE, "--resume goes on with '%s' as it began: leave out '--%s'", path,
                           option_name(words->options[i].id));
    if (optind < request->argc)
        return pl_fail(error, PL_E_USAGE, "--resume goes on with '%s' as it began: leave out '%s'", path,
                       request->argv[optind]);
    if (blockfile_open(path, &file, error) != PL_OK)
        return error->status;
    const pl_status status = gpfs_results_config(&file, &request->config, error);
    blockfile_close(&file);
    return status;
}

/* What says which benchmark it is: --resume, or an operand. */
static pl_status begin_config(struct gpfs_request *request, const struct words *words, struct pl_error *error)
{
    for (int i = 0; i < words->count; i++)
        if (words->options[i].id == RESUME)
            return load_resumed(request, words->options[i].value, words, error);
    return find_benchmark(request, error);
}

static int parse(struct gpfs_request *request)
{
    struct words words = {.count = 0};
    struct pl_error error;
    const char *value;
    int id;
    while ((id = cli_next(request->verb, request->argc, request->argv, &value)) != CLI_END) {
        if (id == CLI_BAD)
            return CLI_USAGE;
        if (words.count == OPTIONS_MAX) {
            pl_fail(&error, PL_E_USAGE, "more than %d options", OPTIONS_MAX);
            return refuse(&error);
        }
        words.options[words.count].id = id;
        words.options[words.count++].value = value;
    }
    pl_status status = begin_config(request, &words, &error);
    for (int i = 0; i < words.count && status == PL_OK; i++)
        status = take_option(request, words.options[i].id, words.options[i].value, &error);
    request->output = request->output ? request->output : "gpfs.out";
    if (status == PL_OK)
        status = check_files(request, &error);
    return status == PL_OK ? CLI_OK : refuse(&error);
}

/* ---- starting ---- */

static int run_here(struct gpfs_request *request, bool needs_engine)
{
    return needs_engine && !cli_engine_is_there() ? cli_engine_start_again(request->verb, request->argc, request->argv)
                                                  : gpfs_shell_run_coll(request);
}

/* Before anything is started: all cells, so that a mistake is one message. */
static int start(struct gpfs_request *request)
{
    struct pl_error error;
    struct gpfs_cells cells = {0};
    struct gpfs_config *config = &request->config;
    const bool asked = config->keys[GPFS_RANKS].count > 0, launched = job_is_launched();
    struct gpfs_config trial = *config; /* the number of ranks is not known before MPI is there */
    trial.inputs = (struct text){0};
    if (gpfs_config_finish(&trial, 1, &error) != PL_OK)
        return refuse(&error);
    if (launched || (!asked && !request->dry_run))
        return run_here(request, gpfs_config_needs_engine(&trial));
    pl_status status = gpfs_cells_make(&trial, &cells, &error);
    if (status == PL_OK && !request->dry_run)
        status = gpfs_run_check_place(&trial, &cells, &error);
    gpfs_cells_clear(&cells);
    if (status != PL_OK)
        return refuse(&error);
    if (!request->dry_run)
        return cli_launch(request->verb, (int)gpfs_config_most_ranks(config), request->argc, request->argv);
    gpfs_config_finish(config, 1, &error);
    return gpfs_shell_dry_run(request);
}

static int gpfs_run(int argc, char **argv)
{
    struct gpfs_request request = {.verb = &cli_verb_gpfs, .progress = "auto", .argc = argc, .argv = argv};
    int status = parse(&request);
    if (status == CLI_OK)
        status = start(&request);
    gpfs_config_clear(&request.config);
    return status;
}

#define KEY(id, name, kind, allowed, least, most, letter, argument, param, help)                                       \
    {SETTING + GPFS_##id, name, letter, argument, help},

const struct cli_verb cli_verb_gpfs = {
    .name = "gpfs",
    .summary = "the MPI-IO/GPFS benchmarks: shipping, partitioning, guided prefetching",
    .synopsis = "BENCHMARK [OPTION]...",
    .details = "Benchmarks:\n"
               "  contiguous     each rank one contiguous part of the file\n"
               "  discontiguous  blocks of 1 KiB at random ranks, by views\n"
               "  partitioning   many small blocks, each by a call of its own\n"
               "  access-range   sub-blocks scattered in blocks, guided prefetching\n"
               "  strided        records at a regular distance, tiled and sparse\n"
               "  random         records at random places, announced by a view\n"
               "  threads        threads of a rank compute and access the file at once\n"
               "Contestants move the same data in turn; every byte is checked outside of the\n"
               "timing. 'piolet analyze gpfs FILE' reads the results. Lists are separated by\n"
               "commas, all combinations are measured; sizes may end in k, m, g.",
    .options =
        (const struct cli_option[]){
#include "bench/gpfs/key.def"
            {SETTING + GPFS_KEYS, "contestants", 'c', "LIST",
             "posix, system, no-shipping, shipping,\npartitioned, independent, auto, ranges-N, ...\n"
             "(by benchmark)"},
            {SETTING + GPFS_KEYS + 1, "reps", 'r', "N", "repetitions of each contestant (7)"},
            {SETTING + GPFS_KEYS + 2, "file", 'f', "FILE", "test file (gpfs.dat)"},
            {SETTING + GPFS_KEYS + 3, "seed", 0, "N", "of data and of random places (1)"},
            {SETTING + GPFS_KEYS + 4, "keep", 0, NULL, "leave the test file there"},
            {OUTPUT, "output", 'o', "FILE", "append the results to FILE (gpfs.out)"},
            {RESUME, "resume", 0, "FILE", "go on with the benchmark of FILE, without what\nit holds already"},
            {DRY_RUN, "dry-run", 0, NULL, "print what would be measured; run nothing"},
            {JSON, "json", 0, "FILE", "export what was measured as JSON"},
            {CSV, "csv", 0, "FILE", "export what was measured as CSV"},
            {PROGRESS, "progress", 0, "WHEN", "auto (on a terminal), always, never"},
            {0}},
    .run = gpfs_run,
};
