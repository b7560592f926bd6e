/* The table of patterns, and what layouts share. */
#include "engine_pattern.h"

#include "bench.h"

#include <stdlib.h>
#include <string.h>

static const struct pattern patterns[] = {
    {"a", PATTERN_ALL, 0, 0, piece_contiguous, type_contiguous},
    {"b", PATTERN_ALL, 0, 0, piece_cube, type_cube},
    {"c-128", PATTERN_ALL, 128, 0, piece_cyclic, type_cyclic},
    {"c-1k", PATTERN_ALL, 1024, 0, piece_cyclic, type_cyclic},
    {"c-8k", PATTERN_ALL, 8192, 0, piece_cyclic, type_cyclic},
    {"c-64k", PATTERN_ALL, 65536, 0, piece_cyclic, type_cyclic},
    {"d", PATTERN_ALL, 0, 0, piece_cells, type_cells},
    {"e", PATTERN_ALL, 1024, 0, piece_random, type_random},
    {"f-1k", PATTERN_SERIES, 1024, 0, piece_cyclic, type_cyclic},
    {"f-1k+8", PATTERN_SERIES, 1032, 0, piece_cyclic, type_cyclic},
    {"g-own", PATTERN_SMALL, 1024, 0, piece_small, type_small},
    {"g-order", PATTERN_ORDERED, 1024, 0, piece_ordered, type_ordered},
    {"h", PATTERN_ALL, 0, 0, piece_transposed, type_transposed},
    {"i-1k", PATTERN_ALONE, 1024, 8192, piece_holes, type_holes},
    {"i-256", PATTERN_ALONE, 256, 1024, piece_holes, type_holes},
};

const struct pattern *pattern_find(const char *name)
{
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        if (strcmp(patterns[i].name, name) == 0)
            return &patterns[i];
    return NULL;
}

void layout_add(struct layout *layout, int64_t memory, int64_t file, int64_t bytes)
{
    if (layout->piece_count == layout->piece_room) {
        layout->piece_room = layout->piece_room ? 2 * layout->piece_room : 1024;
        layout->pieces = realloc(layout->pieces, (size_t)layout->piece_room * sizeof *layout->pieces);
        if (!layout->pieces)
            bench_die("no memory for the pieces");
    }
    layout->pieces[layout->piece_count++] = (struct piece){memory, file, bytes};
    layout->bytes += bytes;
    if (layout->memory_bytes < memory + bytes)
        layout->memory_bytes = memory + bytes;
}

int layout_begin(int n, int parts, int i)
{
    return (int)((int64_t)n * i / parts);
}

int layout_root(int ranks)
{
    int root = 1;
    while (root * root < ranks)
        root++;
    return root * root == ranks ? root : 0;
}

/* Cells of a rank lie on a diagonal: one in each layer, whatever the direction. */
void layout_cell(const struct layout *layout, int root, int c, int ret_coordinates[3])
{
    ret_coordinates[0] = c;
    ret_coordinates[1] = (layout->rank / root + root - c) % root;
    ret_coordinates[2] = (layout->rank % root + c) % root;
}

bool layout_is_hole(const struct layout *layout, int64_t offset)
{
    const struct pattern *pattern = layout->pattern;
    return pattern->stride_bytes > 0 && offset % pattern->stride_bytes >= pattern->piece_bytes;
}

bool layout_make_coll(struct layout *layout)
{
    layout->calls = 1;
    layout->etype = layout->filetype = layout->memory_type = MPI_BYTE;
    layout->pattern->make(layout);
    int has_pieces = layout->piece_count > 0, all_have;
    MPI_Allreduce(&has_pieces, &all_have, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all_have)
        return false;
    layout->pattern->make_types(layout);
    return true;
}

static void free_type(MPI_Datatype *type)
{
    if (*type != MPI_BYTE && *type != MPI_DOUBLE)
        MPI_Type_free(type);
}

void layout_clear(struct layout *layout)
{
    free_type(&layout->filetype);
    free_type(&layout->memory_type);
    free(layout->pieces);
    layout->pieces = NULL;
}
