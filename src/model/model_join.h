/* Inside of model_*.c: the lists of all classes of ranks as one list. */
#ifndef PIOLET_MODEL_JOIN_H
#define PIOLET_MODEL_JOIN_H

#include "model/model.h"
#include "model/model_table.h"

/* A call or a communication of one class. */
struct model_part {
    const struct model_class *class;
    int leaf;
};

struct model_joint {
    enum model_kind kind;
    bool has_comm;
    int64_t turns;
    int64_t collectives;           /* of MODEL_COMM; of a loop: in one turn */
    const struct model_item *item; /* of the first class that has it */
    struct model_part *parts;      /* who does it; MODEL_LOOP: none */
    int part_count;
    struct model_joint *body;
    int count, capacity;
};

/* Joins the classes: steps that are alike, and have as many collectives of the world before them, are one. `ret_root`
 * is a loop of one turn. */
bool model_join(const struct model_table *table, struct model_joint *ret_root);
void model_joint_clear(struct model_joint *joint);

/* Appends the formula of a parameter (or MODEL_SIZE) over all ranks of the parts. */
enum { MODEL_SIZE = -1 };
void model_join_formula(const struct model_joint *joint, int param, struct text *text);
void model_join_ranks(const struct model_joint *joint, struct model_ranks *ret_ranks, bool *ok);
/* Appends the pattern of a form, whose numbers are parameters from `param` on. */
void model_join_name(const struct model_joint *joint, int param, struct text *text);
void model_join_detail(const struct model_joint *joint, int param, struct text *text);

#endif
