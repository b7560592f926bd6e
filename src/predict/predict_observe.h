/* How long each phase took on each rank of a traced run. The observed part of a model has the slowest rank of each
 * call; where a phase is of several calls, their sum is too much unless one rank is the slowest in all of them. A trace
 * tells exactly. Pure. */
#ifndef PIOLET_PREDICT_OBSERVE_H
#define PIOLET_PREDICT_OBSERVE_H

#include "model/model.h"

/* Times of the phases on the slowest rank, from all ranks so far. */
struct predict_observer {
    const struct model *model; /* of the same trace */
    double *phase_ns;          /* owned, one for each phase */
    int *phase_of;             /* owned: by leaf, from 0; -1: outside of phases */
    int64_t calls_left;        /* that may still be looked at: a limit of time */
    bool gave_up;              /* the trace is too long, or does not fit the model: phase_ns has no meaning */
};

enum { PREDICT_OBSERVE_CALLS = 20 * 1000 * 1000 };

bool predict_observer_init(struct predict_observer *observer, const struct model *model); /* false: no memory */
void predict_observer_clear(struct predict_observer *observer);
pl_status predict_observe_rank(struct predict_observer *observer, const struct trace_tree *tree,
                               struct pl_error *error);

#endif
