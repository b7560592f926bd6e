/* PIOBENCH: distribution × algorithm × data block size × ranks × file size × write/read (COLL-6). docs/piobench.md says
 * what is measured. */
#ifndef PIOLET_BENCH_PIOBENCH_H
#define PIOLET_BENCH_PIOBENCH_H

#include "bench/contest/contest.h"

enum { PIOBENCH_ELEMENT = 8 }; /* bytes of an element of the array */

extern const struct contest_kind PIOBENCH_KIND;
extern const char *const PIOBENCH_CLASSES[], *const PIOBENCH_CONDITIONS[]; /* end with NULL */
extern const struct contest_contestant PIOBENCH_ALGORITHMS[];              /* templates; ends with an empty label */

/* What the rows fill, and what `prepare` makes of it. */
struct piobench {
    struct contest contest;
    struct option_texts distribution_texts, algorithms, mpis;
    struct option_numbers blocks, sizes, buffers, groups;
    int64_t dims[PIOLET_DIST_DIMS_MAX]; /* of arrays with more dimensions than one; 0: by file and block size */
    int dim_count;
    uint64_t ops; /* bits: write, read */
    bool cold, fresh;
    struct piobench_distribution *distributions; /* owned */
    int distribution_count;
    int mpi, cell, round; /* of alternating launches: which one is next */
};

/* The cells; the array that stands for each of them is chosen so that pieces have the wanted size. Pure. PL_E_INPUT
 * where no cell is left. */
pl_status piobench_matrix_make(struct piobench *piobench, const struct option_numbers *ranks, struct pl_error *error);
/* "write CYCLIC, block 1 KiB, file 16 MiB, 4 ranks". */
void piobench_cell_text(const struct contest_cell *cell, char text[CONTEST_TEXT_MAX]);

/* ---- what PIOBENCH_KIND is made of: contest.h ---- */

void piobench_identify(const struct contest_cell *cell, struct text *params);
void piobench_describe(const struct contest_cell *cell, const struct contest_contestant *contestant,
                       struct text *params);
pl_status piobench_layout_new(struct contest_place *place, struct pl_error *error);
void piobench_layout_free(void *own);
bool piobench_each_piece(const struct contest_place *place,
                         bool (*visit)(void *context, char *data, int64_t offset, int64_t bytes), void *context);
void piobench_ask(const struct contest_trial *trial, struct lab_hints *hints);
pl_status piobench_ready_coll(struct contest_trial *trial, struct pl_error *error);
pl_status piobench_in_force(struct contest_trial *trial, MPI_Info info, struct pl_error *error);
pl_status piobench_move_coll(struct contest_trial *trial, struct pl_error *error);
bool piobench_is_noted(const void *trial, const char *key);
bool piobench_same_cell(const struct contest_point *a, const struct contest_point *b);

/* ---- what the points mean, in numbers and in words. Pure ---- */

/* Is a faster than b, beyond what chance explains? Points without an interval are never. */
bool piobench_findings_faster(const struct contest_point *a, const struct contest_point *b);

/* Fastest over slowest, of those two that differ most: of their means, and as far as their intervals reach. */
struct piobench_factor {
    double mean, low, high; /* 0: not comparable */
};

/* Block size against distribution. */
struct piobench_spread {
    struct piobench_factor by_block;        /* over data block sizes within one distribution */
    struct piobench_factor by_distribution; /* over distributions at one data block size */
};

/* Of one algorithm and operation, everything else being equal. */
struct piobench_spread piobench_findings_spread(const struct contest_point *points, size_t count, const char *algorithm,
                                                const char *op);

/* Where collective buffering pays. */
struct piobench_crossover {
    int64_t pays_up_to; /* largest data block with which it surely is faster, as with all smaller ones; 0: none */
    int64_t not_from;   /* from this size on it is not surely faster, up to the largest measured; 0: none such */
    int sizes;          /* data block sizes with which both were measured */
    double gain;        /* largest ratio to naive among the sure ones, and where; NULL: none is sure */
    const struct contest_point *gain_at;
};

/* What was warned of is not comparable. Among the points of the same operation, distribution, file, ranks and MPI as
 * `like`. */
struct piobench_crossover piobench_findings_crossover(const struct contest_point *points, size_t count,
                                                      const struct contest_point *like);

/* The smallest buffer with which the algorithm of `like` is not surely below 90 % of what it reaches with any, in its
 * cell; 0: it was not measured with two buffers or more, or only once. */
int64_t piobench_findings_buffer(const struct contest_point *points, size_t count, const struct contest_point *like);

/* Negative scaling. */
struct piobench_scaling {
    const struct contest_point *peak, *fallen; /* NULL: no negative scaling */
};

/* More ranks, less: of the same algorithm, operation, distribution, file and data block size as `like`. `fallen` is the
 * slowest of those with more ranks than the peak. */
struct piobench_scaling piobench_findings_ranks(const struct contest_point *points, size_t count,
                                                const struct contest_point *like);
/* Larger data blocks, less. */
struct piobench_scaling piobench_findings_blocks(const struct contest_point *points, size_t count,
                                                 const struct contest_point *like);

/* A line for each finding. */
void piobench_findings_text(const struct contest_points *points, struct text *ret_lines);

#endif
