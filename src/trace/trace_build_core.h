/* Inside of trace_build*.c. */
#ifndef PIOLET_TRACE_BUILD_CORE_H
#define PIOLET_TRACE_BUILD_CORE_H

#include "trace/trace_build.h"

/* What records may stand for, so that a small file cannot ask for more than a machine has. */
enum { BUILD_LEVELS_MAX = TRACE_LEVELS_MAX };
#ifdef PIOLET_FUZZ
#define BUILD_MEMORY_MAX ((size_t)1 << 20)
enum { BUILD_AGAIN = 1 << 12 };
#else
enum { BUILD_AGAIN = 1 << 20 }; /* records that are looked at more than once: those of a turn that was begun */
#define BUILD_MEMORY_MAX ((size_t)512 << 20) /* and BUILD_MEMORY_EACH bytes for each of the file's */
#endif
enum { BUILD_MEMORY_EACH = 64 };
#define BUILD_CALLS_MAX (INT64_C(1) << 53) /* calls and communication: sums of them are exact and never overflow */
#define BUILD_TIME_MAX  (INT64_C(1) << 61) /* ns: sums and differences of three fit */

struct build_values {
    trace_ref leaf;
    int64_t *values, count;
};

struct build {
    const struct trace_records *records;
    struct trace_tree *tree;
    struct pl_error *error;
    size_t visited;                        /* records of the chains: no more than fit into the arena */
    size_t memory;                         /* bytes that the tree has taken */
    int64_t calls;                         /* and communication, that the nodes stand for */
    int64_t comm_events, comm_collectives; /* that were found in the nodes */
    struct build_values *lists;            /* of the listed leaves of a turn that was begun */
    int list_count, list_last;
    struct trace_node *nodes; /* of the chain, so far */
    int node_count, node_room, detail_room;
};

/* Where a node stands: turns of the loops around it that are part of the tree, and loops of which it is one turn. */
struct build_place {
    int64_t turns[TRACE_LEVELS_MAX]; /* the outermost first */
    int depth;
    int64_t fixed[TRACE_LEVELS_MAX + 1]; /* the innermost first */
    int fixed_count;
};

/* The record at `ref`, of at least so many bytes; NULL: it lies outside, and the error is set. */
const void *build_at(struct build *build, trace_ref ref, size_t bytes);
/* Memory of the tree, within its bounds; NULL: there is none, and the error is set. */
void *build_memory(struct build *build, size_t count, size_t bytes);
const char *build_text(struct build *build, trace_ref ref);

/* A leaf as a node of the tree. `listed`: NULL, or its values there. */
pl_status build_leaf(struct build *build, trace_ref ref, const struct build_place *place, const int64_t *listed,
                     struct trace_node *ret_node);
/* The first `count` values of a listed leaf; 0: all. */
pl_status build_list(struct build *build, const struct trace_record_leaf *leaf, int64_t count,
                     struct build_values *ret_values);

pl_status build_damaged(struct build *build, const char *what);
pl_status build_no_memory(struct build *build);

#endif
