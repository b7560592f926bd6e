#include "lab/runner/lab.h"

#include "base/interrupt.h"
#include "base/notes.h"
#include "base/units.h"
#include "lab/facts/environment.h"
#include "lab/runner/testfile.h"

#include <assert.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- progress and messages ---- */

void lab_plan(struct lab_run *run, int64_t steps, double weight)
{
    const int64_t begun = run->progress.step;
    const double began_s = run->progress.began_s;
    progress_begin(&run->progress, (enum progress_when)run->job->common.progress, steps, weight);
    run->progress.step = begun;
    if (began_s > 0)
        run->progress.began_s = began_s;
}

void lab_step(struct lab_run *run, double weight, const char *format, ...)
{
    char label[256];
    va_list args;
    va_start(args, format);
    vsnprintf(label, sizeof label, format, args);
    va_end(args);
    if (run->rank == 0)
        progress_step(&run->progress, label, weight);
}

void lab_part(struct lab_run *run, double part, const char *label)
{
    if (run->rank == 0)
        progress_part(&run->progress, label, part);
}

void lab_skip(struct lab_run *run, double weight)
{
    progress_skip(&run->progress, weight);
}

bool lab_stdout_is_free(const struct lab_options *common)
{
    return !(common->json && strcmp(common->json, "-") == 0) && !(common->csv && strcmp(common->csv, "-") == 0);
}

void lab_tell(const struct lab_run *run, const char *format, ...)
{
    va_list args;
    if (run->rank != 0 || !lab_stdout_is_free(&run->job->common))
        return;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fflush(stdout);
}

static void lab_complain(const struct lab_run *run, const char *format, va_list args)
{
    char text[PL_ERROR_TEXT_MAX + 512];
    vsnprintf(text, sizeof text, format, args);
    run->complain(text);
}

void lab_warn(const struct lab_run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (run->rank == 0)
        lab_complain(run, format, args);
    va_end(args);
}

void lab_warn_here(const struct lab_run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    lab_complain(run, format, args);
    va_end(args);
}

void lab_failed(struct lab_run *run, const char *label, const struct coll_verdict *verdict)
{
    char text[PL_ERROR_TEXT_MAX + 512];
    assert(verdict->status != PL_OK);
    run->failed++;
    if (run->rank != 0)
        return;
    snprintf(text, sizeof text, "%.400s: rank %d: %s", label, verdict->rank, verdict->text);
    run->complain(text);
}

/* ---- blocks ---- */

static void lab_put_input(void *context, const char *name, const char *value)
{
    const struct lab_run *run = context;
    if (!run->place || strcmp(name, "on") != 0)
        blockfile_input(run->writer, name, value);
}

void lab_block_begin(struct lab_run *run, const char *class_name, const char *test)
{
    if (run->rank != 0)
        return;
    blockfile_begin(run->writer, class_name, test);
    if (!(run->job->bench->takes & BENCH_OWN_INPUTS))
        options_each_given(&run->job->all, lab_put_input, run);
    if (run->place)
        blockfile_input(run->writer, "on", run->place);
    if (run->size > 1 && run->job->common.ranks.count == 0 &&
        !(run->job->bench->takes & (BENCH_RANK_LIST | BENCH_OWN_INPUTS))) {
        char ranks[16]; /* so that it can be resumed without -n */
        snprintf(ranks, sizeof ranks, "%d", run->size);
        blockfile_input(run->writer, "ranks", ranks);
    }
    blockfile_fact(run->writer, "mpi", "%s", run->job->mpi);
    watch_facts(run->writer);
    struct text why = {0};
    if (watch_is_busy(&why))
        blockfile_fact(run->writer, "warning", "%s", text_get(&why));
    text_clear(&why);
}

pl_status lab_block_head_coll(struct lab_run *run, const char *path, struct pl_error *error)
{
    struct coll_verdict verdict;
    environment_facts_coll(run->world, path, run->writer);
    return coll_agree_coll(run->world, run->rank == 0 ? blockfile_end_head(run->writer, error) : PL_OK, error,
                           &verdict);
}

pl_status lab_block_end_coll(struct lab_run *run, pl_status status, struct pl_error *error)
{
    struct coll_verdict verdict;
    if (status == PL_OK && run->rank == 0)
        status = blockfile_end(run->writer, error);
    return coll_agree_coll(run->world, status, error, &verdict);
}

/* ---- what is resumed ---- */

struct lab_match {
    const struct blockfile_set *set;
    bool all;
};

static void lab_match_param(void *context, const char *key, const char *value)
{
    struct lab_match *match = context;
    const char *there = blockfile_param_of(match->set, key);
    match->all = match->all && there && strcmp(there, value) == 0;
}

static bool lab_is_of_run(const struct lab_run *run, const struct blockfile_block *block, const char *test)
{
    const char *mpi = blockfile_fact_of(block, "mpi"), *node = blockfile_fact_of(block, "io_node");
    if (run->node && (!node || strcmp(node, run->node) != 0))
        return false;
    for (const char *const *name = run->job->bench->classes; *name; name++)
        if (strcasecmp(*name, block->class_name) == 0)
            return strcmp(block->testname, test) == 0 && (!mpi || strcmp(mpi, run->job->mpi) == 0);
    return false;
}

const struct blockfile *lab_earlier(const struct lab_run *run)
{
    return run->rank == 0 && run->resumes ? &run->earlier : NULL;
}

void lab_each_measured(const struct lab_run *run, const char *test, const struct text *params,
                       void (*take)(void *context, const struct blockfile_block *block,
                                    const struct blockfile_set *set),
                       void *context)
{
    for (size_t b = 0; run->rank == 0 && run->resumes && b < run->earlier.block_count; b++) {
        const struct blockfile_block *block = &run->earlier.blocks[b];
        if (!lab_is_of_run(run, block, test))
            continue;
        for (size_t s = 0; s < block->set_count; s++) {
            struct lab_match match = {.set = &block->sets[s], .all = block->sets[s].error_count == 0};
            notes_each(params, lab_match_param, &match);
            if (match.all)
                take(context, block, &block->sets[s]);
        }
    }
}

static void lab_count_set(void *count, const struct blockfile_block *block, const struct blockfile_set *set)
{
    (void)block;
    (void)set;
    ++*(int *)count;
}

int lab_count_measured_coll(struct lab_run *run, const char *test, const struct text *params)
{
    int count = 0;
    lab_each_measured(run, test, params, lab_count_set, &count);
    if (run->job->common.resume)
        MPI_Bcast(&count, 1, MPI_INT, 0, run->world);
    return count;
}

bool lab_is_measured_coll(struct lab_run *run, const char *test, const struct text *params)
{
    return lab_count_measured_coll(run, test, params) > 0;
}

const struct blockfile_block *lab_resumed(struct lab_run *run, struct blockfile **ret_file)
{
    *ret_file = &run->earlier;
    return run->resumes ? lab_last_block(run->job->bench, &run->earlier) : NULL;
}

/* ---- sets ---- */

void lab_set_clear(struct lab_set *set)
{
    text_clear(&set->params);
    text_clear(&set->hints_used);
    text_clear(&set->warnings);
    samples_clear(&set->samples);
}

void lab_set_clock_coll(struct lab_run *run, MPI_Comm comm, struct samples *samples)
{
    if (samples->clock.known)
        return;
    samples->clock.before = run->clock.last;
    samples->clock.after = timebase_measure_coll(&run->clock, comm);
    samples->clock.zero_ns = run->clock.zero_ns;
    samples->clock.known = true;
}

pl_status lab_set_write_coll(struct lab_run *run, MPI_Comm comm, struct lab_set *set, struct pl_error *error)
{
    struct blockfile_writer *writer = run->writer;
    if (run->rank == 0) {
        blockfile_set(writer);
        notes_put_params(&set->params, writer);
        for (size_t i = 0; set->asked && i < set->asked->count; i++)
            blockfile_hint(writer, "asked", set->asked->list[i].key, set->asked->list[i].value);
        notes_put_hints_used(&set->hints_used, writer);
    }
    lab_set_clock_coll(run, comm, &set->samples);
    samples_write_coll(&set->samples, comm, writer);
    pl_status status = PL_OK;
    if (run->rank == 0) {
        notes_put_warnings(&set->warnings, writer);
        if (set->verdict.status != PL_OK)
            blockfile_error(writer, pl_status_name(set->verdict.status), set->verdict.rank, set->verdict.text);
        status = blockfile_end_set(writer, error);
    }
    if (set->verdict.status != PL_OK)
        lab_failed(run, set->label, &set->verdict);
    struct coll_verdict written;
    return coll_agree_coll(comm, status, error, &written);
}

/* ---- the run ---- */

static pl_status lab_open(struct lab_run *run, struct pl_error *error)
{
    struct environment_clock clock;
    struct text why = {0};
    environment_clock(&clock);
    pl_status status = environment_clock_check(&clock, error);
    if (run->rank != 0 || status != PL_OK)
        return status;
    if (watch_is_busy(&why) && run->job->common.strict)
        status = pl_fail(error, PL_E_USAGE, "%s; --strict refuses to measure", text_get(&why));
    text_clear(&why);
    if (status == PL_OK &&
        (run->job->common.resume || (*run->job->step && access(run->job->common.output, F_OK) == 0))) {
        status = blockfile_open(run->job->common.output, &run->earlier, error);
        run->resumes = status == PL_OK;
    }
    return status == PL_OK ? blockfile_writer_open(run->job->common.output, &run->writer, error) : status;
}

pl_status lab_run_coll(struct lab_run *run, MPI_Comm world, const struct lab_job *job,
                       void (*complain)(const char *text), struct pl_error *error)
{
    struct coll_verdict verdict;
    struct pl_error close_error;
    *run = (struct lab_run){.job = job, .world = world, .complain = complain, .began_s = MPI_Wtime()};
    MPI_Comm_rank(world, &run->rank);
    MPI_Comm_size(world, &run->size);
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is an error of its set, not the end of the run */
    timebase_begin_coll(&run->clock, world);
    watch_begin(&run->watch, job->common.on.count ? job->common.on.values[0] : ".");
    pl_status status = coll_agree_coll(world, lab_open(run, error), error, &verdict);
    if (status == PL_OK)
        status = job->bench->run_coll(run, error);
    testfile_end(); /* of the ranks that look after files: no rank has one open */
    const pl_status closed = blockfile_writer_close(run->writer, &close_error);
    if (status == PL_OK && closed != PL_OK)
        *error = close_error;
    if (run->resumes)
        blockfile_close(&run->earlier);
    MPI_Bcast(&run->failed, 1, MPI_INT64_T, 0, world);
    return coll_agree_coll(world, status != PL_OK ? status : closed, error, &verdict);
}
