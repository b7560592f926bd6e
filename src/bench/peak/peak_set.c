/* One set: prepared, measured at the same time on all processes of the I/O node, written. */
#include "bench/peak/peak_course.h"

#include <math.h>

/* What all processes did together. */
struct total {
    int64_t bytes, operations, file_bytes, cut;
};

static bool is_data(const struct peak_set *set)
{
    return set->operation == PEAK_WRITE || set->operation == PEAK_READ;
}

/* ---- before ---- */

static const char *series_key(const struct peak_set *set)
{
    return set->operation == PEAK_WRITE  ? "w"
           : set->operation == PEAK_READ ? "r"
                                         : PEAK_OPERATION_NAMES[set->operation];
}

static pl_status open_file(struct peak_course *course, struct pl_error *error)
{
    const struct peak_config *config = course->state->job->config;
    const uint64_t seed = config->seed * 1000003 + (uint64_t)course->state->rank; /* no two files are alike */
    const pl_status status = peak_file_open(&course->file, course->target->directory, course->target->direct,
                                            config->requests[0], seed, error);
    course->file.bytes = course->file_bytes;
    course->file.stride = config->stride;
    return status;
}

/* The caches that a reading must not find the data in. */
static pl_status empty_caches(struct peak_course *course, struct pl_error *error)
{
    if (!course->target->direct)
        peak_file_forget(&course->file);
    if (course->state->job->config->drop_caches && course->state->node_rank == 0)
        return peak_target_drop_caches(error);
    return PL_OK;
}

/* File or directory are made when the first set needs them; a set of metadata begins when the file is gone. */
static pl_status prepare(struct peak_course *course, const struct peak_set *set, struct samples *samples,
                         struct peak_pass *pass, struct pl_error *error)
{
    const int64_t files = course->state->job->config->files;
    pl_status status = PL_OK;
    if (!course->active)
        return samples_add(samples, series_key(set), "ns", 0, &pass->series, error);
    if (is_data(set) && course->file.fd < 0)
        status = open_file(course, error);
    if (!is_data(set) && !course->meta.path[0]) {
        peak_file_close(&course->file);
        status = peak_meta_begin(&course->meta, course->target->directory, error);
    }
    if (status == PL_OK && set->operation == PEAK_READ)
        status = empty_caches(course, error);
    const int64_t count = status != PL_OK ? 0 : is_data(set) ? peak_file_operations(&course->file, set) : files;
    struct pl_error ignored;
    const pl_status added = samples_add(samples, series_key(set), "ns", count, &pass->series,
                                        status == PL_OK ? error : &ignored);
    return status == PL_OK ? added : status;
}

/* ---- after ---- */

static struct total add_up_coll(const struct peak_course *course, const struct peak_pass *pass)
{
    int64_t mine[] = {pass->bytes, pass->series->count, course->file.fd >= 0 ? course->file.bytes : 0, pass->cut};
    int64_t sums[4];
    MPI_Allreduce(mine, sums, 4, MPI_INT64_T, MPI_SUM, course->state->world);
    return (struct total){.bytes = sums[0], .operations = sums[1], .file_bytes = sums[2], .cut = sums[3]};
}

static void put_params(struct blockfile_writer *writer, const struct peak_course *course, const struct peak_set *set,
                       const struct total *total)
{
    blockfile_param(writer, "operation", "%s", PEAK_OPERATION_NAMES[set->operation]);
    if (is_data(set)) {
        blockfile_param(writer, "access", "%s", PEAK_ACCESS_NAMES[set->access]);
        blockfile_param(writer, "request_bytes", "%lld", (long long)set->request_bytes);
        blockfile_param(writer, "file_bytes", "%lld", (long long)total->file_bytes);
        blockfile_param(writer, "direct", "%s", course->target->direct ? "yes" : "no");
        blockfile_param(writer, "bytes", "%lld", (long long)total->bytes);
        if (set->access == PEAK_STRIDED)
            blockfile_param(writer, "stride", "%lld", (long long)course->state->job->config->stride);
        if (set->operation == PEAK_WRITE)
            blockfile_param(writer, "fresh", "%s", set->makes_file ? "yes" : "no");
    }
    blockfile_param(writer, "operations", "%lld", (long long)total->operations);
    blockfile_param(writer, "processes", "%d", course->processes);
}

static void note_times(const struct peak_course *course, const struct peak_pass *pass, struct samples *samples)
{
    const enum peak_operation operation = pass->set->operation;
    if (!course->active)
        return;
    samples_time(samples,
                 operation == PEAK_WRITE  ? "write_time"
                 : operation == PEAK_READ ? "read_time"
                                          : "loop_time",
                 pass->seconds);
    if (operation == PEAK_WRITE)
        samples_time(samples, "sync_time", pass->sync_seconds);
}

static pl_status write_set_coll(struct peak_course *course, const struct peak_pass *pass, struct samples *samples,
                                const struct coll_verdict *verdict, const double span_s[2], struct pl_error *error)
{
    struct peak_state *state = course->state;
    struct coll_verdict agreed;
    const struct total total = add_up_coll(course, pass);
    pl_status status = PL_OK;
    if (state->rank == 0) {
        blockfile_set(state->writer);
        put_params(state->writer, course, pass->set, &total);
        blockfile_param(state->writer, "begin_ns", "%lld", llround(span_s[0] * 1e9));
        blockfile_param(state->writer, "end_ns", "%lld", llround(span_s[1] * 1e9));
    }
    note_times(course, pass, samples);
    samples_write_coll(samples, state->world, state->writer);
    if (state->rank == 0) {
        if (verdict->status != PL_OK)
            blockfile_error(state->writer, pl_status_name(verdict->status), verdict->rank, verdict->text);
        if (total.cut && pass->set->makes_file)
            blockfile_warning(state->writer, "the limit of time came first: the file is smaller than asked for");
        else if (total.cut)
            blockfile_warning(state->writer, "the limit of time came first: not the whole file was touched");
        status = blockfile_end_set(state->writer, error);
    }
    return coll_agree_coll(state->world, status, error, &agreed);
}

/* ---- the whole ---- */

/* All begin together; those that wait for the others sleep. */
static pl_status measure_coll(struct peak_course *course, struct peak_pass *pass, double slice_s,
                              struct pl_error *error)
{
    struct peak_state *state = course->state;
    pl_status status = PL_OK;
    MPI_Bcast(&slice_s, 1, MPI_DOUBLE, 0, state->world);
    MPI_Barrier(state->world);
    pass->deadline = MPI_Wtime() + slice_s;
    if (course->active && is_data(pass->set))
        status = peak_file_run(&course->file, pass, error);
    else if (course->active)
        status = peak_meta_run(&course->meta, pass, state->job->config->files, error);
    coll_barrier_quiet_coll(state->world);
    return status;
}

pl_status peak_set_coll(struct peak_course *course, int index, struct pl_error *error)
{
    struct peak_state *state = course->state;
    const struct peak_set *set = &state->sets[index];
    struct samples samples = {.series_count = 0};
    struct peak_pass pass = {.set = set};
    struct pl_error failure;
    struct coll_verdict verdict;
    double span_s[2] = {MPI_Wtime() - course->began};
    pl_status mine = prepare(course, set, &samples, &pass, &failure);
    const double slice_s = peak_slice_s(course->limit_s, MPI_Wtime() - course->began, set, state->set_count - index);
    if (coll_agree_coll(state->world, mine, &failure, &verdict) == PL_OK) {
        span_s[0] = MPI_Wtime() - course->began;
        mine = measure_coll(course, &pass, slice_s, &failure);
        coll_agree_coll(state->world, mine, &failure, &verdict);
    }
    span_s[1] = MPI_Wtime() - course->began;
    course->stopped = verdict.status != PL_OK;
    state->failed += course->stopped;
    const pl_status written = write_set_coll(course, &pass, &samples, &verdict, span_s, error);
    samples_clear(&samples);
    if (course->stopped && state->rank == 0) {
        const struct peak_event event = {.io_node = course->io_node, .set = set, .verdict = &verdict};
        state->job->observer->failed(state->job->observer->context, &event);
    }
    return written;
}
