/* The course of MADbench2's I/O mode: the functions S, W and C, with a barrier before each and agreement behind it. */
#include "bench/apps/madbench.h"

#include "bench/apps/madbench_io.h"
#include "measure/testfile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { S_W, W_R, W_W, C_R, PHASES };
static const char *const PHASE_KEYS[PHASES] = {[S_W] = "S_w", [W_R] = "W_r", [W_W] = "W_w", [C_R] = "C_r"};

struct madbench {
    struct apps_run *run;
    const struct madbench_plan *plan;
    struct madbench_file file;
    double *values; /* of one request */
    struct apps_phase *phases[PHASES];
    int64_t next;        /* request to be made */
    double work_s;       /* spent in busy-work of this function */
    volatile double sum; /* what the busy-work leaves, so that it is done */
};

/* ---- data ---- */

static void fill(const struct madbench *bench, const struct madbench_request *request)
{
    const uint64_t seed = madbench_data_seed(bench->run->job->seed, bench->run->rank, request);
    for (int64_t i = 0; i < request->bytes / (int64_t)sizeof(double); i++)
        bench->values[i] = madbench_value(seed, i);
}

static pl_status verify(const struct madbench *bench, const struct madbench_request *request, struct pl_error *error)
{
    const uint64_t seed = madbench_data_seed(bench->run->job->seed, bench->run->rank, request);
    for (int64_t i = 0; i < request->bytes / (int64_t)sizeof(double); i++) {
        const double wanted = madbench_value(seed, i);
        if (memcmp(&wanted, &bench->values[i], sizeof wanted) != 0)
            return pl_fail(error, PL_E_DATA,
                           "number %lld of the request at %lld of '%s': read %.17g in the place of %.17g", (long long)i,
                           (long long)request->offset, bench->file.name, bench->values[i], wanted);
    }
    return PL_OK;
}

/* n^exponent operations for the n numbers of a request. */
static void busy_work(struct madbench *bench, const struct madbench_request *request)
{
    const double exponent = bench->plan->options.work;
    if (exponent == 0)
        return;
    const double begin = MPI_Wtime(), numbers = (double)request->bytes / sizeof(double);
    const uint64_t operations = (uint64_t)fmin(pow(numbers, exponent), 1e18);
    double x = 0.5;
    for (uint64_t done = 0; done < operations; done++)
        x = x * 0.999999 + 1e-7;
    bench->sum = x;
    bench->work_s += MPI_Wtime() - begin;
}

/* ---- requests ---- */

static struct apps_phase *phase_of(const struct madbench *bench, const struct madbench_request *request)
{
    switch (request->function) {
    case MADBENCH_S:
        return bench->phases[S_W];
    case MADBENCH_W:
        return bench->phases[request->writes ? W_W : W_R];
    default:
        return bench->phases[C_R];
    }
}

static void transfer(struct madbench *bench, const struct madbench_request *request, struct pl_error *error)
{
    if (error->status == PL_OK)
        madbench_transfer(bench->plan, &bench->file, request, bench->values, phase_of(bench, request), error);
    else if (bench->plan->options.calls == MADBENCH_COLLECTIVE)
        madbench_transfer_nothing_coll(&bench->file, request->writes, bench->values);
}

/* One of `turns` ranks at a time. Every rank comes to every barrier, failed or not. */
static void transfer_in_turns_coll(struct madbench *bench, const struct madbench_request *request, int64_t turns,
                                   struct pl_error *error)
{
    for (int64_t turn = 0; turn < turns; turn++) {
        if (bench->run->rank % turns == turn)
            transfer(bench, request, error);
        if (turns > 1)
            MPI_Barrier(bench->run->comm);
    }
}

static void request_coll(struct madbench *bench, const struct madbench_request *request, struct pl_error *error)
{
    const struct madbench_options *options = &bench->plan->options;
    if (request->writes) {
        busy_work(bench, request);
        fill(bench, request);
    } else {
        memset(bench->values, 0xff, (size_t)request->bytes);
    }
    transfer_in_turns_coll(bench, request, request->writes ? options->wmod : options->rmod, error);
    if (!request->writes && error->status == PL_OK)
        verify(bench, request, error);
    if (request->function == MADBENCH_C)
        busy_work(bench, request);
}

/* ---- steps ---- */

static pl_status function_coll(struct madbench *bench, enum madbench_function function, struct pl_error *error)
{
    static const char *const times[MADBENCH_FUNCTIONS] = {"S_time", "W_time", "C_time"};
    static const char *const works[MADBENCH_FUNCTIONS] = {"S_work", "W_work", "C_work"};
    struct apps_run *run = bench->run;
    const int64_t total = madbench_plan_requests(bench->plan);
    error->status = PL_OK;
    bench->work_s = 0;
    MPI_Barrier(run->comm);
    const double begin = MPI_Wtime();
    for (; bench->next < total; bench->next++) {
        const struct madbench_request request = madbench_plan_request(bench->plan, run->rank, bench->next);
        if (request.function != function)
            break;
        request_coll(bench, &request, error);
        apps_progress(run, bench->next + 1, total);
    }
    samples_time(&run->samples, times[function], MPI_Wtime() - begin);
    samples_time(&run->samples, works[function], bench->work_s);
    return error->status;
}

static pl_status prepare(struct madbench *bench, struct pl_error *error)
{
    const struct madbench_plan *plan = bench->plan;
    const int64_t capacities[PHASES] = {
        [S_W] = plan->options.bins, [W_R] = plan->options.bins, [W_W] = plan->rounds, [C_R] = plan->rounds};
    pl_status status = PL_OK;
    for (int i = 0; i < PHASES; i++) { /* all of them, whatever fails: ranks must have the same series */
        const pl_status added = apps_phase_add(bench->run, PHASE_KEYS[i], capacities[i], &bench->phases[i], error);
        status = status == PL_OK ? added : status;
    }
    if (status == PL_OK)
        status = apps_file_name(bench->run->job, plan->options.files == MADBENCH_UNIQUE, bench->run->rank,
                                bench->run->nprocs, bench->file.name, error);
    if (status == PL_OK)
        status = apps_file_memory(bench->run, madbench_plan_cost(plan).memory_bytes, error);
    if (status == PL_OK && !(bench->values = malloc((size_t)plan->result_bytes)))
        status = pl_fail_errno(error, ENOMEM, "taking %lld bytes for a request", (long long)plan->result_bytes);
    return status;
}

static pl_status clear(const struct madbench *bench, struct pl_error *error)
{
    const bool own = bench->plan->options.files == MADBENCH_UNIQUE;
    const int64_t region = madbench_plan_region_bytes(bench->plan);
    if (!own && bench->run->rank != 0)
        return PL_OK;
    return apps_file_clear(bench->file.name, own ? region : region * bench->run->nprocs, error);
}

/* The functions, and closing whatever happened in them; all ranks know the same. */
static pl_status functions_coll(struct madbench *bench, struct pl_error *error, struct coll_verdict *verdict)
{
    struct apps_run *run = bench->run;
    pl_status status = PL_OK;
    for (int f = 0; f < MADBENCH_FUNCTIONS && status == PL_OK; f++)
        status = coll_agree_coll(run->comm, function_coll(bench, (enum madbench_function)f, error), error, verdict);
    struct pl_error close_error;
    struct coll_verdict close_verdict;
    const double begin = MPI_Wtime();
    pl_status closed = madbench_file_close_coll(&bench->file, &close_error);
    samples_time(&run->samples, "post_time", MPI_Wtime() - begin);
    closed = coll_agree_coll(run->comm, closed, &close_error, &close_verdict);
    if (status == PL_OK && closed != PL_OK) {
        *error = close_error;
        *verdict = close_verdict;
        return closed;
    }
    return status;
}

static pl_status course_coll(struct madbench *bench, struct pl_error *error, struct coll_verdict *verdict)
{
    struct apps_run *run = bench->run;
    pl_status status = coll_agree_coll(run->comm, prepare(bench, error), error, verdict);
    if (status == PL_OK)
        status = coll_agree_coll(run->comm, clear(bench, error), error, verdict);
    if (status != PL_OK)
        return status;
    if (run->rank != 0)
        testfile_watch(bench->file.name, run->job->keep);
    const double begin = MPI_Wtime();
    status = madbench_file_open_coll(run, bench->plan->options.method, &bench->file, error);
    samples_time(&run->samples, "pre_time", MPI_Wtime() - begin);
    status = coll_agree_coll(run->comm, status, error, verdict);
    if (status == PL_OK)
        return functions_coll(bench, error, verdict);
    struct pl_error ignored; /* a shared file that only some have opened by MPI can be closed by nobody */
    if (bench->file.mpi == MPI_FILE_NULL || bench->file.comm == MPI_COMM_SELF)
        madbench_file_close_coll(&bench->file, &ignored);
    return status;
}

static pl_status madbench_run_coll(struct apps_run *run, const void *plan, struct pl_error *error,
                                   struct coll_verdict *ret_verdict)
{
    struct madbench bench = {.run = run, .plan = plan, .file = {.mpi = MPI_FILE_NULL, .fd = -1}};
    const bool own = bench.plan->options.files == MADBENCH_UNIQUE;
    bench.file.comm = own ? MPI_COMM_SELF : run->comm;
    const pl_status status = course_coll(&bench, error, ret_verdict);
    free(bench.values);
    return status;
}

static void madbench_params(const void *any, struct blockfile_writer *writer)
{
    const struct madbench_plan *plan = any;
    const struct madbench_options *options = &plan->options;
    blockfile_param(writer, "pixels", "%lld", (long long)options->pixels);
    blockfile_param(writer, "bins", "%lld", (long long)options->bins);
    blockfile_param(writer, "gangs", "%lld", (long long)options->gangs);
    blockfile_param(writer, "files", "%s", options->files == MADBENCH_SHARED ? "shared" : "unique");
    blockfile_param(writer, "iomethod", "%s", options->method == MADBENCH_MPI ? "mpi" : "posix");
    blockfile_param(writer, "collective", "%s", options->calls == MADBENCH_COLLECTIVE ? "true" : "false");
    blockfile_param(writer, "rmod", "%lld", (long long)options->rmod);
    blockfile_param(writer, "wmod", "%lld", (long long)options->wmod);
    blockfile_param(writer, "work", "%g", options->work);
    blockfile_param(writer, "filesize_bytes", "%lld", (long long)madbench_plan_cost(plan).file_bytes);
    if (plan->request_bytes == plan->result_bytes)
        blockfile_param(writer, "blocksize_bytes", "%lld", (long long)plan->request_bytes);
    blockfile_param(writer, "request_bytes", "%lld", (long long)plan->request_bytes);
    blockfile_param(writer, "result_bytes", "%lld", (long long)plan->result_bytes);
}

struct apps_kernel madbench_kernel(const struct madbench_plan *plan)
{
    return (struct apps_kernel){.name = "madbench",
                                .plan = plan,
                                .own_files = plan->options.files == MADBENCH_UNIQUE,
                                .cost = madbench_plan_cost(plan),
                                .params = madbench_params,
                                .run_coll = madbench_run_coll};
}
