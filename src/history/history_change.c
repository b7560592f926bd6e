#include "history/history_change.h"

#include <math.h>
#include <stdlib.h>

/* ---- Student's t ---- */

/* Continued fraction of the incomplete beta function, by Lentz's method: converges fast for x < (a + 1) / (a + b + 2).
 */
static double beta_fraction(double a, double b, double x)
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
static double beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double history_student_p(double t, double degrees)
{
    return beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double history_student_t(double p, double degrees)
{
    double low = 0, high = 1;
    while (history_student_p(high, degrees) > p && high < 1e12)
        high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
        const double middle = (low + high) / 2;
        if (history_student_p(middle, degrees) > p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* ---- two groups ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *sorted, size_t count)
{
    return (sorted[count / 2] + sorted[(count - 1) / 2]) / 2;
}

/* Mean of the logarithms, and the sum of their squared distances from it. */
static double log_mean(const double *values, size_t count, double *ret_squares)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += log(values[i]);
    for (size_t i = 0; i < count; i++)
        squares += pow(log(values[i]) - sum / (double)count, 2);
    *ret_squares = squares;
    return sum / (double)count;
}

struct history_change history_change_of(double *earlier, size_t earlier_count, double *later, size_t later_count,
                                        double level)
{
    qsort(earlier, earlier_count, sizeof *earlier, ascending);
    qsort(later, later_count, sizeof *later, ascending);
    struct history_change change = {.earlier = earlier_count,
                                    .later = later_count,
                                    .earlier_median = median(earlier, earlier_count),
                                    .later_median = median(later, later_count),
                                    .low = NAN,
                                    .high = NAN,
                                    .p = NAN};
    const size_t aside = earlier_count / 10;
    change.factor = change.later_median / change.earlier_median;
    change.outside = change.later_median < earlier[aside] || change.later_median > earlier[earlier_count - 1 - aside];
    if (earlier_count < HISTORY_EARLIER_MIN)
        return change;
    double before, after;
    const double from = log_mean(earlier, earlier_count, &before), to = log_mean(later, later_count, &after);
    const double degrees = (double)(earlier_count + later_count - 2);
    const double spread = sqrt((before + after) / degrees);
    const double error = spread * sqrt(1 / (double)earlier_count + 1 / (double)later_count);
    const double width = history_student_t(1 - level, degrees) * error;
    change.low = exp(to - from - width);
    change.high = exp(to - from + width);
    if (error > 0)
        change.p = history_student_p(fabs(to - from) / error, degrees);
    else
        change.p = to == from ? 1 : 0;
    return change;
}

double history_change_threshold(double *p, size_t count, double level)
{
    double threshold = -1;
    if (count)
        qsort(p, count, sizeof *p, ascending);
    for (size_t i = 0; i < count; i++)
        if (p[i] <= (1 - level) * (double)(i + 1) / (double)count)
            threshold = p[i];
    return threshold;
}

bool history_change_is_real(const struct history_change *change, double threshold)
{
    const double part = change->factor < 1 ? 1 - change->factor : 1 - 1 / change->factor;
    return change->p <= threshold && part >= HISTORY_EFFECT_MIN && change->outside;
}
