/* What a benchmark's results say, free of any form: quantities, tables, charts and notes. A benchmark builds it from
 * blocks (struct bench, .results); text, JSON, CSV, SVG, history and page are made of it by lab/show, and by nobody
 * else.
 *
 *     result_begin_group(result, "nodes", "I/O node %s", name);          // an element of the array "nodes"
 *     result_fact_text(result, "io_node", NULL, name);                   // a member of that element
 *     result_begin_table(result, "points", NULL, COLUMNS);
 *     for (...) {
 *         result_row(result);
 *         result_put_text(result, "write");                               // cells in the order of the columns
 *         result_put_number(result, rate);
 *     }
 *     result_end_group(result);
 *
 * In JSON every group, object, fact and table is a member by its key; tables and groups of one key in one group make
 * one array. "notes" and, at the top, "benchmark" and "quantities" are not to be taken as keys. Misuse (a cell of
 * another type than its column, a group left open) is our own bug and trips an assertion. Memory: base/memory.h, so
 * nothing here fails. Strings are copied unless a comment says that they are borrowed. */
#ifndef PIOLET_LAB_RESULT_H
#define PIOLET_LAB_RESULT_H

#include "base/blockfile.h"
#include "lab/result/analysis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- quantities: the numbers worth keeping and comparing ---- */

struct quantity {
    const struct blockfile_block *block; /* borrowed: what it was measured in */
    char *what;                          /* "write rate, with sync" */
    char *settings;                      /* "file 16 MB, block 4 kB, collective"; "": none */
    const char *unit;                    /* "MB/s", "ms", "1/s"; borrowed */
    const char *made;                    /* how: "bytes / time of the slowest rank; median of repetitions"; borrowed */
    bool lower_is_better;
    double value;     /* finite and above 0 */
    double low, high; /* its interval (STATISTICS_LEVEL); NaN: none is known */
    int repetitions;  /* how many values it is the median of */
};

struct result;

/* A definition of a quantity: each stands once, in the benchmark that measures it. */
struct quantity_kind {
    const char *what, *unit, *made;
    bool lower_is_better;
};

/* Adds a value; those that are not finite and above 0 are passed over. Several with the same what and settings of one
 * block are repetitions: result_finish() makes one of
 * them, their median; its interval comes from the error of their mean, or, of a single value, from its own error.
 * `what` NULL: the kind's own. */
void result_quantity(struct result *result, const struct blockfile_block *block, const struct quantity_kind *kind,
                     const char *what, const char *settings, struct analysis_estimate value);
/* A rate of many ranks, by both of its definitions (analysis_rows.h has them): as it is, under the kind's name, unless
 * the block has no stamps; and with ", by calls" behind the name. */
struct result_rate {
    struct analysis_estimate rate, call_rate;
    bool by_calls; /* no stamps: `rate` is by calls too */
};
#define RESULT_RATE_MADE "bytes of all ranks / time in which at least one of them was in such a call, on one clock"
void result_quantity_rate(struct result *result, const struct blockfile_block *block, const struct quantity_kind *kind,
                          const char *what, const char *settings, const struct result_rate *rate);
/* The first one of a finished result; `settings` NULL: whatever they are. NULL: there is none. */
const struct quantity *result_find(const struct result *result, const char *what, const char *settings);

/* Texts of settings, as "file 16 MB, collective, cb_nodes=2" of a set: lab/result/settings.h */

/* ---- cells ---- */

enum result_form {
    RESULT_TEXT = 1,
    RESULT_INT,       /* 1234 */
    RESULT_NUMBER,    /* with `decimals` digits */
    RESULT_BYTES,     /* 16.8 MB */
    RESULT_BINARY,    /* 64 KiB where it is whole */
    RESULT_NS,        /* 1.25 ms */
    RESULT_SECONDS,   /* 3 min 05 s */
    RESULT_RATE,      /* given and shown in MB/s = 10^6 bytes a second */
    RESULT_BYTE_RATE, /* given in bytes a second, shown in MB/s */
    RESULT_PERCENT,   /* of a part: 0.05 is 5 % */
    RESULT_BOOL       /* yes, or nothing */
};

struct result_column { /* a table's columns end with {0}; copied by result_begin_table() */
    const char *key;   /* in JSON and CSV. "" in a table of one column: in JSON an array of values, not of objects */
    const char *label; /* above the column in text and page; NULL: the key. "": nothing */
    const char *unit;  /* NULL: none, or what the form says */
    enum result_form form;
    int decimals; /* of numbers and rates in text; below 0: as many significant digits. 0 is none, of rates 4 digits */
    double scale; /* of numbers in text: what is shown is the value / scale; 0: 1 */
    bool error;   /* values have an error: a second column KEY_error in CSV and JSON, "±" in text */
    bool hidden;  /* not in text and page: for machines */
};

/* ---- the document ---- */

enum result_note { RESULT_NOTE, RESULT_WARNING, RESULT_ERROR };
const char *result_note_name(enum result_note level); /* "warning" */

/* An empty document. `name` is the benchmark's or tool's: borrowed. */
struct result *result_new(const char *name, const char *title);
void result_free(struct result *result);

/* A line of text, in its place among facts, tables and groups: wrapped where it is shown. For people alone. */
void result_line(struct result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What readers must know; shown at the end of the group, an array "notes" of {level, text} in JSON. */
void result_note(struct result *result, enum result_note level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* An element of the array `key` in the current group; the title is its heading in text (NULL: none). */
void result_begin_group(struct result *result, const char *key, const char *title, ...)
    __attribute__((format(printf, 3, 4)));
/* A member `key` that is an object, not an element of an array. */
void result_begin_object(struct result *result, const char *key, const char *title, ...)
    __attribute__((format(printf, 3, 4)));
void result_end_group(struct result *result); /* of both */

/* Members of the current group (or of the whole). In text they are lines "label  value"; `label` NULL: machines only.
 * Those of a group that stand before a table lead its rows in CSV. A number that is not finite is empty. Keys are
 * unique in a group. */
void result_fact_text(struct result *result, const char *key, const char *label, const char *value);
void result_fact_int(struct result *result, const char *key, const char *label, int64_t value);
void result_fact_bool(struct result *result, const char *key, const char *label, bool value);
void result_fact(struct result *result, const char *key, const char *label, enum result_form form, double value);
void result_fact_estimate(struct result *result, const char *key, const char *label, enum result_form form,
                          struct analysis_estimate value);

/* A table in the current group: an array of objects in JSON. The title stands above it in text; NULL: none. */
void result_begin_table(struct result *result, const char *key, const char *title, const struct result_column *columns);
/* The current table is for these alone. */
enum result_place { RESULT_IN_TEXT = 1, RESULT_IN_JSON = 2, RESULT_IN_CSV = 4, RESULT_IN_PAGE = 8 };
void result_only_in(struct result *result, unsigned places);
/* CSV holds the rows of all tables of one key in all groups: of this one, or else of the first table's. */
void result_csv_table(struct result *result, const char *key);
void result_row(struct result *result);
/* Cells, in the order of the columns; a row may end early: what is missing is empty ("-" in text, null in JSON). */
void result_put_text(struct result *result, const char *value); /* NULL: empty */
void result_put_int(struct result *result, int64_t value);      /* for int, bytes, binary and ns */
void result_put_number(struct result *result, double value);    /* for all forms but text, int and bool; NaN: empty */
void result_put_estimate(struct result *result, struct analysis_estimate value);
void result_put_bool(struct result *result, bool value);
void result_put_empty(struct result *result);

/* ---- charts ---- */

enum result_draw {
    RESULT_LINE,   /* with its points */
    RESULT_CURVE,  /* a line alone: for many points */
    RESULT_DASHED, /* a line that others are compared with */
    RESULT_POINTS,
    RESULT_BARS,  /* from the lower edge; those of several series stand side by side */
    RESULT_BAND,  /* from low to high; y is not drawn */
    RESULT_STEPS, /* y holds from its x to the next: histograms */
    RESULT_DRAWS
};

struct result_axis { /* copied by result_begin_panel(), with its strings */
    const char *label;
    enum result_form form; /* units are put behind the label; 0: a number */
    bool log;
    bool from_zero;
    const char *const *names; /* words at 0, 1, ... in the place of numbers; NULL: numbers */
    size_t name_count;
};

/* Heading of the figure (the document's title where it is not given) and a line below it; NULL: none. */
void result_figure(struct result *result, const char *title, const char *subtitle);
/* A panel of the one figure that `-o FILE.svg` draws; panels are laid out in a grid of up to `columns` (the last one
 * given counts). Panels beside each other have equal ranges where their axes are equal. One legend serves all. */
void result_begin_panel(struct result *result, const struct result_axis *x, const struct result_axis *y, int columns,
                        const char *title, ...) __attribute__((format(printf, 5, 6)));
/* A series of the panel. Series of one name have one colour in all panels; "": it is not in the legend. */
void result_begin_series(struct result *result, enum result_draw draw, const char *name, ...)
    __attribute__((format(printf, 3, 4)));
/* low and high NaN: no error bar. A y of NaN interrupts a line. Values as the axis' form says. */
void result_point(struct result *result, double x, double y, double low, double high);

/* ---- reading it: for lab/show, history and page ---- */

struct result_cell {
    enum { RESULT_CELL_EMPTY, RESULT_CELL_TEXT, RESULT_CELL_INT, RESULT_CELL_NUMBER, RESULT_CELL_BOOL } type;
    char *text; /* owned */
    int64_t integer;
    double number, error; /* error NaN: none */
};

enum result_item_type { RESULT_ITEM_LINE, RESULT_ITEM_NOTE, RESULT_ITEM_FACT, RESULT_ITEM_TABLE, RESULT_ITEM_GROUP };

struct result_table {
    char *title; /* NULL: none */
    struct result_column *columns;
    size_t column_count, row_count;
    struct result_cell *cells; /* row after row, column_count each */
    unsigned places;           /* enum result_place */
};

struct result_item {
    enum result_item_type type;
    char *key;   /* of a fact, table or group */
    char *label; /* of a fact; NULL: machines only. The title of a group. The text of a line or note */
    bool single; /* a group that is an object */
    enum result_note level;
    enum result_form form; /* of a fact */
    struct result_cell cell;
    struct result_table table;
    struct result_item *items; /* of a group */
    size_t item_count;
};

enum { RESULT_DEPTH_MAX = 8 };

struct result_series {
    char *name;
    enum result_draw draw;
    double *x, *y, *low, *high;
    size_t count;
};

struct result_panel {
    char *title;
    struct result_axis x, y; /* with strings of its own */
    struct result_series *series;
    size_t series_count;
};

struct result {
    const char *name;
    char *title;
    struct result_item root; /* a group */
    char *csv_key;           /* NULL: the first table's */
    char *figure_title, *figure_subtitle;
    struct result_panel *panels;
    size_t panel_count;
    int panel_columns;
    struct quantity *quantities;
    size_t quantity_count;
    bool finished;
    /* for the builder */
    struct result_item *path[RESULT_DEPTH_MAX]; /* the open groups, the root first */
    int depth;
    size_t column; /* of the next cell */
};

/* Joins repetitions, draws quantities where the benchmark drew nothing, and checks that all groups are closed. Before
 * anything is shown; once. */
void result_finish(struct result *result);
void result_clear_panels(struct result *result);
/* For result_finish(): a panel for each name of a quantity, unless a panel has points. */
void result_chart_quantities(struct result *result);

#endif
