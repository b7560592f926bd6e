/* piolet piobench: distribution × algorithm × data block size × ranks × file size. */
#include "base/blockfile.h"
#include "cli/cli.h"
#include "cli/cli_engine.h"
#include "cli/cli_launch.h"
#include "cli/cli_outputs.h"
#include "cli/piobench_shell.h"
#include "mpi/job.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

extern const struct cli_verb cli_verb_piobench;

/* Options from SETTING on are settings of the benchmark, by their own name. */
enum { OUTPUT = 1, RESUME, DRY_RUN, JSON, CSV, PROGRESS, SETTING };

/* One of the processes of a launch speaks for all. */
static int refuse(const struct piobench_request *request, const struct pl_error *error)
{
    if (job_speaks())
        cli_usage_error(request->verb, "%s", error->text);
    return CLI_USAGE;
}

/* ---- the command line ---- */

static const char *option_name(int id)
{
    for (const struct cli_option *option = cli_verb_piobench.options; option->id; option++)
        if (option->id == id)
            return option->name;
    return "";
}

static bool is_progress(const char *word)
{
    return strcmp(word, "auto") == 0 || strcmp(word, "always") == 0 || strcmp(word, "never") == 0;
}

static pl_status take_option(struct piobench_request *request, int id, const char *value, struct pl_error *error)
{
    if (id >= SETTING)
        return piobench_config_set(&request->config, option_name(id), value ? value : "true", error);
    if (id == PROGRESS && !is_progress(value))
        return pl_fail(error, PL_E_USAGE, "--progress: '%s'; allowed: auto, always, never", value);
    if (id == RESUME && request->output && !request->resume)
        return pl_fail(error, PL_E_USAGE, "--resume names the file to go on with; leave out --output");
    if (id == OUTPUT && request->resume)
        return pl_fail(error, PL_E_USAGE, "--resume names the file to go on with; leave out --output");
    request->output = id == OUTPUT || id == RESUME ? value : request->output;
    request->resume |= id == RESUME;
    request->dry_run |= id == DRY_RUN;
    request->json = id == JSON ? value : request->json;
    request->csv = id == CSV ? value : request->csv;
    request->progress = id == PROGRESS ? value : request->progress;
    return PL_OK;
}

/* A resumed run is asked for what the killed one was. */
static pl_status load_resumed(struct piobench_request *request, struct pl_error *error)
{
    struct blockfile file;
    if (request->config.inputs.length)
        return pl_fail(error, PL_E_USAGE, "--resume takes the matrix from '%s': leave out '--%.*s'", request->output,
                       (int)strcspn(text_get(&request->config.inputs), " "), text_get(&request->config.inputs));
    if (blockfile_open(request->output, &file, error) != PL_OK)
        return error->status;
    const pl_status status = piobench_results_config(&file, &request->config, error);
    blockfile_close(&file);
    return status;
}

static pl_status check_files(const struct piobench_request *request, struct pl_error *error)
{
    return cli_outputs_check(request->config.file, request->output, request->json, request->csv, error);
}

static int parse(struct piobench_request *request)
{
    struct pl_error error;
    const char *value;
    int id;
    while ((id = cli_next(request->verb, request->argc, request->argv, &value)) != CLI_END) {
        if (id == CLI_BAD)
            return CLI_USAGE;
        if (take_option(request, id, value, &error) != PL_OK)
            return refuse(request, &error);
    }
    if (optind < request->argc) {
        pl_fail(&error, PL_E_USAGE, "'%s': piobench takes options only", request->argv[optind]);
        return refuse(request, &error);
    }
    if (request->resume && load_resumed(request, &error) != PL_OK)
        return refuse(request, &error);
    request->output = request->output ? request->output : "piobench.out";
    return check_files(request, &error) == PL_OK ? CLI_OK : refuse(request, &error);
}

/* ---- starting ---- */

static bool lacks_engine(const struct piobench_request *request)
{
    return piobench_config_needs_engine(&request->config) && !cli_engine_is_there();
}

/* Before anything is started: the whole matrix, so that a mistake is one message. */
static int check_plan(struct piobench_request *request)
{
    struct pl_error error;
    struct piobench_matrix matrix;
    if (piobench_config_finish(&request->config, 1, &error) != PL_OK ||
        piobench_matrix_make(&request->config, &matrix, &error) != PL_OK)
        return refuse(request, &error);
    piobench_matrix_clear(&matrix);
    return CLI_OK;
}

static int start(struct piobench_request *request)
{
    const struct piobench_step step = piobench_shell_step();
    const bool drives = request->config.mpi_count > 0 && !step.is_one;
    if (job_is_launched()) {
        if (drives && job_speaks())
            cli_usage_error(request->verb, "--mpis starts MPI jobs, but this is one already; leave mpiexec out");
        if (drives)
            return CLI_USAGE;
        return lacks_engine(request) ? cli_engine_start_again(request->verb, request->argc, request->argv)
                                     : piobench_shell_run_coll(request);
    }
    if (request->config.rank_count == 0 && !request->dry_run && !drives)
        return lacks_engine(request) ? cli_engine_start_again(request->verb, request->argc, request->argv)
                                     : piobench_shell_run_coll(request);
    if (drives && request->config.rank_count == 0)
        return cli_usage_error(request->verb, "--mpis starts MPI jobs: on how many ranks? Give -n");
    const int wrong = check_plan(request);
    if (wrong || request->dry_run)
        return wrong ? wrong : piobench_shell_dry_run(request);
    if (drives)
        return piobench_driver_run(request);
    return cli_launch(request->verb, (int)piobench_config_most_ranks(&request->config), request->argc, request->argv);
}

static int piobench_run(int argc, char **argv)
{
    struct piobench_request request = {.verb = &cli_verb_piobench, .progress = "auto", .argc = argc, .argv = argv};
    piobench_config_init(&request.config);
    int status = parse(&request);
    if (status == CLI_OK)
        status = start(&request);
    piobench_config_clear(&request.config);
    return status;
}

const struct cli_verb cli_verb_piobench = {
    .name = "piobench",
    .summary = "compare algorithms of collective I/O over distributions and block sizes",
    .synopsis = "[OPTION]...",
    .details = "Every algorithm moves the same data in turn; trials are repeated until the\n"
               "mean is known well enough. 'piolet analyze piobench FILE' reads the results.\n"
               "Lists are separated by commas; sizes may end in k, m, g (powers of 1024).",
    .options =
        (const struct cli_option[]){
            {SETTING, "ranks", 'n', "LIST", "start mpiexec with the most of these, and\nmeasure on each of them"},
            {SETTING + 1, "file", 'f', "FILE", "test file (piobench.dat)"},
            {SETTING + 2, "distribution", 'd', "DIST",
             "BLOCK, CYCLIC, BALANCED, random, broadcast,\nmultipartition, BLOCK,BLOCK,BLOCK, ...; may be\n"
             "repeated (default: these)"},
            {SETTING + 3, "algorithms", 'a', "LIST",
             "naive, cbx, ring, system, ..., all (default);\nNAME:HINT=VALUE gives one hints of its own"},
            {SETTING + 4, "blocks", 'b', "LIST", "data block sizes (64,256,1k,...,256k,1m)"},
            {SETTING + 5, "sizes", 's', "LIST", "file sizes (16m)"},
            {SETTING + 6, "dims", 0, "AxBxC",
             "elements of 8 bytes along each dimension,\nin the place of file and block size"},
            {SETTING + 7, "ops", 0, "LIST", "write, read (both)"},
            {SETTING + 8, "buffers", 0, "LIST", "buffer sizes to try with each algorithm\nthat has buffers"},
            {SETTING + 9, "groups", 0, "LIST", "group sizes to try with node_grouping"},
            {SETTING + 10, "hint", 0, "NAME=VALUE", "a hint for all MPI-IO; may be repeated"},
            {SETTING + 11, "trials", 0, "N", "trials of each algorithm at least (3)"},
            {SETTING + 12, "max-trials", 0, "N", "trials at most (10)"},
            {SETTING + 13, "width", 0, "PERCENT",
             "go on until the half width of the 90 %\ninterval is below this (5%)"},
            {SETTING + 14, "sync", 0, NULL, "writing ends when data are on the device"},
            {SETTING + 15, "cold", 0, NULL, "take the file out of the page cache before\neach trial"},
            {SETTING + 16, "direct", 0, NULL, "pass the page cache by, where possible"},
            {SETTING + 17, "fresh", 0, NULL, "write a new file each time, not over the old"},
            {SETTING + 18, "check", 0, "WHEN",
             "compare contents after the first trial of an\nalgorithm (first), after all, none"},
            {SETTING + 19, "seed", 0, "N", "of data and of the random distribution (1)"},
            {SETTING + 20, "keep", 0, NULL, "leave the test file there"},
            {SETTING + 21, "mpis", 0, "LIST", "alternate launches of mpich, openmpi,\nopenmpi-romio; needs -n"},
            {OUTPUT, "output", 'o', "FILE", "append the results to FILE (piobench.out)"},
            {RESUME, "resume", 0, "FILE", "go on with the matrix of FILE, without what\nit holds already"},
            {DRY_RUN, "dry-run", 0, NULL, "print the matrix; run nothing"},
            {JSON, "json", 0, "FILE", "export what was measured as JSON"},
            {CSV, "csv", 0, "FILE", "export what was measured as CSV"},
            {PROGRESS, "progress", 0, "WHEN", "auto (on a terminal), always, never"},
            {0}},
    .run = piobench_run,
};
