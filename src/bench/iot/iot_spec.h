/* Keyword files: lines `keyword value`, one block for each test (IOT-2 to IOT-5).
 *
 * Pure: text in, blocks or one precise message out. What a test understands is told by option rows; their values are
 * read by the parser of the command line (base/option.h), and --keywords and messages are made from them. Here is what
 * a keyword file has besides: blocks, hints with variants, overrides, and the line of a mistake. A message is
 * "FILE:LINE: keyword: what was found; what is allowed". */
#ifndef PIOLET_BENCH_IOT_SPEC_H
#define PIOLET_BENCH_IOT_SPEC_H

#include "base/option.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct iot_test;

struct iot_class {
    const char *name;
    const char *also;                    /* another spelling that the document has; NULL: none */
    const struct iot_test *const *tests; /* ends with NULL */
};

struct iot_line {
    char *key;
    char *value;
    int line; /* 0: from the command line */
};

/* A hint for MPI: one value, or one for each variant of the run (`numhints`). */
struct iot_hint {
    char *key;
    int line;
    char **values;
    size_t count;
};

struct iot_block {
    int line;
    const char *class_name;
    const struct iot_test *test;
    struct iot_line *lines; /* as given, for the copy in the results */
    size_t line_count;
    struct option_value *values; /* one for each keyword of the test that is given or has a default */
    size_t value_count;
    struct iot_hint *hints; /* info keys for MPI */
    size_t hint_count;
    size_t hint_variants; /* how often each set is run, with other hints each time; at least 1 */
};

struct iot_spec {
    char *path;
    char *timings_path; /* where results go; "all.out" by default */
    struct iot_block *blocks;
    size_t block_count;
};

/* An override from the command line, "KEY=VALUE": replaces or adds the keyword in every block whose test knows it. */
struct iot_override {
    const char *key;
    const char *value;
};

/* Parses `text` (its name is `path`, for messages). `classes` ends with {0}. On success the caller calls
 * iot_spec_clear(). */
pl_status iot_spec_parse(const char *path, const char *text, size_t length, const struct iot_class *classes,
                         const struct iot_override *overrides, size_t override_count, struct iot_spec *ret_spec,
                         struct pl_error *error);
void iot_spec_clear(struct iot_spec *spec);

/* The value of a keyword that the test has, or NULL if it was not given and has no default. */
const struct option_value *iot_spec_find(const struct iot_block *block, const char *name);
/* For keywords with a default or required ones. */
bool iot_spec_is_true(const struct iot_block *block, const char *name);
double iot_spec_number(const struct iot_block *block, const char *name);
const char *iot_spec_text(const struct iot_block *block, const char *name);

/* The hint's value in a variant, from 0. */
const char *iot_spec_hint_value(const struct iot_hint *hint, size_t variant);

/* A mistake that only several keywords together show: reported at the line of `name` (or of the block). */
pl_status iot_spec_fail(const struct iot_spec *spec, const struct iot_block *block, const char *name,
                        struct pl_error *error, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Is it a keyword of the test, or one that every test has? NULL: no. */
const struct option_row *iot_spec_keyword(const struct iot_test *test, const char *name);
/* The keywords of a test, those of every test, and the hints with names reserved by the MPI standard. */
void iot_spec_print_keywords(const struct iot_test *test, FILE *stream);

#endif
