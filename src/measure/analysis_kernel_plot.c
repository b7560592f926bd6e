/* The figure of kernels: a row for each test, columns write and read. Each row has its own legend and its own range,
 * which its panels share. */
#include "measure/analysis_kernel_plot.h"

#include "measure/analysis_names.h"
#include "measure/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1180, LEFT = 84, TOP = 78, GAP = 56, LEGEND = 850, PANEL_RIGHT = LEGEND - 26 };
enum { TITLE = 26, PANEL = 190, X_AXIS = 52, ROW_GAP = 16, BOTTOM = 14, CAPTION = 15, NOTES_MAX = 12 };
enum { BARS_MIN = 5 }; /* fewer than these leave room: a bar keeps its width */
enum { LEGEND_LINE = 18, LEGEND_CHARS = 42, LEGEND_LINES = 4 };

/* Seven colours; the curves beyond them have open squares. */
static struct plot_style style_of(size_t curve)
{
    return (struct plot_style){.colour = (int)curve,
                               .filled = curve < PLOT_COLOURS,
                               .marker = curve < PLOT_COLOURS ? PLOT_CIRCLE : PLOT_SQUARE};
}

static void draw_bar(struct plot *plot, const struct kernel_curve *curve, const double *rate, double bottom,
                     struct plot_style style)
{
    enum { STROKES = 161 };
    double x[STROKES], low[STROKES], high[STROKES];
    for (size_t i = 0; i < curve->count; i++) {
        for (int s = 0; s < STROKES; s++) {
            x[s] = curve->x[i] + 0.6 * ((double)s / (STROKES - 1) - 0.5);
            low[s] = bottom;
            high[s] = rate[i];
        }
        plot_band(plot, x, low, high, STROKES, style);
    }
}

static void draw_curve(struct plot *plot, const struct kernel_row *row, size_t index, int direction, double bottom)
{
    const struct kernel_curve *curve = &row->curves[index];
    struct plot_style style = style_of(index);
    const double *rate = curve->rate[direction];
    if (row->kind == KERNEL_X_NONE)
        draw_bar(plot, curve, rate, bottom, style);
    else
        style.shift = 2.5 * ((double)index - (double)(row->curve_count - 1) / 2);
    if (row->kind != KERNEL_X_NONE)
        plot_line(plot, curve->x, rate, curve->count, style);
    plot_bars(plot, curve->x, rate, curve->error[direction], curve->count, style);
    plot_points(plot, curve->x, rate, curve->count, 3.6, style);
}

static void draw_panel(struct plot *plot, const struct kernel_figure *figure, const struct kernel_row *row,
                       int direction, double top)
{
    static const char *const directions[KERNEL_DIRECTIONS] = {"write", "read"};
    const char *const *traits = figure->kernel->tables[row->table].traits;
    const double width = (PANEL_RIGHT - LEFT - GAP) / 2.0;
    const bool log_rate = row->high > 10 * row->low;
    const bool bars = row->kind == KERNEL_X_NONE;
    char processes[ANALYSIS_NAME_MAX], title[2 * ANALYSIS_NAME_MAX];
    const bool update = strcmp(traits[KERNEL_TEST], "nonseq") == 0 && direction == 0;
    snprintf(title, sizeof title, "%.24s, %.24s: %s", traits[KERNEL_TEST],
             analysis_processes_text(traits[KERNEL_NPROCS], false, processes),
             update ? "update" : directions[direction]);
    const struct plot_panel panel = {
        .box = {LEFT + direction * (width + GAP), top + TITLE, width, PANEL},
        .x = {.min = bars ? 0 : row->x_low / 1.3,
              .max = bars ? fmax((double)row->curve_count, BARS_MIN) : row->x_high * 1.3,
              .log = !bars,
              .whole = bars,
              .unit = bars ? PLOT_NUMBER : PLOT_BYTES,
              .label = bars                         ? NULL
                       : row->kind == KERNEL_X_FILE ? "problem size"
                                                    : "block size"},
        .y = {.min = log_rate ? row->low / (bars ? 2 : 1.2) : 0,
              .max = row->high * (log_rate ? 1.25 : 1.08),
              .log = log_rate,
              .label = direction == 0 || !row->has[0] ? "rate (MB/s)" : ""},
        .title = title,
    };
    plot_panel(plot, &panel);
    for (size_t i = 0; i < row->curve_count; i++)
        draw_curve(plot, row, i, direction, panel.y.min);
}

/* Bytes of the label that go into the next line: up to a comma or blank, if there is one. */
static size_t label_line(const char *label)
{
    if (strlen(label) <= LEGEND_CHARS)
        return strlen(label);
    size_t length = LEGEND_CHARS;
    while (length > LEGEND_CHARS / 3 && label[length - 1] != ' ')
        length--;
    if (length == LEGEND_CHARS / 3)
        length = LEGEND_CHARS;
    while (length > 1 && ((unsigned char)label[length] & 0xc0) == 0x80)
        length--;
    return length;
}

static int legend_lines(const char *label)
{
    int lines = 0;
    do {
        label += label_line(label);
        lines++;
    } while (*label && lines < LEGEND_LINES);
    return lines;
}

static void draw_legend(struct plot *plot, const struct kernel_row *row, double top)
{
    double y = top + TITLE + 10;
    for (size_t i = 0; i < row->curve_count; i++) {
        const char *label = text_get(&row->curves[i].label);
        for (int line = 0; line < LEGEND_LINES && (*label || line == 0); line++) {
            const size_t length = label_line(label);
            char text[LEGEND_CHARS + 8];
            snprintf(text, sizeof text, "%.*s%s", (int)length, label,
                     line + 1 == LEGEND_LINES && label[length] ? "…" : "");
            if (line == 0)
                plot_legend(plot, LEGEND, y, 0, style_of(i), text);
            else
                plot_caption(plot, LEGEND + 34, y + 4, text);
            label += length;
            y += LEGEND_LINE;
        }
    }
}

static void draw_left_out(struct plot *plot, const struct kernel *kernel, double y)
{
    if (kernel->left_out.length)
        plot_caption(plot, LEFT, y, "not drawn (choose with --test, --block, --set, --op):");
    size_t line = 0;
    for (const char *at = text_get(&kernel->left_out); *at; at += strcspn(at, "\n") + 1, line++) {
        char text[ANALYSIS_NAME_MAX + 40];
        if (line == NOTES_MAX) {
            plot_caption(plot, LEFT + 16, y + CAPTION * (double)(line + 1), "and more, named below the table");
            return;
        }
        snprintf(text, sizeof text, "%.*s", (int)strcspn(at + 2, "\n"), at + 2);
        plot_caption(plot, LEFT + 16, y + CAPTION * (double)(line + 1), text);
    }
}

static double notes_height(const struct kernel *kernel)
{
    size_t lines = 0;
    for (const char *at = text_get(&kernel->left_out); *at; at += strcspn(at, "\n") + 1)
        lines++;
    return lines ? CAPTION * (2.0 + (double)(lines < NOTES_MAX ? lines : NOTES_MAX + 1)) : 0;
}

static double row_height(const struct kernel_row *row)
{
    double legend = 0;
    for (size_t i = 0; i < row->curve_count; i++)
        legend += LEGEND_LINE * legend_lines(text_get(&row->curves[i].label));
    return TITLE + fmax(PANEL + X_AXIS, legend + LEGEND_LINE) + ROW_GAP;
}

static void draw_figure(const struct kernel_figure *figure, FILE *stream)
{
    double height = TOP + BOTTOM + notes_height(figure->kernel);
    for (size_t r = 0; r < figure->row_count; r++)
        height += row_height(&figure->rows[r]);
    struct plot plot;
    plot_begin(&plot, stream, WIDTH, height, "Rates of kernels",
               "bars: 90 % confidence, cut at the frame; lines of equal size stand side by side; each test has its own "
               "range, shared by its panels");
    double top = TOP;
    for (size_t r = 0; r < figure->row_count; r++) {
        for (int d = 0; d < KERNEL_DIRECTIONS; d++)
            if (figure->rows[r].has[d])
                draw_panel(&plot, figure, &figure->rows[r], d, top);
        draw_legend(&plot, &figure->rows[r], top);
        top += row_height(&figure->rows[r]);
    }
    draw_left_out(&plot, figure->kernel, top + CAPTION);
    plot_end(&plot);
}

pl_status kernel_plot_draw(void *context, FILE *stream, struct pl_error *error)
{
    struct kernel_figure *figure = calloc(1, sizeof *figure);
    if (!figure)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for a plot");
    figure->kernel = context;
    const pl_status status = kernel_figure_fill(figure, error);
    if (status == PL_OK)
        draw_figure(figure, stream);
    kernel_figure_clear(figure);
    free(figure);
    return status;
}
