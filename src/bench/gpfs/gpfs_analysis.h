/* The analysis tool of these benchmarks: a table with ratios, and plots as in the document's figures. */
#ifndef PIOLET_BENCH_GPFS_ANALYSIS_H
#define PIOLET_BENCH_GPFS_ANALYSIS_H

#include "bench/gpfs/gpfs_points.h"

#include <stdio.h>

/* As the tools of measure/analysis_tools.h. */
pl_status gpfs_analysis(const struct analysis_request *request, const struct analysis_input *input,
                        struct pl_error *error);

/* The parameters of a cell behind a word, in lines of at most 79 columns. */
void gpfs_analysis_print_cell(const char *before, const struct gpfs_cell *cell, FILE *text);

/* The table of all cells. */
void gpfs_analysis_print(const struct gpfs_points *points, FILE *text);

/* Rate against the parameter that varies, or bars where none does; a row of panels for each other combination. */
pl_status gpfs_plot(const struct gpfs_points *points, const char *path, struct pl_error *error);

#endif
