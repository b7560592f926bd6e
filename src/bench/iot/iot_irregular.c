/* irregular: nodes and elements of an unstructured mesh, through indexed filetypes. */
#include "bench/iot/iot_irregular.h"

#include "base/units.h"
#include "bench/iot/iot.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- keywords and sizes; pure ---- */

#define CELLS(axis_name)                                                                                               \
    {                                                                                                                  \
        .name = axis_name, .type = OPTION_INTS, .flags = OPTION_REQUIRED, .min = 1, .max = 1e9,                        \
        .help = "cells of the mesh along this axis, each cut into 6 tetrahedra"                                        \
    }

const struct option_row IRREGULAR_KEYWORDS[] = {
    IOT_COUNT("numsizes", "numproblemsizes", "meshes to run, from the start of the lists"),
    CELLS("xsize"),
    CELLS("ysize"),
    CELLS("zsize"),
    {.name = "collective",
     .type = OPTION_FLAG,
     .flags = OPTION_REQUIRED,
     .help = "collective calls, or independent ones"},
    {.name = "nodefields",
     .type = OPTION_INT,
     .initial = "1",
     .min = 0,
     .max = 1000,
     .help = "fields of one double for each node"},
    {.name = "elemfields",
     .type = OPTION_INT,
     .initial = "1",
     .min = 0,
     .max = 1000,
     .help = "fields of one double for each element"},
    {.name = "window",
     .type = OPTION_INT,
     .initial = "4096",
     .min = 1,
     .max = 1e15,
     .help = "nodes and elements are numbered at random within windows of so many; 1 leaves them in order"},
    {0},
};

static const char *const SIZE_NAMES[3] = {"xsize", "ysize", "zsize"};

static void irregular_cells_of(const struct iot_block *block, int64_t index, int64_t ret_cells[3])
{
    const int64_t sizes = (int64_t)iot_spec_number(block, "numsizes");
    for (int d = 0; d < 3; d++)
        ret_cells[d] = (int64_t)iot_spec_find(block, SIZE_NAMES[d])->numbers[index % sizes];
}

struct iot_mesh irregular_mesh(const struct iot_block *block, uint64_t seed, int nprocs, int64_t index)
{
    int64_t cells[3];
    irregular_cells_of(block, index, cells);
    return iot_mesh_make(cells, (int64_t)iot_spec_number(block, "window"), seed, nprocs);
}

static double irregular_node_bytes(const struct iot_block *block)
{
    return IRREGULAR_NUMBER_BYTES * (3 + iot_spec_number(block, "nodefields"));
}

static double irregular_element_bytes(const struct iot_block *block)
{
    return IRREGULAR_NUMBER_BYTES * (4 + iot_spec_number(block, "elemfields"));
}

static pl_status irregular_check_size(const struct iot_spec *spec, const struct iot_block *block, int nprocs,
                                      int64_t index, struct pl_error *error)
{
    int64_t cells[3];
    irregular_cells_of(block, index, cells);
    double count = 1, nodes = 1;
    for (int d = 0; d < 3; d++) {
        count *= (double)cells[d];
        nodes *= (double)cells[d] + 1;
    }
    const double bytes = nodes * irregular_node_bytes(block) +
                         IOT_MESH_TETRAHEDRA * count * irregular_element_bytes(block);
    if (bytes >= 0x1p62)
        return iot_spec_fail(spec, block, "xsize", error,
                             "a mesh of %lld x %lld x %lld cells makes a file of %.3g bytes; allowed: less than %.3g",
                             (long long)cells[0], (long long)cells[1], (long long)cells[2], bytes, 0x1p62);
    int64_t most_elements, most_nodes;
    const struct iot_mesh mesh = irregular_mesh(block, 0, nprocs, index);
    iot_mesh_most(&mesh, &most_elements, &most_nodes);
    if (most_elements > INT_MAX || most_nodes > INT_MAX)
        return iot_spec_fail(
            spec, block, "xsize", error,
            "a mesh of %lld x %lld x %lld cells gives one of %d processes up to %lld elements; allowed: up "
            "to %d, as far as MPI counts, so fewer cells or more processes",
            (long long)cells[0], (long long)cells[1], (long long)cells[2], nprocs, (long long)most_elements, INT_MAX);
    return PL_OK;
}

pl_status irregular_check(const struct iot_spec *spec, const struct iot_block *block, int nprocs, int64_t *ret_sets,
                          struct pl_error *error)
{
    pl_status status = PL_OK;
    for (int d = 0; d < 3 && status == PL_OK; d++)
        status = iot_check_list(spec, block, "numsizes", SIZE_NAMES[d], error);
    const int64_t sizes = (int64_t)iot_spec_number(block, "numsizes");
    for (int64_t i = 0; i < sizes && status == PL_OK; i++)
        status = irregular_check_size(spec, block, nprocs, i, error);
    if (status == PL_OK)
        status = iot_check_phases(spec, block, error);
    *ret_sets = sizes * (int64_t)iot_spec_number(block, "repeat");
    return status;
}

/* Of the rank that has most: owners of cells, lists and what sorting them takes, the largest section, and the pieces of
 * a filetype, which MPI keeps in about two forms besides ours. */
static int64_t irregular_memory_of(const struct iot_block *block, const struct iot_mesh *mesh)
{
    enum { ITEM = sizeof(struct iot_mesh_item), PIECE = 12 + 2 * 16 };
    int64_t elements, nodes;
    iot_mesh_most(mesh, &elements, &nodes);
    const int64_t node_fields = (int64_t)iot_spec_number(block, "nodefields");
    const int64_t element_fields = (int64_t)iot_spec_number(block, "elemfields");
    const int64_t of_nodes = nodes * (node_fields > 3 ? node_fields : 3);
    const int64_t of_elements = elements * (element_fields > 4 ? element_fields : 4);
    return elements * (2 * ITEM + PIECE + 1) + nodes * 2 * ITEM +
           IRREGULAR_NUMBER_BYTES * (of_nodes > of_elements ? of_nodes : of_elements);
}

void irregular_describe(const struct iot_block *block, int nprocs, int64_t index, struct iot_set *ret_set)
{
    const struct iot_mesh mesh = irregular_mesh(block, 0, nprocs, index);
    const int64_t bytes = mesh.nodes * (int64_t)irregular_node_bytes(block) +
                          mesh.elements * (int64_t)irregular_element_bytes(block);
    char text[UNITS_TEXT_MAX];
    *ret_set = (struct iot_set){
        .file_bytes = bytes, .mean_bytes = (double)bytes, .memory_bytes = irregular_memory_of(block, &mesh)};
    iot_set_phases(block, ret_set);
    snprintf(ret_set->label, sizeof ret_set->label, "%lld x %lld x %lld cells, file %s", (long long)mesh.cells[0],
             (long long)mesh.cells[1], (long long)mesh.cells[2], units_bytes(bytes, text));
}

void irregular_note_params(struct iot_run *run, const struct iot_mesh *mesh)
{
    static const char *const proc_names[3] = {"xproc", "yproc", "zproc"};
    for (int d = 0; d < 3; d++)
        iot_param(run, SIZE_NAMES[d], "%lld", (long long)mesh->cells[d]);
    for (int d = 0; d < 3; d++)
        iot_param(run, proc_names[d], "%d", mesh->grid[d]);
    iot_param(run, "nodes", "%lld", (long long)mesh->nodes);
    iot_param(run, "elements", "%lld", (long long)mesh->elements);
    iot_param(run, "nodefields", "%g", iot_spec_number(run->block, "nodefields"));
    iot_param(run, "elemfields", "%g", iot_spec_number(run->block, "elemfields"));
    iot_param(run, "window", "%lld", (long long)mesh->window);
    iot_param(run, "filesize_bytes", "%lld", (long long)run->set.file_bytes);
    iot_param(run, "collective", "%s", iot_spec_text(run->block, "collective"));
}

/* ---- the run ---- */

/* ---- the calls that are measured ---- */

enum pass { WRITE, READ, GHOST };

static int irregular_transfer_coll(const struct irregular *k, bool collective, enum pass pass, int count,
                                   MPI_Datatype type, MPI_Status *ret_moved)
{
    if (pass == WRITE)
        return collective ? MPI_File_write_at_all(k->file, 0, k->buffer, count, type, ret_moved)
                          : MPI_File_write_at(k->file, 0, k->buffer, count, type, ret_moved);
    return collective ? MPI_File_read_at_all(k->file, 0, k->buffer, count, type, ret_moved)
                      : MPI_File_read_at(k->file, 0, k->buffer, count, type, ret_moved);
}

static pl_status irregular_judge(const struct irregular *k, const struct irregular_section *s, const char *doing,
                                 int code, const MPI_Status *moved, struct pl_error *error)
{
    const int64_t wanted = s->mine->count * s->fields * s->numbers;
    MPI_Count count = 0;
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "%s %s, %lld numbers of '%s'", doing, s->what, (long long)wanted,
                             k->run->filename);
    if (wanted > 0)
        MPI_Get_elements_x(moved, s->etype, &count);
    if (count == wanted)
        return PL_OK;
    pl_fail(error, PL_E_SYSTEM, "%s %s of '%s': only %lld of %lld numbers moved", doing, s->what, k->run->filename,
            count == MPI_UNDEFINED ? 0 : (long long)count, (long long)wanted);
    return iot_file_note_full_disk(k->run, doing, error);
}

/* Moves the buffer. Whatever fails on the way, every rank comes to every meeting: with nothing, if need be. */
static pl_status irregular_move_coll(struct irregular *k, const struct irregular_section *s, enum pass pass,
                                     double ret_span[2], struct pl_error *error)
{
    struct irregular_view view = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
    pl_status status = irregular_view_coll(k, s, &view, error);
    const bool has = status == PL_OK && s->mine->count > 0;
    MPI_Status moved;
    MPI_Barrier(k->run->comm); /* no section pays for the one before */
    ret_span[0] = MPI_Wtime();
    const int code = irregular_transfer_coll(k, s->collective, pass, has ? s->fields : 0, has ? view.memtype : s->etype,
                                             &moved);
    ret_span[1] = MPI_Wtime();
    if (status == PL_OK)
        status = irregular_judge(k, s, pass == WRITE ? "writing" : "reading", code, &moved, error);
    irregular_view_clear(&view);
    return status;
}

static pl_status irregular_write_section_coll(struct irregular *k, const struct irregular_section *s,
                                              double ret_span[2], struct pl_error *error)
{
    irregular_fill(k, s);
    return irregular_move_coll(k, s, WRITE, ret_span, error);
}

static pl_status irregular_read_section_coll(struct irregular *k, const struct irregular_section *s, double ret_span[2],
                                             struct pl_error *error)
{
    const int64_t bytes = s->mine->count * s->fields * s->numbers * IRREGULAR_NUMBER_BYTES;
    memset(k->buffer, 0xff, (size_t)bytes); /* no number of ours */
    const pl_status status = irregular_move_coll(k, s, READ, ret_span, error);
    return status == PL_OK ? irregular_verify(k, s, error) : status;
}

/* Through the file, section by section; the first failure is the one to report. GHOST reads the sections of nodes. */
static pl_status irregular_pass_coll(struct irregular *k, enum pass pass, const char *key, struct pl_error *error)
{
    pl_status status = PL_OK;
    samples_time(&k->run->samples, key, 0);
    for (int i = 0; i < IRREGULAR_SECTIONS; i += pass == GHOST ? 2 : 1) {
        const struct irregular_section s = pass == GHOST ? irregular_ghost_of(k, i) : k->sections[i];
        struct pl_error section_error;
        double span[2] = {0, 0};
        if (s.fields == 0)
            continue;
        const pl_status done = pass == WRITE ? irregular_write_section_coll(k, &s, span, &section_error)
                                             : irregular_read_section_coll(k, &s, span, &section_error);
        if (pass != GHOST)
            samples_span(&k->run->samples, pass == WRITE ? s.write_key : s.read_key, span[0], span[1]);
        samples_piece(&k->run->samples, key, span[0], span[1]);
        if (status == PL_OK && done != PL_OK) {
            status = done;
            *error = section_error;
        }
    }
    return status;
}

/* ---- the course ---- */

static pl_status irregular_prepare(void *test, struct pl_error *error)
{
    struct irregular *k = test;
    pl_status status = iot_check_memory(k->run, error);
    if (status == PL_OK)
        status = iot_mesh_part_init(&k->mesh, k->run->rank, &k->part, error);
    if (status != PL_OK)
        return status;
    int64_t longest = 1;
    for (int i = 0; i < IRREGULAR_SECTIONS; i++) {
        const struct irregular_section *s = &k->sections[i];
        const int64_t most = s->mine == &k->part.nodes ? k->part.touched.count : s->mine->count;
        if (most * s->fields * s->numbers > longest)
            longest = most * s->fields * s->numbers;
    }
    k->buffer = malloc((size_t)longest * sizeof *k->buffer);
    if (!k->buffer)
        return pl_fail_errno(error, ENOMEM, "taking memory for %lld numbers", (long long)longest);
    return PL_OK;
}

static void irregular_note_spread_coll(struct iot_run *run, const char *key, int64_t value)
{
    int64_t low = 0, high = 0, sum = 0;
    char name[64];
    MPI_Reduce(&value, &low, 1, MPI_INT64_T, MPI_MIN, 0, run->comm);
    MPI_Reduce(&value, &high, 1, MPI_INT64_T, MPI_MAX, 0, run->comm);
    MPI_Reduce(&value, &sum, 1, MPI_INT64_T, MPI_SUM, 0, run->comm);
    snprintf(name, sizeof name, "%s_min", key);
    iot_param(run, name, "%lld", (long long)low);
    snprintf(name, sizeof name, "%s_mean", key);
    iot_param(run, name, "%.1f", (double)sum / run->nprocs);
    snprintf(name, sizeof name, "%s_max", key);
    iot_param(run, name, "%lld", (long long)high);
}

/* How evenly the mesh is dealt out, and into how many pieces the filetypes fall. */
static pl_status irregular_note_coll(void *test, struct pl_error *error)
{
    struct irregular *k = test;
    (void)error;
    const struct irregular_section ghost = irregular_ghost_of(k, 0);
    irregular_note_spread_coll(k->run, "owned_nodes", k->part.nodes.count);
    irregular_note_spread_coll(k->run, "owned_elements", k->part.elements.count);
    irregular_note_spread_coll(k->run, "ghost_nodes", k->part.touched.count - k->part.nodes.count);
    irregular_note_spread_coll(k->run, "node_runs", irregular_runs(&k->sections[0], NULL, NULL));
    irregular_note_spread_coll(k->run, "element_runs", irregular_runs(&k->sections[1], NULL, NULL));
    irregular_note_spread_coll(k->run, "ghost_runs", irregular_runs(&ghost, NULL, NULL));
    const int64_t mine = k->part.touched.count * (3 + k->sections[2].fields) * IRREGULAR_NUMBER_BYTES;
    int64_t all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, 0, k->run->comm);
    iot_param(k->run, "ghost_bytes", "%lld", (long long)all);
    iot_param(k->run, "ghost_collective", "%s", ghost.collective ? "true" : "false");
    if (ghost.collective != k->sections[0].collective)
        iot_warn(k->run, "ghost nodes are read by independent calls: this OMPIO returns wrong data where collective "
                         "reads overlap (fixed in 4.1.5)");
    return PL_OK;
}

static pl_status irregular_clear(void *test, struct pl_error *error)
{
    return iot_clear_file(((struct irregular *)test)->run, error);
}

static pl_status irregular_open_coll(void *test, struct pl_error *error)
{
    struct irregular *k = test;
    return iot_file_open_coll(k->run, k->run->comm, &k->file, error);
}

static pl_status irregular_preallocate_coll(void *test, struct pl_error *error)
{
    struct irregular *k = test;
    return iot_file_preallocate_coll(k->run, k->file, error);
}

static pl_status irregular_write_coll(void *test, struct pl_error *error)
{
    return irregular_pass_coll(test, WRITE, "write", error);
}

static pl_status irregular_sync_coll(void *test, struct pl_error *error)
{
    struct irregular *k = test;
    return iot_file_sync_coll(k->run, k->file, error);
}

static pl_status irregular_read_coll(void *test, struct pl_error *error)
{
    return irregular_pass_coll(test, READ, "read", error);
}

static pl_status irregular_ghost_coll(void *test, struct pl_error *error)
{
    return irregular_pass_coll(test, GHOST, "ghost", error);
}

static pl_status irregular_close_coll(void *test, struct pl_error *error)
{
    struct irregular *k = test;
    return iot_file_close_coll(k->run, &k->file, error);
}

static const struct iot_course IRREGULAR_COURSE[] = {
    {irregular_prepare, NULL, 0},
    {irregular_note_coll, NULL, 0},
    {irregular_clear, NULL, IOT_ALONE},
    {irregular_open_coll, "pre_time", IOT_OPENS},
    {irregular_preallocate_coll, "palloc_time", IOT_WRITES},
    {irregular_write_coll, NULL, IOT_WRITES},
    {irregular_sync_coll, "sync_time", IOT_WRITES},
    {irregular_sync_coll, NULL, IOT_WRITES}, /* sync, meet, sync: only then others' nodes are sure to be seen */
    {irregular_read_coll, NULL, IOT_READS},
    {irregular_ghost_coll, NULL, IOT_READS},
    {irregular_close_coll, "post_time", IOT_CLOSES},
};

static pl_status irregular_run_coll(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    struct irregular k = {.run = run,
                          .mesh = irregular_mesh(run->block, run->seed, run->nprocs, run->index),
                          .check = iot_check_named(iot_spec_text(run->block, "check")),
                          .file = MPI_FILE_NULL};
    irregular_lay_out(&k);
    irregular_note_params(run, &k.mesh);
    const pl_status status = iot_course_coll(
        run, IRREGULAR_COURSE, sizeof IRREGULAR_COURSE / sizeof IRREGULAR_COURSE[0], &k, error, ret_verdict);
    iot_mesh_part_clear(&k.part);
    free(k.buffer);
    return status;
}

IOT_TEST(irregular) = {
    .name = "irregular",
    .keywords = (const struct option_row *const[]){IOT_COMMON, IRREGULAR_KEYWORDS, NULL},
    .summary = "nodes and elements of an unstructured mesh, through indexed filetypes",
    IOT_TEST_CALLS(irregular),
};
