/* The tools of `piolet analyze`, applied to one file of the report each. */
#ifndef PIOLET_REPORT_TOOLS_H
#define PIOLET_REPORT_TOOLS_H

#include "measure/analysis_select.h"
#include "report/report.h"

struct report_tool {
    const char *name;       /* as `piolet analyze` knows it */
    const char *heading;    /* of its tables on the plain page */
    const char *class_name; /* of the blocks that it is given */
    pl_status (*run)(const struct analysis_request *request, const struct analysis_input *input,
                     struct pl_error *error);
    bool plain_only; /* the page with charts computes this from the samples, for any region */
};

extern const struct report_tool REPORT_TOOLS[]; /* ends with {0} */

/* Does the file hold blocks for this tool? */
bool report_tool_applies(const struct report_tool *tool, const struct report_file *file);

/* Runs it into those of text, JSON and plot (NULL: none) that are asked for. PL_E_INPUT: there was nothing to compute
 * from. */
pl_status report_tool_run(const struct report_tool *tool, const struct report_file *file, FILE *text, FILE *json,
                          const char *plot, struct pl_error *error);

#endif
