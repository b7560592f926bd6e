/* The plot of raw times: one row of axes for each process. */
#ifndef PIOLET_MEASURE_ANALYSIS_RAWDATA_PLOT_H
#define PIOLET_MEASURE_ANALYSIS_RAWDATA_PLOT_H

#include "measure/analysis_rows.h"
#include "measure/plot.h"

enum { ANALYSIS_PLOT_ROWS = 12, ANALYSIS_PLOT_OPS = 8 };

struct analysis_plot_series {
    const struct blockfile_series *series; /* borrowed */
    struct analysis_region region;
    int op; /* index in ops: its colour */
};

struct analysis_plot_row {
    struct analysis_chosen chosen;
    int rank;
    struct analysis_plot_series series[ANALYSIS_PLOT_OPS];
    size_t count;
};

/* Collected while the sets are analysed; {0} to begin with. Borrows from the block files. */
struct analysis_rawdata_plot {
    struct analysis_plot_row rows[ANALYSIS_PLOT_ROWS];
    size_t row_count;
    size_t left_out; /* processes that found no room */
    const char *ops[ANALYSIS_PLOT_OPS];
    size_t op_count;
    double min_ns, max_ns, median_ns; /* over what is drawn */
    int64_t from, to;
    int64_t operations;
    bool several_sets;
};

void analysis_rawdata_plot_add(struct analysis_rawdata_plot *plot, const struct analysis_request *request,
                               const struct analysis_chosen *chosen, const struct analysis_rows *rows);
/* A plot_draw; streams the series once more. */
pl_status analysis_rawdata_plot_draw(void *plot, FILE *stream, struct pl_error *error);

#endif
