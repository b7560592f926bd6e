/* The benchmarks of the MPI-IO/GPFS document (GPFS-8, GPFS-9). A benchmark has parameters, each of which may be a list;
 * every combination is a cell. docs/gpfs.md says what is measured. */
#ifndef PIOLET_BENCH_GPFS_H
#define PIOLET_BENCH_GPFS_H

#include "bench/contest/contest.h"

enum { GPFS_RANGES_MAX = 64, GPFS_CELLS_MAX = 100000, GPFS_WORD_MAX = 32 };

extern const struct contest_kind GPFS_KIND;
extern const char *const GPFS_CLASSES[]; /* ends with NULL */

/* ---- parameters: the last one varies fastest ---- */

enum gpfs_key {
    GPFS_RANKS,
    GPFS_PATTERN,
    GPFS_COLLECTIVE,
    GPFS_PREALLOCATE,
    GPFS_SIZE,
    GPFS_FILE_SIZE,
    GPFS_REGION,
    GPFS_BLOCK,
    GPFS_BLOCKS,
    GPFS_SUB_BLOCK,
    GPFS_SUB_BLOCKS,
    GPFS_RECORD,
    GPFS_BATCH,
    GPFS_THREADS,
    GPFS_COMPUTE,
    GPFS_BUFFER,
    GPFS_CACHE,
    GPFS_OP,
    GPFS_KEYS
};

/* Values of parameters that are words. */
enum { GPFS_WRITE = 0, GPFS_READ = 1, GPFS_TILED = 0, GPFS_SPARSE = 1, GPFS_COLD = 0, GPFS_WARM = 1 };

/* ---- benchmarks ---- */

enum gpfs_pattern {
    GPFS_CONTIGUOUS,
    GPFS_DISCONTIGUOUS,
    GPFS_PARTITIONING,
    GPFS_ACCESS_RANGE,
    GPFS_STRIDED,
    GPFS_RANDOM,
    GPFS_THREADED
};

struct gpfs_benchmark {
    const char *name, *summary;
    enum gpfs_pattern kind;
    const char *defaults[GPFS_KEYS]; /* NULL: it has no such parameter */
    const char *contestants;
    bool by_maximum; /* its figures show the maximum of the repetitions, not the mean */
};

const struct gpfs_benchmark *gpfs_find(const char *name);

/* The option of a parameter. */
const char *gpfs_key_name(int key);
enum option_type gpfs_key_type(int key); /* OPTION_INTS, OPTION_SIZES, OPTION_CHOICES */
/* A value as the block file has it: "cold", "4096". */
const char *gpfs_key_text(int key, int64_t value, char text[GPFS_WORD_MAX]);
bool gpfs_key_parse(int key, const char *word, int64_t *ret_value);
/* "write, 2 ranks, collective no, size 333 MB, cache cold". */
void gpfs_text(const struct gpfs_benchmark *benchmark, const int64_t *value, char text[CONTEST_TEXT_MAX]);
void gpfs_cell_text(const struct contest_cell *cell, char text[CONTEST_TEXT_MAX]);

/* What the rows fill. */
struct gpfs {
    struct contest contest;
    const struct gpfs_benchmark *benchmark;
    struct option_numbers numbers[GPFS_KEYS]; /* of parameters that are numbers */
    uint64_t words[GPFS_KEYS];                /* bits, of those that are words */
    struct option_texts contestants;
    int64_t reps;
};

/* ---- which bytes ---- */

enum gpfs_view {
    GPFS_NO_VIEW,  /* each call has one piece, at its offset */
    GPFS_ONE_VIEW, /* one view holds all pieces; each call takes the next of them */
    GPFS_VIEW_EACH /* a view for each call */
};

/* What one rank moves: pieces of equal length, in memory one behind the other. */
struct gpfs_plan {
    enum gpfs_view view;
    int64_t piece_bytes;
    int64_t count;
    int64_t *offsets;     /* owned; within a call ascending; with GPFS_ONE_VIEW all ascending */
    int64_t calls;        /* the same on all ranks where calls are collective */
    int64_t *first_piece; /* owned; calls + 1 of them: of call c, pieces first[c] to first[c + 1] */
    int64_t *order;       /* owned; the order of the calls; NULL: as they are */
    int64_t region_bytes; /* GPFS_VIEW_EACH: a view begins at a multiple of it */
};

/* Sizes that follow from a cell's parameters; PL_E_USAGE where they do not fit together. Pure. */
pl_status gpfs_plan_size(struct contest_cell *cell, struct pl_error *error);
/* The share of a rank. Pure. On success the caller clears. */
pl_status gpfs_plan_make(const struct contest_cell *cell, int rank, uint64_t seed, struct gpfs_plan *ret_plan,
                         struct pl_error *error);
void gpfs_plan_clear(struct gpfs_plan *plan);

/* Place `index` of a permutation of 0 … count - 1 that the seed chooses. */
int64_t gpfs_permute(uint64_t seed, int64_t count, int64_t index);
int gpfs_by_offset(const void *a, const void *b);

/* ---- what GPFS_KIND is made of: contest.h ---- */

pl_status gpfs_layout_new(struct contest_place *place, struct pl_error *error);
void gpfs_layout_free(void *own);
pl_status gpfs_touch(struct contest_place *place, struct pl_error *error);
bool gpfs_each_piece(const struct contest_place *place,
                     bool (*visit)(void *context, char *data, int64_t offset, int64_t bytes), void *context);
void gpfs_ask(const struct contest_trial *trial, struct lab_hints *hints);
pl_status gpfs_ready_coll(struct contest_trial *trial, struct pl_error *error);
pl_status gpfs_in_force(struct contest_trial *trial, MPI_Info info, struct pl_error *error);
void gpfs_rehearse(struct contest_trial *trial);
pl_status gpfs_move_coll(struct contest_trial *trial, struct pl_error *error);
bool gpfs_is_noted(const void *trial, const char *key);

#endif
