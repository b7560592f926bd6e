/* The tools of `piolet analyze`, applied to one file of the report each. */
#ifndef PIOLET_PAGE_TOOLS_H
#define PIOLET_PAGE_TOOLS_H

#include "lab/result/analysis_select.h"
#include "page/page.h"

struct page_tool {
    const char *name;    /* as `piolet analyze` knows it */
    const char *heading; /* of its tables on the plain page */
    int class_number;    /* of the classes of `run`: the blocks that it is given */
    pl_status (*run)(const struct analysis_request *request, const struct analysis_input *input,
                     struct pl_error *error);
    bool plain_only; /* the page with charts computes this from the samples, for any region */
};

extern const struct page_tool PAGE_TOOLS[]; /* ends with {0} */

/* Does the file hold blocks for this tool? */
bool page_tool_applies(const struct page_tool *tool, const struct page_file *file);

/* Runs it into those of text, JSON and plot (NULL: none) that are asked for. PL_E_INPUT: there was nothing to compute
 * from. */
pl_status page_tool_run(const struct page_tool *tool, const struct page_file *file, FILE *text, FILE *json,
                        const char *plot, struct pl_error *error);

#endif
