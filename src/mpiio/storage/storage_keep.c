#include "mpiio/storage/storage_keep.h"

#include "base/bus_guard.h"
#include "mpiio/storage/storage_core.h"
#include "mpiio/storage/storage_map.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

enum {
    PART_BYTES = 2 << 20, /* of the file, mapped at once: as long as the largest page of the cache */
    CALLS_ENOUGH = 8,     /* so many accesses in one part, one after the other, and it is mapped */
    USES_LEAST = 32,      /* no mapping for fewer accesses to come */
    COPIES_FEW = 64,      /* after so many it may be plain that copies are quicker; else it is seen */
    COPIES_MANY = 2048,   /* after these, when first touches of pages have been made up for, or have not */
    UNCHECKED_MOST = 128,
    REST_FIRST = 64,
    REST_TRIED = 4096, /* at least, after copies were tried in vain */
    REST_MOST = 1 << 16,
};

static _Thread_local char me; /* its address stands for the thread */

struct piece {
    bool write;
    int64_t offset;
    char *memory;
    int64_t bytes;
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void unmap(struct storage_keep *keep)
{
    if (keep->memory)
        munmap(keep->memory, keep->mapped_bytes);
    keep->memory = NULL;
}

static void have_a_rest(struct storage_keep *keep)
{
    unmap(keep);
    keep->calls = 0;
    keep->rest = keep->rest < REST_FIRST ? REST_FIRST : keep->rest < REST_MOST ? 2 * keep->rest : REST_MOST;
    keep->resting = keep->rest;
}

/* ---- the mapping ---- */

/* Where the file, or what is allocated of it, ends behind `offset`. */
static int64_t find_end(struct storage *storage, bool write, int64_t offset)
{
    int64_t end = 0, ignored;
    if (write || storage_map_holes_cost(storage))
        return storage->backend->hole(storage->fd, offset);
    return storage->backend->size(storage->fd, &end, &ignored) == 0 ? end : 0;
}

static bool is_still_there(struct storage *storage)
{
    struct storage_keep *keep = &storage->keep;
    keep->unchecked = 0;
    return bus_guard_ready_here() && find_end(storage, keep->write, keep->begin) >= keep->end;
}

/* Maps the part of the file around an access, or from it on where there is a hole before it. */
static bool map_part(struct storage *storage, const struct piece *piece)
{
    struct storage_keep *keep = &storage->keep;
    unmap(keep);
    if (storage_map_reach(storage, piece->write) == 0 || !bus_guard_ready_here())
        return false;
    const int64_t part = piece->offset / PART_BYTES * PART_BYTES;
    int64_t begin = part, end = find_end(storage, piece->write, begin);
    if (end < piece->offset)
        end = find_end(storage, piece->write, begin = piece->offset);
    if (part > INT64_MAX - PART_BYTES)
        return false;
    end = end < part + PART_BYTES ? end : part + PART_BYTES;
    if (end - piece->offset < piece->bytes * USES_LEAST) /* most go on from here; what is written last ends here */
        return false;
    void *memory;
    if (storage->backend->map(storage->fd, piece->write, part, PART_BYTES, &memory) < 0)
        return false;
    keep->memory = memory;
    keep->mapped_bytes = PART_BYTES;
    keep->mapped_at = part;
    keep->begin = begin;
    keep->end = end;
    keep->write = piece->write;
    keep->owner = &me;
    keep->unchecked = 0;
    if (!keep->trying) { /* else the part before was left in the middle of a trial, which goes on here */
        keep->copies = 0;
        keep->copies_ns = 0;
        keep->trying = true;
    }
    return true;
}

/* ---- an access ---- */

static void copy(char *mapped, void *arg)
{
    const struct piece *piece = arg;
    if (piece->write)
        memcpy(mapped, piece->memory, (size_t)piece->bytes);
    else
        memcpy(piece->memory, mapped, (size_t)piece->bytes);
}

/* Did the copies so far take less time than as many calls? */
static void judge(struct storage_keep *keep)
{
    const bool quicker = keep->copies_ns / keep->copies < keep->calls_ns / (CALLS_ENOUGH - 1);
    if (!quicker && keep->copies < COPIES_MANY)
        return;
    keep->trying = false;
    if (quicker) {
        keep->rest = 0;
        return;
    }
    keep->rest = keep->rest < REST_TRIED / 2 ? REST_TRIED / 2 : keep->rest;
    have_a_rest(keep);
}

static bool copy_guarded(struct storage_keep *keep, struct piece *piece)
{
    char *mapped = keep->memory + (piece->offset - keep->mapped_at);
    if (!bus_guard_run_quick(keep->memory, keep->mapped_bytes, mapped, copy, piece)) {
        have_a_rest(keep);
        return false;
    }
    keep->written |= piece->write;
    return true;
}

static bool by_copy(struct storage *storage, struct piece *piece)
{
    struct storage_keep *keep = &storage->keep;
    if (!keep->memory || keep->owner != &me || (piece->write && !keep->write) || piece->offset < keep->begin ||
        piece->offset > keep->end - piece->bytes)
        return false;
    if (++keep->unchecked > UNCHECKED_MOST && !is_still_there(storage)) {
        unmap(keep);
        return false;
    }
    if (!keep->trying)
        return copy_guarded(keep, piece);
    const int64_t began = now_ns();
    const bool copied = copy_guarded(keep, piece);
    keep->copies_ns += now_ns() - began;
    if (copied && (++keep->copies == COPIES_FEW || keep->copies == COPIES_MANY))
        judge(keep);
    return copied;
}

static pl_status call(struct storage *storage, const struct piece *piece, int64_t *ret_done, struct pl_error *error)
{
    return piece->write ? storage_write(storage, piece->offset, piece->memory, piece->bytes, ret_done, error)
                        : storage_read(storage, piece->offset, piece->memory, piece->bytes, ret_done, error);
}

static pl_status by_call(struct storage *storage, const struct piece *piece, int64_t *ret_done, struct pl_error *error)
{
    struct storage_keep *keep = &storage->keep;
    if (keep->resting > 0) {
        keep->resting--;
        return call(storage, piece, ret_done, error);
    }
    const int64_t near = piece->offset / PART_BYTES;
    if (near != keep->near || keep->calls == 0) {
        keep->near = near;
        keep->calls = 1;
        keep->calls_ns = 0;
        return call(storage, piece, ret_done, error);
    }
    const int64_t began = now_ns();
    const pl_status status = call(storage, piece, ret_done, error);
    const int64_t ended = now_ns();
    keep->calls_ns += ended - began;
    if (++keep->calls < CALLS_ENOUGH)
        return status;
    keep->calls = 0;
    if (map_part(storage, piece))
        keep->copies_ns += now_ns() - ended;
    else
        have_a_rest(keep);
    return status;
}

pl_status storage_keep_access(struct storage *storage, bool write, int64_t offset, char *memory, int64_t bytes,
                              int64_t *ret_done, struct pl_error *error)
{
    struct storage_keep *keep = &storage->keep;
    struct piece piece = {.write = write, .offset = offset, .bytes = bytes};
    piece.memory = memory;
    if (!storage->backend->map || atomic_exchange_explicit(&keep->busy, true, memory_order_acquire))
        return call(storage, &piece, ret_done, error);
    pl_status status = PL_OK;
    if (by_copy(storage, &piece))
        *ret_done = bytes;
    else
        status = by_call(storage, &piece, ret_done, error);
    atomic_store_explicit(&keep->busy, false, memory_order_release);
    return status;
}

void storage_keep_drop(struct storage *storage)
{
    struct storage_keep *keep = &storage->keep;
    while (atomic_exchange_explicit(&keep->busy, true, memory_order_acquire))
        sched_yield();
    unmap(keep);
    if (keep->written) {
        const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
        futimens(storage->fd, times); /* only the file's owner may; else it keeps the time of the last new page */
        keep->written = false;
    }
    keep->calls = keep->resting = keep->rest = 0;
    atomic_store_explicit(&keep->busy, false, memory_order_release);
}
