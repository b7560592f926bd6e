/* Time of the patterns, and when their loops end. Pure: no clock, no MPI.
 *
 * A loop is run in batches of calls. After a batch all ranks reduce what they saw to one `struct beffio_state`, and
 * each computes the next batch from it: as the inputs are the same, so is the decision. Batches grow geometrically, so
 * that the decisions cost little beside the calls; towards the end they shrink again, so that the end is met. */
#ifndef PIOLET_BENCH_BEFFIO_SCHEDULE_H
#define PIOLET_BENCH_BEFFIO_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* A value is official from here on. */
#define BEFFIO_OFFICIAL_S (15 * 60.0)

/* In a run that is too short to be official, a size-driven pattern ends at so many times its scheduled time. */
#define BEFFIO_PATIENCE 2

/* T/3 · U/ΣU */
double beffio_pattern_s(int pattern, double time_s);

struct beffio_loop_plan {
    double limit_s;     /* the loop ends by time; INFINITY: by calls alone */
    double pace_s;      /* a batch should not last longer than a quarter of it, whatever the limit */
    int64_t most_calls; /* end of the region; INT64_MAX: open */
};

struct beffio_state {
    int64_t calls;     /* done */
    int64_t batch;     /* the last one; 0 before the first */
    double elapsed_s;  /* of the slowest rank, since the loop began */
    double batch_s;    /* time of the last batch */
    double decision_s; /* cost of one decision, so far */
};

/* Calls of the next batch; 0: the loop ends. */
int64_t beffio_next_batch(const struct beffio_loop_plan *plan, const struct beffio_state *state);

/* How many of these calls find room in the free space, when each writes `bytes` in all, and some is kept for the file
 * system's own needs and for the results. */
int64_t beffio_calls_in_space(int64_t calls, int64_t bytes, int64_t free_bytes);

#endif
