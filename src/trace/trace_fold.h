/* Folds a stream of events while it comes: what repeats becomes a loop, loops that repeat become loops of loops.
 *
 * An event is a key (all that is equal in calls that look alike: function, file, bytes …) and a value (the offset). A
 * loop is found when a row of up to TRACE_FOLD_SPAN nodes stands three times at the end of the chain with values that
 * move by a constant each time. From then on, each event is only compared with what the loop says comes next. Where
 * rows repeat and the values move by no rule, the loop keeps a list of them.
 *
 * Exact: trace_expand.h gives every event back, in order. Memory grows with the nodes and lists, never with turns. */
#ifndef PIOLET_TRACE_FOLD_H
#define PIOLET_TRACE_FOLD_H

#include "trace/trace_intern.h"

enum { TRACE_FOLD_SPAN = 128 }; /* nodes in the body of a loop, at most */

struct trace_fold_event {
    struct trace_record_key key;
    int64_t value;
    int64_t begin_ns, duration_ns, gap_ns;
};

struct trace_fold {
    struct trace_intern intern;
    struct trace_fold_core *core;
};

/* Uses the arena, which must be empty, and lives as long as it does. False: no memory. */
bool trace_fold_init(struct trace_fold *fold, struct trace_arena *arena);
void trace_fold_clear(struct trace_fold *fold); /* the arena stays */

/* False: no memory; what was added before stays, and nothing may be added any more. */
bool trace_fold_add(struct trace_fold *fold, const struct trace_fold_event *event);

#endif
