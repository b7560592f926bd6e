/* A rate over request sizes, between measured points. Pure. */
#ifndef PIOLET_PREDICT_CURVE_H
#define PIOLET_PREDICT_CURVE_H

#include <stdbool.h>
#include <stddef.h>

struct predict_point {
    double bytes;       /* of a request */
    double bytes_per_s; /* rate with it */
    int samples;        /* that it is made of */
};

/* {0} is an empty curve. Points are in ascending order of their sizes, each size once. */
struct predict_curve {
    struct predict_point *points; /* owned */
    size_t count;
};

void predict_curve_clear(struct predict_curve *curve);
/* What becomes of several rates of one size: a peak is the highest (eq. 3), a characterisation the mean. */
enum predict_join { PREDICT_HIGHEST, PREDICT_MEAN };

/* Points that are no positive numbers are passed over. false: no memory. */
bool predict_curve_add(struct predict_curve *curve, double bytes, double bytes_per_s, enum predict_join join);

enum predict_range { PREDICT_INSIDE, PREDICT_BELOW, PREDICT_ABOVE };

/* The rate at a size: a straight line between the neighbours in a double logarithmic plot. Outside of the measured
 * sizes it is the rate of the nearest one, and ret_range says so: nothing is extrapolated. NaN for an empty curve. */
double predict_curve_at(const struct predict_curve *curve, double bytes, enum predict_range *ret_range);

#endif
