/* Parts of a file as memory, for many small pieces: a copy costs nanoseconds where a system call costs microseconds.
 *
 * Where places are accessed again and again, they stay mapped (storage_hold). Copies are made only inside the file,
 * and for stores only where blocks are allocated, so that they cannot fail for want of room. What can still go wrong,
 * such as another process that cuts the file meanwhile, raises SIGBUS: the copy then ends early, and the caller does
 * the same with system calls, which give the true error. The last page of a file can be accessed behind the file's
 * end without a fault, and what is stored there is in no file. So the size is looked at before and after each copy.
 * Without a cut in between, all that was copied is in the file (or was read from it); with one, and the file still
 * shorter, the caller does it again; with one, and the file longer again, it is as if the copy had been before the
 * cut. Under a fault plan nothing is mapped: every access passes the plan. */
#ifndef PIOLET_ENGINE_STORAGE_STORAGE_MAP_H
#define PIOLET_ENGINE_STORAGE_STORAGE_MAP_H

#include "engine/storage/storage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { STORAGE_MAP_LEAST = 8 << 20 }; /* bytes: what one copy may need with its surroundings */

/* How much the process may have mapped, of all its files, when another part of this one is mapped. Nothing of a file is
 * mapped before this is called, and nothing with less than STORAGE_MAP_LEAST: what is mapped of it then is dropped. */
void storage_map_allow(struct storage *storage, int64_t bytes);
bool storage_map_allowed(const struct storage *storage);
/* Is it a file of this machine, of which the system keeps pages in memory? Requests to others take far longer. */
bool storage_is_near(struct storage *storage);
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

/* ---- parts that stay mapped ---- */
/* Mapped parts of a file that stay mapped between accesses.
 *
 * The first store through a new mapping is a fault of the system for each page, or for each 2 MiB where the file is
 * cached in large pages: two to thirty times the cost of the copy itself. So a part of the file that is accessed for
 * the second time stays mapped, and from then on an access is nothing but a copy.
 *
 * What is held is dropped when the file is synced, cut or closed through this handle. When another process cuts the
 * file, it is as told above: the file is looked at before and after each copy. Every thread may use what
 * is held; whoever drops a part that is in use leaves it to its last user. */

/* The file is divided into stretches, of which each is known to have been accessed or not: exactly for the first 4 GiB,
 * and beyond those as if the file began anew. */
enum { STORAGE_HOLD_STRETCH = 1 << 20, STORAGE_HOLD_STRETCHES = 4096 };

struct storage_held;
struct storage_hold {
    pthread_mutex_t mutex;      /* guards the rest */
    struct storage_held *first; /* in the order of their last use */
    uint64_t seen[STORAGE_HOLD_STRETCHES / 64];
    int64_t told_ns; /* the file's time of change, where it was set here */
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

/* ---- budget ---- */
/* How much of its files a process may have mapped. Mapped pages are those of the page cache, but count as memory of the
 * process, and batch systems end jobs for that. */

/* An eighth of what the job's memory control groups and the machine leave (base/limits.h), or of `job_bytes` if that is
 * less, is for all ranks of the node together; this is what one of `ranks` gets, in whole MiB. At most an eighth of its
 * free address space, and never more than 512 MiB. UINT64_MAX: no limit. */
int64_t storage_budget(uint64_t job_bytes, int ranks);

/* The same from numbers. */
int64_t storage_budget_of(uint64_t memory_left, uint64_t addresses_left, int ranks);

/* ---- by a call or by a copy ---- */
/* Contiguous writes to places that are written again and again: by a system call, or by copies into what stays mapped
 * of the file (storage_hold). Which is quicker is seen by doing both.
 *
 * Large ones: a write(2) locks the file, so that ranks which write to the same file wait for each other; copies do not.
 * Small ones: where the file is cached in large pages, a write(2) looks at all of such a page for each piece, and takes
 * 6 µs on ext4 where a copy with all its checks takes one; else a copy takes no less than a call. Reads gain nothing:
 * a call takes half of what the checks take. */

enum {
    STORAGE_WAY_SMALL = 4096,      /* bytes: above, copies gain little, */
    STORAGE_WAY_LARGE = 256 << 10, /* and from here on they gain by leaving the lock alone */
};

/* What is known of writes of one kind. But for `resting` guarded by the mutex of storage_hold. */
struct storage_way {
    atomic_int resting; /* writes for which no copy is tried; */
    int rest;           /* how many next time */
    int calls;          /* writes that were measured, */
    double call_cost;   /* and nanoseconds for a byte */
    double debt_ns;     /* what copies took longer than calls would have */
};

/* storage_write(), in the quicker way. */
pl_status storage_way_write(struct storage *storage, int64_t offset, const char *memory, int64_t bytes,
                            int64_t *ret_done, struct pl_error *error);

#endif
