/* The pure half of the array kernels: keywords, sizes and grids. */
#include "base/units.h"
#include "bench/iot/iot_matrix.h"
#include "measure/spec_value.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define SIZE_MAX_ELEMENTS 1e9
#define PROCS_MAX         1e6
#define BYTES_MAX         0x1p62

#define MATRIX_COUNT(count_name, count_alias, count_help)                                                              \
    {                                                                                                                  \
        .name = count_name, .alias = count_alias, .type = SPEC_INT, .required = true, .min = 1, .max = 1e6,            \
        .help = count_help                                                                                             \
    }
#define MATRIX_SIZE(size_name)                                                                                         \
    {                                                                                                                  \
        .name = size_name, .type = SPEC_INT, .list = true, .required = true, .min = 1, .max = SIZE_MAX_ELEMENTS,       \
        .help = "elements of the array along this axis"                                                                \
    }
#define MATRIX_PROCS(procs_name)                                                                                       \
    {                                                                                                                  \
        .name = procs_name, .type = SPEC_INT, .list = true, .required = true, .min = 1, .max = PROCS_MAX,              \
        .help = "processes along this axis"                                                                            \
    }

const struct spec_keyword MATRIX_SIZES_2D[] = {
    MATRIX_COUNT("numsizes", "numproblemsizes", "problem sizes to run, from the start of the lists"),
    MATRIX_SIZE("xsize"),
    MATRIX_SIZE("ysize"),
    {0},
};

const struct spec_keyword MATRIX_SIZES_3D[] = {
    MATRIX_COUNT("numsizes", "numproblemsizes", "problem sizes to run, from the start of the lists"),
    MATRIX_SIZE("xsize"),
    MATRIX_SIZE("ysize"),
    MATRIX_SIZE("zsize"),
    {0},
};

const struct spec_keyword MATRIX_GRIDS_2D[] = {
    MATRIX_COUNT("numprocgrids", NULL, "process grids to run with every size"),
    MATRIX_PROCS("xproc"),
    MATRIX_PROCS("yproc"),
    {0},
};

const struct spec_keyword MATRIX_GRIDS_3D[] = {
    MATRIX_COUNT("numprocgrids", NULL, "process grids to run with every size"),
    MATRIX_PROCS("xproc"),
    MATRIX_PROCS("yproc"),
    MATRIX_PROCS("zproc"),
    {0},
};

const struct spec_keyword MATRIX_ACCESS[] = {
    {.name = "collective", .type = SPEC_BOOL, .required = true, .help = "collective calls, or independent ones"},
    {.name = "distribution",
     .type = SPEC_STRING,
     .help = "how the array is dealt out: a list of BLOCK, BALANCED, CYCLIC(k), *; multipartition; random(k); "
             "scatter(k); by default BLOCK along every axis"},
    {0},
};

static const char *const SIZE_NAMES[MATRIX_DIMS_MAX] = {"xsize", "ysize", "zsize"};
static const char *const PROC_NAMES[MATRIX_DIMS_MAX] = {"xproc", "yproc", "zproc"};

static int dims_of(const struct spec_block *block)
{
    return spec_find(block, "zsize") ? 3 : 2;
}

static int64_t count_of(const struct spec_block *block, const char *name)
{
    return spec_find(block, name) ? (int64_t)spec_number(block, name) : 1;
}

struct piolet_dist_shape matrix_shape(const struct spec_block *block, int nprocs, int64_t index)
{
    const int64_t grids = count_of(block, "numprocgrids"), sizes = count_of(block, "numsizes");
    assert(grids > 0 && sizes > 0);
    struct piolet_dist_shape shape = {.dims = dims_of(block), .procs = nprocs};
    for (int d = 0; d < shape.dims; d++) {
        shape.size[d] = (int64_t)spec_find(block, SIZE_NAMES[d])->numbers[index / grids % sizes];
        const struct spec_value *procs = spec_find(block, PROC_NAMES[d]);
        shape.grid[d] = procs ? (int64_t)procs->numbers[index % grids] : 0;
    }
    return shape;
}

static const char *distribution_of(const struct spec_block *block)
{
    const struct spec_value *given = spec_find(block, "distribution");
    if (given)
        return given->text;
    if (!spec_find(block, "xproc"))
        return "BLOCK,*"; /* transpose, which has no grid to choose */
    return dims_of(block) == 3 ? "BLOCK,BLOCK,BLOCK" : "BLOCK,BLOCK";
}

/* Kinds that know no grid of processes take the grid's keywords as a number of processes only. */
static void drop_grid(const struct piolet_dist_spec *dist, struct piolet_dist_shape *shape)
{
    if (dist->kind != PIOLET_DIST_RULES)
        memset(shape->grid, 0, sizeof shape->grid);
}

static pl_status make_dist(const struct spec_block *block, const char *text, int nprocs, int64_t index,
                           piolet_dist **ret_dist, char message[PIOLET_DIST_MESSAGE_MAX])
{
    struct piolet_dist_spec rules;
    struct piolet_dist_shape shape = matrix_shape(block, nprocs, index);
    if (piolet_dist_parse(text, &rules, message, PIOLET_DIST_MESSAGE_MAX) != PIOLET_DIST_OK)
        return PL_E_INPUT;
    drop_grid(&rules, &shape);
    if (piolet_dist_new(&rules, &shape, ret_dist, message, PIOLET_DIST_MESSAGE_MAX) != PIOLET_DIST_OK)
        return PL_E_INPUT;
    return PL_OK;
}

pl_status matrix_dist(const struct iot_run *run, const char *text, piolet_dist **ret_dist, struct pl_error *error)
{
    char message[PIOLET_DIST_MESSAGE_MAX];
    if (make_dist(run->block, text ? text : distribution_of(run->block), run->nprocs, run->index, ret_dist, message) !=
        PL_OK)
        return pl_fail(error, PL_E_NOMEM, "distributing the array: %s", message);
    return PL_OK;
}

/* ---- checks ---- */

static pl_status check_lists(const struct spec *spec, const struct spec_block *block, const char *count_name,
                             const char *const *names, struct pl_error *error)
{
    pl_status status = PL_OK;
    for (int d = 0; d < dims_of(block) && spec_find(block, count_name) && status == PL_OK; d++)
        status = iot_check_list(spec, block, count_name, names[d], error);
    return status;
}

static pl_status check_grid(const struct spec *spec, const struct spec_block *block, int nprocs, int64_t index,
                            struct pl_error *error)
{
    if (!spec_find(block, "xproc"))
        return PL_OK;
    const struct piolet_dist_shape shape = matrix_shape(block, nprocs, index);
    double product = 1;
    for (int d = 0; d < shape.dims; d++)
        product *= (double)shape.grid[d];
    if (product == nprocs)
        return PL_OK;
    return spec_fail(spec, block, "xproc", error,
                     "a process grid of %lld x %lld%s%.0lld has %.0f processes, but %d run; allowed: a product of %d",
                     (long long)shape.grid[0], (long long)shape.grid[1], shape.dims == 3 ? " x " : "",
                     shape.dims == 3 ? (long long)shape.grid[2] : 0, product, nprocs, nprocs);
}

/* BLOCK wants equal parts: the suite's definition. BALANCED and the others deal out what does not divide. */
static pl_status check_exact(const struct spec *spec, const struct spec_block *block, const piolet_dist *dist,
                             struct pl_error *error)
{
    const struct piolet_dist_spec *rules = piolet_dist_spec_of(dist);
    const struct piolet_dist_shape *shape = piolet_dist_shape_of(dist);
    for (int d = 0; rules->kind == PIOLET_DIST_RULES && d < shape->dims && d < MATRIX_DIMS_MAX; d++)
        if (rules->rule[d].kind == PIOLET_DIST_BLOCK && shape->size[d] % shape->grid[d] != 0)
            return spec_fail(
                spec, block, SIZE_NAMES[d], error,
                "%lld elements do not divide among %lld processes; allowed: a multiple of %lld%s",
                (long long)shape->size[d], (long long)shape->grid[d], (long long)shape->grid[d],
                spec_keyword_find(block->test, "distribution") ? ", or distribution BALANCED along this axis" : "");
    return PL_OK;
}

/* Sizes in bytes are signed 64-bit numbers everywhere below. */
static pl_status check_bytes(const struct spec *spec, const struct spec_block *block, int nprocs, int64_t index,
                             struct pl_error *error)
{
    const struct piolet_dist_shape shape = matrix_shape(block, nprocs, index);
    double bytes = 8;
    for (int d = 0; d < shape.dims; d++)
        bytes *= (double)shape.size[d];
    if (bytes <= BYTES_MAX)
        return PL_OK;
    return spec_fail(spec, block, "xsize", error,
                     "an array of %.3g elements is larger than any file; allowed: sizes with a product up to %.3g",
                     bytes / 8, BYTES_MAX / 8);
}

#define KINDS_ALLOWED "a list of BLOCK, BALANCED, CYCLIC(k), *; multipartition; random(k); scatter(k)"

/* The text's own message, but for the kinds that a kernel refuses below. */
static pl_status bad_text(const struct spec *spec, const struct spec_block *block, char *message,
                          struct pl_error *error)
{
    static const char keyword[] = "distribution ";
    char *kinds = strstr(message, "; multipartition, ");
    if (kinds)
        *kinds = '\0';
    return spec_fail(spec, block, "distribution", error, "%s%s",
                     strncmp(message, keyword, sizeof keyword - 1) == 0 ? message + sizeof keyword - 1 : message,
                     kinds ? "; multipartition; random(k); scatter(k)" : "");
}

/* What a distribution may be, but not the one of an array that is written once. */
static pl_status check_kind(const struct spec *spec, const struct spec_block *block,
                            const struct piolet_dist_spec *rules, const struct piolet_dist_shape *shape,
                            struct pl_error *error)
{
    const char *text = distribution_of(block);
    if (rules->kind == PIOLET_DIST_BROADCAST)
        return spec_fail(spec, block, "distribution", error,
                         "'%s' gives every element to all processes; allowed: " KINDS_ALLOWED, text);
    if (rules->transposed)
        return spec_fail(spec, block, "distribution", error,
                         "'%s' changes the order of the elements; allowed: " KINDS_ALLOWED, text);
    if (rules->kind != PIOLET_DIST_RULES)
        return PL_OK;
    if (rules->rules != shape->dims)
        return spec_fail(spec, block, "distribution", error, "'%s' is for %d ax%cs; allowed: a rule for each of %d",
                         text, rules->rules, rules->rules == 1 ? 'i' : 'e', shape->dims);
    for (int d = 0; d < shape->dims && d < MATRIX_DIMS_MAX; d++)
        if (rules->rule[d].kind == PIOLET_DIST_WHOLE && shape->grid[d] > 1)
            return spec_fail(spec, block, PROC_NAMES[d], error,
                             "%lld processes along an axis that '*' leaves whole; allowed: 1, or another distribution",
                             (long long)shape->grid[d]);
    return PL_OK;
}

static pl_status check_distribution(const struct spec *spec, const struct spec_block *block, int nprocs, int64_t index,
                                    struct pl_error *error)
{
    struct piolet_dist_spec rules;
    const struct piolet_dist_shape shape = matrix_shape(block, nprocs, index);
    char message[PIOLET_DIST_MESSAGE_MAX];
    if (piolet_dist_parse(distribution_of(block), &rules, message, sizeof message) != PIOLET_DIST_OK)
        return bad_text(spec, block, message, error);
    pl_status status = check_kind(spec, block, &rules, &shape, error);
    if (status != PL_OK)
        return status;
    piolet_dist *dist = NULL;
    if (make_dist(block, distribution_of(block), nprocs, index, &dist, message) != PL_OK)
        return spec_fail(spec, block, "distribution", error, "%s", message);
    status = check_exact(spec, block, dist, error);
    piolet_dist_free(dist);
    return status;
}

static pl_status check_set(const struct spec *spec, const struct spec_block *block, int nprocs, int64_t index,
                           struct pl_error *error)
{
    pl_status status = check_grid(spec, block, nprocs, index, error);
    if (status == PL_OK)
        status = check_bytes(spec, block, nprocs, index, error);
    if (status == PL_OK)
        status = check_distribution(spec, block, nprocs, index, error);
    return status;
}

pl_status matrix_check(const struct spec *spec, const struct spec_block *block, int nprocs, int64_t *ret_sets,
                       struct pl_error *error)
{
    pl_status status = check_lists(spec, block, "numsizes", SIZE_NAMES, error);
    if (status == PL_OK)
        status = check_lists(spec, block, "numprocgrids", PROC_NAMES, error);
    const int64_t sets = count_of(block, "numsizes") * count_of(block, "numprocgrids");
    for (int64_t i = 0; i < sets && status == PL_OK; i++)
        status = check_set(spec, block, nprocs, i, error);
    *ret_sets = sets * (int64_t)spec_number(block, "repeat");
    return status == PL_OK ? iot_check_phases(spec, block, error) : status;
}

/* ---- description ---- */

void matrix_describe(const struct spec_block *block, int nprocs, int64_t index, struct iot_set *ret_set)
{
    const struct piolet_dist_shape shape = matrix_shape(block, nprocs, index);
    piolet_dist *dist = NULL;
    char message[PIOLET_DIST_MESSAGE_MAX];
    int64_t bytes = 8, local = 0;
    for (int d = 0; d < shape.dims; d++)
        bytes *= shape.size[d];
    if (make_dist(block, distribution_of(block), nprocs, index, &dist, message) == PL_OK) {
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
