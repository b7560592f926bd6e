#include "trace/trace_arena.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_WORDS = 512 };

static bool grow_heap(struct trace_arena *arena, size_t words)
{
    const size_t room = words < 2 * arena->room ? 2 * arena->room : words;
    uint64_t *grown = realloc(arena->words, room * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + arena->room, 0, (room - arena->room) * sizeof *grown);
    arena->words = grown;
    arena->room = room;
    return true;
}

bool trace_arena_init(struct trace_arena *arena)
{
    *arena = (struct trace_arena){.used = 1, .room = FIRST_WORDS, .grow = grow_heap};
    arena->words = calloc(FIRST_WORDS, sizeof *arena->words);
    arena->control = calloc(1, sizeof *arena->control);
    if (arena->words && arena->control)
        return true;
    trace_arena_clear(arena);
    return false;
}

void trace_arena_clear(struct trace_arena *arena)
{
    free(arena->words);
    free(arena->control);
    *arena = (struct trace_arena){0};
}

trace_ref trace_arena_take(struct trace_arena *arena, size_t bytes)
{
    const size_t words = (bytes + 7) / 8;
    const size_t needed = arena->used + words;
    if (needed > UINT32_MAX || (needed > arena->room && !arena->grow(arena, needed)))
        return 0;
    const trace_ref ref = (trace_ref)arena->used;
    arena->used = needed;
    return ref;
}
