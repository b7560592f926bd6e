/* Inside of src/predict: device peaks by I/O node. */
#ifndef PIOLET_PREDICT_PEAK_H
#define PIOLET_PREDICT_PEAK_H

#include "predict/predict.h"

enum { PREDICT_ORDERS = MODEL_RANDOM + 1 };

struct predict_node {
    char *name, *on; /* of the I/O node; the directory that was measured */
    struct predict_curve curves[PREDICT_DIRECTIONS][PREDICT_ORDERS];
};

struct predict_peaks {
    struct predict_node *nodes; /* owned */
    int count;
};

/* Takes the Peak blocks of a file; *peaks is made where it is NULL. */
pl_status predict_peaks_read(struct predict_peaks **peaks, const struct blockfile *file, int *ret_count,
                             struct pl_error *error);

struct predict_peak_rate {
    double bytes_per_s; /* NaN: not measured */
    bool other_access;
    enum predict_range range;
};

/* The sum over the I/O nodes (eq. 4) that were measured in `on`; NULL: over all. */
struct predict_peak_rate predict_peaks_at(const struct predict_peaks *peaks, const char *on,
                                          enum predict_direction direction, enum model_order order, double bytes);

/* Peaks were measured in no directory of a configuration: they are taken for the I/O nodes behind all of them. */
bool predict_peak_is_behind(const struct prediction *prediction, const char *on);

#endif
