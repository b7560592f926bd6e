#include "lab/result/analysis_rows.h"

#include "base/units.h"
#include "lab/result/result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which series ---- */

static bool rows_is_interleaved(const struct blockfile_set *set)
{
    for (size_t i = 0; i < set->series_count; i++)
        if (strcmp(set->series[i].key, "wI") == 0 || strcmp(set->series[i].key, "rI") == 0)
            return true;
    return false;
}

static bool rows_is_built(const struct analysis_request *request, const struct blockfile_series *series,
                          bool interleaved)
{
    return analysis_is_times(series) && analysis_ranks_hold(&request->ranks, series->rank) &&
           (interleaved || !request->op || strcmp(series->key, request->op) == 0);
}

bool analysis_row_wanted(const struct analysis_request *request, const struct analysis_row *row)
{
    return row->times.n > 0 && (!request->op || strcmp(row->series->key, request->op) == 0);
}

/* Operations in the order in which the set brings them first: a file groups by rank or by operation. */
struct order {
    const struct blockfile_series *series;
    size_t op;
};

static int rows_compare_order(const void *a, const void *b)
{
    const struct order *x = a;
    const struct order *y = b;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return x->series->rank < y->series->rank ? -1 : x->series->rank > y->series->rank;
}

enum { OPS_MAX = 64 };

static size_t rows_op_index(const char *ops[OPS_MAX], size_t *count, const char *key)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(ops[i], key) == 0)
            return i;
    if (*count < OPS_MAX)
        ops[(*count)++] = key;
    return *count - 1;
}

/* All series of the set that are built, sorted; the series `b` go to the end. Caller frees. */
static struct order *rows_order_series(const struct analysis_request *request, const struct blockfile_set *set,
                                       size_t *ret_built, size_t *ret_all)
{
    const bool interleaved = rows_is_interleaved(set);
    struct order *order = calloc(set->series_count + 1, sizeof *order);
    const char *ops[OPS_MAX] = {0};
    size_t op_count = 0;
    size_t count = 0;
    *ret_built = 0;
    for (size_t i = 0; order && i < set->series_count; i++) {
        const struct blockfile_series *series = &set->series[i];
        if (rows_is_built(request, series, interleaved)) {
            order[count++] = (struct order){series, rows_op_index(ops, &op_count, series->key)};
            ++*ret_built;
        } else if (strcmp(series->key, "b") == 0) {
            order[count++] = (struct order){series, OPS_MAX};
        }
    }
    if (order)
        qsort(order, count, sizeof *order, rows_compare_order);
    *ret_all = count;
    return order;
}

/* ---- building ---- */

struct build {
    const struct analysis_request *request;
    const struct analysis_chosen *chosen;
    struct order *order;
    size_t built, all; /* order[built..all) are the series of bytes */
    double block_bytes;
    struct analysis_histogram histogram;    /* of a row */
    struct analysis_histogram op_histogram; /* of all rows of an operation */
};

static const struct blockfile_series *rows_bytes_of(const struct build *build, int rank)
{
    const struct blockfile_series wanted = {.rank = rank};
    const struct order key = {&wanted, OPS_MAX};
    const struct order *found = bsearch(&key, build->order + build->built, build->all - build->built,
                                        sizeof *build->order, rows_compare_order);
    return found ? found->series : NULL;
}

static struct analysis_region rows_region_of(const struct build *build, const struct blockfile_series *series,
                                             int64_t skip)
{
    const struct analysis_region region = {build->request->from, skip, build->request->to};
    return analysis_region_cut(region, series->count);
}

/* One start-up for all processes, the longest: what is averaged together must be the same stretch of the file. */
static pl_status rows_find_startup(struct build *build, size_t first, size_t end, int64_t *ret_skip,
                                   struct pl_error *error)
{
    *ret_skip = build->request->skip;
    pl_status status = PL_OK;
    for (size_t i = first; build->request->skip_auto && i < end && status == PL_OK; i++) {
        const struct blockfile_series *series = build->order[i].series;
        struct analysis_startup startup;
        analysis_startup_begin(&startup, rows_region_of(build, series, 0));
        status = blockfile_stream(build->chosen->file, series, analysis_startup_take, &startup, error);
        const int64_t length = analysis_startup_length(&startup);
        *ret_skip = length > *ret_skip ? length : *ret_skip;
    }
    return status;
}

static void rows_equal_bytes(struct analysis_row *row, double block_bytes)
{
    for (int i = 0; i < row->times.batches.count; i++)
        row->batch_bytes[i] = block_bytes * row->times.batches.n[i];
    for (int i = 0; i < analysis_series_octaves(&row->times); i++)
        row->octave_bytes[i] = ldexp(block_bytes, i);
    row->bytes = block_bytes * (double)row->times.n;
    const struct analysis_region *region = &row->times.region;
    row->octave_bytes_all = region->to < region->from ? 0 : block_bytes * (double)(region->to - region->from + 1);
}

static pl_status rows_fill_bytes(struct build *build, struct analysis_row *row, struct pl_error *error)
{
    if (!analysis_moves_data(row->series->key))
        return PL_OK;
    const struct blockfile_series *bytes = rows_bytes_of(build, row->series->rank);
    if (!bytes || bytes->count != row->series->count) {
        row->has_bytes = build->block_bytes > 0;
        if (row->has_bytes)
            rows_equal_bytes(row, build->block_bytes);
        return PL_OK;
    }
    struct analysis_series sums;
    analysis_series_begin(&sums, row->times.region, NULL);
    const pl_status status = blockfile_stream(build->chosen->file, bytes, analysis_series_take, &sums, error);
    memcpy(row->batch_bytes, sums.batches.sum, sizeof row->batch_bytes);
    memcpy(row->octave_bytes, sums.octaves, sizeof row->octave_bytes);
    row->octave_bytes_all = sums.octave_sum;
    row->bytes = sums.sum;
    row->has_bytes = true;
    return status;
}

static pl_status rows_fill_row(struct build *build, const struct blockfile_series *series, int64_t skip,
                               struct analysis_row *row, struct pl_error *error)
{
    row->series = series;
    analysis_series_begin(&row->times, rows_region_of(build, series, skip), &build->histogram);
    const pl_status status = blockfile_stream(build->chosen->file, series, analysis_series_take, &row->times, error);
    if (status)
        return status;
    row->p5 = analysis_histogram_quantile_in(&build->histogram, 0.05, row->times.min, row->times.max);
    row->median = analysis_histogram_quantile_in(&build->histogram, 0.5, row->times.min, row->times.max);
    row->p95 = analysis_histogram_quantile_in(&build->histogram, 0.95, row->times.min, row->times.max);
    row->p99 = analysis_histogram_quantile_in(&build->histogram, 0.99, row->times.min, row->times.max);
    row->times.histogram = NULL;
    return rows_fill_bytes(build, row, error);
}

static void rows_add_to_op(struct build *build, const struct analysis_row *row, struct analysis_op_times *op)
{
    if (row->times.n == 0)
        return;
    op->min = op->n == 0 || row->times.min < op->min ? row->times.min : op->min;
    op->max = op->n == 0 || row->times.max > op->max ? row->times.max : op->max;
    op->n += row->times.n;
    op->sum += row->times.sum;
    op->bytes += row->bytes;
    op->processes++;
    analysis_histogram_merge(&build->op_histogram, &build->histogram);
}

static pl_status rows_fill_op(struct build *build, struct analysis_rows *rows, struct analysis_op_times *op,
                              struct pl_error *error)
{
    int64_t skip = 0;
    pl_status status = rows_find_startup(build, op->first, op->end, &skip, error);
    analysis_histogram_reset(&build->op_histogram);
    for (size_t i = op->first; i < op->end && status == PL_OK; i++) {
        status = rows_fill_row(build, build->order[i].series, skip, &rows->rows[i], error);
        if (status == PL_OK)
            rows_add_to_op(build, &rows->rows[i], op);
    }
    op->p5 = analysis_histogram_quantile_in(&build->op_histogram, 0.05, op->min, op->max);
    op->median = analysis_histogram_quantile_in(&build->op_histogram, 0.5, op->min, op->max);
    op->p95 = analysis_histogram_quantile_in(&build->op_histogram, 0.95, op->min, op->max);
    op->p99 = analysis_histogram_quantile_in(&build->op_histogram, 0.99, op->min, op->max);
    return status == PL_OK ? analysis_busy_fill(build->chosen, rows, build->block_bytes, op, error) : status;
}

static pl_status rows_fill_rows(struct build *build, struct analysis_rows *rows, struct pl_error *error)
{
    pl_status status = PL_OK;
    for (size_t first = 0, end; first < build->built && status == PL_OK; first = end) {
        end = first + 1;
        while (end < build->built && build->order[end].op == build->order[first].op)
            end++;
        struct analysis_op_times *op = &rows->ops[rows->op_count++];
        *op = (struct analysis_op_times){.first = first, .end = end};
        status = rows_fill_op(build, rows, op, error);
    }
    return status;
}

static double rows_block_bytes_of(const struct blockfile_set *set)
{
    const char *text = blockfile_param_of(set, "blocksize_bytes");
    double bytes = 0;
    return text && units_parse_number(text, &bytes) && bytes > 0 && bytes < 0x1p62 ? bytes : 0;
}

pl_status analysis_rows_build(const struct analysis_request *request, const struct analysis_chosen *chosen,
                              struct analysis_rows *ret_rows, struct pl_error *error)
{
    *ret_rows = (struct analysis_rows){0};
    if (chosen->set->error_count)
        return PL_OK;
    struct build build = {.request = request, .chosen = chosen, .block_bytes = rows_block_bytes_of(chosen->set)};
    build.order = rows_order_series(request, chosen->set, &build.built, &build.all);
    struct analysis_rows rows = {.rows = calloc(build.built + 1, sizeof *rows.rows),
                                 .count = build.built,
                                 .ops = calloc(OPS_MAX, sizeof *rows.ops)};
    pl_status status = PL_OK;
    if (!build.order || !rows.rows || !rows.ops || !analysis_histogram_init(&build.histogram) ||
        !analysis_histogram_init(&build.op_histogram))
        status = pl_fail_errno(error, ENOMEM, "analysing '%s'", chosen->file->path);
    else
        status = rows_fill_rows(&build, &rows, error);
    analysis_histogram_clear(&build.histogram);
    analysis_histogram_clear(&build.op_histogram);
    free(build.order);
    if (status)
        analysis_rows_clear(&rows);
    else
        *ret_rows = rows;
    return status;
}

void analysis_rows_clear(struct analysis_rows *rows)
{
    free(rows->rows);
    free(rows->ops);
    *rows = (struct analysis_rows){0};
}

size_t analysis_rows_end_of_op(const struct analysis_rows *rows, size_t first)
{
    size_t end = first + 1;
    while (end < rows->count && strcmp(rows->rows[end].series->key, rows->rows[first].series->key) == 0)
        end++;
    return end;
}

/* ---- all processes together ---- */

static double rows_sum_from(const double *values, int first, int count)
{
    double sum = 0;
    for (int i = first; i < count; i++)
        sum += values[i];
    return sum;
}

/* Bytes of all rows in each batch of the slowest one, over that one's times. A process with fewer than 20 operations
 * has fewer batches: they are laid over the slowest one's by their place in the loop. */
static struct analysis_estimate rows_call_rate(const struct analysis_rows *rows, size_t first, size_t end,
                                               bool asymptotic)
{
    const struct analysis_row *slowest = NULL;
    double longest = -1;
    for (size_t i = first; i < end; i++) {
        const struct analysis_batches *batches = &rows->rows[i].times.batches;
        const double time = rows_sum_from(batches->sum, asymptotic ? batches->count / 2 : 0, batches->count);
        if (rows->rows[i].times.n && rows->rows[i].has_bytes && time > longest) {
            longest = time;
            slowest = &rows->rows[i];
        }
    }
    if (!slowest)
        return (struct analysis_estimate){NAN, NAN};
    const int count = slowest->times.batches.count;
    double bytes[ANALYSIS_BATCHES] = {0};
    for (size_t i = first; i < end; i++)
        for (int b = 0; b < rows->rows[i].times.batches.count; b++)
            bytes[b * count / rows->rows[i].times.batches.count] += rows->rows[i].batch_bytes[b];
    return analysis_rate(bytes, slowest->times.batches.sum, count, asymptotic);
}

static void rows_add_point(struct analysis_op_rate *rate, double bytes, double time)
{
    rate->point_bytes[rate->point_count] = bytes;
    rate->point_rate[rate->point_count++] = units_rate_mb_per_s(bytes, time);
}

static void rows_cumulative_points(const struct analysis_rows *rows, size_t first, size_t end,
                                   const struct analysis_busy *busy, struct analysis_op_rate *rate)
{
    int octaves = ANALYSIS_OCTAVES;
    double all_bytes = 0;
    double all_time = 0;
    for (size_t i = first; i < end; i++) {
        const struct analysis_row *row = &rows->rows[i];
        const int reached = analysis_series_octaves(&row->times);
        octaves = reached && reached < octaves ? reached : octaves;
        all_bytes += row->octave_bytes_all;
        all_time = fmax(all_time, row->times.octave_sum);
    }
    for (int o = 0; o < octaves; o++) {
        double bytes = 0;
        double time = 0;
        for (size_t i = first; i < end; i++) {
            bytes += rows->rows[i].octave_bytes[o];
            time = fmax(time, rows->rows[i].times.octaves[o]);
        }
        if (bytes < all_bytes)
            rows_add_point(rate, bytes, busy ? busy->octaves[o] : time);
    }
    rows_add_point(rate, all_bytes, busy ? busy->octave_all : all_time);
}

bool analysis_op_rate(const struct analysis_rows *rows, size_t first, size_t end, struct analysis_op_rate *ret_rate)
{
    struct analysis_op_rate rate = {0};
    const struct analysis_busy *busy = NULL;
    bool any = false;
    for (size_t i = 0; i < rows->op_count; i++)
        if (rows->ops[i].first == first && rows->ops[i].end == end && rows->ops[i].busy.known)
            busy = &rows->ops[i].busy;
    for (size_t i = first; i < end; i++) {
        any = any || (rows->rows[i].has_bytes && rows->rows[i].times.n > 0);
        rate.bytes += rows->rows[i].bytes;
    }
    if (!any)
        return false;
    rate.by_calls = busy == NULL;
    rate.call_rate = rows_call_rate(rows, first, end, false);
    rate.rate = busy ? analysis_rate(busy->batch_bytes, busy->batch_ns, busy->batches, false) : rate.call_rate;
    rate.span_rate = busy ? units_rate_mb_per_s(rate.bytes, busy->span_ns) : NAN;
    rate.asymptotic = busy ? analysis_rate(busy->batch_bytes, busy->batch_ns, busy->batches, true)
                           : rows_call_rate(rows, first, end, true);
    rows_cumulative_points(rows, first, end, busy, &rate);
    *ret_rate = rate;
    return true;
}

void analysis_note_by_calls(struct result *result)
{
    result_note(
        result, RESULT_NOTE,
        "Some sets have no start stamps (files of piolet 0.1.0): their rates are call rates, bytes of all ranks / "
        "longest sum of one rank's times in calls. Rates of sets with stamps are by one clock and may be lower.");
}

/* Mean of an operation over all processes; NaN when there is none. */
static double rows_mean_of_op(const struct analysis_rows *rows, const char *key)
{
    double sum = 0;
    double n = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->rows[i].series->key, key) == 0) {
            sum += rows->rows[i].times.sum;
            n += (double)rows->rows[i].times.n;
        }
    return n > 0 ? sum / n : NAN;
}

bool analysis_rows_overlap(const struct analysis_rows *rows, char direction, struct analysis_overlap *ret_overlap,
                           double *ret_task, double *ret_blocking)
{
    const char blocking_key[] = {direction, '\0'};
    const char start_key[] = {direction, 'I', '\0'};
    const char task_key[] = {direction, 't', 'I', '\0'};
    const char wait_key[] = {direction, 'w', 'I', '\0'};
    const double start = rows_mean_of_op(rows, start_key);
    const double task_in_cycle = rows_mean_of_op(rows, task_key);
    if (isnan(start) || isnan(task_in_cycle))
        return false;
    const double wait = rows_mean_of_op(rows, wait_key);
    *ret_task = rows_mean_of_op(rows, "t");
    *ret_blocking = rows_mean_of_op(rows, blocking_key);
    *ret_overlap = analysis_overlap(*ret_task, *ret_blocking, start, task_in_cycle, isnan(wait) ? 0 : wait);
    return true;
}

/* ---- all operations of a set ---- */

struct rows_all {
    struct analysis_histogram histogram;
    double sum_ns;
};

static void rows_take_all(void *context, int64_t first, const int64_t *values, size_t count)
{
    struct rows_all *all = context;
    (void)first;
    for (size_t i = 0; i < count; i++)
        all->sum_ns += (double)values[i];
    analysis_histogram_add(&all->histogram, values, count);
}

pl_status analysis_times_of(const struct analysis_chosen *chosen, struct analysis_times *ret_times,
                            struct pl_error *error)
{
    struct rows_all all = {.sum_ns = 0};
    pl_status status = PL_OK;
    if (!analysis_histogram_init(&all.histogram))
        return pl_fail(error, PL_E_NOMEM, "not enough memory for the times");
    for (size_t i = 0; i < chosen->set->series_count && status == PL_OK; i++)
        if (analysis_is_times(&chosen->set->series[i]))
            status = blockfile_stream(chosen->file, &chosen->set->series[i], rows_take_all, &all, error);
    if (status == PL_OK)
        *ret_times = (struct analysis_times){
            .count = (int64_t)all.histogram.total,
            .mean_ns = all.histogram.total ? all.sum_ns / (double)all.histogram.total : NAN,
            .median_ns = analysis_histogram_quantile(&all.histogram, 0.5),
            .p99_ns = analysis_histogram_quantile(&all.histogram, 0.99),
        };
    analysis_histogram_clear(&all.histogram);
    return status;
}
