/* Results of peak measurements, read from block files: rates, operations a second, latencies, and the peak of each
 * operation, summed over I/O nodes (equations 3 and 4 of the document). */
#ifndef PIOLET_BENCH_PEAK_POINTS_H
#define PIOLET_BENCH_PEAK_POINTS_H

#include "bench/peak/peak.h"
#include "measure/analysis_select.h"

/* One set. Strings and blocks are borrowed from the input. */
struct peak_point {
    struct peak_set set;
    int64_t file_bytes, bytes, operations;
    int processes;
    bool direct, cut;
    double rate_bytes_per_s;                 /* NaN: of metadata, or nothing was measured */
    double iops;                             /* NaN: nothing was measured */
    double mean_ns, median_ns, p99_ns;       /* of single operations, all processes */
    const struct blockfile_failure *failure; /* NULL: none; such a point is no peak */
};

/* One block. */
struct peak_node {
    const char *io_node;
    const struct blockfile_block *block;
    int64_t block_number;
    struct peak_point *points; /* owned */
    size_t count;
};

struct peak_points {
    struct peak_node *nodes; /* owned */
    size_t count;
};

pl_status peak_points_load(const struct analysis_request *request, const struct analysis_input *input,
                           struct peak_points *ret_points, struct pl_error *error);
void peak_points_clear(struct peak_points *points);

/* The point with the highest rate of a block, PEAK_WRITE or PEAK_READ; NULL: none. Equation 3. */
const struct peak_point *peak_points_best(const struct peak_node *node, enum peak_operation operation);
/* Bytes a second, each I/O node once with the best of its blocks; NaN: none. Equation 4. */
double peak_points_sum(const struct peak_points *points, enum peak_operation operation);
/* Different I/O nodes. */
int peak_points_nodes(const struct peak_points *points);

#endif
