/* From sets of single trials to points, and from points to one document: tables, charts, findings, quantities. */
#include "bench/contest/contest.h"

#include "base/memory.h"
#include "base/statistics.h"
#include "base/units.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

int64_t contest_param_number(const struct blockfile_set *set, const char *key)
{
    const char *text = blockfile_param_of(set, key);
    int64_t value = 0;
    return text && units_parse_int(text, 0, INT64_MAX, &value) ? value : 0;
}

const char *contest_param_text(const struct blockfile_set *set, const char *key)
{
    const char *text = blockfile_param_of(set, key);
    return text ? text : "";
}

bool contest_same_contestant(const struct contest_point *a, const struct contest_point *b)
{
    return strcmp(a->contestant, b->contestant) == 0 && strcmp(a->mpi, b->mpi) == 0;
}

/* Behind the other points of its cell, or at the end. */
static struct contest_point *contest_insert(const struct contest_kind *kind, struct contest_points *list,
                                            const struct contest_point *point)
{
    list->points = memory_grow(list->points, list->count, sizeof *list->points);
    size_t at = list->count;
    while (at > 0 && !kind->same_cell(&list->points[at - 1], point))
        at--;
    at = at ? at : list->count;
    memmove(&list->points[at + 1], &list->points[at], (list->count - at) * sizeof *list->points);
    list->points[at] = *point;
    list->count++;
    return &list->points[at];
}

static void contest_add_set(const struct contest_kind *kind, struct contest_points *list,
                            const struct analysis_chosen *chosen)
{
    const struct blockfile_set *set = chosen->set;
    const char *mpi = blockfile_fact_of(chosen->block, "mpi");
    struct contest_point new = {.block = chosen->block,
                                .op = contest_param_text(set, "op"),
                                .mpi = mpi ? mpi : "",
                                .contestant = contest_param_text(set, kind->contestant_param),
                                .ranks = (int)contest_param_number(set, "ranks"),
                                .moved_bytes = (double)contest_param_number(set, "moved_bytes"),
                                .overlap = NAN};
    if (!kind->point_of(chosen, &new)) /* of a later version: passed over */
        return;
    new.conditions = conditions_number(&list->conditions, chosen->block, kind->conditions);
    struct contest_point *point = NULL;
    for (size_t i = 0; i < list->count && !point; i++)
        if (kind->same_cell(&list->points[i], &new) && contest_same_contestant(&list->points[i], &new))
            point = &list->points[i];
    if (!point)
        point = contest_insert(kind, list, &new);
    if (set->warning_count)
        point->warning = set->warnings[0];
    const double total = analysis_slowest_ns(set, "total_time");
    if (set->error_count || isnan(total)) {
        point->failures++;
        return;
    }
    point->total_ns = memory_grow(point->total_ns, (size_t)point->trials, sizeof *point->total_ns);
    point->total_ns[point->trials++] = total;
    point->task_ns += analysis_slowest_ns(set, "task_time");
}

void contest_point_finish(struct contest_point *point)
{
    const size_t count = (size_t)point->trials;
    const struct statistics_mean time = statistics_mean_of(point->total_ns, count, sizeof *point->total_ns);
    double *rates = memory_new(count + 1, sizeof *rates);
    point->max_mb_per_s = NAN;
    for (size_t i = 0; i < count; i++) {
        rates[i] = units_rate_mb_per_s(point->moved_bytes, point->total_ns[i]);
        point->max_mb_per_s = fmax(point->max_mb_per_s, rates[i]);
    }
    const struct statistics_mean rate = statistics_mean_of(rates, count, sizeof *rates);
    free(rates);
    point->mean_ns = time.mean;
    point->task_ns = count ? point->task_ns / (double)count : NAN;
    point->mean_mb_per_s = rate.mean;
    point->sd_mb_per_s = rate.deviation;
    point->mean_error_mb_per_s = rate.error;
    point->rate_mb_per_s = count ? units_rate_mb_per_s(point->moved_bytes, time.mean) : NAN;
    point->error_mb_per_s = point->rate_mb_per_s * time.error / time.mean;
}

pl_status contest_points_load(const struct contest_kind *kind, const struct analysis_request *request,
                              const struct analysis_input *input, struct contest_points *ret_points,
                              struct pl_error *error)
{
    struct analysis_request selection = *request;
    struct analysis_chosen chosen = {0};
    struct contest_points list = {0};
    selection.op = NULL; /* here an operation is a parameter */
    while (analysis_next(&selection, input, &chosen))
        if (strcmp(chosen.block->class_name, kind->class_name) == 0 &&
            (!request->op || strcmp(contest_param_text(chosen.set, "op"), request->op) == 0))
            contest_add_set(kind, &list, &chosen);
    if (list.count == 0)
        return pl_fail(error, PL_E_INPUT, "no results of %s are selected", kind->name);
    for (size_t i = 0; i < list.count; i++) {
        contest_point_finish(&list.points[i]);
        list.has_many_mpis |= strcmp(list.points[i].mpi, list.points[0].mpi) != 0;
    }
    if (kind->points_finish)
        kind->points_finish(&list);
    *ret_points = list;
    return PL_OK;
}

void contest_points_clear(struct contest_points *points)
{
    for (size_t i = 0; i < points->count; i++)
        free(points->points[i].total_ns);
    free(points->points);
    conditions_clear(&points->conditions);
    *points = (struct contest_points){0};
}

/* ---- comparing ---- */

const struct contest_point *contest_best(const struct contest_kind *kind, const struct contest_points *points,
                                         const struct contest_point *of)
{
    const struct contest_point *best = NULL;
    for (size_t i = 0; i < points->count; i++) {
        const struct contest_point *point = &points->points[i];
        if (kind->same_cell(point, of) && isfinite(point->rate_mb_per_s) &&
            (!best || point->rate_mb_per_s > best->rate_mb_per_s))
            best = point;
    }
    return best;
}

const char *contest_point_label(const struct contest_points *points, const struct contest_point *point,
                                char label[CONTEST_LABEL_MAX + 32])
{
    snprintf(label, CONTEST_LABEL_MAX + 32, "%.30s%s%.96s", points->has_many_mpis ? point->mpi : "",
             points->has_many_mpis ? " " : "", point->contestant);
    return label;
}

struct analysis_estimate contest_ratio(const struct contest_point *a, const struct contest_point *b)
{
    if (!b)
        return (struct analysis_estimate){NAN, NAN};
    const double ratio = a->rate_mb_per_s / b->rate_mb_per_s;
    const double parts = hypot(a->error_mb_per_s / a->rate_mb_per_s, b->error_mb_per_s / b->rate_mb_per_s);
    return (struct analysis_estimate){ratio, a == b ? NAN : ratio * parts};
}

/* ---- tables ---- */

static void contest_put_lines(struct result *result, const char *key, const struct text *lines)
{
    static const struct result_column column[] = {{.key = "", .form = RESULT_TEXT}, {0}};
    result_begin_table(result, key, NULL, column);
    result_only_in(result, RESULT_IN_JSON);
    for (const char *at = text_get(lines); *at; at += strcspn(at, "\n") + 1) {
        char *line = memory_text("%.*s", (int)strcspn(at, "\n"), at);
        result_row(result);
        result_put_text(result, line);
        free(line);
    }
}

static void contest_put_conditions(const struct contest_points *list, struct result *result)
{
    struct text lines = {0};
    for (int i = 0; i < list->conditions.count; i++) {
        text_format(&lines, "%s\n", list->conditions.texts[i]);
        if (list->conditions.count > 1)
            result_line(result, "[%d] %s", i + 1, list->conditions.texts[i]);
    }
    contest_put_lines(result, "conditions", &lines);
    text_clear(&lines);
}

static void contest_put_findings(const struct contest_kind *kind, const struct contest_points *list,
                                 struct result *result)
{
    struct text lines = {0};
    if (!kind->findings)
        return;
    kind->findings(list, &lines);
    result_line(result, "Findings");
    for (const char *at = text_get(&lines); *at; at += strcspn(at, "\n") + 1)
        result_line(result, "- %.*s", (int)strcspn(at, "\n"), at);
    if (!lines.length)
        result_line(result, "- none: there is nothing to compare");
    contest_put_lines(result, "findings", &lines);
    text_clear(&lines);
}

/* A table for each cell, for people. */
static void contest_put_cells(const struct contest_kind *kind, const struct contest_points *list, struct result *result)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct contest_point *point = &list->points[i];
        char label[CONTEST_LABEL_MAX + 32];
        if (i == 0 || !kind->same_cell(&list->points[i - 1], point)) {
            char conditions[CONDITIONS_LABEL_MAX];
            struct text heading = {0};
            kind->heading(point, &heading);
            text_add(&heading, conditions_label(&list->conditions, point->conditions, conditions));
            result_begin_table(result, "cells", text_get(&heading), kind->text_columns);
            result_only_in(result, RESULT_IN_TEXT | RESULT_IN_PAGE);
            text_clear(&heading);
        }
        result_row(result);
        result_put_text(result, contest_point_label(list, point, label));
        result_put_int(result, point->trials);
        kind->put_text(result, list, point);
        result_put_estimate(result, contest_ratio(point, kind->reference(list, point)));
        result_put_number(result, contest_ratio(point, contest_best(kind, list, point)).value);
        if (isfinite(point->overlap))
            snprintf(label, sizeof label, "overlap %.2f", point->overlap);
        result_put_text(result, point->failures            ? "failed"
                                : point->warning           ? "*"
                                : isfinite(point->overlap) ? label
                                                           : "");
    }
}

/* What the stars stand for, each once. */
static void contest_put_warnings(const struct contest_points *list, struct result *result)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *warning = list->points[i].warning;
        bool is_new = warning != NULL;
        for (size_t k = 0; k < i && is_new; k++)
            is_new = !list->points[k].warning || strcmp(list->points[k].warning, warning) != 0;
        if (is_new)
            result_note(result, RESULT_WARNING, "* %s", warning);
    }
}

/* All points, for machines. */
static void contest_put_points(const struct contest_kind *kind, const struct contest_points *list,
                               struct result *result)
{
    result_begin_table(result, "points", NULL, kind->columns);
    result_only_in(result, RESULT_IN_JSON | RESULT_IN_CSV);
    result_csv_table(result, "points");
    for (size_t i = 0; i < list->count; i++) {
        struct text settings = {0};
        const struct contest_point *point = &list->points[i];
        result_row(result);
        kind->put(result, list, point);
        const struct analysis_estimate reference = contest_ratio(point, kind->reference(list, point));
        const struct analysis_estimate best = contest_ratio(point, contest_best(kind, list, point));
        result_put_number(result, reference.value);
        result_put_number(result, best.value);
        result_put_number(result, reference.error);
        result_put_number(result, best.error);
        result_put_text(result, point->warning ? point->warning : "");
        result_put_text(result, list->conditions.texts[point->conditions]);
        kind->settings(point, &settings);
        result_quantity(result, point->block, &kind->quantities[strcmp(point->op, "write") != 0], NULL,
                        text_get(&settings), (struct analysis_estimate){point->rate_mb_per_s, point->error_mb_per_s});
        text_clear(&settings);
    }
}

/* ---- charts: a row of panels for what differs but by x and by contestant; writing left, reading right ---- */

typedef bool contest_alike(const struct contest_points *list, const struct contest_point *a,
                           const struct contest_point *b);

static bool contest_same_curve(const struct contest_points *list, const struct contest_point *a,
                               const struct contest_point *b)
{
    (void)list;
    return contest_same_contestant(a, b);
}

/* The first point of each that is not alike. */
static size_t contest_firsts(const struct contest_points *list, contest_alike *alike,
                             const struct contest_point **firsts)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        bool is_new = true;
        for (size_t k = 0; k < count && is_new; k++)
            is_new = !alike(list, firsts[k], &list->points[i]);
        if (is_new)
            firsts[count++] = &list->points[i];
    }
    return count;
}

struct contest_curve_point {
    double x;
    const struct contest_point *point;
};

static int contest_by_x(const void *a, const void *b)
{
    const struct contest_curve_point *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

static void contest_draw_curve(const struct contest_kind *kind, const struct contest_points *list,
                               const struct contest_point *row, const char *op, const struct contest_point *curve,
                               size_t bar, struct result *result)
{
    struct contest_curve_point *drawn = memory_new(list->count, sizeof *drawn);
    char label[CONTEST_LABEL_MAX + 32];
    size_t count = 0;
    bool bars = false;
    for (size_t i = 0; i < list->count; i++) {
        const struct contest_point *point = &list->points[i];
        if (!kind->same_row(list, row, point) || !contest_same_contestant(point, curve) || strcmp(point->op, op) != 0 ||
            !isfinite(point->rate_mb_per_s))
            continue;
        const double x = kind->x_of(list, point);
        bars = isnan(x);
        drawn[count++] = (struct contest_curve_point){bars ? (double)bar : x, point};
    }
    qsort(drawn, count, sizeof *drawn, contest_by_x);
    if (count)
        result_begin_series(result, bars ? RESULT_BARS : RESULT_LINE, "%s", contest_point_label(list, curve, label));
    for (size_t i = 0; i < count; i++) {
        const struct contest_point *point = drawn[i].point;
        const double middle = kind->whiskers ? point->mean_mb_per_s : point->rate_mb_per_s;
        const double reach = kind->whiskers ? point->sd_mb_per_s
                                            : fmin(point->error_mb_per_s, 0.9 * middle); /* a log axis has no 0 */
        result_point(result, drawn[i].x, point->rate_mb_per_s, middle - reach, middle + reach);
    }
    free(drawn);
}

static void contest_draw(const struct contest_kind *kind, const struct contest_points *list, struct result *result)
{
    enum { ROWS_MAX = 40 };
    static const char *const ops[] = {"write", "read"};
    const struct contest_point **rows = memory_new(list->count, sizeof(const struct contest_point *));
    const struct contest_point **curves = memory_new(list->count, sizeof(const struct contest_point *));
    const size_t row_count = contest_firsts(list, kind->same_row, rows);
    const size_t curve_count = contest_firsts(list, contest_same_curve, curves);
    const char **names = memory_new(curve_count, sizeof *names);
    char(*labels)[CONTEST_LABEL_MAX + 32] = memory_new(curve_count, sizeof *labels);
    for (size_t c = 0; c < curve_count; c++)
        names[c] = contest_point_label(list, curves[c], labels[c]);
    result_figure(result, kind->title, kind->subtitle);
    for (size_t r = 0; r < row_count && r < ROWS_MAX; r++) {
        struct result_axis x = {.names = names, .name_count = curve_count}, y = {.form = RESULT_RATE};
        kind->axes(list, rows[r], &x, &y);
        if (x.label)
            x.names = NULL, x.name_count = 0;
        for (int o = 0; o < 2; o++) {
            char conditions[CONDITIONS_LABEL_MAX];
            struct text title = {0};
            kind->row_title(list, rows[r], ops[o], &title);
            text_add(&title, conditions_label(&list->conditions, rows[r]->conditions, conditions));
            result_begin_panel(result, &x, &y, 2, "%s", text_get(&title));
            text_clear(&title);
            for (size_t c = 0; c < curve_count; c++)
                contest_draw_curve(kind, list, rows[r], ops[o], curves[c], c, result);
        }
    }
    free(labels);
    free((void *)names);
    free((void *)curves);
    free((void *)rows);
}

pl_status contest_results(const struct contest_kind *kind, const struct analysis_request *request,
                          const struct analysis_input *input, struct result *result, struct pl_error *error)
{
    struct contest_points list;
    if (contest_points_load(kind, request, input, &list, error) != PL_OK)
        return error->status;
    assert(list.count > 0);
    result_line(result, kind->rates, STATISTICS_LEVEL_PERCENT);
    result_fact_int(result, "interval_percent", NULL, STATISTICS_LEVEL_PERCENT);
    contest_put_conditions(&list, result);
    contest_put_points(kind, &list, result);
    contest_put_cells(kind, &list, result);
    contest_put_findings(kind, &list, result);
    contest_put_warnings(&list, result);
    contest_draw(kind, &list, result);
    contest_points_clear(&list);
    return PL_OK;
}
