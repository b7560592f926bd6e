/* Notes: what is learned while a test runs, kept as text, and written into the block file behind it.
 * A line is "KEY VALUE" or, of a remark, "VALUE"; escaped, so that none has a line's end inside. */
#ifndef PIOLET_BASE_NOTES_H
#define PIOLET_BASE_NOTES_H

#include "base/blockfile.h"
#include "base/text.h"

/* `key` NULL: a remark. */
void notes_add(struct text *notes, const char *key, const char *value);

typedef void notes_put(void *context, const char *key, const char *value);

/* Calls `put` for each pair, in order. */
void notes_each(const struct text *notes, notes_put *put, void *context);

void notes_put_params(const struct text *notes, struct blockfile_writer *writer);

/* Pairs are hints that the MPI says it uses. */
void notes_put_hints_used(const struct text *notes, struct blockfile_writer *writer);

/* Remarks are warnings. */
void notes_put_warnings(const struct text *notes, struct blockfile_writer *writer);

#endif
