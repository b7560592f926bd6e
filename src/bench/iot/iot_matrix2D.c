/* matrix2D, matrix3D: a distributed array, each process moving its part with one call. */
#include "bench/iot/iot.h"

#include "bench/iot/iot_matrix.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct matrix {
    struct iot_run *run;
    piolet_dist *dist;
    struct matrix_view view;
    double *part; /* this rank's elements: one buffer, written from and read into */
    int64_t count;
};

static pl_status matrix2D_matrix_prepare(void *test, struct pl_error *error)
{
    struct matrix *matrix = test;
    pl_status status = iot_check_memory(matrix->run, error);
    if (status == PL_OK)
        status = matrix_new(matrix->dist, matrix->run->rank, &matrix->part, error);
    if (status == PL_OK)
        matrix_fill(matrix->dist, matrix->run->rank, matrix->run->seed, matrix->part);
    return status;
}

static pl_status matrix2D_matrix_clear(void *test, struct pl_error *error)
{
    return iot_clear_file(((struct matrix *)test)->run, error);
}

static pl_status matrix2D_matrix_open_coll(void *test, struct pl_error *error)
{
    struct matrix *matrix = test;
    pl_status status = iot_file_open_coll(matrix->run, matrix->run->comm, &matrix->view.file, error);
    if (status == PL_OK)
        status = matrix_set_view_coll(matrix->run, &matrix->view, error);
    return status;
}

static pl_status matrix2D_matrix_preallocate_coll(void *test, struct pl_error *error)
{
    struct matrix *matrix = test;
    return iot_file_preallocate_coll(matrix->run, matrix->view.file, error);
}

static pl_status matrix2D_matrix_put_coll(void *test, struct pl_error *error)
{
    struct matrix *matrix = test;
    return matrix_write_coll(matrix->run, &matrix->view, matrix->part, matrix->count, error);
}

static pl_status matrix2D_matrix_sync_coll(void *test, struct pl_error *error)
{
    struct matrix *matrix = test;
    return iot_file_sync_coll(matrix->run, matrix->view.file, error);
}

static pl_status matrix2D_matrix_forget(void *test, struct pl_error *error)
{
    struct matrix *matrix = test;
    (void)error;
    memset(matrix->part, 0xff, (size_t)matrix->count * sizeof *matrix->part); /* no value of ours */
    return PL_OK;
}

static pl_status matrix2D_matrix_get_coll(void *test, struct pl_error *error)
{
    struct matrix *matrix = test;
    return matrix_read_coll(matrix->run, &matrix->view, matrix->part, matrix->count, error);
}

static pl_status matrix2D_matrix_compare(void *test, struct pl_error *error)
{
    struct matrix *matrix = test;
    return matrix_verify(matrix->run, matrix->dist, matrix->part, "checking what was read", error);
}

static pl_status matrix2D_matrix_close_coll(void *test, struct pl_error *error)
{
    struct matrix *matrix = test;
    return iot_file_close_coll(matrix->run, &matrix->view.file, error);
}

static const struct iot_course MATRIX_COURSE[] = {
    {matrix2D_matrix_prepare, NULL, 0},
    {matrix2D_matrix_clear, NULL, IOT_ALONE},
    {matrix2D_matrix_open_coll, "pre_time", IOT_OPENS},
    {matrix2D_matrix_preallocate_coll, "palloc_time", IOT_WRITES},
    {matrix2D_matrix_put_coll, "write", IOT_WRITES},
    {matrix2D_matrix_sync_coll, "sync_time", IOT_WRITES},
    {matrix2D_matrix_forget, NULL, IOT_READS},
    {matrix2D_matrix_get_coll, "read", IOT_READS},
    {matrix2D_matrix_compare, NULL, IOT_READS},
    {matrix2D_matrix_close_coll, "post_time", IOT_CLOSES},
};

pl_status matrix_run_coll(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    struct matrix matrix = {.run = run, .view = {MPI_FILE_NULL, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL}};
    pl_status status = matrix_dist(run, NULL, &matrix.dist, error);
    if (status == PL_OK)
        status = matrix_types(matrix.dist, run->rank, &matrix.view, error);
    status = coll_agree_coll(run->comm, status, error, ret_verdict);
    if (status == PL_OK) {
        matrix.count = piolet_dist_count(matrix.dist, run->rank);
        matrix_note(run, matrix.dist);
        iot_param(run, "collective", "%s", iot_spec_text(run->block, "collective"));
        status = iot_course_coll(run, MATRIX_COURSE, sizeof MATRIX_COURSE / sizeof MATRIX_COURSE[0], &matrix, error,
                                 ret_verdict);
    }
    matrix_types_free(&matrix.view);
    piolet_dist_free(matrix.dist);
    free(matrix.part);
    return status;
}

IOT_TEST(matrix2D) = {
    .name = "matrix2D",
    .keywords = (const struct option_row *const[]){IOT_COMMON, MATRIX_SIZES_2D, MATRIX_GRIDS_2D, MATRIX_ACCESS, NULL},
    .summary = "a distributed matrix, each process moving its part with one call",
    IOT_TEST_CALLS(matrix),
};

IOT_TEST(matrix3D) = {
    .name = "matrix3D",
    .keywords = (const struct option_row *const[]){IOT_COMMON, MATRIX_SIZES_3D, MATRIX_GRIDS_3D, MATRIX_ACCESS, NULL},
    .summary = "a distributed 3-D array, each process moving its part with one call",
    IOT_TEST_CALLS(matrix),
};
