/* Loops that are left early because the time limit is reached, where no meeting of all ranks decides it (those are
 * sampled, replay_sample.h): loops inside of phases, and loops of calls that are each rank's own. Internal to the
 * replay.
 *
 * A rank alone may leave a loop in which it meets nobody. Where there are collective calls on files of one
 * communicator, and all of its ranks do this loop, these agree now and then. Other loops are done to their end. */
#ifndef PIOLET_REPLAY_CUT_H
#define PIOLET_REPLAY_CUT_H

#include "replay/replay_run.h"

struct replay_cut {
    const struct model_step *loop;
    bool is_possible;
    MPI_Comm comm;     /* of those who agree; MPI_COMM_NULL: nobody is asked */
    int64_t begin_ns;  /* of the loop */
    int64_t next;      /* turn at which to look */
    int64_t before_ns; /* of the phase, when the loop began */
};

/* Local. `phase`: the phase around the loop; NULL: none. */
void replay_cut_begin(struct replay_run *run, const struct model_step *loop, const struct model_step *phase,
                      struct replay_cut *ret_cut);
/* Is the loop to be left before this turn, from 1 on? All of the communicator call. */
bool replay_cut_is_due_coll(struct replay_run *run, struct replay_cut *cut, int64_t turn);
/* The loop was left after `done` turns: the time of its phase is extended by the rest, which counts as done; what it
 * would have written is filled where somebody uses it later. Local. */
void replay_cut_make_up(struct replay_run *run, const struct replay_cut *cut, int64_t done);

/* Is the time over, or more done than was planned for? Local. */
bool replay_cut_is_late(const struct replay_run *run);

#endif
