#include "cli/beffio_shell.h"

#include "base/output.h"
#include "base/units.h"
#include "bench/beffio/beffio_report.h"
#include "cli/cli_outputs.h"
#include "mpi/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- before the launch ---- */

static pl_status check_exports(const struct beffio_request *request, struct pl_error *error)
{
    const struct cli_outputs outputs = {.results = request->job.output, .json = request->json, .csv = request->csv};
    if (request->json && request->csv && strcmp(request->json, "-") == 0 && strcmp(request->csv, "-") == 0)
        return pl_fail(error, PL_E_USAGE, "--json and --csv cannot both go to standard output");
    return cli_outputs_check(&outputs, error);
}

static pl_status complete(struct beffio_request *request, int ranks, struct pl_error *error)
{
    pl_status status = check_exports(request, error);
    if (status == PL_OK && request->resume)
        status = beffio_job_resume(&request->job, request->resume, error);
    return status == PL_OK ? beffio_job_complete(&request->job, ranks, error) : status;
}

int beffio_shell_check(struct beffio_request *request, int ranks)
{
    struct pl_error error;
    if (complete(request, ranks, &error) == PL_OK)
        return CLI_OK;
    cli_complain(request->verb, "%s", error.text);
    return CLI_USAGE;
}

/* ---- watching ---- */

struct watcher {
    const struct cli_verb *verb;
    bool progress;
};

static void print_begin(void *context, const struct beffio_event *event)
{
    const struct watcher *watcher = context;
    char left[UNITS_TEXT_MAX];
    if (watcher->progress)
        fprintf(stderr, "[%lld/%lld] %s: %d processes, %s, type %d, pattern %d; about %s left\n",
                (long long)event->number, (long long)event->patterns, event->path, event->result->partition,
                beffio_method_name((enum beffio_method)event->result->method),
                BEFFIO_TABLE[event->result->pattern].type, event->result->pattern,
                units_duration(event->left_s > 0 ? event->left_s : 0, left));
}

static void print_end(void *context, const struct beffio_event *event)
{
    const struct watcher *watcher = context;
    if (event->verdict->status != PL_OK)
        cli_complain(watcher->verb, "%s: n = %d, %s: type %d ends here: rank %d: %s", event->path,
                     event->result->partition, beffio_method_name((enum beffio_method)event->result->method),
                     BEFFIO_TABLE[event->result->pattern].type, event->verdict->rank, event->verdict->text);
}

static bool wants_progress(const char *asked)
{
    const char *from_launcher = getenv("PIOLET_PROGRESS");
    if (strcmp(asked, "auto") != 0)
        return strcmp(asked, "always") == 0;
    return from_launcher ? strcmp(from_launcher, "always") == 0 : isatty(STDERR_FILENO);
}

/* ---- the run ---- */

/* NULL: nothing asked for, or not to be opened; then the status tells. */
static FILE *open_export(const char *path, pl_status *status, struct pl_error *error)
{
    FILE *stream = NULL;
    if (path && *status == PL_OK)
        *status = output_open(path, &stream, error);
    return stream;
}

/* On rank 0, behind the run: the report and its exports, from the block file. */
static pl_status print_results(const struct beffio_request *request, struct pl_error *error)
{
    pl_status status = PL_OK;
    struct analysis_request wanted = {.json = open_export(request->json, &status, error)};
    wanted.csv = open_export(request->csv, &status, error);
    const bool quiet = wanted.json == stdout || wanted.csv == stdout;
    wanted.text = quiet ? NULL : stdout;
    if (status == PL_OK)
        status = beffio_report_run(request->job.output, request->job.run, &wanted, error);
    if (status == PL_OK)
        status = output_commit(error);
    if (status == PL_OK && !quiet)
        printf("results: %s\n", request->job.output);
    return status;
}

static int run_coll(struct beffio_request *request, int rank)
{
    struct watcher watcher = {.verb = request->verb, .progress = wants_progress(request->progress)};
    const struct beffio_observer observer = {.context = &watcher, .begin = print_begin, .end = print_end};
    int64_t failed = 0;
    struct pl_error error;
    pl_status status = beffio_run_coll(MPI_COMM_WORLD, &request->job, &observer, &failed, &error);
    const bool refused = status == PL_E_INPUT;
    if (status == PL_OK && rank == 0)
        status = print_results(request, &error);
    if (status != PL_OK && rank == 0)
        cli_complain(request->verb, "%s", error.text);
    if (refused)
        return CLI_USAGE;
    return status == PL_OK && failed == 0 ? CLI_OK : CLI_FAILED;
}

int beffio_shell_run_coll(struct beffio_request *request, int argc, char **argv)
{
    struct pl_error error;
    if (job_init_coll(&argc, &argv, &error) != PL_OK) {
        if (job_speaks())
            cli_complain(request->verb, "%s", error.text);
        job_finalize_coll();
        return CLI_USAGE;
    }
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct coll_verdict verdict;
    pl_status status = rank == 0 ? complete(request, size, &error) : PL_OK;
    status = coll_agree_coll(MPI_COMM_WORLD, status, &error, &verdict);
    if (status == PL_OK)
        status = beffio_job_share_coll(&request->job, MPI_COMM_WORLD, &error);
    int exit_status = CLI_USAGE;
    if (status == PL_OK)
        exit_status = run_coll(request, rank);
    else if (rank == 0)
        cli_complain(request->verb, "%s", error.text);
    job_finalize_coll();
    return exit_status;
}
