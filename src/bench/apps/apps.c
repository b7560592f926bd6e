/* What surrounds every kernel: test files, repetitions, each in the results as soon as it is measured. */
#include "bench/apps/apps.h"

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/path.h"
#include "base/units.h"
#include "lab/facts/environment.h"
#include "lab/facts/place.h"
#include "lab/runner/info.h"
#include "lab/runner/testfile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char CLASS[] = "Apps";
const char *const APPS_CLASSES[] = {CLASS, NULL};

/* ---- test files ---- */

pl_status apps_file_name(const struct apps_options *options, bool own, int rank, int nprocs,
                         char ret_name[APPS_PATH_MAX], struct pl_error *error)
{
    const int digits = snprintf(NULL, 0, "%d", nprocs - 1);
    const int length = own ? snprintf(ret_name, APPS_PATH_MAX, "%s.%0*d", options->file, digits, rank)
                           : snprintf(ret_name, APPS_PATH_MAX, "%s", options->file);
    return length < APPS_PATH_MAX ? PL_OK : pl_fail_errno(error, ENAMETOOLONG, "naming '%s'", options->file);
}

/* The rank's own file, or on rank 0 the shared one, is looked after until testfile_end(). */
static pl_status apps_file_take(const struct lab_run *run, const struct apps_options *options, struct pl_error *error)
{
    const bool own = options->kernel->own_files;
    char name[APPS_PATH_MAX];
    if (!own && run->rank != 0)
        return PL_OK;
    const pl_status status = apps_file_name(options, own, run->rank, run->size, name, error);
    return status == PL_OK ? testfile_take(name, run->job->common.keep, run->job->common.overwrite, error) : status;
}

/* Whether a file can be made there. MPI-IO would answer "other error": here errno tells. */
static pl_status apps_file_try(const char *name, struct pl_error *error)
{
    struct stat info;
    if (lstat(name, &info) == 0)
        return PL_OK; /* a device, or a link to where nothing is yet */
    interrupt_hold();
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    pl_status status = fd < 0 ? pl_fail_errno(error, errno, "making '%s'", name) : PL_OK;
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && remove(name) != 0)
        status = pl_fail_errno(error, errno, "removing '%s'", name);
    interrupt_release();
    return status;
}

pl_status apps_file_clear(const char *name, int64_t bytes, struct pl_error *error)
{
    struct environment_filesystem fs;
    if (environment_filesystem(name, &fs, error) != PL_OK)
        return pl_within(error, "making '%s'", name);
    char needed[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
    const int64_t room = fs.free_bytes + place_taken_bytes(name); /* before the old file is given up */
    if (fs.total_bytes > 0 && bytes > room)
        return pl_fail(error, PL_E_SPACE, "'%s' needs %s, but the file system of '%s' (%s) has only %s free", name,
                       units_bytes(bytes, needed), fs.directory, fs.type, units_bytes(room, there));
    return testfile_clear(name, error) == PL_OK ? apps_file_try(name, error) : error->status;
}

pl_status apps_file_memory(const struct apps_run *run, int64_t bytes, struct pl_error *error)
{
    const int64_t available = environment_memory_available_bytes();
    assert(run->node_ranks > 0);
    if (available == 0 || bytes <= available / run->node_ranks)
        return PL_OK;
    char needed[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
    return pl_fail(error, PL_E_NOMEM, "a rank needs %s of memory, but %d ranks share %s available on this node",
                   units_bytes(bytes, needed), run->node_ranks, units_bytes(available, there));
}

void apps_file_note_hints(struct apps_run *run, MPI_File file)
{
    if (run->rank == 0 && run->hints_used.length == 0)
        info_note_file(file, NULL, NULL, &run->hints_used);
}

/* ---- the command line ---- */

/* Nothing else may go where test files will be: FILE, or FILE.3 of a rank. */
static pl_status apps_check_outputs(const struct lab_job *job, const char *file, struct pl_error *error)
{
    const struct {
        const char *option, *path;
    } outputs[] = {{"--output", job->common.output}, {"--json", job->common.json}, {"--csv", job->common.csv}};
    const size_t length = strlen(file);
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        const char *path = outputs[i].path;
        const bool of_rank = path && strncmp(path, file, length) == 0 && path[length] == '.' && path[length + 1] &&
                             strspn(path + length + 1, "0123456789") == strlen(path + length + 1);
        if (path && (of_rank || path_same(path, file)))
            return pl_fail(error, PL_E_USAGE, "%s: '%s' is where a test file will be; allowed: another file",
                           outputs[i].option, path);
    }
    return PL_OK;
}

static pl_status apps_check_file(struct lab_job *job, struct apps_options *options, struct pl_error *error)
{
    char fallback[64], name[APPS_PATH_MAX];
    if ((!options->given_file || !*options->given_file) && job->common.on.count == 0)
        return pl_fail(error, PL_E_USAGE, "--file is missing: the test file; or --on, its directory");
    snprintf(fallback, sizeof fallback, "%s.dat", job->bench->name);
    char *path = lab_job_path(job, options->given_file && *options->given_file ? options->given_file : fallback);
    snprintf(options->file, sizeof options->file, "%s", path);
    free(path);
    pl_status status = apps_check_outputs(job, options->file, error);
    const bool own = options->kernel->own_files;
    const int ranks = job->ranks ? job->ranks : 1;
    for (int rank = 0; rank < (own ? ranks : 1) && status == PL_OK; rank++) {
        status = apps_file_name(options, own, rank, ranks, name, error);
        if (status == PL_OK)
            status = testfile_check(name, job->common.overwrite, error);
    }
    return status;
}

pl_status apps_prepare(struct lab_job *job, const struct apps_kernel *kernel, struct pl_error *error)
{
    struct apps_options *options = job->own;
    apps_clear(options);
    options->kernel = memory_new(1, sizeof *options->kernel);
    *options->kernel = *kernel;
    if (lab_hints_parse(&job->common.hints, &options->hints, error) != PL_OK)
        return error->status;
    return apps_check_file(job, options, error);
}

void apps_clear(struct apps_options *options)
{
    lab_hints_clear(&options->hints);
    if (options->kernel)
        options->kernel->clear(options->kernel->plan);
    free(options->kernel);
    options->kernel = NULL;
}

void apps_plan_cost(const struct lab_job *job, struct result *plan)
{
    const struct apps_options *options = job->own;
    const struct apps_cost *cost = &options->kernel->cost;
    char text[3][UNITS_TEXT_MAX];
    result_line(plan,
                "In all, %lld time%s: %lld bytes written by %lld requests, %lld read by %lld; files of %s, memory of a "
                "rank up to %s, results about %s.",
                (long long)options->repeat, options->repeat == 1 ? "" : "s", (long long)cost->write_bytes,
                (long long)cost->write_requests, (long long)cost->read_bytes, (long long)cost->read_requests,
                units_bytes(cost->file_bytes, text[0]), units_bytes(cost->memory_bytes, text[1]),
                units_bytes(options->repeat * (7 * (cost->write_requests + cost->read_requests) + 2000), text[2]));
}

/* ---- a repetition ---- */

void apps_progress(const struct apps_run *run, int64_t done, int64_t total)
{
    char label[32];
    assert(done >= 0 && done <= total);
    snprintf(label, sizeof label, "run %lld", (long long)run->repetition);
    lab_part(run->lab, (double)done / (double)total, label);
}

pl_status apps_phase_add(struct apps_run *run, const char *key, int64_t capacity, struct apps_phase **ret_phase,
                         struct pl_error *error)
{
    assert(run->phase_count < APPS_PHASES_MAX);
    struct apps_phase *phase = &run->phases[run->phase_count++];
    *phase = (struct apps_phase){0};
    snprintf(phase->key, sizeof phase->key, "%s", key);
    *ret_phase = phase;
    return samples_add(&run->samples, key, "ns", capacity, &phase->series, error);
}

void apps_phase_note(struct apps_phase *phase, double begin_s, int64_t bytes)
{
    struct sample_series *series = phase->series;
    assert(series->count < series->capacity);
    sample_put(series, series->count, begin_s, MPI_Wtime());
    phase->bytes += bytes;
}

static pl_status apps_repeat_coll(struct apps_run *run, struct pl_error *error)
{
    const struct apps_kernel *kernel = run->options->kernel;
    struct lab_set set = {.asked = &run->options->hints};
    struct pl_error failure;
    snprintf(set.label, sizeof set.label, "run %lld failed", (long long)run->repetition);
    const pl_status mine = lab_hints_info(&run->options->hints, &run->info, &failure);
    pl_status status = coll_agree_coll(run->comm, mine, &failure, &set.verdict);
    if (status == PL_OK)
        status = kernel->run_coll(run, kernel->plan, &failure, &set.verdict);
    if (run->info != MPI_INFO_NULL)
        MPI_Info_free(&run->info);
    char name[APPS_PATH_MAX];
    if (status != PL_OK &&
        apps_file_name(run->options, kernel->own_files, run->rank, run->nprocs, name, &failure) == PL_OK)
        testfile_drop(name); /* what a failed repetition left is of no use: its room is needed */
    kernel->params(kernel->plan, &set.params);
    set.samples = run->samples;
    set.hints_used = run->hints_used;
    status = lab_set_write_coll(run->lab, run->comm, &set, error);
    lab_set_clear(&set);
    return status;
}

pl_status apps_run_coll(struct lab_run *run, struct pl_error *error)
{
    const struct apps_options *options = run->job->own;
    environment_is_ompio(); /* asked here, not between the calls that are measured */
    const int node_ranks = environment_node_ranks_coll(run->world);
    struct coll_verdict verdict;
    struct text params = {0};
    options->kernel->params(options->kernel->plan, &params);
    const int64_t done = lab_count_measured_coll(run, options->kernel->name, &params);
    text_clear(&params);
    if (done >= options->repeat)
        return PL_OK;
    pl_status status = coll_agree_coll(run->world, apps_file_take(run, options, error), error, &verdict);
    if (status != PL_OK)
        return status;
    lab_plan(run, options->repeat - done, (double)(options->repeat - done));
    lab_block_begin(run, CLASS, options->kernel->name);
    if (run->rank == 0)
        blockfile_fact(run->writer, "seed", "%" PRId64, options->seed);
    status = lab_block_head_coll(run, options->file, error);
    for (int64_t i = done + 1; i <= options->repeat && status == PL_OK; i++) {
        struct apps_run one = {.lab = run,
                               .options = options,
                               .comm = run->world,
                               .rank = run->rank,
                               .nprocs = run->size,
                               .node_ranks = node_ranks,
                               .repetition = i,
                               .info = MPI_INFO_NULL};
        lab_step(run, 1, "run %lld", (long long)i);
        status = apps_repeat_coll(&one, error);
    }
    return lab_block_end_coll(run, status, error);
}
