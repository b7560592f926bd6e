/* The place of a benchmark's test file: looked at before anything is run, cleared, and reached by POSIX calls where no
 * implementation may be judge of itself. */
#ifndef PIOLET_LAB_PLACE_H
#define PIOLET_LAB_PLACE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Can a test file of so many bytes be made there? A file that is there will be removed: its space counts as free. */
pl_status place_check(const char *file, int64_t bytes, struct pl_error *error);

/* What removing the file would free; 0 where it has other names, or there is none. */
int64_t place_taken_bytes(const char *file);

/* "tmpfs" where the file stands in memory and nowhere else, so that it cannot be read cold; else NULL. */
const char *place_in_memory(const char *file);

/* Takes the file out of the page cache of this node. No file is no error: nothing of it is cached. */
pl_status place_drop(const char *file, struct pl_error *error);

/* pread or pwrite of exactly `bytes`: what a signal or a full disk cut short goes on, or fails. `doing` is for the
 * message. */
pl_status place_move(const char *file, const char *doing, int descriptor, bool writes, void *data, size_t bytes,
                     int64_t offset, struct pl_error *error);

/* Turns errno into a status: "doing 'file': why". */
pl_status place_fail(const char *file, const char *doing, struct pl_error *error);

#endif
