/* A growing string, and the escaping that keeps a value on one line of a text format. */
#ifndef PIOLET_BASE_TEXT_H
#define PIOLET_BASE_TEXT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* {0} is an empty text. `data` is owned by the text, NUL-terminated once anything was appended.
 * A failed allocation sets `failed` and later appends do nothing: check once at the end. */
struct text {
    char *data;
    size_t length;
    size_t capacity;
    bool failed;
};

void text_clear(struct text *text);
void text_append(struct text *text, const char *bytes, size_t count);
void text_add(struct text *text, const char *string);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Control characters, marks of direction, bytes that are not UTF-8 and backslash become \n, \t, \\ or \xHH. Undone by
 * text_unescape(). */
void text_add_escaped(struct text *text, const char *string);

/* For people: whatever a terminal would act upon (control characters, marks of direction, bytes that are not UTF-8)
 * becomes \n, \t, \e or \xHH; the rest stays. For every text that comes from a file, the environment or a command
 * line and goes to a terminal. */
void text_add_visible(struct text *text, const char *string);
/* The same for a stream of bytes, in which line ends and tabs are our own. Returns how many it has taken: a sequence
 * that is cut by the end is left for the next call. */
size_t text_add_screen(struct text *text, const char *bytes, size_t count);

/* Words behind what stands on a line up to `column` (0: nothing), in lines of up to `width` characters; further ones
 * begin with `hang` blanks. Only a word that is too long for a line makes it longer. Line ends in `words` are kept. */
void text_add_wrapped(struct text *text, const char *words, size_t column, size_t hang, size_t width);

/* The same on a stream, in 80 columns; ends the line. */
void text_print_wrapped(FILE *stream, const char *words, size_t column, size_t hang);
/* Prints a text filled up with blanks to `width`, and two blanks at least; returns the column it leads to from
 * `column`. */
size_t text_print_cell(FILE *stream, const char *string, size_t column, size_t width);

/* A word as a shell takes it: in quotes where it needs them. */
void text_add_word(struct text *text, const char *word);

/* Undoes the escaping in place; false if the string holds a broken escape. */
bool text_unescape(char *string);

/* The text, or "" when nothing was ever appended. */
const char *text_get(const struct text *text);

/* Appends what a file holds. */
pl_status text_read_file(const char *path, struct text *text, struct pl_error *error);

/* strdup that treats NULL as "" (caller frees). */
char *text_dup(const char *string);

#endif
