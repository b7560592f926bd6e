/* Running the benchmarks in this MPI job, and what is printed meanwhile. */
#include "cli/gpfs_shell.h"

#include "base/units.h"
#include "bench/gpfs/gpfs_analysis.h"
#include "bench/gpfs/gpfs_run.h"
#include "cli/suite_shell.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* ---- the plan ---- */

int gpfs_shell_dry_run(const struct gpfs_request *request)
{
    const struct gpfs_config *config = &request->config;
    struct gpfs_cells cells;
    struct pl_error error;
    char size[UNITS_TEXT_MAX];
    if (gpfs_cells_make(config, &cells, &error) != PL_OK)
        return cli_usage_error(request->common.verb, "%s", error.text);
    printf("%s:\n  %s\n\nContestants, in turn:\n", config->benchmark->name, config->benchmark->summary);
    for (int i = 0; i < config->contestant_count; i++)
        printf("  %-18s %s\n", config->contestants[i].name, config->contestants[i].summary);
    printf("\nCells:\n");
    double bytes = 0;
    int64_t largest = 0;
    for (int c = 0; c < cells.count; c++) {
        const struct gpfs_cell *cell = &cells.cells[c];
        gpfs_analysis_print_cell(" ", cell, stdout);
        bytes += (double)cell->moved_bytes;
        largest = cell->file_bytes > largest ? cell->file_bytes : largest;
    }
    const double turns = (double)config->reps * config->contestant_count;
    printf("\nIn all: %d cells, %.0f repetitions; %.1f GB moved; the largest file has %s.\n", cells.count,
           turns * cells.count, bytes * turns / 1e9, units_binary(largest, size));
    printf("Results would be appended to '%s'.\nNothing was run.\n", request->common.output);
    gpfs_cells_clear(&cells);
    return CLI_OK;
}

/* ---- what is printed ---- */

struct watcher {
    const struct cli_contest *contest;
    bool progress;
};

static void print_begin(void *context, const struct gpfs_event *event)
{
    const struct watcher *watcher = context;
    char text[GPFS_CELL_TEXT_MAX];
    if (watcher->progress)
        cli_contest_tell_begin(event->number, event->cells, gpfs_cell_text(event->cell, text), event->left_s);
}

static void print_failed(void *context, const struct gpfs_event *event)
{
    const struct watcher *watcher = context;
    char text[GPFS_CELL_TEXT_MAX];
    cli_contest_tell_failed(watcher->contest, gpfs_cell_text(event->cell, text),
                            event->contestant ? event->contestant->name : NULL, event->verdict);
}

/* The cell's table, as 'piolet analyze gpfs' has it. */
static void print_end(void *context, const struct gpfs_event *event)
{
    (void)context;
    struct gpfs_point points[GPFS_CONTESTANTS_MAX];
    const struct gpfs_points list = {.points = points, .count = (size_t)event->config->contestant_count};
    for (size_t i = 0; i < list.count; i++)
        points[i] = (struct gpfs_point){
            .cell = *event->cell,
            .mpi = PIOLET_MPI_NAME,
            .contestant = event->config->contestants[i].name,
            .count = event->tallies[i].count,
            .failures = event->tallies[i].failed,
            .statistics = gpfs_statistics_of(event->tallies[i].rates, event->tallies[i].count),
            .overlap = NAN};
    gpfs_analysis_print(&list, stdout);
    fflush(stdout);
}

/* ---- the run ---- */

static int tell_end(const struct gpfs_request *request, pl_status status, const struct pl_error *error, int64_t failed)
{
    if (status != PL_OK)
        cli_complain(request->common.verb, "%s", error->text);
    else
        printf("\nresults: %s\n", request->common.output);
    if (failed)
        cli_complain(request->common.verb, "%lld repetition%s failed; the results say why", (long long)failed,
                     failed == 1 ? "" : "s");
    return status == PL_OK && failed == 0 ? CLI_OK : CLI_FAILED;
}

static int run_cells_coll(struct gpfs_request *request, const struct gpfs_cells *cells, int rank)
{
    struct watcher watcher = {.contest = &request->common, .progress = suite_wants_progress(request->common.progress)};
    const struct gpfs_observer observer = {
        .context = &watcher, .begin = print_begin, .failed = print_failed, .end = print_end};
    struct gpfs_job job = {.config = &request->config,
                           .cells = cells,
                           .output = request->common.output,
                           .overwrite = request->common.overwrite,
                           .observer = &observer};
    const bool exports = rank == 0 && (request->common.json || request->common.csv);
    const size_t blocks_before = exports ? suite_export_count(request->common.output) : 0;
    struct blockfile earlier;
    int64_t failed = 0;
    struct pl_error error;
    if (rank == 0 && request->common.resume && blockfile_open(request->common.output, &earlier, &error) == PL_OK)
        job.earlier = &earlier; /* it was readable just before; if it is no more, all is measured again */
    const pl_status status = gpfs_run_coll(MPI_COMM_WORLD, &job, &failed, &error);
    if (job.earlier)
        blockfile_close(&earlier);
    if (rank != 0)
        return status == PL_OK && failed == 0 ? CLI_OK : CLI_FAILED;
    int exit_status = tell_end(request, status, &error, failed);
    if (exports && status == PL_OK && cli_contest_export(&request->common, blocks_before) != CLI_OK)
        exit_status = CLI_FAILED;
    return exit_status;
}

/* Rank 0 looks for all. */
static pl_status check_place_coll(const struct gpfs_request *request, const struct gpfs_cells *cells, int rank,
                                  struct pl_error *error)
{
    struct coll_verdict verdict;
    const pl_status status = rank == 0 ? gpfs_run_check_place(&request->config, cells, request->common.overwrite, error)
                                       : PL_OK;
    return coll_agree_coll(MPI_COMM_WORLD, status, error, &verdict);
}

/* MPI is there: the number of ranks is known at last. */
static int run_launched_coll(void *context)
{
    struct gpfs_request *request = context;
    struct gpfs_cells cells = {0};
    struct pl_error error;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pl_status status = PL_OK;
    if (request->config.keys[GPFS_RANKS].count ==
        0) { /* noted as if it were given: a resumed run must not take another */
        char ranks[16];
        snprintf(ranks, sizeof ranks, "%d", size);
        status = gpfs_config_set(&request->config, "ranks", ranks, &error);
    }
    if (status == PL_OK)
        status = gpfs_config_finish(&request->config, size, &error);
    if (status == PL_OK)
        status = cli_contest_check_ranks(gpfs_config_most_ranks(&request->config), size, &error);
    if (status == PL_OK)
        status = gpfs_cells_make(&request->config, &cells, &error);
    if (status == PL_OK && !request->common.dry_run)
        status = check_place_coll(request, &cells, rank, &error);
    int exit_status = CLI_OK;
    if (status != PL_OK) {
        exit_status = CLI_USAGE;
        if (rank == 0)
            cli_usage_error(request->common.verb, "%s", error.text);
    } else if (!request->common.dry_run) {
        exit_status = run_cells_coll(request, &cells, rank);
    } else if (rank == 0) {
        exit_status = gpfs_shell_dry_run(request);
    }
    gpfs_cells_clear(&cells);
    return exit_status;
}

int gpfs_shell_run_coll(struct gpfs_request *request)
{
    /* threads that call MPI need its highest level, which costs; others are measured as ordinary programs run */
    const int level = request->config.benchmark->defaults[GPFS_THREADS] ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    return cli_contest_run_coll(&request->common, level, run_launched_coll, request);
}
