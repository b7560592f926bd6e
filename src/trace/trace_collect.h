/* From calls as trace_format.h has them to the events of a folded trace. The tracer and the reader of full traces share
 * it, so that both give the same tree. */
#ifndef PIOLET_TRACE_COLLECT_H
#define PIOLET_TRACE_COLLECT_H

#include "trace/trace_fold.h"

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
