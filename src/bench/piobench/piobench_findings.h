/* What the points mean, in numbers and in words. Pure. */
#ifndef PIOLET_BENCH_PIOBENCH_FINDINGS_H
#define PIOLET_BENCH_PIOBENCH_FINDINGS_H

#include "bench/piobench/piobench_points.h"

/* Is a faster than b, beyond what chance explains? Points without an interval are never. */
bool piobench_findings_faster(const struct piobench_point *a, const struct piobench_point *b);

/* ---- block size against distribution ---- */

/* Fastest over slowest, of those two that differ most: of their means, and as far as their intervals reach. */
struct piobench_factor {
    double mean, low, high; /* 0: not comparable */
};

struct piobench_spread {
    struct piobench_factor by_block;        /* over data block sizes within one distribution */
    struct piobench_factor by_distribution; /* over distributions at one data block size */
};

/* Of one algorithm and operation, everything else being equal. */
struct piobench_spread piobench_findings_spread(const struct piobench_point *points, size_t count,
                                                const char *algorithm, const char *op);

/* ---- where collective buffering pays ---- */

struct piobench_crossover {
    int64_t pays_up_to; /* largest data block with which it surely is faster, as with all smaller ones; 0: none */
    int64_t not_from;   /* from this size on it is not surely faster, up to the largest measured; 0: none such */
    int sizes;          /* data block sizes with which both were measured */
    double gain;        /* largest ratio to naive among the sure ones, and where; NULL: none is sure */
    const struct piobench_point *gain_at;
};

/* What was warned of is not comparable. Among the points of the same operation, distribution, file, ranks and MPI as
 * `like`. */
struct piobench_crossover piobench_findings_crossover(const struct piobench_point *points, size_t count,
                                                      const struct piobench_point *like);

/* ---- buffer space ---- */

/* The smallest buffer with which the algorithm of `like` is not surely below 90 % of what it reaches with any, in its
 * cell; 0: it was not measured with two buffers or more, or only once. */
int64_t piobench_findings_buffer(const struct piobench_point *points, size_t count, const struct piobench_point *like);

/* ---- negative scaling ---- */

struct piobench_scaling {
    const struct piobench_point *peak, *fallen; /* NULL: no negative scaling */
};

/* More ranks, less: of the same algorithm, operation, distribution, file and data block size as `like`. `fallen` is the
 * slowest of those with more ranks than the peak. */
struct piobench_scaling piobench_findings_ranks(const struct piobench_point *points, size_t count,
                                                const struct piobench_point *like);
/* Larger data blocks, less. */
struct piobench_scaling piobench_findings_blocks(const struct piobench_point *points, size_t count,
                                                 const struct piobench_point *like);

/* ---- in words: a line for each finding ---- */

void piobench_findings_text(const struct piobench_points *points, struct text *ret_lines);

#endif
