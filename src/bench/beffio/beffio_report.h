/* What block files say of b_eff_io: table, values, verdict, diagrams. Reads block files and nothing else. */
#ifndef PIOLET_BENCH_BEFFIO_REPORT_H
#define PIOLET_BENCH_BEFFIO_REPORT_H

#include "base/text.h"
#include "bench/beffio/beffio_result.h"
#include "measure/analysis_select.h"

/* One partition of one run in one folder. */
struct beffio_case {
    const struct blockfile *source; /* borrowed, as the next three */
    const char *file;
    const struct blockfile_block *block; /* the last of the run and folder: its facts */
    const char *run, *folder;
    int path, partition, nodes, most_on_node;
    size_t results; /* index of the run's results */
    struct beffio_rates rates;
    double time_s;
    bool order_2_0;
    double moved_bytes[BEFFIO_METHODS];
    double cache_bytes; /* memory of its nodes: what a page cache can grow to */
    double value, value_2_1;
    struct text reasons; /* why it is not official, a line each; empty: it is valid */
    bool complete;       /* all patterns are there */
};

struct beffio_report {
    struct beffio_case *cases; /* owned */
    size_t case_count;
    struct beffio_results *results; /* owned, one for each run of each file */
    size_t result_count;
};

/* `run` NULL: all runs that the request selects. PL_E_INPUT: there is none. */
pl_status beffio_report_make(const struct analysis_request *request, const struct analysis_input *input,
                             const char *run, struct beffio_report *ret_report, struct pl_error *error);
void beffio_report_clear(struct beffio_report *report);

/* The largest value of cases that are complete, in the document's order, with T of 15 minutes or more; NULL: none. */
const struct beffio_case *beffio_report_system(const struct beffio_report *report);

void beffio_report_text(const struct beffio_report *report, FILE *text);
void beffio_report_json(const struct beffio_report *report, FILE *stream);
void beffio_report_csv(const struct beffio_report *report, FILE *csv);
pl_status beffio_report_plot(const struct beffio_report *report, const char *path, struct pl_error *error);

/* The tool of `piolet analyze`. */
pl_status beffio_analyze(const struct analysis_request *request, const struct analysis_input *input,
                         struct pl_error *error);
/* The same for one run of a file, behind the run itself: into those streams of the request that are there. */
pl_status beffio_report_run(const char *path, const char *run, const struct analysis_request *request,
                            struct pl_error *error);

#endif
