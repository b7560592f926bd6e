/* The plot of distributions: a panel for each test and operation, a curve for each process or, of several sets, for
 * each set. */
#ifndef PIOLET_MEASURE_ANALYSIS_DISTRIBUTION_PLOT_H
#define PIOLET_MEASURE_ANALYSIS_DISTRIBUTION_PLOT_H

#include "measure/analysis_choice.h"
#include "measure/analysis_rows.h"
#include "measure/plot.h"

enum { ANALYSIS_CURVES = 10, ANALYSIS_CURVE_BINS = 192, ANALYSIS_CURVE_OPS = 9, ANALYSIS_CURVE_TESTS = 4 };

struct analysis_curve {
    size_t source; /* index in sources: colour and legend */
    double low_ns, high_ns;
    size_t bins;
    double part[ANALYSIS_CURVE_BINS]; /* of the operations, in % of all, for each bin */
};

struct analysis_distribution_panel {
    const char *op; /* borrowed */
    struct analysis_curve curves[ANALYSIS_CURVES];
    size_t count;
};

/* A process of a set: the same in all panels of a test. */
struct analysis_curve_source {
    struct analysis_chosen chosen;
    int rank;
};

/* Sets of one test, access and number of processes. */
struct analysis_distribution_test {
    struct analysis_curve_source sources[ANALYSIS_CURVES];
    size_t source_count;
    bool several_sets;
    struct analysis_distribution_panel panels[ANALYSIS_CURVE_OPS];
    size_t panel_count;
};

/* Borrows from the block files. */
struct analysis_distribution_plot {
    struct analysis_choice choice;
    struct analysis_distribution_test tests[ANALYSIS_CURVE_TESTS];
    size_t test_count;
    size_t left_out; /* curves */
};

/* Chooses what is drawn; `plot` is {0}. */
pl_status analysis_distribution_plot_begin(struct analysis_distribution_plot *plot,
                                           const struct analysis_request *request, const struct analysis_input *input,
                                           struct pl_error *error);
/* `low_ns` to `high_ns`: the range of all processes of this set and operation. */
void analysis_distribution_plot_add(struct analysis_distribution_plot *plot, const struct analysis_chosen *chosen,
                                    const struct analysis_row *row, const struct analysis_histogram *histogram,
                                    double low_ns, double high_ns);
pl_status analysis_distribution_plot_draw(void *context, FILE *stream, struct pl_error *error);
void analysis_distribution_plot_clear(struct analysis_distribution_plot *plot);

#endif
