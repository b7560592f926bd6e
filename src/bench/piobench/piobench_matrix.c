/* The cells of the matrix, and the array that stands for each of them.
 *
 * Where a distribution leaves it open, the array is made so that each rank's contiguous pieces have the wanted data
 * block size: CYCLIC and random by their k, arrays of more dimensions by the length of the first, which runs fastest
 * in the file (as in the thesis). BLOCK, BALANCED, scatter and broadcast have one data block size, given by file and
 * ranks. */
#include "bench/piobench/piobench.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- arrays ---- */

static int dims_of(const struct piolet_dist_spec *spec)
{
    if (spec->kind == PIOLET_DIST_MULTIPARTITION)
        return 3;
    return spec->kind == PIOLET_DIST_RULES ? spec->rules : 1;
}

/* The data block size of the matrix is wanted: CYCLIC and random without a k of their own, arrays whose first
 * dimension is distributed and whose size is open. */
static bool follows_block(const struct piobench_config *config, const struct piolet_dist_spec *spec)
{
    if (spec->kind == PIOLET_DIST_RANDOM)
        return spec->block == 1;
    if (dims_of(spec) > 1)
        return config->dim_count == 0 &&
               (spec->kind == PIOLET_DIST_MULTIPARTITION || spec->rule[0].kind != PIOLET_DIST_WHOLE);
    return spec->kind == PIOLET_DIST_RULES && spec->rule[0].kind == PIOLET_DIST_CYCLIC && spec->rule[0].block == 1;
}

/* --dims gives the array, and so the size of the file. */
static bool is_given(const struct piobench_config *config, const struct piolet_dist_spec *spec)
{
    return config->dim_count && dims_of(spec) > 1;
}

static bool make(const struct piobench_cell *cell, piolet_dist **ret_dist, char *message)
{
    return piolet_dist_new(&cell->spec, &cell->shape, ret_dist, message, PIOLET_DIST_MESSAGE_MAX) == PIOLET_DIST_OK;
}

/* Processes along the first dimension, as piolet_dist_new() chooses them. */
static int64_t first_grid(const struct piobench_cell *cell, char *message)
{
    struct piobench_cell probe = *cell;
    piolet_dist *dist;
    for (int d = 0; d < probe.shape.dims; d++)
        probe.shape.size[d] = cell->ranks;
    if (!make(&probe, &dist, message))
        return 0;
    const int64_t grid = cell->spec.kind == PIOLET_DIST_MULTIPARTITION ? llround(sqrt((double)cell->ranks))
                                                                       : piolet_dist_shape_of(dist)->grid[0];
    piolet_dist_free(dist);
    return grid;
}

/* Spreads `elements` over the dimensions from `from` on, as equal as whole numbers allow. */
static void spread(struct piolet_dist_shape *shape, int from, int64_t elements)
{
    for (int d = from; d < shape->dims; d++) {
        const double root = pow((double)elements, 1.0 / (shape->dims - d));
        int64_t size = (int64_t)(root + 1e-9);
        size = size < 1 ? 1 : size;
        shape->size[d] = size;
        elements /= size;
    }
}

/* The array; false with a reason where there is none. `block_bytes` 0: not followed. */
static bool choose_array(const struct piobench_config *config, struct piobench_cell *cell, int64_t block_bytes,
                         char *why)
{
    const int64_t elements = cell->file_asked_bytes / PIOBENCH_ELEMENT, k = block_bytes / PIOBENCH_ELEMENT;
    cell->shape = (struct piolet_dist_shape){
        .dims = dims_of(&cell->spec), .procs = cell->ranks, .seed = (uint64_t)config->seed};
    if (cell->shape.dims > 1 && config->dim_count == cell->shape.dims) {
        memcpy(cell->shape.size, config->dims, sizeof cell->shape.size);
        cell->file_asked_bytes = PIOBENCH_ELEMENT;
        for (int d = 0; d < config->dim_count; d++)
            cell->file_asked_bytes *= config->dims[d];
        return true;
    }
    if (cell->shape.dims > 1 && config->dim_count) {
        snprintf(why, PIOLET_DIST_MESSAGE_MAX, "--dims gives %d dimensions, not %d", config->dim_count,
                 cell->shape.dims);
        return false;
    }
    if (!block_bytes) {
        spread(&cell->shape, 0, elements);
        return true;
    }
    if (cell->shape.dims == 1) {
        cell->shape.size[0] = elements;
        if (cell->spec.kind == PIOLET_DIST_RANDOM)
            cell->spec.block = k;
        else
            cell->spec.rule[0].block = k;
        return true;
    }
    const int64_t grid = first_grid(cell, why);
    if (!grid)
        return false;
    if (k * grid > elements) {
        snprintf(why, PIOLET_DIST_MESSAGE_MAX, "the file is too small for data blocks of that size");
        return false;
    }
    cell->shape.size[0] = k * grid;
    if (cell->spec.kind == PIOLET_DIST_RULES && cell->spec.rule[0].kind == PIOLET_DIST_CYCLIC)
        cell->spec.rule[0].block = k;
    spread(&cell->shape, 1, elements / cell->shape.size[0]);
    return true;
}

/* ---- cells ---- */

/* The longest piece of any rank, of those at the beginning of each: all there is to see in regular distributions. */
static int64_t longest_run(const piolet_dist *dist, int ranks)
{
    enum { LOOKED_AT = 64 };
    int64_t longest = 0;
    for (int rank = 0; rank < ranks && rank < LOOKED_AT; rank++) {
        struct piolet_dist_runs runs;
        struct piolet_dist_run run;
        piolet_dist_runs_begin(&runs, dist, rank);
        for (int i = 0; i < LOOKED_AT && piolet_dist_runs_next(&runs, &run); i++)
            longest = run.length > longest ? run.length : longest;
    }
    return longest;
}

static bool fill_cell(const struct piobench_config *config, struct piobench_cell *cell, int64_t block_bytes, char *why)
{
    piolet_dist *dist;
    cell->spec = cell->distribution->spec;
    cell->file_bytes = cell->block_bytes = 0;
    cell->block_asked_bytes = block_bytes;
    if (!choose_array(config, cell, block_bytes, why) || !make(cell, &dist, why))
        return false;
    cell->file_bytes = piolet_dist_elements(dist) * PIOBENCH_ELEMENT;
    cell->block_bytes = block_bytes ? block_bytes : longest_run(dist, cell->ranks) * PIOBENCH_ELEMENT;
    bool is_one_idle = false;
    for (int rank = 0; rank < cell->ranks && !is_one_idle; rank++)
        is_one_idle = piolet_dist_count(dist, rank) == 0;
    piolet_dist_free(dist);
    if (is_one_idle)
        snprintf(why, PIOLET_DIST_MESSAGE_MAX, "the file is too small: a rank would have nothing to do");
    return !is_one_idle;
}

static pl_status add_cell(struct piobench_matrix *matrix, const struct piobench_cell *cell, struct pl_error *error)
{
    if ((matrix->count & (matrix->count - 1)) == 0) {
        const size_t capacity = matrix->count ? (size_t)matrix->count * 2 : 1;
        struct piobench_cell *more = realloc(matrix->cells, capacity * sizeof *more);
        if (!more)
            return pl_fail(error, PL_E_NOMEM, "not enough memory for the matrix");
        matrix->cells = more;
    }
    matrix->cells[matrix->count++] = *cell;
    return PL_OK;
}

/* Both operations of one array. Broadcast is for reading: all ranks would write the same bytes. */
static pl_status add_ops(const struct piobench_config *config, struct piobench_matrix *matrix,
                         struct piobench_cell *cell, int64_t block_bytes, struct pl_error *error)
{
    char why[PIOLET_DIST_MESSAGE_MAX] = "it is only read, never written", text[PIOBENCH_CELL_TEXT_MAX];
    const bool is_right = fill_cell(config, cell, block_bytes, why);
    const bool writes = config->writes && (!is_right || cell->spec.kind != PIOLET_DIST_BROADCAST);
    if (!is_right || (!writes && !config->reads)) {
        cell->block_bytes = block_bytes;
        cell->writes = config->writes;
        text_format(&matrix->left_out, "%s: %s\n", piobench_cell_text(cell, text), why);
        return PL_OK;
    }
    cell->writes = true;
    pl_status status = writes ? add_cell(matrix, cell, error) : PL_OK;
    cell->writes = false;
    if (status == PL_OK && config->reads)
        status = add_cell(matrix, cell, error);
    return status;
}

static pl_status add_distribution(const struct piobench_config *config, struct piobench_matrix *matrix,
                                  struct piobench_cell *cell, struct pl_error *error)
{
    pl_status status = PL_OK;
    if (!follows_block(config, &cell->distribution->spec))
        return add_ops(config, matrix, cell, 0, error);
    for (int b = 0; b < config->block_count && status == PL_OK; b++)
        status = add_ops(config, matrix, cell, config->blocks[b], error);
    return status;
}

pl_status piobench_matrix_make(const struct piobench_config *config, struct piobench_matrix *ret_matrix,
                               struct pl_error *error)
{
    struct piobench_matrix matrix = {0};
    pl_status status = PL_OK;
    for (int r = 0; r < config->rank_count; r++)
        for (int f = 0; f < config->file_count; f++)
            for (int d = 0; d < config->distribution_count && status == PL_OK; d++) {
                struct piobench_cell cell = {.distribution = &config->distributions[d],
                                             .ranks = (int)config->ranks[r],
                                             .file_asked_bytes = config->files[f]};
                if (f > 0 && is_given(config, &cell.distribution->spec))
                    continue;
                status = add_distribution(config, &matrix, &cell, error);
            }
    if (status == PL_OK && matrix.left_out.failed)
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for the matrix");
    if (status == PL_OK && matrix.count == 0)
        status = pl_fail(error, PL_E_INPUT, "nothing of the matrix can be run: %.*s",
                         (int)strcspn(text_get(&matrix.left_out), "\n"), text_get(&matrix.left_out));
    if (status == PL_OK)
        *ret_matrix = matrix;
    else
        piobench_matrix_clear(&matrix);
    return status;
}

void piobench_matrix_clear(struct piobench_matrix *matrix)
{
    free(matrix->cells);
    text_clear(&matrix->left_out);
    *matrix = (struct piobench_matrix){0};
}

const char *piobench_cell_text(const struct piobench_cell *cell, char text[PIOBENCH_CELL_TEXT_MAX])
{
    char block[UNITS_TEXT_MAX], file[UNITS_TEXT_MAX];
    snprintf(text, PIOBENCH_CELL_TEXT_MAX, "%s %s%s%s, file %s, %d rank%s", cell->writes ? "write" : "read",
             cell->distribution->text, cell->block_bytes ? ", block " : "",
             cell->block_bytes ? units_binary(cell->block_bytes, block) : "",
             units_binary(cell->file_bytes ? cell->file_bytes : cell->file_asked_bytes, file), cell->ranks,
             cell->ranks == 1 ? "" : "s");
    return text;
}
