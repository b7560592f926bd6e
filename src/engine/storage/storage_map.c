#include "engine/storage/storage_map.h"
#include "base/bus_guard.h"
#include "base/clock.h"
#include "base/limits.h"
#include "engine/mem.h"
#include "engine/storage/storage_core.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
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

bool storage_is_near(struct storage *storage)
{
    const struct storage_map_system *system = get_system(storage);
    return system >= LOCAL && system < LOCAL + sizeof LOCAL / sizeof LOCAL[0];
}

bool storage_map_allowed(const struct storage *storage)
{
    return atomic_load_explicit(&storage->map_bytes_max, memory_order_relaxed) >= STORAGE_MAP_LEAST;
}

void storage_map_allow(struct storage *storage, int64_t bytes)
{
    assert(bytes >= 0);
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
static bool storage_map_is_there(struct storage *storage, const struct storage_map_range *range)
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
    assert(range->offset >= 0 && range->bytes >= 0);
    enum { SPARE = 4 << 20 }; /* a mapping is somewhat longer than what is used */
    struct storage_hold_use use;
    if (range->offset > INT64_MAX - SPARE - range->bytes || !storage->backend->map || !storage_map_allowed(storage))
        return false;
    if (!bus_guard_ready()) { /* the program may change that at any time */
        storage_hold_drop(storage);
        return false;
    }
    if (!storage_map_is_there(storage, range) && !make_allocated(storage, range))
        return false;
    if (!storage_hold_take(storage, range->write, range->offset, range->offset + range->bytes, &use))
        return false;
    const bool whole = bus_guard_run(use.base, use.bytes, use.memory, copy, arg);
    const bool told = storage_hold_give(storage, &use);
    return whole && told && is_still_there(storage, range);
}

/* ---- The budget of a process ------------------------------------------------------------------------------------- */

enum { SHARE = 8 };
static const uint64_t MIB = 1 << 20, MOST = 512 << 20;

static uint64_t storage_budget_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

int64_t storage_budget_of(uint64_t memory_left, uint64_t addresses_left, int ranks)
{
    assert(ranks > 0);
    const uint64_t bytes = storage_budget_least(memory_left / SHARE / (uint64_t)ranks, addresses_left / SHARE);
    assert(bytes <= memory_left && bytes <= addresses_left);
    return (int64_t)(storage_budget_least(bytes, MOST) / MIB * MIB);
}

int64_t storage_budget(uint64_t job_bytes, int ranks)
{
    return storage_budget_of(storage_budget_least(cgroup_memory_left(), job_bytes), address_space_left(), ranks);
}

/* ---- Parts that stay mapped -------------------------------------------------------------------------------------- */

enum {
    /* Linux maps a large page of its cache by one fault, where addresses and offsets are aligned alike; else it looks
     * at all parts of the large page for each small one: 10 to 100 times the cost. So what is mapped is longer than
     * what is used, and may go beyond the end of the file. */
    ALIGNMENT = 2 << 20,
    FAULT_BYTES = 64 << 10, /* more faults than one for so many bytes: see has_gone_cold() */
};

/* Of all files of the process, held or in use: neither its address space nor what counts as its memory may get out of
 * hand. The bytes' limit is that of the storage (storage_map_allow()). */
enum { MAPS_MAX = 512 };
static atomic_int maps_count;
static _Atomic int64_t maps_bytes;

struct storage_held {
    struct storage_held *next;
    char *memory;
    int64_t begin, end; /* bytes of the file */
    bool write;
    bool again;  /* it has been used before */
    bool listed; /* else it ends with its last user */
    int users;
};

void storage_hold_init(struct storage_hold *hold)
{
    pthread_mutex_init(&hold->mutex, NULL);
}

void storage_hold_clear(struct storage_hold *hold)
{
    assert(!hold->first);
    pthread_mutex_destroy(&hold->mutex);
}

/* ---- what has been accessed before ---- */

static int64_t last_stretch(int64_t begin, int64_t end)
{
    const int64_t first = begin / STORAGE_HOLD_STRETCH, last = (end - 1) / STORAGE_HOLD_STRETCH;
    return last - first < STORAGE_HOLD_STRETCHES ? last : first + STORAGE_HOLD_STRETCHES - 1;
}

static bool is_seen(const struct storage_hold *hold, int64_t begin, int64_t end)
{
    for (int64_t i = begin / STORAGE_HOLD_STRETCH; i <= last_stretch(begin, end); i++)
        if (!(hold->seen[i % STORAGE_HOLD_STRETCHES / 64] >> (i % 64) & 1))
            return false;
    return true;
}

static void storage_hold_mark(struct storage_hold *hold, int64_t begin, int64_t end)
{
    for (int64_t i = begin / STORAGE_HOLD_STRETCH; i <= last_stretch(begin, end); i++)
        hold->seen[i % STORAGE_HOLD_STRETCHES / 64] |= UINT64_C(1) << (i % 64);
}

void storage_hold_see(struct storage *storage, int64_t begin, int64_t end)
{
    pthread_mutex_lock(&storage->hold.mutex);
    storage_hold_mark(&storage->hold, begin, end);
    pthread_mutex_unlock(&storage->hold.mutex);
}

/* ---- the list of what is held ---- */

/* The link that leads to a part with all of this; to NULL where there is none. */
static struct storage_held **storage_hold_find(struct storage_hold *hold, bool write, int64_t begin, int64_t end)
{
    struct storage_held **link = &hold->first;
    while (*link && !((*link)->begin <= begin && end <= (*link)->end && ((*link)->write || !write)))
        link = &(*link)->next;
    return link;
}

static struct storage_held *take_out(struct storage_held **link)
{
    struct storage_held *part = *link;
    assert(part && part->listed);
    *link = part->next;
    part->listed = false;
    return part;
}

static void put_in(struct storage_hold *hold, struct storage_held *part)
{
    assert(!part->listed);
    part->next = hold->first;
    hold->first = part;
    part->listed = true;
}

/* False where that is too much: nothing has changed then. */
static bool count_in(int64_t bytes, int64_t bytes_max)
{
    const bool few = atomic_fetch_add(&maps_count, 1) < MAPS_MAX;
    const bool fits = atomic_fetch_add(&maps_bytes, bytes) + bytes <= bytes_max;
    if (few && fits)
        return true;
    atomic_fetch_sub(&maps_count, 1);
    atomic_fetch_sub(&maps_bytes, bytes);
    return false;
}

static void count_out(int64_t bytes)
{
    atomic_fetch_sub(&maps_count, 1);
    const int64_t before = atomic_fetch_sub(&maps_bytes, bytes);
    assert(before >= bytes);
    (void)before;
}

static void end_unless_used(struct storage_held *part)
{
    assert(part->users >= 0 && part->begin < part->end);
    if (part->listed || part->users > 0)
        return;
    munmap(part->memory, (size_t)(part->end - part->begin));
    count_out(part->end - part->begin);
    mem_free(part);
}

/* Room for `bytes` more, and counts them. Of this file, what was used longest ago makes way. */
static bool storage_hold_make_room(struct storage *storage, int64_t bytes)
{
    const int64_t bytes_max = atomic_load_explicit(&storage->map_bytes_max, memory_order_relaxed);
    while (!count_in(bytes, bytes_max)) {
        struct storage_held **last = NULL;
        for (struct storage_held **link = &storage->hold.first; *link; link = &(*link)->next)
            if ((*link)->users == 0)
                last = link;
        if (!last)
            return false;
        end_unless_used(take_out(last));
    }
    return true;
}

/* ---- one use ---- */

static struct storage_held *storage_hold_map(struct storage *storage, bool write, int64_t begin, int64_t end)
{
    struct storage_held *part = mem_zalloc(1, sizeof *part);
    void *memory;
    if (!part)
        return NULL;
    part->begin = begin & ~(int64_t)(ALIGNMENT - 1);
    part->end = (end + ALIGNMENT - 1) & ~(int64_t)(ALIGNMENT - 1);
    part->write = write;
    const int64_t bytes = part->end - part->begin;
    if (!storage_hold_make_room(storage, bytes)) {
        mem_free(part);
        return NULL;
    }
    if (storage->backend->map(storage->fd, write, part->begin, (size_t)bytes, &memory) < 0) {
        count_out(bytes);
        mem_free(part);
        return NULL;
    }
    part->memory = memory;
    return part;
}

/* It stays where this is not the first access to these places, since then it will not be the last one either. */
static struct storage_held *find_or_map(struct storage *storage, bool write, int64_t begin, int64_t end)
{
    struct storage_hold *hold = &storage->hold;
    struct storage_held **link = storage_hold_find(hold, write, begin, end), *part = *link;
    if (part) {
        take_out(link);
        put_in(hold, part);
        return part;
    }
    part = storage_hold_map(storage, write, begin, end);
    if (part && is_seen(hold, begin, end))
        put_in(hold, part);
    storage_hold_mark(hold, begin, end);
    return part;
}

static long faults_so_far(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_minflt : 0;
}

/* Where there cannot be many, they are not looked at: a small access would be slower by a third. */
static bool counts_faults(struct storage_hold_use *use, int64_t bytes)
{
    enum { PAGE_BYTES = 4096 };
    use->faults_most = (long)(use->bytes / FAULT_BYTES);
    use->counts = use->write && use->again && bytes / PAGE_BYTES + 2 > use->faults_most;
    return use->counts;
}

bool storage_hold_take(struct storage *storage, bool write, int64_t begin, int64_t end,
                       struct storage_hold_use *ret_use)
{
    assert(begin >= 0 && begin < end);
    pthread_mutex_lock(&storage->hold.mutex);
    struct storage_held *part = find_or_map(storage, write, begin, end);
    if (part) {
        *ret_use = (struct storage_hold_use){.part = part,
                                             .memory = part->memory + (begin - part->begin),
                                             .base = part->memory,
                                             .bytes = (size_t)(part->end - part->begin),
                                             .write = write,
                                             .again = part->again};
        part->again = true;
        part->users++;
    }
    pthread_mutex_unlock(&storage->hold.mutex);
    if (part && counts_faults(ret_use, end - begin))
        ret_use->faults = faults_so_far();
    return part != NULL;
}

/* After the system has stored pages, it faults again when they are next written, for each small page even where the
 * first fault was for a large one. New mappings have large ones again. */
static bool has_gone_cold(const struct storage_hold_use *use)
{
    return use->counts && faults_so_far() - use->faults > use->faults_most;
}

static void drop_all(struct storage_hold *hold)
{
    while (hold->first)
        end_unless_used(take_out(&hold->first));
}

/* Where no page is touched for the first time, nothing but this tells the file's time of change. It is set before the
 * call returns: a program that is killed later has told it. False: the system does not let us. */
static bool tell_change(struct storage *storage)
{
    struct storage_hold *hold = &storage->hold;
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
    const int64_t now_ns = clock_read_ns(CLOCK_REALTIME_COARSE); /* as exact as the system's own times of change */
    if (now_ns == hold->told_ns)
        return true;
    /* only the owner may leave the time of access alone */
    if (futimens(storage->fd, times) != 0 && futimens(storage->fd, NULL) != 0)
        return false;
    hold->told_ns = now_ns;
    return true;
}

bool storage_hold_give(struct storage *storage, const struct storage_hold_use *use)
{
    struct storage_hold *hold = &storage->hold;
    struct storage_held *part = use->part;
    const bool cold = has_gone_cold(use);
    pthread_mutex_lock(&hold->mutex);
    const bool told = !use->write || tell_change(storage);
    if (cold) /* the other parts of the file are no better: it is stored as one */
        drop_all(hold);
    assert(part->users > 0);
    part->users--;
    end_unless_used(part);
    pthread_mutex_unlock(&hold->mutex);
    return told;
}

/* ---- all of it ---- */

enum storage_ground storage_hold_ground(struct storage *storage, bool write, int64_t begin, int64_t end)
{
    struct storage_hold *hold = &storage->hold;
    enum storage_ground ground = STORAGE_HELD;
    pthread_mutex_lock(&hold->mutex);
    for (int64_t at = begin; at < end && ground == STORAGE_HELD;) {
        const struct storage_held *part = *storage_hold_find(hold, write, at, at + 1);
        if (part)
            at = part->end;
        else
            ground = is_seen(hold, begin, end) ? STORAGE_SEEN : STORAGE_NEW;
    }
    pthread_mutex_unlock(&hold->mutex);
    return ground;
}

void storage_hold_drop(struct storage *storage)
{
    struct storage_hold *hold = &storage->hold;
    pthread_mutex_lock(&hold->mutex);
    drop_all(hold);
    pthread_mutex_unlock(&hold->mutex);
}
