/* The benchmarks of the MPI-IO/GPFS document (GPFS-8, GPFS-9).
 *
 * A benchmark has parameters, each of which may be a list; every combination is a *cell*. In a cell the *contestants*
 * move the same bytes in turn, each `reps` times. gpfs_config.c reads what is asked for and makes the cells,
 * gpfs_plan.c says which bytes a rank moves in which call: both are pure. gpfs_trial.c measures one repetition,
 * gpfs_run.c all. docs/gpfs.md says what is measured. Nothing of the engine is included: it is reached by hints. */
#ifndef PIOLET_BENCH_GPFS_H
#define PIOLET_BENCH_GPFS_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GPFS_PATH_MAX = 4096,
    GPFS_LABEL_MAX = 32,
    GPFS_LIST_MAX = 32,
    GPFS_CONTESTANTS_MAX = 32,
    GPFS_REPS_MAX = 1000,
    GPFS_CELLS_MAX = 100000,
    GPFS_RANGES_MAX = 64,
    GPFS_CELL_TEXT_MAX = 512
};

/* The class of its blocks in a block file; their test is the benchmark's name. */
extern const char GPFS_CLASS[];
/* Settings that make repetitions of equal cells different things. */
extern const char *const GPFS_CONDITIONS[]; /* ends with NULL */

/* ---- parameters ---- */

enum gpfs_key {
#define KEY(id, name, kind, allowed, least, most, letter, argument, param, help) GPFS_##id,
#include "bench/gpfs/key.def"
#undef KEY
    GPFS_KEYS
};

enum gpfs_kind { GPFS_KIND_SIZE, GPFS_KIND_NUMBER, GPFS_KIND_WORD };

struct gpfs_key_row {
    const char *name;
    enum gpfs_kind kind;
    const char *allowed; /* words, each with its \0, then an empty one */
    int64_t least, most;
    const char *param;
};
extern const struct gpfs_key_row GPFS_KEY_ROWS[GPFS_KEYS];

/* Values of parameters that are words. */
enum { GPFS_WRITE = 0, GPFS_READ = 1, GPFS_TILED = 0, GPFS_SPARSE = 1, GPFS_COLD = 0, GPFS_WARM = 1 };

/* A value as the block file and messages have it: "cold", "4096". */
const char *gpfs_key_text(enum gpfs_key key, int64_t value, char text[GPFS_LABEL_MAX]);

/* The value of a word; false where it is not allowed. */
bool gpfs_key_parse(enum gpfs_key key, const char *word, int64_t *ret_value);

/* ---- benchmarks ---- */

enum gpfs_kind_of_plan {
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
    enum gpfs_kind_of_plan kind;
    const char *defaults[GPFS_KEYS]; /* NULL: it has no such parameter */
    const char *contestants;
    bool by_maximum; /* its figures show the maximum of the repetitions, not the mean */
};

extern const struct gpfs_benchmark GPFS_BENCHMARKS[]; /* ends with {0} */
const struct gpfs_benchmark *gpfs_benchmark_find(const char *name);
/* "contiguous, discontiguous, …". */
const char *gpfs_benchmark_names(char text[GPFS_CELL_TEXT_MAX]);

/* ---- contestants ---- */

enum gpfs_access { GPFS_POSIX, GPFS_SYSTEM, GPFS_ENGINE };

struct gpfs_contestant {
    char name[GPFS_LABEL_MAX];
    enum gpfs_access access;
    const char *strategy;
    bool largeblock, unique;
    int ranges;
    const char *summary;
};

pl_status gpfs_contestant_parse(const char *name, struct gpfs_contestant *ret_contestant, struct pl_error *error);

/* ---- what is asked for ---- */

struct gpfs_values {
    int64_t values[GPFS_LIST_MAX];
    int count;
};

struct gpfs_config {
    const struct gpfs_benchmark *benchmark;
    char file[GPFS_PATH_MAX];
    struct gpfs_values keys[GPFS_KEYS];
    struct gpfs_contestant contestants[GPFS_CONTESTANTS_MAX];
    int contestant_count;
    int64_t reps, seed;
    bool keep;
    struct text inputs; /* notes, as given: what a block's head tells */
};

/* {0} and defaults; the caller clears. */
void gpfs_config_init(struct gpfs_config *config, const struct gpfs_benchmark *benchmark);
void gpfs_config_clear(struct gpfs_config *config);
/* One setting, by its option's name without "--". */
pl_status gpfs_config_set(struct gpfs_config *config, const char *key, const char *value, struct pl_error *error);
/* Fills in what was not given; `default_ranks` where no number of ranks was. Call it once, after the last setting. */
pl_status gpfs_config_finish(struct gpfs_config *config, int default_ranks, struct pl_error *error);

int64_t gpfs_config_most_ranks(const struct gpfs_config *config);
bool gpfs_config_needs_engine(const struct gpfs_config *config);

/* ---- cells ---- */

struct gpfs_cell {
    const struct gpfs_benchmark *benchmark;
    int64_t value[GPFS_KEYS]; /* of keys that the benchmark lacks: 0 */
    int ranks;
    bool writes;
    bool fresh;          /* writing makes the file */
    int64_t file_bytes;  /* as really used */
    int64_t moved_bytes; /* by all ranks together */
};

struct gpfs_cells {
    struct gpfs_cell *cells; /* owned */
    int count;
};

pl_status gpfs_cells_make(const struct gpfs_config *config, struct gpfs_cells *ret_cells, struct pl_error *error);
void gpfs_cells_clear(struct gpfs_cells *cells);

/* "write, 2 ranks, collective no, size 333 MB, cache cold". */
const char *gpfs_cell_text(const struct gpfs_cell *cell, char text[GPFS_CELL_TEXT_MAX]);

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

/* Sizes that follow from a cell's parameters; PL_E_INPUT where they do not fit together. Pure. */
pl_status gpfs_plan_size(struct gpfs_cell *cell, struct pl_error *error);
/* The share of a rank. Pure. On success the caller clears. */
pl_status gpfs_plan_make(const struct gpfs_cell *cell, int rank, uint64_t seed, struct gpfs_plan *ret_plan,
                         struct pl_error *error);
void gpfs_plan_clear(struct gpfs_plan *plan);

/* Place `index` of a permutation of 0 … count - 1 that the seed chooses. */
int64_t gpfs_permute(uint64_t seed, int64_t count, int64_t index);

/* ---- statistics of repetitions ---- */

struct gpfs_statistics {
    int count;
    double max, mean, deviation; /* NaN where there are too few; the deviation with count - 1 */
};

/* Of rates in MB/s. */
struct gpfs_statistics gpfs_statistics_of(const double *rates, int count);
/* What the document's figures show of it. */
double gpfs_statistics_shown(const struct gpfs_statistics *statistics, bool by_maximum);

#endif
