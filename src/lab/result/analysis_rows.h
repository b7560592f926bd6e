/* The statistics of one parameter set: a row for each process and operation, and what follows from them together. */
#ifndef PIOLET_LAB_ANALYSIS_ROWS_H
#define PIOLET_LAB_ANALYSIS_ROWS_H

#include "lab/result/analysis_select.h"

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

/* All processes of an operation on one clock (base/busy.h): what the stamps of a set tell. */
struct analysis_busy {
    bool known;     /* every process has stamps */
    double ns;      /* in which at least one was in an operation of the region */
    double span_ns; /* from the first start to the last end of the region */
    int batches;
    double batch_bytes[ANALYSIS_BATCHES], batch_ns[ANALYSIS_BATCHES]; /* that time cut into equal parts */
    double octaves[ANALYSIS_OCTAVES]; /* until all had done their first 2^i operations, start-up included */
    double octave_all;
};

/* One operation over all its processes. */
struct analysis_op_times {
    size_t first, end; /* its rows */
    int64_t n;         /* 0: nothing else here has a meaning */
    int processes;     /* with n > 0 */
    double bytes, sum;
    int64_t min, max;
    double p5, median, p95, p99;
    struct analysis_busy busy;
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

/* Rates of an operation over all processes, defined here once.
 *   rate       bytes of all / time in which at least one was in an operation, on one clock: from the first start to the
 *              last end, without pauses of all of them
 *   span rate  bytes of all / (last end - first start), on one clock: pauses of all of them included, whatever they are
 *              (docs/adr/0027-rates-on-one-clock.md); never above the rate
 *   call rate  bytes of all / largest sum of one process' times: what 0.1.0 called rate. Two processes that hinder each
 *              other between their calls, as more of them than there are cores, do not show in it
 * Files of 0.1.0 have no stamps: their `rate` is the call rate, and is named so, and they have no span rate. */
struct analysis_op_rate {
    struct analysis_estimate rate, asymptotic, call_rate; /* MB/s */
    double span_rate;                                     /* NaN: no stamps */
    bool by_calls;                                        /* no stamps: rate and asymptotic are by calls */
    double bytes;
    int point_count; /* cumulative rates, in steps of a factor of 2, then the whole region; start-up included */
    double point_bytes[ANALYSIS_OCTAVES + 1];
    double point_rate[ANALYSIS_OCTAVES + 1];
};

/* Of the rows [first, end) of one operation. False when none of them has bytes. */
bool analysis_op_rate(const struct analysis_rows *rows, size_t first, size_t end, struct analysis_op_rate *ret_rate);

struct result;
/* Tells, in a result, that the rates of some sets are by calls, and why. */
void analysis_note_by_calls(struct result *result);

/* Fills op->busy; the rows of the operation are filled. */
pl_status analysis_busy_fill(const struct analysis_chosen *chosen, const struct analysis_rows *rows, double block_bytes,
                             struct analysis_op_times *op, struct pl_error *error);
/* Times of the processes that the request selects in operations of `keys` (series, or single times; NULLs are passed
 * over), start-up and region applied to series. NaN: stamps are missing, or nothing is there. */
struct analysis_time {
    double busy_ns; /* in which at least one was in an operation */
    double span_ns; /* from the first start to the last end */
};
pl_status analysis_busy_of(const struct analysis_request *request, const struct analysis_chosen *chosen,
                           const char *const *keys, int count, struct analysis_time *ret_time, struct pl_error *error);

/* The operations of a set, of all its ranks and series together. Starts, clocks and samples of devices, which also are
 * series, do not count. */
struct analysis_times {
    int64_t count;
    double mean_ns, median_ns, p99_ns; /* NaN: there are none */
};
pl_status analysis_times_of(const struct analysis_chosen *chosen, struct analysis_times *ret_times,
                            struct pl_error *error);

/* `direction` is 'w' or 'r'; false when the set holds no such cycles. The means the overlap was made of go to
 * ret_task and ret_blocking (NaN: not measured). */
bool analysis_rows_overlap(const struct analysis_rows *rows, char direction, struct analysis_overlap *ret_overlap,
                           double *ret_task, double *ret_blocking);

#endif
