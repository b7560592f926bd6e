#include "predict/predict_interval.h"

#include "base/statistics.h"

#include <math.h>

static const double LEVEL = 0.95; /* of intervals, on both sides together */

struct predict_sample predict_sample_of(int run, double ns, double low_ns, double high_ns)
{
    const double below = low_ns < ns ? ns - low_ns : 0; /* also where there is none: NaN compares false */
    const double above = high_ns > ns ? high_ns - ns : 0;
    return (struct predict_sample){run, ns, below * below, above * above};
}

void predict_sample_add(struct predict_sample *sum, const struct predict_sample *more)
{
    sum->ns += more->ns;
    sum->below += more->below;
    sum->above += more->above;
}

/* Half width of the interval of a mean, by the spread of what it is made of. */
static double spread(const struct predict_sample *samples, size_t count, double mean)
{
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += (samples[i].ns - mean) * (samples[i].ns - mean);
    return statistics_student_t(LEVEL, (double)count - 1) * sqrt(squares / (double)(count - 1) / (double)count);
}

struct predict_time predict_interval_mean(const struct predict_sample *samples, size_t count)
{
    double sum = 0, below = 0, above = 0;
    if (count == 0)
        return (struct predict_time){NAN, NAN, NAN};
    for (size_t i = 0; i < count; i++) {
        sum += samples[i].ns;
        below += samples[i].below;
        above += samples[i].above;
    }
    const double mean = sum / (double)count;
    const double outer = count > 1 ? spread(samples, count, mean) : 0;
    const double low = mean - fmax(outer, sqrt(below) / (double)count);
    return (struct predict_time){mean, fmax(low, 0), mean + fmax(outer, sqrt(above) / (double)count)};
}

struct predict_time predict_interval_sum(const struct predict_time *times, size_t count)
{
    struct predict_sample sum = {0};
    for (size_t i = 0; i < count; i++) {
        const struct predict_sample one = predict_sample_of(0, times[i].ns, times[i].low_ns, times[i].high_ns);
        predict_sample_add(&sum, &one);
    }
    return predict_interval_mean(&sum, count ? 1 : 0);
}

double predict_noise_percent(const double *values, size_t count)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    const double mean = sum / (double)count;
    if (count < 2 || !(mean > 0))
        return NAN;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return 100 * sqrt(squares / (double)(count - 1)) / mean;
}
