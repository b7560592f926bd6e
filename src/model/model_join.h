/* Ranks classed by what they did: those that made the same calls in the same order are one class, and only their
 * numbers are kept, as columns over the ranks. Regular columns need no memory that grows with the ranks. Tables of two
 * halves of the ranks can be merged, so the work over many ranks is a tree. Pure. */
#ifndef PIOLET_MODEL_JOIN_H
#define PIOLET_MODEL_JOIN_H

#include "model/model.h"
#include "model/model_fold.h"
#include "model/model_formula.h"

/* A call or a communication of a class: its columns begin at `column`. For each parameter its first number and, where
 * its numbers are one grid, the stride of each level. */
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

/* Inside of model_*.c: the lists of all classes of ranks as one list. */

/* A call or a communication of one class. */
struct model_part {
    const struct model_class *class;
    int leaf;                      /* -1: of a loop, and of what the ranks of the class do never */
    int64_t collectives;           /* of communication that was cut: each time as many; -1: as the class has them */
    int64_t turns;                 /* of a loop */
    const struct model_item *item; /* NULL: the ranks of the class do it never */
    bool in_row;                   /* a loop around it that the item does not have: `turns` tell */
};

struct model_joint {
    enum model_kind kind;
    bool has_comm;
    int64_t turns;
    int64_t collectives;           /* in all executions together */
    int64_t inner_events;          /* as of an item, the most of all classes */
    const struct model_item *item; /* of the first class that has it */
    struct model_part *parts;      /* who does it */
    int part_count;
    struct model_joint *body;
    int count, capacity;
};

/* Joins the classes: steps that are alike, and have as many collectives of the world before them, are one. `ret_root`
 * is a loop of one turn. */
bool model_join(const struct model_table *table, void (*watch)(void *context, const char *what, double part),
                void *context, struct model_joint *ret_root);
void model_joint_clear(struct model_joint *joint);

/* Appends the formula of a parameter over all ranks of the parts. */
void model_join_formula(const struct model_joint *joint, int param, struct text *text);
/* The same for the turns of a loop, and for the collectives of communication. */
void model_join_turns(const struct model_joint *joint, struct text *text);
void model_join_collectives(const struct model_joint *joint, struct text *text);
void model_join_ranks(const struct model_joint *joint, struct model_ranks *ret_ranks, bool *ok);
/* Appends the pattern of a form, whose numbers are parameters from `param` on. */
void model_join_name(const struct model_joint *joint, int param, struct text *text);
void model_join_detail(const struct model_joint *joint, int param, struct text *text);

#endif
