/* The memory side of an access: a stream of bytes over a buffer and its type. */
#ifndef PIOLET_MPIIO_ACCESS_MEMORY_H
#define PIOLET_MPIIO_ACCESS_MEMORY_H

#include "mpiio/typemap/typemap.h"

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

#endif
