#include "mpiio/access/access_memory.h"

#include "mpiio/storage/storage_stream.h"

#include <string.h>

/* NOLINTNEXTLINE(readability-non-const-parameter): it is written through later */
pl_status access_memory_init(struct access_memory *memory, struct typemap *map, char *base, struct pl_error *error)
{
    *memory = (struct access_memory){.base = base};
    return typemap_cursor_init(&memory->cursor, map, error);
}

void access_memory_clear(struct access_memory *memory)
{
    typemap_cursor_clear(&memory->cursor);
}

void access_memory_seek(struct access_memory *memory, int64_t position)
{
    typemap_cursor_seek(&memory->cursor, position);
}

/* With a length that the compiler knows, a piece is one move. */
#define COPY_LENGTH(known)                                                                                             \
    case known:                                                                                                        \
        for (; count > 0; count--, to += to_stride, from += from_stride)                                               \
            memcpy(to, from, known);                                                                                   \
        break

void access_memory_copy(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t length,
                        int64_t count)
{
    switch (length) {
        COPY_LENGTH(1);
        COPY_LENGTH(4);
        COPY_LENGTH(8);
        COPY_LENGTH(16);
        COPY_LENGTH(24);
        COPY_LENGTH(32);
        COPY_LENGTH(40);
        COPY_LENGTH(64);
        COPY_LENGTH(128);
        COPY_LENGTH(256);
    default:
        for (; count > 0; count--, to += to_stride, from += from_stride)
            memcpy(to, from, (size_t)length);
    }
}

void access_memory_copy_past(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t length,
                             int64_t count)
{
    /* Lines that are stored in part cost more than by a plain copy: the fewer whole ones there are, the sooner. */
    enum { LINE = 64, LEAST = 128, LEAST_ASKEW = 512 };
    const bool askew = ((uintptr_t)to | (uintptr_t)to_stride | (uintptr_t)length) % LINE != 0;
    if (length < (askew ? LEAST_ASKEW : LEAST)) {
        access_memory_copy(to, to_stride, from, from_stride, length, count);
        return;
    }
    for (; count > 0; count--, to += to_stride, from += from_stride)
        storage_stream(to, from, (size_t)length);
}

typedef void copy_pieces(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t length,
                         int64_t count);

static void take(struct access_memory *memory, char *to, int64_t bytes, copy_pieces *copy)
{
    while (bytes > 0) {
        struct typemap_run run;
        const int64_t taken = typemap_cursor_run(&memory->cursor, bytes, &run);
        copy(to, run.length, access_memory_at(memory->base, run.displacement), run.stride, run.length, run.count);
        to += taken;
        bytes -= taken;
    }
}

void access_memory_take(struct access_memory *memory, char *to, int64_t bytes)
{
    take(memory, to, bytes, access_memory_copy);
}

void access_memory_take_past(struct access_memory *memory, char *to, int64_t bytes)
{
    take(memory, to, bytes, access_memory_copy_past);
}

void access_memory_give(struct access_memory *memory, const char *from, int64_t bytes)
{
    while (bytes > 0) {
        struct typemap_run run;
        const int64_t given = typemap_cursor_run(&memory->cursor, bytes, &run);
        access_memory_copy(access_memory_at(memory->base, run.displacement), run.stride, from, run.length, run.length,
                           run.count);
        from += given;
        bytes -= given;
    }
}
