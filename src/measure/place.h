/* The place of a benchmark's test file: looked at before anything is run, and cleared. */
#ifndef PIOLET_MEASURE_PLACE_H
#define PIOLET_MEASURE_PLACE_H

#include "base/status.h"

#include <stdint.h>

/* Can a test file of so many bytes be made there? A file that is there will be removed: its space counts as free. */
pl_status place_check(const char *file, int64_t bytes, struct pl_error *error);

/* "tmpfs" where the file stands in memory and nowhere else, so that it cannot be read cold; else NULL. */
const char *place_in_memory(const char *file);

/* Removes what the name leads to, not a link: it may stand for a place on another file system. No file is no error. */
pl_status place_remove(const char *file, struct pl_error *error);

#endif
