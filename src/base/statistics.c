#include "base/statistics.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Continued fraction of the incomplete beta function, by Lentz's method: converges fast for x < (a + 1) / (a + b + 2).
 */
static double statistics_beta_fraction(double a, double b, double x)
{
    enum { STEPS_MAX = 500 };
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double fraction = d;
    for (int m = 1; m < STEPS_MAX; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double change = 1;
        for (int half = 0; half < 2; half++) {
            const double term = half == 0 ? even : odd;
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            change = c * d;
            fraction *= change;
        }
        if (fabs(change - 1) < 1e-15)
            break;
    }
    return fraction;
}

/* The regularised incomplete beta function. */
static double statistics_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * statistics_beta_fraction(a, b, x) / a;
    return 1 - front * statistics_beta_fraction(b, a, 1 - x) / b;
}

double statistics_student_p(double t, double degrees)
{
    return statistics_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double statistics_student_t(double level, double degrees)
{
    if (!(degrees >= 1))
        return NAN;
    double low = 0, high = 1;
    while (statistics_student_p(high, degrees) > 1 - level && high < 1e12)
        high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
        const double middle = (low + high) / 2;
        if (statistics_student_p(middle, degrees) > 1 - level)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

double statistics_deviation(double squares, size_t count)
{
    return count < 2 ? NAN : sqrt(squares / (double)(count - 1));
}

double statistics_error(double squares, size_t count)
{
    enum { DEGREES_MAX = 1000000 }; /* from here on t does not change any more */
    assert(!(squares < 0));
    if (count < 2)
        return NAN;
    const double degrees = count > DEGREES_MAX ? DEGREES_MAX : (double)(count - 1);
    return statistics_student_t(STATISTICS_LEVEL, degrees) * sqrt(squares / (double)(count - 1) / (double)count);
}

/* Value `i` of those that stand `stride` bytes apart. */
static double statistics_at(const double *values, size_t i, size_t stride)
{
    return *(const double *)(const void *)((const char *)values + i * stride);
}

struct statistics_mean statistics_mean_of(const double *values, size_t count, size_t stride)
{
    double sum = 0, squares = 0;
    assert(stride >= sizeof *values && stride % sizeof *values == 0);
    if (count == 0)
        return (struct statistics_mean){NAN, NAN, NAN};
    for (size_t i = 0; i < count; i++)
        sum += statistics_at(values, i, stride);
    const double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) { /* around the mean: the squares alone would lose the digits that matter */
        const double off = statistics_at(values, i, stride) - mean;
        squares += off * off;
    }
    return (struct statistics_mean){mean, statistics_deviation(squares, count), statistics_error(squares, count)};
}

static int statistics_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void statistics_sort(double *values, size_t count)
{
    if (count > 1)
        qsort(values, count, sizeof *values, statistics_ascending);
}

double statistics_median(const double *sorted, size_t count, size_t stride)
{
    if (count == 0)
        return NAN;
    const double upper = statistics_at(sorted, count / 2, stride),
                 lower = statistics_at(sorted, (count - 1) / 2, stride);
    assert(!(lower > upper));
    return (upper + lower) / 2;
}
