/* The patterns of bench/engine. What a rank moves is described twice, on purpose: as a list of pieces, by plain
 * arithmetic (engine_piece.c), and as MPI datatypes (engine_type.c). Data are filled and checked by the list, moved by
 * the types; where the two disagree, checking fails. */
#ifndef PIOLET_BENCH_ENGINE_PATTERN_H
#define PIOLET_BENCH_ENGINE_PATTERN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the data are moved. */
enum pattern_call {
    PATTERN_ALL,     /* one collective call */
    PATTERN_SERIES,  /* collective calls one after the other */
    PATTERN_ALONE,   /* one independent call */
    PATTERN_SMALL,   /* independent calls one after the other */
    PATTERN_ORDERED, /* ordered calls one after the other */
};

struct layout;

struct pattern {
    const char *name;
    enum pattern_call call;
    int64_t piece_bytes;  /* where it is fixed */
    int64_t stride_bytes; /* i: from piece to piece */
    void (*make)(struct layout *layout);
    void (*make_types)(struct layout *layout);
};

/* Bytes of a piece, here and there; multiples of 8. */
struct piece {
    int64_t memory, file, bytes;
};

/* A pattern on one rank, with sizes. */
struct layout {
    const struct pattern *pattern;
    int rank, ranks;
    int64_t wanted_bytes; /* of all ranks; what comes nearest is taken */
    int edge;             /* b: of the cube */
    /* made from these: */
    struct piece *pieces; /* in the order of the file, and in that of the memory type */
    int64_t piece_count, piece_room;
    int64_t bytes, total_bytes; /* of data: this rank's, all ranks' */
    int64_t memory_bytes, file_bytes;
    int calls; /* of this rank; they divide its pieces evenly */
    /* what MPI gets: a call moves count of memory_type */
    MPI_Datatype etype, filetype, memory_type;
    MPI_Offset displacement;
    int count;
    int edge_made, rows;       /* what make leaves for make_types: d, h */
    int starts[3], lengths[3]; /* b: the block in the cube */
};

/* NULL: no pattern has that name. */
const struct pattern *pattern_find(const char *name);
/* False where the pattern cannot be dealt to so many ranks. */
bool layout_make_coll(struct layout *layout);
void layout_clear(struct layout *layout);
/* Bytes of the file that nobody writes lie between pieces. */
bool layout_is_hole(const struct layout *layout, int64_t offset);

/* For the rows of the table: */
void layout_add(struct layout *layout, int64_t memory, int64_t file, int64_t bytes);
/* Part i of `parts` of n begins here: parts differ by one at most. */
int layout_begin(int n, int parts, int i);
/* d: ranks are the square of this. 0: they are no square. */
int layout_root(int ranks);
/* d: the cells of this rank; coordinates z, y, x of cell c. */
void layout_cell(const struct layout *layout, int root, int c, int ret_coordinates[3]);
enum { LAYOUT_GHOSTS = 2, LAYOUT_VARIABLES = 5 }; /* d: around each cell; of a point */
enum { LAYOUT_COLUMNS = 512, LAYOUT_PANEL = 64 }; /* h: of a rank; of a panel in memory */
#define PATTERN(name) void piece_##name(struct layout *layout), type_##name(struct layout *layout);
PATTERN(contiguous)
PATTERN(cube)
PATTERN(cyclic)
PATTERN(cells)
PATTERN(random)
PATTERN(small)
PATTERN(ordered)
PATTERN(transposed)
PATTERN(holes)
#undef PATTERN

#endif
