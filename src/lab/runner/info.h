/* What an MPI says of the hints of a file. */
#ifndef PIOLET_LAB_INFO_H
#define PIOLET_LAB_INFO_H

#include "base/text.h"

#include <mpi.h>
#include <stdbool.h>

/* The value of a key; NULL, and an empty `value`, where there is none. */
const char *info_get(MPI_Info info, const char *key, char value[MPI_MAX_INFO_VAL + 1]);

typedef bool info_filter(const void *context, const char *key);

/* Notes (base/notes.h) all keys of an info that `wanted` lets pass; NULL: all. */
void info_note(MPI_Info info, info_filter *wanted, const void *context, struct text *notes);

/* The same with the info that is in force for an open file. */
void info_note_file(MPI_File file, info_filter *wanted, const void *context, struct text *notes);

#endif
