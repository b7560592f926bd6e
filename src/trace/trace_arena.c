#include "trace/trace_arena.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_WORDS = 512, FIRST_CHANGES = 256 };

static bool grow(struct trace_arena *arena, size_t words)
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
    *arena = (struct trace_arena){.used = 1, .room = FIRST_WORDS};
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
    free(arena->changes);
    *arena = (struct trace_arena){0};
}

trace_ref trace_arena_take(struct trace_arena *arena, size_t bytes)
{
    const size_t words = (bytes + 7) / 8;
    const size_t needed = arena->used + words;
    if (needed > UINT32_MAX || (needed > arena->room && !grow(arena, needed)))
        return 0;
    const trace_ref ref = (trace_ref)arena->used;
    arena->used = needed;
    trace_arena_note(arena, ref, words * sizeof *arena->words);
    return ref;
}

bool trace_arena_more_changes(struct trace_arena *arena)
{
    const size_t room = arena->change_room ? 2 * arena->change_room : FIRST_CHANGES;
    struct trace_change *grown = realloc(arena->changes, room * sizeof *grown);
    if (!grown) {
        arena->failed = true;
        return false;
    }
    arena->changes = grown;
    arena->change_room = room;
    return true;
}

/* Not memcpy(): it may store a word in parts. */
static void copy_words(uint64_t *to, const uint64_t *from, size_t count) /* NOLINT(readability-non-const-parameter) */
{
    for (size_t i = 0; i < count; i++)
        atomic_store_explicit((_Atomic uint64_t *)(to + i), from[i], memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

void trace_arena_copy_records(const struct trace_arena *arena, uint64_t *to)
{
    for (size_t i = 0; i < arena->change_count; i++) {
        const struct trace_change *change = &arena->changes[i];
        copy_words(to + change->ref, arena->words + change->ref, change->words);
    }
}

void trace_arena_copy_control(const struct trace_arena *arena, struct trace_control *to)
{
    const struct trace_control *from = arena->control;
    to->files = from->files;
    to->details = from->details;
    trace_control_copy_comm(from, to);
    atomic_signal_fence(memory_order_seq_cst);
    to->tail = from->tail;
    atomic_signal_fence(memory_order_seq_cst);
}
