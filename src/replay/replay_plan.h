/* What follows from a model before it is replayed: what is measured, which loops may be sampled, what is known of the
 * files, and whether all ranks meet in the same order. Pure. */
#ifndef PIOLET_REPLAY_PLAN_H
#define PIOLET_REPLAY_PLAN_H

#include "model/model.h"
#include "model/model_facts.h"

/* What is measured as one: a phase, or a call outside of phases. */
struct replay_unit {
    const struct model_step *step;
    const struct model_phase_facts *phase; /* NULL: a call */
    int64_t count;                         /* executions in the program */
    bool selected;                         /* a phase that is not is passed over */
};

/* A loop whose turns are alike and in each of which all ranks meet: some turns tell what all would take. */
struct replay_loop {
    const struct model_step *step;
    const struct model_step *meeting; /* the communication of all, directly in its body */
    int first_leaf, last_leaf;
};

struct replay_file_facts {
    const char *name; /* pattern of the first open; "" if there is none */
    int group;        /* the first file of this name */
    bool creates;     /* the first open makes it */
    int first_write;  /* leaf of the first writing access to the name; leaf_count: none */
    int last_use;     /* leaf of the last call on the name */
};

struct replay_plan {
    const struct model *model;
    struct model_facts facts;
    struct replay_unit *units; /* in the order of the steps */
    int unit_count;
    int *unit_of_leaf;  /* of a call outside of phases, else -1 */
    int *unit_of_phase; /* by number */
    int *phase_of_leaf; /* number; 0: a call outside of phases */
    struct replay_loop *loops;
    int loop_count;
    struct replay_file_facts *files;
    const struct replay_operation **operations; /* by leaf */
    int last_delete;                            /* leaf; -1: none */
    bool chosen;                                /* only some phases are selected */
};

/* `phases`: numbers of the only phases to be replayed; none: all. Refuses a model with calls that nobody knows. */
pl_status replay_plan_make(const struct model *model, const int *phases, int phase_count, struct replay_plan *ret_plan,
                           struct pl_error *error);
void replay_plan_clear(struct replay_plan *plan);

/* Are the files that are opened in the loop not used behind it? Else turns that are left out would be missed. */
bool replay_plan_is_private(const struct replay_plan *plan, const struct model_step *loop);
const struct replay_loop *replay_plan_loop(const struct replay_plan *plan, const struct model_step *step);

/* Does the step concern every rank? */
bool replay_plan_is_world(const struct model *model, const struct model_step *step);

/* A sum over what a rank does together with others, loops and phases of all ranks included: where it is the same on all
 * ranks they meet in the same order, and additional meetings between steps do no harm. `file` >= 0: only the calls on
 * this file. */
uint64_t replay_plan_order(const struct model *model, int64_t rank, int file);
/* Collectives of the world in which the rank takes part: must be the same for all. */
int64_t replay_plan_collectives(const struct model *model, int64_t rank);
/* Calls that the rank makes in all. */
int64_t replay_plan_calls(const struct model *model, int64_t rank);

#endif
