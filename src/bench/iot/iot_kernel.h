/* Inside of iot_kernel*.c and iot_results.c: the sets of kernels, put together into cases.
 *
 * A *case* is what agrees in test, processes, MPI-IO, file system and all facets; its sets are repeats. A *table* is
 * all cases of a test with its processes, MPI-IO and file system. A *measure* is one time of a case: a single time of
 * each rank (`write`, `gather`), or a series (`r`, `u`, `w`). */
#ifndef PIOLET_BENCH_IOT_KERNEL_H
#define PIOLET_BENCH_IOT_KERNEL_H

#include "base/text.h"
#include "lab/result/analysis_select.h"
#include "lab/show/analysis_tools.h"

enum kernel_trait { KERNEL_TEST, KERNEL_NPROCS, KERNEL_MPIIO, KERNEL_FILESYSTEM, KERNEL_TRAITS };

extern const char *const KERNEL_TRAIT_NAMES[KERNEL_TRAITS];

/* Strings are borrowed from the block files. */
struct kernel_table {
    const char *traits[KERNEL_TRAITS];
};

enum kernel_facet {
    KERNEL_SIZE,
    KERNEL_GRID,
    KERNEL_DISTRIBUTION,
    KERNEL_ACCESS,
    KERNEL_BLOCK,
    KERNEL_UPDATE,
    KERNEL_OTHER, /* further parameters that the input names */
    KERNEL_HINTS, /* asked for */
    KERNEL_FACETS
};

extern const char *const KERNEL_FACET_NAMES[KERNEL_FACETS];

/* One measure of one set. NaN where there is none. */
struct kernel_sample {
    double bytes, rate, rate_error, call_rate, call_rate_error; /* MB/s */
    double span_rate;                                           /* MB/s, first start to last end */
    bool by_calls;                                              /* no stamps: rate is the call rate */
    double longest_ns, imbalance; /* total time of the slowest rank; that / mean over the ranks */
    double operations, operation_ns, operation_error_ns;
};

struct kernel_measure {
    const char *key;               /* borrowed */
    bool series;                   /* else a single time */
    struct kernel_sample *samples; /* owned, one for each set that was not left out */
    size_t count;
    /* over the sets, NaN without any */
    double bytes, imbalance, operations;
    struct result_rate rate;
    struct analysis_estimate longest_ns, operation_ns;
};

/* A number that a run found (written_bytes, a residual): it does not tell cases apart. */
struct kernel_value {
    const char *key; /* borrowed */
    double sum;
    size_t count;
};

struct kernel_case {
    size_t table, order;
    struct analysis_chosen first;
    char *facets[KERNEL_FACETS]; /* owned, exact: equal where the facet is; "" for none */
    double file_bytes;           /* NaN: not known */
    size_t sets, failed;         /* averaged; left out */
    struct kernel_measure *measures;
    size_t measure_count;
    struct kernel_value *values;
    size_t value_count;
};

struct kernel {
    const struct analysis_request *request;
    const char **names; /* keys of all input lines, sorted */
    size_t name_count;
    struct kernel_table *tables;
    size_t table_count;
    struct kernel_case *cases; /* sorted by table, file size and order when finished */
    size_t case_count;
    size_t failed_sets, other_sets; /* other: of no kernel */
};

/* ---- cases ---- */

/* Collects the keys of all input lines. */
void kernel_names_init(struct kernel *kernel, const struct analysis_input *input);
/* Adds a set to its case. */
pl_status kernel_add_set(struct kernel *kernel, const struct analysis_chosen *chosen, struct pl_error *error);
/* Averages and sorts. */
void kernel_finish(struct kernel *kernel);
void kernel_clear(struct kernel *kernel);

/* NULL: none with samples. */
const struct kernel_measure *kernel_measure_of(const struct kernel_case *c, const char *key, bool series);
/* The mean over the sets, NaN: none. */
double kernel_value_of(const struct kernel_case *c, const char *key);
/* Mean over the sets of the slowest rank's time, in ns; NaN: none. */
double kernel_longest_ns(const struct kernel_case *c, const char *key);
/* The value of an asked hint (KERNEL_HINTS) or further parameter (KERNEL_OTHER); NULL: none. */
const char *kernel_keyed(const struct kernel_case *c, enum kernel_facet facet, const char *key);
/* What a set has of a facet. */
void kernel_facet_add(const struct kernel *kernel, const struct blockfile_set *set, enum kernel_facet facet,
                      struct text *text);
/* The size of the file that was asked for, what blocks of one size leave out at its end included; NaN: not known. */
double kernel_size_bytes(const struct blockfile_set *set);
/* What the ranks move in a single time `key`: all of the file, unless a parameter says otherwise. */
double kernel_single_bytes(const struct blockfile_set *set, const char *key);
/* A parameter as a number, NaN: none. */
double kernel_param_number(const struct blockfile_set *set, const char *key);
/* Parameters with a facet of their own, and those that follow from them. */
bool kernel_is_covered(const char *param);
/* Further parameters tell cases apart: they are in no other facet, and some input names them. */
bool kernel_is_other(const struct kernel *kernel, const char *param);

/* ---- comparisons ---- */

bool kernel_is_test(const struct kernel *kernel, const struct kernel_case *c, const char *testname);
/* The gatherscat2D case to hold against a case of matrix2D: size, grid, distribution, processes and place are equal,
 * and the hints, or it was asked for none. SIZE_MAX: none. */
size_t kernel_gather_for(const struct kernel *kernel, const struct kernel_case *matrix);

struct kernel_exchange { /* in ns, NaN where something is missing */
    double matrix_write, gather_write, matrix_read, scatter_read;
};
struct kernel_exchange kernel_exchange(const struct kernel_case *matrix, const struct kernel_case *gather);

/* Equal in all but the hints; a case is in its own sweep. */
bool kernel_same_but_hints(const struct kernel_case *a, const struct kernel_case *b);
/* Cases of the sweep that begins at `first`, to members[case_count]; 0 where an earlier case begins it, or it has one
 * member only. */
size_t kernel_sweep(const struct kernel *kernel, size_t first, size_t *ret_members);
/* The member with the highest rate; SIZE_MAX: fewer than two have one. */
size_t kernel_best(const struct kernel *kernel, const size_t *members, size_t count, const char *key, bool series);

/* ---- columns ---- */

struct kernel_column {
    enum kernel_facet facet;
    const char *header; /* borrowed */
    char **cells;       /* owned, one for each row */
};

struct kernel_columns {
    size_t rows, count;
    struct kernel_column columns[KERNEL_FACETS];
    struct text fixed; /* what all have in common: "grid 2x2, collective, hint cb_nodes 2" */
};

/* Facets in `skip` (bits) are left out. The caller clears. */
struct kernel_columns kernel_columns_of(const struct kernel *kernel, const struct kernel_case *const *cases,
                                        size_t count, unsigned skip);
void kernel_columns_clear(struct kernel_columns *columns);
/* "2x2, cb_nodes 4": the row in one text; what all have in common where nothing tells it apart. */
void kernel_columns_label(const struct kernel_columns *columns, size_t row, struct text *label);
bool kernel_columns_hold(const char *const *keys, size_t count, const char *key);

/* ---- documents ---- */

/* The cases of one test, its processes and place. */
struct kernel_part {
    const struct kernel *kernel;
    struct result *result;
    const struct kernel_case **cases; /* room for all */
    size_t count;
};

/* Rates, series, times, comparisons and sweeps of the cases of one test, in a group of its own. */
void kernel_put_table(const struct kernel *kernel, struct result *result, size_t table);

/* ---- the tool `piolet analyze kernel` (IOT-33): iot_kernel_results.c ---- */

extern const struct analysis_tool KERNEL_TOOLS[]; /* ends with {0} */

#endif
