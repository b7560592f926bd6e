/* As the document's figures: rate against the parameter that varies (ranks, record size, …), or bars where none does;
 * writing on the left, reading on the right, a colour for each contestant. What else varies has rows of its own. */
#include "bench/gpfs/gpfs_analysis.h"

#include "base/units.h"
#include "measure/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1160, LEFT = 84, TOP = 78, GAP = 60, LEGEND = 930, PANEL = 230, TITLE = 26, X_AXIS = 52, ROW_GAP = 18 };
enum { ROW = TITLE + PANEL + X_AXIS + ROW_GAP, LEGEND_LINE = 18, CURVE_MAX = 256, ROWS_MAX = 40, BARS_MIN = 5 };
enum { HATCHES = 200 }; /* lines that fill a bar */

#define BIT(key) (UINT64_C(1) << (key))

struct figure {
    const struct gpfs_points *list;
    const struct gpfs_point **rows; /* the first point of each row of panels */
    size_t row_count;
    const struct gpfs_point **curves; /* the first point of each contestant */
    size_t curve_count;
};

static bool varies(const struct gpfs_points *list, const struct gpfs_benchmark *benchmark, int key)
{
    const struct gpfs_point *first = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct gpfs_point *point = &list->points[i];
        if (point->cell.benchmark != benchmark)
            continue;
        first = first ? first : point;
        if (point->cell.value[key] != first->cell.value[key])
            return true;
    }
    return false;
}

/* The parameter along the x axis: the first of these that varies; GPFS_KEYS: none. */
static enum gpfs_key x_key(const struct gpfs_points *list, const struct gpfs_benchmark *benchmark)
{
    static const enum gpfs_key wishes[] = {GPFS_RANKS, GPFS_RECORD, GPFS_SUB_BLOCKS, GPFS_THREADS,   GPFS_SIZE,
                                           GPFS_BLOCK, GPFS_BLOCKS, GPFS_SUB_BLOCK,  GPFS_FILE_SIZE, GPFS_BATCH};
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++)
        if (varies(list, benchmark, wishes[i]))
            return wishes[i];
    return GPFS_KEYS;
}

/* Points of one row differ in what is drawn inside of it. */
static uint64_t row_mask(const struct figure *figure, const struct gpfs_point *point)
{
    const enum gpfs_key key = x_key(figure->list, point->cell.benchmark);
    return BIT(GPFS_OP) | (key < GPFS_KEYS ? BIT(key) : 0);
}

static void collect(struct figure *figure)
{
    for (size_t i = 0; i < figure->list->count; i++) {
        const struct gpfs_point *point = &figure->list->points[i];
        bool new_row = true, new_curve = true;
        for (size_t r = 0; r < figure->row_count && new_row; r++)
            new_row = !gpfs_points_alike(figure->rows[r], point, row_mask(figure, point));
        for (size_t c = 0; c < figure->curve_count && new_curve; c++)
            new_curve = !gpfs_points_same_contestant(figure->curves[c], point);
        if (new_row && figure->row_count < ROWS_MAX)
            figure->rows[figure->row_count++] = point;
        if (new_curve)
            figure->curves[figure->curve_count++] = point;
    }
}

/* Seven colours, three markers, full or open. */
static struct plot_style style_of(size_t curve)
{
    const size_t round = curve / PLOT_COLOURS;
    return (struct plot_style){
        .colour = (int)curve, .filled = round % 2 == 0, .marker = (enum plot_marker)(round % PLOT_MARKERS)};
}

static double shown_of(const struct gpfs_point *point)
{
    return gpfs_statistics_shown(&point->statistics, point->cell.benchmark->by_maximum);
}

/* ---- one panel ---- */

struct panel {
    const struct figure *figure;
    const struct gpfs_point *row;
    enum gpfs_key x;
    int64_t op;
};

static bool is_in_panel(const struct panel *panel, const struct gpfs_point *point)
{
    return point->cell.value[GPFS_OP] == panel->op &&
           gpfs_points_alike(panel->row, point, row_mask(panel->figure, panel->row)) && isfinite(shown_of(point));
}

static void draw_bar(struct plot *plot, double x, double height, struct plot_style style)
{
    double places[HATCHES], low[HATCHES] = {0}, high[HATCHES];
    for (int i = 0; i < HATCHES; i++) {
        places[i] = x + 0.7 * (i / (double)(HATCHES - 1) - 0.5);
        high[i] = height;
    }
    plot_band(plot, places, low, high, HATCHES, style);
}

static bool has_curve(const struct panel *panel, size_t curve)
{
    const struct figure *figure = panel->figure;
    for (size_t i = 0; i < figure->list->count; i++) {
        const struct gpfs_point *point = &figure->list->points[i];
        if (gpfs_points_alike(panel->row, point, row_mask(figure, panel->row)) &&
            gpfs_points_same_contestant(point, figure->curves[curve]))
            return true;
    }
    return false;
}

/* Bars stand side by side in the order of the legend; `end`: the place behind the last. */
static double bar_place(const struct panel *panel, size_t end)
{
    double place = 0;
    for (size_t c = 0; c < end; c++)
        place += has_curve(panel, c);
    return place;
}

struct curve {
    double x[CURVE_MAX], shown[CURVE_MAX], mean[CURVE_MAX], deviation[CURVE_MAX];
    size_t count;
};

/* Ascending in x. */
static void add_point(struct curve *curve, double x, const struct gpfs_point *point)
{
    size_t at = curve->count++;
    for (; at > 0 && curve->x[at - 1] > x; at--) {
        curve->x[at] = curve->x[at - 1];
        curve->shown[at] = curve->shown[at - 1];
        curve->mean[at] = curve->mean[at - 1];
        curve->deviation[at] = curve->deviation[at - 1];
    }
    curve->x[at] = x;
    curve->shown[at] = shown_of(point);
    curve->mean[at] = point->statistics.mean;
    curve->deviation[at] = fmax(point->statistics.deviation, 0);
}

static void draw_curve(struct plot *plot, const struct panel *panel, size_t number)
{
    const struct figure *figure = panel->figure;
    struct curve curve = {.count = 0};
    for (size_t i = 0; i < figure->list->count && curve.count < CURVE_MAX; i++) {
        const struct gpfs_point *point = &figure->list->points[i];
        if (is_in_panel(panel, point) && gpfs_points_same_contestant(point, figure->curves[number]))
            add_point(&curve,
                      panel->x < GPFS_KEYS ? (double)point->cell.value[panel->x] : bar_place(panel, number) + 0.5,
                      point);
    }
    const struct plot_style style = style_of(number);
    if (panel->x == GPFS_KEYS && curve.count)
        draw_bar(plot, curve.x[0], curve.shown[0], style);
    else
        plot_line(plot, curve.x, curve.shown, curve.count, style);
    plot_bars(plot, curve.x, curve.mean, curve.deviation, curve.count, style);
    plot_points(plot, curve.x, curve.shown, curve.count, 3.4, style);
}

/* The range of x, and the highest rate of a row. */
struct extent {
    double low, high, rate;
};

static struct extent extent_of(const struct figure *figure, const struct gpfs_point *row, enum gpfs_key x)
{
    struct extent extent = {.low = INFINITY};
    for (size_t i = 0; i < figure->list->count; i++) {
        const struct gpfs_point *point = &figure->list->points[i];
        if (!gpfs_points_alike(row, point, row_mask(figure, row)) || !isfinite(shown_of(point)))
            continue;
        const double value = x < GPFS_KEYS ? (double)point->cell.value[x] : 1;
        extent.low = fmin(extent.low, value);
        extent.high = fmax(extent.high, value);
        const double whisker = point->statistics.mean + fmax(point->statistics.deviation, 0);
        extent.rate = fmax(extent.rate, fmax(shown_of(point), whisker));
    }
    return extent;
}

/* The benchmark, and what tells this row from others of it. */
static void title_of(const struct figure *figure, const struct gpfs_point *row, int64_t op,
                     char title[GPFS_CELL_TEXT_MAX])
{
    char word[GPFS_LABEL_MAX], bytes[UNITS_TEXT_MAX];
    size_t at = (size_t)snprintf(title, GPFS_CELL_TEXT_MAX, "%s, %s", row->cell.benchmark->name,
                                 gpfs_key_text(GPFS_OP, op, word));
    for (int key = 0; key < GPFS_OP; key++) {
        if (row_mask(figure, row) & BIT(key) || !row->cell.benchmark->defaults[key] ||
            (key != GPFS_RANKS && !varies(figure->list, row->cell.benchmark, key)))
            continue;
        at += (size_t)snprintf(title + at, GPFS_CELL_TEXT_MAX - at, ", %s %s", GPFS_KEY_ROWS[key].name,
                               GPFS_KEY_ROWS[key].kind == GPFS_KIND_SIZE
                                   ? units_binary(row->cell.value[key], bytes)
                                   : gpfs_key_text((enum gpfs_key)key, row->cell.value[key], word));
    }
}

static void draw_row(struct plot *plot, const struct figure *figure, const struct gpfs_point *row, double top)
{
    const enum gpfs_key x = x_key(figure->list, row->cell.benchmark);
    const struct extent extent = extent_of(figure, row, x);
    const bool bars = x == GPFS_KEYS, sizes = !bars && GPFS_KEY_ROWS[x].kind == GPFS_KIND_SIZE;
    const double width = (LEGEND - 26 - LEFT - GAP) / 2.0;
    for (int64_t op = GPFS_WRITE; op <= GPFS_READ; op++) {
        char title[GPFS_CELL_TEXT_MAX];
        const struct panel panel = {.figure = figure, .row = row, .x = x, .op = op};
        title_of(figure, row, op, title);
        const struct plot_panel box = {
            .box = {LEFT + (double)op * (width + GAP), top + TITLE, width, PANEL},
            .x = {.min = bars ? 0 : extent.low / 1.3,
                  .max = bars ? fmax(bar_place(&panel, figure->curve_count), BARS_MIN) : extent.high * 1.3,
                  .log = !bars,
                  .whole = !bars && !sizes,
                  .unit = sizes ? PLOT_BINARY : PLOT_NUMBER,
                  .label = bars ? NULL : GPFS_KEY_ROWS[x].name},
            .y = {.min = 0,
                  .max = extent.rate * 1.08,
                  .label = op != GPFS_WRITE                  ? ""
                           : row->cell.benchmark->by_maximum ? "maximum (MB/s)"
                                                             : "mean (MB/s)"},
            .title = title,
        };
        plot_panel(plot, &box);
        if (op == GPFS_WRITE && figure->list->conditions.count > 1)
            plot_caption(plot, LEFT, top + TITLE + PANEL + X_AXIS + 2, figure->list->conditions.texts[row->conditions]);
        for (size_t c = 0; c < figure->curve_count; c++)
            draw_curve(plot, &panel, c);
    }
}

/* ---- the figure ---- */

static void draw_legend(struct plot *plot, const struct figure *figure, double top)
{
    for (size_t c = 0; c < figure->curve_count; c++) {
        char label[GPFS_POINT_LABEL_MAX];
        gpfs_points_label(figure->list, figure->curves[c], label);
        plot_legend(plot, LEGEND, top + TITLE + 10, (int)c, style_of(c), label);
    }
}

static pl_status draw(void *context, FILE *stream, struct pl_error *error)
{
    const struct figure *figure = context;
    struct plot plot;
    (void)error;
    const double panels = TOP + (double)figure->row_count * ROW;
    const double legend = TOP + TITLE + (double)(figure->curve_count + 2) * LEGEND_LINE;
    plot_begin(
        &plot, stream, WIDTH, fmax(panels, legend), "MPI-IO/GPFS benchmarks",
        "rate of the job: all meet, access, sync, all meet; whiskers: mean and standard deviation of the repetitions");
    for (size_t r = 0; r < figure->row_count; r++) {
        draw_row(&plot, figure, figure->rows[r], TOP + (double)r * ROW);
        if (r == 0 || (double)figure->curve_count * LEGEND_LINE < ROW - TITLE)
            draw_legend(&plot, figure, TOP + (double)r * ROW);
    }
    plot_end(&plot);
    return PL_OK;
}

pl_status gpfs_plot(const struct gpfs_points *points, const char *path, struct pl_error *error)
{
    struct figure figure = {.list = points};
    figure.rows = calloc(ROWS_MAX, sizeof(const struct gpfs_point *));
    figure.curves = calloc(points->count, sizeof(const struct gpfs_point *));
    pl_status status = PL_E_NOMEM;
    if (figure.rows && figure.curves) {
        collect(&figure);
        status = plot_to_file(path, draw, &figure, error);
    } else {
        pl_fail(error, PL_E_NOMEM, "not enough memory for a plot");
    }
    free(figure.rows);
    free(figure.curves);
    return status;
}
