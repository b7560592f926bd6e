/* What the points mean, in numbers and in words. Pure. */
#ifndef PIOLET_BENCH_PIOBENCH_FINDINGS_H
#define PIOLET_BENCH_PIOBENCH_FINDINGS_H

#include "bench/piobench/piobench_points.h"

/* Is a faster than b, beyond what chance explains? Points without an interval are never. */
bool piobench_findings_faster(const struct piobench_point *a, const struct piobench_point *b);

/* ---- block size against distribution ---- */

struct piobench_spread {
    double by_block; /* fastest over slowest data block size within one distribution, at most; 0: not comparable */
    double by_distribution; /* fastest over slowest distribution at one data block size, at most; 0: not comparable */
};

/* Of one algorithm and operation, everything else being equal. */
struct piobench_spread piobench_findings_spread(const struct piobench_point *points, size_t count,
                                                const char *algorithm, const char *op);

/* ---- where collective buffering pays ---- */

struct piobench_crossover {
    int64_t pays_up_to; /* largest data block with which it surely is faster, as with all smaller ones; 0: none */
    int64_t not_from;   /* from this size on it was not faster, up to the largest measured; 0: there is none such */
    double gain;        /* largest ratio to naive, and where */
    const struct piobench_point *gain_at;
};

/* Among the points of the same operation, distribution, file, ranks and MPI as `like`. */
struct piobench_crossover piobench_findings_crossover(const struct piobench_point *points, size_t count,
                                                      const struct piobench_point *like);

/* ---- buffer space ---- */

/* The smallest buffer with which the algorithm of `like` reaches 90 % of what it reaches with any, in its cell; 0: it
 * was not measured with two buffers or more. */
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
