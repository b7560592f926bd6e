/* Table, JSON and CSV of the points. */
#include "bench/gpfs/gpfs_analysis.h"

#include "base/json.h"
#include "base/units.h"
#include "measure/analysis_format.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 79, LABEL = 19 };

/* ---- text ---- */

void gpfs_analysis_print_cell(const char *before, const struct gpfs_cell *cell, FILE *text)
{
    char line[GPFS_CELL_TEXT_MAX];
    int column = fprintf(text, "%s", before);
    for (const char *at = gpfs_cell_text(cell, line); *at;) {
        const size_t comma = strcspn(at, ","), length = at[comma] ? comma + 1 : comma;
        if (column + 1 + (int)length > WIDTH)
            column = fprintf(text, "\n   ") - 1;
        column += fprintf(text, " %.*s", (int)length, at);
        at += length + strspn(at + length, " ");
    }
    fputc('\n', text);
}

static void print_ratio(double ratio, int width, FILE *text)
{
    if (isfinite(ratio))
        fprintf(text, fabs(ratio) < 0.1 ? " %*.2g" : " %*.2f", width, ratio);
    else
        fprintf(text, " %*s", width, "-");
}

static void print_cell(const struct gpfs_points *list, const struct gpfs_point *point, FILE *text)
{
    char reference[GPFS_LABEL_MAX], name[GPFS_LABEL_MAX + CONDITIONS_LABEL_MAX], conditions[CONDITIONS_LABEL_MAX];
    snprintf(name, sizeof name, "%.*s%s", GPFS_LABEL_MAX - 1, point->cell.benchmark->name,
             conditions_label(&list->conditions, point->conditions, conditions));
    snprintf(reference, sizeof reference, "/%s", gpfs_points_ratios(list, point).reference);
    fputc('\n', text);
    gpfs_analysis_print_cell(name, &point->cell, text);
    fprintf(text, "  %-*s %4s %8s %8s %7s %8s %7s%s\n", LABEL, "contestant", "reps", "max", "mean", "sd", reference,
            "/best", list->has_overlap && point->cell.value[GPFS_COMPUTE] ? " overlap" : "");
}

static void print_point(const struct gpfs_points *list, const struct gpfs_point *point, FILE *text)
{
    char label[GPFS_POINT_LABEL_MAX], max[ANALYSIS_CELL_MAX], mean[ANALYSIS_CELL_MAX], deviation[ANALYSIS_CELL_MAX];
    const struct gpfs_ratios ratios = gpfs_points_ratios(list, point);
    gpfs_points_label(list, point, label);
    if (strlen(label) > LABEL) /* a line of its own: nothing is cut */
        fprintf(text, "  %s\n  %*s", label, LABEL, "");
    else
        fprintf(text, "  %-*s", LABEL, label);
    fprintf(text, " %4d %8s %8s %7s", point->count, analysis_cell(point->statistics.max, 5, max),
            analysis_cell(point->statistics.mean, 5, mean), analysis_cell(point->statistics.deviation, 4, deviation));
    print_ratio(ratios.to_reference, 8, text);
    print_ratio(ratios.to_best, 7, text);
    if (list->has_overlap && point->cell.value[GPFS_COMPUTE])
        print_ratio(point->overlap, 7, text);
    fprintf(text, "%s\n", point->failures ? " failed" : "");
}

void gpfs_analysis_print(const struct gpfs_points *points, FILE *text)
{
    for (size_t i = 0; i < points->count; i++) {
        if (i == 0 || !gpfs_points_alike(&points->points[i - 1], &points->points[i], 0))
            print_cell(points, &points->points[i], text);
        print_point(points, &points->points[i], text);
    }
}

static void print_text(const struct gpfs_points *list, FILE *text)
{
    fprintf(text, "MB/s of the job: all meet, access, sync, all meet. sd: standard deviation.\n"
                  "Ratios: of the maximum (contiguous, discontiguous), else of the mean.\n");
    conditions_print(&list->conditions, text);
    if (list->has_overlap)
        fprintf(text, "overlap: (I/O alone + computing alone - both) / the shorter of the two alone.\n");
    gpfs_analysis_print(list, text);
}

/* ---- exports ---- */

static void put_key(struct json *json, enum gpfs_key key, int64_t value)
{
    char word[GPFS_LABEL_MAX];
    if (GPFS_KEY_ROWS[key].kind == GPFS_KIND_WORD)
        json_put_string(json, GPFS_KEY_ROWS[key].param, gpfs_key_text(key, value, word));
    else
        json_put_int(json, GPFS_KEY_ROWS[key].param, value);
}

static void put_point(struct json *json, const struct gpfs_points *list, const struct gpfs_point *point)
{
    const struct gpfs_ratios ratios = gpfs_points_ratios(list, point);
    json_row_begin(json, NULL);
    json_put_string(json, "benchmark", point->cell.benchmark->name);
    json_put_string(json, "mpi", point->mpi);
    json_put_string(json, "contestant", point->contestant);
    json_put_string(json, "conditions", list->conditions.texts[point->conditions]);
    for (int key = 0; key < GPFS_KEYS; key++)
        if (point->cell.benchmark->defaults[key])
            put_key(json, (enum gpfs_key)key, point->cell.value[key]);
    json_put_int(json, "moved_bytes", point->cell.moved_bytes);
    json_put_int(json, "repetitions", point->count);
    json_put_int(json, "failures", point->failures);
    json_put_double(json, "max_mb_per_s", point->statistics.max);
    json_put_double(json, "mean_mb_per_s", point->statistics.mean);
    json_put_double(json, "sd_mb_per_s", point->statistics.deviation);
    json_put_string(json, "reference", ratios.reference);
    json_put_double(json, "ratio_to_reference", ratios.to_reference);
    json_put_double(json, "ratio_to_best", ratios.to_best);
    json_put_double(json, "overlap", point->overlap);
    json_object_end(json);
}

static void write_json(const struct gpfs_points *list, FILE *stream)
{
    struct json json = {.stream = stream};
    json_object_begin(&json, NULL);
    json_array_begin(&json, "points");
    for (size_t i = 0; i < list->count; i++)
        put_point(&json, list, &list->points[i]);
    json_array_end(&json);
    json_array_begin(&json, "conditions");
    for (int i = 0; i < list->conditions.count; i++)
        json_put_string(&json, NULL, list->conditions.texts[i]);
    json_array_end(&json);
    json_object_end(&json);
    fputc('\n', stream);
}

static void write_csv_row(const struct gpfs_points *list, const struct gpfs_point *point, FILE *csv)
{
    const struct gpfs_ratios ratios = gpfs_points_ratios(list, point);
    char word[GPFS_LABEL_MAX];
    fprintf(csv, "%s,", point->cell.benchmark->name);
    analysis_csv_field(csv, point->mpi);
    fputc(',', csv);
    analysis_csv_field(csv, point->contestant);
    for (int key = 0; key < GPFS_KEYS; key++) /* empty: the benchmark has no such parameter */
        fprintf(csv, ",%s",
                point->cell.benchmark->defaults[key] ? gpfs_key_text((enum gpfs_key)key, point->cell.value[key], word)
                                                     : "");
    fprintf(csv, ",%lld,%d,%d", (long long)point->cell.moved_bytes, point->count, point->failures);
    analysis_csv_number(csv, point->statistics.max);
    analysis_csv_number(csv, point->statistics.mean);
    analysis_csv_number(csv, point->statistics.deviation);
    fputc(',', csv);
    analysis_csv_field(csv, ratios.reference);
    analysis_csv_number(csv, ratios.to_reference);
    analysis_csv_number(csv, ratios.to_best);
    analysis_csv_number(csv, point->overlap);
    fputc(',', csv);
    analysis_csv_field(csv, list->conditions.texts[point->conditions]);
    fputc('\n', csv);
}

static void write_csv(const struct gpfs_points *list, FILE *csv)
{
    fprintf(csv, "benchmark,mpi,contestant");
    for (int key = 0; key < GPFS_KEYS; key++)
        fprintf(csv, ",%s", GPFS_KEY_ROWS[key].param);
    fprintf(csv, ",moved_bytes,repetitions,failures,max_mb_per_s,mean_mb_per_s,sd_mb_per_s,reference,"
                 "ratio_to_reference,ratio_to_best,overlap,conditions\n");
    for (size_t i = 0; i < list->count; i++)
        write_csv_row(list, &list->points[i], csv);
}

pl_status gpfs_analysis(const struct analysis_request *request, const struct analysis_input *input,
                        struct pl_error *error)
{
    struct gpfs_points list;
    if (gpfs_points_load(request, input, &list, error) != PL_OK)
        return error->status;
    if (request->text)
        print_text(&list, request->text);
    if (request->json)
        write_json(&list, request->json);
    if (request->csv)
        write_csv(&list, request->csv);
    const pl_status status = request->plot ? gpfs_plot(&list, request->plot, error) : PL_OK;
    gpfs_points_clear(&list);
    return status;
}
