/* Inside of folding: for the files trace_fold*.c only.
 *
 * Nodes are made aside and linked into the chain that ends in `tail`; the arena's control block gets the new tail when
 * an event is done with. What the old chain needs is given back only after that. */
#ifndef PIOLET_TRACE_FOLD_CORE_H
#define PIOLET_TRACE_FOLD_CORE_H

#include "base/checked.h"
#include "trace/trace_collect.h"

#include <assert.h>

enum {
    FOLD_COPIES = 3,         /* of a row, with values in line: a loop */
    FOLD_LIST_COPIES = 8,    /* of a row, with any values: a loop with lists */
    FOLD_SHORT = 32,         /* a loop of one call with fewer turns may go into a list; that many in line leave one */
    FOLD_LIST_EVENTS = 1024, /* in a turn of a loop with lists, at most */
    FOLD_VARY_EVENTS = 3 * TRACE_FOLD_SPAN, /* any row that repeats was found in as many; then sizes may vary */
    FOLD_VARY_SPAN = 16,                    /* calls in a turn whose sizes vary, at most */
    FOLD_VARY_EVERY = 64,                   /* nodes between two searches for one */
    FOLD_MIX_CHAIN = 1024, /* nodes of the chain, from which on a program is taken for one without much order */
    FOLD_MIX_SURE = 256,   /* events that repeat in a row, before calls in any order are taken for calls in an order */
    FOLD_WINDOW = 2 * FOLD_LIST_COPIES * TRACE_FOLD_SPAN
};

/* One event on its way, its key kept already. */
struct fold_item {
    trace_ref key; /* in a turn whose sizes vary: that of its leaf */
    int64_t bytes; /* of the event's own key */
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

/* The end of a list: its last chunk, the last value in it, and whether its last word is step and count. */
struct fold_list_end {
    trace_ref chunk; /* 0: there is no list */
    int64_t last;
    bool plain;
};

struct fold_step {
    enum fold_step_kind kind;
    trace_ref node; /* the leaf, or the loop that begins or ends here */
    int begin;      /* END: the step of its BEGIN */
    int64_t turns;
    struct fold_list_end values, sizes;
};

/* Whether the sizes of the last turns repeat: then folding without lists would do better. */
struct fold_period {
    uint64_t ring[2 * TRACE_FOLD_SPAN], turn; /* hashes of the sizes of the last turns, and of this one so far */
    int64_t last[256];                        /* which turn had a hash like this last, from 1 */
    int64_t seen, length, streak;             /* turns; so many ago it was the same, so often in a row */
};

struct trace_fold_core {
    struct trace_arena *arena;
    struct trace_intern *intern;
    bool failed;
    size_t dead_count;
    trace_ref tail;
    trace_ref loop; /* the tail, where it is a loop whose next event is known; else 0 */
    bool listed, varied, mixed;
    int appended; /* nodes since sizes that vary were looked for */
    /* Calls in any order, see trace_fold_mix.c. */
    bool mixes;            /* there were some, or sizes that vary were not all: they are looked for early */
    int64_t chain;         /* nodes in all */
    int mix_wait;          /* nodes that must come before, since what came last was in an order */
    trace_ref mix_order;   /* the last chunk of the order */
    uint8_t mix_kind[256]; /* from a hash to the last step of such a key, + 1 */
    struct fold_period *period;
    struct fold_step *steps;
    int step_count, step_room;
    int at, level; /* the step that comes next; how many loops it is in, but one */
    int64_t turn[TRACE_RECORD_LEVELS];
    int64_t partial; /* events of the turn that was begun */

    /* What an expected call does not touch. */
    struct fold_entry window[FOLD_WINDOW];
    int window_count;
    uint64_t power[FOLD_WINDOW + 1];
    struct fold_item partial_items[FOLD_LIST_EVENTS]; /* these, where the loop is listed */
    trace_ref partial_leaves[FOLD_LIST_EVENTS];       /* and where they went */

    trace_ref free_leaf[TRACE_RECORD_LEVELS + 1], free_loop;
    trace_ref *dead; /* nodes to give back when the new tail is valid */
    size_t dead_room;
};

static inline struct trace_record_node *fold_node(const struct trace_fold_core *core, trace_ref ref)
{
    return trace_arena_at(core->arena, ref);
}
static inline struct trace_record_leaf *fold_leaf(const struct trace_fold_core *core, trace_ref ref)
{
    assert(((const struct trace_record_node *)trace_arena_at(core->arena, ref))->kind == TRACE_RECORD_LEAF);
    return trace_arena_at(core->arena, ref);
}
static inline struct trace_record_loop *fold_loop(const struct trace_fold_core *core, trace_ref ref)
{
    assert(((const struct trace_record_node *)trace_arena_at(core->arena, ref))->kind == TRACE_RECORD_LOOP);
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
static inline void fold_add_time(struct trace_record_leaf *leaf, const struct fold_item *item)
{
    if (leaf->count == 0) {
        leaf->first_ns = item->begin_ns;
        leaf->first_took_ns = item->duration_ns;
        leaf->min_ns = leaf->max_ns = item->duration_ns;
    }
    if (item->duration_ns < leaf->min_ns)
        leaf->min_ns = item->duration_ns;
    if (item->duration_ns > leaf->max_ns)
        leaf->max_ns = item->duration_ns;
    leaf->count++;
    leaf->sum_ns += item->duration_ns;
    leaf->gap_ns += item->gap_ns;
    leaf->last_ns = item->begin_ns;
    leaf->last_took_ns = item->duration_ns;
}
/* The times of `count` calls of the leaf go over to another one: the mean, since single ones are not kept. */
void fold_share_time(struct trace_record_leaf *from, struct trace_record_leaf *to, int64_t count);

/* A turn that was begun and goes on otherwise than expected becomes nodes behind its loop. */
void fold_materialize(struct trace_fold_core *core);

/* trace_fold.c: the end of the chain, and the loop there. */
void fold_push(struct trace_fold_core *core, trace_ref node);
void fold_pop(struct trace_fold_core *core, int count); /* nodes at the end; they are not given back */
void fold_enter(struct trace_fold_core *core, trace_ref ref);
struct fold_step *fold_new_step(struct trace_fold_core *core);
uint64_t fold_mix(uint64_t value);

/* trace_fold_make.c: values one by one, and loops out of the last nodes. */
void fold_list_add(struct trace_fold_core *core, struct fold_list_end *end, int64_t value);
/* The same, straight to the copy too. False: nothing was done, since there is no room or the list may fall into line.
 */
bool fold_list_add_quick(struct trace_fold_core *core, struct fold_list_end *end, int64_t value, uint64_t *copy);
trace_ref fold_list_new(struct trace_fold_core *core);
/* A byte more of a list of bytes that ends in *chunk, the one with number `index`. */
void fold_list_add_byte(struct trace_fold_core *core, trace_ref *last, int64_t index, uint8_t byte);
/* Whether its last `count` steps were the same. */
bool fold_list_in_line(const struct trace_fold_core *core, const struct fold_list_end *end, int count,
                       int64_t *ret_step);
void fold_merge_time(struct trace_record_leaf *into, const struct trace_record_leaf *from);
void fold_replace(struct trace_fold_core *core, int count, trace_ref made); /* the last nodes by a new one */
bool fold_make_loop(struct trace_fold_core *core, int span);
bool fold_make_list(struct trace_fold_core *core, int span);
bool fold_make_run(struct trace_fold_core *core);   /* of short loops and single calls of one key */
void fold_break_list(struct trace_fold_core *core); /* the last turns of a list that fell into line leave it */

/* trace_fold_vary.c: calls that are equal but for their sizes, which follow no rule. */
bool fold_is_like(const struct trace_record_key *a, const struct trace_record_key *b); /* equal but for sizes */
bool fold_make_varied(struct trace_fold_core *core);
trace_ref fold_key_of(struct trace_fold_core *core, trace_ref key, int64_t bytes); /* the key with these bytes; 0 */
/* A turn has ended: whether it was the same as one before, at least `sure` times in a row. */
bool fold_sizes_repeat(struct fold_period *period, int sure);
/* Value number `index` of a leaf in a loop that is not inside of another: of its list, or of its stride. */
int64_t fold_value_of(const struct trace_fold_core *core, const struct trace_record_leaf *leaf, int64_t index);
bool fold_may_vary(const struct trace_record_key *key);

/* trace_fold_mix.c: calls of several kinds in any order. */
bool fold_make_mixed(struct trace_fold_core *core);
int fold_mix_find(struct trace_fold_core *core, const struct trace_record_key *key); /* the step; -1: none */
/* A new kind, the item's key; false: it cannot be. */
bool fold_mix_add_kind(struct trace_fold_core *core, const struct fold_item *item);
void fold_mix_take(struct trace_fold_core *core, int index, const struct fold_item *item);

#endif
