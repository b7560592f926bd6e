/* Bandwidth of a process against message length, lengths equidistant as in the document: linear, where the area under a
 * curve is its average, and logarithmic, where short messages can be seen. Colours are runs, markers are kinds. */
#include "bench/beff/beff_analyze.h"

#include "measure/analysis_format.h"
#include "measure/analysis_names.h"
#include "measure/plot.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 1120, LEFT = 90, TOP = 92, PANEL_WIDTH = 460, PANEL = 330, GAP = 82, AXIS = 58 };
enum { RUNS_MAX = PLOT_COLOURS, CURVES = 3, LEGEND_ROW = 18 };

struct figure {
    const struct beff_results *runs;
    size_t count, left_out;
    double low, high;
};

static const char *const CURVE_NAMES[CURVES] = {"rings", "random", "ping-pong"};

/* Of a process; ping-pong as it is: one message is under way at any time. */
static double curve_at(const struct beff_results *results, int curve, int length)
{
    const struct beff_filter here = {BEFF_ALL, BEFF_ALL, length};
    if (curve < 2) {
        const struct beff_average average = beff_average(results, here);
        return (curve == 0 ? average.rings : average.random) / results->nprocs / BEFF_MBYTE;
    }
    const struct beff_row *row = beff_row_of(results, (struct beff_pattern){BEFF_PINGPONG, 0});
    return row ? beff_row_value(results, row, here) / BEFF_MBYTE : NAN;
}

static struct plot_style style_of(size_t run, size_t count, int curve)
{
    return (struct plot_style){.colour = count == 1 ? curve : (int)run, .filled = true, .marker = curve % PLOT_MARKERS};
}

static void draw_curves(struct plot *plot, const struct figure *figure)
{
    for (size_t r = 0; r < figure->count; r++)
        for (int c = 0; c < CURVES; c++) {
            double x[BEFF_LENGTHS], y[BEFF_LENGTHS];
            const struct beff_results *results = &figure->runs[r];
            for (int i = 0; i < results->length_count; i++) {
                x[i] = i;
                y[i] = curve_at(results, c, i);
            }
            plot_line(plot, x, y, (size_t)results->length_count, style_of(r, figure->count, c));
            plot_points(plot, x, y, (size_t)results->length_count, 3.2, style_of(r, figure->count, c));
        }
}

static const char *length_label(const struct figure *figure, int i, char text[BEFF_LENGTH_TEXT_MAX])
{
    const struct beff_results *results = &figure->runs[0];
    if (i < BEFF_FIXED_LENGTHS)
        return beff_length_text((int64_t)1 << i, text);
    if (figure->count == 1 && i < results->length_count)
        return beff_length_text(results->lengths[i], text);
    snprintf(text, BEFF_LENGTH_TEXT_MAX, i == BEFF_LENGTHS - 1 ? "L_max" : "4 kB a^%d", i - BEFF_FIXED_LENGTHS + 1);
    return text; /* runs differ in their longest messages */
}

/* Each length has the same room; from 4 kB on, which a line marks, steps have another factor. */
static void draw_lengths(const struct figure *figure, struct plot *plot, double left)
{
    static const int labelled[] = {
        0, 5, 10, BEFF_FIXED_LENGTHS - 1, 15, BEFF_LENGTHS - 1}; /* those of the grid, and it */
    const double x[] = {BEFF_FIXED_LENGTHS - 1, BEFF_FIXED_LENGTHS - 1};
    const double y[] = {plot->panel.y.min, plot->panel.y.max};
    plot_line(plot, x, y, 2, (struct plot_style){.colour = PLOT_COLOURS - 1, .dashed = true});
    for (size_t i = 0; i < sizeof labelled / sizeof labelled[0]; i++) {
        char text[BEFF_LENGTH_TEXT_MAX];
        length_label(figure, labelled[i], text);
        const double middle = left + (labelled[i] + 0.5) / BEFF_LENGTHS * PANEL_WIDTH;
        plot_caption(plot, middle - 3.0 * (double)strlen(text), TOP + PANEL + 17, text);
    }
    plot_caption(plot, left + PANEL_WIDTH / 2.0 - 44, TOP + PANEL + 38, "message length");
}

static void draw_panel(struct plot *plot, const struct figure *figure, int side)
{
    const bool log_axis = side == 1;
    const double left = LEFT + side * (PANEL_WIDTH + GAP);
    const struct plot_panel panel = {
        .box = {left, TOP, PANEL_WIDTH, PANEL},
        .x = {.min = -0.5, .max = BEFF_LENGTHS - 0.5, .whole = true},
        .y = {.min = log_axis ? figure->low / 1.3 : 0,
              .max = figure->high * (log_axis ? 1.3 : 1.05),
              .log = log_axis,
              .label = log_axis ? "" : "bandwidth of a process (MByte/s)"},
        .title = log_axis ? "logarithmic" : "linear: the mean height is the average over the lengths",
    };
    plot_panel(plot, &panel);
    draw_curves(plot, figure);
    draw_lengths(figure, plot, left);
}

static void draw_legend(struct plot *plot, const struct figure *figure)
{
    double y = TOP + PANEL + AXIS + 4;
    for (size_t r = 0; r < figure->count; r++, y += LEGEND_ROW) {
        const struct beff_results *results = &figure->runs[r];
        char text[160], value[ANALYSIS_CELL_MAX];
        for (int c = 0; c < CURVES; c++)
            plot_legend(plot, LEFT + c * 120, y, 0, style_of(r, figure->count, c), CURVE_NAMES[c]);
        const double b_eff = beff_average(results, BEFF_EVERYTHING).both / BEFF_MBYTE;
        snprintf(text, sizeof text, "%.60s, block %" PRId64 ": %d processes, b_eff %s MByte/s",
                 analysis_base_name(results->path), results->block_number, results->nprocs,
                 analysis_cell(b_eff, 5, value));
        plot_caption(plot, LEFT + CURVES * 120 + 10, y + 4, text);
    }
    char text[64];
    snprintf(text, sizeof text, "%zu more runs are not drawn: choose with --block", figure->left_out);
    if (figure->left_out)
        plot_caption(plot, LEFT, y + 4, text);
}

static pl_status draw(void *context, FILE *stream, struct pl_error *error)
{
    const struct figure *figure = context;
    struct plot plot;
    (void)error;
    const double height = TOP + PANEL + AXIS + LEGEND_ROW * ((double)figure->count + (figure->left_out ? 1 : 0)) + 12;
    plot_begin(&plot, stream, WIDTH, height, "b_eff: bandwidth against message length",
               "best method and repetition; rings and random: logarithmic average over the patterns, divided by the "
               "number of processes; MByte = 2^20 bytes");
    draw_panel(&plot, figure, 0);
    draw_panel(&plot, figure, 1);
    draw_legend(&plot, figure);
    plot_end(&plot);
    return PL_OK;
}

static void find_range(struct figure *figure)
{
    figure->low = figure->high = NAN;
    for (size_t r = 0; r < figure->count; r++)
        for (int c = 0; c < CURVES; c++)
            for (int i = 0; i < figure->runs[r].length_count; i++) {
                const double value = curve_at(&figure->runs[r], c, i);
                figure->low = fmin(figure->low, value); /* of NaN and a number, the number */
                figure->high = fmax(figure->high, value);
            }
}

pl_status beff_plot(const struct beff_results *runs, size_t count, const char *path, struct pl_error *error)
{
    struct figure figure = {.runs = runs, .count = count < RUNS_MAX ? count : RUNS_MAX};
    figure.left_out = count - figure.count;
    find_range(&figure);
    if (isnan(figure.high))
        return pl_fail(error, PL_E_UNSUPPORTED, "no plot: nothing was measured");
    return plot_to_file(path, draw, &figure, error);
}
