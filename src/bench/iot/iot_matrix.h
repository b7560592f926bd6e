/* What the kernels on distributed arrays share: sizes and process grids, and the array on one rank.
 *
 * The array is of doubles, in the file in column order, as one process would write it. An element's value is a hash of
 * the seed and of its place in the array, so that an element in a wrong place, or left from another run, is noticed. */
#ifndef PIOLET_BENCH_IOT_MATRIX_H
#define PIOLET_BENCH_IOT_MATRIX_H

#include "bench/iot/iot.h"
#include "bench/iot/iot_data.h"

#include <piolet/dist.h>

enum { MATRIX_DIMS_MAX = 3 };

extern const struct option_row MATRIX_SIZES_2D[]; /* numsizes, xsize, ysize */
extern const struct option_row MATRIX_SIZES_3D[];
extern const struct option_row MATRIX_GRIDS_2D[]; /* numprocgrids, xproc, yproc */
extern const struct option_row MATRIX_GRIDS_3D[];
extern const struct option_row MATRIX_ACCESS[]; /* collective, distribution */

/* For struct iot_test. */
pl_status matrix_check(const struct iot_spec *spec, const struct iot_block *block, int nprocs, int64_t *ret_sets,
                       struct pl_error *error);
void matrix_describe(const struct iot_block *block, int nprocs, int64_t index, struct iot_set *ret_set);

/* Array and process grid of set `index`. */
struct piolet_dist_shape matrix_shape(const struct iot_block *block, int nprocs, int64_t index);

/* The distribution `text` of that array, or with text NULL the block's own. */
pl_status matrix_dist(const struct iot_run *run, const char *text, piolet_dist **ret_dist, struct pl_error *error);

/* The value of the element at `offset` of the array. */
double matrix_value(uint64_t seed, int64_t offset);

/* A rank's buffer, in the order of piolet_dist_offset_of_local(). */
pl_status matrix_new(const piolet_dist *dist, int rank, double **ret_buffer, struct pl_error *error);
void matrix_fill(const piolet_dist *dist, int rank, uint64_t seed, double *buffer);
pl_status matrix_verify(const struct iot_run *run, const piolet_dist *dist, const double *buffer, const char *doing,
                        struct pl_error *error);

/* Writes sizes, grid and distribution into the results. */
void matrix_note(struct iot_run *run, const piolet_dist *dist);

/* matrix2D and matrix3D: the run of one set. */
pl_status matrix_run_coll(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict);

/* ---- an MPI file seen through a distribution ---- */

struct matrix_view {
    MPI_File file;
    MPI_Datatype filetype, memtype;
};

pl_status matrix_types(const piolet_dist *dist, int rank, struct matrix_view *view, struct pl_error *error);
void matrix_types_free(struct matrix_view *view);
pl_status matrix_set_view_coll(const struct iot_run *run, struct matrix_view *view, struct pl_error *error);

/* The one call that moves a rank's part. */
pl_status matrix_write_coll(const struct iot_run *run, struct matrix_view *view, const double *buffer, int64_t count,
                            struct pl_error *error);
pl_status matrix_read_coll(const struct iot_run *run, struct matrix_view *view, double *buffer, int64_t count,
                           struct pl_error *error);

#endif
