/* The processes of a set on one clock: their operations are walked through side by side, in the order of their starts.
 */
#include "lab/result/analysis_rows.h"

#include "base/busy.h"
#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STARTS_KEY_MAX = 160 };

/* The starts of a series or single time: docs/block-format.md. NULL: none. */
static const struct blockfile_series *busy_starts_of(const struct blockfile_set *set, const char *key, int rank,
                                                     const char *unit)
{
    char name[STARTS_KEY_MAX];
    snprintf(name, sizeof name, "%.128s.start", key);
    for (size_t i = 0; i < set->series_count; i++)
        if (set->series[i].rank == rank && strcmp(set->series[i].key, name) == 0 &&
            strcmp(set->series[i].unit, unit) == 0)
            return &set->series[i];
    return NULL;
}

/* A process on its way through a series: times and the pauses before them, and bytes where they differ. */
struct busy_source {
    struct blockfile_cursor *times, *gaps, *bytes; /* times NULL: gaps holds pauses and times in turn */
    double block_bytes;
    double end_ns;
    int64_t at;              /* number of the operation that comes next */
    int64_t first, kept, to; /* of the region; of what is left of it behind the start-up; its last */
};

/* The first operation behind the start-up; both may be huge. */
static int64_t busy_kept_from(const struct analysis_region *region)
{
    return region->skip < INT64_MAX - region->from ? region->from + region->skip : INT64_MAX;
}

static bool busy_source_next(void *context, struct busy_op *ret_op)
{
    struct busy_source *lane = context;
    int64_t gap, time, bytes = 0;
    do {
        if (lane->at > lane->to || !blockfile_cursor_next(lane->gaps, &gap) ||
            !blockfile_cursor_next(lane->times ? lane->times : lane->gaps, &time) ||
            (lane->bytes && !blockfile_cursor_next(lane->bytes, &bytes)))
            return false;
        ret_op->start_ns = lane->end_ns + (double)gap;
        ret_op->ns = (double)time;
        ret_op->bytes = lane->bytes ? (double)bytes : lane->block_bytes;
        lane->end_ns = ret_op->start_ns + ret_op->ns;
        lane->at++;
    } while (lane->at <= lane->first);
    return true;
}

struct busy_sweep {
    struct busy_source *sources;
    struct busy_lane *lanes;
    size_t count;
    struct busy_clock all, kept; /* with start-up, and without */
    struct busy_slices slices;
    bool failed; /* no memory */
    double octaves[ANALYSIS_OCTAVES];
};

static void busy_sweep_take(void *context, size_t number, const struct busy_op *op)
{
    struct busy_sweep *sweep = context;
    const struct busy_source *lane = &sweep->sources[number];
    const int64_t done = lane->at - lane->first; /* with this one */
    double from, to;
    busy_clock_take(&sweep->all, op, &from, &to);
    if ((done & (done - 1)) == 0) { /* a power of two */
        int octave = 0;
        while (octave < ANALYSIS_OCTAVES - 1 && ((int64_t)1 << octave) < done)
            octave++;
        sweep->octaves[octave] = fmax(sweep->octaves[octave], to);
    }
    if (lane->at <= lane->kept)
        return;
    busy_clock_take(&sweep->kept, op, &from, &to);
    busy_slices_add(&sweep->slices, from, to, op->bytes);
}

static struct busy_source *busy_sweep_add(struct busy_sweep *sweep, struct blockfile *file,
                                          const struct blockfile_series *times, const struct blockfile_series *gaps,
                                          const struct blockfile_series *bytes)
{
    sweep->sources = memory_grow(sweep->sources, sweep->count, sizeof *sweep->sources);
    struct busy_source *lane = &sweep->sources[sweep->count++];
    *lane = (struct busy_source){.times = times ? blockfile_cursor_new(file, times) : NULL,
                                 .gaps = blockfile_cursor_new(file, gaps),
                                 .bytes = bytes ? blockfile_cursor_new(file, bytes) : NULL,
                                 .to = INT64_MAX - 1};
    sweep->failed = sweep->failed || (times && !lane->times) || !lane->gaps || (bytes && !lane->bytes);
    return lane;
}

static pl_status busy_sweep_run(struct busy_sweep *sweep, const struct blockfile *file, struct pl_error *error)
{
    sweep->lanes = memory_new(sweep->count + 1, sizeof *sweep->lanes);
    for (size_t i = 0; i < sweep->count; i++)
        sweep->lanes[i] = (struct busy_lane){.next = busy_source_next, .context = &sweep->sources[i]};
    if (sweep->failed || !busy_merge(sweep->lanes, sweep->count, busy_sweep_take, sweep))
        return pl_fail_errno(error, ENOMEM, "analysing '%s'", file->path);
    for (size_t i = 0; i < sweep->count; i++) {
        const struct busy_source *lane = &sweep->sources[i];
        if (blockfile_cursor_failed(lane->gaps) || (lane->times && blockfile_cursor_failed(lane->times)) ||
            (lane->bytes && blockfile_cursor_failed(lane->bytes)))
            return pl_fail(error, PL_E_DATA, "'%s' was changed while it was read", file->path);
    }
    return PL_OK;
}

static void busy_sweep_clear(struct busy_sweep *sweep)
{
    for (size_t i = 0; i < sweep->count; i++) {
        blockfile_cursor_free(sweep->sources[i].times);
        blockfile_cursor_free(sweep->sources[i].gaps);
        blockfile_cursor_free(sweep->sources[i].bytes);
    }
    free(sweep->sources);
    free(sweep->lanes);
}

/* Of a process alone the time is the sum of its times. */
static void busy_alone(const struct analysis_row *row, struct analysis_busy *busy)
{
    busy->ns = row->times.sum;
    busy->batches = row->times.batches.count;
    memcpy(busy->batch_bytes, row->batch_bytes, sizeof busy->batch_bytes);
    memcpy(busy->batch_ns, row->times.batches.sum, sizeof busy->batch_ns);
    memcpy(busy->octaves, row->times.octaves, sizeof busy->octaves);
    busy->octave_all = row->times.octave_sum;
}

/* Bytes of each operation of a rank, where they differ. NULL: all have the same. */
static const struct blockfile_series *busy_bytes_of(const struct blockfile_set *set, const struct blockfile_series *of)
{
    for (size_t i = 0; i < set->series_count; i++)
        if (set->series[i].rank == of->rank && set->series[i].count == of->count &&
            strcmp(set->series[i].key, "b") == 0)
            return &set->series[i];
    return NULL;
}

pl_status analysis_busy_fill(const struct analysis_chosen *chosen, const struct analysis_rows *rows, double block_bytes,
                             struct analysis_op_times *op, struct pl_error *error)
{
    const struct blockfile_set *set = chosen->set;
    const struct analysis_row *only = NULL;
    struct busy_sweep *sweep = memory_new(1, sizeof *sweep);
    pl_status status = PL_OK;
    int64_t most = 0;
    op->busy.known = op->n > 0;
    for (size_t i = op->first; i < op->end && op->busy.known; i++) {
        const struct analysis_row *row = &rows->rows[i];
        if (row->times.n == 0)
            continue;
        const struct blockfile_series *starts = busy_starts_of(set, row->series->key, row->series->rank, "gap");
        op->busy.known = starts && starts->count == row->series->count;
        only = row;
        most = row->times.n > most ? row->times.n : most;
        if (!op->busy.known)
            continue;
        struct busy_source *lane = busy_sweep_add(sweep, chosen->file, row->series, starts,
                                                  busy_bytes_of(set, row->series));
        lane->block_bytes = block_bytes;
        lane->first = row->times.region.from;
        lane->kept = busy_kept_from(&row->times.region);
        lane->to = row->times.region.to;
    }
    if (op->busy.known) {
        status = busy_sweep_run(sweep, chosen->file, error);
        op->busy.span_ns = busy_clock_span_ns(&sweep->kept);
    }
    if (op->busy.known && op->processes == 1) {
        assert(only);
        busy_alone(only, &op->busy);
    } else if (op->busy.known) {
        op->busy.ns = sweep->kept.busy_ns;
        op->busy.batches = (int)(most < ANALYSIS_BATCHES ? most : ANALYSIS_BATCHES);
        busy_slices_cut(&sweep->slices, sweep->kept.busy_ns, op->busy.batches, op->busy.batch_bytes, op->busy.batch_ns);
        memcpy(op->busy.octaves, sweep->octaves, sizeof op->busy.octaves);
        op->busy.octave_all = sweep->all.busy_ns;
    }
    busy_sweep_clear(sweep);
    free(sweep);
    return status;
}

pl_status analysis_busy_of(const struct analysis_request *request, const struct analysis_chosen *chosen,
                           const char *const *keys, int count, struct analysis_time *ret_time, struct pl_error *error)
{
    const struct blockfile_set *set = chosen->set;
    struct busy_sweep *sweep = memory_new(1, sizeof *sweep);
    bool known = true;
    *ret_time = (struct analysis_time){NAN, NAN};
    for (int k = 0; k < count; k++) {
        for (size_t i = 0; keys[k] && i < set->series_count; i++) {
            const struct blockfile_series *series = &set->series[i];
            if (strcmp(series->key, keys[k]) != 0 || !analysis_is_times(series) || series->count == 0 ||
                !analysis_ranks_hold(&request->ranks, series->rank))
                continue;
            const struct blockfile_series *starts = busy_starts_of(set, keys[k], series->rank, "gap");
            known = known && starts && starts->count == series->count;
            if (!known)
                continue;
            const struct analysis_region region = analysis_region_cut(
                (struct analysis_region){request->from, request->skip, request->to}, series->count);
            struct busy_source *lane = busy_sweep_add(sweep, chosen->file, series, starts, NULL);
            lane->first = region.from;
            lane->kept = busy_kept_from(&region);
            lane->to = region.to;
        }
        for (size_t i = 0; keys[k] && i < set->time_count; i++) {
            if (strcmp(set->times[i].key, keys[k]) != 0 || !analysis_ranks_hold(&request->ranks, set->times[i].rank))
                continue;
            const struct blockfile_series *starts = busy_starts_of(set, keys[k], set->times[i].rank, "span");
            known = known && starts && starts->count % 2 == 0;
            if (known)
                busy_sweep_add(sweep, chosen->file, NULL, starts, NULL);
        }
    }
    const pl_status status = known && sweep->count ? busy_sweep_run(sweep, chosen->file, error) : PL_OK;
    if (known && status == PL_OK && sweep->kept.busy_ns > 0)
        *ret_time = (struct analysis_time){sweep->kept.busy_ns, busy_clock_span_ns(&sweep->kept)};
    busy_sweep_clear(sweep);
    free(sweep);
    return status;
}
