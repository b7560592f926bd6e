/* One request of MADbench2, by MPI-IO or by plain UNIX calls: the meetings, turns and waits around it, and its data. */
#include "bench/apps/madbench.h"

#include "lab/facts/environment.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the file ---- */

void madbench_open_coll(struct madbench *bench)
{
    struct apps_run *run = bench->run;
    if (bench->plan->options.method == MADBENCH_POSIX) {
        bench->fd = open(bench->name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (bench->fd < 0)
            pl_fail_errno(&bench->error, errno, "opening '%s'", bench->name);
        return;
    }
    const int code = MPI_File_open(bench->file_comm, bench->name, MPI_MODE_RDWR | MPI_MODE_CREATE, run->info,
                                   &bench->mpi);
    if (code != MPI_SUCCESS) {
        bench->mpi = MPI_FILE_NULL;
        coll_fail_mpi(&bench->error, code, "opening '%s'", bench->name);
        return;
    }
    apps_file_note_hints(run, bench->mpi);
}

/* A shared file is closed by all or, where it could not be opened, by nobody: MPI tells all ranks the same then. */
void madbench_close_coll(struct madbench *bench)
{
    struct pl_error failure = {.status = PL_OK};
    if (bench->mpi != MPI_FILE_NULL) {
        const int code = MPI_File_close(&bench->mpi);
        if (code != MPI_SUCCESS)
            coll_fail_mpi(&failure, code, "closing '%s'", bench->name);
    }
    if (bench->fd >= 0 && close(bench->fd) != 0)
        pl_fail_errno(&failure, errno, "closing '%s'", bench->name);
    bench->fd = -1;
    if (bench->error.status == PL_OK)
        bench->error = failure;
}

/* ---- data ---- */

static void madbench_fill(const struct madbench *bench, const struct madbench_request *request)
{
    const uint64_t seed = madbench_data_seed((uint64_t)bench->run->options->seed, bench->run->rank, request);
    double *values = bench->values[true];
    for (int64_t i = 0; i < request->bytes / (int64_t)sizeof(double); i++)
        values[i] = madbench_value(seed, i);
}

static void madbench_verify(struct madbench *bench, const struct madbench_request *request)
{
    const uint64_t seed = madbench_data_seed((uint64_t)bench->run->options->seed, bench->run->rank, request);
    const double *values = bench->values[false];
    if (!request->is_result && bench->plan->overwrites)
        return;
    for (int64_t i = 0; i < request->bytes / (int64_t)sizeof(double); i++) {
        const double wanted = madbench_value(seed, i);
        if (memcmp(&wanted, &values[i], sizeof wanted) != 0) {
            pl_fail(&bench->error, PL_E_DATA,
                    "number %lld of the request at %lld of '%s': read %.17g in the place of %.17g", (long long)i,
                    (long long)request->offset, bench->name, values[i], wanted);
            return;
        }
    }
}

/* ---- transfers ---- */

struct madbench_outcome {
    int64_t bytes;
    int cause;    /* errno, where a UNIX call failed */
    int mpi_code; /* where MPI did */
};

static struct madbench_outcome madbench_transfer_posix(int fd, const struct madbench_request *request, char *bytes)
{
    struct madbench_outcome outcome = {0};
    if (lseek(fd, request->offset, SEEK_SET) < 0)
        return (struct madbench_outcome){.cause = errno};
    while (outcome.bytes < request->bytes) {
        const size_t left = (size_t)(request->bytes - outcome.bytes);
        const ssize_t moved = request->writes ? write(fd, bytes + outcome.bytes, left)
                                              : read(fd, bytes + outcome.bytes, left);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0) {
            outcome.cause = moved < 0 ? errno : 0;
            break;
        }
        outcome.bytes += moved;
    }
    return outcome;
}

static int madbench_call_mpi(MPI_File file, enum madbench_calls calls, bool writes, double *values, int count,
                             MPI_Status *status)
{
    if (calls == MADBENCH_COLLECTIVE)
        return writes ? MPI_File_write_all(file, values, count, MPI_DOUBLE, status)
                      : MPI_File_read_all(file, values, count, MPI_DOUBLE, status);
    return writes ? MPI_File_write(file, values, count, MPI_DOUBLE, status)
                  : MPI_File_read(file, values, count, MPI_DOUBLE, status);
}

static struct madbench_outcome madbench_outcome_of(int code, MPI_Status *status)
{
    int numbers = 0;
    if (code != MPI_SUCCESS)
        return (struct madbench_outcome){.mpi_code = code};
    MPI_Get_count(status, MPI_DOUBLE, &numbers);
    return (struct madbench_outcome){.bytes = (int64_t)numbers * (int64_t)sizeof(double)};
}

static struct madbench_outcome madbench_transfer_mpi(MPI_File file, enum madbench_calls calls,
                                                     const struct madbench_request *request, double *values)
{
    MPI_Status status;
    int code = MPI_File_seek(file, request->offset, MPI_SEEK_SET);
    const bool sought = code == MPI_SUCCESS;
    const int count = sought ? (int)(request->bytes / (int64_t)sizeof(double)) : 0;
    if (sought || calls == MADBENCH_COLLECTIVE) { /* others wait for a collective call */
        const int called = madbench_call_mpi(file, calls, request->writes, values, count, &status);
        code = sought ? called : code;
    }
    return madbench_outcome_of(code, &status);
}

static void madbench_judge(struct madbench *bench, const struct madbench_outcome *outcome,
                           const struct madbench_request *request)
{
    const char *doing = request->writes ? "writing" : "reading";
    const long long bytes = request->bytes, offset = request->offset;
    if (outcome->mpi_code)
        coll_fail_mpi(&bench->error, outcome->mpi_code, "%s %lld bytes at %lld of '%s'", doing, bytes, offset,
                      bench->name);
    else if (outcome->cause)
        pl_fail_errno(&bench->error, outcome->cause, "%s %lld bytes at %lld of '%s'", doing, bytes, offset,
                      bench->name);
    else if (outcome->bytes != request->bytes)
        pl_fail(&bench->error, PL_E_IO, "%s at %lld of '%s': only %lld of %lld bytes moved", doing, offset, bench->name,
                (long long)outcome->bytes, bytes);
    else if (!request->writes)
        madbench_verify(bench, request);
}

/* ---- a request ---- */

static struct apps_phase *madbench_phase_of(const struct madbench *bench, const struct madbench_request *request)
{
    switch (request->function) {
    case MADBENCH_S:
        return bench->phases[MADBENCH_S_W];
    case MADBENCH_W:
        return bench->phases[request->writes ? MADBENCH_W_W : MADBENCH_W_R];
    default:
        return bench->phases[MADBENCH_C_R];
    }
}

static void madbench_note(struct madbench *bench, const struct madbench_request *request, double begin_s)
{
    bench->io_s[request->writes] += MPI_Wtime() - begin_s;
    apps_phase_note(madbench_phase_of(bench, request), begin_s, request->bytes);
}

/* Starts a request of mode async; its time is that of this call and of the wait. */
static void madbench_start(struct madbench *bench, const struct madbench_request *request)
{
    struct madbench_flight *flight = &bench->flights[request->writes];
    double *values = bench->values[request->writes];
    const int count = (int)(request->bytes / (int64_t)sizeof(double));
    assert(!flight->flies);
    const double begin = MPI_Wtime();
    int code = MPI_File_seek(bench->mpi, request->offset, MPI_SEEK_SET);
    if (code == MPI_SUCCESS)
        code = request->writes ? MPI_File_iwrite(bench->mpi, values, count, MPI_DOUBLE, &flight->handle)
                               : MPI_File_iread(bench->mpi, values, count, MPI_DOUBLE, &flight->handle);
    if (code != MPI_SUCCESS) {
        coll_fail_mpi(&bench->error, code, "starting to %s %lld bytes at %lld of '%s'",
                      request->writes ? "write" : "read", (long long)request->bytes, (long long)request->offset,
                      bench->name);
        return;
    }
    flight->request = *request;
    flight->started_s = MPI_Wtime() - begin;
    flight->flies = true;
}

/* A rank that has failed has nothing to give, but the others count on it in a collective call. */
static void madbench_make(struct madbench *bench, const struct madbench_request *request)
{
    const struct madbench_options *options = &bench->plan->options;
    double *values = bench->values[request->writes];
    if (bench->error.status != PL_OK) {
        MPI_Status status;
        if (options->calls == MADBENCH_COLLECTIVE && bench->mpi != MPI_FILE_NULL)
            madbench_call_mpi(bench->mpi, MADBENCH_COLLECTIVE, request->writes, values, 0, &status);
        return;
    }
    if (options->mode == MADBENCH_ASYNC) {
        madbench_start(bench, request);
        return;
    }
    const double begin = MPI_Wtime();
    const struct madbench_outcome outcome = options->method == MADBENCH_POSIX
                                                ? madbench_transfer_posix(bench->fd, request, (char *)values)
                                                : madbench_transfer_mpi(bench->mpi, options->calls, request, values);
    madbench_note(bench, request, begin);
    madbench_judge(bench, &outcome, request);
}

/* The original calls these by their PMPI names, and its turns are a token that goes from rank to rank. */
void madbench_io_coll(struct madbench *bench, MPI_Comm comm, bool writes)
{
    enum { TOKEN_TAG = 2 };
    const struct madbench_plan *plan = bench->plan;
    const struct madbench_request request = madbench_plan_request(plan, bench->run->rank, bench->next++);
    const int64_t turns = writes ? plan->options.wmod : plan->options.rmod;
    int rank, size, token = 0;
    assert(request.writes == writes);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (bench->error.status == PL_OK && writes)
        madbench_fill(bench, &request);
    else if (bench->error.status == PL_OK)
        memset(bench->values[false], 0xff, (size_t)request.bytes); /* no number of ours */
    PMPI_Barrier(comm);
    if (rank % turns > 0)
        PMPI_Recv(&token, 1, MPI_INT, rank - 1, TOKEN_TAG, comm, MPI_STATUS_IGNORE);
    madbench_make(bench, &request);
    if ((rank + 1) % turns > 0 && rank + 1 < size)
        PMPI_Send(&token, 1, MPI_INT, rank + 1, TOKEN_TAG, comm);
    PMPI_Barrier(comm);
    apps_progress(bench->run, bench->next, madbench_plan_requests(plan));
}

void madbench_resync_coll(struct madbench *bench, bool writes)
{
    struct madbench_flight *flight = &bench->flights[writes];
    MPI_Status status;
    if (bench->plan->options.mode == MADBENCH_SYNC)
        return;
    PMPI_Barrier(bench->run->comm);
    const bool flies = flight->flies;
    int code = MPI_SUCCESS;
    if (flies) {
        const double begin = MPI_Wtime();
        code = environment_wait_file(&flight->handle, flight->request.bytes, &status);
        flight->flies = false;
        madbench_note(bench, &flight->request, begin - flight->started_s);
    }
    PMPI_Barrier(bench->run->comm);
    if (flies && bench->error.status == PL_OK) {
        const struct madbench_outcome outcome = madbench_outcome_of(code, &status);
        madbench_judge(bench, &outcome, &flight->request);
    }
}
