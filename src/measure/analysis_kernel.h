/* Inside of analysis_kernel*.c: the sets of kernels, put together into cases.
 *
 * A *case* is what agrees in test, processes, MPI-IO, file system and all facets; its sets are repeats. A *table* is
 * all cases of a test with its processes, MPI-IO and file system. A *measure* is one time of a case: a single time of
 * each rank (`write`, `gather`), or a series (`r`, `u`, `w`). */
#ifndef PIOLET_MEASURE_ANALYSIS_KERNEL_H
#define PIOLET_MEASURE_ANALYSIS_KERNEL_H

#include "base/json.h"
#include "base/text.h"
#include "measure/analysis_select.h"

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
    double bytes, rate, rate_error; /* MB/s */
    double longest_ns, imbalance;   /* total time of the slowest rank; that / mean over the ranks */
    double operations, operation_ns, operation_error_ns;
};

struct kernel_measure {
    const char *key;               /* borrowed */
    bool series;                   /* else a single time */
    struct kernel_sample *samples; /* owned, one for each set that was not left out */
    size_t count;
    /* over the sets, NaN without any */
    double bytes, imbalance, operations;
    struct analysis_estimate rate, longest_ns, operation_ns;
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
    struct text left_out;           /* what the plot had no room for, a line for each */
};

/* ---- cases ---- */

/* Collects the keys of all input lines. */
pl_status kernel_names_init(struct kernel *kernel, const struct analysis_input *input, struct pl_error *error);
/* Adds a set to its case. */
pl_status kernel_add_set(struct kernel *kernel, const struct analysis_chosen *chosen, struct pl_error *error);
/* Averages and sorts. */
pl_status kernel_finish(struct kernel *kernel, struct pl_error *error);
void kernel_clear(struct kernel *kernel);

/* Room for pointers to all cases; the caller frees. NULL: no memory. */
const struct kernel_case **kernel_list_new(const struct kernel *kernel);
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

/* ---- labels ---- */

struct kernel_column {
    enum kernel_facet facet;
    char *header; /* owned */
    char **cells; /* owned, one for each row */
    int width;
    bool coded; /* cells are letters: the legend tells what they stand for */
};

/* What tells the given cases apart, and what they have in common. */
struct kernel_columns {
    size_t rows, count;
    struct kernel_column *columns; /* owned, room for all facets */
    struct text fixed;             /* "grid 2x2, collective, cb_nodes=2" */
    struct text legend;            /* of abbreviations, lines */
};

/* Facets in `skip` (bits) are left out. More than `room` columns of text are abbreviated. */
pl_status kernel_columns_build(const struct kernel *kernel, const struct kernel_case *const *cases, size_t count,
                               unsigned skip, int room, struct kernel_columns *ret_columns, struct pl_error *error);
void kernel_columns_clear(struct kernel_columns *columns);
int kernel_columns_width(const struct kernel_columns *columns);
/* What all rows share, and what the abbreviations stand for. */
void kernel_columns_heading(const struct kernel_columns *columns, FILE *text);
/* `row` SIZE_MAX: the headers. Two blanks go before, one behind each column. */
void kernel_columns_print(const struct kernel_columns *columns, size_t row, FILE *text);
/* "2x2, cb_nodes 4": the row in one text. */
void kernel_columns_label(const struct kernel_columns *columns, size_t row, struct text *ret_label);
/* The text in lines of at most 80 columns, `indent` blanks before each. */
void kernel_print_wrapped(const char *string, int indent, FILE *text);
/* Columns on a terminal, for UTF-8 text. */
int kernel_text_width(const char *string);
/* "A" … "Z", "AA" … */
const char *kernel_letters(size_t index, char letters[8]);

/* ---- output ---- */

pl_status kernel_print_tables(const struct kernel *kernel, FILE *text, struct pl_error *error);
pl_status kernel_print_comparisons(const struct kernel *kernel, FILE *text, struct pl_error *error);
pl_status kernel_print_sweeps(const struct kernel *kernel, FILE *text, struct pl_error *error);
pl_status kernel_write_json(const struct kernel *kernel, struct json *json, struct pl_error *error);
void kernel_write_csv(const struct kernel *kernel, FILE *csv);

extern const char KERNEL_RATE_TEXT[];
extern const char KERNEL_ERROR_TEXT[];
extern const char KERNEL_IMBALANCE_TEXT[];

/* The plot: whether there is something to draw, and a plot_draw of a struct kernel, which sets left_out. */
bool kernel_can_plot(const struct kernel *kernel);
pl_status kernel_plot_draw(void *context, FILE *stream, struct pl_error *error);

#endif
