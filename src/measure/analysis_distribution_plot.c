#include "measure/analysis_distribution_plot.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 960, LEFT = 80, TOP = 84, PANEL_WIDTH = 680, PANEL_HEIGHT = 260, GAP = 74, LEGEND = 780 };

/* More samples fill more bins: twice Rice's rule, since the axis also has to hold a few outliers. */
static size_t bins_for(int64_t n)
{
    enum { BINS_MIN = 16 };
    const size_t bins = (size_t)(4 * cbrt((double)n));
    return bins < BINS_MIN ? BINS_MIN : bins > ANALYSIS_CURVE_BINS ? ANALYSIS_CURVE_BINS : bins;
}

static struct analysis_distribution_panel *panel_for(struct analysis_distribution_plot *plot, const char *op)
{
    for (size_t i = 0; i < plot->count; i++)
        if (strcmp(plot->panels[i].op, op) == 0)
            return &plot->panels[i];
    if (plot->count == ANALYSIS_CURVE_OPS)
        return NULL;
    plot->panels[plot->count].op = op;
    return &plot->panels[plot->count++];
}

void analysis_distribution_plot_add(struct analysis_distribution_plot *plot, const struct analysis_chosen *chosen,
                                    const struct analysis_row *row, const struct analysis_histogram *histogram,
                                    double low_ns, double high_ns)
{
    struct analysis_distribution_panel *panel = panel_for(plot, row->series->key);
    if (!plot->first_set) {
        plot->first_set = chosen->set;
        plot->testname = chosen->block->testname;
    }
    if (!panel || panel->count == ANALYSIS_CURVES) {
        plot->left_out++;
        return;
    }
    struct analysis_curve *curve = &panel->curves[panel->count++];
    snprintf(curve->label, sizeof curve->label, "block %" PRId64 ", set %" PRId64 ", rank %d", chosen->block_number,
             chosen->set->number, row->series->rank);
    if (chosen->set == plot->first_set)
        snprintf(curve->label, sizeof curve->label, "set %" PRId64 ", rank %d", chosen->set->number, row->series->rank);
    curve->low_ns = low_ns;
    curve->high_ns = high_ns;
    curve->bins = bins_for(row->times.n);
    analysis_histogram_log_bins(histogram, low_ns, high_ns, curve->bins, curve->part);
    for (size_t i = 0; i < curve->bins; i++)
        curve->part[i] *= 100 / (double)row->times.n;
}

/* Steps: the plateau of a bin is its part, its edges are where the bin begins and ends. */
static void draw_curve(struct plot *plot, const struct analysis_curve *curve, int colour)
{
    double x[2 * ANALYSIS_CURVE_BINS + 2];
    double y[2 * ANALYSIS_CURVE_BINS + 2];
    const double ratio = log(curve->high_ns / curve->low_ns) / (double)curve->bins;
    size_t count = 0;
    x[count] = curve->low_ns;
    y[count++] = 0;
    for (size_t i = 0; i < curve->bins; i++) {
        x[count] = curve->low_ns * exp(ratio * (double)i);
        y[count++] = curve->part[i];
        x[count] = curve->low_ns * exp(ratio * (double)(i + 1));
        y[count++] = curve->part[i];
    }
    x[count] = x[count - 1];
    y[count++] = 0;
    plot_line(plot, x, y, count, (struct plot_style){.colour = colour, .dashed = colour >= PLOT_COLOURS});
}

static void draw_panel(struct plot *plot, const struct analysis_distribution_panel *panel, size_t index)
{
    double low = INFINITY;
    double high = 0;
    double most = 0;
    for (size_t c = 0; c < panel->count; c++) {
        low = fmin(low, panel->curves[c].low_ns);
        high = fmax(high, panel->curves[c].high_ns);
        for (size_t i = 0; i < panel->curves[c].bins; i++)
            most = fmax(most, panel->curves[c].part[i]);
    }
    char title[64];
    snprintf(title, sizeof title, "operation %.40s", panel->op);
    const double top = TOP + (double)index * (PANEL_HEIGHT + GAP);
    const struct plot_panel axes = {
        .box = {LEFT, top, PANEL_WIDTH, PANEL_HEIGHT},
        .x = {.min = low / 1.05, .max = high * 1.05, .log = true, .unit = PLOT_TIME, .label = "time of an operation"},
        .y = {.min = 0, .max = most * 1.08, .label = "operations in a bin (%)"},
        .title = title,
    };
    plot_panel(plot, &axes);
    for (size_t c = 0; c < panel->count; c++) {
        draw_curve(plot, &panel->curves[c], (int)c);
        plot_legend(plot, LEGEND, top + 12, (int)c,
                    (struct plot_style){.colour = (int)c, .filled = true, .dashed = c >= PLOT_COLOURS},
                    panel->curves[c].label);
    }
}

pl_status analysis_distribution_plot_draw(void *context, FILE *stream, struct pl_error *error)
{
    (void)error;
    const struct analysis_distribution_plot *data = context;
    char title[160];
    snprintf(title, sizeof title, "Distribution of times: %.120s", data->testname);
    struct plot plot;
    plot_begin(&plot, stream, WIDTH, TOP + (double)data->count * (PANEL_HEIGHT + GAP), title,
               "part of the operations for each bin of equal ratio of time");
    for (size_t i = 0; i < data->count; i++)
        draw_panel(&plot, &data->panels[i], i);
    plot_end(&plot);
    return PL_OK;
}
