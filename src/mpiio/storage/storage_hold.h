/* Mapped parts of a file that stay mapped between accesses.
 *
 * The first store through a new mapping is a fault of the system for each page, or for each 2 MiB where the file is
 * cached in large pages: two to thirty times the cost of the copy itself. So a part of the file that is accessed for
 * the second time stays mapped, and from then on an access is nothing but a copy.
 *
 * What is held is dropped when the file is synced, cut or closed through this handle. When another process cuts the
 * file, storage_map.h tells what happens: the file is looked at before and after each copy. Every thread may use what
 * is held; whoever drops a part that is in use leaves it to its last user. */
#ifndef PIOLET_MPIIO_STORAGE_STORAGE_HOLD_H
#define PIOLET_MPIIO_STORAGE_STORAGE_HOLD_H

#include "mpiio/storage/storage.h"

#include <pthread.h>
#include <time.h>

/* The file is divided into stretches, of which each is known to have been accessed or not: exactly for the first 4 GiB,
 * and beyond those as if the file began anew. */
enum { STORAGE_HOLD_STRETCH = 1 << 20, STORAGE_HOLD_STRETCHES = 4096 };

struct storage_held;
struct storage_hold {
    pthread_mutex_t mutex;      /* guards the rest */
    struct storage_held *first; /* in the order of their last use */
    uint64_t seen[STORAGE_HOLD_STRETCHES / 64];
    struct timespec told; /* the file's time of change, where it was set here */
};
void storage_hold_init(struct storage_hold *hold);
void storage_hold_clear(struct storage_hold *hold); /* after a drop */

/* A part of the file as memory, for one copy. */
struct storage_hold_use {
    struct storage_held *part;
    char *memory; /* where byte `begin` of the file is */
    char *base;   /* and all that is mapped: for bus_guard.h */
    size_t bytes;
    bool write;
    bool again;       /* its pages have been touched before */
    bool counts;      /* faults are looked at: */
    long faults;      /* this thread has had so many before, */
    long faults_most; /* and more than these tell that the system has stored the pages */
};
/* From what is held, or mapped anew. False: it cannot be mapped, or would be more than is allowed. */
bool storage_hold_take(struct storage *storage, bool write, int64_t begin, int64_t end,
                       struct storage_hold_use *ret_use);
/* False: the file's time of change could not be told; it is that of an earlier write. */
bool storage_hold_give(struct storage *storage, const struct storage_hold_use *use);

/* How well a part of the file is known: what comes next is how an access of it would be done. */
enum storage_ground {
    STORAGE_NEW,  /* not accessed before */
    STORAGE_SEEN, /* accessed before: will be held from the next copy on */
    STORAGE_HELD,
};
enum storage_ground storage_hold_ground(struct storage *storage, bool write, int64_t begin, int64_t end);
/* It has been accessed by other means than a copy. */
void storage_hold_see(struct storage *storage, int64_t begin, int64_t end);

/* Whatever stays mapped of the file is not needed any more: it may have been cut. Any thread may call it. */
void storage_hold_drop(struct storage *storage);

#endif
