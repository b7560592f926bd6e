/* The patterns as lists of pieces, by arithmetic alone. Each function adds this rank's pieces in the order of the file
 * and sets what all ranks move and how long the file becomes. None at all: not for so many ranks. */
#include "engine_pattern.h"

#include "bench.h"
#include <stdlib.h>

enum { WORD = 8, SMALL_CALLS_MOST = 4096, PIECES_OF_A_CALL = 1024 };

static void all_ranks(struct layout *layout, int64_t total_bytes, int64_t file_bytes)
{
    layout->total_bytes = total_bytes;
    layout->file_bytes = file_bytes;
}

/* a: a part of the file for each rank. */
void piece_contiguous(struct layout *layout)
{
    const int64_t share = layout->wanted_bytes / layout->ranks / WORD * WORD;
    layout_add(layout, 0, layout->rank * share, share);
    all_ranks(layout, share * layout->ranks, share * layout->ranks);
}

/* b: a cube of doubles, x fastest. Ranks divide x first, so that pieces are short even on two ranks. */
void piece_cube(struct layout *layout)
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
    all_ranks(layout, (int64_t)n * n * n * WORD, (int64_t)n * n * n * WORD);
}

/* c, f: pieces of one size, dealt to the ranks like cards. In a series, a call moves 1024 of them. */
void piece_cyclic(struct layout *layout)
{
    const int64_t bytes = layout->pattern->piece_bytes;
    int64_t pieces = layout->wanted_bytes / bytes / layout->ranks;
    if (layout->pattern->call == PATTERN_SERIES) {
        layout->calls = (int)(pieces / PIECES_OF_A_CALL) + (pieces < PIECES_OF_A_CALL);
        pieces = (int64_t)layout->calls * PIECES_OF_A_CALL;
    }
    for (int64_t i = 0; i < pieces; i++)
        layout_add(layout, i * bytes, (i * layout->ranks + layout->rank) * bytes, bytes);
    all_ranks(layout, pieces * layout->ranks * bytes, pieces * layout->ranks * bytes);
}

/* d: a cube of points with five doubles each, cut into root^3 cells, of which a rank has root. In memory the cells
 * follow each other, each in a frame of ghost points. */
void piece_cells(struct layout *layout)
{
    const int root = layout_root(layout->ranks), point = LAYOUT_VARIABLES * WORD;
    int n = root, at[3];
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
    all_ranks(layout, (int64_t)n * n * n * point, (int64_t)n * n * n * point);
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state >> 33;
}

/* e: blocks shuffled and dealt to the ranks; a rank takes its own in the order of the file. */
void piece_random(struct layout *layout)
{
    const int64_t bytes = layout->pattern->piece_bytes;
    const int64_t mine = layout->wanted_bytes / bytes / layout->ranks, blocks = mine * layout->ranks;
    int *owner = malloc((size_t)(blocks + 1) * sizeof *owner);
    uint64_t state = 20061;
    if (!owner)
        bench_die("no memory for the shuffled blocks");
    for (int64_t i = 0; i < blocks; i++)
        owner[i] = (int)(i % layout->ranks);
    for (int64_t i = blocks - 1; i > 0; i--) {
        const int64_t other = (int64_t)(next_random(&state) % (uint64_t)(i + 1));
        const int kept = owner[i];
        owner[i] = owner[other];
        owner[other] = kept;
    }
    for (int64_t i = 0; i < blocks; i++)
        if (owner[i] == layout->rank)
            layout_add(layout, layout->bytes, i * bytes, bytes);
    free(owner);
    all_ranks(layout, blocks * bytes, blocks * bytes);
}

static int small_calls(const struct layout *layout)
{
    const int64_t calls = layout->wanted_bytes / layout->pattern->piece_bytes / layout->ranks;
    return (int)(calls < SMALL_CALLS_MOST ? calls : SMALL_CALLS_MOST);
}

/* g: each rank goes through its own part of the file. */
void piece_small(struct layout *layout)
{
    const int64_t bytes = layout->pattern->piece_bytes;
    layout->calls = small_calls(layout);
    for (int64_t i = 0; i < layout->calls; i++)
        layout_add(layout, i * bytes, (layout->rank * (int64_t)layout->calls + i) * bytes, bytes);
    all_ranks(layout, layout->bytes * layout->ranks, layout->bytes * layout->ranks);
}

/* g: each call of all ranks follows the one before, in the order of the ranks. */
void piece_ordered(struct layout *layout)
{
    const int64_t bytes = layout->pattern->piece_bytes;
    layout->calls = small_calls(layout);
    for (int64_t i = 0; i < layout->calls; i++)
        layout_add(layout, i * bytes, (i * layout->ranks + layout->rank) * bytes, bytes);
    all_ranks(layout, layout->bytes * layout->ranks, layout->bytes * layout->ranks);
}

/* h: a matrix of doubles by rows, of which a rank has 512 columns: 4 KiB of each row. In memory it keeps panels of 64
 * columns, one behind the other: the matrix of blocks of 512 bytes, transposed. */
void piece_transposed(struct layout *layout)
{
    const int64_t row = (int64_t)LAYOUT_COLUMNS * WORD * layout->ranks, block = (int64_t)LAYOUT_PANEL * WORD;
    layout->rows = (int)(layout->wanted_bytes / row);
    for (int64_t r = 0; r < layout->rows; r++)
        for (int64_t p = 0; p < LAYOUT_COLUMNS / LAYOUT_PANEL; p++)
            layout_add(layout, (p * layout->rows + r) * block,
                       r * row + (int64_t)layout->rank * LAYOUT_COLUMNS * WORD + p * block, block);
    all_ranks(layout, layout->rows * row, layout->rows * row);
}

/* i: a part of the file for each rank, of which it takes a little here and there. The parts together have twice the
 * wanted bytes; the data are an eighth or a quarter of that. The last hole is part of the file of nobody. */
void piece_holes(struct layout *layout)
{
    const int64_t bytes = layout->pattern->piece_bytes, stride = layout->pattern->stride_bytes;
    const int64_t pieces = 2 * layout->wanted_bytes / stride / layout->ranks;
    for (int64_t i = 0; i < pieces; i++)
        layout_add(layout, i * bytes, (layout->rank * pieces + i) * stride, bytes);
    all_ranks(layout, layout->bytes * layout->ranks, pieces * layout->ranks * stride - (stride - bytes));
}
