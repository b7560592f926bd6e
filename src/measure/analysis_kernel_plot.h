/* Inside of analysis_kernel_plot.c and analysis_kernel_curves.c: the rows of the figure and their curves. */
#ifndef PIOLET_MEASURE_ANALYSIS_KERNEL_PLOT_H
#define PIOLET_MEASURE_ANALYSIS_KERNEL_PLOT_H

#include "measure/analysis_kernel.h"

enum { KERNEL_PLOT_ROWS = 8, KERNEL_PLOT_CURVES = 10 };

/* Panels: left and right. */
enum { KERNEL_WRITE, KERNEL_READ, KERNEL_DIRECTIONS };

/* What x is; KERNEL_X_NONE: bars. */
enum kernel_x { KERNEL_X_FILE, KERNEL_X_BLOCK, KERNEL_X_NONE };

struct kernel_curve {
    struct text label;
    double *x, *rate[KERNEL_DIRECTIONS], *error[KERNEL_DIRECTIONS];
    size_t count;
};

struct kernel_row {
    size_t table;
    enum kernel_x kind;
    struct kernel_curve curves[KERNEL_PLOT_CURVES];
    size_t curve_count;
    bool has[KERNEL_DIRECTIONS];
    double x_low, x_high, low, high;
};

struct kernel_figure {
    struct kernel *kernel;
    struct kernel_row rows[KERNEL_PLOT_ROWS];
    size_t row_count;
};

/* A row for each test; what finds no room is named in kernel->left_out. */
pl_status kernel_figure_fill(struct kernel_figure *figure, struct pl_error *error);
void kernel_figure_clear(struct kernel_figure *figure);

#endif
