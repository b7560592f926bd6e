/* The panels of a result as one figure: a grid, and a legend at its right or below it. */
#include "lab/show/show.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "lab/show/plot.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1060, LEFT = 84, RIGHT = 26, TOP = 44, SUBTITLE = 20, GAP = 84, NEAR_GAP = 60, TITLE_LINE = 15 };
enum { PANEL = 230, PANEL_ALONE = 380, LEGEND_LINE = 18, LEGEND_SIDE = 176, LEGEND_CHARS = 22, CHARACTER = 7 };

struct svg_range {
    double low, high; /* low > high: nothing is drawn there */
};

/* Where a panel lies, in numbers as they are drawn. */
struct svg_panel {
    const struct result_panel *panel;
    struct svg_range x, y;
    struct plot_axis x_axis, y_axis;
    struct plot_box box;
};

struct svg_name {
    const char *name; /* borrowed */
    enum result_draw draw;
};

struct svg_figure {
    const struct result *result;
    struct svg_panel *panels;
    size_t count, columns, rows;
    struct svg_name *names; /* of series, as they come: their places are their colours */
    size_t name_count, longest;
    bool legend_below;
    double height, legend_x, legend_y;
};

/* ---- what is drawn ---- */

static double svg_factor(const struct result_axis *axis)
{
    return axis->form == RESULT_BYTE_RATE ? 1e-6
           : axis->form == RESULT_PERCENT ? 100
           : axis->form == RESULT_SECONDS ? 1e9
                                          : 1;
}

static void svg_add(struct svg_range *range, double value, bool log)
{
    if (!isfinite(value) || (log && value <= 0))
        return;
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

static bool svg_is_drawn(const struct result_panel *panel, const struct result_series *series, size_t i)
{
    const double y = series->draw == RESULT_BAND ? series->high[i] : series->y[i];
    return isfinite(series->x[i]) && isfinite(y) && (!panel->x.log || series->x[i] > 0) && (!panel->y.log || y > 0);
}

/* The least distance between neighbours, in numbers as they are drawn; on a log axis of logarithms. */
static double svg_nearest(const struct result_panel *panel)
{
    double nearest = INFINITY;
    for (size_t s = 0; s < panel->series_count; s++)
        for (size_t i = 1; i < panel->series[s].count; i++) {
            const double a = panel->series[s].x[i - 1], b = panel->series[s].x[i];
            const double distance = panel->x.log ? fabs(log(b / a)) : fabs(b - a) * svg_factor(&panel->x);
            nearest = distance > 0 ? fmin(nearest, distance) : nearest;
        }
    return nearest;
}

static void svg_find_ranges(struct svg_panel *svg)
{
    const struct result_panel *panel = svg->panel;
    const double x_factor = svg_factor(&panel->x), y_factor = svg_factor(&panel->y);
    bool bars = false;
    svg->x = svg->y = (struct svg_range){INFINITY, -INFINITY};
    for (size_t s = 0; s < panel->series_count; s++) {
        const struct result_series *series = &panel->series[s];
        for (size_t i = 0; i < series->count; i++) {
            if (!svg_is_drawn(panel, series, i))
                continue;
            svg_add(&svg->x, series->x[i] * x_factor, panel->x.log);
            if (series->draw != RESULT_BAND)
                svg_add(&svg->y, series->y[i] * y_factor, panel->y.log);
            svg_add(&svg->y, series->low[i] * y_factor, panel->y.log);
            svg_add(&svg->y, series->high[i] * y_factor, panel->y.log);
            if (series->draw == RESULT_BARS)
                svg_add(&svg->y, 0, panel->y.log);
            bars |= series->draw == RESULT_BARS;
        }
    }
    const double half = svg_nearest(panel) / 2;
    if (bars && isfinite(half)) { /* the outermost are seen as a whole */
        svg->x.low = panel->x.log ? svg->x.low / exp(half) : svg->x.low - half;
        svg->x.high = panel->x.log ? svg->x.high * exp(half) : svg->x.high + half;
    }
}

static bool svg_is_empty(struct svg_range range)
{
    return !(range.low <= range.high);
}

static bool svg_axes_are_equal(const struct result_axis *a, const struct result_axis *b)
{
    if (strcmp(a->label, b->label) != 0 || a->form != b->form || a->log != b->log || a->from_zero != b->from_zero ||
        a->name_count != b->name_count)
        return false;
    for (size_t i = 0; i < a->name_count; i++)
        if (strcmp(a->names[i], b->names[i]) != 0)
            return false;
    return true;
}

static struct svg_range svg_union(struct svg_range a, struct svg_range b)
{
    return (struct svg_range){fmin(a.low, b.low), fmax(a.high, b.high)};
}

/* Panels beside each other are compared: equal axes get equal ranges. Being equal is transitive, so that those that
 * were widened already widen the others by no more than is due. */
static void svg_share_ranges(struct svg_panel *row, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            if (svg_axes_are_equal(&row[i].panel->x, &row[k].panel->x))
                row[i].x = svg_union(row[i].x, row[k].x);
            if (svg_axes_are_equal(&row[i].panel->y, &row[k].panel->y))
                row[i].y = svg_union(row[i].y, row[k].y);
        }
}

static enum plot_unit svg_unit(const struct result_axis *axis)
{
    switch (axis->form) {
    case RESULT_NS:
    case RESULT_SECONDS:
        return PLOT_TIME;
    case RESULT_BYTES:
        return PLOT_BYTES;
    case RESULT_BINARY:
        return axis->log ? PLOT_BINARY : PLOT_BYTES;
    default:
        return PLOT_NUMBER;
    }
}

static struct plot_axis svg_axis(const struct result_axis *axis, struct svg_range range, bool is_x)
{
    struct plot_axis plot = {.log = axis->log,
                             .whole = axis->form == RESULT_INT,
                             .unit = svg_unit(axis),
                             .label = axis->label,
                             .names = axis->names,
                             .name_count = axis->name_count};
    if (axis->names) {
        plot.min = -0.5;
        plot.max = (double)axis->name_count - 0.5;
    } else if (svg_is_empty(range)) {
        plot.min = plot.max = NAN; /* mended by plot_panel() */
    } else if (axis->log) {
        const double room = is_x ? 1.3 : 1.4;
        plot.min = range.low / (range.low < range.high ? room : 16 * room / 1.3);
        plot.max = range.high * (range.low < range.high ? room : 16 * room / 1.3);
    } else {
        const double low = axis->from_zero ? fmin(0, range.low) : range.low;
        const double wide = range.high - low, room = (wide > 0 ? wide : fabs(range.high)) * (is_x ? 0.03 : 0.08);
        plot.min = low == 0 && (!is_x || axis->from_zero) ? 0 : low - room;
        plot.max = range.high + room;
    }
    return plot;
}

static size_t svg_name_of(struct svg_figure *figure, const struct result_series *series)
{
    for (size_t i = 0; i < figure->name_count; i++)
        if (strcmp(figure->names[i].name, series->name) == 0) {
            if (figure->names[i].draw == RESULT_BAND) /* the line in a band tells more */
                figure->names[i].draw = series->draw;
            return i;
        }
    figure->names = memory_grow(figure->names, figure->name_count, sizeof *figure->names);
    figure->names[figure->name_count] = (struct svg_name){series->name, series->draw};
    const size_t length = utf8_count(series->name, strlen(series->name));
    figure->longest = length > figure->longest ? length : figure->longest;
    return figure->name_count++;
}

/* 7 colours and 3 markers: 21 series can be told apart, and as many with open markers. */
static struct plot_style svg_style(size_t name, enum result_draw draw)
{
    return (struct plot_style){.colour = (int)(name % PLOT_COLOURS),
                               .marker = (enum plot_marker)(name % PLOT_MARKERS),
                               .filled = name / (PLOT_COLOURS * PLOT_MARKERS) % 2 == 0,
                               .dashed = draw == RESULT_DASHED,
                               .bare = draw == RESULT_CURVE || draw == RESULT_STEPS,
                               .patch = draw == RESULT_BARS || draw == RESULT_BAND};
}

/* ---- where it is drawn ---- */

static size_t svg_legend_count(const struct svg_figure *figure)
{
    size_t count = 0;
    for (size_t i = 0; i < figure->name_count; i++)
        count += figure->names[i].name[0] != '\0';
    return count;
}

static size_t svg_legend_columns(const struct svg_figure *figure)
{
    const size_t wide = 60 + figure->longest * CHARACTER, columns = (WIDTH - LEFT - RIGHT) / wide;
    return columns ? columns : 1;
}

static double svg_place_row(struct svg_figure *figure, size_t row, double top, double panels_width)
{
    const size_t first = row * figure->columns;
    const size_t count = figure->count - first < figure->columns ? figure->count - first : figure->columns;
    struct svg_panel *panels = &figure->panels[first];
    bool near = true;
    int lines = 0;
    double room = 0;
    svg_share_ranges(panels, count);
    for (size_t i = 1; i < count; i++)
        near &= svg_axes_are_equal(&panels[0].panel->y, &panels[i].panel->y);
    const double gap = near ? NEAR_GAP : GAP, columns = (double)figure->columns;
    const double width = (panels_width - gap * (columns - 1)) / columns;
    const double height = figure->count == 1 ? PANEL_ALONE : figure->columns == 1 ? PANEL + 30 : PANEL;
    for (size_t i = 0; i < count; i++) {
        struct svg_panel *svg = &panels[i];
        svg->x_axis = svg_axis(&svg->panel->x, svg->x, true);
        svg->y_axis = svg_axis(&svg->panel->y, svg->y, false);
        if (near && i > 0)
            svg->y_axis.label = ""; /* the first one's serves all */
        const int title = plot_title_lines(svg->panel->title, width);
        lines = title > lines ? title : lines;
        room = fmax(room, plot_x_room(&svg->x_axis, width));
    }
    for (size_t i = 0; i < count; i++)
        panels[i].box = (struct plot_box){LEFT + (double)i * (width + gap), top + 10 + TITLE_LINE * lines, width,
                                          height};
    return top + 10 + TITLE_LINE * lines + height + room;
}

static void svg_place(struct svg_figure *figure)
{
    const struct result *result = figure->result;
    const size_t wanted = (size_t)result->panel_columns, entries = svg_legend_count(figure);
    figure->columns = wanted < figure->count ? wanted : figure->count;
    figure->rows = (figure->count + figure->columns - 1) / figure->columns;
    figure->legend_below = figure->longest > LEGEND_CHARS;
    const bool beside = entries > 0 && !figure->legend_below;
    double y = TOP + (result->figure_subtitle ? SUBTITLE : 0);
    figure->legend_x = beside ? WIDTH - LEGEND_SIDE + 10 : LEFT;
    figure->legend_y = y + 34;
    for (size_t row = 0; row < figure->rows; row++)
        y = svg_place_row(figure, row, y, WIDTH - LEFT - (beside ? LEGEND_SIDE : RIGHT));
    if (beside) {
        y = fmax(y, figure->legend_y + (double)entries * LEGEND_LINE);
    } else if (entries > 0) {
        const size_t columns = svg_legend_columns(figure), lines = (entries + columns - 1) / columns;
        figure->legend_y = y + 12;
        y += 12 + (double)lines * LEGEND_LINE;
    }
    figure->height = y + 8;
}

/* ---- drawing ---- */

static double *svg_scaled(const double *values, size_t count, double factor)
{
    double *scaled = memory_new(count, sizeof *scaled);
    for (size_t i = 0; i < count; i++)
        scaled[i] = values[i] * factor;
    return scaled;
}

/* Each y holds up to the next x: two points for each but the last. */
static void svg_draw_steps(struct plot *plot, const double *x, const double *y, size_t count, struct plot_style style)
{
    double *xs = memory_new(2 * count, sizeof *xs), *ys = memory_new(2 * count, sizeof *ys);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        xs[n] = x[i];
        ys[n++] = y[i];
        if (i + 1 < count) {
            xs[n] = x[i + 1];
            ys[n++] = y[i];
        }
    }
    plot_line(plot, xs, ys, n, style);
    free(xs);
    free(ys);
}

/* The room of a group of columns, in pixels. */
static double svg_column_room(const struct svg_panel *svg)
{
    const struct plot_axis *axis = &svg->x_axis;
    const double whole = axis->log ? log(axis->max / axis->min) : axis->max - axis->min;
    const double distance = axis->names ? 1 : svg_nearest(svg->panel);
    return svg->box.width * fmin(isfinite(distance) ? distance / whole : 0.2, 0.2);
}

static void svg_draw_series(struct plot *plot, const struct svg_panel *svg, size_t number, size_t name)
{
    const struct result_series *series = &svg->panel->series[number];
    const double x_factor = svg_factor(&svg->panel->x), y_factor = svg_factor(&svg->panel->y);
    const size_t count = series->count;
    double *x = svg_scaled(series->x, count, x_factor), *y = svg_scaled(series->y, count, y_factor);
    double *low = svg_scaled(series->low, count, y_factor), *high = svg_scaled(series->high, count, y_factor);
    struct plot_style style = svg_style(name, series->draw);
    if (series->draw == RESULT_BARS) {
        size_t bars = 0, before = 0;
        for (size_t s = 0; s < svg->panel->series_count; s++) {
            before += s < number && svg->panel->series[s].draw == RESULT_BARS;
            bars += svg->panel->series[s].draw == RESULT_BARS;
        }
        const double width = 0.8 * svg_column_room(svg) / (double)bars;
        style.shift = width * ((double)before - ((double)bars - 1) / 2);
        plot_columns(plot, x, y, count, 0.92 * width, style);
        style.colour = PLOT_COLOURS - 1; /* an error bar in its column's colour would not be seen */
    } else if (!svg->x_axis.names && svg->x.low == svg->x.high) { /* points of one x stand side by side */
        style.shift = 6 * ((double)number - (double)(svg->panel->series_count - 1) / 2);
    }
    if (series->draw == RESULT_BAND)
        plot_area(plot, x, low, high, count, style);
    else
        plot_intervals(plot, x, low, high, count, style);
    if (series->draw == RESULT_STEPS)
        svg_draw_steps(plot, x, y, count, style);
    else if (series->draw == RESULT_LINE || series->draw == RESULT_CURVE || series->draw == RESULT_DASHED)
        plot_line(plot, x, y, count, style);
    if (series->draw == RESULT_LINE || series->draw == RESULT_POINTS)
        plot_points(plot, x, y, count, count > 200 ? 2 : 3.4, style);
    free(x);
    free(y);
    free(low);
    free(high);
}

/* The label with its unit where the axis itself does not bring one. */
static char *svg_label(const struct plot_axis *axis, enum result_form form)
{
    const char *unit = show_unit(form, NULL);
    if (!*unit || !axis->label[0])
        return memory_copy(axis->label);
    return memory_text("%s (%s)", axis->label, unit);
}

static void svg_draw_panel(struct plot *plot, struct svg_figure *figure, struct svg_panel *svg)
{
    char *x_label = svg_label(&svg->x_axis, svg->panel->x.form), *y_label = svg_label(&svg->y_axis, svg->panel->y.form);
    struct plot_panel panel = {.box = svg->box, .x = svg->x_axis, .y = svg->y_axis, .title = svg->panel->title};
    panel.x.label = x_label;
    panel.y.label = y_label;
    plot_panel(plot, &panel);
    if (svg_is_empty(svg->y))
        plot_note(plot, "nothing was measured");
    for (int bands = 1; bands >= 0; bands--) /* areas lie below all else */
        for (size_t s = 0; s < svg->panel->series_count; s++) {
            const struct result_series *series = &svg->panel->series[s];
            const bool is_below = series->draw == RESULT_BAND || series->draw == RESULT_BARS;
            if (is_below == (bands == 1))
                svg_draw_series(plot, svg, s, svg_name_of(figure, series));
        }
    free(x_label);
    free(y_label);
}

static void svg_draw_legend(struct plot *plot, const struct svg_figure *figure)
{
    const size_t columns = figure->legend_below ? svg_legend_columns(figure) : 1;
    const double wide = (double)(60 + figure->longest * CHARACTER);
    size_t number = 0;
    for (size_t i = 0; i < figure->name_count; i++) {
        const struct svg_name *name = &figure->names[i];
        if (!name->name[0])
            continue;
        plot_legend(plot, figure->legend_x + (double)(number % columns) * wide, figure->legend_y,
                    (int)(number / columns), svg_style(i, name->draw), name->name);
        number++;
    }
}

void show_svg(const struct result *result, FILE *stream)
{
    assert(result->finished && result->panel_count > 0);
    struct svg_figure figure = {.result = result, .count = result->panel_count};
    struct plot plot;
    figure.panels = memory_new(figure.count, sizeof *figure.panels);
    for (size_t i = 0; i < figure.count; i++) {
        figure.panels[i].panel = &result->panels[i];
        svg_find_ranges(&figure.panels[i]);
        for (size_t s = 0; s < result->panels[i].series_count; s++)
            svg_name_of(&figure, &result->panels[i].series[s]);
    }
    svg_place(&figure);
    const char *title = result->figure_title ? result->figure_title : result->title ? result->title : result->name;
    plot_begin(&plot, stream, WIDTH, figure.height, title, result->figure_subtitle);
    for (size_t i = 0; i < figure.count; i++)
        svg_draw_panel(&plot, &figure, &figure.panels[i]);
    svg_draw_legend(&plot, &figure);
    plot_end(&plot);
    free(figure.panels);
    free(figure.names);
}

/* ---- files ---- */

static pl_status svg_draw(void *context, FILE *stream, struct pl_error *error)
{
    (void)error;
    show_svg(context, stream);
    return PL_OK;
}

pl_status show_plot(const struct result *result, const char *path, struct pl_error *error)
{
    bool any = false;
    for (size_t p = 0; p < result->panel_count; p++)
        for (size_t s = 0; s < result->panels[p].series_count; s++)
            for (size_t i = 0; i < result->panels[p].series[s].count; i++)
                any |= svg_is_drawn(&result->panels[p], &result->panels[p].series[s], i);
    if (!any)
        return pl_fail(error, PL_E_UNSUPPORTED, "no plot: these results hold no value that could be drawn");
    return plot_to_file(path, svg_draw, (void *)result, error);
}
