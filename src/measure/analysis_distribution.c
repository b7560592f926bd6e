/* distribution (IOT-31): how the times of the selected region are distributed, for each process. */
#include "measure/analysis_distribution_plot.h"
#include "measure/analysis_format.h"
#include "measure/analysis_tools.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BINS = 16, TEXT_BAR = 44 };

static const struct {
    double q;
    const char *name; /* NULL in `column`: not in the text table */
    const char *column;
} QUANTILES[] = {{0.01, "p1", "p1"},   {0.05, "p5", "p5"},       {0.10, "p10", NULL}, {0.25, "p25", "p25"},
                 {0.50, "p50", "p50"}, {0.75, "p75", "p75"},     {0.90, "p90", NULL}, {0.95, "p95", "p95"},
                 {0.99, "p99", "p99"}, {0.999, "p99_9", "p99.9"}};

enum { QUANTILE_COUNT = sizeof QUANTILES / sizeof QUANTILES[0] };

struct distribution {
    const struct analysis_request *request;
    struct json json;
    struct analysis_histogram histogram;
    size_t rows_seen;
    size_t failed_sets;
    struct analysis_distribution_plot plot;
};

/* The rows of one operation of one set, and what is common to them. */
struct group {
    const struct analysis_chosen *chosen;
    const struct analysis_rows *rows;
    size_t first, end;
    double low_ns, high_ns; /* range of all of them, for bins */
    double operations;
    double bins[TEXT_BINS];
    struct analysis_time_unit unit;
};

static struct group group_of(const struct distribution *distribution, const struct analysis_chosen *chosen,
                             const struct analysis_rows *rows, size_t first)
{
    struct group group = {.chosen = chosen, .rows = rows, .first = first, .low_ns = INFINITY};
    double typical = INFINITY;
    group.end = analysis_rows_end_of_op(rows, first);
    for (size_t i = first; i < group.end; i++) {
        const struct analysis_row *row = &rows->rows[i];
        if (!analysis_row_wanted(distribution->request, row))
            continue;
        group.operations += (double)row->times.n;
        group.low_ns = fmin(group.low_ns, (double)row->times.min);
        group.high_ns = fmax(group.high_ns, (double)row->times.max);
        typical = fmin(typical, row->median);
    }
    group.low_ns = fmax(1, group.low_ns);
    group.high_ns = fmax(group.low_ns * 1.05, group.high_ns);
    group.unit = analysis_time_unit(typical);
    return group;
}

static pl_status fill_histogram(struct distribution *distribution, const struct group *group,
                                const struct analysis_row *row, struct pl_error *error)
{
    struct analysis_series again;
    analysis_series_begin(&again, row->times.region, &distribution->histogram);
    return blockfile_stream(group->chosen->file, row->series, analysis_series_take, &again, error);
}

static double quantile(const struct distribution *distribution, const struct analysis_row *row, double q)
{
    const double value = analysis_histogram_quantile(&distribution->histogram, q);
    return fmin(fmax(value, (double)row->times.min), (double)row->times.max);
}

/* ---- one row ---- */

static void print_row(const struct distribution *distribution, const struct group *group,
                      const struct analysis_row *row)
{
    FILE *text = distribution->request->text;
    char cell[ANALYSIS_CELL_MAX];
    const double unit = group->unit.ns;
    fprintf(text, "%4d %-3s %8s", row->series->rank, row->series->key, analysis_count_cell(row->times.n, cell));
    fprintf(text, " %6s", analysis_cell((double)row->times.min / unit, 3, cell));
    for (size_t i = 0; i < QUANTILE_COUNT; i++)
        if (QUANTILES[i].column)
            fprintf(text, " %5s", analysis_cell(quantile(distribution, row, QUANTILES[i].q) / unit, 3, cell));
    fprintf(text, " %6s\n", analysis_cell((double)row->times.max / unit, 4, cell));
}

static void json_row(struct distribution *distribution, const struct group *group, const struct analysis_row *row)
{
    enum { BINS = 64 };
    struct json *json = &distribution->json;
    json_object_begin(json, NULL);
    json_put_int(json, "rank", row->series->rank);
    json_put_string(json, "op", row->series->key);
    json_put_int(json, "from", row->times.region.from + row->times.region.skip);
    json_put_int(json, "to", row->times.region.to);
    json_put_int(json, "n", row->times.n);
    json_put_int(json, "min_ns", row->times.min);
    for (size_t i = 0; i < QUANTILE_COUNT; i++) {
        char name[24];
        snprintf(name, sizeof name, "%s_ns", QUANTILES[i].name);
        json_put_double(json, name, quantile(distribution, row, QUANTILES[i].q));
    }
    json_put_int(json, "max_ns", row->times.max);
    double counts[BINS];
    analysis_histogram_log_bins(&distribution->histogram, group->low_ns, group->high_ns, BINS, counts);
    json_put_double(json, "bins_low_ns", group->low_ns);
    json_put_double(json, "bins_high_ns", group->high_ns);
    json_numbers_begin(json, "bin_counts");
    for (size_t i = 0; i < BINS; i++)
        json_put_double(json, NULL, counts[i]);
    json_array_end(json);
    json_object_end(json);
}

static void csv_row(const struct distribution *distribution, const struct group *group, const struct analysis_row *row)
{
    FILE *csv = distribution->request->csv;
    analysis_csv_field(csv, group->chosen->file->path);
    fprintf(csv, ",%" PRId64 ",", group->chosen->block_number);
    analysis_csv_field(csv, group->chosen->block->class_name);
    fputc(',', csv);
    analysis_csv_field(csv, group->chosen->block->testname);
    fprintf(csv, ",%" PRId64 ",%d,", group->chosen->set->number, row->series->rank);
    analysis_csv_field(csv, row->series->key);
    fprintf(csv, ",%" PRId64 ",%" PRId64, row->times.n, row->times.min);
    for (size_t i = 0; i < QUANTILE_COUNT; i++)
        analysis_csv_number(csv, quantile(distribution, row, QUANTILES[i].q));
    fprintf(csv, ",%" PRId64 "\n", row->times.max);
}

static pl_status one_row(struct distribution *distribution, struct group *group, const struct analysis_row *row,
                         struct pl_error *error)
{
    const pl_status status = fill_histogram(distribution, group, row, error);
    if (status)
        return status;
    double bins[TEXT_BINS];
    analysis_histogram_log_bins(&distribution->histogram, group->low_ns, group->high_ns, TEXT_BINS, bins);
    for (size_t i = 0; i < TEXT_BINS; i++)
        group->bins[i] += bins[i];
    if (distribution->request->text)
        print_row(distribution, group, row);
    if (distribution->request->json)
        json_row(distribution, group, row);
    if (distribution->request->csv)
        csv_row(distribution, group, row);
    if (distribution->request->plot)
        analysis_distribution_plot_add(&distribution->plot, group->chosen, row, &distribution->histogram, group->low_ns,
                                       group->high_ns);
    distribution->rows_seen++;
    return PL_OK;
}

/* ---- one operation ---- */

static void print_header(const struct group *group, FILE *text)
{
    const struct analysis_region *region = &group->rows->rows[group->first].times.region;
    fprintf(text, "  %s: counter %" PRId64 " to %" PRId64, group->rows->rows[group->first].series->key,
            region->from + region->skip, region->to);
    if (region->skip)
        fprintf(text, ", start-up of %" PRId64 " operations left out", region->skip);
    fprintf(text, "; times in %s\nrank op         n    min", group->unit.name);
    for (size_t i = 0; i < QUANTILE_COUNT; i++)
        if (QUANTILES[i].column)
            fprintf(text, " %5s", QUANTILES[i].column);
    fprintf(text, "    max\n");
}

static void print_bars(const struct group *group, FILE *text)
{
    const double ratio = pow(group->high_ns / group->low_ns, 1.0 / TEXT_BINS);
    double most = 1;
    for (size_t i = 0; i < TEXT_BINS; i++)
        most = fmax(most, group->bins[i]);
    for (size_t i = 0; i < TEXT_BINS; i++) {
        char low[UNITS_TEXT_MAX], bar[TEXT_BAR + 1];
        const int length = (int)ceil(group->bins[i] / most * TEXT_BAR);
        memset(bar, '#', sizeof bar);
        bar[length] = '\0';
        fprintf(text, "  from %8s %5.1f %% %s\n", units_ns(group->low_ns * pow(ratio, (double)i), low),
                100 * group->bins[i] / group->operations, bar);
    }
}

static pl_status one_op(struct distribution *distribution, struct group *group, struct pl_error *error)
{
    FILE *text = distribution->request->text;
    if (text)
        print_header(group, text);
    pl_status status = PL_OK;
    for (size_t i = group->first; i < group->end && status == PL_OK; i++)
        if (analysis_row_wanted(distribution->request, &group->rows->rows[i]))
            status = one_row(distribution, group, &group->rows->rows[i], error);
    if (text && status == PL_OK) {
        fprintf(text, "  all processes together:\n");
        print_bars(group, text);
    }
    return status;
}

/* ---- one set ---- */

static pl_status set_rows(struct distribution *distribution, const struct analysis_chosen *chosen,
                          const struct analysis_rows *rows, struct pl_error *error)
{
    pl_status status = PL_OK;
    for (size_t first = 0; first < rows->count && status == PL_OK;) {
        struct group group = group_of(distribution, chosen, rows, first);
        if (group.operations > 0)
            status = one_op(distribution, &group, error);
        first = group.end;
    }
    return status;
}

static pl_status one_set(struct distribution *distribution, const struct analysis_chosen *chosen,
                         struct pl_error *error)
{
    struct analysis_rows rows;
    pl_status status = analysis_rows_build(distribution->request, chosen, &rows, error);
    if (status)
        return status;
    size_t wanted = 0;
    for (size_t i = 0; i < rows.count; i++)
        wanted += analysis_row_wanted(distribution->request, &rows.rows[i]);
    distribution->failed_sets += chosen->set->error_count > 0;
    if (wanted || chosen->set->error_count) {
        FILE *text = distribution->request->text;
        if (text) {
            analysis_print_set(chosen, text);
            analysis_print_failures(chosen, text);
        }
        if (distribution->request->json) {
            json_object_begin(&distribution->json, NULL);
            analysis_json_set(&distribution->json, chosen);
            json_array_begin(&distribution->json, "rows");
        }
        status = set_rows(distribution, chosen, &rows, error);
        if (distribution->request->json) {
            json_array_end(&distribution->json);
            json_object_end(&distribution->json);
        }
        if (text)
            fputc('\n', text);
    }
    analysis_rows_clear(&rows);
    return status;
}

static void begin_output(struct distribution *distribution)
{
    const struct analysis_request *request = distribution->request;
    if (request->json) {
        distribution->json.stream = request->json;
        json_object_begin(&distribution->json, NULL);
        json_put_string(&distribution->json, "tool", "distribution");
        json_array_begin(&distribution->json, "sets");
    }
    if (request->csv) {
        fputs("file,block,class,testname,set,rank,op,n,min_ns", request->csv);
        for (size_t i = 0; i < QUANTILE_COUNT; i++)
            fprintf(request->csv, ",%s_ns", QUANTILES[i].name);
        fputs(",max_ns\n", request->csv);
    }
}

static pl_status draw(struct distribution *distribution, struct pl_error *error)
{
    const pl_status status = plot_to_file(distribution->request->plot, analysis_distribution_plot_draw,
                                          &distribution->plot, error);
    if (status == PL_OK && distribution->plot.left_out && distribution->request->text)
        fprintf(distribution->request->text,
                "The plot has no room for %zu more curves;\nchoose with --test, --block, --set, --rank, --op.\n",
                distribution->plot.left_out);
    return status;
}

pl_status analysis_distribution(const struct analysis_request *request, const struct analysis_input *input,
                                struct pl_error *error)
{
    struct distribution *distribution = calloc(1, sizeof *distribution);
    if (!distribution || !analysis_histogram_init(&distribution->histogram)) {
        free(distribution);
        return pl_fail(error, PL_E_NOMEM, "not enough memory");
    }
    distribution->request = request;
    struct analysis_chosen chosen = {0};
    pl_status status = PL_OK;
    if (request->plot)
        status = analysis_distribution_plot_begin(&distribution->plot, request, input, error);
    begin_output(distribution);
    while (status == PL_OK && analysis_next(request, input, &chosen))
        status = one_set(distribution, &chosen, error);
    if (request->json) {
        json_array_end(&distribution->json);
        json_object_end(&distribution->json);
    }
    if (status == PL_OK && distribution->rows_seen == 0)
        status = pl_fail(error, PL_E_INPUT,
                         distribution->failed_sets ? "every selected set failed" : "nothing matches the selection");
    if (status == PL_OK && request->plot)
        status = draw(distribution, error);
    analysis_distribution_plot_clear(&distribution->plot);
    analysis_histogram_clear(&distribution->histogram);
    free(distribution);
    return status;
}
