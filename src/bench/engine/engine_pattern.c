/* The patterns: as lists of pieces, by arithmetic alone; as MPI gets them (file type, displacement, memory type); and
 * the table of both. */
#include "bench/engine/engine.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 8, SMALL_CALLS_MOST = 4096, PIECES_OF_A_CALL = 1024 };
enum { LAYOUT_GHOSTS = 2, LAYOUT_VARIABLES = 5 }; /* d: around each cell; of a point */
enum { CELLS_MOST = 64 };                         /* d: of a rank */
enum { LAYOUT_COLUMNS = 512, LAYOUT_PANEL = 64 }; /* h: of a rank; of a panel in memory */

static void layout_add(struct layout *layout, int64_t memory, int64_t file, int64_t bytes)
{
    assert(bytes > 0 && bytes % WORD == 0 && file >= 0);
    layout->pieces = memory_grow(layout->pieces, (size_t)layout->piece_count, sizeof *layout->pieces);
    layout->pieces[layout->piece_count++] = (struct piece){memory, file, bytes};
    layout->bytes += bytes;
    if (layout->memory_bytes < memory + bytes)
        layout->memory_bytes = memory + bytes;
}

/* Part i of `parts` of n begins here: parts differ by one at most. */
static int layout_begin(int n, int parts, int i)
{
    return (int)((int64_t)n * i / parts);
}

/* d: ranks are the square of this. 0: they are no square. */
static int layout_root(int ranks)
{
    int root = 1;
    while (root * root < ranks)
        root++;
    return root * root == ranks ? root : 0;
}

/* Cells of a rank lie on a diagonal: one in each layer, whatever the direction. */
static void layout_cell(const struct layout *layout, int root, int c, int ret_coordinates[3])
{
    ret_coordinates[0] = c;
    ret_coordinates[1] = (layout->rank / root + root - c) % root;
    ret_coordinates[2] = (layout->rank % root + c) % root;
}

/* ---- pieces. Each function adds this rank's pieces in the order of the file and sets what all ranks move and how
 * long the file becomes. None at all: not for so many ranks. ---- */

static void layout_all_ranks(struct layout *layout, int64_t total_bytes, int64_t file_bytes)
{
    layout->total_bytes = total_bytes;
    layout->file_bytes = file_bytes;
}

/* a: a part of the file for each rank. */
static void piece_contiguous(struct layout *layout)
{
    const int64_t share = layout->wanted_bytes / layout->ranks / WORD * WORD;
    layout_add(layout, 0, layout->rank * share, share);
    layout_all_ranks(layout, share * layout->ranks, share * layout->ranks);
}

/* b: a cube of doubles, x fastest. Ranks divide x first, so that pieces are short even on two ranks. */
static void piece_cube(struct layout *layout)
{
    const int n = layout->edge;
    int parts[3] = {0, 0, 0};
    MPI_Dims_create(layout->ranks, 3, parts); /* largest first */
    const int counts[3] = {parts[2], parts[1], parts[0]};
    const int at[3] = {layout->rank / counts[2] / counts[1], layout->rank / counts[2] % counts[1],
                       layout->rank % counts[2]};
    for (int i = 0; i < 3; i++) {
        layout->starts[i] = layout_begin(n, counts[i], at[i]);
        layout->lengths[i] = layout_begin(n, counts[i], at[i] + 1) - layout->starts[i];
    }
    const int64_t row = (int64_t)layout->lengths[2] * WORD;
    for (int z = 0; z < layout->lengths[0]; z++)
        for (int y = 0; y < layout->lengths[1]; y++) {
            const int64_t line = (int64_t)(layout->starts[0] + z) * n + layout->starts[1] + y;
            layout_add(layout, layout->piece_count * row, (line * n + layout->starts[2]) * WORD, row);
        }
    layout_all_ranks(layout, (int64_t)n * n * n * WORD, (int64_t)n * n * n * WORD);
}

/* c, f: pieces of one size, dealt to the ranks like cards. In a series, a call moves 1024 of them. */
static void piece_cyclic(struct layout *layout)
{
    const int64_t bytes = layout->pattern->piece_bytes;
    int64_t pieces = layout->wanted_bytes / bytes / layout->ranks;
    if (layout->pattern->call == PATTERN_SERIES) {
        layout->calls = (int)(pieces / PIECES_OF_A_CALL) + (pieces < PIECES_OF_A_CALL);
        pieces = (int64_t)layout->calls * PIECES_OF_A_CALL;
    }
    for (int64_t i = 0; i < pieces; i++)
        layout_add(layout, i * bytes, (i * layout->ranks + layout->rank) * bytes, bytes);
    layout_all_ranks(layout, pieces * layout->ranks * bytes, pieces * layout->ranks * bytes);
}

/* d: a cube of points with five doubles each, cut into root^3 cells, of which a rank has root. In memory the cells
 * follow each other, each in a frame of ghost points. */
static void piece_cells(struct layout *layout)
{
    const int root = layout_root(layout->ranks), point = LAYOUT_VARIABLES * WORD;
    int n = root, at[3];
    if (root == 0 || root > CELLS_MOST)
        return;
    while ((int64_t)(n + 1) * (n + 1) * (n + 1) * point <= layout->wanted_bytes)
        n++;
    layout->edge_made = n;
    int64_t cell = 0; /* where it begins in memory */
    for (int c = 0; c < root; c++) {
        int first[3], length[3], frame[3];
        layout_cell(layout, root, c, at);
        for (int i = 0; i < 3; i++) {
            first[i] = layout_begin(n, root, at[i]);
            length[i] = layout_begin(n, root, at[i] + 1) - first[i];
            frame[i] = length[i] + 2 * LAYOUT_GHOSTS;
        }
        for (int z = 0; z < length[0]; z++)
            for (int y = 0; y < length[1]; y++) {
                const int64_t here = ((int64_t)(z + LAYOUT_GHOSTS) * frame[1] + y + LAYOUT_GHOSTS) * frame[2] +
                                     LAYOUT_GHOSTS;
                const int64_t there = ((int64_t)(first[0] + z) * n + first[1] + y) * n + first[2];
                layout_add(layout, cell + here * point, there * point, (int64_t)length[2] * point);
            }
        cell += (int64_t)frame[0] * frame[1] * frame[2] * point;
    }
    layout->memory_bytes = cell;
    layout_all_ranks(layout, (int64_t)n * n * n * point, (int64_t)n * n * n * point);
}

static uint64_t layout_random(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state >> 33;
}

/* e: blocks shuffled and dealt to the ranks; a rank takes its own in the order of the file. */
static void piece_random(struct layout *layout)
{
    const int64_t bytes = layout->pattern->piece_bytes;
    const int64_t mine = layout->wanted_bytes / bytes / layout->ranks, blocks = mine * layout->ranks;
    int *owner = memory_new((size_t)blocks + 1, sizeof *owner);
    uint64_t state = 20061;
    for (int64_t i = 0; i < blocks; i++)
        owner[i] = (int)(i % layout->ranks);
    for (int64_t i = blocks - 1; i > 0; i--) {
        const int64_t other = (int64_t)(layout_random(&state) % (uint64_t)(i + 1));
        const int kept = owner[i];
        owner[i] = owner[other];
        owner[other] = kept;
    }
    for (int64_t i = 0; i < blocks; i++)
        if (owner[i] == layout->rank)
            layout_add(layout, layout->bytes, i * bytes, bytes);
    free(owner);
    layout_all_ranks(layout, blocks * bytes, blocks * bytes);
}

static int layout_small_calls(const struct layout *layout)
{
    const int64_t calls = layout->wanted_bytes / layout->pattern->piece_bytes / layout->ranks;
    return (int)(calls < SMALL_CALLS_MOST ? calls : SMALL_CALLS_MOST);
}

/* g: each rank goes through its own part of the file. */
static void piece_small(struct layout *layout)
{
    const int64_t bytes = layout->pattern->piece_bytes;
    layout->calls = layout_small_calls(layout);
    for (int64_t i = 0; i < layout->calls; i++)
        layout_add(layout, i * bytes, (layout->rank * (int64_t)layout->calls + i) * bytes, bytes);
    layout_all_ranks(layout, layout->bytes * layout->ranks, layout->bytes * layout->ranks);
}

/* g: each call of all ranks follows the one before, in the order of the ranks. */
static void piece_ordered(struct layout *layout)
{
    const int64_t bytes = layout->pattern->piece_bytes;
    layout->calls = layout_small_calls(layout);
    for (int64_t i = 0; i < layout->calls; i++)
        layout_add(layout, i * bytes, (i * layout->ranks + layout->rank) * bytes, bytes);
    layout_all_ranks(layout, layout->bytes * layout->ranks, layout->bytes * layout->ranks);
}

/* h: a matrix of doubles by rows, of which a rank has 512 columns: 4 KiB of each row. In memory it keeps panels of 64
 * columns, one behind the other: the matrix of blocks of 512 bytes, transposed. */
static void piece_transposed(struct layout *layout)
{
    const int64_t row = (int64_t)LAYOUT_COLUMNS * WORD * layout->ranks, block = (int64_t)LAYOUT_PANEL * WORD;
    layout->rows = (int)(layout->wanted_bytes / row);
    for (int64_t r = 0; r < layout->rows; r++)
        for (int64_t p = 0; p < LAYOUT_COLUMNS / LAYOUT_PANEL; p++)
            layout_add(layout, (p * layout->rows + r) * block,
                       r * row + (int64_t)layout->rank * LAYOUT_COLUMNS * WORD + p * block, block);
    layout_all_ranks(layout, layout->rows * row, layout->rows * row);
}

/* i: a part of the file for each rank, of which it takes a little here and there. The parts together have twice the
 * wanted bytes; the data are an eighth or a quarter of that. The last hole is part of the file of nobody. */
static void piece_holes(struct layout *layout)
{
    const int64_t bytes = layout->pattern->piece_bytes, stride = layout->pattern->stride_bytes;
    const int64_t pieces = 2 * layout->wanted_bytes / stride / layout->ranks;
    for (int64_t i = 0; i < pieces; i++)
        layout_add(layout, i * bytes, (layout->rank * pieces + i) * stride, bytes);
    layout_all_ranks(layout, layout->bytes * layout->ranks, pieces * layout->ranks * stride - (stride - bytes));
}

/* ---- types ---- */

/* a and the calls of a series: bytes in memory as they are. */
static void type_memory(struct layout *layout)
{
    layout->count = (int)(layout->bytes / layout->calls);
}

static void type_contiguous(struct layout *layout)
{
    layout->displacement = layout->pieces[0].file;
    type_memory(layout);
}

static void type_cube(struct layout *layout)
{
    const int sizes[3] = {layout->edge, layout->edge, layout->edge};
    MPI_Type_create_subarray(3, sizes, layout->lengths, layout->starts, MPI_ORDER_C, MPI_DOUBLE, &layout->filetype);
    MPI_Type_commit(&layout->filetype);
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
    MPI_Type_commit(&layout->filetype);
    layout->displacement = layout->pieces[0].file;
    type_memory(layout);
}

/* All pieces of a call are one vector. */
static void type_vector(struct layout *layout, int64_t stride)
{
    const int64_t pieces = layout->piece_count / layout->calls;
    MPI_Datatype vector;
    MPI_Type_create_hvector((int)pieces, (int)layout->pattern->piece_bytes, (MPI_Aint)stride, MPI_BYTE, &vector);
    MPI_Type_create_resized(vector, 0, (MPI_Aint)(pieces * stride), &layout->filetype);
    MPI_Type_free(&vector);
    MPI_Type_commit(&layout->filetype);
    layout->displacement = layout->pieces[0].file;
    type_memory(layout);
}

static void type_cyclic(struct layout *layout)
{
    const int64_t stride = layout->pattern->piece_bytes * layout->ranks;
    if (layout->pattern->call == PATTERN_SERIES)
        type_vector(layout, stride);
    else
        type_pieces(layout, stride);
}

/* A subarray of points with five doubles. */
static MPI_Datatype type_points(const int sizes[3], const int lengths[3], const int starts[3])
{
    const int all_sizes[4] = {sizes[0], sizes[1], sizes[2], LAYOUT_VARIABLES};
    const int all_lengths[4] = {lengths[0], lengths[1], lengths[2], LAYOUT_VARIABLES};
    const int all_starts[4] = {starts[0], starts[1], starts[2], 0};
    MPI_Datatype type;
    MPI_Type_create_subarray(4, all_sizes, all_lengths, all_starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    return type;
}

/* Subarrays one behind the other in memory, but all from the same beginning in the file. */
static void type_cells(struct layout *layout)
{
    MPI_Datatype here[CELLS_MOST], there[CELLS_MOST];
    MPI_Aint begins[CELLS_MOST], zeros[CELLS_MOST] = {0};
    int ones[CELLS_MOST];
    const int n = layout->edge_made, root = layout_root(layout->ranks), cube[3] = {n, n, n};
    const int ghosts[3] = {LAYOUT_GHOSTS, LAYOUT_GHOSTS, LAYOUT_GHOSTS};
    MPI_Aint begin = 0;
    assert(root <= CELLS_MOST);
    for (int c = 0; c < root; c++) {
        int at[3], starts[3], lengths[3], frame[3];
        layout_cell(layout, root, c, at);
        for (int i = 0; i < 3; i++) {
            starts[i] = layout_begin(n, root, at[i]);
            lengths[i] = layout_begin(n, root, at[i] + 1) - starts[i];
            frame[i] = lengths[i] + 2 * LAYOUT_GHOSTS;
        }
        here[c] = type_points(frame, lengths, ghosts);
        there[c] = type_points(cube, lengths, starts);
        begins[c] = begin;
        begin += (MPI_Aint)frame[0] * frame[1] * frame[2] * LAYOUT_VARIABLES * WORD;
        ones[c] = 1;
    }
    MPI_Type_create_struct(root, ones, begins, here, &layout->memory_type);
    MPI_Type_create_struct(root, ones, zeros, there, &layout->filetype);
    MPI_Type_commit(&layout->memory_type);
    MPI_Type_commit(&layout->filetype);
    for (int c = 0; c < root; c++) {
        MPI_Type_free(&here[c]);
        MPI_Type_free(&there[c]);
    }
    layout->etype = MPI_DOUBLE;
    layout->count = 1;
}

static void type_random(struct layout *layout)
{
    MPI_Aint *places = memory_new((size_t)layout->piece_count, sizeof *places);
    for (int64_t i = 0; i < layout->piece_count; i++)
        places[i] = (MPI_Aint)layout->pieces[i].file;
    MPI_Type_create_hindexed_block((int)layout->piece_count, (int)layout->pattern->piece_bytes, places, MPI_BYTE,
                                   &layout->filetype);
    free(places);
    MPI_Type_commit(&layout->filetype);
    type_memory(layout);
}

static void type_small(struct layout *layout)
{
    layout->displacement = layout->pieces[0].file;
    type_memory(layout);
}

static void type_ordered(struct layout *layout)
{
    type_memory(layout);
}

static void type_transposed(struct layout *layout)
{
    const int panels = LAYOUT_COLUMNS / LAYOUT_PANEL;
    MPI_Datatype blocks, row, part;
    MPI_Type_vector(panels, LAYOUT_PANEL, LAYOUT_PANEL * layout->rows, MPI_DOUBLE, &blocks);
    MPI_Type_create_resized(blocks, 0, LAYOUT_PANEL * WORD, &row);
    MPI_Type_contiguous(layout->rows, row, &layout->memory_type);
    MPI_Type_commit(&layout->memory_type);
    MPI_Type_contiguous(LAYOUT_COLUMNS, MPI_DOUBLE, &part);
    MPI_Type_create_resized(part, 0, (MPI_Aint)LAYOUT_COLUMNS * WORD * layout->ranks, &layout->filetype);
    MPI_Type_commit(&layout->filetype);
    MPI_Type_free(&blocks);
    MPI_Type_free(&row);
    MPI_Type_free(&part);
    layout->displacement = layout->pieces[0].file;
    layout->etype = MPI_DOUBLE;
    layout->count = 1;
}

static void type_holes(struct layout *layout)
{
    type_vector(layout, layout->pattern->stride_bytes);
}

/* ---- the table ---- */

const struct pattern PATTERNS[] = {
    {"a", PATTERN_ALL, 0, 0, piece_contiguous, type_contiguous, "a part of the file for each rank"},
    {"b", PATTERN_ALL, 0, 0, piece_cube, type_cube, "blocks of a cube"},
    {"c-128", PATTERN_ALL, 128, 0, piece_cyclic, type_cyclic, "pieces dealt like cards"},
    {"c-1k", PATTERN_ALL, 1024, 0, piece_cyclic, type_cyclic, "pieces dealt like cards"},
    {"c-8k", PATTERN_ALL, 8192, 0, piece_cyclic, type_cyclic, "pieces dealt like cards"},
    {"c-64k", PATTERN_ALL, 65536, 0, piece_cyclic, type_cyclic, "pieces dealt like cards"},
    {"d", PATTERN_ALL, 0, 0, piece_cells, type_cells, "cells on diagonals (BT-IO)"},
    {"e", PATTERN_ALL, 1024, 0, piece_random, type_random, "shuffled blocks"},
    {"f-1k", PATTERN_SERIES, 1024, 0, piece_cyclic, type_cyclic, "series of collective calls"},
    {"f-1k+8", PATTERN_SERIES, 1032, 0, piece_cyclic, type_cyclic, "series of collective calls"},
    {"g-own", PATTERN_SMALL, 1024, 0, piece_small, type_small, "small independent calls"},
    {"g-order", PATTERN_ORDERED, 1024, 0, piece_ordered, type_ordered, "small ordered calls"},
    {"h", PATTERN_ALL, 0, 0, piece_transposed, type_transposed, "a transposed matrix"},
    {"i-1k", PATTERN_ALONE, 1024, 8192, piece_holes, type_holes, "independent, with holes"},
    {"i-256", PATTERN_ALONE, 256, 1024, piece_holes, type_holes, "independent, with holes"},
    {0},
};

bool layout_is_hole(const struct layout *layout, int64_t offset)
{
    const struct pattern *pattern = layout->pattern;
    return pattern->stride_bytes > 0 && offset % pattern->stride_bytes >= pattern->piece_bytes;
}

bool layout_make_coll(MPI_Comm comm, struct layout *layout)
{
    layout->calls = 1;
    layout->etype = layout->filetype = layout->memory_type = MPI_BYTE;
    layout->pattern->make(layout);
    int fits = layout->piece_count > 0 && layout->bytes / layout->calls <= INT32_MAX, all_fit;
    MPI_Allreduce(&fits, &all_fit, 1, MPI_INT, MPI_MIN, comm);
    if (!all_fit)
        return false;
    layout->pattern->make_types(layout);
    return true;
}

static void layout_free_type(MPI_Datatype *type)
{
    if (*type != MPI_BYTE && *type != MPI_DOUBLE && *type != MPI_DATATYPE_NULL)
        MPI_Type_free(type);
}

void layout_clear(struct layout *layout)
{
    layout_free_type(&layout->filetype);
    layout_free_type(&layout->memory_type);
    free(layout->pieces);
    layout->pieces = NULL;
}
