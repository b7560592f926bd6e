/* Inside of analysis_allav*.c: the rates of all sets, grouped and averaged. */
#ifndef PIOLET_MEASURE_ANALYSIS_ALLAV_H
#define PIOLET_MEASURE_ANALYSIS_ALLAV_H

#include "measure/analysis_rows.h"
#include "measure/plot.h"

/* What must be equal for two rates to stand on one curve. Strings are borrowed from the block files. */
enum allav_trait {
    ALLAV_TEST,
    ALLAV_OP,
    ALLAV_NPROCS,
    ALLAV_COLLECTIVE,
    ALLAV_LAYOUT,
    ALLAV_MPIIO,
    ALLAV_FILESYSTEM,
    ALLAV_TRAITS
};

extern const char *const ALLAV_TRAIT_NAMES[ALLAV_TRAITS];

struct allav_group {
    const char *traits[ALLAV_TRAITS];
    bool one_process; /* the others wait */
};

/* One operation of one set; after averaging, of all sets with equal parameters. */
struct allav_point {
    size_t group;
    double file_bytes, block_bytes;
    size_t sets;
    struct analysis_op_rate rate; /* its cumulative points are those of the first set */
};

struct allav {
    const struct analysis_request *request;
    struct allav_group *groups; /* owned */
    size_t group_count;
    struct allav_point *points; /* owned; when averaged: sorted by group, block size, file size */
    size_t point_count;
    char left_out[160]; /* what the plot had no room for; empty: nothing */
};

/* End of the points that share group and block size with points[first]. */
size_t allav_end_of_curve(const struct allav *allav, size_t first);
/* Test, access, processes, and the other traits in which the groups differ; the operation is not named. */
void allav_label(const struct allav *allav, size_t group, char *label, size_t size);
bool allav_same_group(const struct allav_group *a, const struct allav_group *b, bool any_op);

/* A plot_draw of a struct allav; sets left_out. */
pl_status allav_plot_draw(void *context, FILE *stream, struct pl_error *error);

#endif
