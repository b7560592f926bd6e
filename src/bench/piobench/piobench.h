/* PIOBENCH: distribution × algorithm × data block size × ranks × file size × write/read (COLL-6).
 *
 * A *cell* of the matrix is everything but the algorithm; the algorithms are *contestants* in it, whose trials
 * alternate. piobench_config.c reads what is asked for, piobench_matrix.c makes the cells, piobench_schedule.c says
 * whose trial is next: all three are pure. piobench_trial.c measures one trial, piobench_run.c the whole matrix.
 * docs/piobench.md says what is measured. Nothing of the engine is included: its algorithms are reached by hints. */
#ifndef PIOLET_BENCH_PIOBENCH_H
#define PIOLET_BENCH_PIOBENCH_H

#include "base/status.h"
#include "base/text.h"
#include "piolet/dist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PIOBENCH_ELEMENT = 8, /* bytes of an element of the array */
    PIOBENCH_LABEL_MAX = 96,
    PIOBENCH_PATH_MAX = 4096,
    PIOBENCH_HINTS_MAX = 8,
    PIOBENCH_HINT_TEXT_MAX = 64,
    PIOBENCH_CONTESTANTS_MAX = 96,
    PIOBENCH_LIST_MAX = 32,
    PIOBENCH_MPI_MAX = 32,
    PIOBENCH_TRIALS_MAX = 200
};

/* The class of its blocks in a block file, and their test. */
extern const char PIOBENCH_CLASS[], PIOBENCH_TEST[];
/* Settings that make trials of equal cells different things. */
extern const char *const PIOBENCH_CONDITIONS[]; /* ends with NULL */

/* ---- algorithms ---- */

enum piobench_access { PIOBENCH_NAIVE, PIOBENCH_COLLECTIVE, PIOBENCH_INDEPENDENT };

struct piobench_algorithm {
    const char *name;
    enum piobench_access access;
    const char *strategy; /* of the engine; NULL: not the engine's */
    const char *family;
    const char *buffer_hint;
    const char *summary;
};

extern const struct piobench_algorithm PIOBENCH_ALGORITHMS[]; /* ends with {0} */
const struct piobench_algorithm *piobench_algorithm_find(const char *name, size_t length);

struct piobench_hint {
    char key[PIOBENCH_HINT_TEXT_MAX], value[PIOBENCH_HINT_TEXT_MAX];
};

/* An algorithm with hints of its own: "cbx", "cbx:cb_buffer_size=64k". */
struct piobench_contestant {
    const struct piobench_algorithm *algorithm;
    char label[PIOBENCH_LABEL_MAX];
    struct piobench_hint hints[PIOBENCH_HINTS_MAX];
    int hint_count;
};

/* ---- what is asked for ---- */

struct piobench_distribution {
    char text[PIOLET_DIST_TEXT_MAX]; /* as piolet_dist_format() writes it */
    struct piolet_dist_spec spec;
};

enum piobench_check { PIOBENCH_CHECK_FIRST, PIOBENCH_CHECK_ALL, PIOBENCH_CHECK_NONE };

struct piobench_config {
    char file[PIOBENCH_PATH_MAX];
    struct piobench_distribution distributions[PIOBENCH_LIST_MAX];
    int distribution_count;
    struct piobench_contestant contestants[PIOBENCH_CONTESTANTS_MAX];
    int contestant_count;
    int64_t blocks[PIOBENCH_LIST_MAX], files[PIOBENCH_LIST_MAX], ranks[PIOBENCH_LIST_MAX];
    int block_count, file_count, rank_count;
    int64_t buffers[PIOBENCH_LIST_MAX], groups[PIOBENCH_LIST_MAX];
    int buffer_count, group_count;
    int64_t dims[PIOLET_DIST_DIMS_MAX]; /* of arrays with more dimensions than one; 0: by file and block size */
    int dim_count;
    struct piobench_hint hints[PIOBENCH_HINTS_MAX]; /* for every contestant but naive */
    int hint_count;
    bool writes, reads;
    bool sync, cold, direct, fresh, keep;
    enum piobench_check check;
    int64_t trials, max_trials;
    double width; /* wanted half width of the 90 % interval, as a part of the mean */
    int64_t seed;
    char mpis[PIOBENCH_LIST_MAX][PIOBENCH_MPI_MAX]; /* launches that alternate; none: this MPI alone */
    int mpi_count;
    struct text inputs; /* notes, as given: what a block's head tells, and a resumed run reads */
};

/* {0} and defaults; the caller clears. */
void piobench_config_init(struct piobench_config *config);
void piobench_config_clear(struct piobench_config *config);

/* One setting, as an option or an input line of a block has it: key without "--". */
pl_status piobench_config_set(struct piobench_config *config, const char *key, const char *value,
                              struct pl_error *error);

/* Fills in what was not given, and refuses what does not fit together. Call it once, after the last setting.
 * `default_ranks` is the number of ranks where none was asked for. */
pl_status piobench_config_finish(struct piobench_config *config, int default_ranks, struct pl_error *error);

int64_t piobench_config_most_ranks(const struct piobench_config *config);
/* An algorithm of the engine is among the contestants. */
bool piobench_config_needs_engine(const struct piobench_config *config);

/* ---- the matrix ---- */

struct piobench_cell {
    const struct piobench_distribution *distribution; /* of the config */
    bool writes;
    int ranks;
    int64_t file_asked_bytes;
    int64_t block_asked_bytes; /* 0: file and ranks give it */
    /* as really used */
    struct piolet_dist_spec spec;
    struct piolet_dist_shape shape;
    int64_t file_bytes;
    int64_t block_bytes; /* data block: what is contiguous in the file for one rank, at most */
};

struct piobench_matrix {
    struct piobench_cell *cells; /* owned */
    int count;
    struct text left_out; /* a line for each cell that cannot be, and why */
};

/* PL_E_INPUT where no cell is left. On success the caller clears. */
pl_status piobench_matrix_make(const struct piobench_config *config, struct piobench_matrix *ret_matrix,
                               struct pl_error *error);
void piobench_matrix_clear(struct piobench_matrix *matrix);

/* "write CYCLIC, block 1 KiB, file 16 MiB, 4 ranks". */
enum { PIOBENCH_CELL_TEXT_MAX = 320 };
const char *piobench_cell_text(const struct piobench_cell *cell, char text[PIOBENCH_CELL_TEXT_MAX]);

/* ---- whose trial is next ---- */

struct piobench_tally {
    double total_ns[PIOBENCH_TRIALS_MAX]; /* of the trials so far */
    int count;
    bool failed; /* no more trials */
};

struct piobench_rule {
    int trials, max_trials;
    double width;
};

/* Enough trials: failed, or the interval is narrow enough, or the limit is reached. */
bool piobench_schedule_finished(const struct piobench_tally *tally, const struct piobench_rule *rule);

/* The contestant whose trial is next: one of those with fewest trials, each round beginning with another; -1: all have
 * finished. It depends on the tallies alone, so that a resumed run goes on as the killed one would have. */
int piobench_schedule_next(const struct piobench_tally *tallies, int count, const struct piobench_rule *rule);

/* Half width of the 90 % interval of the mean as a part of it; NaN for fewer than 2 trials. */
double piobench_schedule_width(const struct piobench_tally *tally);

/* ---- what was measured already ---- */

struct blockfile;

/* The settings of the last PIOBENCH block of a file; PL_E_INPUT where there is none. */
pl_status piobench_results_config(const struct blockfile *file, struct piobench_config *ret_config,
                                  struct pl_error *error);

/* Counts the trials of a file that were measured as those of its last block: tallies[cell * contestants + contestant],
 * of this `mpi`. Sets that failed are left out: a resumed run tries them again. */
pl_status piobench_results_count(const struct blockfile *file, const struct piobench_config *config,
                                 const struct piobench_matrix *matrix, const char *mpi, struct piobench_tally *tallies,
                                 struct pl_error *error);

#endif
