/* Options: one row says all about a setting, and everything that knows settings is made from rows: the command line,
 * keyword files, the environment, --help, the man page's section, completion, the description in JSON, the inputs in a
 * block's head, and what a resumed run takes from there.
 *
 *     struct demo { int64_t size; bool sync; };
 *     static const struct option_row ROWS[] = {
 *         {.name = "size", .letter = 's', .type = OPTION_SIZE, .initial = "16m", .min = 1, OPTION_AT(struct demo,
 * size), .help = "bytes that each rank writes"},
 *         {.name = "sync", .type = OPTION_FLAG, OPTION_AT(struct demo, sync), .help = "end with fsync"},
 *         {0}};
 *
 * Values live in a struct of the caller, at the row's offset; texts and lists that rows hold are owned by the struct
 * options and end with it. */
#ifndef PIOLET_BASE_OPTION_H
#define PIOLET_BASE_OPTION_H

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_type {
    OPTION_FLAG = 1, /* bool; no argument on the command line (--no-NAME takes it back), true or false elsewhere */
    OPTION_TEXT,     /* const char *; NULL: not given and no default */
    OPTION_CHOICE,   /* int: the number of the word in `choices` */
    OPTION_INT,      /* int64_t */
    OPTION_NUMBER,   /* double */
    OPTION_SIZE,     /* int64_t, in bytes: a number and k, m, g, t (powers of 1024) */
    OPTION_MB,       /* int64_t, in bytes: a number of MB = 10^6 bytes, rounded to a multiple of 8 bytes */
    OPTION_TIME,     /* double, in seconds: 90, 90s, 5m, 1h, 2d */
    OPTION_PERCENT,  /* double, as a part of 1: 5% is 0.05 */
    OPTION_INTS,     /* struct option_numbers: separated by commas or blanks, as all lists */
    OPTION_SIZES,    /* struct option_numbers */
    OPTION_MBS,      /* struct option_numbers */
    OPTION_NUMBERS,  /* struct option_decimals */
    OPTION_CHOICES,  /* uint64_t: bit i is set for word i of `choices` */
    OPTION_TEXTS,    /* struct option_texts */
    OPTION_EACH,     /* struct option_texts: the option may be repeated, and each is one text */
    OPTION_CALL      /* whatever row->set makes of it; may be repeated with OPTION_REPEATS */
};

struct option_numbers {
    int64_t *values;
    size_t count;
};

struct option_decimals {
    double *values;
    size_t count;
};

struct option_texts {
    const char **values;
    size_t count;
};

enum {
    OPTION_REPEATS = 1,  /* OPTION_CALL: a second one adds to the first; elsewhere the last one counts */
    OPTION_QUIET = 2,    /* neither in --help nor in the man page: for old ways and for tests */
    OPTION_REQUIRED = 8, /* of keyword files: must be given */
    OPTION_NO_INPUT = 4  /* says nothing of what is measured: no input of the block, and a resumed run may change it */
};

struct option_row {
    const char *name;    /* without "--" */
    const char *aliases; /* former spellings, separated by blanks: taken without a word; NULL: none */
    char letter;         /* 0: none */
    enum option_type type;
    unsigned flags;
    const char *argument; /* in --help: "FILE"; NULL: what the type says */
    const char *initial;  /* the default as text; NULL: 0, false, none */
    double min, max;      /* of each number, size (OPTION_MB: in MB), time or part; both 0: from 0 on */
    const char *choices;  /* "auto yes no" */
    const char *help;     /* what it is, in one or two sentences without line ends; the default is added to it */
    const char *more;     /* what only the man page says besides; NULL: nothing */
    size_t offset;        /* of the value in the caller's struct: OPTION_AT */
    /* OPTION_CALL, and any other type whose text is not yet the value: called behind the row's own check. */
    pl_status (*set)(void *target, const struct option_row *row, const char *value, struct pl_error *error);
    /* OPTION_CALL: the value as text that `set` would take; NULL: the texts as given, one a line. */
    void (*text)(const void *target, const struct option_row *row, struct text *out);
};

/* A value by itself, for readers that do not keep values in a struct: keyword files. Rows need no offset then. */
struct option_value {
    const struct option_row *row;
    char *text; /* as given */
    size_t count;
    double *numbers;   /* of types that are numbers, one for each of `count`; OPTION_MB: in MB as written */
    int64_t *integers; /* whole numbers, and sizes in bytes */
    int line;          /* for whoever reads a file: where it stands; 0: elsewhere */
};

/* The parser of values that the command line has, too. On failure `found` says what is wrong: "'x' is not a number".
 * The caller clears in both cases. */
pl_status option_value_parse(const struct option_row *row, const char *text, struct option_value *ret_value,
                             struct text *found);
void option_value_clear(struct option_value *value);

#define OPTION_AT(type, member) .offset = offsetof(type, member)

/* Is `name` the row's name or one of its aliases? */
bool option_is(const struct option_row *row, const char *name);

/* Rows (ended by {0}) and the struct they fill. */
struct option_table {
    const struct option_row *rows;
    void *target;
};

enum { OPTION_TABLES_MAX = 8 };

struct options { /* options_init() makes it, options_clear() ends it */
    struct option_table tables[OPTION_TABLES_MAX];
    int table_count;
    struct option_state *states; /* one for each row, table after table */
    const char **operands;       /* behind options_take_words() */
    size_t operand_count;
    void **owned; /* texts and lists of the targets */
    size_t owned_count;
};

/* Where a value comes from: it stands in the message before the option's name. */
enum option_source {
    OPTION_FROM_DEFAULT,
    OPTION_FROM_ENVIRONMENT,
    OPTION_FROM_FILE,
    OPTION_FROM_RESULTS,
    OPTION_FROM_COMMAND
};

/* Sets all defaults. The tables' targets must outlive the options. A default that its own row refuses is our bug. */
void options_init(struct options *options, const struct option_table *tables, int table_count);
void options_clear(struct options *options);

/* Sets one option by its name, alias included. The message is "--size: '3x'; allowed: sizes from 1, as 64k or 16m",
 * or "'--siez' is not an option; did you mean --size?". */
pl_status options_set(struct options *options, const char *name, const char *value, enum option_source source,
                      struct pl_error *error);
/* The rows of a command line: words[1] to words[count - 1]; GNU rules ("--", "-n4", "--size=3m", unique prefixes,
 * operands anywhere unless `stops_at_operand`: then what follows the first one belongs to it). */
pl_status options_take_words(struct options *options, int count, char *const *words, bool stops_at_operand,
                             struct pl_error *error);
/* Does this word, "--name", "-x" or "-abx", take the next one as its value? `tables` ends with NULL. */
bool options_take_next(const struct option_row *const *tables, const char *word);
/* Variables of this process that begin with the prefix: the rest is a name in upper case, '_' for '-'. */
pl_status options_take_environment(struct options *options, const char *prefix, struct pl_error *error);
/* A keyword file: lines "name value", comments behind # or %. */
pl_status options_take_file(struct options *options, const char *path, struct pl_error *error);

/* Is there such a row, by name or alias? */
bool options_knows(const struct options *options, const char *name);
/* Does it say what is measured (no OPTION_NO_INPUT)? */
bool options_is_input(const struct options *options, const char *name);
/* Was it given, and by whom? `name` must be a row's. */
bool options_given(const struct options *options, const char *name);
enum option_source options_source(const struct options *options, const char *name);
/* The value as text, such that options_set() takes it. */
void options_text(const struct options *options, const char *name, struct text *out);
/* Calls `put` for each row that was given by anyone but a default and is an input: canonical texts. With several lines
 * (OPTION_EACH, OPTION_CALL with OPTION_REPEATS) it is called for each. */
void options_each_given(const struct options *options, void (*put)(void *context, const char *name, const char *value),
                        void *context);

/* The row's name that `word` is most likely meant to be; NULL: none is near. */
const char *options_nearest(const struct options *options, const char *word);

/* ---- what is printed of rows; `tables` ends with NULL ---- */

/* "  -s, --size=SIZE         bytes that each rank writes (16m)", wrapped at 79 columns. */
void options_print_help(const struct option_row *const *tables, FILE *stream);
/* "  filesize       size of the test file" and what it allows below it: rows (ended by {0}) of a keyword file. */
void options_print_keywords(const struct option_row *rows, FILE *stream);
/* A text in which scdoc finds nothing to act upon. */
void option_print_man_text(const char *text, FILE *stream);
/* The OPTIONS section of a man page, as scdoc reads it. */
void options_print_man(const struct option_row *const *tables, FILE *stream);
/* An array of objects: name, letter, type, default, min, max, choices, help. */
void options_put_json(const struct option_row *const *tables, struct json *json, const char *key);
/* What a row allows, as messages have it: "whole numbers from 1 to 100, separated by blanks or commas". */
void option_allowed(const struct option_row *row, struct text *out);

/* The words of a choice, as a sentence lists them. */
void option_add_choices(const char *choices, struct text *out);

#endif
