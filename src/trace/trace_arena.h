/* Memory for the records of a trace: it only grows, and its owner says how (in the heap, or as a mapped file). */
#ifndef PIOLET_TRACE_ARENA_H
#define PIOLET_TRACE_ARENA_H

#include "trace/trace_record.h"

#include <stdbool.h>

struct trace_arena {
    uint64_t *words;                                       /* may move when it grows; word 0 is not used */
    size_t used, room;                                     /* in words */
    struct trace_control *control;                         /* never moves */
    bool (*grow)(struct trace_arena *arena, size_t words); /* room for at least so many; false: impossible */
};

/* In the heap. */
bool trace_arena_init(struct trace_arena *arena);
void trace_arena_clear(struct trace_arena *arena);

/* New, zeroed; 0: it could not grow. Pointers into the arena are void after it. */
trace_ref trace_arena_take(struct trace_arena *arena, size_t bytes);

static inline void *trace_arena_at(const struct trace_arena *arena, trace_ref ref)
{
    return arena->words + ref;
}

#endif
