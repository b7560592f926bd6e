/* The time of all executions of a phase, from the times of some of them. Pure: anybody may call it on the series that a
 * replay has written. */
#ifndef PIOLET_REPLAY_ESTIMATE_H
#define PIOLET_REPLAY_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

struct replay_estimate {
    double total_ns;        /* of all executions: those that were done, and the slope times the rest */
    double low_ns, high_ns; /* 95 %; equal to the total where all were done */
    double slope_ns;        /* of the cumulative time against executions */
    double half_ns;         /* half of the slope's interval; negative: too few to tell */
};

/* `durations`: the executions that were done, the first ones in their order; `all`: how many there are. The slope is
 * the mean of the increments of the cumulative time. Its interval is by batch means, since neighbours are alike (a
 * cache fills, a device throttles): the durations of one batch are one observation. The first execution counts in the
 * total and not in the slope where there are enough others: it meets what is new. */
struct replay_estimate replay_estimate(const int64_t *durations, int64_t count, int64_t all);

/* Is the interval of the slope below 5 %? */
bool replay_estimate_is_sure(const struct replay_estimate *estimate);

#endif
