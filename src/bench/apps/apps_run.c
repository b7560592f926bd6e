/* Runs a kernel: its repetitions one after the other, each into the results as soon as it is measured. */
#include "base/notes.h"
#include "bench/apps/apps.h"
#include "measure/environment.h"
#include "measure/testfile.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

void apps_progress(const struct apps_run *run, int64_t done, int64_t total)
{
    if (run->rank == 0)
        run->observer->progress(run->observer->context, run->repetition, done, total, MPI_Wtime() - run->began);
}

/* ---- one repetition ---- */

static pl_status make_info(const struct apps_job *job, MPI_Info *ret_info, struct pl_error *error)
{
    *ret_info = MPI_INFO_NULL;
    if (MPI_Info_create(ret_info) != MPI_SUCCESS)
        return pl_fail(error, PL_E_MPI, "MPI_Info_create failed");
    for (size_t i = 0; i < job->hint_count; i++) {
        const int code = MPI_Info_set(*ret_info, job->hints[i].key, job->hints[i].value);
        if (code != MPI_SUCCESS)
            return coll_fail_mpi(error, code, "setting hint '%s'", job->hints[i].key);
    }
    return PL_OK;
}

static pl_status write_set_coll(const struct apps_run *run, const struct apps_kernel *kernel,
                                struct blockfile_writer *writer, const struct coll_verdict *verdict,
                                struct pl_error *error)
{
    pl_status status = PL_OK;
    if (run->rank == 0) {
        blockfile_set(writer);
        kernel->params(kernel->plan, writer);
        for (size_t i = 0; i < run->job->hint_count; i++)
            blockfile_hint(writer, "asked", run->job->hints[i].key, run->job->hints[i].value);
        notes_put_hints_used(&run->hints_used, writer);
    }
    samples_write_coll(&run->samples, run->comm, writer);
    if (run->rank == 0) {
        if (verdict->status != PL_OK)
            blockfile_error(writer, pl_status_name(verdict->status), verdict->rank, verdict->text);
        status = blockfile_end_set(writer, error);
    }
    struct coll_verdict written;
    return coll_agree_coll(run->comm, status, error, &written);
}

/* *ret_ok: whether the kernel succeeded. The result tells whether the run can go on. */
static pl_status repeat_coll(struct apps_run *run, const struct apps_kernel *kernel, struct blockfile_writer *writer,
                             bool *ret_ok, struct pl_error *error)
{
    struct pl_error failure;
    struct coll_verdict verdict;
    struct apps_row rows[APPS_PHASES_MAX];
    run->began = MPI_Wtime();
    pl_status status = coll_agree_coll(run->comm, make_info(run->job, &run->info, &failure), &failure, &verdict);
    if (status == PL_OK)
        status = kernel->run_coll(run, kernel->plan, &failure, &verdict);
    if (run->info != MPI_INFO_NULL)
        MPI_Info_free(&run->info);
    if (status != PL_OK)
        apps_file_drop(run->job, kernel->own_files, run->rank, run->nprocs);
    for (int i = 0; i < run->phase_count; i++)
        apps_phase_sum_coll(run, &run->phases[i], &rows[i]);
    const pl_status written = write_set_coll(run, kernel, writer, &verdict, error);
    if (run->rank == 0)
        run->observer->end(run->observer->context, run->repetition, rows, run->phase_count, &verdict);
    samples_clear(&run->samples);
    text_clear(&run->hints_used);
    *ret_ok = status == PL_OK;
    return written;
}

/* ---- the block ---- */

static pl_status begin_block_coll(MPI_Comm comm, int rank, const struct apps_job *job, const char *name,
                                  struct blockfile_writer *writer, struct pl_error *error)
{
    if (rank == 0) {
        blockfile_begin(writer, "Apps", name);
        for (size_t i = 0; i < job->input_count; i++)
            blockfile_input(writer, job->inputs[i].key, job->inputs[i].value);
        blockfile_fact(writer, "seed", "%" PRIu64, job->seed);
    }
    environment_facts_coll(comm, job->file, writer);
    struct coll_verdict verdict;
    const pl_status status = rank == 0 ? blockfile_end_head(writer, error) : PL_OK;
    return coll_agree_coll(comm, status, error, &verdict);
}

static pl_status open_results(int rank, const struct apps_job *job, struct blockfile_writer **ret_writer,
                              struct pl_error *error)
{
    struct environment_clock clock;
    environment_clock(&clock);
    const pl_status status = environment_clock_check(&clock, error);
    return status == PL_OK && rank == 0 ? blockfile_writer_open(job->output, ret_writer, error) : status;
}

static pl_status run_block_coll(MPI_Comm comm, const struct apps_job *job, const struct apps_kernel *kernel,
                                const struct apps_observer *observer, struct blockfile_writer *writer,
                                int64_t *ret_failed, struct pl_error *error)
{
    int rank, nprocs;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &nprocs);
    const int node_ranks = environment_node_ranks_coll(comm);
    pl_status status = begin_block_coll(comm, rank, job, kernel->name, writer, error);
    for (int64_t i = 1; i <= job->repeat && status == PL_OK; i++) {
        struct apps_run run = {.job = job,
                               .observer = observer,
                               .comm = comm,
                               .rank = rank,
                               .nprocs = nprocs,
                               .node_ranks = node_ranks,
                               .repetition = i};
        bool is_ok = false;
        status = repeat_coll(&run, kernel, writer, &is_ok, error);
        *ret_failed += !is_ok;
    }
    if (status == PL_OK && rank == 0)
        status = blockfile_end(writer, error);
    struct coll_verdict verdict;
    return coll_agree_coll(comm, status, error, &verdict);
}

pl_status apps_run_coll(MPI_Comm comm, const struct apps_job *job, const struct apps_kernel *kernel,
                        const struct apps_observer *observer, int64_t *ret_failed, struct pl_error *error)
{
    int rank;
    struct blockfile_writer *writer = NULL;
    struct coll_verdict verdict;
    *ret_failed = 0;
    MPI_Comm_rank(comm, &rank);
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is a failed run, not the end of the program */
    pl_status status = coll_agree_coll(comm, open_results(rank, job, &writer, error), error, &verdict);
    if (status == PL_OK)
        status = run_block_coll(comm, job, kernel, observer, writer, ret_failed, error);
    testfile_end(); /* no rank has a file open */
    struct pl_error close_error;
    const pl_status closed = blockfile_writer_close(writer, &close_error);
    if (status == PL_OK && closed != PL_OK)
        *error = close_error;
    return coll_agree_coll(comm, status != PL_OK ? status : closed, error, &verdict);
}
