/* Inside of model_read.c: lines of a model file, their words and attributes, and messages that tell the line. */
#ifndef PIOLET_MODEL_LINE_H
#define PIOLET_MODEL_LINE_H

#include "model/model.h"

enum { MODEL_WORDS_MAX = 4, MODEL_ATTRIBUTES_MAX = 12 };

struct model_line {
    char *word[MODEL_WORDS_MAX]; /* before the attributes */
    int count;
    char *rest;       /* the line behind the first word */
    char *attributes; /* the line from the first attribute on; "" if there is none */
    struct {
        char *key, *value; /* the value without its quotes */
    } attribute[MODEL_ATTRIBUTES_MAX];
    int attribute_count;
};

struct model_lines {
    const char *name;
    const char *text, *next; /* what is left */
    const char *begin;       /* where the next sum begins */
    int number;              /* of the line that was read last, from 1 */
    char *line, *copy;       /* the line, cut into words; and once more, whole */
    struct pl_error *error;
};

/* `text` stays the caller's. Refuses a text that does not begin with `first_line`. */
pl_status model_lines_begin(struct model_lines *lines, const char *name, const char *text, const char *first_line,
                            struct pl_error *error);
void model_lines_clear(struct model_lines *lines);
/* The next line that is not empty and no comment (#); false at the end. Valid until the next one. */
bool model_line_next(struct model_lines *lines, struct model_line *ret_words);
/* The value of a key, NULL: there is none. */
const char *model_line_value(const struct model_line *words, const char *key);
/* Refuses a line with other than `count` words, or with a key that is not in the list. */
pl_status model_line_check(struct model_lines *lines, const struct model_line *words, int count,
                           const char *const *keys);
/* "end-WHAT LINES HASH": compares with the lines since the last sum; "-" for the hash is a file that a person wrote. */
pl_status model_line_sum(struct model_lines *lines, const struct model_line *words);

pl_status model_line_fail(struct model_lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Puts file, line and key before a message. */
pl_status model_line_within(struct model_lines *lines, const char *key);

/* ---- model_line.c ---- */
pl_status model_layout_read(struct model_lines *lines, const struct model_line *words, struct model *model);

/* Inside of model_*.c: what writer and reader of a model file share. */

#define MODEL_FIRST_LINE     "piolet-model 2\n"
#define MODEL_FIRST_LINE_1_0 "piolet-model 1\n" /* without communication in phases, without packed lists */

void model_step_clear(struct model_step *step);
/* The collectives of communication, a number or a formula; its leaf and ranks are set. */
pl_status model_comm_take(struct model_step *step, const char *text, struct pl_error *error);

#endif
