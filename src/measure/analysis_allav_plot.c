#include "measure/analysis_allav.h"

#include "base/units.h"
#include "measure/analysis_format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1000, LEFT = 84, TOP = 88, PANEL_WIDTH = 620, PANEL_HEIGHT = 290, GAP = 84, LEGEND = 718 };
enum { CURVES_MAX = 12, CURVE_POINTS = 256 };

struct curve {
    char label[80];
    double x[CURVE_POINTS], rate[CURVE_POINTS], error[CURVE_POINTS];
    size_t count;
    const struct analysis_op_rate *approximate; /* may be NULL */
};

struct panel {
    struct curve curves[CURVES_MAX];
    size_t count;
    size_t left_out;
};

static struct curve *new_curve(struct panel *panel)
{
    if (panel->count == CURVES_MAX) {
        panel->left_out++;
        return NULL;
    }
    return &panel->curves[panel->count++];
}

static void name_curve(const struct allav *allav, size_t group, double bytes, struct curve *curve)
{
    char size[UNITS_TEXT_MAX];
    char label[32]; /* what fits beside the panel */
    allav_label(allav, group, label, sizeof label);
    snprintf(curve->label, sizeof curve->label, "%s: %s", analysis_bytes_text(bytes, size), label);
}

static void add_point(struct curve *curve, double x, const struct allav_point *point)
{
    if (curve->count == CURVE_POINTS)
        return;
    curve->x[curve->count] = x;
    curve->rate[curve->count] = point->rate.rate.value;
    curve->error[curve->count++] = point->rate.rate.error;
}

static void file_size_curves(const struct allav *allav, struct panel *panel)
{
    for (size_t first = 0, end; first < allav->point_count; first = end) {
        end = allav_end_of_curve(allav, first);
        struct curve *curve = new_curve(panel);
        if (!curve)
            continue;
        name_curve(allav, allav->points[first].group, allav->points[first].block_bytes, curve);
        for (size_t i = first; i < end; i++)
            add_point(curve, allav->points[i].file_bytes, &allav->points[i]);
        curve->approximate = &allav->points[end - 1].rate;
    }
}

static bool is_first_of_file_size(const struct allav *allav, size_t index)
{
    const struct allav_point *point = &allav->points[index];
    for (size_t i = 0; i < index; i++)
        if (allav->points[i].group == point->group && allav->points[i].file_bytes == point->file_bytes)
            return false;
    return true;
}

static void block_size_curves(const struct allav *allav, struct panel *panel)
{
    for (size_t first = 0; first < allav->point_count; first++) {
        const struct allav_point *point = &allav->points[first];
        struct curve *curve = is_first_of_file_size(allav, first) ? new_curve(panel) : NULL;
        if (!curve)
            continue;
        name_curve(allav, point->group, point->file_bytes, curve);
        for (size_t i = first; i < allav->point_count; i++)
            if (allav->points[i].group == point->group && allav->points[i].file_bytes == point->file_bytes)
                add_point(curve, allav->points[i].block_bytes, &allav->points[i]);
    }
}

struct range {
    double low, high;
};

static void widen(struct range *range, double value)
{
    if (!isfinite(value) || value <= 0)
        return;
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

static void find_ranges(const struct panel *panel, struct range *x, struct range *y)
{
    *x = *y = (struct range){INFINITY, 0};
    for (size_t c = 0; c < panel->count; c++) {
        const struct curve *curve = &panel->curves[c];
        for (size_t i = 0; i < curve->count; i++) {
            widen(x, curve->x[i]);
            widen(y, curve->rate[i]);
            widen(y, curve->rate[i] + curve->error[i]);
        }
        for (int i = 0; curve->approximate && i < curve->approximate->point_count; i++) {
            widen(x, curve->approximate->point_bytes[i]);
            widen(y, curve->approximate->point_rate[i]);
        }
    }
}

static void draw_curve(struct plot *plot, const struct curve *curve, int colour)
{
    const struct plot_style line = {.colour = colour, .filled = colour < PLOT_COLOURS};
    if (curve->approximate && curve->approximate->point_count > 1)
        plot_line(plot, curve->approximate->point_bytes, curve->approximate->point_rate,
                  (size_t)curve->approximate->point_count, (struct plot_style){.colour = colour, .dashed = true});
    plot_line(plot, curve->x, curve->rate, curve->count, line);
    plot_bars(plot, curve->x, curve->rate, curve->error, curve->count, line);
    plot_points(plot, curve->x, curve->rate, curve->count, 4, line);
}

static void draw_panel(struct plot *plot, const struct panel *panel, int index, const char *title, const char *label)
{
    struct range x, y;
    find_ranges(panel, &x, &y);
    const bool log_rate = y.high > 20 * y.low;
    const double top = TOP + (double)index * (PANEL_HEIGHT + GAP);
    const struct plot_panel axes = {
        .box = {LEFT, top, PANEL_WIDTH, PANEL_HEIGHT},
        .x = {.min = x.low / 1.3, .max = x.high * 1.3, .log = true, .unit = PLOT_BYTES, .label = label},
        .y = {.min = log_rate ? y.low / 1.2 : 0,
              .max = y.high * (log_rate ? 1.2 : 1.06),
              .log = log_rate,
              .label = "rate (MB/s)"},
        .title = title,
    };
    plot_panel(plot, &axes);
    for (size_t c = 0; c < panel->count; c++) {
        draw_curve(plot, &panel->curves[c], (int)c);
        plot_legend(plot, LEGEND, top + 8, (int)c, (struct plot_style){.colour = (int)c, .filled = c < PLOT_COLOURS},
                    panel->curves[c].label);
    }
    char note[96];
    snprintf(note, sizeof note, "%zu more curves are left out: choose with --test, --op", panel->left_out);
    if (panel->left_out)
        plot_note(plot, note);
}

pl_status allav_plot_draw(void *context, FILE *stream, struct pl_error *error)
{
    const struct allav *allav = context;
    struct panel *panels = calloc(2, sizeof *panels);
    if (!panels)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for a plot");
    file_size_curves(allav, &panels[0]);
    block_size_curves(allav, &panels[1]);
    struct plot plot;
    plot_begin(&plot, stream, WIDTH, TOP + 2 * PANEL_HEIGHT + GAP + 56, "Rate against file size and block size",
               "error bars: 90 % confidence; dashed: approximate, rate up to a size within the largest run");
    draw_panel(&plot, &panels[0], 0, "fixed block size", "file size");
    draw_panel(&plot, &panels[1], 1, "fixed file size", "block size");
    plot_end(&plot);
    free(panels);
    return PL_OK;
}
