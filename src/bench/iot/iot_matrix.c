/* Distributed matrices: what the kernels on them share. */
#include "base/units.h"

#include "base/rng.h"
#include "bench/iot/iot.h"
#include "bench/iot/iot_matrix.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- keywords, shapes and sizes; pure ---- */

#define SIZE_MAX_ELEMENTS 1e9
#define PROCS_MAX         1e6
#define BYTES_MAX         0x1p62

#define MATRIX_SIZE(size_name)                                                                                         \
    {                                                                                                                  \
        .name = size_name, .type = OPTION_INTS, .flags = OPTION_REQUIRED, .min = 1, .max = SIZE_MAX_ELEMENTS,          \
        .help = "elements of the array along this axis"                                                                \
    }
#define MATRIX_PROCS(procs_name)                                                                                       \
    {                                                                                                                  \
        .name = procs_name, .type = OPTION_INTS, .flags = OPTION_REQUIRED, .min = 1, .max = PROCS_MAX,                 \
        .help = "processes along this axis"                                                                            \
    }

const struct option_row MATRIX_SIZES_2D[] = {
    IOT_COUNT("numsizes", "numproblemsizes", "problem sizes to run, from the start of the lists"),
    MATRIX_SIZE("xsize"),
    MATRIX_SIZE("ysize"),
    {0},
};

const struct option_row MATRIX_SIZES_3D[] = {
    IOT_COUNT("numsizes", "numproblemsizes", "problem sizes to run, from the start of the lists"),
    MATRIX_SIZE("xsize"),
    MATRIX_SIZE("ysize"),
    MATRIX_SIZE("zsize"),
    {0},
};

const struct option_row MATRIX_GRIDS_2D[] = {
    IOT_COUNT("numprocgrids", NULL, "process grids to run with every size"),
    MATRIX_PROCS("xproc"),
    MATRIX_PROCS("yproc"),
    {0},
};

const struct option_row MATRIX_GRIDS_3D[] = {
    IOT_COUNT("numprocgrids", NULL, "process grids to run with every size"),
    MATRIX_PROCS("xproc"),
    MATRIX_PROCS("yproc"),
    MATRIX_PROCS("zproc"),
    {0},
};

const struct option_row MATRIX_ACCESS[] = {
    {.name = "collective",
     .type = OPTION_FLAG,
     .flags = OPTION_REQUIRED,
     .help = "collective calls, or independent ones"},
    {.name = "distribution",
     .type = OPTION_TEXT,
     .argument = "NAME",
     .help = "how the array is dealt out: a list of BLOCK, BALANCED, CYCLIC(k), *; multipartition; random(k); "
             "scatter(k); by default BLOCK along every axis"},
    {0},
};

static const char *const SIZE_NAMES[MATRIX_DIMS_MAX] = {"xsize", "ysize", "zsize"};
static const char *const PROC_NAMES[MATRIX_DIMS_MAX] = {"xproc", "yproc", "zproc"};

static int matrix_dims_of(const struct iot_block *block)
{
    return iot_spec_find(block, "zsize") ? 3 : 2;
}

static int64_t matrix_count_of(const struct iot_block *block, const char *name)
{
    return iot_spec_find(block, name) ? (int64_t)iot_spec_number(block, name) : 1;
}

/* A list of the process grid; NULL for tests that have no grid to choose. */
static const struct option_value *matrix_grid_of(const struct iot_block *block, const char *name)
{
    const struct option_value *given = iot_spec_find(block, name);
    return given && (given->row->flags & OPTION_REQUIRED) ? given : NULL;
}

struct piolet_dist_shape matrix_shape(const struct iot_block *block, int nprocs, int64_t index)
{
    const int64_t grids = matrix_count_of(block, "numprocgrids"), sizes = matrix_count_of(block, "numsizes");
    assert(grids > 0 && sizes > 0);
    struct piolet_dist_shape shape = {.dims = matrix_dims_of(block), .procs = nprocs};
    for (int d = 0; d < shape.dims; d++) {
        shape.size[d] = (int64_t)iot_spec_find(block, SIZE_NAMES[d])->numbers[index / grids % sizes];
        const struct option_value *procs = matrix_grid_of(block, PROC_NAMES[d]);
        shape.grid[d] = procs ? (int64_t)procs->numbers[index % grids] : 0;
    }
    return shape;
}

static const char *matrix_distribution_of(const struct iot_block *block)
{
    const struct option_value *given = iot_spec_find(block, "distribution");
    if (given)
        return given->text;
    if (!matrix_grid_of(block, "xproc"))
        return "BLOCK,*"; /* transpose, which has no grid to choose */
    return matrix_dims_of(block) == 3 ? "BLOCK,BLOCK,BLOCK" : "BLOCK,BLOCK";
}

/* Kinds that know no grid of processes take the grid's keywords as a number of processes only. */
static void matrix_drop_grid(const struct piolet_dist_spec *dist, struct piolet_dist_shape *shape)
{
    if (dist->kind != PIOLET_DIST_RULES)
        memset(shape->grid, 0, sizeof shape->grid);
}

static pl_status matrix_make_dist(const struct iot_block *block, const char *text, int nprocs, int64_t index,
                                  piolet_dist **ret_dist, char message[PIOLET_DIST_MESSAGE_MAX])
{
    struct piolet_dist_spec rules;
    struct piolet_dist_shape shape = matrix_shape(block, nprocs, index);
    if (piolet_dist_parse(text, &rules, message, PIOLET_DIST_MESSAGE_MAX) != PIOLET_DIST_OK)
        return PL_E_INPUT;
    matrix_drop_grid(&rules, &shape);
    if (piolet_dist_new(&rules, &shape, ret_dist, message, PIOLET_DIST_MESSAGE_MAX) != PIOLET_DIST_OK)
        return PL_E_INPUT;
    return PL_OK;
}

pl_status matrix_dist(const struct iot_run *run, const char *text, piolet_dist **ret_dist, struct pl_error *error)
{
    char message[PIOLET_DIST_MESSAGE_MAX];
    if (matrix_make_dist(run->block, text ? text : matrix_distribution_of(run->block), run->nprocs, run->index,
                         ret_dist, message) != PL_OK)
        return pl_fail(error, PL_E_NOMEM, "distributing the array: %s", message);
    return PL_OK;
}

/* ---- checks ---- */

static pl_status matrix_check_lists(const struct iot_spec *spec, const struct iot_block *block, const char *count_name,
                                    const char *const *names, struct pl_error *error)
{
    pl_status status = PL_OK;
    for (int d = 0; d < matrix_dims_of(block) && iot_spec_find(block, count_name) && status == PL_OK; d++)
        if (iot_spec_find(block, names[d]))
            status = iot_check_list(spec, block, count_name, names[d], error);
    return status;
}

static pl_status matrix_check_grid(const struct iot_spec *spec, const struct iot_block *block, int nprocs,
                                   int64_t index, struct pl_error *error)
{
    if (!matrix_grid_of(block, "xproc"))
        return PL_OK;
    const struct piolet_dist_shape shape = matrix_shape(block, nprocs, index);
    double product = 1;
    for (int d = 0; d < shape.dims; d++)
        product *= (double)shape.grid[d];
    if (product == nprocs)
        return PL_OK;
    return iot_spec_fail(
        spec, block, "xproc", error,
        "a process grid of %lld x %lld%s%.0lld has %.0f processes, but %d run; allowed: a product of %d",
        (long long)shape.grid[0], (long long)shape.grid[1], shape.dims == 3 ? " x " : "",
        shape.dims == 3 ? (long long)shape.grid[2] : 0, product, nprocs, nprocs);
}

/* BLOCK wants equal parts: the suite's definition. BALANCED and the others deal out what does not divide. */
static pl_status matrix_check_exact(const struct iot_spec *spec, const struct iot_block *block, const piolet_dist *dist,
                                    struct pl_error *error)
{
    const struct piolet_dist_spec *rules = piolet_dist_spec_of(dist);
    const struct piolet_dist_shape *shape = piolet_dist_shape_of(dist);
    for (int d = 0; rules->kind == PIOLET_DIST_RULES && d < shape->dims && d < MATRIX_DIMS_MAX; d++)
        if (rules->rule[d].kind == PIOLET_DIST_BLOCK && shape->size[d] % shape->grid[d] != 0)
            return iot_spec_fail(
                spec, block, SIZE_NAMES[d], error,
                "%lld elements do not divide among %lld processes; allowed: a multiple of %lld%s",
                (long long)shape->size[d], (long long)shape->grid[d], (long long)shape->grid[d],
                iot_spec_keyword(block->test, "distribution") ? ", or distribution BALANCED along this axis" : "");
    return PL_OK;
}

/* Sizes in bytes are signed 64-bit numbers everywhere below. */
static pl_status matrix_check_bytes(const struct iot_spec *spec, const struct iot_block *block, int nprocs,
                                    int64_t index, struct pl_error *error)
{
    const struct piolet_dist_shape shape = matrix_shape(block, nprocs, index);
    double bytes = 8;
    for (int d = 0; d < shape.dims; d++)
        bytes *= (double)shape.size[d];
    if (bytes <= BYTES_MAX)
        return PL_OK;
    return iot_spec_fail(spec, block, "xsize", error,
                         "an array of %.3g elements is larger than any file; allowed: sizes with a product up to %.3g",
                         bytes / 8, BYTES_MAX / 8);
}

#define KINDS_ALLOWED "a list of BLOCK, BALANCED, CYCLIC(k), *; multipartition; random(k); scatter(k)"

/* The text's own message, but for the kinds that a kernel refuses below. */
static pl_status matrix_bad_text(const struct iot_spec *spec, const struct iot_block *block, char *message,
                                 struct pl_error *error)
{
    static const char keyword[] = "distribution ";
    char *kinds = strstr(message, "; multipartition, ");
    if (kinds)
        *kinds = '\0';
    return iot_spec_fail(spec, block, "distribution", error, "%s%s",
                         strncmp(message, keyword, sizeof keyword - 1) == 0 ? message + sizeof keyword - 1 : message,
                         kinds ? "; multipartition; random(k); scatter(k)" : "");
}

/* What a distribution may be, but not the one of an array that is written once. */
static pl_status matrix_check_kind(const struct iot_spec *spec, const struct iot_block *block,
                                   const struct piolet_dist_spec *rules, const struct piolet_dist_shape *shape,
                                   struct pl_error *error)
{
    const char *text = matrix_distribution_of(block);
    if (rules->kind == PIOLET_DIST_BROADCAST)
        return iot_spec_fail(spec, block, "distribution", error,
                             "'%s' gives every element to all processes; allowed: " KINDS_ALLOWED, text);
    if (rules->transposed)
        return iot_spec_fail(spec, block, "distribution", error,
                             "'%s' changes the order of the elements; allowed: " KINDS_ALLOWED, text);
    if (rules->kind != PIOLET_DIST_RULES)
        return PL_OK;
    if (rules->rules != shape->dims)
        return iot_spec_fail(spec, block, "distribution", error, "'%s' is for %d ax%cs; allowed: a rule for each of %d",
                             text, rules->rules, rules->rules == 1 ? 'i' : 'e', shape->dims);
    for (int d = 0; d < shape->dims && d < MATRIX_DIMS_MAX; d++)
        if (rules->rule[d].kind == PIOLET_DIST_WHOLE && shape->grid[d] > 1)
            return iot_spec_fail(
                spec, block, PROC_NAMES[d], error,
                "%lld processes along an axis that '*' leaves whole; allowed: 1, or another distribution",
                (long long)shape->grid[d]);
    return PL_OK;
}

static pl_status matrix_check_distribution(const struct iot_spec *spec, const struct iot_block *block, int nprocs,
                                           int64_t index, struct pl_error *error)
{
    struct piolet_dist_spec rules;
    const struct piolet_dist_shape shape = matrix_shape(block, nprocs, index);
    char message[PIOLET_DIST_MESSAGE_MAX];
    if (piolet_dist_parse(matrix_distribution_of(block), &rules, message, sizeof message) != PIOLET_DIST_OK)
        return matrix_bad_text(spec, block, message, error);
    pl_status status = matrix_check_kind(spec, block, &rules, &shape, error);
    if (status != PL_OK)
        return status;
    piolet_dist *dist = NULL;
    if (matrix_make_dist(block, matrix_distribution_of(block), nprocs, index, &dist, message) != PL_OK)
        return iot_spec_fail(spec, block, "distribution", error, "%s", message);
    status = matrix_check_exact(spec, block, dist, error);
    piolet_dist_free(dist);
    return status;
}

static pl_status matrix_check_set(const struct iot_spec *spec, const struct iot_block *block, int nprocs, int64_t index,
                                  struct pl_error *error)
{
    pl_status status = matrix_check_grid(spec, block, nprocs, index, error);
    if (status == PL_OK)
        status = matrix_check_bytes(spec, block, nprocs, index, error);
    if (status == PL_OK)
        status = matrix_check_distribution(spec, block, nprocs, index, error);
    return status;
}

pl_status matrix_check(const struct iot_spec *spec, const struct iot_block *block, int nprocs, int64_t *ret_sets,
                       struct pl_error *error)
{
    pl_status status = matrix_check_lists(spec, block, "numsizes", SIZE_NAMES, error);
    if (status == PL_OK)
        status = matrix_check_lists(spec, block, "numprocgrids", PROC_NAMES, error);
    const int64_t sets = matrix_count_of(block, "numsizes") * matrix_count_of(block, "numprocgrids");
    for (int64_t i = 0; i < sets && status == PL_OK; i++)
        status = matrix_check_set(spec, block, nprocs, i, error);
    *ret_sets = sets * (int64_t)iot_spec_number(block, "repeat");
    return status == PL_OK ? iot_check_phases(spec, block, error) : status;
}

/* ---- description ---- */

void matrix_describe(const struct iot_block *block, int nprocs, int64_t index, struct iot_set *ret_set)
{
    const struct piolet_dist_shape shape = matrix_shape(block, nprocs, index);
    piolet_dist *dist = NULL;
    char message[PIOLET_DIST_MESSAGE_MAX];
    int64_t bytes = 8, local = 0;
    for (int d = 0; d < shape.dims; d++)
        bytes *= shape.size[d];
    if (matrix_make_dist(block, matrix_distribution_of(block), nprocs, index, &dist, message) == PL_OK) {
        local = piolet_dist_count(dist, 0) * 8;
        piolet_dist_free(dist);
    }
    *ret_set = (struct iot_set){.file_bytes = bytes, .memory_bytes = local, .mean_bytes = (double)bytes};
    iot_set_phases(block, ret_set);
    char sizes[48], grid[48] = "";
    snprintf(sizes, sizeof sizes, "%lld x %lld", (long long)shape.size[0], (long long)shape.size[1]);
    if (shape.dims == 3)
        snprintf(sizes + strlen(sizes), sizeof sizes - strlen(sizes), " x %lld", (long long)shape.size[2]);
    if (shape.grid[0] > 0)
        snprintf(grid, sizeof grid, " on %lldx%lld", (long long)shape.grid[0], (long long)shape.grid[1]);
    if (shape.grid[0] > 0 && shape.dims == 3)
        snprintf(grid + strlen(grid), sizeof grid - strlen(grid), "x%lld", (long long)shape.grid[2]);
    snprintf(ret_set->label, sizeof ret_set->label, "%s%s", sizes, grid);
}

/* ---- memory, types and checks of a run ---- */

double matrix_value(uint64_t seed, int64_t offset)
{
    return rng_unit(rng_at(seed, (uint64_t)offset));
}

pl_status matrix_new(const piolet_dist *dist, int rank, double **ret_buffer, struct pl_error *error)
{
    const int64_t count = piolet_dist_count(dist, rank);
    *ret_buffer = malloc((size_t)(count > 0 ? count : 1) * sizeof **ret_buffer);
    if (!*ret_buffer)
        return pl_fail_errno(error, ENOMEM, "taking memory for %lld elements", (long long)count);
    return PL_OK;
}

void matrix_fill(const piolet_dist *dist, int rank, uint64_t seed, double *buffer)
{
    struct piolet_dist_runs runs;
    struct piolet_dist_run run;
    piolet_dist_runs_begin(&runs, dist, rank);
    while (piolet_dist_runs_next(&runs, &run))
        for (int64_t i = 0; i < run.length; i++)
            *buffer++ = matrix_value(seed, run.offset + i);
}

static pl_status matrix_wrong(const struct iot_run *run, const piolet_dist *dist, int64_t offset, double got,
                              const char *doing, struct pl_error *error)
{
    int64_t index[PIOLET_DIST_DIMS_MAX] = {0};
    piolet_dist_index(dist, offset, index);
    return pl_fail(error, PL_E_DATA,
                   "%s: element (%lld, %lld, %lld), byte %lld of '%s', is %.17g, but %.17g was written", doing,
                   (long long)index[0], (long long)index[1], (long long)index[2], (long long)offset * 8, run->filename,
                   got, matrix_value(run->seed, offset));
}

/* All elements, or the first and last of every run and one in every 4 KiB. A transposed buffer is looked up. */
pl_status matrix_verify(const struct iot_run *run, const piolet_dist *dist, const double *buffer, const char *doing,
                        struct pl_error *error)
{
    enum { STRETCH = 512 };
    const enum iot_check check = iot_check_named(iot_spec_text(run->block, "check"));
    const bool transposed = piolet_dist_spec_of(dist)->transposed;
    const int64_t step = check == IOT_CHECK_FULL ? 1 : STRETCH;
    struct piolet_dist_runs runs;
    struct piolet_dist_run part;
    int64_t local = 0, skipped = 0;
    piolet_dist_runs_begin(&runs, dist, run->rank);
    while (check != IOT_CHECK_NONE && piolet_dist_runs_next(&runs, &part)) {
        for (int64_t i = skipped % step; i < part.length; i += step) {
            const int64_t offset = part.offset + i;
            const int64_t place = transposed ? piolet_dist_local_of_offset(dist, run->rank, offset) : local + i;
            if (buffer[place] != matrix_value(run->seed, offset))
                return matrix_wrong(run, dist, offset, buffer[place], doing, error);
        }
        const int64_t last = part.offset + part.length - 1;
        const int64_t place = transposed ? piolet_dist_local_of_offset(dist, run->rank, last) : local + part.length - 1;
        if (buffer[place] != matrix_value(run->seed, last))
            return matrix_wrong(run, dist, last, buffer[place], doing, error);
        local += part.length;
        skipped += 37; /* another place of the stretch in every run */
    }
    return PL_OK;
}

void matrix_note(struct iot_run *run, const piolet_dist *dist)
{
    static const char *const names[] = {"x", "y", "z"};
    const struct piolet_dist_shape *shape = piolet_dist_shape_of(dist);
    char text[PIOLET_DIST_TEXT_MAX] = "";
    for (int d = 0; d < shape->dims && d < MATRIX_DIMS_MAX; d++) {
        char key[16];
        snprintf(key, sizeof key, "%ssize", names[d]);
        iot_param(run, key, "%lld", (long long)shape->size[d]);
    }
    for (int d = 0; d < shape->dims && d < MATRIX_DIMS_MAX; d++) {
        char key[16];
        snprintf(key, sizeof key, "%sproc", names[d]);
        iot_param(run, key, "%lld", (long long)shape->grid[d]);
    }
    piolet_dist_format(piolet_dist_spec_of(dist), text, sizeof text);
    iot_param(run, "distribution", "%s", text);
    iot_param(run, "filesize_bytes", "%lld", (long long)run->set.file_bytes);
}

/* ---- an MPI file seen through a distribution ---- */

pl_status matrix_types(const piolet_dist *dist, int rank, struct matrix_view *view, struct pl_error *error)
{
    char message[PIOLET_DIST_MESSAGE_MAX];
    view->filetype = view->memtype = MPI_DATATYPE_NULL;
    if (piolet_dist_filetype(dist, rank, MPI_DOUBLE, &view->filetype, message, sizeof message) != PIOLET_DIST_OK ||
        piolet_dist_memtype(dist, rank, MPI_DOUBLE, &view->memtype, message, sizeof message) != PIOLET_DIST_OK)
        return pl_fail(error, PL_E_MPI, "making the types of the array: %s", message);
    return PL_OK;
}

void matrix_types_free(struct matrix_view *view)
{
    if (view->filetype != MPI_DATATYPE_NULL)
        MPI_Type_free(&view->filetype);
    if (view->memtype != MPI_DATATYPE_NULL)
        MPI_Type_free(&view->memtype);
}

pl_status matrix_set_view_coll(const struct iot_run *run, struct matrix_view *view, struct pl_error *error)
{
    const int code = MPI_File_set_view(view->file, 0, MPI_DOUBLE, view->filetype, "native", run->info);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "setting the view of '%s'", run->filename);
    return PL_OK;
}

static pl_status matrix_moved(const struct iot_run *run, const char *doing, int code, MPI_Status *status, int64_t count,
                              struct pl_error *error)
{
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "%s %lld elements of '%s'", doing, (long long)count, run->filename);
    MPI_Count elements = 0;
    MPI_Get_elements_x(status, MPI_DOUBLE, &elements);
    if (elements == count)
        return PL_OK;
    pl_fail(error, PL_E_SYSTEM, "%s '%s': only %lld of %lld elements moved", doing, run->filename,
            elements == MPI_UNDEFINED ? 0 : (long long)elements, (long long)count);
    return iot_file_note_full_disk(run, doing, error);
}

static bool matrix_is_collective(const struct iot_run *run)
{
    return iot_spec_is_true(run->block, "collective");
}

pl_status matrix_write_coll(const struct iot_run *run, struct matrix_view *view, const double *buffer, int64_t count,
                            struct pl_error *error)
{
    MPI_Status status;
    const int code = matrix_is_collective(run)
                         ? MPI_File_write_at_all(view->file, 0, buffer, count > 0, view->memtype, &status)
                         : MPI_File_write_at(view->file, 0, buffer, count > 0, view->memtype, &status);
    return matrix_moved(run, "writing", code, &status, count, error);
}

pl_status matrix_read_coll(const struct iot_run *run, struct matrix_view *view, double *buffer, int64_t count,
                           struct pl_error *error)
{
    MPI_Status status;
    const int code = matrix_is_collective(run)
                         ? MPI_File_read_at_all(view->file, 0, buffer, count > 0, view->memtype, &status)
                         : MPI_File_read_at(view->file, 0, buffer, count > 0, view->memtype, &status);
    return matrix_moved(run, "reading", code, &status, count, error);
}
