#include "replay/replay_estimate.h"

#include "base/statistics.h"

#include <math.h>

enum { BATCHES_MAX = 16, WARM_UP_FROM = 5 };
static const double LEVEL = 0.95;

static double mean_of(const int64_t *values, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)values[i];
    return sum / (double)count;
}

/* Half of the 95 % interval of the mean of `values`, which fall into as many batches as there are pairs, up to 16. */
static double half_of(const int64_t *values, int64_t count, double mean)
{
    const int64_t batches = count / 2 < BATCHES_MAX ? (count < 4 ? count : count / 2) : BATCHES_MAX;
    double squares = 0;
    if (batches < 2)
        return -1;
    for (int64_t b = 0; b < batches; b++) {
        const int64_t from = count * b / batches, to = count * (b + 1) / batches;
        const double off = mean_of(values + from, to - from) - mean;
        squares += off * off;
    }
    const double deviation = sqrt(squares / (double)(batches - 1));
    return statistics_student_t(LEVEL, (double)batches - 1) * deviation / sqrt((double)batches);
}

struct replay_estimate replay_estimate(const int64_t *durations, int64_t count, int64_t all)
{
    struct replay_estimate estimate = {.half_ns = -1};
    double done = 0;
    if (count < 1)
        return estimate;
    for (int64_t i = 0; i < count; i++)
        done += (double)durations[i];
    const int64_t from = count >= WARM_UP_FROM ? 1 : 0;
    const double rest = all > count ? (double)(all - count) : 0;
    estimate.slope_ns = mean_of(durations + from, count - from);
    estimate.half_ns = half_of(durations + from, count - from, estimate.slope_ns);
    estimate.total_ns = done + rest * estimate.slope_ns;
    /* One execution says nothing about the next: the rest is then anything up to twice as long. */
    const double half = estimate.half_ns < 0 ? estimate.slope_ns : estimate.half_ns;
    estimate.low_ns = done + rest * fmax(estimate.slope_ns - half, 0);
    estimate.high_ns = done + rest * (estimate.slope_ns + half);
    return estimate;
}

bool replay_estimate_is_sure(const struct replay_estimate *estimate)
{
    return estimate->half_ns >= 0 && estimate->half_ns <= 0.05 * estimate->slope_ns;
}
