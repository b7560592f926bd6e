/* rawdata (IOT-30): time against loop counter; the averages of the selected region. The plot is in
 * analysis_rawdata_plot.c. */
#include "measure/analysis_format.h"
#include "measure/analysis_rawdata_plot.h"
#include "measure/analysis_tools.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rawdata {
    const struct analysis_request *request;
    struct json json;
    size_t rows_seen;
    size_t failed_sets;
    struct analysis_rawdata_plot plot;
};

static double typical_time(const struct rawdata *rawdata, const struct analysis_rows *rows)
{
    double typical = INFINITY;
    for (size_t i = 0; i < rows->count; i++)
        if (analysis_row_wanted(rawdata->request, &rows->rows[i]) && rows->rows[i].median > 0)
            typical = fmin(typical, rows->rows[i].median);
    return isfinite(typical) ? typical : 1;
}

static struct analysis_estimate row_rate(const struct analysis_row *row, bool asymptotic)
{
    if (!row->has_bytes)
        return (struct analysis_estimate){NAN, NAN};
    return analysis_rate(row->batch_bytes, row->times.batches.sum, row->times.batches.count, asymptotic);
}

/* "2.05G": narrow, for the table. */
static const char *short_bytes(double bytes, char cell[ANALYSIS_CELL_MAX])
{
    static const char suffixes[] = " kMGTPE";
    size_t i = 0;
    for (; bytes >= 999.5 && i + 2 < sizeof suffixes; i++)
        bytes /= 1000;
    snprintf(cell, ANALYSIS_CELL_MAX, i ? "%.3g%c" : "%.0f", bytes, suffixes[i]);
    return cell;
}

struct numbers {
    int64_t n;
    double bytes; /* NaN: none */
    struct analysis_estimate mean;
    double median, p5, p95, p99, min, max, rate;
};

static void print_numbers(const char *rank, const char *op, const struct numbers *numbers,
                          struct analysis_time_unit unit, FILE *text)
{
    char cells[11][ANALYSIS_CELL_MAX];
    fprintf(text, "%4s %-3s %8s %6s %6s %5s %5s %5s %5s %5s %5s %5s %6s\n", rank, op,
            analysis_count_cell(numbers->n, cells[10]),
            isnan(numbers->bytes) ? "-" : short_bytes(numbers->bytes, cells[0]),
            analysis_cell(numbers->mean.value / unit.ns, 4, cells[1]),
            analysis_cell(numbers->mean.error / unit.ns, 3, cells[2]),
            analysis_cell(numbers->median / unit.ns, 3, cells[3]), analysis_cell(numbers->p5 / unit.ns, 3, cells[4]),
            analysis_cell(numbers->p95 / unit.ns, 3, cells[5]), analysis_cell(numbers->p99 / unit.ns, 3, cells[6]),
            analysis_cell(numbers->min / unit.ns, 3, cells[7]), analysis_cell(numbers->max / unit.ns, 3, cells[8]),
            analysis_cell(numbers->rate, 4, cells[9]));
}

static void print_row(const struct analysis_row *row, struct analysis_time_unit unit, FILE *text)
{
    char rank[16];
    const struct numbers numbers = {.n = row->times.n,
                                    .bytes = row->has_bytes ? row->bytes : NAN,
                                    .mean = analysis_series_mean(&row->times),
                                    .median = row->median,
                                    .p5 = row->p5,
                                    .p95 = row->p95,
                                    .p99 = row->p99,
                                    .min = (double)row->times.min,
                                    .max = (double)row->times.max,
                                    .rate = row_rate(row, false).value};
    snprintf(rank, sizeof rank, "%d", row->series->rank);
    print_numbers(rank, row->series->key, &numbers, unit, text);
}

/* All processes of an operation in one line; of a single process it would say nothing new. */
static void print_op_row(const struct analysis_rows *rows, const struct analysis_op_times *op,
                         struct analysis_time_unit unit, FILE *text)
{
    struct analysis_op_rate rate;
    if (op->processes < 2)
        return;
    const bool has_rate = analysis_op_rate(rows, op->first, op->end, &rate);
    const struct numbers numbers = {.n = op->n,
                                    .bytes = has_rate ? op->bytes : NAN,
                                    .mean = {op->sum / (double)op->n, NAN},
                                    .median = op->median,
                                    .p5 = op->p5,
                                    .p95 = op->p95,
                                    .p99 = op->p99,
                                    .min = (double)op->min,
                                    .max = (double)op->max,
                                    .rate = has_rate ? rate.rate.value : NAN};
    print_numbers("all", rows->rows[op->first].series->key, &numbers, unit, text);
}

static void print_region(const struct analysis_request *request, const struct analysis_row *row, FILE *text)
{
    const struct analysis_region *region = &row->times.region;
    fprintf(text, "  %s: counter %" PRId64 " to %" PRId64, row->series->key, region->from + region->skip, region->to);
    if (region->skip || request->skip_auto)
        fprintf(text, ", start-up of %" PRId64 " operations left out%s", region->skip,
                request->skip_auto ? " (auto)" : "");
    fputc('\n', text);
}

/* Lines for each operation: its region above the table, its rate over all ranks below. */
static void print_ops(const struct rawdata *rawdata, const struct analysis_rows *rows, bool rates, FILE *text)
{
    for (size_t i = 0; i < rows->op_count; i++) {
        const struct analysis_op_times *op = &rows->ops[i];
        struct analysis_op_rate rate;
        char all[64], asymptotic[64];
        size_t shown = op->first;
        while (shown < op->end && !analysis_row_wanted(rawdata->request, &rows->rows[shown]))
            shown++;
        if (shown == op->end)
            continue;
        if (!rates)
            print_region(rawdata->request, &rows->rows[shown], text);
        else if (analysis_op_rate(rows, op->first, op->end, &rate))
            fprintf(text, "  %s%s: rate %s, asymptotic %s MB/s\n", rows->rows[shown].series->key,
                    op->processes > 1 ? ", all processes" : "", analysis_estimate_text(rate.rate, all, sizeof all),
                    analysis_estimate_text(rate.asymptotic, asymptotic, sizeof asymptotic));
    }
}

static void print_table(struct rawdata *rawdata, const struct analysis_chosen *chosen, const struct analysis_rows *rows,
                        size_t wanted)
{
    FILE *text = rawdata->request->text;
    analysis_print_set(chosen, text);
    analysis_print_failures(chosen, text);
    if (wanted) {
        const struct analysis_time_unit unit = analysis_time_unit(typical_time(rawdata, rows));
        print_ops(rawdata, rows, false, text);
        fprintf(text, "  times in %s, rate in MB/s\n", unit.name);
        fprintf(text, "rank op         n  bytes   mean     ±   med    p5   p95   p99   min   max   rate\n");
        for (size_t i = 0; i < rows->count; i++)
            if (analysis_row_wanted(rawdata->request, &rows->rows[i]))
                print_row(&rows->rows[i], unit, text);
        for (size_t i = 0; i < rows->op_count; i++)
            if (!rawdata->request->op || strcmp(rows->rows[rows->ops[i].first].series->key, rawdata->request->op) == 0)
                print_op_row(rows, &rows->ops[i], unit, text);
        print_ops(rawdata, rows, true, text);
        analysis_print_overlap(rows, text);
    }
    fputc('\n', text);
}

static void json_row(struct rawdata *rawdata, const struct analysis_row *row)
{
    struct json *json = &rawdata->json;
    const struct analysis_estimate mean = analysis_series_mean(&row->times);
    const struct analysis_estimate rate = row_rate(row, false);
    const struct analysis_estimate asymptotic = row_rate(row, true);
    json_row_begin(json, NULL);
    json_put_int(json, "rank", row->series->rank);
    json_put_string(json, "op", row->series->key);
    json_put_int(json, "from", row->times.region.from + row->times.region.skip);
    json_put_int(json, "to", row->times.region.to);
    json_put_int(json, "n", row->times.n);
    json_put_double(json, "bytes", row->has_bytes ? row->bytes : NAN);
    json_put_double(json, "mean_ns", mean.value);
    json_put_double(json, "error_ns", mean.error);
    json_put_double(json, "stddev_ns", analysis_series_stddev(&row->times));
    json_put_int(json, "min_ns", row->times.min);
    json_put_double(json, "p5_ns", row->p5);
    json_put_double(json, "median_ns", row->median);
    json_put_double(json, "p95_ns", row->p95);
    json_put_double(json, "p99_ns", row->p99);
    json_put_int(json, "max_ns", row->times.max);
    json_put_double(json, "rate_mb_per_s", rate.value);
    json_put_double(json, "rate_error_mb_per_s", rate.error);
    json_put_double(json, "asymptotic_mb_per_s", asymptotic.value);
    json_put_double(json, "asymptotic_error_mb_per_s", asymptotic.error);
    json_object_end(json);
}

static void json_rates(struct rawdata *rawdata, const struct analysis_rows *rows)
{
    json_array_begin(&rawdata->json, "rates");
    for (size_t first = 0, end; first < rows->count; first = end) {
        end = analysis_rows_end_of_op(rows, first);
        struct analysis_op_rate rate;
        const char *op = rows->rows[first].series->key;
        const char *wanted = rawdata->request->op;
        if ((wanted && strcmp(op, wanted) != 0) || !analysis_op_rate(rows, first, end, &rate))
            continue;
        json_row_begin(&rawdata->json, NULL);
        json_put_string(&rawdata->json, "op", op);
        json_put_double(&rawdata->json, "bytes", rate.bytes);
        json_put_double(&rawdata->json, "rate_mb_per_s", rate.rate.value);
        json_put_double(&rawdata->json, "rate_error_mb_per_s", rate.rate.error);
        json_put_double(&rawdata->json, "asymptotic_mb_per_s", rate.asymptotic.value);
        json_put_double(&rawdata->json, "asymptotic_error_mb_per_s", rate.asymptotic.error);
        json_object_end(&rawdata->json);
    }
    json_array_end(&rawdata->json);
}

static void json_set(struct rawdata *rawdata, const struct analysis_chosen *chosen, const struct analysis_rows *rows)
{
    struct json *json = &rawdata->json;
    json_object_begin(json, NULL);
    analysis_json_set(json, chosen);
    json_array_begin(json, "rows");
    for (size_t i = 0; i < rows->count; i++)
        if (analysis_row_wanted(rawdata->request, &rows->rows[i]))
            json_row(rawdata, &rows->rows[i]);
    json_array_end(json);
    json_rates(rawdata, rows);
    analysis_json_overlap(json, rows);
    json_object_end(json);
}

static void csv_set(FILE *csv, const struct analysis_request *request, const struct analysis_chosen *chosen,
                    const struct analysis_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct analysis_row *row = &rows->rows[i];
        if (!analysis_row_wanted(request, row))
            continue;
        const struct analysis_estimate mean = analysis_series_mean(&row->times);
        const struct analysis_estimate rate = row_rate(row, false);
        const struct analysis_estimate asymptotic = row_rate(row, true);
        analysis_csv_field(csv, chosen->file->path);
        fprintf(csv, ",%" PRId64 ",", chosen->block_number);
        analysis_csv_field(csv, chosen->block->class_name);
        fputc(',', csv);
        analysis_csv_field(csv, chosen->block->testname);
        fprintf(csv, ",%" PRId64 ",%d,", chosen->set->number, row->series->rank);
        analysis_csv_field(csv, row->series->key);
        fprintf(csv, ",%" PRId64 ",%" PRId64 ",%" PRId64, row->times.region.from + row->times.region.skip,
                row->times.region.to, row->times.n);
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
        for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++)
            analysis_csv_number(csv, numbers[n]);
        fputc('\n', csv);
    }
}

static void begin_output(struct rawdata *rawdata)
{
    const struct analysis_request *request = rawdata->request;
    if (request->json) {
        rawdata->json.stream = request->json;
        json_object_begin(&rawdata->json, NULL);
        json_put_string(&rawdata->json, "tool", "rawdata");
        json_object_begin(&rawdata->json, "definitions");
        json_put_string(&rawdata->json, "error", ANALYSIS_ERROR_TEXT);
        json_put_string(&rawdata->json, "rate", ANALYSIS_RATE_TEXT);
        json_put_string(&rawdata->json, "asymptotic", ANALYSIS_ASYMPTOTIC_TEXT);
        json_object_end(&rawdata->json);
        json_array_begin(&rawdata->json, "sets");
    }
    if (request->csv)
        fputs("file,block,class,testname,set,rank,op,from,to,n,bytes,mean_ns,error_ns,stddev_ns,min_ns,p5_ns,median_ns,"
              "p95_ns,p99_ns,max_ns,rate_mb_per_s,rate_error_mb_per_s,asymptotic_mb_per_s,asymptotic_error_mb_per_s\n",
              request->csv);
}

static void end_output(struct rawdata *rawdata)
{
    if (rawdata->request->json) {
        json_array_end(&rawdata->json);
        json_object_end(&rawdata->json);
    }
    if (rawdata->request->text && rawdata->rows_seen)
        fprintf(rawdata->request->text, "error: %s\nrate: %s\nasymptotic rate: %s\n", ANALYSIS_ERROR_TEXT,
                ANALYSIS_RATE_TEXT, ANALYSIS_ASYMPTOTIC_TEXT);
}

static pl_status one_set(struct rawdata *rawdata, const struct analysis_chosen *chosen, struct pl_error *error)
{
    struct analysis_rows rows;
    const pl_status status = analysis_rows_build(rawdata->request, chosen, &rows, error);
    if (status)
        return status;
    size_t wanted = 0;
    for (size_t i = 0; i < rows.count; i++)
        wanted += analysis_row_wanted(rawdata->request, &rows.rows[i]);
    rawdata->rows_seen += wanted;
    rawdata->failed_sets += chosen->set->error_count > 0;
    if (wanted || chosen->set->error_count) {
        if (rawdata->request->text)
            print_table(rawdata, chosen, &rows, wanted);
        if (rawdata->request->json)
            json_set(rawdata, chosen, &rows);
        if (rawdata->request->csv)
            csv_set(rawdata->request->csv, rawdata->request, chosen, &rows);
        if (rawdata->request->plot)
            analysis_rawdata_plot_add(&rawdata->plot, rawdata->request, chosen, &rows);
    }
    analysis_rows_clear(&rows);
    return PL_OK;
}

static pl_status draw(struct rawdata *rawdata, struct pl_error *error)
{
    const pl_status status = plot_to_file(rawdata->request->plot, analysis_rawdata_plot_draw, &rawdata->plot, error);
    const size_t left_out = rawdata->plot.left_out;
    if (status == PL_OK && left_out && rawdata->request->text)
        fprintf(rawdata->request->text,
                "The plot has room for %d rows of axes: %zu are not drawn;\n"
                "choose with --test, --block, --set, --rank.\n",
                ANALYSIS_PLOT_ROWS, left_out);
    return status;
}

pl_status analysis_rawdata(const struct analysis_request *request, const struct analysis_input *input,
                           struct pl_error *error)
{
    struct rawdata *rawdata = calloc(1, sizeof *rawdata);
    if (!rawdata)
        return pl_fail(error, PL_E_NOMEM, "not enough memory");
    rawdata->request = request;
    struct analysis_chosen chosen = {0};
    pl_status status = PL_OK;
    if (request->plot)
        status = analysis_rawdata_plot_begin(&rawdata->plot, request, input, error);
    begin_output(rawdata);
    while (status == PL_OK && analysis_next(request, input, &chosen))
        status = one_set(rawdata, &chosen, error);
    end_output(rawdata);
    if (status == PL_OK && rawdata->rows_seen == 0)
        status = pl_fail(error, PL_E_INPUT,
                         rawdata->failed_sets ? "every selected set failed" : "nothing matches the selection");
    if (status == PL_OK && request->plot)
        status = draw(rawdata, error);
    analysis_rawdata_plot_clear(&rawdata->plot);
    free(rawdata);
    return status;
}
