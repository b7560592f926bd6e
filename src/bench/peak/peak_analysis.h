/* The analysis tool of peak measurements: table, peaks, exports and a plot. */
#ifndef PIOLET_BENCH_PEAK_ANALYSIS_H
#define PIOLET_BENCH_PEAK_ANALYSIS_H

#include "bench/peak/peak_points.h"

/* As the tools of measure/analysis_tools.h. */
pl_status peak_analysis(const struct analysis_request *request, const struct analysis_input *input,
                        struct pl_error *error);

/* Rate against request size; a row of panels for each block. */
pl_status peak_plot(const struct peak_points *points, const char *path, struct pl_error *error);

#endif
