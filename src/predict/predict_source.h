/* Inside of src/predict: what stored characterisations of a system tell, as curves of patterns. */
#ifndef PIOLET_PREDICT_SOURCE_H
#define PIOLET_PREDICT_SOURCE_H

#include "predict/predict_peak.h"

/* How processes access a file: what a characterisation measured, and what a phase does. */
struct predict_pattern {
    bool collective;
    bool strided; /* the data of the processes lies mixed in the file */
    bool unique;  /* a file for each process */
    bool shared_pointer;
    bool random;
    bool rewrites; /* what was written before */
    int64_t processes;
    double file_bytes; /* 0: not known */
};

struct predict_source {
    char *name; /* "b_eff_io type 0, write, 4 processes"; sets of the same name are one curve */
    enum predict_direction direction;
    struct predict_pattern pattern;
    bool by_piece; /* its sizes are those of pieces that lie together, not of requests */
    struct predict_curve curve;
};

struct predict_sources {
    struct predict_source *list; /* owned */
    int count;
    struct predict_peaks *peaks; /* owned: taken where nothing else fits; NULL: none */
    char *place;                 /* host and file system of the first block */
};

/* How far a pattern is from what a phase does: 0 is the same, each difference adds what it is known to matter. Where a
 * text is given, the differences are named in it. */
double predict_pattern_distance(const struct predict_pattern *wanted, const struct predict_pattern *offered,
                                struct text *ret_words);

#endif
