/* The patterns as MPI gets them: file type, displacement, memory type. */
#include "engine_pattern.h"

#include "bench.h"

#include <stdlib.h>

enum { WORD = 8 };

static void commit(MPI_Datatype *type)
{
    bench_must(MPI_Type_commit(type), "MPI_Type_commit");
}

/* a and the calls of a series: bytes in memory as they are. */
static void contiguous_memory(struct layout *layout)
{
    const int64_t bytes = layout->bytes / layout->calls;
    if (bytes > INT32_MAX)
        bench_die("more than 2 GiB in a call of a rank");
    layout->count = (int)bytes;
}

void type_contiguous(struct layout *layout)
{
    layout->displacement = layout->pieces[0].file;
    contiguous_memory(layout);
}

void type_cube(struct layout *layout)
{
    const int sizes[3] = {layout->edge, layout->edge, layout->edge};
    MPI_Type_create_subarray(3, sizes, layout->lengths, layout->starts, MPI_ORDER_C, MPI_DOUBLE, &layout->filetype);
    commit(&layout->filetype);
    layout->etype = layout->memory_type = MPI_DOUBLE;
    layout->count = layout->lengths[0] * layout->lengths[1] * layout->lengths[2];
}

/* A piece and the way to the next: the view repeats it. */
static void type_pieces(struct layout *layout, int64_t stride)
{
    MPI_Datatype piece;
    MPI_Type_contiguous((int)layout->pattern->piece_bytes, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)stride, &layout->filetype);
    MPI_Type_free(&piece);
    commit(&layout->filetype);
    layout->displacement = layout->pieces[0].file;
    contiguous_memory(layout);
}

/* All pieces of a call are one vector. */
static void type_vector(struct layout *layout, int64_t stride)
{
    const int64_t pieces = layout->piece_count / layout->calls;
    MPI_Datatype vector;
    MPI_Type_create_hvector((int)pieces, (int)layout->pattern->piece_bytes, (MPI_Aint)stride, MPI_BYTE, &vector);
    MPI_Type_create_resized(vector, 0, (MPI_Aint)(pieces * stride), &layout->filetype);
    MPI_Type_free(&vector);
    commit(&layout->filetype);
    layout->displacement = layout->pieces[0].file;
    contiguous_memory(layout);
}

void type_cyclic(struct layout *layout)
{
    const int64_t stride = layout->pattern->piece_bytes * layout->ranks;
    if (layout->pattern->call == PATTERN_SERIES)
        type_vector(layout, stride);
    else
        type_pieces(layout, stride);
}

/* A subarray of points with five doubles. */
static MPI_Datatype points(const int sizes[3], const int lengths[3], const int starts[3])
{
    const int all_sizes[4] = {sizes[0], sizes[1], sizes[2], LAYOUT_VARIABLES};
    const int all_lengths[4] = {lengths[0], lengths[1], lengths[2], LAYOUT_VARIABLES};
    const int all_starts[4] = {starts[0], starts[1], starts[2], 0};
    MPI_Datatype type;
    MPI_Type_create_subarray(4, all_sizes, all_lengths, all_starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    return type;
}

/* Subarrays one behind the other in memory, but all from the same beginning in the file. */
void type_cells(struct layout *layout)
{
    enum { CELLS_MOST = 64 };
    MPI_Datatype here[CELLS_MOST], there[CELLS_MOST];
    MPI_Aint begins[CELLS_MOST], zeros[CELLS_MOST] = {0};
    int ones[CELLS_MOST];
    const int n = layout->edge_made, root = layout_root(layout->ranks), cube[3] = {n, n, n};
    const int ghosts[3] = {LAYOUT_GHOSTS, LAYOUT_GHOSTS, LAYOUT_GHOSTS};
    MPI_Aint begin = 0;
    if (root > CELLS_MOST)
        bench_die("too many ranks for pattern d");
    for (int c = 0; c < root; c++) {
        int at[3], starts[3], lengths[3], frame[3];
        layout_cell(layout, root, c, at);
        for (int i = 0; i < 3; i++) {
            starts[i] = layout_begin(n, root, at[i]);
            lengths[i] = layout_begin(n, root, at[i] + 1) - starts[i];
            frame[i] = lengths[i] + 2 * LAYOUT_GHOSTS;
        }
        here[c] = points(frame, lengths, ghosts);
        there[c] = points(cube, lengths, starts);
        begins[c] = begin;
        begin += (MPI_Aint)frame[0] * frame[1] * frame[2] * LAYOUT_VARIABLES * WORD;
        ones[c] = 1;
    }
    MPI_Type_create_struct(root, ones, begins, here, &layout->memory_type);
    MPI_Type_create_struct(root, ones, zeros, there, &layout->filetype);
    commit(&layout->memory_type);
    commit(&layout->filetype);
    for (int c = 0; c < root; c++) {
        MPI_Type_free(&here[c]);
        MPI_Type_free(&there[c]);
    }
    layout->etype = MPI_DOUBLE;
    layout->count = 1;
}

void type_random(struct layout *layout)
{
    MPI_Aint *places = malloc((size_t)layout->piece_count * sizeof *places);
    if (!places)
        bench_die("no memory for the places of the blocks");
    for (int64_t i = 0; i < layout->piece_count; i++)
        places[i] = (MPI_Aint)layout->pieces[i].file;
    MPI_Type_create_hindexed_block((int)layout->piece_count, (int)layout->pattern->piece_bytes, places, MPI_BYTE,
                                   &layout->filetype);
    free(places);
    commit(&layout->filetype);
    contiguous_memory(layout);
}

void type_small(struct layout *layout)
{
    layout->displacement = layout->pieces[0].file;
    contiguous_memory(layout);
}

void type_ordered(struct layout *layout)
{
    contiguous_memory(layout);
}

void type_transposed(struct layout *layout)
{
    const int panels = LAYOUT_COLUMNS / LAYOUT_PANEL;
    MPI_Datatype blocks, row, part;
    MPI_Type_vector(panels, LAYOUT_PANEL, LAYOUT_PANEL * layout->rows, MPI_DOUBLE, &blocks);
    MPI_Type_create_resized(blocks, 0, LAYOUT_PANEL * WORD, &row);
    MPI_Type_contiguous(layout->rows, row, &layout->memory_type);
    commit(&layout->memory_type);
    MPI_Type_contiguous(LAYOUT_COLUMNS, MPI_DOUBLE, &part);
    MPI_Type_create_resized(part, 0, (MPI_Aint)LAYOUT_COLUMNS * WORD * layout->ranks, &layout->filetype);
    commit(&layout->filetype);
    MPI_Type_free(&blocks);
    MPI_Type_free(&row);
    MPI_Type_free(&part);
    layout->displacement = layout->pieces[0].file;
    layout->etype = MPI_DOUBLE;
    layout->count = 1;
}

void type_holes(struct layout *layout)
{
    type_vector(layout, layout->pattern->stride_bytes);
}
