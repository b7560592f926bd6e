/* Inside of src/predict: pieces of types, device peaks, characterisations of a system. */
#ifndef PIOLET_PREDICT_SOURCE_H
#define PIOLET_PREDICT_SOURCE_H

#include "model/model.h"
#include "predict/predict.h"

/* How many bytes lie together in a file through a view: the piece that a disk sees of a scattered request. Pure.
 * Of a type as traces write it, for example "vector(3,2,5,MPI_DOUBLE)": 16. For blocks of different lengths it is their
 * mean. 0: not known. */
int64_t predict_piece_bytes(const char *type);

/* ---- device peaks by I/O node ---- */

enum { PREDICT_ORDERS = MODEL_RANDOM + 1 };

struct predict_node {
    char *name, *on; /* of the I/O node; the directory that was measured */
    struct predict_curve curves[PREDICT_DIRECTIONS][PREDICT_ORDERS];
};

struct predict_peaks {
    struct predict_node *nodes; /* owned */
    int count;
};

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

/* Inside of src/predict: what stored characterisations of a system tell, as curves of patterns. */

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
