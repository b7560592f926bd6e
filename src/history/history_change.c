#include "history/history_change.h"

#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>

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
    const double width = statistics_student_t(level, degrees) * error;
    change.low = exp(to - from - width);
    change.high = exp(to - from + width);
    if (error > 0)
        change.p = statistics_student_p(fabs(to - from) / error, degrees);
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
