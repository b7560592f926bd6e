/* transpose: a matrix is written distributed along x and read back as its transpose, distributed along the transpose's
 * first axis (IOT-25). `internal` is the time of the same transpose by messages, from the parts in memory.
 *
 * A filetype's displacements must not descend, so the view selects what a rank needs and the datatype of its buffer
 * turns it: one call all the same. */
#include "bench/iot/iot.h"
#include "bench/iot/iot_matrix.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct transpose {
    struct iot_run *run;
    piolet_dist *rows, *turned; /* as written; as read */
    struct matrix_view view, turned_view;
    double *part;        /* written */
    double *turned_part; /* read, and made by messages */
    int64_t count, turned_count;
    MPI_Datatype tile; /* of the transpose by messages, as it arrives */
    int tile_count;    /* its elements */
};

static pl_status transpose_make_tile(struct transpose *t, struct pl_error *error)
{
    const struct piolet_dist_shape *shape = piolet_dist_shape_of(t->rows);
    const int width = (int)(shape->size[0] / shape->procs), height = (int)(shape->size[1] / shape->procs);
    MPI_Datatype column, turned;
    MPI_Type_vector(width, 1, height, MPI_DOUBLE, &column);
    MPI_Type_create_hvector(height, 1, sizeof(double), column, &turned);
    int code = MPI_Type_create_resized(turned, 0, (MPI_Aint)width * height * (MPI_Aint)sizeof(double), &t->tile);
    MPI_Type_free(&column);
    MPI_Type_free(&turned);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(&t->tile);
    t->tile_count = width * height;
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "making the type of a tile");
}

static pl_status transpose_prepare(void *test, struct pl_error *error)
{
    struct transpose *t = test;
    const int rank = t->run->rank;
    pl_status status = iot_check_memory(t->run, error);
    if (status == PL_OK)
        status = matrix_new(t->rows, rank, &t->part, error);
    if (status == PL_OK)
        status = matrix_new(t->turned, rank, &t->turned_part, error);
    if (status == PL_OK) {
        matrix_fill(t->rows, rank, t->run->seed, t->part);
        memset(t->turned_part, 0xff, (size_t)t->turned_count * sizeof *t->turned_part); /* no value of ours */
        status = transpose_make_tile(t, error);
    }
    return status;
}

static pl_status transpose_clear(void *test, struct pl_error *error)
{
    return iot_clear_file(((struct transpose *)test)->run, error);
}

static pl_status transpose_open_coll(void *test, struct pl_error *error)
{
    struct transpose *t = test;
    return iot_file_open_coll(t->run, t->run->comm, &t->view.file, error);
}

static pl_status transpose_preallocate_coll(void *test, struct pl_error *error)
{
    struct transpose *t = test;
    return iot_file_preallocate_coll(t->run, t->view.file, error);
}

static pl_status transpose_view_coll(void *test, struct pl_error *error)
{
    struct transpose *t = test;
    return matrix_set_view_coll(t->run, &t->view, error);
}

static pl_status transpose_write_coll(void *test, struct pl_error *error)
{
    struct transpose *t = test;
    return matrix_write_coll(t->run, &t->view, t->part, t->count, error);
}

static pl_status transpose_sync_coll(void *test, struct pl_error *error)
{
    struct transpose *t = test;
    return iot_file_sync_coll(t->run, t->view.file, error);
}

static pl_status transpose_turn_view_coll(void *test, struct pl_error *error)
{
    struct transpose *t = test;
    t->turned_view.file = t->view.file;
    return matrix_set_view_coll(t->run, &t->turned_view, error);
}

static pl_status transpose_read_coll(void *test, struct pl_error *error)
{
    struct transpose *t = test;
    return matrix_read_coll(t->run, &t->turned_view, t->turned_part, t->turned_count, error);
}

static pl_status transpose_compare_read(void *test, struct pl_error *error)
{
    struct transpose *t = test;
    const pl_status status = matrix_verify(t->run, t->turned, t->turned_part, "checking the transpose read", error);
    memset(t->turned_part, 0xff, (size_t)t->turned_count * sizeof *t->turned_part);
    return status;
}

static pl_status transpose_close_coll(void *test, struct pl_error *error)
{
    struct transpose *t = test;
    return iot_file_close_coll(t->run, &t->view.file, error);
}

/* Everybody sends everybody a tile, contiguous where it leaves, and its datatype turns it where it arrives. */
static pl_status transpose_internal_coll(void *test, struct pl_error *error)
{
    struct transpose *t = test;
    const int code = MPI_Alltoall(t->part, t->tile_count, MPI_DOUBLE, t->turned_part, 1, t->tile, t->run->comm);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "transposing by messages");
}

static pl_status transpose_compare_internal(void *test, struct pl_error *error)
{
    struct transpose *t = test;
    return matrix_verify(t->run, t->turned, t->turned_part, "checking the transpose made by messages", error);
}

static const struct iot_course TRANSPOSE_COURSE[] = {
    {transpose_prepare, NULL, 0},
    {transpose_clear, NULL, IOT_ALONE},
    {transpose_open_coll, "pre_time", IOT_OPENS},
    {transpose_preallocate_coll, "palloc_time", IOT_WRITES},
    {transpose_view_coll, "view_time", IOT_WRITES},
    {transpose_write_coll, "write", IOT_WRITES},
    {transpose_sync_coll, "sync_time", IOT_WRITES},
    {transpose_turn_view_coll, "turn_time", IOT_READS},
    {transpose_read_coll, "read", IOT_READS},
    {transpose_compare_read, NULL, IOT_READS},
    {transpose_close_coll, "post_time", IOT_CLOSES},
    {transpose_internal_coll, "internal", 0},
    {transpose_compare_internal, NULL, 0},
};

static pl_status transpose_types(struct transpose *t, struct pl_error *error)
{
    pl_status status = matrix_dist(t->run, "BLOCK,*", &t->rows, error);
    if (status == PL_OK)
        status = matrix_dist(t->run, "transposed(*,BLOCK)", &t->turned, error);
    if (status == PL_OK)
        status = matrix_types(t->rows, t->run->rank, &t->view, error);
    if (status == PL_OK)
        status = matrix_types(t->turned, t->run->rank, &t->turned_view, error);
    return status;
}

static pl_status transpose_run_coll(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    struct transpose t = {.run = run,
                          .tile = MPI_DATATYPE_NULL,
                          .view = {MPI_FILE_NULL, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL},
                          .turned_view = {MPI_FILE_NULL, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL}};
    pl_status status = coll_agree_coll(run->comm, transpose_types(&t, error), error, ret_verdict);
    if (status == PL_OK) {
        t.count = piolet_dist_count(t.rows, run->rank);
        t.turned_count = piolet_dist_count(t.turned, run->rank);
        matrix_note(run, t.rows);
        iot_param(run, "collective", "%s", iot_spec_text(run->block, "collective"));
        status = iot_course_coll(run, TRANSPOSE_COURSE, sizeof TRANSPOSE_COURSE / sizeof TRANSPOSE_COURSE[0], &t, error,
                                 ret_verdict);
    }
    if (t.tile != MPI_DATATYPE_NULL)
        MPI_Type_free(&t.tile);
    matrix_types_free(&t.view);
    matrix_types_free(&t.turned_view);
    piolet_dist_free(t.rows);
    piolet_dist_free(t.turned);
    free(t.part);
    free(t.turned_part);
    return status;
}

/* The document lets the grid be given as for matrix2D, but has one alone: all processes along x. Pure. */
static pl_status transpose_check_grids(const struct iot_spec *spec, const struct iot_block *block, int nprocs,
                                       struct pl_error *error)
{
    static const char *const names[] = {"xproc", "yproc"};
    const struct option_value *count = iot_spec_find(block, "numprocgrids"), *grid[2];
    bool fits = true;
    for (int d = 0; d < 2; d++) {
        grid[d] = iot_spec_find(block, names[d]);
        if (count && !grid[d])
            return iot_spec_fail(spec, block, "numprocgrids", error, "given without %s; allowed: with xproc and yproc",
                                 names[d]);
        for (size_t i = 0; grid[d] && i < (count ? (size_t)count->integers[0] : grid[d]->count); i++)
            fits = fits && grid[d]->integers[i] == (d == 0 ? nprocs : 1);
    }
    if (fits)
        return PL_OK;
    return iot_spec_fail(spec, block, grid[0] ? "xproc" : "yproc", error,
                         "a transpose is distributed along x alone; allowed: xproc %d and yproc 1 on %d processes, or "
                         "no grid",
                         nprocs, nprocs);
}

/* Pure: both axes must divide, since the transpose is distributed along the other one. */
static pl_status transpose_check(const struct iot_spec *spec, const struct iot_block *block, int nprocs,
                                 int64_t *ret_sets, struct pl_error *error)
{
    pl_status status = matrix_check(spec, block, nprocs, ret_sets, error);
    if (status == PL_OK)
        status = transpose_check_grids(spec, block, nprocs, error);
    static const char *const names[] = {"xsize", "ysize"};
    for (int64_t i = 0; status == PL_OK && i < *ret_sets; i++) {
        const struct piolet_dist_shape shape = matrix_shape(block, nprocs, i);
        for (int d = 0; d < 2 && status == PL_OK; d++)
            if (shape.size[d] % nprocs != 0)
                status = iot_spec_fail(spec, block, names[d], error,
                                       "%lld elements do not divide among %d processes; allowed: a multiple of %d",
                                       (long long)shape.size[d], nprocs, nprocs);
        if (status == PL_OK && shape.size[0] / nprocs * (shape.size[1] / nprocs) > INT_MAX)
            status = iot_spec_fail(spec, block, "xsize", error,
                                   "a tile of %lld x %lld elements is more than one message can hold; allowed: smaller "
                                   "sizes or more processes",
                                   (long long)shape.size[0] / nprocs, (long long)shape.size[1] / nprocs);
    }
    return status;
}

static void transpose_describe(const struct iot_block *block, int nprocs, int64_t index, struct iot_set *ret_set)
{
    matrix_describe(block, nprocs, index, ret_set);
    ret_set->memory_bytes = 2 * ret_set->file_bytes / nprocs;
}

#define TRANSPOSE_SIZE(size_name)                                                                                      \
    {                                                                                                                  \
        .name = size_name, .type = OPTION_INTS, .flags = OPTION_REQUIRED, .min = 1, .max = 1e9,                        \
        .help = "elements of the array along this axis"                                                                \
    }
#define TRANSPOSE_PROCS(procs_name, procs_help)                                                                        \
    {                                                                                                                  \
        .name = procs_name, .type = OPTION_INTS, .min = 1, .max = 1e6, .help = procs_help                              \
    }

static const struct option_row TRANSPOSE_KEYWORDS[] = {
    {.name = "numsizes",
     .aliases = "numproblemsizes",
     .type = OPTION_INT,
     .initial = "1",
     .min = 1,
     .max = 1e6,
     .help = "problem sizes to run, from the start of the lists"},
    TRANSPOSE_SIZE("xsize"),
    TRANSPOSE_SIZE("ysize"),
    {.name = "numprocgrids",
     .type = OPTION_INT,
     .min = 1,
     .max = 1e6,
     .help = "as in matrix2D: process grids to run with every size"},
    TRANSPOSE_PROCS("xproc", "as in matrix2D; here always the number of processes"),
    TRANSPOSE_PROCS("yproc", "as in matrix2D; here always 1"),
    {.name = "collective",
     .type = OPTION_FLAG,
     .flags = OPTION_REQUIRED,
     .help = "collective calls, or independent ones"},
    {0},
};

IOT_TEST(transpose) = {
    .name = "transpose",
    .keywords = (const struct option_row *const[]){IOT_COMMON, TRANSPOSE_KEYWORDS, NULL},
    .summary = "a matrix written, and read back as its transpose; the same by messages",
    IOT_TEST_CALLS(transpose),
};
