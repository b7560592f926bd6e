#include "engine/access/access_memory.h"
#include "engine/storage/storage_map.h"
#include "engine/storage/storage_stream.h"

#include <assert.h>
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
    assert(position >= 0);
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

static void access_memory_take_by(struct access_memory *memory, char *to, int64_t bytes, copy_pieces *copy)
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
    access_memory_take_by(memory, to, bytes, access_memory_copy);
}

void access_memory_take_past(struct access_memory *memory, char *to, int64_t bytes)
{
    access_memory_take_by(memory, to, bytes, access_memory_copy_past);
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

/* ---- Through maps of the file ------------------------------------------------------------------------------------ */

enum {
    PAGE_BYTES = 4096,
    PIECE_BYTES_MAX = 16384,  /* longer ones come near the speed of large ones by system calls */
    PIECES_MIN = 8,           /* fewer are not worth the calls that make a mapping */
    ALLOCATE_PART = 8,        /* see below */
    STREAM_BYTES = 128 << 10, /* less may well be in a cache still when the next access comes to it */
};

static int64_t mean_piece(const struct view *view)
{
    const struct typemap_shape *shape = typemap_shape(view->filetype);
    return shape->pieces > 0 ? shape->size / shape->pieces : 0;
}

bool access_map_may(struct storage *storage, const struct access_request *request)
{
    const int64_t piece = mean_piece(request->view);
    return piece > 0 && piece <= PIECE_BYTES_MAX && request->bytes / piece >= PIECES_MIN &&
           storage_map_reach(storage, request->write) > 0;
}

enum storage_ground access_map_ground(struct storage *storage, const struct access_request *request, int64_t begin,
                                      int64_t end)
{
    if (request->view->contiguous || !access_map_may(storage, request))
        return STORAGE_NEW;
    return storage_hold_ground(storage, request->write, begin, end);
}

/* ---- the copy ---- */

/* What is read is looked at by the program. What is written goes to where nobody looks soon, and past the caches. */
static void give_or_take(const struct access_map *map, char *place, const struct typemap_run *run)
{
    for (int64_t i = 0; i < run->count; i++, place += run->stride) {
        if (!map->write)
            access_memory_give(map->memory, place, run->length);
        else if (map->bytes >= STREAM_BYTES)
            access_memory_take_past(map->memory, place, run->length);
        else
            access_memory_take(map->memory, place, run->length);
    }
}

static void access_map_copy_run(const struct access_map *map, char *place, const struct typemap_run *run)
{
    if (!typemap_shape(map->memory->cursor.map)->tiles) {
        give_or_take(map, place, run);
        return;
    }
    int64_t bytes;
    char *memory = access_memory_piece(map->memory, run->length * run->count, &bytes);
    if (!map->write)
        access_memory_copy(memory, run->length, place, run->stride, run->length, run->count);
    else if (map->bytes >= STREAM_BYTES)
        access_memory_copy_past(place, run->stride, memory, run->length, run->length, run->count);
    else
        access_memory_copy(place, run->stride, memory, run->length, run->length, run->count);
}

static void access_map_copy(char *mapped, void *arg)
{
    const struct access_map *map = arg;
    int64_t left = map->bytes;
    while (left > 0) {
        struct typemap_run run;
        left -= typemap_cursor_run(map->file, left, &run);
        access_map_copy_run(map, mapped + (map->base + run.displacement - map->begin), &run);
    }
    assert(left == 0);
    storage_stream_end();
}

/* ---- the whole ---- */

bool access_map_run(const struct access_map *map)
{
    assert(map->begin < map->end && map->bytes > 0 && map->piece > 0);
    const int64_t pages = (map->end - 1) / PAGE_BYTES - map->begin / PAGE_BYTES + 1;
    const int64_t pieces = map->bytes / map->piece;
    if (pieces < PIECES_MIN || pages > pieces * storage_map_reach(map->storage, map->write))
        return false;
    const int64_t span = map->end - map->begin;
    const struct storage_map_range range = {
        .write = map->write,
        .offset = map->begin,
        .bytes = span,
        /* In a new file a page by a fault is no quicker than a write. So only where pages have several pieces each:
         * then all blocks get data anyway, and giving them room at once takes no more of it. */
        .allocate = pieces > pages && map->bytes >= span / ALLOCATE_PART,
    };
    const int64_t file_position = map->file->position, memory_position = map->memory->cursor.position;
    if (storage_map_copy(map->storage, &range, access_map_copy, (void *)map))
        return true;
    typemap_cursor_seek(map->file, file_position);
    access_memory_seek(map->memory, memory_position);
    return false;
}
