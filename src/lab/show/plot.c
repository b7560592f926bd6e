#include "lab/show/plot.h"

#include "base/text.h"
#include "base/utf8.h"
#include "lab/show/plot_axis.h"

#include <math.h>
#include <string.h>

/* Okabe and Ito's palette, told apart by colour-blind readers; without its yellow, which is too light for lines. */
static const char *const PALETTE[PLOT_COLOURS] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                  "#E69F00", "#56B4E9", "#000000"};

static const char *plot_colour(struct plot_style style)
{
    return PALETTE[style.colour % PLOT_COLOURS];
}

static void put_text(struct plot *plot, double x, double y, const char *attributes, const char *text)
{
    fprintf(plot->stream, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    utf8_put_markup(plot->stream, text);
    fputs("</text>\n", plot->stream);
}

void plot_begin(struct plot *plot, FILE *stream, double width, double height, const char *title, const char *subtitle)
{
    *plot = (struct plot){.stream = stream, .width = width, .height = height};
    fprintf(stream,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
            "font-family=\"'DejaVu Sans', Verdana, Arial, sans-serif\" font-size=\"12\" fill=\"#222\">\n"
            "<title>",
            width, height, width, height);
    utf8_put_markup(stream, title);
    fputs("</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", stream);
    put_text(plot, 20, 28, "font-size=\"17\" font-weight=\"bold\"", title);
    if (subtitle)
        put_text(plot, 20, 48, "fill=\"#555\"", subtitle);
}

static double plot_place(double value, const struct plot_axis *axis)
{
    if (axis->log)
        return value > 0 ? log(value / axis->min) / log(axis->max / axis->min) : NAN;
    return (value - axis->min) / (axis->max - axis->min);
}

static double x_of(const struct plot *plot, double value)
{
    return plot->panel.box.x + plot_place(value, &plot->panel.x) * plot->panel.box.width;
}

/* Far outside of the panel is cut by the clip path; numbers of any size would not be valid there. */
static double y_of(const struct plot *plot, double value)
{
    const double part = fmax(-2, fmin(3, plot_place(value, &plot->panel.y)));
    return isfinite(plot_place(value, &plot->panel.y)) ? plot->panel.box.y + (1 - part) * plot->panel.box.height : NAN;
}

enum { LABEL_WIDTH = 60, LABEL_HEIGHT = 30, X_TICKS = 8, Y_TICKS = 6 };

/* As many as find room beside each other, within reason. */
static int ticks_wanted(double length, int label, int most)
{
    const int room = (int)(length / label);
    return room < 2 ? 2 : room > most ? most : room;
}

enum { CHARACTER = 7, X_ROOM = 52, TITLE_LINE = 15 };

/* Are the names too long to stand beside each other? */
static size_t slanted_length(const struct plot_axis *axis, double width)
{
    size_t longest = 0;
    for (size_t i = 0; axis->names && i < axis->name_count; i++) {
        const size_t length = utf8_count(axis->names[i], strlen(axis->names[i]));
        longest = length > longest ? length : longest;
    }
    longest = longest > PLOT_LABEL_MAX - 1 ? PLOT_LABEL_MAX - 1 : longest;
    return longest && (double)longest * CHARACTER * (axis->max - axis->min) > width ? longest : 0;
}

double plot_x_room(const struct plot_axis *axis, double width)
{
    return X_ROOM + 0.42 * CHARACTER * (double)slanted_length(axis, width);
}

static void put_slanted(struct plot *plot, double x, double y, const char *text)
{
    char attributes[96];
    snprintf(attributes, sizeof attributes, "text-anchor=\"end\" font-size=\"11\" transform=\"rotate(-30 %.1f %.1f)\"",
             x, y);
    put_text(plot, x, y, attributes, text);
}

static void draw_x_axis(struct plot *plot)
{
    const struct plot_box *box = &plot->panel.box;
    const struct plot_axis *axis = &plot->panel.x;
    double ticks[PLOT_TICKS_MAX];
    const size_t count = plot_ticks(axis, ticks_wanted(box->width, LABEL_WIDTH, X_TICKS), ticks);
    const bool slanted = slanted_length(axis, box->width) > 0;
    char text[PLOT_LABEL_MAX];
    for (size_t i = 0; i < count; i++) {
        const double x = x_of(plot, ticks[i]);
        fprintf(plot->stream, "<path d=\"M%.1f %.1fv%.1f\" stroke=\"#e4e4e4\"/>\n", x, box->y, box->height);
        if (!axis->label)
            continue;
        plot_axis_text(axis, ticks[i], text);
        if (slanted)
            put_slanted(plot, x + 6, box->y + box->height + 14, text);
        else
            put_text(plot, x, box->y + box->height + 17, "text-anchor=\"middle\" font-size=\"11\"", text);
    }
    char title[128];
    if (!axis->label || !axis->label[0])
        return;
    plot_axis_title(axis, title, sizeof title);
    put_text(plot, box->x + box->width / 2, box->y + box->height + plot_x_room(axis, box->width) - 16,
             "text-anchor=\"middle\"", title);
}

static void draw_y_axis(struct plot *plot)
{
    const struct plot_box *box = &plot->panel.box;
    const struct plot_axis *axis = &plot->panel.y;
    double ticks[PLOT_TICKS_MAX];
    const size_t count = plot_ticks(axis, ticks_wanted(box->height, LABEL_HEIGHT, Y_TICKS), ticks);
    char text[PLOT_LABEL_MAX];
    for (size_t i = 0; i < count; i++) {
        const double y = y_of(plot, ticks[i]);
        fprintf(plot->stream, "<path d=\"M%.1f %.1fh%.1f\" stroke=\"#e4e4e4\"/>\n", box->x, y, box->width);
        plot_axis_text(axis, ticks[i], text);
        put_text(plot, box->x - 7, y + 4, "text-anchor=\"end\" font-size=\"11\"", text);
    }
    if (!axis->label || !axis->label[0])
        return;
    char title[128];
    char attributes[96];
    plot_axis_title(axis, title, sizeof title);
    const double x = box->x - 58;
    const double y = box->y + box->height / 2;
    snprintf(attributes, sizeof attributes, "text-anchor=\"middle\" transform=\"rotate(-90 %.1f %.1f)\"", x, y);
    put_text(plot, x, y, attributes, title);
}

static void wrap_title(const char *title, double width, struct text *lines)
{
    text_add_wrapped(lines, title, 0, 0, (size_t)(width / CHARACTER));
}

int plot_title_lines(const char *title, double width)
{
    struct text lines = {0};
    int count = title && *title;
    if (count)
        wrap_title(title, width, &lines);
    for (const char *at = text_get(&lines); (at = strchr(at, '\n')); at++)
        count++;
    text_clear(&lines);
    return count;
}

/* The last line stands on the frame, the others above it. */
static void draw_title(struct plot *plot, const char *title)
{
    const struct plot_box *box = &plot->panel.box;
    struct text lines = {0};
    wrap_title(title, box->width, &lines);
    double y = box->y - 7 - TITLE_LINE * (plot_title_lines(title, box->width) - 1);
    for (char *at = lines.data; at && !lines.failed; y += TITLE_LINE) {
        char *end = strchr(at, '\n');
        if (end)
            *end = '\0';
        put_text(plot, box->x, y, "font-weight=\"bold\"", at);
        at = end ? end + 1 : NULL;
    }
    text_clear(&lines);
}

void plot_panel(struct plot *plot, const struct plot_panel *panel)
{
    plot->panel = *panel;
    plot->panel.x = plot_axis_mended(panel->x);
    plot->panel.y = plot_axis_mended(panel->y);
    plot->panels++;
    const struct plot_box *box = &plot->panel.box;
    fprintf(plot->stream,
            "<clipPath id=\"p%d\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/></clipPath>\n",
            plot->panels, box->x, box->y - 1, box->width + 1, box->height + 2);
    draw_x_axis(plot);
    draw_y_axis(plot);
    fprintf(plot->stream,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" stroke=\"#999\"/>\n", box->x,
            box->y, box->width, box->height);
    if (panel->title)
        draw_title(plot, panel->title);
}

void plot_line(struct plot *plot, const double *x, const double *y, size_t count, struct plot_style style)
{
    fprintf(plot->stream,
            "<path clip-path=\"url(#p%d)\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" "
            "stroke-linejoin=\"round\"%s d=\"",
            plot->panels, plot_colour(style), style.dashed ? " stroke-dasharray=\"6 4\" opacity=\"0.85\"" : "");
    bool drawing = false;
    fputs("M0 0", plot->stream); /* an empty path would not be valid */
    for (size_t i = 0; i < count; i++) {
        const double px = x_of(plot, x[i]) + style.shift;
        const double py = y_of(plot, y[i]);
        const bool there = isfinite(px) && isfinite(py);
        if (there)
            fprintf(plot->stream, "%c%.1f %.1f", drawing ? 'L' : 'M', px, py);
        drawing = there;
    }
    fputs("\"/>\n", plot->stream);
}

static void put_marker(FILE *stream, double x, double y, double r, enum plot_marker marker)
{
    if (marker == PLOT_SQUARE)
        fprintf(stream, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", x - r, y - r, 2 * r, 2 * r);
    else if (marker == PLOT_TRIANGLE)
        fprintf(stream, "<path d=\"M%.1f %.1fl%.1f %.1fh%.1fz\"/>\n", x, y - 1.2 * r, 1.2 * r, 2.1 * r, -2.4 * r);
    else
        fprintf(stream, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", x, y, r);
}

static void put_marker_group(FILE *stream, struct plot_style style)
{
    fprintf(stream, " fill=\"%s\" stroke=\"%s\" stroke-width=\"%s\">\n", style.filled ? plot_colour(style) : "#ffffff",
            plot_colour(style), style.filled ? "0" : "1.4");
}

void plot_points(struct plot *plot, const double *x, const double *y, size_t count, double radius,
                 struct plot_style style)
{
    fprintf(plot->stream, "<g clip-path=\"url(#p%d)\"", plot->panels);
    put_marker_group(plot->stream, style);
    for (size_t i = 0; i < count; i++) {
        const double px = x_of(plot, x[i]) + style.shift;
        const double py = y_of(plot, y[i]);
        if (isfinite(px) && isfinite(py))
            put_marker(plot->stream, px, py, radius, style.marker);
    }
    fputs("</g>\n", plot->stream);
}

/* On a log axis a bar that would reach below 0 ends at the lower edge. */
static double bar_low(const struct plot *plot, double value)
{
    return plot->panel.y.log && value <= 0 ? plot->panel.y.min : value;
}

static void begin_intervals(struct plot *plot, struct plot_style style)
{
    fprintf(plot->stream,
            "<path clip-path=\"url(#p%d)\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.1\" opacity=\"0.7\" d=\"M0 0",
            plot->panels, plot_colour(style));
}

static void put_interval(struct plot *plot, double x, double low, double high, struct plot_style style)
{
    enum { CAP = 3 };
    const double px = x_of(plot, x) + style.shift, top = y_of(plot, high), bottom = y_of(plot, bar_low(plot, low));
    if (isfinite(px) && isfinite(top) && isfinite(bottom))
        fprintf(plot->stream, "M%.1f %.1fV%.1fM%.1f %.1fh%dM%.1f %.1fh%d", px, top, bottom, px - CAP, top, 2 * CAP,
                px - CAP, bottom, 2 * CAP);
}

void plot_intervals(struct plot *plot, const double *x, const double *low, const double *high, size_t count,
                    struct plot_style style)
{
    begin_intervals(plot, style);
    for (size_t i = 0; i < count; i++)
        put_interval(plot, x[i], low[i], high[i], style);
    fputs("\"/>\n", plot->stream);
}

void plot_area(struct plot *plot, const double *x, const double *low, const double *high, size_t count,
               struct plot_style style)
{
    fprintf(plot->stream, "<path clip-path=\"url(#p%d)\" stroke=\"none\" fill=\"%s\" opacity=\"0.2\" d=\"M0 0",
            plot->panels, plot_colour(style));
    for (size_t first = 0, end; first < count; first = end + 1) { /* a gap ends an area, and another one begins */
        for (end = first; end < count && isfinite(x_of(plot, x[end])) && isfinite(y_of(plot, high[end])) &&
                          isfinite(y_of(plot, bar_low(plot, low[end])));
             end++)
            fprintf(plot->stream, "%c%.1f %.1f", end == first ? 'M' : 'L', x_of(plot, x[end]), y_of(plot, high[end]));
        for (size_t i = end; i-- > first;)
            fprintf(plot->stream, "L%.1f %.1f", x_of(plot, x[i]), y_of(plot, bar_low(plot, low[i])));
        fputs(end > first ? "Z" : "", plot->stream);
    }
    fputs("\"/>\n", plot->stream);
}

void plot_columns(struct plot *plot, const double *x, const double *y, size_t count, double width,
                  struct plot_style style)
{
    const double base = y_of(plot, plot->panel.y.log ? plot->panel.y.min : fmax(0, plot->panel.y.min));
    fprintf(plot->stream, "<g clip-path=\"url(#p%d)\" fill=\"%s\" opacity=\"0.85\">\n", plot->panels,
            plot_colour(style));
    for (size_t i = 0; i < count; i++) {
        const double px = x_of(plot, x[i]) + style.shift, py = y_of(plot, y[i]);
        if (isfinite(px) && isfinite(py))
            fprintf(plot->stream, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", px - width / 2,
                    fmin(py, base), width, fabs(base - py));
    }
    fputs("</g>\n", plot->stream);
}

void plot_note(struct plot *plot, const char *text)
{
    const struct plot_box *box = &plot->panel.box;
    put_text(plot, box->x + box->width, box->y - 7, "text-anchor=\"end\" fill=\"#555\" font-size=\"11\"", text);
}

void plot_legend(struct plot *plot, double x, double y, int row, struct plot_style style, const char *text)
{
    enum { ROW = 18 };
    const double middle = y + row * ROW;
    if (style.patch) {
        fprintf(plot->stream, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"10\" fill=\"%s\" opacity=\"0.85\"/>\n",
                x + 6, middle - 5, plot_colour(style));
        put_text(plot, x + 34, middle + 4, "font-size=\"11\"", text);
        return;
    }
    fprintf(plot->stream, "<path d=\"M%.1f %.1fh26\" stroke=\"%s\" stroke-width=\"2\"%s/>\n", x, middle,
            plot_colour(style), style.dashed ? " stroke-dasharray=\"6 4\"" : "");
    if (!style.dashed && !style.bare) {
        fputs("<g", plot->stream);
        put_marker_group(plot->stream, style);
        put_marker(plot->stream, x + 13, middle, 3.6, style.marker);
        fputs("</g>\n", plot->stream);
    }
    put_text(plot, x + 34, middle + 4, "font-size=\"11\"", text);
}

void plot_caption(struct plot *plot, double x, double y, const char *text)
{
    put_text(plot, x, y, "fill=\"#555\" font-size=\"11\"", text);
}

void plot_end(struct plot *plot)
{
    fputs("</svg>\n", plot->stream);
}
