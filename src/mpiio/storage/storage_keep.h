/* Small accesses that follow each other at nearby places, through a part of the file that stays mapped between them: a
 * copy of a kilobyte takes a tenth of a microsecond, a system call for it half of one or two.
 *
 * storage_map.h tells where a file may be mapped, and what happens when that goes wrong. Here the mapping outlives the
 * call, so the file may be cut behind its back. By the handle itself: the mapping is dropped. By another handle: MPI
 * asks for MPI_File_sync between such accesses, which drops it. By a program that knows nothing of MPI: the size is
 * looked at again every few dozen accesses, and a fault in between ends in a system call. One thread uses it, the one
 * that made it; others go on by system calls. Whether it is quicker is measured, for each part of the file. */
#ifndef PIOLET_MPIIO_STORAGE_STORAGE_KEEP_H
#define PIOLET_MPIIO_STORAGE_STORAGE_KEEP_H

#include "mpiio/storage/storage.h"

#include <stdatomic.h>

enum { STORAGE_KEEP_PIECE_MAX = 4096 }; /* longer ones gain little */

struct storage_keep {
    atomic_bool busy;  /* somebody is at it */
    const void *owner; /* the thread that made the mapping */
    char *memory;      /* NULL: nothing is mapped */
    size_t mapped_bytes;
    int64_t mapped_at;  /* the byte of the file at `memory` */
    int64_t begin, end; /* what may be accessed: inside the file, and allocated where it is written */
    bool write;
    bool written;      /* since the mapping was last dropped: the file's time of change is not told yet */
    int unchecked;     /* accesses since the file was looked at */
    int64_t near;      /* part of the file of the last access by a call, */
    int calls;         /* how many there were in it, one after the other, */
    int64_t calls_ns;  /* and their time, but for the first */
    bool trying;       /* are copies quicker than calls? */
    int copies;        /* on trial, */
    int64_t copies_ns; /* and their time, with that of making mappings */
    int resting, rest; /* accesses for which no mapping is tried; how many next time */
};

/* storage_read() or storage_write() of at most STORAGE_KEEP_PIECE_MAX bytes. */
pl_status storage_keep_access(struct storage *storage, bool write, int64_t offset, char *memory, int64_t bytes,
                              int64_t *ret_done, struct pl_error *error);
/* The file may have been cut, or its time of change is wanted. Any thread may call it. */
void storage_keep_drop(struct storage *storage);

#endif
