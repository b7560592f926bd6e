/* Keyword files: lines `keyword value`, one block for each test (IOT-2 to IOT-5).
 *
 * Pure: text in, blocks or one precise message out. What a test understands is told by tables of struct spec_keyword;
 * the same tables make the help. A message is "FILE:LINE: keyword: what was found; what is allowed". */
#ifndef PIOLET_MEASURE_SPEC_H
#define PIOLET_MEASURE_SPEC_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum spec_type {
    SPEC_STRING, /* the rest of the line */
    SPEC_CHOICE, /* one of `choices` */
    SPEC_BOOL,   /* true or false */
    SPEC_INT,    /* a whole number */
    SPEC_NUMBER, /* a decimal number */
    SPEC_MB      /* a size in MB = 10^6 bytes, rounded to a multiple of 8 bytes */
};

struct spec_keyword {
    const char *name;
    const char *alias; /* another spelling, or NULL */
    enum spec_type type;
    bool list;     /* several values, separated by blanks or commas */
    bool required; /* must stand in the block */
    bool hint;     /* handed to MPI as an info key */
    const char *default_text;
    double min, max;     /* of each number; in MB for SPEC_MB */
    const char *choices; /* "none sample full"; for hint lists of words too */
    const char *help;
};

/* A keyword as it stands in a block, or by its default (line 0). */
struct spec_value {
    const struct spec_keyword *keyword;
    int line;
    char *text;
    size_t count;
    double *numbers; /* SPEC_INT, SPEC_NUMBER; SPEC_MB: in MB as written */
    int64_t *bytes;  /* SPEC_MB: rounded */
};

struct spec_line {
    char *key;
    char *value;
    int line;
};

/* A hint for MPI: one value, or one for each variant of the run (`numhints`). */
struct spec_hint {
    char *key;
    int line;
    char **values;
    size_t count;
};

struct spec_test {
    const char *class_name;
    const char *name;
    const struct spec_keyword *const *keywords; /* tables, each ended by {0}; the list by NULL */
};

struct spec_block {
    int line;
    const struct spec_test *test;
    struct spec_line *lines; /* as given, for the copy in the results */
    size_t line_count;
    struct spec_value *values; /* one for each keyword of the test that is given or has a default */
    size_t value_count;
    struct spec_hint *hints; /* info keys for MPI */
    size_t hint_count;
    size_t hint_variants; /* how often each set is run, with other hints each time; at least 1 */
};

struct spec {
    char *path;
    char *timings_path; /* where results go; "all.out" by default */
    struct spec_block *blocks;
    size_t block_count;
};

/* An override from the command line, "KEY=VALUE": replaces or adds the keyword in every block whose test knows it. */
struct spec_override {
    const char *key;
    const char *value;
};

/* Parses `text` (its name is `path`, for messages). `tests` ends with NULL. On success the caller calls spec_clear().
 */
pl_status spec_parse(const char *path, const char *text, size_t length, const struct spec_test *const *tests,
                     const struct spec_override *overrides, size_t override_count, struct spec *ret_spec,
                     struct pl_error *error);
void spec_clear(struct spec *spec);

/* The value of a keyword that the test has, or NULL if it was not given and has no default. */
const struct spec_value *spec_find(const struct spec_block *block, const char *name);

/* The hint's value in a variant, from 0. */
const char *spec_hint_value(const struct spec_hint *hint, size_t variant);

/* For keywords with a default or required ones. */
bool spec_is_true(const struct spec_block *block, const char *name);
double spec_number(const struct spec_block *block, const char *name);
const char *spec_text(const struct spec_block *block, const char *name);

/* A mistake that only several keywords together show: reported at the line of `name` (or of the block). */
pl_status spec_fail(const struct spec *spec, const struct spec_block *block, const char *name, struct pl_error *error,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
