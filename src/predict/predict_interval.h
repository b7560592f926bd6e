/* Times with a 95 % interval out of repeated replays. Pure. */
#ifndef PIOLET_PREDICT_INTERVAL_H
#define PIOLET_PREDICT_INTERVAL_H

#include <stddef.h>

/* NaN in ns: not known; NaN in low_ns and high_ns: no interval can be given. */
struct predict_time {
    double ns, low_ns, high_ns;
};

/* One repetition: its estimate, and the squares of how far its interval reaches below and above. */
struct predict_sample {
    int run; /* which repetition of which launch */
    double ns, below, above;
};

/* An estimate with its interval as a sample; where there is no interval it is taken as exact. */
struct predict_sample predict_sample_of(int run, double ns, double low_ns, double high_ns);
/* The sum of two that were sampled apart from each other: their errors add up in squares. */
void predict_sample_add(struct predict_sample *sum, const struct predict_sample *more);

/* The mean of repetitions. Its interval is the wider one of two: what the sampling inside of the repetitions leaves
 * open, and, from two repetitions on, Student's t on their spread. */
struct predict_time predict_interval_mean(const struct predict_sample *samples, size_t count);

/* The sum of times that were measured apart from each other. */
struct predict_time predict_interval_sum(const struct predict_time *times, size_t count);

/* Standard deviation of the samples in percent of their mean; NaN for fewer than two. */
double predict_noise_percent(const double *values, size_t count);

#endif
