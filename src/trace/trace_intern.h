/* Texts, kinds of calls, keys and details of a trace: each is kept once, and found again by what it says. */
#ifndef PIOLET_TRACE_INTERN_H
#define PIOLET_TRACE_INTERN_H

#include "trace/trace_arena.h"
#include "trace/trace_format.h"

struct trace_intern {
    struct trace_arena *arena;
    struct trace_intern_slot {
        uint64_t hash;
        trace_ref ref; /* 0: free */
        int32_t number;
    } * slots;
    size_t count, room; /* room: a power of two, or 0 */
    int32_t details;
};

void trace_intern_init(struct trace_intern *intern, struct trace_arena *arena);
void trace_intern_clear(struct trace_intern *intern);

/* All of them: 0 (details: -1) where there is no memory. */
trace_ref trace_intern_text(struct trace_intern *intern, const char *text);
trace_ref trace_intern_call(struct trace_intern *intern, const char *function, const struct trace_kind *kind);
trace_ref trace_intern_key(struct trace_intern *intern, const struct trace_record_key *key);
int32_t trace_intern_detail(struct trace_intern *intern, const char *text);

#endif
