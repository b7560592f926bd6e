/* The analysis tools: each reads the chosen sets, writes a table to request->text, summaries to request->json and
 * request->csv, and a plot to request->plot. PL_E_INPUT: the selection is empty. */
#ifndef PIOLET_MEASURE_ANALYSIS_TOOLS_H
#define PIOLET_MEASURE_ANALYSIS_TOOLS_H

#include "measure/analysis_select.h"

pl_status analysis_rawdata(const struct analysis_request *request, const struct analysis_input *input,
                           struct pl_error *error);
pl_status analysis_distribution(const struct analysis_request *request, const struct analysis_input *input,
                                struct pl_error *error);
pl_status analysis_allav(const struct analysis_request *request, const struct analysis_input *input,
                         struct pl_error *error);
pl_status analysis_kernel(const struct analysis_request *request, const struct analysis_input *input,
                          struct pl_error *error);

/* Something matches, and all of it is kernels with single times and no series: nothing for the other tools. */
bool analysis_only_kernels(const struct analysis_request *request, const struct analysis_input *input);

#endif
