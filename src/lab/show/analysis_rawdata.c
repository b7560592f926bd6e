/* rawdata (IOT-30): times against the loop counter, and the averages of the selected region. */
#include "lab/show/analysis_tools.h"

#include "base/memory.h"
#include "base/text.h"
#include "base/units.h"
#include "lab/result/analysis_select.h"
#include "lab/show/analysis_format.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct analysis_row *raw_first_wanted(const struct analysis_request *request,
                                                   const struct analysis_rows *rows, const struct analysis_op_times *op)
{
    for (size_t i = op->first; i < op->end; i++)
        if (analysis_row_wanted(request, &rows->rows[i]))
            return &rows->rows[i];
    return NULL;
}

/* ---- the tables ---- */

static struct analysis_estimate raw_rate(const struct analysis_row *row, bool asymptotic)
{
    if (!row->has_bytes)
        return (struct analysis_estimate){NAN, NAN};
    return analysis_rate(row->batch_bytes, row->times.batches.sum, row->times.batches.count, asymptotic);
}

static double raw_typical_ns(const struct analysis_request *request, const struct analysis_rows *rows)
{
    double typical = INFINITY;
    for (size_t i = 0; i < rows->count; i++)
        if (analysis_row_wanted(request, &rows->rows[i]) && rows->rows[i].median > 0)
            typical = fmin(typical, rows->rows[i].median);
    return isfinite(typical) ? typical : 1;
}

/* "2.05G": narrow, for the table. */
static const char *raw_short_bytes(double bytes, char cell[ANALYSIS_CELL_MAX])
{
    static const char suffixes[] = " kMGTPE";
    size_t i = 0;
    for (; bytes >= 999.5 && i + 2 < sizeof suffixes; i++)
        bytes /= 1000;
    snprintf(cell, ANALYSIS_CELL_MAX, i ? "%.3g%c" : "%.0f", bytes, suffixes[i]);
    return cell;
}

static void raw_put_text_row(struct result *result, const char *rank, const char *op, int64_t n, double bytes,
                             struct analysis_estimate mean, const double times[6], double rate)
{
    char cell[ANALYSIS_CELL_MAX];
    result_row(result);
    result_put_text(result, rank);
    result_put_text(result, op);
    result_put_int(result, n);
    result_put_text(result, isnan(bytes) ? NULL : raw_short_bytes(bytes, cell));
    result_put_number(result, mean.value);
    result_put_number(result, mean.error);
    for (int i = 0; i < 6; i++)
        result_put_number(result, times[i]);
    result_put_number(result, rate);
}

/* For people: a row for each process, and one for all processes of an operation. */
static void raw_put_text_table(struct result *result, const struct analysis_request *request,
                               const struct analysis_rows *rows)
{
    const struct analysis_time_unit unit = analysis_time_unit(raw_typical_ns(request, rows));
#define TIME(time_key, time_label, digits)                                                                             \
    {                                                                                                                  \
        .key = time_key, .label = time_label, .form = RESULT_NUMBER, .decimals = -(digits), .scale = unit.ns           \
    }
    const struct result_column columns[] = {{.key = "rank", .form = RESULT_TEXT},
                                            {.key = "op", .form = RESULT_TEXT},
                                            {.key = "n", .form = RESULT_INT},
                                            {.key = "bytes", .form = RESULT_TEXT},
                                            TIME("mean", NULL, 4),
                                            TIME("error", "±", 3),
                                            TIME("median", "med", 3),
                                            TIME("p5", NULL, 3),
                                            TIME("p95", NULL, 3),
                                            TIME("p99", NULL, 3),
                                            TIME("min", NULL, 3),
                                            TIME("max", NULL, 3),
                                            {.key = "rate", .form = RESULT_NUMBER, .decimals = -4},
                                            {0}};
#undef TIME
    result_line(result, "times in %s, rate in MB/s", unit.name);
    result_begin_table(result, "processes", NULL, columns);
    result_only_in(result, RESULT_IN_TEXT | RESULT_IN_PAGE);
    for (size_t i = 0; i < rows->count; i++) {
        const struct analysis_row *row = &rows->rows[i];
        char rank[16];
        if (!analysis_row_wanted(request, row))
            continue;
        snprintf(rank, sizeof rank, "%d", row->series->rank);
        raw_put_text_row(
            result, rank, row->series->key, row->times.n, row->has_bytes ? row->bytes : NAN,
            analysis_series_mean(&row->times),
            (double[]){row->median, row->p5, row->p95, row->p99, (double)row->times.min, (double)row->times.max},
            raw_rate(row, false).value);
    }
    for (size_t i = 0; i < rows->op_count; i++) {
        const struct analysis_op_times *op = &rows->ops[i];
        const char *key = rows->rows[op->first].series->key;
        struct analysis_op_rate rate;
        if (op->processes < 2 || (request->op && strcmp(key, request->op) != 0)) /* of one it would say nothing new */
            continue;
        const bool has_rate = analysis_op_rate(rows, op->first, op->end, &rate);
        raw_put_text_row(result, "all", key, op->n, has_rate ? op->bytes : NAN,
                         (struct analysis_estimate){op->sum / (double)op->n, NAN},
                         (double[]){op->median, op->p5, op->p95, op->p99, (double)op->min, (double)op->max},
                         has_rate ? rate.rate.value : NAN);
    }
}

/* For machines: everything of each process. */
static void raw_put_rows(struct result *result, const struct analysis_request *request,
                         const struct analysis_rows *rows)
{
    static const struct result_column columns[] = {{.key = "rank", .form = RESULT_INT},
                                                   {.key = "op", .form = RESULT_TEXT},
                                                   {.key = "from", .form = RESULT_INT},
                                                   {.key = "to", .form = RESULT_INT},
                                                   {.key = "n", .form = RESULT_INT},
                                                   {.key = "bytes", .form = RESULT_NUMBER},
                                                   {.key = "mean_ns", .form = RESULT_NS},
                                                   {.key = "error_ns", .form = RESULT_NS},
                                                   {.key = "stddev_ns", .form = RESULT_NS},
                                                   {.key = "min_ns", .form = RESULT_NS},
                                                   {.key = "p5_ns", .form = RESULT_NS},
                                                   {.key = "median_ns", .form = RESULT_NS},
                                                   {.key = "p95_ns", .form = RESULT_NS},
                                                   {.key = "p99_ns", .form = RESULT_NS},
                                                   {.key = "max_ns", .form = RESULT_NS},
                                                   {.key = "rate_mb_per_s", .form = RESULT_RATE},
                                                   {.key = "rate_error_mb_per_s", .form = RESULT_RATE},
                                                   {.key = "asymptotic_mb_per_s", .form = RESULT_RATE},
                                                   {.key = "asymptotic_error_mb_per_s", .form = RESULT_RATE},
                                                   {0}};
    result_begin_table(result, "rows", NULL, columns);
    result_only_in(result, RESULT_IN_JSON | RESULT_IN_CSV);
    for (size_t i = 0; i < rows->count; i++) {
        const struct analysis_row *row = &rows->rows[i];
        if (!analysis_row_wanted(request, row))
            continue;
        const struct analysis_estimate mean = analysis_series_mean(&row->times), rate = raw_rate(row, false),
                                       asymptotic = raw_rate(row, true);
        const double numbers[] = {row->has_bytes ? row->bytes : NAN,
                                  mean.value,
                                  mean.error,
                                  analysis_series_stddev(&row->times),
                                  (double)row->times.min,
                                  row->p5,
                                  row->median,
                                  row->p95,
                                  row->p99,
                                  (double)row->times.max,
                                  rate.value,
                                  rate.error,
                                  asymptotic.value,
                                  asymptotic.error};
        result_row(result);
        result_put_int(result, row->series->rank);
        result_put_text(result, row->series->key);
        result_put_int(result, row->times.region.from + row->times.region.skip);
        result_put_int(result, row->times.region.to);
        result_put_int(result, row->times.n);
        for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++)
            result_put_number(result, numbers[n]);
    }
}

/* The rate of each operation over all processes: lines for people, and a table. */
static void raw_put_rates(struct result *result, const struct analysis_request *request,
                          const struct analysis_rows *rows)
{
    static const struct result_column columns[] = {{.key = "op", .form = RESULT_TEXT},
                                                   {.key = "bytes", .form = RESULT_NUMBER},
                                                   {.key = "rate_mb_per_s", .form = RESULT_RATE},
                                                   {.key = "rate_error_mb_per_s", .form = RESULT_RATE},
                                                   {.key = "asymptotic_mb_per_s", .form = RESULT_RATE},
                                                   {.key = "asymptotic_error_mb_per_s", .form = RESULT_RATE},
                                                   {.key = "call_rate_mb_per_s", .form = RESULT_RATE},
                                                   {.key = "call_rate_error_mb_per_s", .form = RESULT_RATE},
                                                   {.key = "by_calls", .form = RESULT_BOOL},
                                                   {.key = "span_rate_mb_per_s", .form = RESULT_RATE},
                                                   {0}};
    bool any_by_calls = false;
    for (int table = 0; table < 2; table++) {
        if (table == 1) {
            result_begin_table(result, "rates", NULL, columns);
            result_only_in(result, RESULT_IN_JSON);
        }
        for (size_t i = 0; i < rows->op_count; i++) {
            const struct analysis_op_times *op = &rows->ops[i];
            const char *key = rows->rows[op->first].series->key;
            struct analysis_op_rate rate;
            char all[64], asymptotic[64], calls[64], span[ANALYSIS_CELL_MAX];
            if ((request->op && strcmp(key, request->op) != 0) || !analysis_op_rate(rows, op->first, op->end, &rate))
                continue;
            if (table == 0) {
                any_by_calls = any_by_calls || rate.by_calls;
                result_line(
                    result, "%s%s: %s %s, asymptotic %s%s%s%s%s MB/s", key, op->processes > 1 ? ", all processes" : "",
                    rate.by_calls ? "call rate" : "rate", analysis_estimate_text(rate.rate, all, sizeof all),
                    analysis_estimate_text(rate.asymptotic, asymptotic, sizeof asymptotic),
                    rate.by_calls ? "" : RESULT_SPAN_NAME " ",
                    rate.by_calls ? "" : analysis_cell(rate.span_rate, 4, span),
                    rate.by_calls || op->processes == 1 ? "" : ", call rate ",
                    rate.by_calls || op->processes == 1 ? ""
                                                        : analysis_estimate_text(rate.call_rate, calls, sizeof calls));
                continue;
            }
            result_row(result);
            result_put_text(result, key);
            result_put_number(result, rate.bytes);
            result_put_number(result, rate.rate.value);
            result_put_number(result, rate.rate.error);
            result_put_number(result, rate.asymptotic.value);
            result_put_number(result, rate.asymptotic.error);
            result_put_number(result, rate.call_rate.value);
            result_put_number(result, rate.call_rate.error);
            result_put_bool(result, rate.by_calls);
            result_put_number(result, rate.span_rate);
        }
    }
    if (any_by_calls)
        analysis_note_by_calls(result);
}

/* ---- the chart, a panel for each process of a set ---- */

enum { RAW_PANELS = 12, RAW_COLUMNS = 850, RAW_POINTS = 4000, RAW_POINTS_OF_ALL = 16000 };

/* Either every operation as a point, or what falls into a column of the figure as its range and mean: the number of
 * points that are drawn does not grow with the series. */
struct raw_bins {
    struct analysis_region region;
    double low[RAW_COLUMNS], high[RAW_COLUMNS], sum[RAW_COLUMNS], n[RAW_COLUMNS];
    struct result *points; /* NULL: columns */
};

static void raw_take(void *context, int64_t first, const int64_t *values, size_t count)
{
    struct raw_bins *bins = context;
    const double scale = RAW_COLUMNS / ((double)(bins->region.to - bins->region.from) + 1);
    for (size_t i = 0; i < count; i++) {
        const int64_t counter = first + (int64_t)i;
        const double value = (double)values[i];
        if (counter < bins->region.from || counter > bins->region.to)
            continue;
        if (bins->points) {
            result_point(bins->points, (double)counter, value, NAN, NAN);
            continue;
        }
        size_t column = (size_t)((double)(counter - bins->region.from) * scale);
        column = column < RAW_COLUMNS ? column : RAW_COLUMNS - 1;
        bins->low[column] = bins->n[column] == 0 ? value : fmin(value, bins->low[column]);
        bins->high[column] = fmax(value, bins->high[column]);
        bins->sum[column] += value;
        bins->n[column]++;
    }
}

static pl_status raw_draw_series(struct result *result, const struct analysis_chosen *chosen,
                                 const struct analysis_row *row, int64_t points_allowed, struct pl_error *error)
{
    struct raw_bins *bins = memory_new(1, sizeof *bins);
    const struct analysis_region *region = &row->times.region;
    char name[ANALYSIS_NAME_MAX];
    bins->region = *region;
    analysis_op_text(row->series->key, name);
    if (region->to - region->from < points_allowed) {
        bins->points = result;
        result_begin_series(result, RESULT_POINTS, "%s", name);
    }
    const pl_status status = blockfile_stream(chosen->file, row->series, raw_take, bins, error);
    const double width = ((double)(region->to - region->from) + 1) / RAW_COLUMNS;
    for (int band = 1; band >= 0 && !bins->points && status == PL_OK; band--) {
        result_begin_series(result, band ? RESULT_BAND : RESULT_CURVE, "%s", name);
        for (size_t i = 0; i < RAW_COLUMNS; i++)
            if (bins->n[i] > 0)
                result_point(result, (double)region->from + ((double)i + 0.5) * width, bins->sum[i] / bins->n[i],
                             band ? bins->low[i] : NAN, band ? bins->high[i] : NAN);
    }
    if (region->skip && status == PL_OK) { /* where the start-up ends */
        result_begin_series(result, RESULT_DASHED, "end of start-up");
        result_point(result, (double)(region->from + region->skip) - 0.5, (double)row->times.drawn_min, NAN, NAN);
        result_point(result, (double)(region->from + region->skip) - 0.5, (double)row->times.drawn_max, NAN, NAN);
    }
    free(bins);
    return status;
}

static pl_status raw_draw_rank(struct result *result, const struct analysis_request *request,
                               const struct analysis_chosen *chosen, const struct analysis_rows *rows, int rank,
                               bool log, int64_t points_allowed, struct pl_error *error)
{
    const struct result_axis x = {.label = "loop counter", .form = RESULT_INT},
                             y = {.label = "time", .form = RESULT_NS, .log = log};
    char test[ANALYSIS_NAME_MAX], sizes[ANALYSIS_NAME_MAX];
    bool open = false;
    pl_status status = PL_OK;
    analysis_sizes_text(chosen->set, sizes);
    for (size_t i = 0; i < rows->count && status == PL_OK; i++) {
        if (rows->rows[i].series->rank != rank || !analysis_row_wanted(request, &rows->rows[i]))
            continue;
        if (!open)
            result_begin_panel(result, &x, &y, 1, "%s%s%s, rank %d", analysis_test_text(chosen, test),
                               sizes[0] ? ", " : "", sizes, rank);
        open = true;
        status = raw_draw_series(result, chosen, &rows->rows[i], points_allowed, error);
    }
    return status;
}

/* The lowest rank above `rank` that has a series; beyond all ranks: none. A file may hold any two. */
static int64_t raw_next_rank(const struct analysis_rows *rows, int64_t rank)
{
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].series->rank > rank && rows->rows[i].series->rank < next)
            next = rows->rows[i].series->rank;
    return next;
}

/* All processes of a set share the kind of axis: with outliers it is logarithmic. */
static pl_status raw_draw_set(struct result *result, const struct analysis_request *request,
                              struct analysis_choice *choice, const struct analysis_chosen *chosen,
                              const struct analysis_rows *rows, struct pl_error *error)
{
    const struct analysis_candidate *candidate = analysis_choice_of(choice, chosen->set);
    double median = INFINITY, most = 0;
    size_t series = 0;
    pl_status status = PL_OK;
    for (size_t i = 0; candidate && i < rows->count; i++)
        if (analysis_row_wanted(request, &rows->rows[i]) && rows->rows[i].series->rank <= candidate->last_rank) {
            median = fmin(median, rows->rows[i].median);
            most = fmax(most, (double)rows->rows[i].times.drawn_max);
            series++;
        }
    const int64_t share = RAW_POINTS_OF_ALL / (int64_t)(series ? series * RAW_PANELS / 2 : 1);
    const int64_t allowed = share < RAW_COLUMNS ? RAW_COLUMNS : share > RAW_POINTS ? RAW_POINTS : share;
    for (int64_t rank = raw_next_rank(rows, -1); series && rank <= candidate->last_rank && status == PL_OK;
         rank = raw_next_rank(rows, rank))
        if (analysis_ranks_hold(&request->ranks, (int)rank))
            status = raw_draw_rank(result, request, chosen, rows, (int)rank, most > 10 * median, allowed, error);
    return status;
}

/* ---- the whole ---- */

pl_status analysis_rawdata_build(const struct analysis_request *request, const struct analysis_input *input,
                                 struct result *result, struct pl_error *error)
{
    struct analysis_choice choice = {0};
    struct analysis_chosen chosen = {0};
    size_t seen = 0, failed = 0, left_out = 0;
    pl_status status = PL_OK;
    result_fact_text(result, "tool", NULL, "rawdata");
    result_csv_table(result, "rows");
    if (request->plot) {
        status = analysis_choice_build(request, input, &choice, error);
        left_out = status == PL_OK ? analysis_choice_spread(request, &choice, ANALYSIS_ALL_KINDS, RAW_PANELS) : 0;
    }
    while (status == PL_OK && analysis_next(request, input, &chosen)) {
        struct analysis_rows rows;
        char title[256];
        status = analysis_rows_build(request, &chosen, &rows, error);
        if (status != PL_OK)
            break;
        const size_t wanted = analysis_count_wanted(request, &rows);
        seen += wanted;
        failed += chosen.set->error_count > 0;
        if (wanted || chosen.set->error_count) {
            result_begin_group(result, "sets", "%s", analysis_set_title(&chosen, title));
            analysis_put_set(result, &chosen);
            for (size_t i = 0; i < rows.op_count && wanted; i++) {
                const struct analysis_row *first = raw_first_wanted(request, &rows, &rows.ops[i]);
                if (first)
                    analysis_put_region(result, request, first, "");
            }
            if (wanted)
                raw_put_text_table(result, request, &rows);
            raw_put_rows(result, request, &rows);
            raw_put_rates(result, request, &rows);
            analysis_put_overlap(result, &rows);
            result_end_group(result);
            if (request->plot)
                status = raw_draw_set(result, request, &choice, &chosen, &rows, error);
        }
        analysis_rows_clear(&rows);
    }
    if (seen)
        analysis_put_definitions(result);
    char note[160] = "";
    if (left_out) {
        snprintf(note, sizeof note,
                 "%zu more rows, each a process of a set, are not drawn: choose with --test, --block, --set, --rank",
                 left_out);
        result_line(result,
                    "The plot has room for %d rows of axes: %zu are not drawn; choose with --test, --block, "
                    "--set, --rank.",
                    RAW_PANELS, left_out);
    }
    result_figure(result, "Raw times", left_out ? note : NULL);
    analysis_choice_clear(&choice);
    return status == PL_OK && seen == 0 ? analysis_nothing(failed, error) : status;
}
