/* Statistics of one series of times, read once, in memory that does not depend on its length. Pure: no file, no clock.
 *
 * Nothing is fitted. Definitions (docs/analysis.md has them in words):
 *   region    the operations with from <= counter <= to, of which the first `skip` are left out as start-up
 *   error     half width of the 90 % confidence interval of a mean or rate, by the means of 20 consecutive batches of
 *             the region and Student's t: successive I/O times are correlated, single samples would promise too much
 *   rate      bytes moved / sum of times
 *   asymptotic rate   the rate of the second half of the region's batches */
#ifndef PIOLET_LAB_ANALYSIS_H
#define PIOLET_LAB_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ANALYSIS_BATCHES = 20, ANALYSIS_OCTAVES = 63, ANALYSIS_SKIP_BATCHES = 64 };

/* ---- log-linear histogram: exact below 2048, then 1024 buckets for each factor of 2 ---- */

struct analysis_histogram {
    uint64_t *counts; /* owned */
    uint64_t total;
    size_t low, high; /* buckets in use: [low, high) */
};

bool analysis_histogram_init(struct analysis_histogram *histogram); /* false: no memory */
void analysis_histogram_clear(struct analysis_histogram *histogram);
void analysis_histogram_reset(struct analysis_histogram *histogram);
/* Negative values count as 0. */
void analysis_histogram_add(struct analysis_histogram *histogram, const int64_t *values, size_t count);
/* Adds all that `other` holds. */
void analysis_histogram_merge(struct analysis_histogram *histogram, const struct analysis_histogram *other);
/* Value below which a part q of all lies (nearest rank); at most 0.05 % off. NaN when empty. */
double analysis_histogram_quantile(const struct analysis_histogram *histogram, double q);
/* The same, but no less and no more than what was seen: a bucket's middle may lie outside of it. */
double analysis_histogram_quantile_in(const struct analysis_histogram *histogram, double q, int64_t min, int64_t max);
/* Counts in `bins` bins of equal ratio between `low` > 0 and `high`; what lies outside goes to the outermost. */
void analysis_histogram_log_bins(const struct analysis_histogram *histogram, double low, double high, size_t bins,
                                 double *ret_counts);

/* ---- one series ---- */

struct analysis_region {
    int64_t from; /* first counter of the region, before start-up is left out */
    int64_t skip; /* operations left out at its start */
    int64_t to;   /* last counter, inclusive; the region is empty if it lies before from + skip */
};

/* The region cut to a series of `count` numbers. */
struct analysis_region analysis_region_cut(struct analysis_region region, int64_t count);
int64_t analysis_region_count(const struct analysis_region *region);

struct analysis_batches {
    int count;                    /* min(n, 20) */
    double n[ANALYSIS_BATCHES];   /* operations in each */
    double sum[ANALYSIS_BATCHES]; /* of their values */
};

struct analysis_series {
    struct analysis_region region;
    struct analysis_histogram *histogram; /* borrowed, may be NULL */
    int64_t n;
    double mean, m2, sum;
    int64_t min, max;
    struct analysis_batches batches;
    /* Sum of the first 2^i operations from region.from on, start-up included; analysis_series_octaves() of them are
     * reached. */
    double octaves[ANALYSIS_OCTAVES];
    double octave_sum;
    int64_t drawn_min, drawn_max; /* start-up included: the range of a plot */
};

/* `region` must be cut to the series. */
void analysis_series_begin(struct analysis_series *series, struct analysis_region region,
                           struct analysis_histogram *histogram);
/* values[0..count) are numbers first, first + 1, … of the series: the signature of a blockfile_take,
 * with a struct analysis_series as its context. */
void analysis_series_take(void *context, int64_t first, const int64_t *values, size_t count);
double analysis_series_stddev(const struct analysis_series *series);
int analysis_series_octaves(const struct analysis_series *series);

/* ---- means, rates and their errors ---- */

struct analysis_estimate {
    double value; /* NaN: none */
    double error; /* NaN: none can be given */
};

/* sum(top) / sum(bottom) over batches, error by the spread of top - ratio * bottom. */
struct analysis_estimate analysis_ratio(const double *top, const double *bottom, int count);
/* Mean of independent values, error by their spread. */
struct analysis_estimate analysis_mean(const double *values, size_t count);
struct analysis_estimate analysis_series_mean(const struct analysis_series *series);

/* Bytes of each batch over its time in ns, in MB/s; `asymptotic`: of the second half of the batches. */
struct analysis_estimate analysis_rate(const double *bytes, const double *times_ns, int count, bool asymptotic);

/* ---- start-up ---- */

/* Means of consecutive batches, to find where the start-up ends. */
struct analysis_startup {
    int64_t from, count;
    int batches;
    double n[ANALYSIS_SKIP_BATCHES];
    double sum[ANALYSIS_SKIP_BATCHES];
};

void analysis_startup_begin(struct analysis_startup *startup, struct analysis_region region);
/* A blockfile_take with a struct analysis_startup as its context. */
void analysis_startup_take(void *context, int64_t first, const int64_t *values, size_t count);
/* Operations to leave out: up to the first batch from which on every batch mean stays inside the range of the batch
 * means of the last half, that range widened by half of its width on both sides. 0 for fewer than 16 operations. */
int64_t analysis_startup_length(const struct analysis_startup *startup);

/* ---- overlap of I/O and computation (singleI, multipleI) ---- */

struct analysis_overlap {
    double cycle_ns;   /* start + task + wait */
    double exposed_ns; /* cycle without the time of the task alone */
    double part;       /* 0…1; NaN when no blocking time is known */
};

/* Means in ns; `blocking` is NaN when it was not measured. */
struct analysis_overlap analysis_overlap(double task, double blocking, double start, double task_in_cycle, double wait);

#endif
