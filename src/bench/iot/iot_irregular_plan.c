/* The pure half of the kernel irregular: keywords, sizes, memory. */
#include "bench/iot/iot_irregular.h"

#include "base/units.h"

#include <limits.h>
#include <stdio.h>

#define CELLS(axis_name)                                                                                               \
    {                                                                                                                  \
        .name = axis_name, .type = SPEC_INT, .list = true, .required = true, .min = 1, .max = 1e9,                     \
        .help = "cells of the mesh along this axis, each cut into 6 tetrahedra"                                        \
    }

const struct spec_keyword IRREGULAR_KEYWORDS[] = {
    {.name = "numsizes",
     .alias = "numproblemsizes",
     .type = SPEC_INT,
     .required = true,
     .min = 1,
     .max = 1e6,
     .help = "meshes to run, from the start of the lists"},
    CELLS("xsize"),
    CELLS("ysize"),
    CELLS("zsize"),
    {.name = "collective", .type = SPEC_BOOL, .required = true, .help = "collective calls, or independent ones"},
    {.name = "nodefields",
     .type = SPEC_INT,
     .default_text = "1",
     .min = 0,
     .max = 1000,
     .help = "fields of one double for each node"},
    {.name = "elemfields",
     .type = SPEC_INT,
     .default_text = "1",
     .min = 0,
     .max = 1000,
     .help = "fields of one double for each element"},
    {.name = "window",
     .type = SPEC_INT,
     .default_text = "4096",
     .min = 1,
     .max = 1e15,
     .help = "nodes and elements are numbered at random within windows of so many; 1 leaves them in order"},
    {0},
};

static const char *const SIZE_NAMES[3] = {"xsize", "ysize", "zsize"};

static void cells_of(const struct spec_block *block, int64_t index, int64_t ret_cells[3])
{
    const int64_t sizes = (int64_t)spec_number(block, "numsizes");
    for (int d = 0; d < 3; d++)
        ret_cells[d] = (int64_t)spec_find(block, SIZE_NAMES[d])->numbers[index % sizes];
}

struct iot_mesh irregular_mesh(const struct spec_block *block, uint64_t seed, int nprocs, int64_t index)
{
    int64_t cells[3];
    cells_of(block, index, cells);
    return iot_mesh_make(cells, (int64_t)spec_number(block, "window"), seed, nprocs);
}

static double node_bytes(const struct spec_block *block)
{
    return IRREGULAR_NUMBER_BYTES * (3 + spec_number(block, "nodefields"));
}

static double element_bytes(const struct spec_block *block)
{
    return IRREGULAR_NUMBER_BYTES * (4 + spec_number(block, "elemfields"));
}

static pl_status check_size(const struct spec *spec, const struct spec_block *block, int nprocs, int64_t index,
                            struct pl_error *error)
{
    int64_t cells[3];
    cells_of(block, index, cells);
    double count = 1, nodes = 1;
    for (int d = 0; d < 3; d++) {
        count *= (double)cells[d];
        nodes *= (double)cells[d] + 1;
    }
    const double bytes = nodes * node_bytes(block) + IOT_MESH_TETRAHEDRA * count * element_bytes(block);
    if (bytes >= 0x1p62)
        return spec_fail(spec, block, "xsize", error,
                         "a mesh of %lld x %lld x %lld cells makes a file of %.3g bytes; allowed: less than %.3g",
                         (long long)cells[0], (long long)cells[1], (long long)cells[2], bytes, 0x1p62);
    int64_t most_elements, most_nodes;
    const struct iot_mesh mesh = irregular_mesh(block, 0, nprocs, index);
    iot_mesh_most(&mesh, &most_elements, &most_nodes);
    if (most_elements > INT_MAX || most_nodes > INT_MAX)
        return spec_fail(
            spec, block, "xsize", error,
            "a mesh of %lld x %lld x %lld cells gives one of %d processes up to %lld elements; allowed: up "
            "to %d, as far as MPI counts, so fewer cells or more processes",
            (long long)cells[0], (long long)cells[1], (long long)cells[2], nprocs, (long long)most_elements, INT_MAX);
    return PL_OK;
}

pl_status irregular_check(const struct spec *spec, const struct spec_block *block, int nprocs, int64_t *ret_sets,
                          struct pl_error *error)
{
    pl_status status = PL_OK;
    for (int d = 0; d < 3 && status == PL_OK; d++)
        status = iot_check_list(spec, block, "numsizes", SIZE_NAMES[d], error);
    const int64_t sizes = (int64_t)spec_number(block, "numsizes");
    for (int64_t i = 0; i < sizes && status == PL_OK; i++)
        status = check_size(spec, block, nprocs, i, error);
    if (status == PL_OK)
        status = iot_check_phases(spec, block, error);
    *ret_sets = sizes * (int64_t)spec_number(block, "repeat");
    return status;
}

/* Of the rank that has most: owners of cells, lists and what sorting them takes, the largest section, and the pieces of
 * a filetype, which MPI keeps in about two forms besides ours. */
static int64_t memory_of(const struct spec_block *block, const struct iot_mesh *mesh)
{
    enum { ITEM = sizeof(struct iot_mesh_item), PIECE = 12 + 2 * 16 };
    int64_t elements, nodes;
    iot_mesh_most(mesh, &elements, &nodes);
    const int64_t node_fields = (int64_t)spec_number(block, "nodefields");
    const int64_t element_fields = (int64_t)spec_number(block, "elemfields");
    const int64_t of_nodes = nodes * (node_fields > 3 ? node_fields : 3);
    const int64_t of_elements = elements * (element_fields > 4 ? element_fields : 4);
    return elements * (2 * ITEM + PIECE + 1) + nodes * 2 * ITEM +
           IRREGULAR_NUMBER_BYTES * (of_nodes > of_elements ? of_nodes : of_elements);
}

void irregular_describe(const struct spec_block *block, int nprocs, int64_t index, struct iot_set *ret_set)
{
    const struct iot_mesh mesh = irregular_mesh(block, 0, nprocs, index);
    const int64_t bytes = mesh.nodes * (int64_t)node_bytes(block) + mesh.elements * (int64_t)element_bytes(block);
    char text[UNITS_TEXT_MAX];
    *ret_set = (struct iot_set){
        .file_bytes = bytes, .mean_bytes = (double)bytes, .memory_bytes = memory_of(block, &mesh)};
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
    iot_param(run, "nodefields", "%g", spec_number(run->block, "nodefields"));
    iot_param(run, "elemfields", "%g", spec_number(run->block, "elemfields"));
    iot_param(run, "window", "%lld", (long long)mesh->window);
    iot_param(run, "filesize_bytes", "%lld", (long long)run->set.file_bytes);
    iot_param(run, "collective", "%s", spec_text(run->block, "collective"));
}
