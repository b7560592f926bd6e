/* What block files of PIOBENCH say: one point for each algorithm in each cell, with its mean over all trials. */
#ifndef PIOLET_BENCH_PIOBENCH_POINTS_H
#define PIOLET_BENCH_PIOBENCH_POINTS_H

#include "bench/piobench/piobench.h"
#include "measure/analysis_select.h"
#include "measure/conditions.h"

struct piobench_point {
    /* the cell */
    const char *op, *distribution; /* borrowed, as all strings here */
    int64_t file_bytes, block_bytes;
    int64_t block_asked_bytes; /* 0: it follows from file and ranks */
    int ranks;
    int conditions; /* number in the list's conditions */
    /* the contestant */
    const char *mpi, *algorithm, *family;
    int64_t buffer_bytes, group; /* 0: not asked for */
    bool crowded;                /* more ranks than cores */
    /* the result */
    int trials, failures;
    const char *warning;   /* of a trial that is not quite what was asked for; NULL: none */
    double rate_mb_per_s;  /* bytes moved over the mean time; NaN: all trials failed */
    double error_mb_per_s; /* half width of the 90 % interval; NaN for fewer than 2 trials */
    double moved_bytes;
    double *total_ns; /* owned by the list */
};

struct piobench_points {
    struct piobench_point *points; /* in the order of the files; those of one cell are neighbours */
    size_t count;
    bool has_many_mpis;
    struct conditions conditions;
};

/* PL_E_INPUT where nothing is selected. On success the caller clears; the points borrow from the input. */
pl_status piobench_points_load(const struct analysis_request *request, const struct analysis_input *input,
                               struct piobench_points *ret_points, struct pl_error *error);
void piobench_points_clear(struct piobench_points *points);

bool piobench_points_same_cell(const struct piobench_point *a, const struct piobench_point *b);
/* The naive of the same cell, of the same MPI if there is one; NULL: none was measured. */
const struct piobench_point *piobench_points_naive(const struct piobench_point *points, size_t count,
                                                   const struct piobench_point *of);
/* The fastest of the same cell; NULL: all failed. */
const struct piobench_point *piobench_points_best(const struct piobench_point *points, size_t count,
                                                  const struct piobench_point *of);
/* "cbx", or "openmpi cbx" where there are many. */
const char *piobench_points_label(const struct piobench_points *points, const struct piobench_point *point,
                                  char label[PIOBENCH_LABEL_MAX + PIOBENCH_MPI_MAX]);

#endif
