#include "base/statistics.h"

#include <math.h>

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

double statistics_student_p(double t, double degrees)
{
    return beta(degrees / 2, 0.5, degrees / (degrees + t * t));
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
