/* The command line around every benchmark, and `piolet bench`, which lists them. Nothing here knows a benchmark. */
#include "cli/cli_bench.h"

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/path.h"
#include "bench/bench.h"
#include "cli/cli_engine.h"
#include "cli/cli_launch.h"
#include "cli/cli_outputs.h"
#include "lab/facts/environment.h"
#include "lab/runner/lab.h"
#include "lab/show/export.h"
#include "lab/show/show.h"
#include "mpi/job.h"

#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One command line of one benchmark, on this process. */
struct cli_bench {
    const struct cli_verb *verb;
    struct lab_job job;
    int argc;
    char **argv;
    bool outputs_checked;
};

static const struct cli_verb *cli_bench_speaker; /* whose name stands before messages */

static void cli_bench_complain(const char *text)
{
    cli_complain(cli_bench_speaker, "%s", text);
}

/* Of the processes of a launch one speaks for all. */
static int cli_bench_refuse(const struct cli_bench *bench, const struct pl_error *error)
{
    if (!job_speaks())
        return CLI_USAGE;
    if (error->status == PL_E_USAGE)
        return cli_usage_error(bench->verb, "%s", error->text);
    cli_complain(bench->verb, "%s", error->text); /* of a file: --help has nothing to say about it */
    return CLI_USAGE;
}

/* ---- before the run ---- */

/* Before `prepare`, which may look at places for long; once, since a second name for an output is a mistake. */
static pl_status cli_bench_check_outputs(const struct lab_options *common, struct pl_error *error)
{
    const struct cli_outputs outputs = {
        .results = common->output, .json = common->json, .csv = common->csv, .plot = common->plot};
    return cli_outputs_check(&outputs, error);
}

/* Behind `prepare`, which knows the test file, and of some benchmarks where the results go. */
static pl_status cli_bench_check_prepared(struct cli_bench *bench, struct pl_error *error)
{
    const struct lab_job *job = &bench->job;
    const struct {
        const char *option, *path;
    } outputs[] = {{"--output", job->common.output},
                   {"--json", job->common.json},
                   {"--csv", job->common.csv},
                   {"--plot", job->common.plot}};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++)
        if (job->test_file && outputs[i].path && path_same(outputs[i].path, job->test_file))
            return pl_fail(error, PL_E_USAGE, "%s: '%s' is where the test file will be; allowed: another file",
                           outputs[i].option, outputs[i].path);
    const bool checked = bench->outputs_checked;
    bench->outputs_checked = true;
    return checked ? PL_OK : cli_bench_check_outputs(&job->common, error);
}

static void cli_bench_add_option(void *context, const char *name, const char *value)
{
    struct text word = {0};
    text_format(&word, "--%s=%s", name, value);
    text_add(context, " ");
    text_add_word(context, text_get(&word));
    text_clear(&word);
}

/* What the user reads when the run is interrupted. The results know the options, unless the inputs are others. */
static void cli_bench_register_results(const struct cli_bench *bench)
{
    const struct bench *what = bench->job.bench;
    struct text go_on = {0};
    text_format(&go_on, "%s%s", bench->verb->standalone ? "" : "piolet ", bench->verb->name);
    if (what->takes & BENCH_OWN_INPUTS)
        options_each_given(&bench->job.all, cli_bench_add_option, &go_on);
    for (size_t i = 0; i < bench->job.all.operand_count; i++) {
        text_add(&go_on, " ");
        text_add_word(&go_on, bench->job.all.operands[i]);
    }
    text_add(&go_on, " --resume ");
    text_add_word(&go_on, bench->job.common.output);
    interrupt_results(bench->job.common.output, text_get(&go_on));
    text_clear(&go_on);
}

static int cli_bench_dry_run(struct cli_bench *bench)
{
    const struct bench *what = bench->job.bench;
    struct result *plan = result_new(what->name, what->summary);
    struct pl_error error;
    if (what->plan(&bench->job, plan, &error) != PL_OK) {
        result_free(plan);
        return cli_bench_refuse(bench, &error);
    }
    result_line(plan, "Results would be appended to '%s'. Nothing was run.", bench->job.common.output);
    result_finish(plan);
    show_text(plan, stdout);
    result_free(plan);
    return CLI_OK;
}

/* ---- behind the run ---- */

/* The blocks that this run appended: a window on the file, which keeps owning them. */
static struct blockfile cli_bench_window(const struct blockfile *file, size_t blocks_before)
{
    struct blockfile ours = *file;
    const size_t before = blocks_before < file->block_count ? blocks_before : file->block_count;
    ours.blocks += before;
    ours.block_count -= before;
    return ours;
}

static pl_status cli_bench_write_json(struct result *result, struct blockfile *ours, const char *path,
                                      struct pl_error *error)
{
    FILE *stream;
    if (output_open(path, &stream, error) != PL_OK)
        return error->status;
    struct json json = {.stream = stream};
    json_object_begin(&json, NULL);
    show_put_json(result, &json, "results");
    const pl_status status = export_put_json(ours, 1, &json, error);
    json_object_end(&json);
    fputc('\n', stream);
    return status == PL_OK ? output_finish(stream, error) : status;
}

static pl_status cli_bench_write_csv(struct blockfile *ours, const char *path, struct pl_error *error)
{
    FILE *stream;
    if (output_open(path, &stream, error) != PL_OK)
        return error->status;
    const pl_status status = export_csv(ours, 1, stream, error);
    return status == PL_OK ? output_finish(stream, error) : status;
}

/* What the run wrote is read back: the tables come from the file, as they will for whoever analyses it later. A resumed
 * run shows all of it. */
static pl_status cli_bench_show(const struct cli_bench *bench, size_t blocks_before, struct pl_error *error)
{
    const struct lab_options *common = &bench->job.common;
    const bool told = bench->job.bench->takes & BENCH_TELLS;
    struct blockfile file;
    if (told && !common->json && !common->csv && !common->plot)
        return PL_OK;
    if (blockfile_open(common->output, &file, error) != PL_OK)
        return error->status;
    struct blockfile ours = cli_bench_window(&file, common->resume ? 0 : blocks_before);
    const struct analysis_request request = {.to = INT64_MAX};
    const struct analysis_input input = {&ours, 1};
    struct result *result = result_new(bench->job.bench->name, NULL);
    pl_status status = bench->job.bench->results(&request, &input, result, error);
    if (status == PL_OK) {
        result_finish(result);
        if (lab_stdout_is_free(common) && !told)
            show_text(result, stdout);
        if (common->json)
            status = cli_bench_write_json(result, &ours, common->json, error);
        if (status == PL_OK && common->csv)
            status = cli_bench_write_csv(&ours, common->csv, error);
        if (status == PL_OK && common->plot)
            status = show_plot(result, common->plot, error);
        if (status == PL_OK)
            status = output_commit(error);
    }
    result_free(result);
    blockfile_close(&file);
    return status;
}

static size_t cli_bench_count_blocks(const char *output)
{
    struct blockfile file;
    struct stat info;
    struct pl_error ignored;
    if (stat(output, &info) != 0 || !S_ISREG(info.st_mode)) /* a device may have no end */
        return 0;
    if (blockfile_open(output, &file, &ignored) != PL_OK)
        return 0;
    const size_t count = file.block_count;
    blockfile_close(&file);
    return count;
}

/* ---- the run ---- */

/* Results that go to /dev/null cannot be read back for tables and exports: they are kept in a temporary
 * folder meanwhile. "": no such thing. On rank 0, the only one that writes. */
struct cli_bench_aside {
    char folder[256], file[280];
};

static pl_status cli_bench_put_aside(struct cli_bench *bench, struct cli_bench_aside *aside, struct pl_error *error)
{
    const char *output = bench->job.common.output, *temporary = getenv("TMPDIR");
    struct stat info, null;
    if (stat(output, &info) != 0 || stat("/dev/null", &null) != 0 || !S_ISCHR(info.st_mode) ||
        info.st_rdev != null.st_rdev) /* any other device is written to, and says so where it cannot be */
        return PL_OK;
    snprintf(aside->folder, sizeof aside->folder, "%.200s/piolet-results-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!interrupt_mkdtemp(aside->folder))
        return pl_fail_errno(error, errno, "making a folder for results that go to '%s'", output);
    snprintf(aside->file, sizeof aside->file, "%s/results", aside->folder);
    bench->job.common.output = aside->file;
    return PL_OK;
}

static void cli_bench_end_aside(const struct cli_bench_aside *aside)
{
    if (!aside->file[0])
        return;
    unlink(aside->file);
    if (rmdir(aside->folder) == 0)
        interrupt_keep(aside->folder);
}

static int cli_bench_measure_coll(struct cli_bench *bench)
{
    const char *output = bench->job.common.output;
    struct cli_bench_aside aside = {.folder = ""};
    struct coll_verdict verdict;
    struct lab_run run;
    struct pl_error error;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const size_t before = rank == 0 ? cli_bench_count_blocks(output) : 0;
    pl_status status = rank == 0 ? cli_bench_put_aside(bench, &aside, &error) : PL_OK;
    if (coll_agree_coll(MPI_COMM_WORLD, status, &error, &verdict) != PL_OK)
        return rank == 0 ? cli_bench_refuse(bench, &error) : CLI_USAGE;
    status = lab_run_coll(&run, MPI_COMM_WORLD, &bench->job, cli_bench_complain, &error);
    if (rank == 0 && status == PL_OK && run.failed)
        cli_complain(bench->verb, "%lld set%s failed; the results say why", (long long)run.failed,
                     run.failed == 1 ? "" : "s");
    if (rank == 0 && status == PL_OK)
        status = cli_bench_show(bench, before, &error);
    if (rank == 0 && status != PL_OK)
        cli_complain(bench->verb, "%s", error.text);
    else if (rank == 0 && lab_stdout_is_free(&bench->job.common))
        printf("\nresults: %s\n", output);
    cli_bench_end_aside(&aside);
    bench->job.common.output = output;
    if (status == PL_E_USAGE) /* nothing was run */
        return CLI_USAGE;
    return status == PL_OK && run.failed == 0 ? CLI_OK : CLI_FAILED;
}

/* MPI is there: the number of ranks is known at last. */
static int cli_bench_run_coll(struct cli_bench *bench)
{
    struct pl_error error;
    struct coll_verdict verdict;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const struct bench *what = bench->job.bench;
    pl_status status = PL_OK;
    if (what->takes & BENCH_RANK_LIST && bench->job.ranks > size)
        status = pl_fail(&error, PL_E_USAGE, "--ranks: %d, but this MPI job has %d", bench->job.ranks, size);
    else if (!(bench->job.bench->takes & (BENCH_RANK_LIST | BENCH_OWN_RANKS)) &&
             options_source(&bench->job.all, "ranks") == OPTION_FROM_RESULTS && bench->job.common.ranks.count == 1 &&
             bench->job.ranks != size)
        status = pl_fail(&error, PL_E_USAGE, "ranks: %d, but the run to resume has %d; allowed: the same", size,
                         bench->job.ranks);
    bench->job.ranks = size;
    if (status == PL_OK && what->prepare_coll)
        status = what->prepare_coll(&bench->job, MPI_COMM_WORLD, &error);
    else if (status == PL_OK && what->prepare)
        status = what->prepare(&bench->job, &error);
    if (status == PL_OK)
        status = cli_bench_check_prepared(bench, &error);
    status = coll_agree_coll(MPI_COMM_WORLD, status, &error, &verdict);
    if (status != PL_OK)
        return rank == 0 ? cli_bench_refuse(bench, &error) : CLI_USAGE;
    if (!what->output && !bench->job.common.dry_run) /* only `prepare` knew where the results go */
        cli_bench_register_results(bench);
    if (!bench->job.common.dry_run)
        return cli_bench_measure_coll(bench);
    return rank == 0 ? cli_bench_dry_run(bench) : CLI_OK;
}

static int cli_bench_run_here(struct cli_bench *bench)
{
    const struct bench *what = bench->job.bench;
    struct pl_error error;
    int argc = bench->argc, exit_status = CLI_USAGE;
    char **argv = bench->argv;
    if (what->needs_engine && what->needs_engine(&bench->job) && !environment_has_engine())
        return cli_engine_start_again(bench->verb, what->behind_engine ? what->behind_engine(bench->job.own) : NULL,
                                      argc, argv);
    const int level = what->threads ? what->threads(&bench->job) : what->thread_level;
    if (job_init_thread_coll(&argc, &argv, level, &error) == PL_OK)
        exit_status = cli_bench_run_coll(bench);
    else if (job_speaks())
        cli_complain(bench->verb, "%s", error.text);
    job_finalize_coll();
    return exit_status;
}

/* A list of ranks is one job where the benchmark measures on each number itself, else a job for each. */
static int cli_bench_launch(struct cli_bench *bench)
{
    const struct option_numbers *ranks = &bench->job.common.ranks;
    if (bench->job.bench->takes & BENCH_RANK_LIST || ranks->count <= 1)
        return cli_launch(bench->verb, bench->job.ranks, bench->argc, bench->argv);
    int exit_status = CLI_OK;
    for (size_t i = 0; i < ranks->count && exit_status == CLI_OK; i++)
        exit_status = cli_launch(bench->verb, (int)ranks->values[i], bench->argc, bench->argv);
    return exit_status;
}

/* Launches of several MPIs that take turns. */
static int cli_bench_alternate(struct cli_bench *bench)
{
    struct bench_launch launch = {.mpi = NULL};
    struct pl_error error;
    const size_t before = cli_bench_count_blocks(bench->job.common.output);
    if (bench->job.bench->next_launch(&bench->job, &launch, &error) != PL_OK)
        return cli_bench_refuse(bench, &error);
    int exit_status = cli_bench_drive(bench->verb, &bench->job, &launch, bench->argc, bench->argv);
    if (exit_status != CLI_OK && exit_status != CLI_FAILED)
        return exit_status;
    if (cli_bench_show(bench, before, &error) != PL_OK) {
        cli_complain(bench->verb, "%s", error.text);
        return CLI_FAILED;
    }
    if (lab_stdout_is_free(&bench->job.common))
        printf("\nresults: %s\n", bench->job.common.output);
    return exit_status;
}

/* Does -n start a job? Inside of one it says which of its ranks take part, or comes from the results. */
static bool cli_bench_starts(const struct cli_bench *bench)
{
    const struct lab_job *job = &bench->job;
    const bool from_file = job->bench->takes & BENCH_FROM_FILE;
    if ((job->common.ranks.count == 0 && !from_file) || cli_launch_is_child() || job->bench->takes & BENCH_OWN_RANKS)
        return false;
    return !job_is_launched() || !(from_file || job->bench->takes & BENCH_RANK_LIST ||
                                   options_source(&job->all, "ranks") == OPTION_FROM_RESULTS);
}

static int cli_bench_start(struct cli_bench *bench)
{
    struct pl_error error;
    const struct bench *what = bench->job.bench;
    bool asked = false;
    if (what->answer && what->answer(&bench->job, stdout, &asked, &error) != PL_OK)
        return cli_bench_refuse(bench, &error);
    if (asked)
        return CLI_OK;
    /* not before `prepare` has read files of its own, which no output may replace */
    bench->outputs_checked = bench->job.common.output && !(what->takes & (BENCH_OWN_INPUTS | BENCH_FROM_FILE));
    if (bench->outputs_checked && cli_bench_check_outputs(&bench->job.common, &error) != PL_OK)
        return cli_bench_refuse(bench, &error);
    if (bench->job.common.output && !bench->job.common.dry_run)
        cli_bench_register_results(bench);
    const bool starts = cli_bench_starts(bench);
    if (job_is_launched() || (!starts && !bench->job.common.dry_run))
        return starts ? cli_launch(bench->verb, bench->job.ranks, bench->argc, bench->argv) : cli_bench_run_here(bench);
    /* before anything is started: a mistake is one message, and no launcher's besides */
    if (bench->job.ranks == 0 && !(what->takes & BENCH_FROM_FILE))
        bench->job.ranks = 1;
    if (what->prepare && what->prepare(&bench->job, &error) != PL_OK)
        return cli_bench_refuse(bench, &error);
    if (cli_bench_check_prepared(bench, &error) != PL_OK)
        return cli_bench_refuse(bench, &error);
    if (bench->job.common.dry_run)
        return cli_bench_dry_run(bench);
    if (!what->output && bench->job.common.output)
        cli_bench_register_results(bench);
    return bench->job.alternates ? cli_bench_alternate(bench) : cli_bench_launch(bench);
}

int cli_bench_main(const struct cli_verb *verb, int argc, char **argv)
{
    struct cli_bench bench = {.verb = verb, .argc = argc, .argv = argv};
    struct pl_error error;
    cli_bench_speaker = verb;
    const pl_status status = lab_job_init(&bench.job, verb->bench, argc, argv, &error);
    const int exit_status = status == PL_OK ? cli_bench_start(&bench) : cli_bench_refuse(&bench, &error);
    lab_job_clear(&bench.job);
    return exit_status;
}

/* ---- piolet bench ---- */

extern const struct cli_verb cli_verb_bench;

static void cli_bench_put_json(void)
{
    struct json json = {.stream = stdout};
    json_array_begin(&json, NULL);
    for (const struct bench *const *bench = BENCHES; *bench; bench++) {
        const struct option_row *tables[LAB_TABLES_MAX];
        lab_tables(*bench, tables);
        json_object_begin(&json, NULL);
        json_put_string(&json, "name", (*bench)->name);
        json_put_string(&json, "summary", (*bench)->summary);
        json_array_begin(&json, "classes");
        for (const char *const *name = (*bench)->classes; *name; name++)
            json_put_string(&json, NULL, *name);
        json_array_end(&json);
        options_put_json(tables, &json, "options");
        json_object_end(&json);
    }
    json_array_end(&json);
    putchar('\n');
}

struct bench_values {
    bool json;
};

static const struct option_row ROWS[] = {{.name = "json",
                                          .type = OPTION_FLAG,
                                          OPTION_AT(struct bench_values, json),
                                          .help = "describe all benchmarks and their options"},
                                         {0}};

static const char *const *cli_bench_names(void)
{
    static const char *names[CLI_VERBS_MAX];
    for (size_t i = 0; BENCHES[i]; i++)
        names[i] = BENCHES[i]->name;
    return names;
}

/* 'piolet bench NAME' does not come here. */
static int cli_bench_list(void *target, const struct cli_line *line)
{
    const struct bench_values *values = target;
    if (line->options->operand_count)
        return cli_unknown(&cli_verb_bench, "a benchmark", line->options->operands[0], cli_bench_names());
    if (values->json)
        cli_bench_put_json();
    for (const struct bench *const *bench = BENCHES; *bench && !values->json; bench++)
        cli_print_row((*bench)->name, (*bench)->summary);
    return CLI_OK;
}

const struct cli_verb cli_verb_bench = {
    .name = "bench",
    .summary = "list the benchmarks, or run one",
    .synopsis = "[--json | NAME [OPTION]...]",
    .details = "'piolet bench peak' and 'piolet peak' do the same, as all benchmarks but trace\n"
               "and predict, whose names are verbs of their own.",
    .rows = ROWS,
    .operands = cli_bench_names,
    .values_size = sizeof(struct bench_values),
    .act = cli_bench_list,
};
