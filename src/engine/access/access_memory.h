/* The memory side of an access: a stream of bytes over a buffer and its type. */
#ifndef PIOLET_ENGINE_ACCESS_MEMORY_H
#define PIOLET_ENGINE_ACCESS_MEMORY_H

#include "engine/access/access.h"
#include "engine/storage/storage_map.h"
#include "engine/typemap/typemap.h"

#include <sys/uio.h>

struct access_memory {
    struct typemap_cursor cursor;
    char *base;
};

pl_status access_memory_init(struct access_memory *memory, struct typemap *map, char *base, struct pl_error *error);
void access_memory_clear(struct access_memory *memory);
void access_memory_seek(struct access_memory *memory, int64_t position);

/* The next `bytes` bytes of the stream, to or from one place. */
void access_memory_take(struct access_memory *memory, char *to, int64_t bytes);
void access_memory_take_past(struct access_memory *memory, char *to, int64_t bytes); /* see access_memory_copy_past() */
void access_memory_give(struct access_memory *memory, const char *from, int64_t bytes);

/* The next bytes of the stream, to (`write`) or from a run of places. */
void access_memory_move(struct access_memory *memory, char *place, const struct typemap_run *pieces, bool write);

/* `count` pieces of `length` bytes, in order (which matters where those of `to` overlap). */
void access_memory_copy(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t length,
                        int64_t count);

/* The same past the caches, where that is quicker: to places that nobody looks at soon. Others see it after
 * storage_stream_end(). */
void access_memory_copy_past(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t length,
                             int64_t count);

/* Not pointer arithmetic: with MPI_BOTTOM the base is NULL and displacements are addresses. */
static inline char *access_memory_at(const char *base, int64_t displacement)
{
    return (char *)((uintptr_t)base + (uintptr_t)displacement); /* NOLINT(performance-no-int-to-ptr) */
}

/* The next piece: at most `limit` bytes side by side. */
static inline char *access_memory_piece(struct access_memory *memory, int64_t limit, int64_t *ret_bytes)
{
    int64_t displacement = 0;
    *ret_bytes = typemap_cursor_next(&memory->cursor, limit, &displacement);
    return access_memory_at(memory->base, displacement);
}

/* ---- through maps ---- */
/* Small pieces by copies through mapped parts of the file (storage_map.h), where that is quicker than anything else. */

/* Parts of the file that are mapped at a time are at most this long, and begin and end at its multiples: so that
 * large pages are mapped as one, and the processor's caches hold what is used. */
enum { ACCESS_MAP_BYTES = 4 << 20 };

/* A part of the file with some of an access's data. */
struct access_map {
    struct storage *storage;
    bool write;
    int64_t begin, end;          /* bytes of the file */
    int64_t bytes;               /* of data in it */
    int64_t piece;               /* mean length of a piece */
    int64_t base;                /* byte of the file that is displacement 0 of `file` */
    struct typemap_cursor *file; /* both stand before the data, and behind them after success */
    struct access_memory *memory;
};

/* Could any part of this access be quicker so? Of a view that is monotone and not contiguous. */
bool access_map_may(struct storage *storage, const struct access_request *request);

/* How well this rank knows the file between two places: with STORAGE_HELD an access is nothing but a copy.
 * STORAGE_NEW also where it would not be made by copies at all. */
enum storage_ground access_map_ground(struct storage *storage, const struct access_request *request, int64_t begin,
                                      int64_t end);

/* Moves all data of the part. False: it is not worth it here, or cannot be; nothing has changed but bytes of the same
 * data. */
bool access_map_run(const struct access_map *map);

#endif
