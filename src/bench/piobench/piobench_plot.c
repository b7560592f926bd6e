/* Rate against data block size, as in the thesis: a panel for each distribution, file size and number of ranks, writing
 * on the left, reading on the right; a line for each algorithm, the same in all panels. */
#include "bench/piobench/piobench_analysis.h"

#include "base/units.h"
#include "measure/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1240, LEFT = 84, TOP = 78, GAP = 60, LEGEND = 930, PANEL = 230, TITLE = 26, X_AXIS = 52, ROW_GAP = 18 };
enum { ROW = TITLE + PANEL + X_AXIS + ROW_GAP };
enum { LEGEND_LINE = 18, LEGEND_CHARS = 40, CURVE_MAX = 256 };

struct figure {
    const struct piobench_points *list;
    const struct piobench_point **rows; /* the first point of each row of panels */
    size_t row_count;
    const struct piobench_point **curves; /* the first point of each algorithm */
    size_t curve_count;
};

static bool is_in_row(const struct piobench_point *a, const struct piobench_point *b)
{
    return a->conditions == b->conditions && a->ranks == b->ranks && a->file_bytes == b->file_bytes &&
           strcmp(a->distribution, b->distribution) == 0;
}

static bool is_of_curve(const struct piobench_point *a, const struct piobench_point *b)
{
    return strcmp(a->algorithm, b->algorithm) == 0 && strcmp(a->mpi, b->mpi) == 0;
}

typedef bool is_alike(const struct piobench_point *a, const struct piobench_point *b);

/* The first point of each kind. */
static size_t collect(const struct piobench_points *list, is_alike *alike, const struct piobench_point **firsts)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        bool is_new = true;
        for (size_t k = 0; k < count && is_new; k++)
            is_new = !alike(firsts[k], &list->points[i]);
        if (is_new)
            firsts[count++] = &list->points[i];
    }
    return count;
}

/* Seven colours, three markers, full or open, dashed from the second round on. */
static struct plot_style style_of(size_t curve)
{
    const size_t round = curve / PLOT_COLOURS;
    return (struct plot_style){.colour = (int)curve,
                               .dashed = round % 2 == 1,
                               .filled = round % 2 == 0,
                               .marker = (enum plot_marker)(round % PLOT_MARKERS)};
}

static int by_x(const void *a, const void *b)
{
    const struct piobench_point *p = *(const struct piobench_point *const *)a;
    const struct piobench_point *q = *(const struct piobench_point *const *)b;
    return (p->block_bytes > q->block_bytes) - (p->block_bytes < q->block_bytes);
}

static void draw_curve(struct plot *plot, const struct figure *figure, const struct piobench_point *row, const char *op,
                       size_t curve)
{
    const struct piobench_point *points[CURVE_MAX];
    double x[CURVE_MAX], y[CURVE_MAX], error[CURVE_MAX];
    size_t count = 0;
    for (size_t i = 0; i < figure->list->count && count < CURVE_MAX; i++) {
        const struct piobench_point *point = &figure->list->points[i];
        if (is_in_row(point, row) && is_of_curve(point, figure->curves[curve]) && strcmp(point->op, op) == 0)
            points[count++] = point;
    }
    qsort(points, count, sizeof(const struct piobench_point *), by_x);
    for (size_t i = 0; i < count; i++) {
        x[i] = (double)points[i]->block_bytes;
        y[i] = points[i]->rate_mb_per_s;
        error[i] = fmin(points[i]->error_mb_per_s, 0.9 * y[i]); /* on a log axis a bar cannot reach 0 */
    }
    struct plot_style style = style_of(curve);
    style.shift = count == 1 ? 6 * ((double)curve - (double)(figure->curve_count - 1) / 2) : 0;
    plot_line(plot, x, y, count, style);
    plot_bars(plot, x, y, error, count, style);
    plot_points(plot, x, y, count, 3.4, style);
}

struct extent {
    double x_low, x_high, y_low, y_high;
};

static struct extent extent_of(const struct figure *figure, const struct piobench_point *row)
{
    struct extent extent = {.x_low = INFINITY, .y_low = INFINITY};
    for (size_t i = 0; i < figure->list->count; i++) {
        const struct piobench_point *point = &figure->list->points[i];
        if (!is_in_row(point, row) || !isfinite(point->rate_mb_per_s))
            continue;
        extent.x_low = fmin(extent.x_low, (double)point->block_bytes);
        extent.x_high = fmax(extent.x_high, (double)point->block_bytes);
        extent.y_low = fmin(extent.y_low, point->rate_mb_per_s);
        extent.y_high = fmax(extent.y_high, point->rate_mb_per_s);
    }
    return extent;
}

static void draw_row(struct plot *plot, const struct figure *figure, size_t number, double top)
{
    static const char *const ops[] = {"write", "read"};
    const struct piobench_point *row = figure->rows[number];
    const struct extent extent = extent_of(figure, row);
    const double width = (LEGEND - 26 - LEFT - GAP) / 2.0;
    const double room = extent.x_low < extent.x_high ? 1.5 : 16; /* points of one size stand side by side */
    for (int o = 0; o < 2; o++) {
        char title[320], file[UNITS_TEXT_MAX];
        snprintf(title, sizeof title, "%s %.160s, file %s, %d rank%s", ops[o], row->distribution,
                 units_binary(row->file_bytes, file), row->ranks, row->ranks == 1 ? "" : "s");
        const struct plot_panel panel = {
            .box = {LEFT + o * (width + GAP), top + TITLE, width, PANEL},
            .x = {.min = extent.x_low / room,
                  .max = extent.x_high * room,
                  .log = true,
                  .unit = PLOT_BINARY,
                  .label = "data block size"},
            .y = {.min = extent.y_low / 1.4,
                  .max = extent.y_high * 1.4,
                  .log = true,
                  .label = o == 0 ? "rate (MB/s)" : ""},
            .title = title,
        };
        plot_panel(plot, &panel);
        if (o == 0 && figure->list->conditions.count > 1)
            plot_caption(plot, LEFT, top + TITLE + PANEL + X_AXIS + 2, figure->list->conditions.texts[row->conditions]);
        for (size_t c = 0; c < figure->curve_count; c++)
            draw_curve(plot, figure, row, ops[o], c);
    }
}

static double height_of(const struct figure *figure)
{
    const double panels = TOP + (double)figure->row_count * ROW;
    const double legend = TOP + TITLE + (double)(figure->curve_count + 2) * LEGEND_LINE;
    return fmax(panels, legend);
}

static void draw_legend(struct plot *plot, const struct figure *figure, double top)
{
    for (size_t c = 0; c < figure->curve_count; c++) {
        char label[PIOBENCH_LABEL_MAX + PIOBENCH_MPI_MAX], cut[LEGEND_CHARS + 8];
        piobench_points_label(figure->list, figure->curves[c], label);
        snprintf(cut, sizeof cut, "%.*s%s", LEGEND_CHARS, label, strlen(label) > LEGEND_CHARS ? "…" : "");
        plot_legend(plot, LEGEND, top + TITLE + 10 + (double)c * LEGEND_LINE, 0, style_of(c), cut);
    }
}

static pl_status draw(void *context, FILE *stream, struct pl_error *error)
{
    const struct figure *figure = context;
    struct plot plot;
    (void)error;
    plot_begin(&plot, stream, WIDTH, height_of(figure), "PIOBENCH: rate against data block size",
               "bytes moved / mean time from the first start to the last end; bars: 90 % confidence");
    const bool legend_fits = (double)figure->curve_count * LEGEND_LINE < ROW - TITLE;
    for (size_t r = 0; r < figure->row_count; r++) {
        const double top = TOP + (double)r * ROW;
        draw_row(&plot, figure, r, top);
        if (r == 0 || legend_fits)
            draw_legend(&plot, figure, top);
    }
    plot_end(&plot);
    return PL_OK;
}

pl_status piobench_plot(const struct piobench_points *points, const char *path, struct pl_error *error)
{
    struct figure figure = {.list = points};
    figure.rows = calloc(points->count, sizeof(const struct piobench_point *));
    figure.curves = calloc(points->count, sizeof(const struct piobench_point *));
    pl_status status = PL_OK;
    if (!figure.rows || !figure.curves) {
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for the plot");
    } else {
        figure.row_count = collect(points, is_in_row, figure.rows);
        figure.curve_count = collect(points, is_of_curve, figure.curves);
        status = plot_to_file(path, draw, &figure, error);
    }
    free(figure.rows);
    free(figure.curves);
    return status;
}
