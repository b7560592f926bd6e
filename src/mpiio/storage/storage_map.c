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
    bool holes_cost; /* a page of a hole takes room even if it is only read */
} LOCAL[] = {
    {EXT4_SUPER_MAGIC, 64, false}, /* ext2 and ext3, too */
    {XFS_SUPER_MAGIC, 16, false},  {F2FS_SUPER_MAGIC, 4, false}, {BTRFS_SUPER_MAGIC, 4, false}, {TMPFS_MAGIC, 1, true},
};
static const struct storage_map_system NEVER; /* all other files: reach 0 */

static const struct storage_map_system *find_system(const struct storage *storage)
{
    struct stat facts;
    struct statfs where;
    if (!storage->backend->map || (storage->flags & O_DIRECT) || (storage->flags & O_ACCMODE) == O_WRONLY)
        return &NEVER;
    if (fstat(storage->fd, &facts) != 0 || !S_ISREG(facts.st_mode) || fstatfs(storage->fd, &where) != 0)
        return &NEVER;
    for (size_t i = 0; i < sizeof LOCAL / sizeof LOCAL[0]; i++)
        if ((unsigned long)where.f_type == LOCAL[i].magic)
            return &LOCAL[i];
    return &NEVER;
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

int64_t storage_map_reach(struct storage *storage, bool write)
{
    return write && (storage->flags & O_ACCMODE) != O_RDWR ? 0 : get_system(storage)->reach;
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

bool storage_map_copy(struct storage *storage, const struct storage_map_range *range,
                      void (*copy)(char *memory, void *arg), void *arg)
{
    enum { SPARE = 4 << 20 }; /* a mapping is somewhat longer than what is used */
    struct storage_hold_use use;
    if (range->offset > INT64_MAX - SPARE - range->bytes || !storage->backend->map || !bus_guard_ready())
        return false;
    if (!is_there(storage, range) && !make_allocated(storage, range))
        return false;
    if (!storage_hold_take(storage, range->write, range->offset, range->offset + range->bytes, &use))
        return false;
    const bool whole = bus_guard_run(use.base, use.bytes, use.memory, copy, arg);
    storage_hold_give(storage, &use);
    return whole;
}

void storage_map_drop(struct storage *storage)
{
    storage_keep_drop(storage);
    storage_hold_drop(storage);
}
