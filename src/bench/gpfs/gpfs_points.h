/* What block files of these benchmarks say: one point for each contestant in each cell. */
#ifndef PIOLET_BENCH_GPFS_POINTS_H
#define PIOLET_BENCH_GPFS_POINTS_H

#include "bench/gpfs/gpfs.h"
#include "measure/analysis_select.h"
#include "measure/conditions.h"

struct gpfs_point {
    struct gpfs_cell cell;
    int conditions;               /* number in the list's conditions */
    const char *mpi, *contestant; /* borrowed from the input */
    double *rates;                /* MB/s of each repetition; owned by the list */
    int count, failures;
    struct gpfs_statistics statistics;
    double total_ns, task_ns; /* means: of the job, of its computation alone (NaN: none) */
    double overlap;           /* of computation and I/O, 0 … 1; NaN: not known */
};

struct gpfs_points {
    struct gpfs_point *points; /* in the order of the files; those of one cell are neighbours */
    size_t count;
    bool has_many_mpis, has_overlap;
    struct conditions conditions;
};

/* PL_E_INPUT where nothing is selected. On success the caller clears; the points borrow from the input. */
pl_status gpfs_points_load(const struct analysis_request *request, const struct analysis_input *input,
                           struct gpfs_points *ret_points, struct pl_error *error);
void gpfs_points_clear(struct gpfs_points *points);

/* Of the same benchmark and conditions, with equal parameters but those in `mask` (a bit for each key). */
bool gpfs_points_alike(const struct gpfs_point *a, const struct gpfs_point *b, uint64_t mask);
bool gpfs_points_same_contestant(const struct gpfs_point *a, const struct gpfs_point *b);

/* "shipping", or "openmpi shipping" where there are many MPIs. */
enum { GPFS_POINT_LABEL_MAX = 2 * GPFS_LABEL_MAX };
const char *gpfs_points_label(const struct gpfs_points *points, const struct gpfs_point *point,
                              char label[GPFS_POINT_LABEL_MAX]);

/* What this point shows, and its ratio to the system's MPI-IO (else POSIX) and to the best of its cell; NaN: none. */
struct gpfs_ratios {
    double shown, to_reference, to_best;
    const char *reference; /* "system", "posix"; "-": there is none */
};
struct gpfs_ratios gpfs_points_ratios(const struct gpfs_points *points, const struct gpfs_point *point);

#endif
