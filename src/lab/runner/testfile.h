/* Test files: what a benchmark writes and reads, by a name that the user gave. The rules (ADR 0017):
 *
 * - A file that was there before is overwritten only if it is ours, or with --overwrite; looked at before any I/O.
 * - Ours is what the mark beside it, ".NAME.piolet", says: a file that a run kept, with the inode, size and time of
 *   change that it had then; or one that a killed run left, born while that run wrote the mark.
 * - Test files go at the end of the run, not before: later blocks may read them. Those stay that are to be kept, and
 *   those that were there before.
 *
 * The process that looks after the file calls: rank 0, or the rank whose own it is. No MPI. */
#ifndef PIOLET_LAB_TESTFILE_H
#define PIOLET_LAB_TESTFILE_H

#include "base/status.h"

#include <stdbool.h>

/* May a run write there? Touches nothing. */
pl_status testfile_check(const char *path, bool overwrite, struct pl_error *error);

/* The same, and this process looks after the file until testfile_end(). Again with the same file: kept if any says so.
 */
pl_status testfile_take(const char *path, bool keep, bool overwrite, struct pl_error *error);

/* Keeps a file that was taken; others are not ours to look after. */
void testfile_keep(const char *path);

/* For the other ranks that open the file, once the one who looks after it has cleared it: an interrupted run removes it
 * where the end of the run would. */
void testfile_watch(const char *path, bool keep);

/* Removes what the name leads to, not a link: it may stand for a place on another file system. The next file there is
 * ours. No file is no error; a device stays; a directory is refused. */
pl_status testfile_clear(const char *path, struct pl_error *error);

/* What failed half way is of no use, and others need its room: goes now, if it would go at the end. */
void testfile_drop(const char *path);

/* The end of the run: removes or marks what was taken and cleared, and forgets all. */
void testfile_end(void);

#endif
