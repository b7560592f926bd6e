/* piolet peak DIR...: the peak of the storage behind directories, at the level of its devices. */
#include "cli/cli.h"
#include "cli/cli_launch.h"
#include "cli/cli_outputs.h"
#include "cli/cli_wrap.h"
#include "cli/suite_shell.h"

#include "base/interrupt.h"
#include "base/text.h"
#include "base/units.h"
#include "bench/peak/peak_analysis.h"
#include "bench/peak/peak_run.h"
#include "mpi/job.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

extern const struct cli_verb cli_verb_peak;

/* Options from SETTING on are settings of the benchmark, by their own name. */
enum { RANKS = 1, OUTPUT, PLOT, DRY_RUN, JSON, CSV, PROGRESS, SETTING };

struct request {
    struct peak_config config;
    struct suite_request files; /* --json, --csv, --progress: as for the test suite */
    const char *output, *plot;
    int ranks;
    bool dry_run;
};

/* One of the processes of a launch speaks for all. */
static int refuse(const struct pl_error *error)
{
    if (job_speaks())
        cli_usage_error(&cli_verb_peak, "%s", error->text);
    return CLI_USAGE;
}

/* ---- the command line ---- */

static const char *option_name(int id)
{
    const struct cli_option *option = cli_verb_peak.options;
    while (option->id != id)
        option++;
    return option->name;
}

static pl_status take_option(struct request *request, int id, const char *value, struct pl_error *error)
{
    if (id >= SETTING)
        return peak_config_set(&request->config, option_name(id), value, error);
    if (id == PROGRESS && strcmp(value, "auto") != 0 && strcmp(value, "always") != 0 && strcmp(value, "never") != 0)
        return pl_fail(error, PL_E_USAGE, "--progress: '%s'; allowed: auto, always, never", value);
    request->output = id == OUTPUT ? value : request->output;
    request->plot = id == PLOT ? value : request->plot;
    request->files.json = id == JSON ? value : request->files.json;
    request->files.csv = id == CSV ? value : request->files.csv;
    request->files.progress = id == PROGRESS ? value : request->files.progress;
    request->dry_run |= id == DRY_RUN;
    return PL_OK;
}

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

static pl_status check_outputs(const struct request *request, struct pl_error *error)
{
    const char *plot = request->plot;
    if (plot && !ends_in(plot, ".svg") && !ends_in(plot, ".png"))
        return pl_fail(error, PL_E_USAGE, "--plot: '%s'; allowed: a name that ends in .svg or .png", plot);
    const struct cli_outputs outputs = {
        .results = request->output, .json = request->files.json, .csv = request->files.csv, .plot = plot};
    return cli_outputs_check(&outputs, error);
}

static int parse(int argc, char **argv, struct request *request)
{
    struct pl_error error;
    const char *value;
    int id;
    pl_status status = PL_OK;
    while (status == PL_OK && (id = cli_next(&cli_verb_peak, argc, argv, &value)) != CLI_END) {
        if (id == CLI_BAD)
            return CLI_USAGE;
        if (id == RANKS && (request->ranks = cli_launch_ranks(&cli_verb_peak, value)) == 0)
            return CLI_USAGE;
        status = take_option(request, id, value, &error);
    }
    for (int i = optind; i < argc && status == PL_OK; i++)
        status = peak_config_add_dir(&request->config, argv[i], &error);
    if (status == PL_OK)
        status = peak_config_finish(&request->config, &error);
    if (status == PL_OK)
        status = check_outputs(request, &error);
    return status == PL_OK ? CLI_OK : refuse(&error);
}

/* ---- the plan ---- */

/* Before anything is started: a mistake is one message and no launcher's besides. */
static pl_status look(const struct request *request, int ranks, const char *directory, struct peak_target *target,
                      int64_t *ret_share, struct pl_error *error)
{
    if (peak_target_look(&request->config, directory, false, target, error) != PL_OK)
        return error->status;
    return peak_file_share(target->size_bytes, ranks, &request->config, ret_share, error);
}

static void print_target(const struct peak_target *target, int64_t share, int ranks)
{
    char size[UNITS_TEXT_MAX], line[PATH_MAX + PEAK_WARNING_MAX];
    snprintf(line, sizeof line, "%s: %s of %s; a file of %s for each of %d process%s, %s", target->directory,
             target->fs.type, target->fs.source, units_binary(share, size), ranks, ranks == 1 ? "" : "es",
             target->direct ? "direct I/O" : "through the page cache");
    cli_wrap(line, 0, 2);
    for (int i = 0; i < target->warning_count; i++) {
        printf("  warning: ");
        cli_wrap(target->warnings[i], 11, 4);
    }
}

static int dry_run(const struct request *request)
{
    const int ranks = request->ranks ? request->ranks : 1;
    struct peak_set sets[PEAK_SETS_MAX];
    char label[PEAK_LABEL_MAX], limit[UNITS_TEXT_MAX];
    for (int i = 0; i < request->config.dir_count; i++) {
        struct peak_target target;
        struct pl_error error;
        int64_t share = 0;
        if (look(request, ranks, request->config.dirs[i], &target, &share, &error) != PL_OK)
            return refuse(&error);
        print_target(&target, share, ranks);
    }
    const int count = peak_plan_make(&request->config, sets);
    printf("\nSets, on each:\n");
    for (int i = 0; i < count; i++)
        printf("  %s%s\n", peak_set_label(&sets[i], label), sets[i].makes_file ? " (makes the file)" : "");
    printf("\nIn all %d sets, in about %s at most; results would be appended to '%s'.\nNothing was run.\n",
           count * request->config.dir_count, units_duration(request->config.limit_s, limit), request->output);
    return CLI_OK;
}

/* ---- the run ---- */

static void print_progress(void *context, const struct peak_event *event)
{
    const bool *wanted = context;
    char label[PEAK_LABEL_MAX], left[UNITS_TEXT_MAX];
    if (*wanted)
        fprintf(stderr, "[%d/%d] %s: %s; at most about %s left\n", event->number, event->sets, event->io_node,
                peak_set_label(event->set, label),
                units_duration(event->limit_s > event->elapsed_s ? event->limit_s - event->elapsed_s : 0, left));
}

static void print_failure(void *context, const struct peak_event *event)
{
    char label[PEAK_LABEL_MAX];
    (void)context;
    cli_complain(&cli_verb_peak, "%s: %s: rank %d: %s", event->io_node, peak_set_label(event->set, label),
                 event->verdict->rank, event->verdict->text);
}

static bool is_stdout(const char *name)
{
    return name && strcmp(name, "-") == 0;
}

/* What the run wrote is read back: the tables come from the file, as they will for whoever analyses it later. */
static int show_results(const struct request *request, size_t blocks_before)
{
    struct pl_error error;
    struct blockfile file;
    const bool quiet = is_stdout(request->files.json) || is_stdout(request->files.csv);
    pl_status status = blockfile_open(request->output, &file, &error);
    if (status == PL_OK) {
        struct blockfile ours = file; /* a window on this run's blocks; `file` keeps owning them */
        ours.blocks += blocks_before;
        ours.block_count -= blocks_before;
        const struct analysis_input input = {.files = &ours, .file_count = 1};
        const struct analysis_request wanted = {.plot = request->plot, .text = quiet ? NULL : stdout};
        status = peak_analysis(&wanted, &input, &error);
        blockfile_close(&file);
    }
    if (status == PL_OK)
        status = suite_export(&request->files, request->output, blocks_before, &error);
    if (status != PL_OK)
        cli_complain(&cli_verb_peak, "%s", error.text);
    else if (!quiet)
        printf("results: %s\n", request->output);
    return status == PL_OK ? CLI_OK : CLI_FAILED;
}

static int run_coll(const struct request *request)
{
    bool progress = suite_wants_progress(request->files.progress);
    const struct peak_observer observer = {&progress, print_progress, print_failure};
    const struct peak_job job = {.config = &request->config, .output = request->output, .observer = &observer};
    struct pl_error error;
    int64_t failed = 0;
    bool began = false;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const size_t blocks_before = rank == 0 ? suite_export_count(request->output) : 0;
    const pl_status status = peak_run_coll(MPI_COMM_WORLD, &job, &began, &failed, &error);
    if (rank == 0 && status != PL_OK)
        cli_complain(&cli_verb_peak, "%s", error.text);
    if (status != PL_OK)
        return began ? CLI_FAILED : CLI_USAGE;
    const int shown = rank == 0 ? show_results(request, blocks_before) : CLI_OK;
    return failed ? CLI_FAILED : shown;
}

static int start_coll(const struct request *request, int argc, char **argv)
{
    struct pl_error error;
    int exit_status = CLI_USAGE;
    if (job_init_coll(&argc, &argv, &error) == PL_OK)
        exit_status = run_coll(request);
    else if (job_speaks())
        cli_complain(&cli_verb_peak, "%s", error.text);
    job_finalize_coll();
    return exit_status;
}

static int peak_run(int argc, char **argv)
{
    struct request request = {.output = "peak.out", .files = {.verb = &cli_verb_peak, .progress = "auto"}};
    peak_config_init(&request.config);
    if (parse(argc, argv, &request) != CLI_OK)
        return CLI_USAGE;
    if (request.dry_run)
        return dry_run(&request);
    interrupt_results(request.output, NULL);
    if (!request.ranks || cli_launch_is_child())
        return start_coll(&request, argc, argv);
    for (int i = 0; i < request.config.dir_count; i++) {
        struct peak_target target;
        struct pl_error error;
        int64_t share = 0;
        if (look(&request, request.ranks, request.config.dirs[i], &target, &share, &error) != PL_OK)
            return refuse(&error);
    }
    return cli_launch(&cli_verb_peak, request.ranks, argc, argv);
}

const struct cli_verb cli_verb_peak = {
    .name = "peak",
    .summary = "measure the peak of storage at the level of its devices",
    .synopsis = "DIR... [OPTION]...",
    .details = "Writes and reads files in each DIR with UNIX calls: sequential, strided and\n"
               "random, with several request sizes; then metadata operations. Several DIRs\n"
               "are several I/O nodes: their peaks are summed. The configuration of each is\n"
               "recorded. 'piolet analyze peak FILE...' shows results again and sums those of\n"
               "several files. Sizes may end in k, m, g.",
    .options =
        (const struct cli_option[]){
            {RANKS, "ranks", 'n', "N", "start mpiexec (srun under SLURM) with N ranks,\neach with a file of its own"},
            {OUTPUT, "output", 'o', "FILE", "append the results to FILE, not to peak.out"},
            {SETTING, "size", 's', "SIZE",
             "of all files of an I/O node; by default 2 x\nmemory. A smaller one needs direct I/O or\n"
             "--drop-caches"},
            {SETTING + 1, "requests", 'r', "LIST", "request sizes (4k,64k,1m,16m)"},
            {SETTING + 2, "access", 'a', "LIST", "sequential, strided, random (all)"},
            {SETTING + 3, "direct", 'd', "WHEN", "direct I/O: auto (where --size is below 2 x\nmemory), yes, no"},
            {SETTING + 4, "drop-caches", 0, NULL,
             "empty the page cache before each reading, in\nthe place of direct I/O (root)"},
            {SETTING + 5, "stride", 0, "N", "distance of strided requests, in requests (17)"},
            {SETTING + 6, "files", 0, "N", "files of a process for metadata operations\n(1000); 0: none"},
            {SETTING + 7, "limit", 'l', "T", "time of the whole run, about: 90, 90s, 5m, 1h\n(15m)"},
            {SETTING + 8, "quick", 'q', NULL, "some seconds: 64 MiB, 4k,64k,1m, 100 files"},
            {SETTING + 9, "info", 'i', "KEY=VALUE",
             "a fact for the record of the configuration, as\nraid='RAID 5, 5 disks'; may be repeated"},
            {SETTING + 10, "io-node", 0, "NAME", "name of the I/O node (host and directory)"},
            {SETTING + 11, "seed", 0, "N", "of data and of random places (1)"},
            {PLOT, "plot", 0, "FILE", "rate against request size: .svg, .png"},
            {DRY_RUN, "dry-run", 0, NULL, "print what would be measured; run nothing"},
            {JSON, "json", 0, "FILE", "export what was measured as JSON"},
            {CSV, "csv", 0, "FILE", "export what was measured as CSV"},
            {PROGRESS, "progress", 0, "WHEN", "auto (on a terminal), always, never"},
            {0}},
    .run = peak_run,
};
