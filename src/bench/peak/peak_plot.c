/* Rate against request size, writing on the left and reading on the right, a colour for each kind of access; a row for
 * each block. */
#include "bench/peak/peak_analysis.h"

#include "measure/plot.h"
#include "measure/record.h"

#include <math.h>

enum { WIDTH = 1060, LEFT = 84, TOP = 78, GAP = 60, LEGEND = 900, PANEL = 230, TITLE = 40, X_AXIS = 52, ROW_GAP = 18 };
enum { ROW = TITLE + PANEL + X_AXIS + ROW_GAP, HEADING_MAX = 300 };

struct extent {
    double low, high, rate;
};

static bool is_drawn(const struct peak_point *point)
{
    return point->set.operation <= PEAK_READ && !point->set.makes_file && !point->failure &&
           isfinite(point->rate_bytes_per_s);
}

static struct extent extent_of(const struct peak_node *node)
{
    struct extent extent = {.low = INFINITY};
    for (size_t i = 0; i < node->count; i++) {
        const struct peak_point *point = &node->points[i];
        if (!is_drawn(point))
            continue;
        extent.low = fmin(extent.low, (double)point->set.request_bytes);
        extent.high = fmax(extent.high, (double)point->set.request_bytes);
        extent.rate = fmax(extent.rate, point->rate_bytes_per_s / 1e6);
    }
    return extent;
}

static void draw_curve(struct plot *plot, const struct peak_node *node, enum peak_operation operation,
                       enum peak_access access)
{
    double x[PEAK_REQUESTS_MAX], y[PEAK_REQUESTS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < node->count && count < PEAK_REQUESTS_MAX; i++) {
        const struct peak_point *point = &node->points[i];
        if (!is_drawn(point) || point->set.operation != operation || point->set.access != access)
            continue;
        x[count] = (double)point->set.request_bytes; /* the plan's order: descending */
        y[count++] = point->rate_bytes_per_s / 1e6;
    }
    const struct plot_style style = {.colour = (int)access, .filled = true, .marker = (enum plot_marker)access};
    plot_line(plot, x, y, count, style);
    plot_points(plot, x, y, count, 3.4, style);
}

static void draw_row(struct plot *plot, const struct peak_node *node, double top)
{
    const struct extent extent = extent_of(node);
    const double width = (LEGEND - 26 - LEFT - GAP) / 2.0;
    char words[200], heading[HEADING_MAX];
    snprintf(heading, sizeof heading, "%.80s: %.200s", node->io_node, record_words(node->block, words, sizeof words));
    plot_caption(plot, LEFT, top + 12, heading);
    for (int operation = PEAK_WRITE; operation <= PEAK_READ; operation++) {
        const struct plot_panel panel = {
            .box = {LEFT + operation * (width + GAP), top + TITLE, width, PANEL},
            .x = {.min = extent.low / 1.3,
                  .max = extent.high * 1.3,
                  .log = true,
                  .unit = PLOT_BINARY,
                  .label = "request"},
            .y = {.min = 0, .max = extent.rate * 1.08, .label = operation == PEAK_WRITE ? "MB/s" : ""},
            .title = PEAK_OPERATION_NAMES[operation],
        };
        plot_panel(plot, &panel);
        for (int access = 0; access < PEAK_ACCESSES; access++)
            draw_curve(plot, node, (enum peak_operation)operation, (enum peak_access)access);
    }
    for (int access = 0; access < PEAK_ACCESSES; access++)
        plot_legend(plot, LEGEND, top + TITLE + 10, access,
                    (struct plot_style){.colour = access, .filled = true, .marker = (enum plot_marker)access},
                    PEAK_ACCESS_NAMES[access]);
}

static pl_status draw(void *context, FILE *stream, struct pl_error *error)
{
    const struct peak_points *list = context;
    struct plot plot;
    (void)error;
    plot_begin(&plot, stream, WIDTH, TOP + (double)list->count * ROW, "Peak of the devices",
               "bytes of all processes over the longest time in calls; fsync belongs to writing");
    for (size_t i = 0; i < list->count; i++)
        draw_row(&plot, &list->nodes[i], TOP + (double)i * ROW);
    plot_end(&plot);
    return PL_OK;
}

pl_status peak_plot(const struct peak_points *points, const char *path, struct pl_error *error)
{
    return plot_to_file(path, draw, (void *)points, error);
}
