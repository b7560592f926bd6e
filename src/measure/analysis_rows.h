/* The statistics of one parameter set: a row for each process and operation, and what follows from them together. */
#ifndef PIOLET_MEASURE_ANALYSIS_ROWS_H
#define PIOLET_MEASURE_ANALYSIS_ROWS_H

#include "measure/analysis_select.h"

struct analysis_row {
    const struct blockfile_series *series; /* borrowed from the file */
    struct analysis_series times;          /* its histogram is gone: quantiles are below */
    double p5, median, p95, p99;
    bool has_bytes;
    double bytes; /* of the region */
    double batch_bytes[ANALYSIS_BATCHES];
    double octave_bytes[ANALYSIS_OCTAVES];
    double octave_bytes_all; /* of the region with its start-up */
};

/* One operation over all its processes. */
struct analysis_op_times {
    size_t first, end; /* its rows */
    int64_t n;         /* 0: nothing else here has a meaning */
    int processes;     /* with n > 0 */
    double bytes, sum;
    int64_t min, max;
    double p5, median, p95, p99;
};

/* Sorted by operation (in the order of the file), then rank. Empty for a set with errors. */
struct analysis_rows {
    struct analysis_row *rows; /* owned */
    size_t count;
    struct analysis_op_times *ops; /* owned */
    size_t op_count;
};

/* Streams the chosen set's series. Parts of interleaved cycles are always built, whatever request->op is. */
pl_status analysis_rows_build(const struct analysis_request *request, const struct analysis_chosen *chosen,
                              struct analysis_rows *ret_rows, struct pl_error *error);
void analysis_rows_clear(struct analysis_rows *rows);

/* Has operations in the region, and is of the operation asked for. */
bool analysis_row_wanted(const struct analysis_request *request, const struct analysis_row *row);

/* End of the run of rows with the same operation that begins at `first`. */
size_t analysis_rows_end_of_op(const struct analysis_rows *rows, size_t first);

/* The rate of an operation over all processes: bytes of all of them / the largest total time of one. */
struct analysis_op_rate {
    struct analysis_estimate rate, asymptotic; /* MB/s */
    double bytes;
    int point_count; /* cumulative rates, in steps of a factor of 2, then the whole region; start-up included */
    double point_bytes[ANALYSIS_OCTAVES + 1];
    double point_rate[ANALYSIS_OCTAVES + 1];
};

/* False when none of the rows [first, end) has bytes. */
bool analysis_op_rate(const struct analysis_rows *rows, size_t first, size_t end, struct analysis_op_rate *ret_rate);

/* `direction` is 'w' or 'r'; false when the set holds no such cycles. The means the overlap was made of go to
 * ret_task and ret_blocking (NaN: not measured). */
bool analysis_rows_overlap(const struct analysis_rows *rows, char direction, struct analysis_overlap *ret_overlap,
                           double *ret_task, double *ret_blocking);

#endif
