/* Parts of a file as memory, for many small pieces: a copy costs nanoseconds where a system call costs microseconds.
 *
 * Where places are accessed again and again, they stay mapped (storage_hold.h). Copies are made only inside the file,
 * and for stores only where blocks are allocated, so that they cannot fail for want of room. What can still go wrong,
 * such as another process that cuts the file meanwhile, raises SIGBUS: the copy then ends early, and the caller does
 * the same with system calls, which give the true error. Under a fault plan nothing is mapped: every access passes the
 * plan. */
#ifndef PIOLET_MPIIO_STORAGE_STORAGE_MAP_H
#define PIOLET_MPIIO_STORAGE_STORAGE_MAP_H

#include "mpiio/storage/storage.h"

/* How many pages of the file each small piece may stand for, so that mapping is still quicker than a system call for
 * each; 0: this file cannot be mapped (another file system, special files, O_DIRECT, no right to read). */
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
 * was cut short by a fault in the mapping; anything may have been copied then. */
bool storage_map_copy(struct storage *storage, const struct storage_map_range *range,
                      void (*copy)(char *memory, void *arg), void *arg);

/* Whatever stays mapped of the file is not needed any more: it may have been cut, or its time of change is wanted. Any
 * thread may call it. */
void storage_map_drop(struct storage *storage);

#endif
