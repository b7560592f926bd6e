/* A folded trace in the making: what is said once, events that are folded while they come, and calls that become
 * events. The tracer and the reader of full traces share it, so that both give the same tree. */
#ifndef PIOLET_TRACE_COLLECT_H
#define PIOLET_TRACE_COLLECT_H

#include "trace/trace_format.h"
#include "trace/trace_record.h"

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
trace_ref trace_intern_call(struct trace_intern *intern, const char *function, const struct trace_kind *kind);
trace_ref trace_intern_key(struct trace_intern *intern, const struct trace_record_key *key);
int32_t trace_intern_detail(struct trace_intern *intern, const char *text);

/* Folds a stream of events while it comes: what repeats becomes a loop, loops that repeat become loops of loops.
 *
 * An event is a key (all that is equal in calls that look alike: function, file, bytes …) and a value (the offset). A
 * loop is found when a row of up to TRACE_FOLD_SPAN nodes stands three times at the end of the chain with values that
 * move by a constant each time. From then on, each event is only compared with what the loop says comes next. Where
 * rows repeat and the values move by no rule, the loop keeps a list of them.
 *
 * Exact: trace_expand_next() gives every event back, in order. Memory grows with the nodes and lists, never with turns.
 */

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

/* The same where the event is what the loop at the end says, and the arena has no other changes: these go straight to
 * the words of the copy, in the order in which publish() would carry them over. False: nothing was done. */
bool trace_fold_add_quick(struct trace_fold *fold, const struct trace_fold_event *event, uint64_t *copy);

/* From calls as trace_format.h has them to the events of a folded trace. The tracer and the reader of full traces share
 * it, so that both give the same tree. */

struct trace_collect {
    struct trace_arena *arena;
    struct trace_fold fold;
    int64_t comm_events, comm_collectives, comm_gap_ns; /* that the nodes hold */
};

bool trace_collect_init(struct trace_collect *collect, struct trace_arena *arena);
void trace_collect_clear(struct trace_collect *collect);

/* All return false where there is no memory any more. */

/* The communication that the control block has counted since the call before becomes a node. */
bool trace_collect_comm(struct trace_collect *collect);

/* A call, and `fields` as trace_add_field_*() made them. The first of these, if it is a number, is the value of a call
 * that has no offset (where a seek goes, the displacement of a view); an error's class is taken for its code, since
 * codes differ from one time to the next; an open is entered among the files; all else is detail. */
bool trace_collect_call(struct trace_collect *collect, const struct trace_call *call, const char *fields);

#endif
