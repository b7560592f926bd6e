#include "mpiio/storage/storage_hold.h"

#include "mpiio/mem.h"
#include "mpiio/storage/storage_core.h"

#include <assert.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

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

static void see(struct storage_hold *hold, int64_t begin, int64_t end)
{
    for (int64_t i = begin / STORAGE_HOLD_STRETCH; i <= last_stretch(begin, end); i++)
        hold->seen[i % STORAGE_HOLD_STRETCHES / 64] |= UINT64_C(1) << (i % 64);
}

void storage_hold_see(struct storage *storage, int64_t begin, int64_t end)
{
    pthread_mutex_lock(&storage->hold.mutex);
    see(&storage->hold, begin, end);
    pthread_mutex_unlock(&storage->hold.mutex);
}

/* ---- the list of what is held ---- */

/* The link that leads to a part with all of this; to NULL where there is none. */
static struct storage_held **find(struct storage_hold *hold, bool write, int64_t begin, int64_t end)
{
    struct storage_held **link = &hold->first;
    while (*link && !((*link)->begin <= begin && end <= (*link)->end && ((*link)->write || !write)))
        link = &(*link)->next;
    return link;
}

static struct storage_held *take_out(struct storage_held **link)
{
    struct storage_held *part = *link;
    *link = part->next;
    part->listed = false;
    return part;
}

static void put_in(struct storage_hold *hold, struct storage_held *part)
{
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
    if (part->listed || part->users > 0)
        return;
    munmap(part->memory, (size_t)(part->end - part->begin));
    count_out(part->end - part->begin);
    mem_free(part);
}

/* Room for `bytes` more, and counts them. Of this file, what was used longest ago makes way. */
static bool make_room(struct storage *storage, int64_t bytes)
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

static struct storage_held *map(struct storage *storage, bool write, int64_t begin, int64_t end)
{
    struct storage_held *part = mem_zalloc(1, sizeof *part);
    void *memory;
    if (!part)
        return NULL;
    part->begin = begin & ~(int64_t)(ALIGNMENT - 1);
    part->end = (end + ALIGNMENT - 1) & ~(int64_t)(ALIGNMENT - 1);
    part->write = write;
    const int64_t bytes = part->end - part->begin;
    if (!make_room(storage, bytes)) {
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
    struct storage_held **link = find(hold, write, begin, end), *part = *link;
    if (part) {
        take_out(link);
        put_in(hold, part);
        return part;
    }
    part = map(storage, write, begin, end);
    if (part && is_seen(hold, begin, end))
        put_in(hold, part);
    see(hold, begin, end);
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
    struct timespec now; /* as exact as the system's own times of change */
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec == hold->told.tv_sec && now.tv_nsec == hold->told.tv_nsec)
        return true;
    /* only the owner may leave the time of access alone */
    if (futimens(storage->fd, times) != 0 && futimens(storage->fd, NULL) != 0)
        return false;
    hold->told = now;
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
        const struct storage_held *part = *find(hold, write, at, at + 1);
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
