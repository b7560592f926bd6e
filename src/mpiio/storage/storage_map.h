/* Parts of a file as memory, for many small pieces: a copy costs nanoseconds where a system call costs microseconds.
 *
 * Where places are accessed again and again, they stay mapped (storage_hold.h). Copies are made only inside the file,
 * and for stores only where blocks are allocated, so that they cannot fail for want of room. What can still go wrong,
 * such as another process that cuts the file meanwhile, raises SIGBUS: the copy then ends early, and the caller does
 * the same with system calls, which give the true error. The last page of a file can be accessed behind the file's
 * end without a fault, and what is stored there is in no file. So the size is looked at before and after each copy.
 * Without a cut in between, all that was copied is in the file (or was read from it); with one, and the file still
 * shorter, the caller does it again; with one, and the file longer again, it is as if the copy had been before the
 * cut. Under a fault plan nothing is mapped: every access passes the plan. */
#ifndef PIOLET_MPIIO_STORAGE_STORAGE_MAP_H
#define PIOLET_MPIIO_STORAGE_STORAGE_MAP_H

#include "mpiio/storage/storage.h"

enum { STORAGE_MAP_LEAST = 8 << 20 }; /* bytes: what one copy may need with its surroundings */

/* How much the process may have mapped, of all its files, when another part of this one is mapped. Nothing of a file is
 * mapped before this is called, and nothing with less than STORAGE_MAP_LEAST: what is mapped of it then is dropped. */
void storage_map_allow(struct storage *storage, int64_t bytes);
bool storage_map_allowed(const struct storage *storage);
/* Why no part of the file is mapped; NULL: parts may be. */
const char *storage_map_refused(struct storage *storage);

/* How many pages of the file each small piece may stand for, so that mapping is still quicker than a system call for
 * each; 0: this file is not mapped (not allowed, another file system, special files, O_DIRECT, no right to read). */
int64_t storage_map_reach(struct storage *storage, bool write);

/* Whether a page of a hole takes room even if it is only read. */
bool storage_map_holes_cost(struct storage *storage);

struct storage_map_range {
    bool write;
    int64_t offset, bytes;
    bool allocate; /* holes, also those behind the end of the file, may be given blocks; the file then ends no earlier
                      than the range */
};

/* Calls copy(memory, arg) once, `memory` being byte `offset` of the file. False: it could not be mapped, or the copy
 * was cut short by a fault in the mapping, or the file was; anything may have been copied then. */
bool storage_map_copy(struct storage *storage, const struct storage_map_range *range,
                      void (*copy)(char *memory, void *arg), void *arg);

#endif
