/* The plot of raw times: one row of axes for each process. */
#ifndef PIOLET_MEASURE_ANALYSIS_RAWDATA_PLOT_H
#define PIOLET_MEASURE_ANALYSIS_RAWDATA_PLOT_H

#include "measure/analysis_choice.h"
#include "measure/analysis_rows.h"
#include "measure/plot.h"

enum { ANALYSIS_PLOT_ROWS = 12, ANALYSIS_PLOT_OPS = 10 };

struct analysis_plot_series {
    const struct blockfile_series *series; /* borrowed */
    struct analysis_region region;
    int op; /* index in ops: its colour */
};

/* The axes that all processes of a set share. */
struct analysis_plot_range {
    double min_ns, max_ns, median_ns; /* over what is drawn */
    int64_t from, to;
    bool any;
};

struct analysis_plot_row {
    struct analysis_chosen chosen;
    int rank;
    struct analysis_plot_series series[ANALYSIS_PLOT_OPS];
    size_t count;
    size_t range; /* index in ranges */
};

/* Collected while the sets are analysed. Borrows from the block files. */
struct analysis_rawdata_plot {
    struct analysis_choice choice;
    struct analysis_plot_row rows[ANALYSIS_PLOT_ROWS];
    size_t row_count;
    struct analysis_plot_range ranges[ANALYSIS_PLOT_ROWS];
    size_t range_count;
    size_t left_out; /* processes that found no room */
    const char *ops[ANALYSIS_PLOT_OPS];
    size_t op_count;
    size_t series_count;
};

/* Chooses what is drawn; `plot` is {0}. */
pl_status analysis_rawdata_plot_begin(struct analysis_rawdata_plot *plot, const struct analysis_request *request,
                                      const struct analysis_input *input, struct pl_error *error);
void analysis_rawdata_plot_add(struct analysis_rawdata_plot *plot, const struct analysis_request *request,
                               const struct analysis_chosen *chosen, const struct analysis_rows *rows);
/* A plot_draw of a plot; streams the series once more. */
pl_status analysis_rawdata_plot_draw(void *context, FILE *stream, struct pl_error *error);
void analysis_rawdata_plot_clear(struct analysis_rawdata_plot *plot);

#endif
