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

/* ---- transposed ---- */

/* A matrix whose columns lie in memory as the file's rows: each row of the file is a run of single elements, far apart,
 * and the next row is the same one element further. One row at a time would fetch a cache line for each element. So
 * rows are gathered, and copied in tiles of which every line is used whole, on both sides. */
enum { TILE_ROWS = 32, TILE_BYTES = 64, TILE_ELEMENT_MAX = 16, TILE_ROWS_LEAST = 4, TILE_COLUMNS_LEAST = 16 };

struct tiles {
    const struct access_memory *memory;
    bool write;
    struct typemap_run first; /* the others are like it */
    char *rows[TILE_ROWS];    /* where each goes to, or comes from */
    int count;
};

/* Up to TILE_BYTES of each row, by way of a small array: so that lines which lie a power of two apart, and push each
 * other out of the cache, are touched once. `length` is known to the compiler. */
#define TILE_COPY(known)                                                                                               \
    case known:                                                                                                        \
        for (int64_t c = 0; c < columns; c++, memory += stride)                                                        \
            for (int r = 0; r < rows; r++)                                                                             \
                if (write)                                                                                             \
                    memcpy(tile[r] + c * (known), memory + r * (known), known);                                        \
                else                                                                                                   \
                    memcpy(memory + r * (known), tile[r] + c * (known), known);                                        \
        break

static void tile_copy(char tile[TILE_ROWS][TILE_BYTES], char *memory, int64_t stride, int64_t length, int64_t columns,
                      int rows, bool write)
{
    switch (length) {
        TILE_COPY(4);
        TILE_COPY(8);
        TILE_COPY(16);
    default:
        assert(!"a length that tiles are not made for");
    }
}

static void tiles_move(const struct tiles *tiles)
{
    const struct typemap_run *run = &tiles->first;
    const int64_t wide = TILE_BYTES / run->length;
    char tile[TILE_ROWS][TILE_BYTES];
    for (int64_t c = 0; c < run->count; c += wide) {
        const int64_t columns = run->count - c < wide ? run->count - c : wide;
        const size_t bytes = (size_t)(columns * run->length);
        char *memory = access_memory_at(tiles->memory->base, run->displacement + c * run->stride);
        for (int r = 0; r < tiles->count && !tiles->write; r++)
            memcpy(tile[r], tiles->rows[r] + c * run->length, bytes);
        tile_copy(tile, memory, run->stride, run->length, columns, tiles->count, tiles->write);
        for (int r = 0; r < tiles->count && tiles->write; r++)
            memcpy(tiles->rows[r] + c * run->length, tile[r], bytes);
    }
}

static void tiles_flush(struct tiles *tiles)
{
    struct typemap_run run = tiles->first;
    if (tiles->count >= TILE_ROWS_LEAST) {
        tiles_move(tiles);
    } else {
        for (int r = 0; r < tiles->count; r++, run.displacement += run.length) {
            char *memory = access_memory_at(tiles->memory->base, run.displacement);
            if (tiles->write)
                access_memory_copy(tiles->rows[r], run.length, memory, run.stride, run.length, run.count);
            else
                access_memory_copy(memory, run.stride, tiles->rows[r], run.length, run.length, run.count);
        }
    }
    tiles->count = 0;
}

/* Elements of one row do not reach into those of another, so that the order of copies does not matter. */
static bool tiles_take_such(const struct typemap_run *run)
{
    return run->length <= TILE_ELEMENT_MAX && (run->length == 8 || run->length == 4 || run->length == 16) &&
           run->count >= TILE_COLUMNS_LEAST && run->stride >= TILE_ROWS * run->length;
}

static void tiles_add(struct tiles *tiles, char *place, const struct typemap_run *run)
{
    const struct typemap_run *first = &tiles->first;
    if (tiles->count == TILE_ROWS ||
        (tiles->count > 0 &&
         (run->displacement != first->displacement + tiles->count * first->length || run->length != first->length ||
          run->stride != first->stride || run->count != first->count)))
        tiles_flush(tiles);
    if (tiles->count == 0)
        tiles->first = *run;
    tiles->rows[tiles->count++] = place;
}

void access_memory_move(struct access_memory *memory, char *place, const struct typemap_run *pieces, bool write)
{
    struct tiles tiles = {.memory = memory, .write = write};
    for (int64_t i = 0; i < pieces->count; i++) {
        char *to = place + i * pieces->stride;
        for (int64_t left = pieces->length; left > 0;) {
            struct typemap_run run;
            const int64_t moved = typemap_cursor_run(&memory->cursor, left, &run);
            char *own = access_memory_at(memory->base, run.displacement);
            if (tiles_take_such(&run)) {
                tiles_add(&tiles, to, &run);
            } else {
                tiles_flush(&tiles);
                if (write)
                    access_memory_copy(to, run.length, own, run.stride, run.length, run.count);
                else
                    access_memory_copy(own, run.stride, to, run.length, run.length, run.count);
            }
            to += moved;
            left -= moved;
        }
    }
    tiles_flush(&tiles);
}

/* ---- one piece ---- */

void access_memory_take(struct access_memory *memory, char *to, int64_t bytes)
{
    access_memory_move(memory, to, &(struct typemap_run){.length = bytes, .count = 1}, true);
}

void access_memory_take_past(struct access_memory *memory, char *to, int64_t bytes)
{
    while (bytes > 0) {
        struct typemap_run run;
        const int64_t taken = typemap_cursor_run(&memory->cursor, bytes, &run);
        access_memory_copy_past(to, run.length, access_memory_at(memory->base, run.displacement), run.stride,
                                run.length, run.count);
        to += taken;
        bytes -= taken;
    }
}

void access_memory_give(struct access_memory *memory, const char *from, int64_t bytes)
{
    access_memory_move(memory, (char *)from, &(struct typemap_run){.length = bytes, .count = 1}, false);
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
    enum { PAST_LEAST = 128 }; /* bytes of a piece of memory: shorter ones are not copied past the caches anyway */
    const struct typemap_shape *shape = typemap_shape(map->memory->cursor.map);
    if (map->write && map->bytes >= STREAM_BYTES && shape->size / shape->pieces >= PAST_LEAST)
        for (int64_t i = 0; i < run->count; i++, place += run->stride)
            access_memory_take_past(map->memory, place, run->length);
    else
        access_memory_move(map->memory, place, run, map->write);
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
