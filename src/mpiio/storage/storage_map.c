#include "mpiio/storage/storage_map.h"

#include "base/bus_guard.h"
#include "mpiio/storage/storage_core.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* Local file systems, whose pages are the file for every process that opens it. Measured: a write of a small piece on
 * ext4 costs 1.2 to 5 µs, mapping its page 0.1 to 0.4 µs, or 1.7 µs where the file was written in pieces of one page. A
 * page of tmpfs costs as much as a call. The others are thought to be in between. */
static const struct storage_map_system {
    unsigned long magic;
    int64_t reach;
    bool holes_cost;     /* a page of a hole takes room even if it is only read */
    const char *refused; /* why files there are not mapped; NULL: they are */
} LOCAL[] = {
    {EXT4_SUPER_MAGIC, 64, false, NULL}, /* ext2 and ext3, too */
    {XFS_SUPER_MAGIC, 16, false, NULL},  {F2FS_SUPER_MAGIC, 4, false, NULL},
    {BTRFS_SUPER_MAGIC, 4, false, NULL}, {TMPFS_MAGIC, 1, true, NULL},
};
/* All other files: reach 0. */
static const struct storage_map_system FAULTS = {.refused = "a fault plan is active"};
static const struct storage_map_system DIRECT = {.refused = "the file is opened with O_DIRECT"};
static const struct storage_map_system UNREADABLE = {.refused = "the file cannot be read"};
static const struct storage_map_system SPECIAL = {.refused = "not a regular file"};
static const struct storage_map_system FOREIGN = {.refused = "the file system is not ext4, XFS, F2FS, Btrfs or tmpfs"};

static const struct storage_map_system *find_system(const struct storage *storage)
{
    struct stat facts;
    struct statfs where;
    if (!storage->backend->map)
        return &FAULTS;
    if (storage->flags & O_DIRECT)
        return &DIRECT;
    if ((storage->flags & O_ACCMODE) == O_WRONLY)
        return &UNREADABLE;
    if (fstat(storage->fd, &facts) != 0 || !S_ISREG(facts.st_mode) || fstatfs(storage->fd, &where) != 0)
        return &SPECIAL;
    for (size_t i = 0; i < sizeof LOCAL / sizeof LOCAL[0]; i++)
        if ((unsigned long)where.f_type == LOCAL[i].magic)
            return &LOCAL[i];
    return &FOREIGN;
}

static const struct storage_map_system *get_system(struct storage *storage)
{
    const struct storage_map_system *system = atomic_load_explicit(&storage->map_system, memory_order_relaxed);
    if (!system) { /* two threads find the same */
        system = find_system(storage);
        atomic_store_explicit(&storage->map_system, system, memory_order_relaxed);
    }
    return system;
}

bool storage_map_allowed(const struct storage *storage)
{
    return atomic_load_explicit(&storage->map_bytes_max, memory_order_relaxed) >= STORAGE_MAP_LEAST;
}

void storage_map_allow(struct storage *storage, int64_t bytes)
{
    atomic_store_explicit(&storage->map_bytes_max, bytes, memory_order_relaxed);
    if (!storage_map_allowed(storage))
        storage_hold_drop(storage);
}

const char *storage_map_refused(struct storage *storage)
{
    if (get_system(storage)->refused)
        return get_system(storage)->refused;
    if (!storage_map_allowed(storage))
        return "too little memory is left";
    return bus_guard_is_lost() ? "the program has changed the handler of SIGBUS" : NULL;
}

int64_t storage_map_reach(struct storage *storage, bool write)
{
    if (!storage_map_allowed(storage) || (write && (storage->flags & O_ACCMODE) != O_RDWR))
        return 0;
    return get_system(storage)->reach;
}

bool storage_map_holes_cost(struct storage *storage)
{
    return get_system(storage)->holes_cost;
}

/* Inside the file, and where a hole would be a matter also without one. */
static bool is_there(struct storage *storage, const struct storage_map_range *range)
{
    int64_t end, ignored;
    if (range->write || storage_map_holes_cost(storage))
        end = storage->backend->hole(storage->fd, range->offset);
    else if (storage->backend->size(storage->fd, &end, &ignored) != 0)
        return false;
    return end >= range->offset + range->bytes;
}

/* What was allocated and never written looks like a hole, but has its blocks. */
static bool make_allocated(const struct storage *storage, const struct storage_map_range *range)
{
    return range->write && range->allocate && storage->backend->allocate(storage->fd, range->offset, range->bytes) == 0;
}

/* After the copy. A read behind the end gave zeros, or what others stored there in vain. */
static bool is_still_there(const struct storage *storage, const struct storage_map_range *range)
{
    int64_t size, ignored;
    return storage->backend->size(storage->fd, &size, &ignored) == 0 && size >= range->offset + range->bytes;
}

bool storage_map_copy(struct storage *storage, const struct storage_map_range *range,
                      void (*copy)(char *memory, void *arg), void *arg)
{
    enum { SPARE = 4 << 20 }; /* a mapping is somewhat longer than what is used */
    struct storage_hold_use use;
    if (range->offset > INT64_MAX - SPARE - range->bytes || !storage->backend->map || !storage_map_allowed(storage))
        return false;
    if (!bus_guard_ready()) { /* the program may change that at any time */
        storage_hold_drop(storage);
        return false;
    }
    if (!is_there(storage, range) && !make_allocated(storage, range))
        return false;
    if (!storage_hold_take(storage, range->write, range->offset, range->offset + range->bytes, &use))
        return false;
    const bool whole = bus_guard_run(use.base, use.bytes, use.memory, copy, arg);
    const bool told = storage_hold_give(storage, &use);
    return whole && told && is_still_there(storage, range);
}
