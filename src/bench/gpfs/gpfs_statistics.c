/* Maximum, mean and standard deviation of the repetitions. */
#include "bench/gpfs/gpfs.h"

#include <math.h>

struct gpfs_statistics gpfs_statistics_of(const double *rates, int count)
{
    struct gpfs_statistics result = {.count = count, .max = NAN, .mean = NAN, .deviation = NAN};
    double sum = 0, squares = 0;
    if (count == 0)
        return result;
    result.max = rates[0];
    for (int i = 0; i < count; i++) {
        sum += rates[i];
        result.max = fmax(result.max, rates[i]);
    }
    result.mean = sum / count;
    for (int i = 0; i < count; i++) /* around the mean: the sum of squares alone would lose the digits that matter */
        squares += (rates[i] - result.mean) * (rates[i] - result.mean);
    if (count > 1)
        result.deviation = sqrt(squares / (count - 1));
    return result;
}

double gpfs_statistics_shown(const struct gpfs_statistics *statistics, bool by_maximum)
{
    return by_maximum ? statistics->max : statistics->mean;
}
