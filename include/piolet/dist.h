/* Data distributions: which process owns which elements of an array in a file, and the MPI datatypes for it.
 *
 * A distribution is what a text such as "BLOCK,CYCLIC(4),*" says (struct piolet_dist_spec), laid over an array and a
 * number of processes (struct piolet_dist_shape). From the two, piolet_dist_new() makes a piolet_dist, which answers
 * how much a rank owns, who owns an element, and which contiguous runs of the file are a rank's; all of that is
 * arithmetic: no MPI call, no list of elements, and MPI need not be initialised. piolet_dist_filetype() and
 * piolet_dist_memtype() give the datatypes with which one collective call moves everything:
 *
 *     struct piolet_dist_spec spec;
 *     struct piolet_dist_shape shape = {.dims = 2, .size = {1000, 500}, .procs = 4};
 *     piolet_dist *dist;
 *     if (piolet_dist_parse("BLOCK,BLOCK", &spec, message, sizeof message) ||
 *         piolet_dist_new(&spec, &shape, &dist, message, sizeof message))
 *         complain(message);
 *     piolet_dist_filetype(dist, rank, MPI_DOUBLE, &filetype, message, sizeof message);
 *     piolet_dist_memtype(dist, rank, MPI_DOUBLE, &memtype, message, sizeof message);
 *     MPI_File_set_view(file, 0, MPI_DOUBLE, filetype, "native", MPI_INFO_NULL);
 *     MPI_File_write_all(file, buffer, 1, memtype, &status);
 *
 * Conventions. Elements are counted from 0 in file order; an "offset" is such a number, not bytes. Dimensions count
 * from 0 here and from 1 in messages. Functions that return int give 0 or a negative PIOLET_DIST_E_* code, and write
 * their results only on success. Those that return int64_t give a value >= 0 or such a code. Those with a `message`
 * write what is wrong, where, and what would be right (it may be NULL when its size is 0). Nothing here prints, exits
 * or keeps global state; a piolet_dist is never changed once made, and may be used by many threads at once. */
#ifndef PIOLET_DIST_H
#define PIOLET_DIST_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef PIOLET_API
#define PIOLET_API __attribute__((visibility("default")))
#endif

enum {
    PIOLET_DIST_DIMS_MAX = 4,      /* dimensions of an array */
    PIOLET_DIST_TEXT_MAX = 160,    /* bytes that hold every text of piolet_dist_format() */
    PIOLET_DIST_MESSAGE_MAX = 512, /* bytes that hold every message */
    PIOLET_DIST_WINDOW = 16        /* random: blocks of each process among PIOLET_DIST_WINDOW * procs neighbours */
};

enum {
    PIOLET_DIST_OK = 0,
    PIOLET_DIST_E_TEXT = -1,   /* the text is no distribution */
    PIOLET_DIST_E_SHAPE = -2,  /* distribution, array, grid and number of processes do not fit together */
    PIOLET_DIST_E_RANGE = -3,  /* no such rank, element, dimension or box; or the rank does not own the element */
    PIOLET_DIST_E_MEMORY = -4, /* not enough memory */
    PIOLET_DIST_E_MPI = -5,    /* an MPI call failed */
    PIOLET_DIST_E_SPACE = -6   /* the caller's text buffer is too small */
};

/* ---- What a text says -------------------------------------------------------------------------------------------- */

/* How one dimension of N elements is dealt out to the G processes of its side of the process grid. */
enum piolet_dist_rule_kind {
    PIOLET_DIST_WHOLE,   /* "*": not distributed */
    PIOLET_DIST_BLOCK,   /* blocks of ceil(N / G), the last ones shorter or empty: HPF's BLOCK */
    PIOLET_DIST_CYCLIC,  /* blocks of k, dealt out in turn: HPF's CYCLIC(k) */
    PIOLET_DIST_BALANCED /* blocks whose sizes differ by one at most, larger ones first: ARC3D's */
};

struct piolet_dist_rule {
    enum piolet_dist_rule_kind kind;
    int64_t block; /* CYCLIC: k >= 1; otherwise 0 */
};

enum piolet_dist_kind {
    PIOLET_DIST_RULES,          /* a rule for each dimension */
    PIOLET_DIST_MULTIPARTITION, /* 3-D, P a square: sqrt(P) cells each, one in every slab of every dimension (NAS BT) */
    PIOLET_DIST_RANDOM,         /* blocks of `block` elements of the file, each at a pseudo-random process */
    PIOLET_DIST_SCATTER,        /* blocks of `block` elements of the file, dealt out in rank order (scatter, gather) */
    PIOLET_DIST_BROADCAST       /* every process owns everything (broadcast, reduce) */
};

struct piolet_dist_spec {
    enum piolet_dist_kind kind;
    bool transposed; /* RULES, 2 dimensions or more: in memory the dimensions run in the opposite order */
    int rules;       /* RULES: how many of `rule` are in use, one for each dimension */
    struct piolet_dist_rule rule[PIOLET_DIST_DIMS_MAX];
    int64_t block; /* RANDOM: >= 1; SCATTER: >= 1, or 0 for one block a process, ceil(elements / procs); otherwise 0 */
};

/* Reads a text. Capitals and small letters are the same, blanks may stand around every word:
 *     a list of BLOCK, BALANCED, CYCLIC, CYCLIC(k), * with commas, parentheses around it if you like;
 *     multipartition; random, random(k); broadcast or reduce; scatter or gather, also with (k);
 *     transposed(list), and transposed alone, which is transposed(*,BLOCK).
 * PIOLET_DIST_E_TEXT with a message that names the place and what may stand there. */
PIOLET_API int piolet_dist_parse(const char *text, struct piolet_dist_spec *ret_spec, char *message,
                                 size_t message_size);

/* The text of a specification, which piolet_dist_parse() reads back to the same one. PIOLET_DIST_E_SPACE if it does not
 * fit into `size` bytes, PIOLET_DIST_E_TEXT if `spec` is none that piolet_dist_parse() could give. */
PIOLET_API int piolet_dist_format(const struct piolet_dist_spec *spec, char *text, size_t size);

/* ---- A distribution ---------------------------------------------------------------------------------------------- */

enum piolet_dist_order {
    PIOLET_DIST_COLUMN_ORDER, /* in the file the first dimension runs fastest, as in Fortran */
    PIOLET_DIST_ROW_ORDER     /* the last one does, as in C */
};

struct piolet_dist_shape {
    int dims;                           /* 1 to PIOLET_DIST_DIMS_MAX */
    int64_t size[PIOLET_DIST_DIMS_MAX]; /* elements along each dimension, >= 1; 2^62 in all at most */
    enum piolet_dist_order order;
    int64_t procs; /* number of processes, 1 to 2^31 - 1 */
    /* RULES: processes along each dimension, 1 where the rule is "*"; their product is `procs`. 0: chosen, as equal as
     * possible and the larger ones first. Whatever `order` is, ranks run through the grid with its first dimension
     * fastest: in a 2 x 3 grid, rank 1 is at (1, 0). All other kinds: 0. */
    int64_t grid[PIOLET_DIST_DIMS_MAX];
    uint64_t seed; /* RANDOM: equal seeds give equal distributions, on every machine */
};

typedef struct piolet_dist piolet_dist;

/* Makes a distribution; the caller frees it with piolet_dist_free(). */
PIOLET_API int piolet_dist_new(const struct piolet_dist_spec *spec, const struct piolet_dist_shape *shape,
                               piolet_dist **ret_dist, char *message, size_t message_size);

/* NULL is allowed. Iterators over `dist` end with it, datatypes made from it do not. */
PIOLET_API void piolet_dist_free(piolet_dist *dist);

/* What it was made from; the grid is filled in (1 where nothing is distributed). They live as long as `dist`. */
PIOLET_API const struct piolet_dist_spec *piolet_dist_spec_of(const piolet_dist *dist);
PIOLET_API const struct piolet_dist_shape *piolet_dist_shape_of(const piolet_dist *dist);

/* Elements of the whole array. */
PIOLET_API int64_t piolet_dist_elements(const piolet_dist *dist);

/* Elements that a rank owns. */
PIOLET_API int64_t piolet_dist_count(const piolet_dist *dist, int64_t rank);

/* The rank that owns the element at `offset`; for broadcast, which all own, 0. */
PIOLET_API int64_t piolet_dist_owner(const piolet_dist *dist, int64_t offset);

/* 1 if the rank owns the element, 0 if not. */
PIOLET_API int piolet_dist_owns(const piolet_dist *dist, int64_t rank, int64_t offset);

/* Where the element with these indices (one for each dimension, from 0) stands in the file, and back. */
PIOLET_API int64_t piolet_dist_offset(const piolet_dist *dist, const int64_t *index);
PIOLET_API int piolet_dist_index(const piolet_dist *dist, int64_t offset, int64_t *ret_index);

/* A rank's buffer holds its elements in file order; if transposed, in the opposite order of dimensions. Place in that
 * buffer -> offset in the file, and back. */
PIOLET_API int64_t piolet_dist_offset_of_local(const piolet_dist *dist, int64_t rank, int64_t local);
PIOLET_API int64_t piolet_dist_local_of_offset(const piolet_dist *dist, int64_t rank, int64_t offset);

/* ---- Its regular parts ------------------------------------------------------------------------------------------- */

/* The indices of one dimension that a rank owns: `count` intervals that begin at first, first + stride, ...; each has
 * `length` indices but the last, which has `last`. Nothing: count 0, and all others 0. */
struct piolet_dist_axis {
    int64_t first;
    int64_t length;
    int64_t stride; /* 0 when count is 0 or 1 */
    int64_t count;
    int64_t last;
};

/* How many indices that is. */
PIOLET_API int64_t piolet_dist_axis_size(const struct piolet_dist_axis *axis);

/* Boxes of a rank: 1 for rules and broadcast, sqrt(P) for multi-partition (its cells; some may be empty), 0 for random
 * and scatter, which know no dimensions. */
PIOLET_API int64_t piolet_dist_boxes(const piolet_dist *dist, int64_t rank);

/* Box `number` of a rank, in file order: what it owns is every combination of the indices of its axes, one axis for
 * each dimension. A multi-partition box number b is the cell in slab b of the dimension that runs slowest in the file.
 */
PIOLET_API int piolet_dist_box(const piolet_dist *dist, int64_t rank, int64_t number,
                               struct piolet_dist_axis *ret_axes);

/* ---- Contiguous runs --------------------------------------------------------------------------------------------- */

struct piolet_dist_run {
    int64_t offset; /* first element */
    int64_t length; /* elements, >= 1 */
};

/* Walks through the contiguous runs of a rank, in file order, each as long as possible. The memory it needs is this
 * struct, whatever the size of the array; a step takes constant time (random: constant on average). */
struct piolet_dist_runs {
    const piolet_dist *dist; /* the rest is private */
    int64_t rank;
    int64_t part; /* next box; random: next window */
    struct piolet_dist_axis axis[PIOLET_DIST_DIMS_MAX];
    int64_t position[PIOLET_DIST_DIMS_MAX];
    int64_t slot[PIOLET_DIST_WINDOW];
    int slots, slot_next;
    int piece_axis;
    bool in_box;
    struct piolet_dist_run pending;
};

PIOLET_API int piolet_dist_runs_begin(struct piolet_dist_runs *runs, const piolet_dist *dist, int64_t rank);

/* The next run, or false after the last one. */
PIOLET_API bool piolet_dist_runs_next(struct piolet_dist_runs *runs, struct piolet_dist_run *ret_run);

/* ---- MPI datatypes ----------------------------------------------------------------------------------------------- */

/* The filetype of a rank: its elements, within an extent of the whole array, so that the view goes on with the next
 * array behind this one. `element` is the etype: any datatype with lower bound 0. Offsets are 64 bits wide. Committed;
 * the caller frees it. A rank that owns nothing gets a type of size 0 and the same extent, and takes part in collective
 * calls like all others. MPI must be initialised; not collective. */
PIOLET_API int piolet_dist_filetype(const piolet_dist *dist, int64_t rank, MPI_Datatype element, MPI_Datatype *ret_type,
                                    char *message, size_t message_size);

/* The type of a rank's whole buffer: count 1 of it goes with one array's worth of the view. Contiguous, but for
 * transposed, where it is what turns the elements: MPI wants the displacements of a filetype to ascend. Committed; the
 * caller frees it. */
PIOLET_API int piolet_dist_memtype(const piolet_dist *dist, int64_t rank, MPI_Datatype element, MPI_Datatype *ret_type,
                                   char *message, size_t message_size);

#ifdef __cplusplus
}
#endif

#endif
