/* The plot of distributions: a panel for each operation, a curve for each process. */
#ifndef PIOLET_MEASURE_ANALYSIS_DISTRIBUTION_PLOT_H
#define PIOLET_MEASURE_ANALYSIS_DISTRIBUTION_PLOT_H

#include "measure/analysis_rows.h"
#include "measure/plot.h"

enum { ANALYSIS_CURVES = 10, ANALYSIS_CURVE_BINS = 90, ANALYSIS_CURVE_OPS = 6 };

struct analysis_curve {
    char label[64];
    double low_ns, high_ns;
    size_t bins;
    double part[ANALYSIS_CURVE_BINS]; /* of the operations, in % of all, for each bin */
};

struct analysis_distribution_panel {
    const char *op; /* borrowed */
    struct analysis_curve curves[ANALYSIS_CURVES];
    size_t count;
};

/* {0} to begin with; borrows from the block files. */
struct analysis_distribution_plot {
    struct analysis_distribution_panel panels[ANALYSIS_CURVE_OPS];
    size_t count;
    size_t left_out;
    const struct blockfile_set *first_set;
    const char *testname;
};

void analysis_distribution_plot_add(struct analysis_distribution_plot *plot, const struct analysis_chosen *chosen,
                                    const struct analysis_row *row, const struct analysis_histogram *histogram,
                                    double low_ns, double high_ns);
pl_status analysis_distribution_plot_draw(void *plot, FILE *stream, struct pl_error *error);

#endif
