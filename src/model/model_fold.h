/* What a rank did, as a list of items in which what repeats is a loop: folded by what was called, whatever the offsets.
 *
 * The list does not depend on how the trace was folded: it is what folding call after call from the left gives. (Turns
 * of a loop of the trace are fed one by one until each makes one loop of the list longer and nothing else; the rest is
 * then added at once.) Offsets and other numbers are kept beside, each a sequence over the executions of the call. Left
 * out: seeks of the individual pointer and queries (an access has its offset), error handlers, and calls that failed.
 * Pure. */
#ifndef PIOLET_MODEL_FOLD_H
#define PIOLET_MODEL_FOLD_H

#include "base/status.h"
#include "model/model_pool.h"
#include "model/model_seq.h"
#include "trace/trace_tree.h"

enum model_kind { MODEL_CALL, MODEL_COMM, MODEL_LOOP };

/* A call but for its numbers. The words are the pool's: equal ones are the same pointer. NULL: none. */
struct model_call {
    const char *function, *class, *who, *how, *position;
    const char *file;        /* form of the name of the file; a second handle on an open file is a file of its own */
    const char *name, *text; /* forms of what open, delete, view, … were given */
    int64_t etype_bytes;     /* of the view in force */
    bool access;             /* moves data: has a size, and an offset unless the pointer is shared */
    bool number;             /* moves none, and has a number in the place of the offset */
    bool holes;              /* the view in force leaves bytes out */
};

/* The numbers of a call: PARAM_OFFSET, PARAM_INSTANCE (which of the files with this form of name: the first, second, …
 * name of this rank), PARAM_MEMORY (which layout of the pool, 0: one piece), then those of the forms `name` and `text`.
 */
enum { MODEL_PARAM_OFFSET, MODEL_PARAM_INSTANCE, MODEL_PARAM_MEMORY, MODEL_PARAM_FORMS };

struct model_observed { /* {0}: nothing */
    int64_t calls;
    double sum_ns, gap_ns; /* durations; time between the end of the call before and the begin */
    int64_t min_ns, max_ns, first_ns;
    double events; /* of MODEL_COMM */
};

struct model_item {
    enum model_kind kind;
    uint64_t hash; /* of what is compared when folding: calls, sizes, turns, collectives */
    bool has_comm;
    int64_t turns; /* MODEL_LOOP */
    struct model_item *body;
    int count;
    int64_t collectives; /* MODEL_COMM: of the world */
    struct model_call call;
    int64_t bytes;
    struct model_seq *params;
    int param_count;
    struct model_observed observed;
};

struct model_list { /* {0} is empty */
    struct model_item *items;
    int count, capacity;
};

/* The list of a rank. *ret_failed_calls: how many were left out because they failed. */
pl_status model_fold(const struct trace_tree *tree, struct model_pool *pool, struct model_list *ret_list,
                     int64_t *ret_failed_calls, struct pl_error *error);
void model_list_clear(struct model_list *list);
void model_item_clear(struct model_item *item);

/* The pieces of model_fold(): a list that folds itself while items are pushed (moved into it, also on failure). */
bool model_list_push(struct model_list *list, struct model_item *item);
void model_loop_rehash(struct model_item *loop);
void model_observed_add(struct model_observed *sum, const struct model_observed *more);

#endif
