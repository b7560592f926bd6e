#include "bench/beffio/beffio_value.h"

#include <math.h>

double beffio_method_value(const double type[BEFFIO_TYPES])
{
    double sum = type[0];
    for (int t = 0; t < BEFFIO_TYPES; t++)
        sum += type[t];
    return sum / (BEFFIO_TYPES + 1);
}

double beffio_rewrite_value(const struct beffio_rates *rates, bool order_2_0)
{
    return order_2_0 ? rates->type[BEFFIO_REWRITE][0] : beffio_method_value(rates->type[BEFFIO_REWRITE]);
}

double beffio_partition_value(const struct beffio_rates *rates, bool order_2_0)
{
    return 0.25 * beffio_method_value(rates->type[BEFFIO_WRITE]) + 0.25 * beffio_rewrite_value(rates, order_2_0) +
           0.5 * beffio_method_value(rates->type[BEFFIO_READ]);
}

double beffio_value_2_1(const struct beffio_rates *rates)
{
    double writes = rates->type[BEFFIO_REWRITE][0];
    for (int t = 0; t < BEFFIO_TYPES; t++)
        writes += rates->type[BEFFIO_WRITE][t];
    return sqrt(writes / 6 * beffio_method_value(rates->type[BEFFIO_READ]));
}

double beffio_cache_share(double bytes, double cache_bytes)
{
    return bytes > cache_bytes ? cache_bytes / bytes : 1;
}

double beffio_coffee_minutes(double memory_bytes, double mb_per_s)
{
    return mb_per_s > 0 ? memory_bytes / (mb_per_s * 1e6) / 60 : NAN;
}
