/* What the user asked for, and the parameter sets of the given files that match it. */
#ifndef PIOLET_LAB_ANALYSIS_SELECT_H
#define PIOLET_LAB_ANALYSIS_SELECT_H

#include "base/blockfile.h"
#include "lab/result/analysis.h"

struct analysis_ranks { /* {0}: all ranks */
    struct {
        int first, last;
    } ranges[64];
    size_t count;
};

struct analysis_request {
    int64_t block;    /* over all blocks of all files, from 1; 0: all */
    const char *test; /* NULL: all; borrowed, as all strings here */
    int64_t set;      /* 0: all */
    const char *op;   /* NULL: all */
    struct analysis_ranks ranks;
    int64_t from, to; /* counters, inclusive */
    int64_t skip;
    bool skip_auto;
    bool times;       /* of kernels: all times, not those with a rate alone */
    const char *plot; /* file name, NULL: no plot */
    FILE *text;       /* NULL: none; borrowed, as the next two */
    FILE *json;
    FILE *csv;
};

/* "0,2-5"; false if it is not such a list. */
bool analysis_ranks_parse(const char *list, struct analysis_ranks *ret_ranks);
bool analysis_ranks_hold(const struct analysis_ranks *ranks, int rank);

struct analysis_input {
    struct blockfile *files; /* borrowed */
    size_t file_count;
};

/* One set that matches; all pointers are borrowed from the input. */
struct analysis_chosen {
    struct blockfile *file;
    const struct blockfile_block *block;
    int64_t block_number; /* over all files, from 1 */
    const struct blockfile_set *set;
};

/* The next matching set after *chosen ({0} to begin with); false at the end. */
bool analysis_next(const struct analysis_request *request, const struct analysis_input *input,
                   struct analysis_chosen *chosen);

/* A time of a set: that of the slowest rank, in ns; NaN: it was not measured. */
double analysis_slowest_ns(const struct blockfile_set *set, const char *key);

/* Lists blocks, tests, sets, operations and ranks: the help for a selection that matched nothing. */
void analysis_describe(const struct analysis_input *input, FILE *stream);

/* A time that was taken for each operation: not the bytes moved, not a sample of a device. */
bool analysis_is_times(const struct blockfile_series *series);
/* An operation that moves data by itself, so that it has a rate: not a task, not the parts of an interleaved cycle. */
bool analysis_moves_data(const char *key);

/* How tests, sets and operations are named in tables, titles and legends. Every function writes into `text`, cuts what
 * does not fit, and returns it. */

enum { ANALYSIS_NAME_MAX = 128 };

/* A test that one process runs while the others wait: no `collective`, and samples of one rank only. */
bool analysis_one_process(const struct blockfile_set *set);
/* "2 processes", "1 of 2 processes"; `nprocs` may be NULL or empty. */
const char *analysis_processes_text(const char *nprocs, bool one_process, char text[ANALYSIS_NAME_MAX]);
/* "single", "multiple collective", "multiple independent"; `collective` is the parameter, NULL or empty for none. */
const char *analysis_access_text(const char *testname, const char *collective, char text[ANALYSIS_NAME_MAX]);
/* The same of a set. */
const char *analysis_test_text(const struct analysis_chosen *chosen, char text[ANALYSIS_NAME_MAX]);
/* "file 16 MB, block 4 kB"; empty when nothing is known. */
const char *analysis_sizes_text(const struct blockfile_set *set, char text[ANALYSIS_NAME_MAX]);
/* "write (w)", "read (r)"; others by their key. */
const char *analysis_op_text(const char *key, char text[ANALYSIS_NAME_MAX]);
/* A path in at most 40 columns: its end. */
const char *analysis_path_text(const char *path, char text[ANALYSIS_NAME_MAX]);
/* The last part of a path. */
const char *analysis_base_name(const char *path);

/* Which processes of which sets a plot draws when more are selected than it has room for.
 *
 * All, if they find room. Of one set its lowest ranks. Of several sets: no repeats (sets of a block with equal
 * parameters), and as many ranks of each as find room; if even one rank of each is too much, sets spread evenly. */

struct analysis_candidate {
    struct analysis_chosen chosen;
    size_t kind;   /* sets of one test, access and number of processes have the same; from 0 */
    size_t ranks;  /* with samples in the selection, at least 1 */
    int last_rank; /* drawn are the ranks up to this one; -1: none */
    bool repeat;
};

struct analysis_choice {
    struct analysis_candidate *sets; /* owned, in the order of the files */
    size_t count;
    size_t kinds;
    size_t cursor; /* where the last look-up ended */
};

/* Everything that is selected; nothing of it is drawn yet. */
pl_status analysis_choice_build(const struct analysis_request *request, const struct analysis_input *input,
                                struct analysis_choice *ret_choice, struct pl_error *error);
void analysis_choice_clear(struct analysis_choice *choice);

/* Chooses at most `limit` >= 1 processes of the sets of one kind, or of all (ANALYSIS_ALL_KINDS). Returns how many
 * are left out. */
#define ANALYSIS_ALL_KINDS SIZE_MAX
size_t analysis_choice_spread(const struct analysis_request *request, struct analysis_choice *choice, size_t kind,
                              size_t limit);

/* NULL when the set is not selected. */
const struct analysis_candidate *analysis_choice_of(struct analysis_choice *choice, const struct blockfile_set *set);

#endif
