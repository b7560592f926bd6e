/* Inside of plot_*.c: ranges, units and labels of axes. */
#ifndef PIOLET_LAB_PLOT_AXIS_H
#define PIOLET_LAB_PLOT_AXIS_H

#include "lab/show/plot.h"

enum { PLOT_LABEL_MAX = 48 };

struct plot_scale {
    double factor;
    const char *name;
};

/* A range that can be drawn, whatever was asked for. */
struct plot_axis plot_axis_mended(struct plot_axis axis);
struct plot_scale plot_axis_scale(enum plot_unit unit, double magnitude);
void plot_axis_text(const struct plot_axis *axis, double tick, char text[PLOT_LABEL_MAX]);
/* The label, with the unit that the ticks of a linear axis are in. */
void plot_axis_title(const struct plot_axis *axis, char *title, size_t size);

#endif
