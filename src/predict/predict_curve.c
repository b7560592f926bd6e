#include "predict/predict_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void predict_curve_clear(struct predict_curve *curve)
{
    free(curve->points);
    *curve = (struct predict_curve){0};
}

static void join_point(struct predict_point *point, double bytes_per_s, enum predict_join join)
{
    point->samples++;
    if (join == PREDICT_HIGHEST)
        point->bytes_per_s = fmax(point->bytes_per_s, bytes_per_s);
    else
        point->bytes_per_s += (bytes_per_s - point->bytes_per_s) / point->samples;
}

bool predict_curve_add(struct predict_curve *curve, double bytes, double bytes_per_s, enum predict_join join)
{
    size_t at = 0;
    if (!(bytes > 0) || !(bytes_per_s > 0) || !isfinite(bytes_per_s))
        return true;
    while (at < curve->count && curve->points[at].bytes < bytes)
        at++;
    if (at < curve->count && curve->points[at].bytes == bytes) {
        join_point(&curve->points[at], bytes_per_s, join);
        return true;
    }
    struct predict_point *points = realloc(curve->points, (curve->count + 1) * sizeof *points);
    if (!points)
        return false;
    memmove(points + at + 1, points + at, (curve->count - at) * sizeof *points);
    points[at] = (struct predict_point){bytes, bytes_per_s, 1};
    curve->points = points;
    curve->count++;
    return true;
}

double predict_curve_at(const struct predict_curve *curve, double bytes, enum predict_range *ret_range)
{
    const struct predict_point *points = curve->points;
    size_t after = 0;
    *ret_range = PREDICT_INSIDE;
    if (curve->count == 0)
        return NAN;
    while (after < curve->count && points[after].bytes < bytes)
        after++;
    if (after < curve->count && points[after].bytes == bytes)
        return points[after].bytes_per_s;
    if (after == 0 || after == curve->count) {
        *ret_range = after ? PREDICT_ABOVE : PREDICT_BELOW;
        return points[after ? after - 1 : 0].bytes_per_s;
    }
    const struct predict_point low = points[after - 1], high = points[after];
    const double part = log(bytes / low.bytes) / log(high.bytes / low.bytes);
    return low.bytes_per_s * pow(high.bytes_per_s / low.bytes_per_s, part);
}
