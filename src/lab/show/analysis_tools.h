/* Tools of `piolet analyze` for series of times, of whatever benchmark: each makes a document of the chosen sets, with
 * tables, and with charts where request->plot asks for them. PL_E_INPUT: the selection is empty. */
#ifndef PIOLET_LAB_ANALYSIS_TOOLS_H
#define PIOLET_LAB_ANALYSIS_TOOLS_H

#include "lab/result/analysis_rows.h"
#include "lab/result/analysis_select.h"
#include "lab/result/result.h"

/* Options that select a part of the files. */
enum analysis_selection {
    ANALYSIS_BY_BLOCK = 1 << 0,
    ANALYSIS_BY_TEST = 1 << 1,
    ANALYSIS_BY_SET = 1 << 2,
    ANALYSIS_BY_OP = 1 << 3,
    ANALYSIS_BY_RANK = 1 << 4,
    ANALYSIS_BY_FROM = 1 << 5,
    ANALYSIS_BY_TO = 1 << 6,
    ANALYSIS_BY_SKIP = 1 << 7,
    ANALYSIS_BY_TIMES = 1 << 8, /* --times: all times, not those with a rate alone */
    ANALYSIS_BY_SETS = ANALYSIS_BY_BLOCK | ANALYSIS_BY_TEST | ANALYSIS_BY_SET,
    ANALYSIS_BY_SERIES = ANALYSIS_BY_SETS | ANALYSIS_BY_OP | ANALYSIS_BY_RANK | ANALYSIS_BY_FROM | ANALYSIS_BY_TO |
                         ANALYSIS_BY_SKIP
};

struct analysis_tool {
    const char *name, *summary;
    unsigned selections; /* that it takes: enum analysis_selection */
    pl_status (*build)(const struct analysis_request *request, const struct analysis_input *input,
                       struct result *result, struct pl_error *error);
};

extern const struct analysis_tool ANALYSIS_TOOLS[]; /* ends with {0} */

/* Builds the document and gives it the forms that the request asks for: text, json, csv, plot. */
pl_status analysis_tool_show(const struct analysis_tool *tool, const struct analysis_request *request,
                             const struct analysis_input *input, struct pl_error *error);

/* One of ANALYSIS_TOOLS each, for verbs that know tools by their functions. */
pl_status analysis_rawdata(const struct analysis_request *request, const struct analysis_input *input,
                           struct pl_error *error);
pl_status analysis_distribution(const struct analysis_request *request, const struct analysis_input *input,
                                struct pl_error *error);
pl_status analysis_allav(const struct analysis_request *request, const struct analysis_input *input,
                         struct pl_error *error);
/* Of the kernels of the test suite: bench/iot. */
pl_status analysis_kernel(const struct analysis_request *request, const struct analysis_input *input,
                          struct pl_error *error);
/* Something matches, and all of it is kernels with single times and no series: nothing for the other tools. */
bool analysis_only_kernels(const struct analysis_request *request, const struct analysis_input *input);

/* ---- for tools ---- */

pl_status analysis_rawdata_build(const struct analysis_request *request, const struct analysis_input *input,
                                 struct result *result, struct pl_error *error);
pl_status analysis_distribution_build(const struct analysis_request *request, const struct analysis_input *input,
                                      struct result *result, struct pl_error *error);
pl_status analysis_allav_build(const struct analysis_request *request, const struct analysis_input *input,
                               struct result *result, struct pl_error *error);

/* "FILE, block 1, set 2: Lowlevel multiple" for the title of a set's group; writes into `title` and returns it. */
const char *analysis_set_title(const struct analysis_chosen *chosen, char title[256]);
/* What the group of a set begins with: which one it is, its parameters, and why it failed. */
void analysis_put_set(struct result *result, const struct analysis_chosen *chosen);
/* "r: counter 8 to 99, start-up of 8 operations left out", and what stands behind it. */
void analysis_put_region(struct result *result, const struct analysis_request *request, const struct analysis_row *row,
                         const char *behind);
/* Rows of the operation asked for that have samples in the region. */
size_t analysis_count_wanted(const struct analysis_request *request, const struct analysis_rows *rows);
/* PL_E_INPUT, and why nothing was found. */
pl_status analysis_nothing(size_t failed_sets, struct pl_error *error);
/* Overlap of I/O and computation, where the set has cycles; a table "overlap" in any case. */
void analysis_put_overlap(struct result *result, const struct analysis_rows *rows);
/* What rate, error and asymptotic rate mean: an object "definitions", and lines for people at the end. */
void analysis_put_definitions(struct result *result);

#endif
