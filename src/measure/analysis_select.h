/* What the user asked for, and the parameter sets of the given files that match it. */
#ifndef PIOLET_MEASURE_ANALYSIS_SELECT_H
#define PIOLET_MEASURE_ANALYSIS_SELECT_H

#include "base/blockfile.h"
#include "measure/analysis.h"

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

/* A block of the class of kernels. */
bool analysis_is_kernel(const struct blockfile_block *block);

/* Lists blocks, tests, sets, operations and ranks: the help for a selection that matched nothing. */
void analysis_describe(const struct analysis_input *input, FILE *stream);

/* A time that was taken for each operation: not the bytes moved, not a sample of a device. */
bool analysis_is_times(const struct blockfile_series *series);
/* An operation that moves data by itself, so that it has a rate: not a task, not the parts of an interleaved cycle. */
bool analysis_moves_data(const char *key);

#endif
