/* Memory for the records of a trace: it only grows. Its owner may keep a copy elsewhere, such as in a file: then every
 * change is noted, and `publish` carries the noted ones over. Nothing is ever read back from the copy. */
#ifndef PIOLET_TRACE_ARENA_H
#define PIOLET_TRACE_ARENA_H

#include "trace/trace_record.h"

#include <stdbool.h>

struct trace_change {
    trace_ref ref;
    uint32_t words;
};

struct trace_arena {
    uint64_t *words;               /* may move when it grows; word 0 is not used */
    size_t used, room;             /* in words */
    struct trace_control *control; /* never moves */

    /* The copy; NULL: there is none. Changes are carried over in the order in which they were noted, then the control
     * block, its tail last. False: it cannot be kept any more. */
    bool (*publish)(struct trace_arena *arena);
    struct trace_change *changes; /* since it was called last */
    size_t change_count, change_room;
    bool failed; /* no memory for a change */
};

bool trace_arena_init(struct trace_arena *arena);
void trace_arena_clear(struct trace_arena *arena);

/* New, zeroed; 0: it could not grow. Pointers into the arena are void after it. */
trace_ref trace_arena_take(struct trace_arena *arena, size_t bytes);

/* That a record was, or is about to be, changed. */
bool trace_arena_more_changes(struct trace_arena *arena); /* makes room; false: no memory */
static inline void trace_arena_note(struct trace_arena *arena, trace_ref ref, size_t bytes)
{
    if (arena->publish && (arena->change_count < arena->change_room || trace_arena_more_changes(arena)))
        arena->changes[arena->change_count++] = (struct trace_change){ref, (uint32_t)((bytes + 7) / 8)};
}

/* Carry them over by single stores, in order, so that a process killed at any instruction leaves a whole copy. First
 * the records, of which `to` has room for as many as the arena has; then the control block, which makes them valid. */
void trace_arena_copy_records(const struct trace_arena *arena, uint64_t *to);
void trace_arena_copy_control(const struct trace_arena *arena, struct trace_control *to);

static inline void *trace_arena_at(const struct trace_arena *arena, trace_ref ref)
{
    return arena->words + ref;
}

#endif
