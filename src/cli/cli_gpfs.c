/* piolet gpfs BENCHMARK: the benchmarks of the MPI-IO/GPFS document. */
#include "bench/gpfs/gpfs_run.h"
#include "cli/cli_engine.h"
#include "cli/cli_launch.h"
#include "cli/cli_outputs.h"
#include "cli/gpfs_shell.h"
#include "mpi/job.h"

#include <getopt.h>
#include <string.h>

extern const struct cli_verb cli_verb_gpfs;

enum { OPTIONS_MAX = 64 };

/* What stands on the command line, before the benchmark is known. */
struct words {
    struct {
        int id;
        const char *value;
    } options[OPTIONS_MAX];
    int count;
};

/* ---- the command line ---- */

static pl_status take_option(struct gpfs_request *request, int id, const char *value, struct pl_error *error)
{
    return id < CONTEST_SETTING ? cli_contest_take(&request->common, id, value, error)
                                : gpfs_config_set(&request->config, cli_contest_option(&request->common, id),
                                                  value ? value : "true", error);
}

static pl_status check_files(const struct gpfs_request *request, struct pl_error *error)
{
    const struct cli_outputs outputs = {.results = request->common.output,
                                        .json = request->common.json,
                                        .csv = request->common.csv,
                                        .test_file = request->config.file};
    return cli_outputs_check(&outputs, error);
}

/* The one operand. */
static pl_status find_benchmark(struct gpfs_request *request, struct pl_error *error)
{
    char names[GPFS_CELL_TEXT_MAX];
    if (optind == request->common.argc)
        return pl_fail(error, PL_E_USAGE, "which benchmark? Allowed: %s", gpfs_benchmark_names(names));
    const struct gpfs_benchmark *benchmark = gpfs_benchmark_find(request->common.argv[optind]);
    if (!benchmark)
        return pl_fail(error, PL_E_USAGE, "'%s' is no benchmark; allowed: %s", request->common.argv[optind],
                       gpfs_benchmark_names(names));
    if (optind + 1 < request->common.argc)
        return pl_fail(error, PL_E_USAGE, "'%s': one benchmark at a time", request->common.argv[optind + 1]);
    gpfs_config_init(&request->config, benchmark);
    return PL_OK;
}

/* A resumed run is asked for what the killed one was. */
static pl_status load_resumed(struct gpfs_request *request, const char *path, const struct words *words,
                              struct pl_error *error)
{
    struct blockfile file;
    for (int i = 0; i < words->count; i++)
        if (words->options[i].id >= CONTEST_SETTING || words->options[i].id == CONTEST_OUTPUT)
            return pl_fail(error, PL_E_USAGE, "--resume goes on with '%s' as it began: leave out '--%s'", path,
                           cli_contest_option(&request->common, words->options[i].id));
    if (optind < request->common.argc)
        return pl_fail(error, PL_E_USAGE, "--resume goes on with '%s' as it began: leave out '%s'", path,
                       request->common.argv[optind]);
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
        if (words->options[i].id == CONTEST_RESUME)
            return load_resumed(request, words->options[i].value, words, error);
    return find_benchmark(request, error);
}

static int parse(struct gpfs_request *request)
{
    struct words words = {.count = 0};
    struct pl_error error;
    const char *value;
    int id;
    while ((id = cli_next(request->common.verb, request->common.argc, request->common.argv, &value)) != CLI_END) {
        if (id == CLI_BAD)
            return CLI_USAGE;
        if (words.count == OPTIONS_MAX) {
            pl_fail(&error, PL_E_USAGE, "more than %d options", OPTIONS_MAX);
            return cli_contest_refuse(&request->common, &error);
        }
        words.options[words.count].id = id;
        words.options[words.count++].value = value;
    }
    pl_status status = begin_config(request, &words, &error);
    for (int i = 0; i < words.count && status == PL_OK; i++)
        status = take_option(request, words.options[i].id, words.options[i].value, &error);
    request->common.output = request->common.output ? request->common.output : "gpfs.out";
    if (status == PL_OK)
        status = check_files(request, &error);
    return status == PL_OK ? CLI_OK : cli_contest_refuse(&request->common, &error);
}

/* ---- starting ---- */

static int run_here(struct gpfs_request *request, bool needs_engine)
{
    return needs_engine && !cli_engine_is_there()
               ? cli_engine_start_again(request->common.verb, request->common.argc, request->common.argv)
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
        return cli_contest_refuse(&request->common, &error);
    if (launched || (!asked && !request->common.dry_run))
        return run_here(request, gpfs_config_needs_engine(&trial));
    pl_status status = gpfs_cells_make(&trial, &cells, &error);
    if (status == PL_OK && !request->common.dry_run)
        status = gpfs_run_check_place(&trial, &cells, request->common.overwrite, &error);
    gpfs_cells_clear(&cells);
    if (status != PL_OK)
        return cli_contest_refuse(&request->common, &error);
    if (!request->common.dry_run)
        return cli_launch(request->common.verb, (int)gpfs_config_most_ranks(config), request->common.argc,
                          request->common.argv);
    gpfs_config_finish(config, 1, &error);
    return gpfs_shell_dry_run(request);
}

static int gpfs_run(int argc, char **argv)
{
    struct gpfs_request request = {.common = {.verb = &cli_verb_gpfs, .progress = "auto", .argc = argc, .argv = argv}};
    int status = parse(&request);
    if (status == CLI_OK) {
        cli_contest_tell_resume(&request.common);
        status = start(&request);
    }
    gpfs_config_clear(&request.config);
    return status;
}

#define KEY(id, name, kind, allowed, least, most, letter, argument, param, help)                                       \
    {CONTEST_SETTING + GPFS_##id, name, letter, argument, help},

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
            {CONTEST_SETTING + GPFS_KEYS, "contestants", 'c', "LIST",
             "posix, system, no-shipping, shipping,\npartitioned, independent, auto, ranges-N, ...\n"
             "(by benchmark)"},
            {CONTEST_SETTING + GPFS_KEYS + 1, "reps", 'r', "N", "repetitions of each contestant (7)"},
            {CONTEST_SETTING + GPFS_KEYS + 2, "file", 'f', "FILE", "test file (gpfs.dat)"},
            {CONTEST_SETTING + GPFS_KEYS + 3, "seed", 0, "N", "of data and of random places (1)"},
            {CONTEST_SETTING + GPFS_KEYS + 4, "keep", 0, NULL, "leave the test file there"},
            {CONTEST_OVERWRITE, "overwrite", 0, NULL,
             "take a test file that is there and that piolet\ndid not leave as it is"},
            {CONTEST_OUTPUT, "output", 'o', "FILE", "append the results to FILE (gpfs.out)"},
            {CONTEST_RESUME, "resume", 0, "FILE", "go on with the benchmark of FILE, without what\nit holds already"},
            {CONTEST_DRY_RUN, "dry-run", 0, NULL, "print what would be measured; run nothing"},
            {CONTEST_JSON, "json", 0, "FILE", "export what was measured as JSON"},
            {CONTEST_CSV, "csv", 0, "FILE", "export what was measured as CSV"},
            {CONTEST_PROGRESS, "progress", 0, "WHEN", "auto (on a terminal), always, never"},
            {0}},
    .run = gpfs_run,
};
