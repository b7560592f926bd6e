/* Inside of replay_*.c: how many turns of a loop are done, and what makes up for the others. */
#ifndef PIOLET_REPLAY_SAMPLE_H
#define PIOLET_REPLAY_SAMPLE_H

#include "replay/replay_run.h"

struct replay_sampling {
    const struct replay_loop *loop;
    struct replay_sampling *around; /* of a loop outside of this one */
    int64_t turn, turns;            /* under way; to be done */
    int64_t begin_ns;
};

/* What this rank brings to the meeting of a turn: whether it needs more, and how long the rest would take. */
struct replay_wish {
    bool unsure;
    int64_t rest_ns;
};
struct replay_wish replay_sample_wish(const struct replay_run *run, const struct replay_sampling *sampling);

/* Is this turn the last one? Of numbers that all ranks have in common. */
bool replay_sample_is_enough(const struct replay_job *job, bool unsure, int64_t rest_ns, int64_t elapsed_ns);

/* What `missing` turns of a loop would have written is filled where somebody uses it later. Local. */
void replay_sample_fill(struct replay_run *run, const struct model_step *loop, int64_t missing);

/* Passes over executions of a step: counts them as done. */
void replay_sample_pass(struct replay_run *run, const struct model_step *step, int64_t times, bool told);

/* The turns that were not done: what they would have written and somebody uses later is filled. */
void replay_sample_make_up_coll(struct replay_run *run, const struct replay_sampling *sampling, int64_t missing);

#endif
