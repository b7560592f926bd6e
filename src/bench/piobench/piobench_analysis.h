/* The analysis tool of PIOBENCH: a table with ratios, a plot, findings in words. */
#ifndef PIOLET_BENCH_PIOBENCH_ANALYSIS_H
#define PIOLET_BENCH_PIOBENCH_ANALYSIS_H

#include "bench/piobench/piobench_points.h"

/* As the tools of measure/analysis_tools.h. */
pl_status piobench_analysis(const struct analysis_request *request, const struct analysis_input *input,
                            struct pl_error *error);

/* Rate against data block size: a panel for each row of cells, a line for each algorithm. */
pl_status piobench_plot(const struct piobench_points *points, const char *path, struct pl_error *error);

#endif
