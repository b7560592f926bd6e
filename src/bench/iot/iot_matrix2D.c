/* matrix2D: a distributed matrix is written and read, each process moving its part with one call (IOT-20).
 *
 * write and read are the times of that call on each rank. The file holds the matrix in column order, as one process
 * would write it, so that it can be read with another grid or another number of processes (`phases read`). */
#include "bench/iot/iot_course.h"
#include "bench/iot/iot_file.h"
#include "bench/iot/iot_matrix.h"

#include <stdlib.h>
#include <string.h>

struct matrix {
    struct iot_run *run;
    piolet_dist *dist;
    struct matrix_view view;
    double *part; /* this rank's elements: one buffer, written from and read into */
    int64_t count;
};

static pl_status matrix_prepare(void *test, struct pl_error *error)
{
    struct matrix *matrix = test;
    pl_status status = iot_check_memory(matrix->run, error);
    if (status == PL_OK)
        status = matrix_new(matrix->dist, matrix->run->rank, &matrix->part, error);
    if (status == PL_OK)
        matrix_fill(matrix->dist, matrix->run->rank, matrix->run->seed, matrix->part);
    return status;
}

static pl_status matrix_clear(void *test, struct pl_error *error)
{
    return iot_clear_file(((struct matrix *)test)->run, error);
}

static pl_status matrix_open_coll(void *test, struct pl_error *error)
{
    struct matrix *matrix = test;
    pl_status status = iot_file_open_coll(matrix->run, matrix->run->comm, &matrix->view.file, error);
    if (status == PL_OK)
        status = matrix_set_view_coll(matrix->run, &matrix->view, error);
    return status;
}

static pl_status matrix_preallocate_coll(void *test, struct pl_error *error)
{
    struct matrix *matrix = test;
    return iot_file_preallocate_coll(matrix->run, matrix->view.file, error);
}

static pl_status matrix_put_coll(void *test, struct pl_error *error)
{
    struct matrix *matrix = test;
    return matrix_write_coll(matrix->run, &matrix->view, matrix->part, matrix->count, error);
}

static pl_status matrix_sync_coll(void *test, struct pl_error *error)
{
    struct matrix *matrix = test;
    return iot_file_sync_coll(matrix->run, matrix->view.file, error);
}

static pl_status matrix_forget(void *test, struct pl_error *error)
{
    struct matrix *matrix = test;
    (void)error;
    memset(matrix->part, 0xff, (size_t)matrix->count * sizeof *matrix->part); /* no value of ours */
    return PL_OK;
}

static pl_status matrix_get_coll(void *test, struct pl_error *error)
{
    struct matrix *matrix = test;
    return matrix_read_coll(matrix->run, &matrix->view, matrix->part, matrix->count, error);
}

static pl_status matrix_compare(void *test, struct pl_error *error)
{
    struct matrix *matrix = test;
    return matrix_verify(matrix->run, matrix->dist, matrix->part, "checking what was read", error);
}

static pl_status matrix_close_coll(void *test, struct pl_error *error)
{
    struct matrix *matrix = test;
    return iot_file_close_coll(matrix->run, &matrix->view.file, error);
}

static const struct iot_course MATRIX_COURSE[] = {
    {matrix_prepare, NULL, 0},
    {matrix_clear, NULL, IOT_ALONE},
    {matrix_open_coll, "pre_time", IOT_OPENS},
    {matrix_preallocate_coll, "palloc_time", IOT_WRITES},
    {matrix_put_coll, "write", IOT_WRITES},
    {matrix_sync_coll, "sync_time", IOT_WRITES},
    {matrix_forget, NULL, IOT_READS},
    {matrix_get_coll, "read", IOT_READS},
    {matrix_compare, NULL, IOT_READS},
    {matrix_close_coll, "post_time", IOT_CLOSES},
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
        iot_param(run, "collective", "%s", spec_text(run->block, "collective"));
        status = iot_course_coll(run, MATRIX_COURSE, sizeof MATRIX_COURSE / sizeof MATRIX_COURSE[0], &matrix, error,
                                 ret_verdict);
    }
    matrix_types_free(&matrix.view);
    piolet_dist_free(matrix.dist);
    free(matrix.part);
    return status;
}

extern const struct iot_test iot_test_matrix2D;
const struct iot_test iot_test_matrix2D = {
    .spec = {.class_name = "Kernel",
             .name = "matrix2D",
             .keywords = (const struct spec_keyword *const[]){IOT_COMMON, MATRIX_SIZES_2D, MATRIX_GRIDS_2D,
                                                              MATRIX_ACCESS, NULL}},
    .summary = "a distributed matrix, each process moving its part with one call",
    .check = matrix_check,
    .describe = matrix_describe,
    .run_coll = matrix_run_coll,
};
