/* Statistics that every part shares: each is defined here, once.
 *
 * An interval is two-sided and holds the true mean with the probability STATISTICS_LEVEL, by Student's t; an error is
 * half of its width. Whoever shows one names the level. */
#ifndef PIOLET_BASE_STATISTICS_H
#define PIOLET_BASE_STATISTICS_H

#include <stddef.h>

enum { STATISTICS_LEVEL_PERCENT = 90 };
#define STATISTICS_LEVEL (STATISTICS_LEVEL_PERCENT / 100.0)

/* Student's t: the part of the distribution beyond -t and t. */
double statistics_student_p(double t, double degrees);

/* The t between whose two signs the part `level` (as 0.95) of the distribution lies. NaN below one degree of freedom.
 */
double statistics_student_t(double level, double degrees);

/* Standard deviation of `count` values; `squares` is the sum of their squared distances from the mean. NaN for fewer
 * than two. */
double statistics_deviation(double squares, size_t count);

/* Error of the mean of `count` values; `squares` is the sum of their squared distances from it. NaN for fewer than two.
 */
double statistics_error(double squares, size_t count);

/* The mean of independent values, their standard deviation and the error of the mean; NaN where there are too few. The
 * first value stands at `values`, each further one `stride` bytes behind the one before. */
struct statistics_mean {
    double mean, deviation, error;
};
struct statistics_mean statistics_mean_of(const double *values, size_t count, size_t stride);

/* Ascending. */
void statistics_sort(double *values, size_t count);
/* Of sorted values, `stride` bytes apart; NaN of none. */
double statistics_median(const double *sorted, size_t count, size_t stride);

#endif
