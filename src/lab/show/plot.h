/* Plots as SVG, written as they are drawn: nothing is kept but the axes of the current panel.
 *
 * plot_begin(), then for each panel plot_panel() and what is drawn in it, then plot_legend() and plot_end().
 * The caller owns the stream and looks at ferror() at the end. Texts are escaped here. */
#ifndef PIOLET_LAB_PLOT_H
#define PIOLET_LAB_PLOT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum plot_unit {
    PLOT_NUMBER,
    PLOT_TIME, /* nanoseconds */
    PLOT_BYTES,
    PLOT_BINARY /* bytes, in powers of 1024; on log axes only */
};

struct plot_axis {
    double min, max;
    bool log;
    bool whole; /* numbers count something: no ticks between them */
    enum plot_unit unit;
    const char *label;        /* "": numbers only; NULL: no label, and on an x axis no numbers */
    const char *const *names; /* NULL, or words that stand at 0, 1, ... in the place of numbers; borrowed */
    size_t name_count;
};

struct plot_box {
    double x, y, width, height;
};

struct plot_panel {
    struct plot_box box;
    struct plot_axis x, y;
    const char *title; /* may be NULL */
};

struct plot {
    FILE *stream;
    double width, height;
    struct plot_panel panel; /* the current one */
    int panels;
};

enum plot_marker { PLOT_CIRCLE, PLOT_SQUARE, PLOT_TRIANGLE, PLOT_MARKERS };

struct plot_style {
    int colour; /* index, any number >= 0: the palette repeats */
    bool dashed;
    bool filled; /* points: full or open */
    enum plot_marker marker;
    double shift; /* to the right, in pixels: keeps points of equal x apart */
    bool bare;    /* legend: a line without a marker */
    bool patch;   /* legend: a filled box, for columns and areas */
};

enum { PLOT_COLOURS = 7 };

void plot_begin(struct plot *plot, FILE *stream, double width, double height, const char *title, const char *subtitle);
/* Draws frame, grid, ticks and labels, and makes it current. Ranges that are empty or not positive on a log axis are
 * mended. */
void plot_panel(struct plot *plot, const struct plot_panel *panel);
/* Points that are not finite (or not positive on a log axis) interrupt a line and are not drawn. */
void plot_line(struct plot *plot, const double *x, const double *y, size_t count, struct plot_style style);
void plot_points(struct plot *plot, const double *x, const double *y, size_t count, double radius,
                 struct plot_style style);
/* Error bars from low to high. */
void plot_intervals(struct plot *plot, const double *x, const double *low, const double *high, size_t count,
                    struct plot_style style);
/* The area between two lines. */
void plot_area(struct plot *plot, const double *x, const double *low, const double *high, size_t count,
               struct plot_style style);
/* Columns from 0, or from the lower edge, to y; `width` in pixels. */
void plot_columns(struct plot *plot, const double *x, const double *y, size_t count, double width,
                  struct plot_style style);
/* A small text above the current panel's upper right corner. */
void plot_note(struct plot *plot, const char *text);

/* How many lines a panel's title takes, and the room that the x axis needs below it. */
int plot_title_lines(const char *title, double width);
double plot_x_room(const struct plot_axis *axis, double width);

/* One entry; `row` counts from 0 downward from (x, y). */
void plot_legend(struct plot *plot, double x, double y, int row, struct plot_style style, const char *text);
void plot_caption(struct plot *plot, double x, double y, const char *text);
void plot_end(struct plot *plot);

/* Ticks of an axis at round numbers, about `wanted` of them and on a log axis hardly more (1-2-5, 1-10 or 1-100 as
 * there is room); returns their number. */
enum { PLOT_TICKS_MAX = 64 };
size_t plot_ticks(const struct plot_axis *axis, int wanted, double ticks[PLOT_TICKS_MAX]);

/* Calls draw(context, stream) for an output; a name that ends in .png goes through rsvg-convert. output_commit() puts
 * the plot in its place. */
typedef pl_status plot_draw(void *context, FILE *stream, struct pl_error *error);
pl_status plot_to_file(const char *path, plot_draw *draw, void *context, struct pl_error *error);

/* A file without a name; NULL: the error says why. */
FILE *plot_temporary(struct pl_error *error);

#endif
