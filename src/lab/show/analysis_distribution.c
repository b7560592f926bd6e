/* distribution (IOT-31): how the times of the region are distributed, for each process. */
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

static const struct {
    double q;
    const char *key, *label; /* label NULL: not for people */
} QUANTILES[] = {{0.01, "p1_ns", "p1"},   {0.05, "p5_ns", "p5"},       {0.10, "p10_ns", NULL}, {0.25, "p25_ns", "p25"},
                 {0.50, "p50_ns", "p50"}, {0.75, "p75_ns", "p75"},     {0.90, "p90_ns", NULL}, {0.95, "p95_ns", "p95"},
                 {0.99, "p99_ns", "p99"}, {0.999, "p99_9_ns", "p99.9"}};
enum {
    QUANTILE_COUNT = sizeof QUANTILES / sizeof QUANTILES[0],
    DIST_TEXT_BINS = 16,
    DIST_BINS = 64,
    DIST_BAR = 44,
    DIST_CURVES = 10,
    DIST_CURVE_BINS = 192,
    DIST_TESTS = 4
};

struct distribution {
    const struct analysis_request *request;
    struct result *result;
    struct analysis_histogram histogram;
    struct analysis_choice choice;
    bool several_sets[DIST_TESTS];
    size_t seen, failed, left_out;
};

/* The rows of one operation of one set, and what is common to them. */
struct dist_op {
    const struct analysis_chosen *chosen;
    const struct analysis_rows *rows;
    size_t first, end;
    double low_ns, high_ns, operations;
    double bins[DIST_TEXT_BINS];
    struct analysis_time_unit unit;
};

static struct dist_op dist_op_of(const struct distribution *dist, const struct analysis_chosen *chosen,
                                 const struct analysis_rows *rows, const struct analysis_op_times *of)
{
    struct dist_op op = {.chosen = chosen, .rows = rows, .first = of->first, .end = of->end, .low_ns = INFINITY};
    double typical = INFINITY;
    for (size_t i = op.first; i < op.end; i++) {
        const struct analysis_row *row = &rows->rows[i];
        if (!analysis_row_wanted(dist->request, row))
            continue;
        op.operations += (double)row->times.n;
        op.low_ns = fmin(op.low_ns, (double)row->times.min);
        op.high_ns = fmax(op.high_ns, (double)row->times.max);
        typical = fmin(typical, row->median);
    }
    op.low_ns = fmax(1, op.low_ns);
    op.high_ns = fmax(op.low_ns * 1.05, op.high_ns);
    op.unit = analysis_time_unit(typical);
    return op;
}

static pl_status dist_fill(struct distribution *dist, const struct dist_op *op, const struct analysis_row *row,
                           struct pl_error *error)
{
    struct analysis_series again;
    analysis_series_begin(&again, row->times.region, &dist->histogram);
    return blockfile_stream(op->chosen->file, row->series, analysis_series_take, &again, error);
}

/* Of several sets only bins of equal width can be compared; of one, more samples fill more bins: twice Rice's rule,
 * since the axis also has to hold a few outliers. */
static void dist_draw(struct distribution *dist, const struct dist_op *op, const struct analysis_row *row, bool several)
{
    enum { BINS_MIN = 16, BINS_OF_SET = 90, BINS_OF_DECADE = 24 };
    double low = op->low_ns, high = op->high_ns, parts[DIST_CURVE_BINS];
    const size_t rice = (size_t)(4 * cbrt((double)row->times.n));
    size_t bins = rice < BINS_MIN ? BINS_MIN : rice > BINS_OF_SET ? BINS_OF_SET : rice;
    char sizes[ANALYSIS_NAME_MAX];
    if (several) {
        const double first = floor(log10(low) * BINS_OF_DECADE);
        bins = (size_t)fmin(floor(log10(high) * BINS_OF_DECADE) + 1 - first, DIST_CURVE_BINS);
        low = pow(10, first / BINS_OF_DECADE);
        high = pow(10, (first + (double)bins) / BINS_OF_DECADE);
    }
    analysis_histogram_log_bins(&dist->histogram, low, high, bins, parts);
    analysis_sizes_text(op->chosen->set, sizes);
    if (several)
        result_begin_series(dist->result, RESULT_STEPS, "%s, rank %d (block %" PRId64 ", set %" PRId64 ")", sizes,
                            row->series->rank, op->chosen->block_number, op->chosen->set->number);
    else
        result_begin_series(dist->result, RESULT_STEPS, "rank %d", row->series->rank);
    for (size_t i = 0; i <= bins; i++)
        result_point(dist->result, low * pow(high / low, (double)i / (double)bins),
                     i < bins ? parts[i] / (double)row->times.n : 0, NAN, NAN);
}

/* A panel for each test and operation; its curves are of all sets of the test, so it is drawn when all are known. */
static pl_status dist_draw_panel(struct distribution *dist, const struct analysis_input *input, size_t kind,
                                 const char *key, struct pl_error *error)
{
    static const struct result_axis x = {.label = "time of an operation", .form = RESULT_NS, .log = true},
                                    y = {.label = "operations", .form = RESULT_PERCENT, .from_zero = true};
    struct analysis_chosen chosen = {0};
    bool open = false;
    pl_status status = PL_OK;
    while (status == PL_OK && analysis_next(dist->request, input, &chosen)) {
        const struct analysis_candidate *candidate = analysis_choice_of(&dist->choice, chosen.set);
        struct analysis_rows rows;
        if (!candidate || candidate->kind != kind || candidate->last_rank < 0)
            continue;
        status = analysis_rows_build(dist->request, &chosen, &rows, error);
        for (size_t i = 0; i < rows.op_count && status == PL_OK; i++) {
            const struct dist_op op = dist_op_of(dist, &chosen, &rows, &rows.ops[i]);
            char test[ANALYSIS_NAME_MAX], processes[ANALYSIS_NAME_MAX], name[ANALYSIS_NAME_MAX];
            for (size_t r = op.first; r < op.end && status == PL_OK; r++) {
                const struct analysis_row *row = &rows.rows[r];
                if (strcmp(row->series->key, key) != 0 || row->series->rank > candidate->last_rank ||
                    !analysis_row_wanted(dist->request, row))
                    continue;
                if (!open)
                    result_begin_panel(dist->result, &x, &y, 2, "%s, %s: %s", analysis_test_text(&chosen, test),
                                       analysis_processes_text(blockfile_fact_of(chosen.block, "nprocs"),
                                                               analysis_one_process(chosen.set), processes),
                                       analysis_op_text(key, name));
                open = true;
                status = dist_fill(dist, &op, row, error);
                if (status == PL_OK)
                    dist_draw(dist, &op, row, dist->several_sets[kind]);
            }
        }
        analysis_rows_clear(&rows);
    }
    return status;
}

static pl_status dist_choose(struct distribution *dist, const struct analysis_input *input, struct pl_error *error)
{
    struct analysis_choice *choice = &dist->choice;
    size_t drawn[DIST_TESTS] = {0};
    const pl_status status = analysis_choice_build(dist->request, input, choice, error);
    if (status != PL_OK)
        return status;
    for (size_t kind = 0; kind < choice->kinds && kind < DIST_TESTS; kind++)
        dist->left_out += analysis_choice_spread(dist->request, choice, kind, DIST_CURVES);
    for (size_t i = 0; i < choice->count; i++) {
        const struct analysis_candidate *candidate = &choice->sets[i];
        if (candidate->kind >= DIST_TESTS)
            dist->left_out += candidate->ranks;
        else if (candidate->last_rank >= 0)
            dist->several_sets[candidate->kind] = ++drawn[candidate->kind] > 1;
    }
    return PL_OK;
}

/* Operations of a kind of sets, each once. */
static pl_status dist_draw_all(struct distribution *dist, const struct analysis_input *input, struct pl_error *error)
{
    pl_status status = PL_OK;
    for (size_t kind = 0; kind < dist->choice.kinds && kind < DIST_TESTS && status == PL_OK; kind++) {
        const char *keys[16];
        size_t count = 0;
        for (size_t i = 0; i < dist->choice.count; i++) {
            const struct blockfile_set *set = dist->choice.sets[i].chosen.set;
            for (size_t s = 0; dist->choice.sets[i].kind == kind && s < set->series_count; s++) {
                size_t known = 0;
                while (known < count && strcmp(keys[known], set->series[s].key) != 0)
                    known++;
                if (known == count && count < sizeof keys / sizeof keys[0] && analysis_is_times(&set->series[s]))
                    keys[count++] = set->series[s].key;
            }
        }
        for (size_t k = 0; k < count && status == PL_OK; k++)
            status = dist_draw_panel(dist, input, kind, keys[k], error);
    }
    return status;
}

static void dist_put_text(struct distribution *dist, const struct dist_op *op, bool first,
                          const struct analysis_row *row)
{
    struct result *result = dist->result;
    if (first) {
        struct result_column columns[QUANTILE_COUNT + 6] = {
            {.key = "rank", .form = RESULT_INT}, {.key = "op", .form = RESULT_TEXT}, {.key = "n", .form = RESULT_INT}};
        size_t count = 3;
        columns[count++] = (struct result_column){
            .key = "min", .form = RESULT_NUMBER, .decimals = -3, .scale = op->unit.ns};
        for (size_t i = 0; i < QUANTILE_COUNT; i++)
            if (QUANTILES[i].label)
                columns[count++] = (struct result_column){
                    .key = QUANTILES[i].label, .form = RESULT_NUMBER, .decimals = -3, .scale = op->unit.ns};
        columns[count++] = (struct result_column){
            .key = "max", .form = RESULT_NUMBER, .decimals = -4, .scale = op->unit.ns};
        columns[count] = (struct result_column){0};
        result_begin_table(result, "processes", NULL, columns);
        result_only_in(result, RESULT_IN_TEXT | RESULT_IN_PAGE);
    }
    result_row(result);
    result_put_int(result, row->series->rank);
    result_put_text(result, row->series->key);
    result_put_int(result, row->times.n);
    result_put_number(result, (double)row->times.min);
    for (size_t i = 0; i < QUANTILE_COUNT; i++)
        if (QUANTILES[i].label)
            result_put_number(result, analysis_histogram_quantile_in(&dist->histogram, QUANTILES[i].q, row->times.min,
                                                                     row->times.max));
    result_put_number(result, (double)row->times.max);
}

/* A process for machines; its quantiles are the rows of the CSV. */
static void dist_put_row(struct distribution *dist, const struct dist_op *op, const struct analysis_row *row)
{
    static const struct result_column count[] = {{.key = "", .form = RESULT_NUMBER}, {0}};
    struct result *result = dist->result;
    double counts[DIST_BINS];
    result_begin_group(result, "rows", NULL);
    result_fact_int(result, "rank", NULL, row->series->rank);
    result_fact_text(result, "op", NULL, row->series->key);
    result_fact_int(result, "from", NULL, row->times.region.from + row->times.region.skip);
    result_fact_int(result, "to", NULL, row->times.region.to);
    result_fact_int(result, "n", NULL, row->times.n);
    result_fact_int(result, "min_ns", NULL, row->times.min);
    for (size_t i = 0; i < QUANTILE_COUNT; i++)
        result_fact(result, QUANTILES[i].key, NULL, RESULT_NS,
                    analysis_histogram_quantile_in(&dist->histogram, QUANTILES[i].q, row->times.min, row->times.max));
    result_fact_int(result, "max_ns", NULL, row->times.max);
    analysis_histogram_log_bins(&dist->histogram, op->low_ns, op->high_ns, DIST_BINS, counts);
    result_fact(result, "bins_low_ns", NULL, RESULT_NS, op->low_ns);
    result_fact(result, "bins_high_ns", NULL, RESULT_NS, op->high_ns);
    result_begin_table(result, "bin_counts", NULL, count);
    result_only_in(result, RESULT_IN_JSON);
    for (size_t i = 0; i < DIST_BINS; i++) {
        result_row(result);
        result_put_number(result, counts[i]);
    }
    static const struct result_column kind[] = {{.key = "kind", .form = RESULT_TEXT}, {0}};
    result_begin_table(result, "process", NULL, kind); /* for CSV: the facts above are its columns */
    result_only_in(result, RESULT_IN_CSV);
    result_row(result);
    result_put_text(result, "process");
    result_end_group(result);
}

static void dist_put_bars(struct result *result, const struct dist_op *op)
{
    static const struct result_column columns[] = {{.key = "from", .form = RESULT_TEXT},
                                                   {.key = "part", .label = "%", .form = RESULT_NUMBER, .decimals = 1},
                                                   {.key = "bar", .label = "", .form = RESULT_TEXT},
                                                   {0}};
    const double ratio = pow(op->high_ns / op->low_ns, 1.0 / DIST_TEXT_BINS);
    double most = 1;
    for (size_t i = 0; i < DIST_TEXT_BINS; i++)
        most = fmax(most, op->bins[i]);
    result_begin_table(result, "bars", "all processes together:", columns);
    result_only_in(result, RESULT_IN_TEXT);
    for (size_t i = 0; i < DIST_TEXT_BINS; i++) {
        char low[UNITS_TEXT_MAX], bar[DIST_BAR + 1];
        const int length = (int)ceil(op->bins[i] / most * DIST_BAR);
        assert(length >= 0 && length <= DIST_BAR);
        memset(bar, '#', sizeof bar);
        bar[length] = '\0';
        result_row(result);
        result_put_text(result, units_ns(op->low_ns * pow(ratio, (double)i), low));
        result_put_number(result, 100 * op->bins[i] / op->operations);
        result_put_text(result, bar);
    }
}

static pl_status dist_put_op(struct distribution *dist, struct dist_op *op, struct pl_error *error)
{
    pl_status status = PL_OK;
    char unit[32];
    bool first = true;
    snprintf(unit, sizeof unit, "; times in %s", op->unit.name);
    for (int machines = 0; machines < 2; machines++) /* the text table is one piece */
        for (size_t i = op->first; i < op->end && status == PL_OK; i++) {
            const struct analysis_row *row = &op->rows->rows[i];
            double bins[DIST_TEXT_BINS];
            if (!analysis_row_wanted(dist->request, row))
                continue;
            if (first)
                analysis_put_region(dist->result, dist->request, row, unit);
            status = dist_fill(dist, op, row, error);
            if (status != PL_OK)
                break;
            if (machines) {
                dist_put_row(dist, op, row);
                continue;
            }
            dist_put_text(dist, op, first, row);
            first = false;
            analysis_histogram_log_bins(&dist->histogram, op->low_ns, op->high_ns, DIST_TEXT_BINS, bins);
            for (size_t b = 0; b < DIST_TEXT_BINS; b++)
                op->bins[b] += bins[b];
            dist->seen++;
        }
    if (status == PL_OK)
        dist_put_bars(dist->result, op);
    return status;
}

static pl_status dist_put_set(struct distribution *dist, const struct analysis_chosen *chosen, struct pl_error *error)
{
    struct analysis_rows rows;
    char title[256];
    pl_status status = analysis_rows_build(dist->request, chosen, &rows, error);
    if (status != PL_OK)
        return status;
    dist->failed += chosen->set->error_count > 0;
    if (analysis_count_wanted(dist->request, &rows) || chosen->set->error_count) {
        result_begin_group(dist->result, "sets", "%s", analysis_set_title(chosen, title));
        analysis_put_set(dist->result, chosen);
        for (size_t i = 0; i < rows.op_count && status == PL_OK; i++) {
            struct dist_op op = dist_op_of(dist, chosen, &rows, &rows.ops[i]);
            if (op.operations > 0)
                status = dist_put_op(dist, &op, error);
        }
        result_end_group(dist->result);
    }
    analysis_rows_clear(&rows);
    return status;
}

pl_status analysis_distribution_build(const struct analysis_request *request, const struct analysis_input *input,
                                      struct result *result, struct pl_error *error)
{
    struct distribution dist = {.request = request, .result = result};
    struct analysis_chosen chosen = {0};
    if (!analysis_histogram_init(&dist.histogram))
        return pl_fail(error, PL_E_NOMEM, "not enough memory");
    result_figure(result, "Distribution of times", "part of the operations in each bin of time; bins of equal ratio");
    result_fact_text(result, "tool", NULL, "distribution");
    result_csv_table(result, "process");
    pl_status status = PL_OK;
    while (status == PL_OK && analysis_next(request, input, &chosen))
        status = dist_put_set(&dist, &chosen, error);
    if (status == PL_OK && dist.seen == 0)
        status = analysis_nothing(dist.failed, error);
    if (status == PL_OK && request->plot) {
        status = dist_choose(&dist, input, error);
        if (status == PL_OK)
            status = dist_draw_all(&dist, input, error);
    }
    if (dist.left_out)
        result_line(result,
                    "The plot has no room for %zu more curves; choose with --test, --block, --set, --rank, --op.",
                    dist.left_out);
    analysis_choice_clear(&dist.choice);
    analysis_histogram_clear(&dist.histogram);
    return status;
}
