/* Table, JSON and CSV of the points. */
#include "bench/piobench/piobench_analysis.h"

#include "base/json.h"
#include "base/units.h"
#include "bench/piobench/piobench_findings.h"
#include "measure/analysis_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 79, INDENT = 2 };

struct ratios {
    double naive, best; /* NaN: none */
};

static struct ratios ratios_of(const struct piobench_points *list, const struct piobench_point *point)
{
    const struct piobench_point *naive = piobench_points_naive(list->points, list->count, point);
    const struct piobench_point *best = piobench_points_best(list->points, list->count, point);
    return (struct ratios){naive ? point->rate_mb_per_s / naive->rate_mb_per_s : NAN,
                           best ? point->rate_mb_per_s / best->rate_mb_per_s : NAN};
}

/* ---- text ---- */

static void print_cell(const struct piobench_points *list, const struct piobench_point *point, FILE *text)
{
    char block[UNITS_TEXT_MAX], file[UNITS_TEXT_MAX], conditions[CONDITIONS_LABEL_MAX];
    fprintf(text, "\n%s %s, block %s, file %s, %d rank%s%s\n", point->op, point->distribution,
            units_binary(point->block_bytes, block), units_binary(point->file_bytes, file), point->ranks,
            point->ranks == 1 ? "" : "s", conditions_label(&list->conditions, point->conditions, conditions));
    fprintf(text, "  %-34s %6s %9s %7s %8s %7s\n", "algorithm", "trials", "MB/s", "+- %", "/naive", "/best");
}

static void print_ratio(double ratio, int width, FILE *text)
{
    if (isfinite(ratio))
        fprintf(text, fabs(ratio) < 0.1 ? " %*.2g" : " %*.2f", width, ratio);
    else
        fprintf(text, " %*s", width, "-");
}

static void print_point(const struct piobench_points *list, const struct piobench_point *point, FILE *text)
{
    char label[PIOBENCH_LABEL_MAX + PIOBENCH_MPI_MAX], rate[ANALYSIS_CELL_MAX], error[ANALYSIS_CELL_MAX];
    const struct ratios ratios = ratios_of(list, point);
    piobench_points_label(list, point, label);
    if (strlen(label) > 34) /* a line of its own: nothing is cut */
        fprintf(text, "  %s\n  %34s", label, "");
    else
        fprintf(text, "  %-34s", label);
    fprintf(text, " %6d %9s %7s", point->trials, analysis_cell(point->rate_mb_per_s, 5, rate),
            analysis_cell(100 * point->error_mb_per_s / point->rate_mb_per_s, 3, error));
    print_ratio(ratios.naive, 8, text);
    print_ratio(ratios.best, 7, text);
    fprintf(text, "%s%s\n", point->warning ? " *" : "", point->failures ? " failed" : "");
}

/* A finding, its lines broken at blanks. */
static void print_wrapped(const char *line, size_t length, FILE *text)
{
    size_t column = 0;
    for (size_t at = 0; at < length;) {
        size_t word = 0;
        while (at + word < length && line[at + word] != ' ')
            word++;
        if (column + 1 + word > WIDTH || at == 0) {
            fprintf(text, "%s%s", at ? "\n" : "", at ? "  " : "- ");
            column = INDENT;
        } else {
            fputc(' ', text);
            column++;
        }
        fprintf(text, "%.*s", (int)word, line + at);
        column += word;
        at += word + 1;
    }
    fputc('\n', text);
}

/* What the stars stand for, each once. */
static void print_warnings(const struct piobench_points *list, FILE *text)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *warning = list->points[i].warning;
        bool is_new = warning != NULL;
        for (size_t k = 0; k < i && is_new; k++)
            is_new = !list->points[k].warning || strcmp(list->points[k].warning, warning) != 0;
        if (is_new)
            fprintf(text, "\n* %s\n", warning);
    }
}

static void print_text(const struct piobench_points *list, const char *findings, FILE *text)
{
    fprintf(text, "Rate: bytes moved / mean time from the first start to the last end.\n"
                  "+-: half width of the 90 %% confidence interval of the mean, by Student's t.\n");
    conditions_print(&list->conditions, text);
    for (size_t i = 0; i < list->count; i++) {
        if (i == 0 || !piobench_points_same_cell(&list->points[i - 1], &list->points[i]))
            print_cell(list, &list->points[i], text);
        print_point(list, &list->points[i], text);
    }
    print_warnings(list, text);
    fprintf(text, "\nFindings\n");
    if (!*findings)
        fprintf(text, "- none: there is nothing to compare\n");
    for (const char *at = findings; *at; at += strcspn(at, "\n") + 1)
        print_wrapped(at, strcspn(at, "\n"), text);
}

/* ---- exports ---- */

static void write_json(const struct piobench_points *list, const char *findings, FILE *stream)
{
    struct json json = {.stream = stream};
    json_object_begin(&json, NULL);
    json_array_begin(&json, "points");
    for (size_t i = 0; i < list->count; i++) {
        const struct piobench_point *point = &list->points[i];
        const struct ratios ratios = ratios_of(list, point);
        json_row_begin(&json, NULL);
        json_put_string(&json, "op", point->op);
        json_put_string(&json, "distribution", point->distribution);
        json_put_int(&json, "file_bytes", point->file_bytes);
        json_put_int(&json, "block_bytes", point->block_bytes);
        json_put_int(&json, "ranks", point->ranks);
        json_put_string(&json, "mpi", point->mpi);
        json_put_string(&json, "algorithm", point->algorithm);
        json_put_string(&json, "family", point->family);
        json_put_string(&json, "conditions", list->conditions.texts[point->conditions]);
        json_put_int(&json, "trials", point->trials);
        json_put_int(&json, "failures", point->failures);
        json_put_string(&json, "warning", point->warning ? point->warning : "");
        json_put_double(&json, "rate_mb_per_s", point->rate_mb_per_s);
        json_put_double(&json, "error_mb_per_s", point->error_mb_per_s);
        json_put_double(&json, "ratio_to_naive", ratios.naive);
        json_put_double(&json, "ratio_to_best", ratios.best);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_array_begin(&json, "conditions");
    for (int i = 0; i < list->conditions.count; i++)
        json_put_string(&json, NULL, list->conditions.texts[i]);
    json_array_end(&json);
    json_array_begin(&json, "findings");
    for (const char *at = findings; *at; at += strcspn(at, "\n") + 1) {
        struct text line = {0};
        text_append(&line, at, strcspn(at, "\n"));
        json_put_string(&json, NULL, text_get(&line));
        text_clear(&line);
    }
    json_array_end(&json);
    json_object_end(&json);
    fputc('\n', stream);
}

static void write_csv(const struct piobench_points *list, FILE *csv)
{
    fprintf(csv, "op,distribution,file_bytes,block_bytes,ranks,mpi,algorithm,family,trials,failures,"
                 "rate_mb_per_s,error_mb_per_s,ratio_to_naive,ratio_to_best,conditions\n");
    for (size_t i = 0; i < list->count; i++) {
        const struct piobench_point *point = &list->points[i];
        const struct ratios ratios = ratios_of(list, point);
        analysis_csv_field(csv, point->op);
        fputc(',', csv);
        analysis_csv_field(csv, point->distribution);
        fprintf(csv, ",%lld,%lld,%d,", (long long)point->file_bytes, (long long)point->block_bytes, point->ranks);
        analysis_csv_field(csv, point->mpi);
        fputc(',', csv);
        analysis_csv_field(csv, point->algorithm);
        fputc(',', csv);
        analysis_csv_field(csv, point->family);
        fprintf(csv, ",%d,%d", point->trials, point->failures);
        analysis_csv_number(csv, point->rate_mb_per_s);
        analysis_csv_number(csv, point->error_mb_per_s);
        analysis_csv_number(csv, ratios.naive);
        analysis_csv_number(csv, ratios.best);
        fputc(',', csv);
        analysis_csv_field(csv, list->conditions.texts[point->conditions]);
        fputc('\n', csv);
    }
}

pl_status piobench_analysis(const struct analysis_request *request, const struct analysis_input *input,
                            struct pl_error *error)
{
    struct piobench_points list;
    struct text findings = {0};
    if (piobench_points_load(request, input, &list, error) != PL_OK)
        return error->status;
    piobench_findings_text(&list, &findings);
    pl_status status = findings.failed ? pl_fail(error, PL_E_NOMEM, "not enough memory for the findings") : PL_OK;
    if (status == PL_OK && request->text)
        print_text(&list, text_get(&findings), request->text);
    if (status == PL_OK && request->json)
        write_json(&list, text_get(&findings), request->json);
    if (status == PL_OK && request->csv)
        write_csv(&list, request->csv);
    if (status == PL_OK && request->plot)
        status = piobench_plot(&list, request->plot, error);
    text_clear(&findings);
    piobench_points_clear(&list);
    return status;
}
