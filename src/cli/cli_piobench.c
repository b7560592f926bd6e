/* piolet piobench: distribution × algorithm × data block size × ranks × file size. */
#include "base/blockfile.h"
#include "cli/cli_engine.h"
#include "cli/cli_launch.h"
#include "cli/cli_outputs.h"
#include "cli/piobench_shell.h"
#include "mpi/job.h"

#include <getopt.h>
#include <string.h>

extern const struct cli_verb cli_verb_piobench;

/* ---- the command line ---- */

static pl_status take_option(struct piobench_request *request, int id, const char *value, struct pl_error *error)
{
    if (id >= CONTEST_SETTING)
        return piobench_config_set(&request->config, cli_contest_option(&request->common, id), value ? value : "true",
                                   error);
    if ((id == CONTEST_RESUME && request->common.output && !request->common.resume) ||
        (id == CONTEST_OUTPUT && request->common.resume))
        return pl_fail(error, PL_E_USAGE, "--resume names the file to go on with; leave out --output");
    return cli_contest_take(&request->common, id, value, error);
}

/* A resumed run is asked for what the killed one was. */
static pl_status load_resumed(struct piobench_request *request, struct pl_error *error)
{
    struct blockfile file;
    if (request->config.inputs.length)
        return pl_fail(error, PL_E_USAGE, "--resume takes the matrix from '%s': leave out '--%.*s'",
                       request->common.output, (int)strcspn(text_get(&request->config.inputs), " "),
                       text_get(&request->config.inputs));
    if (blockfile_open(request->common.output, &file, error) != PL_OK)
        return error->status;
    const pl_status status = piobench_results_config(&file, &request->config, error);
    blockfile_close(&file);
    return status;
}

static pl_status check_files(const struct piobench_request *request, struct pl_error *error)
{
    const struct cli_outputs outputs = {.results = request->common.output,
                                        .json = request->common.json,
                                        .csv = request->common.csv,
                                        .test_file = request->config.file};
    return cli_outputs_check(&outputs, error);
}

static int parse(struct piobench_request *request)
{
    struct pl_error error;
    const char *value;
    int id;
    while ((id = cli_next(request->common.verb, request->common.argc, request->common.argv, &value)) != CLI_END) {
        if (id == CLI_BAD)
            return CLI_USAGE;
        if (take_option(request, id, value, &error) != PL_OK)
            return cli_contest_refuse(&request->common, &error);
    }
    if (optind < request->common.argc) {
        pl_fail(&error, PL_E_USAGE, "'%s': piobench takes options only", request->common.argv[optind]);
        return cli_contest_refuse(&request->common, &error);
    }
    if (request->common.resume && load_resumed(request, &error) != PL_OK)
        return cli_contest_refuse(&request->common, &error);
    request->common.output = request->common.output ? request->common.output : "piobench.out";
    return check_files(request, &error) == PL_OK ? CLI_OK : cli_contest_refuse(&request->common, &error);
}

/* ---- starting ---- */

static int run_here(struct piobench_request *request)
{
    const struct cli_contest *common = &request->common;
    return piobench_config_needs_engine(&request->config) && !cli_engine_is_there()
               ? cli_engine_start_again(common->verb, common->argc, common->argv)
               : piobench_shell_run_coll(request);
}

/* Before anything is started: the whole matrix, so that a mistake is one message. */
static int check_plan(struct piobench_request *request)
{
    struct pl_error error;
    struct piobench_matrix matrix;
    if (piobench_config_finish(&request->config, 1, &error) != PL_OK ||
        piobench_matrix_make(&request->config, &matrix, &error) != PL_OK)
        return cli_contest_refuse(&request->common, &error);
    piobench_matrix_clear(&matrix);
    return CLI_OK;
}

static int start(struct piobench_request *request)
{
    const struct piobench_step step = piobench_shell_step();
    const bool drives = request->config.mpi_count > 0 && !step.is_one;
    if (job_is_launched()) {
        if (drives && job_speaks())
            cli_usage_error(request->common.verb, "--mpis starts MPI jobs, but this is one already; leave mpiexec out");
        if (drives)
            return CLI_USAGE;
        return run_here(request);
    }
    if (request->config.rank_count == 0 && !request->common.dry_run && !drives)
        return run_here(request);
    if (drives && request->config.rank_count == 0)
        return cli_usage_error(request->common.verb, "--mpis starts MPI jobs: on how many ranks? Give -n");
    const int wrong = check_plan(request);
    if (wrong || request->common.dry_run)
        return wrong ? wrong : piobench_shell_dry_run(request);
    if (drives)
        return piobench_driver_run(request);
    return cli_launch(request->common.verb, (int)piobench_config_most_ranks(&request->config), request->common.argc,
                      request->common.argv);
}

static int piobench_run(int argc, char **argv)
{
    struct piobench_request request = {
        .common = {.verb = &cli_verb_piobench, .progress = "auto", .argc = argc, .argv = argv}};
    piobench_config_init(&request.config);
    int status = parse(&request);
    if (status == CLI_OK) {
        cli_contest_tell_resume(&request.common);
        status = start(&request);
    }
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
            {CONTEST_SETTING, "ranks", 'n', "LIST",
             "start mpiexec with the most of these, and\nmeasure on each of them"},
            {CONTEST_SETTING + 1, "file", 'f', "FILE", "test file (piobench.dat)"},
            {CONTEST_SETTING + 2, "distribution", 'd', "DIST",
             "BLOCK, CYCLIC, BALANCED, random, broadcast,\nmultipartition, BLOCK,BLOCK,BLOCK, ...; may be\n"
             "repeated (default: these)"},
            {CONTEST_SETTING + 3, "algorithms", 'a', "LIST",
             "naive, cbx, ring, system, ..., all (default);\nNAME:HINT=VALUE gives one hints of its own"},
            {CONTEST_SETTING + 4, "blocks", 'b', "LIST", "data block sizes (64,256,1k,...,256k,1m)"},
            {CONTEST_SETTING + 5, "sizes", 's', "LIST", "file sizes (16m)"},
            {CONTEST_SETTING + 6, "dims", 0, "AxBxC",
             "elements of 8 bytes along each dimension,\nin the place of file and block size"},
            {CONTEST_SETTING + 7, "ops", 0, "LIST", "write, read (both)"},
            {CONTEST_SETTING + 8, "buffers", 0, "LIST", "buffer sizes to try with each algorithm\nthat has buffers"},
            {CONTEST_SETTING + 9, "groups", 0, "LIST", "group sizes to try with node_grouping"},
            {CONTEST_SETTING + 10, "hint", 0, "NAME=VALUE", "a hint for all MPI-IO; may be repeated"},
            {CONTEST_SETTING + 11, "trials", 0, "N", "trials of each algorithm at least (3)"},
            {CONTEST_SETTING + 12, "max-trials", 0, "N", "trials at most (10)"},
            {CONTEST_SETTING + 13, "width", 0, "PERCENT",
             "go on until the half width of the 90 %\ninterval is below this (5%)"},
            {CONTEST_SETTING + 14, "sync", 0, NULL, "writing ends when data are on the device"},
            {CONTEST_SETTING + 15, "cold", 0, NULL, "take the file out of the page cache before\neach trial"},
            {CONTEST_SETTING + 16, "direct", 0, NULL, "pass the page cache by, where possible"},
            {CONTEST_SETTING + 17, "fresh", 0, NULL, "write a new file each time, not over the old"},
            {CONTEST_SETTING + 18, "check", 0, "WHEN",
             "compare contents after the first trial of an\nalgorithm (first), after all, none"},
            {CONTEST_SETTING + 19, "seed", 0, "N", "of data and of the random distribution (1)"},
            {CONTEST_SETTING + 20, "keep", 0, NULL, "leave the test file there"},
            {CONTEST_SETTING + 21, "mpis", 0, "LIST", "alternate launches of mpich, openmpi,\nopenmpi-romio; needs -n"},
            {CONTEST_OVERWRITE, "overwrite", 0, NULL,
             "take a test file that is there and that piolet\ndid not leave as it is"},
            {CONTEST_OUTPUT, "output", 'o', "FILE", "append the results to FILE (piobench.out)"},
            {CONTEST_RESUME, "resume", 0, "FILE", "go on with the matrix of FILE, without what\nit holds already"},
            {CONTEST_DRY_RUN, "dry-run", 0, NULL, "print the matrix; run nothing"},
            {CONTEST_JSON, "json", 0, "FILE", "export what was measured as JSON"},
            {CONTEST_CSV, "csv", 0, "FILE", "export what was measured as CSV"},
            {CONTEST_PROGRESS, "progress", 0, "WHEN", "auto (on a terminal), always, never"},
            {0}},
    .run = piobench_run,
};
