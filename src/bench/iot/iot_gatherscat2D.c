/* gatherscat2D: what matrix2D does, in the old way: the parts are gathered on one process, which writes; it reads, and
 * scatters (IOT-23). gather, write, read and scatter are timed apart; same keywords and same file as matrix2D. */
#include "bench/iot/iot.h"
#include "bench/iot/iot_matrix.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct gatherscat {
    struct iot_run *run;
    piolet_dist *dist;
    MPI_File file;
    double *part;  /* this rank's elements */
    double *whole; /* rank 0: the matrix */
    int count;
    MPI_Datatype tile; /* a part inside the matrix, with the extent of one element: displacements count elements */
    int *counts, *places;
};

static pl_status gatherscat_make_tile(struct gatherscat *g, struct pl_error *error)
{
    const struct piolet_dist_shape *shape = piolet_dist_shape_of(g->dist);
    const int width = (int)(shape->size[0] / shape->grid[0]), height = (int)(shape->size[1] / shape->grid[1]);
    MPI_Datatype inside;
    MPI_Type_vector(height, width, (int)shape->size[0], MPI_DOUBLE, &inside);
    int code = MPI_Type_create_resized(inside, 0, sizeof(double), &g->tile);
    MPI_Type_free(&inside);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(&g->tile);
    for (int rank = 0; rank < g->run->nprocs; rank++) {
        const int64_t x = rank % shape->grid[0], y = rank / shape->grid[0];
        g->counts[rank] = 1;
        g->places[rank] = (int)(x * width + y * height * shape->size[0]);
    }
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "making the type of a part");
}

static pl_status gatherscat_prepare(void *test, struct pl_error *error)
{
    struct gatherscat *g = test;
    const struct iot_run *run = g->run;
    pl_status status = iot_check_memory(run, error);
    if (status == PL_OK)
        status = matrix_new(g->dist, run->rank, &g->part, error);
    if (status != PL_OK)
        return status;
    matrix_fill(g->dist, run->rank, run->seed, g->part);
    g->counts = calloc((size_t)run->nprocs, sizeof *g->counts);
    g->places = calloc((size_t)run->nprocs, sizeof *g->places);
    g->whole = run->rank == 0 ? malloc((size_t)run->set.file_bytes) : NULL;
    if (!g->counts || !g->places || (run->rank == 0 && !g->whole))
        return pl_fail_errno(error, ENOMEM, "taking memory for the whole matrix");
    if (run->rank == 0)
        memset(g->whole, 0xff, (size_t)run->set.file_bytes);
    return gatherscat_make_tile(g, error);
}

static pl_status gatherscat_clear(void *test, struct pl_error *error)
{
    return iot_clear_file(((struct gatherscat *)test)->run, error);
}

static pl_status gatherscat_open(void *test, struct pl_error *error)
{
    struct gatherscat *g = test;
    return iot_file_open_coll(g->run, MPI_COMM_SELF, &g->file, error);
}

static pl_status gatherscat_preallocate(void *test, struct pl_error *error)
{
    struct gatherscat *g = test;
    return iot_file_preallocate_coll(g->run, g->file, error);
}

static pl_status gatherscat_gather_coll(void *test, struct pl_error *error)
{
    struct gatherscat *g = test;
    const int code = MPI_Gatherv(g->part, g->count, MPI_DOUBLE, g->whole, g->counts, g->places, g->tile, 0,
                                 g->run->comm);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "gathering the matrix");
}

/* Judges a transfer of the whole matrix. */
static pl_status gatherscat_moved_whole(const struct gatherscat *g, const char *doing, int code, MPI_Status *moved,
                                        struct pl_error *error)
{
    const struct iot_run *run = g->run;
    const int wanted = (int)(run->set.file_bytes / 8);
    int count = 0;
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "%s the matrix in '%s'", doing, run->filename);
    MPI_Get_count(moved, MPI_DOUBLE, &count);
    if (count == wanted)
        return PL_OK;
    pl_fail(error, PL_E_SYSTEM, "%s '%s': only %d of %d elements moved", doing, run->filename, count, wanted);
    return iot_file_note_full_disk(run, doing, error);
}

static pl_status gatherscat_write(void *test, struct pl_error *error)
{
    struct gatherscat *g = test;
    MPI_Status moved;
    const int count = (int)(g->run->set.file_bytes / 8);
    const int code = MPI_File_write_at(g->file, 0, g->whole, count, MPI_DOUBLE, &moved);
    return gatherscat_moved_whole(g, "writing", code, &moved, error);
}

static pl_status gatherscat_sync(void *test, struct pl_error *error)
{
    struct gatherscat *g = test;
    return iot_file_sync_coll(g->run, g->file, error);
}

static pl_status gatherscat_forget(void *test, struct pl_error *error)
{
    struct gatherscat *g = test;
    (void)error;
    memset(g->part, 0xff, (size_t)g->count * sizeof *g->part);
    if (g->whole)
        memset(g->whole, 0xff, (size_t)g->run->set.file_bytes);
    return PL_OK;
}

static pl_status gatherscat_read(void *test, struct pl_error *error)
{
    struct gatherscat *g = test;
    MPI_Status moved;
    const int count = (int)(g->run->set.file_bytes / 8);
    const int code = MPI_File_read_at(g->file, 0, g->whole, count, MPI_DOUBLE, &moved);
    return gatherscat_moved_whole(g, "reading", code, &moved, error);
}

static pl_status gatherscat_scatter_coll(void *test, struct pl_error *error)
{
    struct gatherscat *g = test;
    const int code = MPI_Scatterv(g->whole, g->counts, g->places, g->tile, g->part, g->count, MPI_DOUBLE, 0,
                                  g->run->comm);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "scattering the matrix");
}

static pl_status gatherscat_compare(void *test, struct pl_error *error)
{
    struct gatherscat *g = test;
    return matrix_verify(g->run, g->dist, g->part, "checking what was read and scattered", error);
}

static pl_status gatherscat_close(void *test, struct pl_error *error)
{
    struct gatherscat *g = test;
    return iot_file_close_coll(g->run, &g->file, error);
}

static const struct iot_course GATHERSCAT_COURSE[] = {
    {gatherscat_prepare, NULL, 0},
    {gatherscat_clear, NULL, IOT_ALONE},
    {gatherscat_open, "pre_time", IOT_OPENS | IOT_ALONE},
    {gatherscat_preallocate, "palloc_time", IOT_WRITES | IOT_ALONE},
    {gatherscat_gather_coll, "gather", IOT_WRITES},
    {gatherscat_write, "write", IOT_WRITES | IOT_ALONE},
    {gatherscat_sync, "sync_time", IOT_WRITES | IOT_ALONE},
    {gatherscat_forget, NULL, IOT_READS},
    {gatherscat_read, "read", IOT_READS | IOT_ALONE},
    {gatherscat_scatter_coll, "scatter", IOT_READS},
    {gatherscat_compare, NULL, IOT_READS},
    {gatherscat_close, "post_time", IOT_CLOSES | IOT_ALONE},
};

static pl_status gatherscat_run_coll(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    struct gatherscat g = {.run = run, .file = MPI_FILE_NULL, .tile = MPI_DATATYPE_NULL};
    pl_status status = coll_agree_coll(run->comm, matrix_dist(run, NULL, &g.dist, error), error, ret_verdict);
    if (status == PL_OK) {
        g.count = (int)piolet_dist_count(g.dist, run->rank);
        matrix_note(run, g.dist);
        status = iot_course_coll(run, GATHERSCAT_COURSE, sizeof GATHERSCAT_COURSE / sizeof GATHERSCAT_COURSE[0], &g,
                                 error, ret_verdict);
    }
    if (g.tile != MPI_DATATYPE_NULL)
        MPI_Type_free(&g.tile);
    piolet_dist_free(g.dist);
    free(g.part);
    free(g.whole);
    free(g.counts);
    free(g.places);
    return status;
}

/* Pure: one process moves the whole matrix with one call, and displacements of a gather count in int. */
static pl_status gatherscat_check(const struct iot_spec *spec, const struct iot_block *block, int nprocs,
                                  int64_t *ret_sets, struct pl_error *error)
{
    pl_status status = matrix_check(spec, block, nprocs, ret_sets, error);
    for (int64_t i = 0; status == PL_OK && i < *ret_sets; i++) {
        const struct piolet_dist_shape shape = matrix_shape(block, nprocs, i);
        if (shape.size[0] * shape.size[1] > INT_MAX)
            status = iot_spec_fail(
                spec, block, "xsize", error,
                "%lld x %lld elements are more than one process can gather; allowed: up to 2147483647",
                (long long)shape.size[0], (long long)shape.size[1]);
    }
    return status;
}

static void gatherscat_describe(const struct iot_block *block, int nprocs, int64_t index, struct iot_set *ret_set)
{
    matrix_describe(block, nprocs, index, ret_set);
    ret_set->memory_alone_bytes = ret_set->file_bytes;
}

IOT_TEST(gatherscat2D) = {
    .name = "gatherscat2D",
    .also = "gatherScat2D",
    .keywords = (const struct option_row *const[]){IOT_COMMON, MATRIX_SIZES_2D, MATRIX_GRIDS_2D, NULL},
    .summary = "a matrix gathered on one process that writes it; read there, and scattered",
    .access = "one rank",
    IOT_TEST_CALLS(gatherscat),
};
