/* The cells of the matrix, and the array that stands for each of them.
 *
 * Where a distribution leaves it open, the array is made so that each rank's contiguous pieces have the wanted data
 * block size: CYCLIC and random by their k, arrays of more dimensions by the length of the first, which runs fastest
 * in the file (as in the thesis). BLOCK, BALANCED, scatter and broadcast have one data block size, given by file and
 * ranks. */
#include "bench/contest/piobench.h"

#include "base/memory.h"
#include "base/notes.h"
#include "base/units.h"
#include "lab/runner/info.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- arrays ---- */

static int matrix_dims_of(const struct piolet_dist_spec *spec)
{
    if (spec->kind == PIOLET_DIST_MULTIPARTITION)
        return 3;
    return spec->kind == PIOLET_DIST_RULES ? spec->rules : 1;
}

/* The data block size of the matrix is wanted: CYCLIC and random without a k of their own, arrays whose first
 * dimension is distributed and whose size is open. */
static bool matrix_follows_block(const struct piobench *piobench, const struct piolet_dist_spec *spec)
{
    if (spec->kind == PIOLET_DIST_RANDOM)
        return spec->block == 1;
    if (matrix_dims_of(spec) > 1)
        return piobench->dim_count == 0 &&
               (spec->kind == PIOLET_DIST_MULTIPARTITION || spec->rule[0].kind != PIOLET_DIST_WHOLE);
    return spec->kind == PIOLET_DIST_RULES && spec->rule[0].kind == PIOLET_DIST_CYCLIC && spec->rule[0].block == 1;
}

/* --dims gives the array, and so the size of the file. */
static bool matrix_is_given(const struct piobench *piobench, const struct piolet_dist_spec *spec)
{
    return piobench->dim_count && matrix_dims_of(spec) > 1;
}

static bool matrix_make_dist(const struct contest_cell *cell, piolet_dist **ret_dist, char *message)
{
    return piolet_dist_new(&cell->spec, &cell->shape, ret_dist, message, PIOLET_DIST_MESSAGE_MAX) == PIOLET_DIST_OK;
}

/* Processes along the first dimension, as piolet_dist_new() chooses them. */
static int64_t matrix_first_grid(const struct contest_cell *cell, char *message)
{
    struct contest_cell probe = *cell;
    piolet_dist *dist;
    for (int d = 0; d < probe.shape.dims; d++)
        probe.shape.size[d] = cell->ranks;
    if (!matrix_make_dist(&probe, &dist, message))
        return 0;
    const int64_t grid = cell->spec.kind == PIOLET_DIST_MULTIPARTITION ? llround(sqrt((double)cell->ranks))
                                                                       : piolet_dist_shape_of(dist)->grid[0];
    piolet_dist_free(dist);
    return grid;
}

/* Spreads `elements` over the dimensions from `from` on, as equal as whole numbers allow. */
static void matrix_spread(struct piolet_dist_shape *shape, int from, int64_t elements)
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
static bool matrix_choose_array(const struct piobench *piobench, struct contest_cell *cell, int64_t block_bytes,
                                char *why)
{
    const int64_t elements = cell->file_asked_bytes / PIOBENCH_ELEMENT, k = block_bytes / PIOBENCH_ELEMENT;
    cell->shape = (struct piolet_dist_shape){
        .dims = matrix_dims_of(&cell->spec), .procs = cell->ranks, .seed = (uint64_t)piobench->contest.seed};
    if (cell->shape.dims > 1 && piobench->dim_count == cell->shape.dims) {
        memcpy(cell->shape.size, piobench->dims, sizeof cell->shape.size);
        cell->file_asked_bytes = PIOBENCH_ELEMENT;
        for (int d = 0; d < piobench->dim_count; d++)
            cell->file_asked_bytes *= piobench->dims[d];
        return true;
    }
    if (cell->shape.dims > 1 && piobench->dim_count) {
        snprintf(why, PIOLET_DIST_MESSAGE_MAX, "--dims gives %d dimensions, not %d", piobench->dim_count,
                 cell->shape.dims);
        return false;
    }
    if (!block_bytes) {
        matrix_spread(&cell->shape, 0, elements);
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
    const int64_t grid = matrix_first_grid(cell, why);
    if (!grid)
        return false;
    if (k * grid > elements) {
        snprintf(why, PIOLET_DIST_MESSAGE_MAX, "the file is too small for data blocks of that size");
        return false;
    }
    cell->shape.size[0] = k * grid;
    if (cell->spec.kind == PIOLET_DIST_RULES && cell->spec.rule[0].kind == PIOLET_DIST_CYCLIC)
        cell->spec.rule[0].block = k;
    matrix_spread(&cell->shape, 1, elements / cell->shape.size[0]);
    return true;
}

/* ---- cells ---- */

/* The longest piece of any rank, of those at the beginning of each: all there is to see in regular distributions. */
static int64_t matrix_longest_run(const piolet_dist *dist, int ranks)
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

static bool matrix_fill_cell(const struct piobench *piobench, struct contest_cell *cell, int64_t block_bytes, char *why)
{
    piolet_dist *dist;
    cell->spec = cell->distribution->spec;
    cell->file_bytes = cell->block_bytes = 0;
    cell->block_asked_bytes = block_bytes;
    if (!matrix_choose_array(piobench, cell, block_bytes, why) || !matrix_make_dist(cell, &dist, why))
        return false;
    cell->file_bytes = piolet_dist_elements(dist) * PIOBENCH_ELEMENT;
    cell->block_bytes = block_bytes ? block_bytes : matrix_longest_run(dist, cell->ranks) * PIOBENCH_ELEMENT;
    bool is_one_idle = false;
    for (int rank = 0; rank < cell->ranks && !is_one_idle; rank++)
        is_one_idle = piolet_dist_count(dist, rank) == 0;
    piolet_dist_free(dist);
    if (is_one_idle)
        snprintf(why, PIOLET_DIST_MESSAGE_MAX, "the file is too small: a rank would have nothing to do");
    return !is_one_idle;
}

/* Both operations of one array. Broadcast is for reading: all ranks would write the same bytes. */
static void matrix_add_ops(struct piobench *piobench, struct contest_cell *cell, int64_t block_bytes)
{
    const bool writes_too = piobench->ops & 1, reads_too = piobench->ops & 2;
    char why[PIOLET_DIST_MESSAGE_MAX] = "it is only read, never written", text[CONTEST_TEXT_MAX];
    const bool is_right = matrix_fill_cell(piobench, cell, block_bytes, why);
    const bool is_broadcast = cell->spec.kind == PIOLET_DIST_BROADCAST;
    const bool writes = writes_too && (!is_right || !is_broadcast);
    if (!is_right || (!writes && !reads_too)) {
        cell->block_bytes = block_bytes;
        cell->writes = writes_too;
        piobench_cell_text(cell, text);
        text_format(&piobench->contest.left_out, "%s: %s\n", text, why);
        return;
    }
    assert(cell->file_bytes > 0 && cell->block_bytes > 0);
    cell->moved_bytes = cell->file_bytes * (is_broadcast ? cell->ranks : 1);
    cell->cold = piobench->cold;
    for (int reads = writes ? 0 : 1; reads <= reads_too; reads++) {
        cell->writes = !reads;
        cell->fresh = piobench->fresh && cell->writes;
        contest_add_cell(&piobench->contest, cell);
    }
}

static void matrix_add_distribution(struct piobench *piobench, struct contest_cell *cell)
{
    if (!matrix_follows_block(piobench, &cell->distribution->spec))
        matrix_add_ops(piobench, cell, 0);
    else
        for (size_t b = 0; b < piobench->blocks.count; b++)
            matrix_add_ops(piobench, cell, piobench->blocks.values[b]);
}

pl_status piobench_matrix_make(struct piobench *piobench, const struct option_numbers *ranks, struct pl_error *error)
{
    assert(piobench->contest.cell_count == 0);
    for (size_t r = 0; r < ranks->count; r++)
        for (size_t f = 0; f < piobench->sizes.count; f++)
            for (int d = 0; d < piobench->distribution_count; d++) {
                struct contest_cell cell = {.distribution = &piobench->distributions[d],
                                            .ranks = (int)ranks->values[r],
                                            .file_asked_bytes = piobench->sizes.values[f]};
                if (f == 0 || !matrix_is_given(piobench, &cell.distribution->spec))
                    matrix_add_distribution(piobench, &cell);
            }
    const char *left_out = text_get(&piobench->contest.left_out);
    if (piobench->contest.cell_count == 0)
        return pl_fail(error, PL_E_INPUT, "nothing of the matrix can be run: %.*s", (int)strcspn(left_out, "\n"),
                       left_out);
    return PL_OK;
}

void piobench_cell_text(const struct contest_cell *cell, char text[CONTEST_TEXT_MAX])
{
    char block[UNITS_TEXT_MAX], file[UNITS_TEXT_MAX];
    snprintf(text, CONTEST_TEXT_MAX, "%s %s%s%s, file %s, %d rank%s", cell->writes ? "write" : "read",
             cell->distribution->text, cell->block_bytes ? ", block " : "",
             cell->block_bytes ? units_binary(cell->block_bytes, block) : "",
             units_binary(cell->file_bytes ? cell->file_bytes : cell->file_asked_bytes, file), cell->ranks,
             cell->ranks == 1 ? "" : "s");
}

enum { DIRECT_UNIT = 4096 }; /* sectors of all devices of today */

/* ---- parameters of sets ---- */

static void piobench_number(struct text *params, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    notes_add(params, key, text);
}

void piobench_identify(const struct contest_cell *cell, struct text *params)
{
    notes_add(params, "op", cell->writes ? "write" : "read");
    notes_add(params, "distribution", cell->distribution->text);
    piobench_number(params, "ranks", cell->ranks);
    piobench_number(params, "block_asked_bytes", cell->block_asked_bytes);
    piobench_number(params, "file_asked_bytes", cell->file_asked_bytes);
}

void piobench_describe(const struct contest_cell *cell, const struct contest_contestant *contestant,
                       struct text *params)
{
    struct text sizes = {0};
    notes_add(params, "family", contestant->family);
    piobench_number(params, "blocksize_bytes", cell->block_bytes);
    piobench_number(params, "filesize_bytes", cell->file_bytes);
    piobench_number(params, "moved_bytes", cell->moved_bytes);
    for (int d = 0; d < cell->shape.dims; d++)
        text_format(&sizes, "%s%lld", d ? "x" : "", (long long)cell->shape.size[d]);
    notes_add(params, "array", text_get(&sizes));
    text_clear(&sizes);
}

/* ---- moving ---- */

struct piobench_layout {
    piolet_dist *dist;
    MPI_Datatype filetype, memtype;
    int64_t count; /* elements of this rank */
};

pl_status piobench_layout_new(struct contest_place *place, struct pl_error *error)
{
    char message[PIOLET_DIST_MESSAGE_MAX];
    struct piobench_layout *layout = place->layout = memory_new(1, sizeof *layout);
    *layout = (struct piobench_layout){.filetype = MPI_DATATYPE_NULL, .memtype = MPI_DATATYPE_NULL};
    if (piolet_dist_new(&place->cell->spec, &place->cell->shape, &layout->dist, message, sizeof message) ||
        piolet_dist_filetype(layout->dist, place->rank, MPI_UINT64_T, &layout->filetype, message, sizeof message) ||
        piolet_dist_memtype(layout->dist, place->rank, MPI_UINT64_T, &layout->memtype, message, sizeof message))
        return pl_fail(error, PL_E_MPI, "%s", message);
    layout->count = piolet_dist_count(layout->dist, place->rank);
    place->bytes = layout->count * PIOBENCH_ELEMENT;
    return PL_OK;
}

void piobench_layout_free(void *own)
{
    struct piobench_layout *layout = own;
    if (layout->filetype != MPI_DATATYPE_NULL)
        MPI_Type_free(&layout->filetype);
    if (layout->memtype != MPI_DATATYPE_NULL)
        MPI_Type_free(&layout->memtype);
    piolet_dist_free(layout->dist);
    free(layout);
}

bool piobench_each_piece(const struct contest_place *place,
                         bool (*visit)(void *context, char *data, int64_t offset, int64_t bytes), void *context)
{
    const struct piobench_layout *layout = place->layout;
    struct piolet_dist_runs runs;
    struct piolet_dist_run run;
    int64_t at = 0;
    piolet_dist_runs_begin(&runs, layout->dist, place->rank);
    while (piolet_dist_runs_next(&runs, &run)) {
        const int64_t bytes = run.length * PIOBENCH_ELEMENT;
        assert(at + bytes <= place->bytes);
        if (!visit(context, place->data + at, run.offset * PIOBENCH_ELEMENT, bytes))
            return false;
        at += bytes;
    }
    return true;
}

void piobench_ask(const struct contest_trial *trial, struct lab_hints *hints)
{
    const struct lab_hints *all[] = {&trial->place->contest->hints, &trial->contestant->hints};
    for (int i = 0; i < 2; i++)
        for (size_t h = 0; h < all[i]->count; h++)
            contest_hint(hints, all[i]->list[h].key, "%s", all[i]->list[h].value);
}

pl_status piobench_ready_coll(struct contest_trial *trial, struct pl_error *error)
{
    const struct contest_place *place = trial->place;
    const struct piobench_layout *layout = place->layout;
    if (trial->contestant->access == CONTEST_POSIX)
        return place->contest->direct && place->cell->block_bytes % DIRECT_UNIT
                   ? pl_fail(error, PL_E_UNSUPPORTED,
                             "direct I/O: a data block of %lld bytes; allowed: multiples of %d",
                             (long long)place->cell->block_bytes, DIRECT_UNIT)
                   : PL_OK;
    const int code = MPI_File_set_view(trial->handle, 0, MPI_UINT64_T, layout->filetype, (char *)"native",
                                       MPI_INFO_NULL);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "setting the view of '%s'", place->contest->file);
}

/* ROMIO gives the hint back where it obeys; OMPIO gives everything back. */
pl_status piobench_in_force(struct contest_trial *trial, MPI_Info info, struct pl_error *error)
{
    char value[MPI_MAX_INFO_VAL + 1];
    const char *direct = trial->place->cell->writes ? "direct_write" : "direct_read";
    (void)error;
    if (trial->place->contest->direct && trial->place->rank == 0 &&
        !(info_get(info, "romio_cb_read", value) && info_get(info, direct, value)))
        notes_add(&trial->set.warnings, NULL, "this MPI-IO knows no direct I/O: data go through the page cache");
    return PL_OK;
}

struct piobench_naive {
    const struct contest_trial *trial;
    struct pl_error *error;
};

/* Neighbouring blocks of one rank come as one run: a naive program does not know that. */
static bool piobench_move_naive(void *context, char *data, int64_t offset, int64_t bytes)
{
    const struct piobench_naive *naive = context;
    const int64_t block = naive->trial->place->cell->block_bytes;
    for (int64_t done = 0; done < bytes;) {
        const int64_t count = bytes - done < block ? bytes - done : block;
        if (contest_move_posix(naive->trial, data + done, offset + done, count, true, naive->error) != PL_OK)
            return false;
        done += count;
    }
    return true;
}

/* MPI-IO: one call moves everything. The file was opened for this: its pointer stands at the beginning of the view. */
pl_status piobench_move_coll(struct contest_trial *trial, struct pl_error *error)
{
    const struct contest_place *place = trial->place;
    const struct piobench_layout *layout = place->layout;
    const bool collective = !trial->contestant->independent, writes = place->cell->writes;
    const char *doing = writes ? "writing" : "reading", *file = place->contest->file;
    struct piobench_naive naive = {trial, error};
    if (trial->contestant->access == CONTEST_POSIX)
        return piobench_each_piece(place, piobench_move_naive, &naive) ? PL_OK : error->status;
    MPI_Status moved;
    int code;
    if (writes)
        code = collective ? MPI_File_write_all(trial->handle, place->data, 1, layout->memtype, &moved)
                          : MPI_File_write(trial->handle, place->data, 1, layout->memtype, &moved);
    else
        code = collective ? MPI_File_read_all(trial->handle, place->data, 1, layout->memtype, &moved)
                          : MPI_File_read(trial->handle, place->data, 1, layout->memtype, &moved);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "%s '%s'", doing, file);
    MPI_Count elements = 0;
    MPI_Get_elements_x(&moved, layout->memtype, &elements);
    return elements == layout->count ? PL_OK
                                     : pl_fail(error, PL_E_IO, "%s '%s': %lld of %lld elements moved", doing, file,
                                               (long long)elements, (long long)layout->count);
}

/* All of the first trial; of later ones, and of the other operation, what was chosen and why. */
bool piobench_is_noted(const void *context, const char *key)
{
    const struct contest_trial *trial = context;
    const char *op = trial->place->cell->writes ? "write" : "read";
    if (strncmp(key, "origin:", 7) == 0)
        return false;
    if (strncmp(key, "piolet_strategy_", 16) == 0)
        return strcmp(key + 16, op) == 0;
    if (strncmp(key, "piolet_why_", 11) == 0)
        return strcmp(key + 11, op) == 0;
    return trial->number == 1;
}
