/* Inside of folding: for the files trace_fold*.c only.
 *
 * Nodes are made aside and linked into the chain that ends in `tail`; the arena's control block gets the new tail when
 * an event is done with. What the old chain needs is given back only after that. */
#ifndef PIOLET_TRACE_FOLD_CORE_H
#define PIOLET_TRACE_FOLD_CORE_H

#include "base/checked.h"
#include "trace/trace_fold.h"

enum {
    FOLD_COPIES = 3,         /* of a row, with values in line: a loop */
    FOLD_LIST_COPIES = 8,    /* of a row, with any values: a loop with lists */
    FOLD_SHORT = 32,         /* a loop of one call with fewer turns may go into a list; that many in line leave one */
    FOLD_LIST_EVENTS = 1024, /* in a turn of a loop with lists, at most */
    FOLD_WINDOW = 2 * FOLD_LIST_COPIES * TRACE_FOLD_SPAN
};

/* One event on its way, its key kept already. */
struct fold_item {
    trace_ref key;
    int64_t value, begin_ns, duration_ns, gap_ns;
};

/* A node at the end of the chain. */
struct fold_entry {
    trace_ref node;
    uint64_t hash;   /* of what it does, without values */
    uint64_t prefix; /* of all entries up to this one */
};

/* The body of the loop at the end of the chain, in a row. */
enum fold_step_kind { FOLD_CALL, FOLD_BEGIN, FOLD_END };
struct fold_step {
    enum fold_step_kind kind;
    trace_ref node; /* the leaf, or the loop that begins or ends here */
    int begin;      /* END: the step of its BEGIN */
    int64_t turns;
    trace_ref chunk; /* of a list: its last one, the last value in it, and whether its last word is step and count */
    int64_t last;
    bool plain;
};

struct trace_fold_core {
    struct trace_arena *arena;
    bool failed;
    trace_ref tail;
    struct fold_entry window[FOLD_WINDOW];
    int window_count;
    uint64_t power[FOLD_WINDOW + 1];

    trace_ref loop; /* the tail, where it is a loop whose next event is known; else 0 */
    bool listed;
    struct fold_step *steps;
    int step_count, step_room;
    int at, level; /* the step that comes next; how many loops it is in, but one */
    int64_t turn[TRACE_RECORD_LEVELS];
    int64_t partial;                                  /* events of the turn that was begun */
    struct fold_item partial_items[FOLD_LIST_EVENTS]; /* these, where the loop is listed */
    trace_ref partial_leaves[FOLD_LIST_EVENTS];       /* and where they went */

    trace_ref free_leaf[TRACE_RECORD_LEVELS + 1], free_loop;
    trace_ref *dead; /* nodes to give back when the new tail is valid */
    size_t dead_count, dead_room;
};

static inline struct trace_record_node *fold_node(const struct trace_fold_core *core, trace_ref ref)
{
    return trace_arena_at(core->arena, ref);
}
static inline struct trace_record_leaf *fold_leaf(const struct trace_fold_core *core, trace_ref ref)
{
    return trace_arena_at(core->arena, ref);
}
static inline struct trace_record_loop *fold_loop(const struct trace_fold_core *core, trace_ref ref)
{
    return trace_arena_at(core->arena, ref);
}
static inline bool fold_is_loop(const struct trace_fold_core *core, trace_ref ref)
{
    return fold_node(core, ref)->kind == TRACE_RECORD_LOOP;
}
/* That a leaf gets or loses calls; what stands before their number, and strides, never change. */
static inline struct trace_record_leaf *fold_leaf_to_change(const struct trace_fold_core *core, trace_ref ref)
{
    enum { BEFORE = offsetof(struct trace_record_leaf, count) };
    trace_arena_note(core->arena, ref + BEFORE / sizeof(uint64_t), sizeof(struct trace_record_leaf) - BEFORE);
    return trace_arena_at(core->arena, ref);
}
/* trace_fold_node.c: single nodes and subtrees. What cannot be made is 0, and core->failed is set. */
trace_ref fold_new_leaf(struct trace_fold_core *core, int levels);
trace_ref fold_new_loop(struct trace_fold_core *core);
void fold_kill(struct trace_fold_core *core, trace_ref root); /* with all below it, when the new tail is valid */
void fold_kill_one(struct trace_fold_core *core, trace_ref ref);
void fold_bury(struct trace_fold_core *core); /* it is valid now */
int64_t fold_events(const struct trace_fold_core *core, trace_ref root);
int fold_height(const struct trace_fold_core *core, trace_ref root); /* loops inside of each other */
/* The nodes of a body in the order of time; the caller has room for body_count of them. */
void fold_body(const struct trace_fold_core *core, const struct trace_record_loop *loop, trace_ref *ret_nodes);
void fold_add_time(struct trace_record_leaf *leaf, const struct fold_item *item);
/* The times of `count` calls of the leaf go over to another one: the mean, since single ones are not kept. */
void fold_share_time(struct trace_record_leaf *from, struct trace_record_leaf *to, int64_t count);

/* trace_fold_loop.c: the loop at the end of the chain. */
void fold_enter(struct trace_fold_core *core, trace_ref ref);
bool fold_expects(const struct trace_fold_core *core, trace_ref key, int64_t value);
void fold_take(struct trace_fold_core *core, const struct fold_item *item);

/* trace_fold_part.c: a turn that was begun and goes on otherwise than expected becomes nodes behind its loop. */
void fold_materialize(struct trace_fold_core *core);

/* trace_fold_list.c: values one by one. */
bool fold_list_start(struct trace_fold_core *core, trace_ref leaf);
void fold_list_add(struct trace_fold_core *core, struct fold_step *end, int64_t value);
/* Whether its last `count` steps were the same. */
bool fold_list_in_line(const struct trace_fold_core *core, const struct fold_step *end, int count, int64_t *ret_step);

/* trace_fold_tail.c: the end of the chain. */
void fold_push(struct trace_fold_core *core, trace_ref node);
void fold_pop(struct trace_fold_core *core, int count); /* nodes at the end; they are not given back */
void fold_seal(struct trace_fold_core *core);           /* nothing more comes into the last node */
bool fold_close(struct trace_fold_core *core); /* the last nodes became a loop, which is entered; false: they cannot */

/* trace_fold_make.c: loops out of the last nodes. */
bool fold_make_loop(struct trace_fold_core *core, int span);
bool fold_make_list(struct trace_fold_core *core, int span);
bool fold_make_run(struct trace_fold_core *core);   /* of short loops and single calls of one key */
void fold_break_list(struct trace_fold_core *core); /* the last turns of a list that fell into line leave it */

#endif
