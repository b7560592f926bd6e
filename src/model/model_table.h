/* Ranks classed by what they did: those that made the same calls in the same order are one class, and only their
 * numbers are kept, as columns over the ranks. Regular columns need no memory that grows with the ranks. Tables of two
 * halves of the ranks can be merged, so the work over many ranks is a tree. Pure. */
#ifndef PIOLET_MODEL_TABLE_H
#define PIOLET_MODEL_TABLE_H

#include "model/model_fold.h"
#include "model/model_formula.h"

/* A call or a communication of a class: its columns begin at `column`. Of a call: the size, then for each parameter its
 * first number and, where its numbers are one grid, the stride of each level. */
struct model_leaf {
    const struct model_item *item; /* of the class's list: params hold the structure, as the first rank had it */
    int column;
    double slowest_ns; /* the largest sum of durations of a rank */
};

struct model_class {
    uint64_t hash; /* of calls, turns, collectives, and the structure of the numbers: not of their values */
    struct model_list list;
    struct model_ranks ranks;
    struct model_leaf *leaves; /* in the order of the list */
    int leaf_count;
    struct model_seq *columns;
    int column_count;
};

struct model_table { /* {0} is empty */
    struct model_class *classes;
    size_t count, capacity;
    size_t *index; /* from hash to class + 1 */
    size_t index_size;
    int64_t failed_calls;
};

/* Adds a rank, larger than all before. The list is taken over, also on failure. */
pl_status model_table_add(struct model_table *table, int64_t rank, struct model_list *list, struct pl_error *error);
/* Adds a table of ranks that are all larger; `more` is empty afterwards. Both have the same pool. */
pl_status model_table_merge(struct model_table *table, struct model_table *more, struct pl_error *error);
void model_table_clear(struct model_table *table);

#endif
