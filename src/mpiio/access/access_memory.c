#include "mpiio/access/access_memory.h"

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

void access_memory_take(struct access_memory *memory, char *to, int64_t bytes)
{
    while (bytes > 0) {
        int64_t piece;
        const char *from = access_memory_piece(memory, bytes, &piece);
        memcpy(to, from, (size_t)piece);
        to += piece;
        bytes -= piece;
    }
}

void access_memory_give(struct access_memory *memory, const char *from, int64_t bytes)
{
    while (bytes > 0) {
        int64_t piece;
        char *to = access_memory_piece(memory, bytes, &piece);
        memcpy(to, from, (size_t)piece);
        from += piece;
        bytes -= piece;
    }
}
