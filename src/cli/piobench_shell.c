/* Running PIOBENCH in this MPI job, and what it prints. */
#include "cli/piobench_shell.h"

#include "base/blockfile.h"
#include "base/units.h"
#include "bench/piobench/piobench_run.h"
#include "cli/cli_wrap.h"
#include "cli/suite_shell.h"
#include "measure/analysis.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEP_VARIABLE "PIOLET_PIOBENCH_STEP"

/* ---- a single step of an alternating run ---- */

struct piobench_step piobench_shell_step(void)
{
    const char *text = getenv(STEP_VARIABLE);
    struct piobench_step step = {.is_one = text != NULL, .cell = -1};
    if (!text || sscanf(text, "%d %d %31s", &step.cell, &step.round, step.mpi) != 3) {
        step = (struct piobench_step){.cell = -1};
        snprintf(step.mpi, sizeof step.mpi, "%s", PIOLET_MPI_NAME);
    }
    return step;
}

void piobench_shell_step_export(const struct piobench_step *step)
{
    char text[3 * PIOBENCH_MPI_MAX];
    snprintf(text, sizeof text, "%d %d %s", step->cell, step->round, step->mpi);
    setenv(STEP_VARIABLE, text, 1);
    setenv("OMPI_MCA_mca_base_env_list", STEP_VARIABLE, 0); /* Open MPI hands on what it is told to */
}

struct piobench_tally *piobench_shell_tallies(const struct piobench_request *request,
                                              const struct piobench_matrix *matrix, const char *mpi, bool count)
{
    const size_t wanted = (size_t)matrix->count * (size_t)request->config.contestant_count;
    struct piobench_tally *tallies = calloc(wanted, sizeof *tallies);
    struct blockfile file;
    struct pl_error error;
    if (!tallies) {
        cli_complain(request->common.verb, "not enough memory");
        return NULL;
    }
    if (!count || (!request->common.resume && access(request->common.output, F_OK) != 0))
        return tallies;
    pl_status status = blockfile_open(request->common.output, &file, &error);
    if (status == PL_OK) {
        status = piobench_results_count(&file, &request->config, matrix, mpi, tallies, &error);
        blockfile_close(&file);
    }
    if (status == PL_OK)
        return tallies;
    cli_complain(request->common.verb, "%s", error.text);
    free(tallies);
    return NULL;
}

/* ---- the plan ---- */

int piobench_shell_dry_run(const struct piobench_request *request)
{
    const struct piobench_config *config = &request->config;
    struct piobench_matrix matrix;
    struct pl_error error;
    char text[PIOBENCH_CELL_TEXT_MAX];
    if (piobench_matrix_make(config, &matrix, &error) != PL_OK)
        return cli_usage_error(request->common.verb, "%s", error.text);
    printf("Algorithms, in turn:\n");
    for (int i = 0; i < config->contestant_count; i++)
        printf("  %-24s %s\n", config->contestants[i].label, config->contestants[i].algorithm->summary);
    printf("\nCells:\n");
    double bytes = 0;
    int64_t trials = 0;
    for (int c = 0; c < matrix.count; c++) {
        printf("  %s\n", piobench_cell_text(&matrix.cells[c], text));
        for (int i = 0; i < config->contestant_count; i++)
            if (piobench_run_takes_part(&config->contestants[i], &matrix.cells[c])) {
                trials++;
                bytes += (double)matrix.cells[c].file_bytes;
            }
    }
    if (matrix.left_out.length)
        printf("\nLeft out:\n");
    for (const char *at = text_get(&matrix.left_out); *at; at += strcspn(at, "\n") + 1) {
        struct text line = {0};
        text_append(&line, at, strcspn(at, "\n"));
        printf("  ");
        cli_wrap(text_get(&line), 2, 4);
        text_clear(&line);
    }
    const int launches = config->mpi_count ? config->mpi_count : 1;
    printf("\nIn all: %d cells, %lld to %lld trials; %.1f GB moved at least.\n", matrix.count,
           (long long)(trials * config->trials * launches), (long long)(trials * config->max_trials * launches),
           bytes * (double)config->trials * launches / 1e9);
    printf("Results would be appended to '%s'.\nNothing was run.\n", request->common.output);
    piobench_matrix_clear(&matrix);
    return CLI_OK;
}

/* ---- what is printed ---- */

void piobench_shell_print_cell(const struct piobench_cell *cell)
{
    char text[PIOBENCH_CELL_TEXT_MAX];
    printf("%s\n", piobench_cell_text(cell, text));
}

void piobench_shell_print_rows(const struct piobench_config *config, const struct piobench_cell *cell, const char *mpi,
                               const struct piobench_tally *tallies)
{
    for (int i = 0; i < config->contestant_count; i++) {
        const struct piobench_tally *tally = &tallies[i];
        char label[PIOBENCH_LABEL_MAX + PIOBENCH_MPI_MAX];
        if (!piobench_run_takes_part(&config->contestants[i], cell))
            continue;
        snprintf(label, sizeof label, "%s%s%s", mpi ? mpi : "", mpi ? " " : "", config->contestants[i].label);
        if (tally->count == 0) {
            printf("  %-40s %10s\n", label, tally->failed ? "failed" : "-");
            continue;
        }
        const struct analysis_estimate mean = analysis_mean(tally->total_ns, (size_t)tally->count);
        const double moved = (double)cell->file_bytes * (cell->spec.kind == PIOLET_DIST_BROADCAST ? cell->ranks : 1);
        printf("  %-40s %10.1f MB/s", label, units_rate_mb_per_s(moved, mean.value));
        if (isfinite(mean.error))
            printf(" +-%5.1f %%", 100 * mean.error / mean.value);
        else
            printf("          ");
        printf("  %3d trial%s%s\n", tally->count, tally->count == 1 ? "" : "s", tally->failed ? ", failed" : "");
    }
    fflush(stdout);
}

/* ---- the run ---- */

struct watcher {
    const struct cli_contest *contest;
    bool progress, quiet;
};

static void print_begin(void *context, const struct piobench_event *event)
{
    const struct watcher *watcher = context;
    char text[PIOBENCH_CELL_TEXT_MAX];
    if (watcher->progress)
        cli_contest_tell_begin(event->number, event->cells, piobench_cell_text(event->cell, text), event->left_s);
}

static void print_failed(void *context, const struct piobench_event *event)
{
    const struct watcher *watcher = context;
    char text[PIOBENCH_CELL_TEXT_MAX];
    cli_contest_tell_failed(watcher->contest, piobench_cell_text(event->cell, text),
                            event->contestant ? event->contestant->label : NULL, event->verdict);
}

static void print_end(void *context, const struct piobench_event *event)
{
    const struct watcher *watcher = context;
    if (watcher->quiet)
        return;
    piobench_shell_print_cell(event->cell);
    piobench_shell_print_rows(event->config, event->cell, NULL, event->tallies);
}

static int run_matrix_coll(struct piobench_request *request, const struct piobench_matrix *matrix, int rank)
{
    const struct piobench_step step = piobench_shell_step();
    struct watcher watcher = {.contest = &request->common,
                              .progress = !step.is_one && suite_wants_progress(request->common.progress),
                              .quiet = step.is_one};
    const struct piobench_observer observer = {
        .context = &watcher, .begin = print_begin, .failed = print_failed, .end = print_end};
    struct piobench_job job = {.config = &request->config,
                               .matrix = matrix,
                               .mpi = step.mpi,
                               .output = request->common.output,
                               .overwrite = request->common.overwrite,
                               .only_cell = step.cell,
                               .round = step.round,
                               .observer = &observer};
    int ready = 1;
    if (rank == 0) {
        job.tallies = piobench_shell_tallies(request, matrix, step.mpi, request->common.resume || step.is_one);
        ready = job.tallies != NULL;
    }
    MPI_Bcast(&ready, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!ready) {
        free(job.tallies);
        return CLI_FAILED;
    }
    const bool exports = rank == 0 && !step.is_one && (request->common.json || request->common.csv);
    const size_t blocks_before = exports ? suite_export_count(request->common.output) : 0;
    int64_t failed = 0;
    struct pl_error error;
    const pl_status status = piobench_run_coll(MPI_COMM_WORLD, &job, &failed, &error);
    int exit_status = status == PL_OK && failed == 0 ? CLI_OK : CLI_FAILED;
    free(job.tallies);
    if (rank != 0)
        return exit_status;
    if (status != PL_OK)
        cli_complain(request->common.verb, "%s", error.text);
    else if (!step.is_one)
        printf("results: %s\n", request->common.output);
    if (failed && !step.is_one)
        cli_complain(request->common.verb, "%lld trial%s failed; the results say why", (long long)failed,
                     failed == 1 ? "" : "s");
    return exports && status == PL_OK && cli_contest_export(&request->common, blocks_before) != CLI_OK ? CLI_FAILED
                                                                                                       : exit_status;
}

static void tell_left_out(const struct piobench_request *request, const struct piobench_matrix *matrix)
{
    for (const char *at = text_get(&matrix->left_out); *at; at += strcspn(at, "\n") + 1)
        cli_complain(request->common.verb, "left out: %.*s", (int)strcspn(at, "\n"), at);
}

static bool place_is_right_coll(const struct piobench_request *request, const struct piobench_matrix *matrix, int rank)
{
    struct pl_error error;
    int right = 1;
    if (rank == 0) {
        right = piobench_run_check_place(&request->config, matrix, request->common.overwrite, &error) == PL_OK;
        if (!right)
            cli_complain(request->common.verb, "%s", error.text);
        else if (!piobench_shell_step().is_one)
            tell_left_out(request, matrix);
    }
    MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return right;
}

/* MPI is there: the number of ranks is known at last. */
static int run_launched_coll(void *context)
{
    struct piobench_request *request = context;
    struct piobench_matrix matrix;
    struct pl_error error;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pl_status status = PL_OK;
    if (request->config.rank_count == 0) { /* noted as if it were given: a resumed run must not take another number */
        char ranks[16];
        snprintf(ranks, sizeof ranks, "%d", size);
        status = piobench_config_set(&request->config, "ranks", ranks, &error);
    }
    if (status == PL_OK)
        status = piobench_config_finish(&request->config, size, &error);
    if (status == PL_OK)
        status = cli_contest_check_ranks(piobench_config_most_ranks(&request->config), size, &error);
    if (status == PL_OK)
        status = piobench_matrix_make(&request->config, &matrix, &error);
    if (status != PL_OK) {
        if (rank == 0)
            cli_usage_error(request->common.verb, "%s", error.text);
        return CLI_USAGE;
    }
    int exit_status = CLI_OK;
    if (request->common.dry_run)
        exit_status = rank == 0 ? piobench_shell_dry_run(request) : CLI_OK;
    else if (place_is_right_coll(request, &matrix, rank))
        exit_status = run_matrix_coll(request, &matrix, rank);
    else
        exit_status = CLI_USAGE;
    piobench_matrix_clear(&matrix);
    return exit_status;
}

int piobench_shell_run_coll(struct piobench_request *request)
{
    return cli_contest_run_coll(&request->common, MPI_THREAD_SINGLE, run_launched_coll, request);
}
