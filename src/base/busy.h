/* The time in which at least one of many processes was in an operation, on the clock that they share.
 *
 * It is the time from the first start to the last end, without pauses of all of them (work between two calls, a check
 * of what was read). Two that run one after the other need twice as long as two that run side by side: the longest sum
 * of one process' times does not see that. Pure, in one pass, in memory that does not grow with the operations. */
#ifndef PIOLET_BASE_BUSY_H
#define PIOLET_BASE_BUSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of a file come as doubles: no sum of them overflows. */
struct busy_op {
    double start_ns, ns, bytes;
};

/* ---- many sequences of operations as one, in the order of their starts ---- */

struct busy_lane {
    /* The next operation of this lane, which begins no earlier than the one before; false: there is none. */
    bool (*next)(void *context, struct busy_op *ret_op);
    void *context;
    struct busy_op head; /* private */
};

typedef void busy_take(void *context, size_t lane, const struct busy_op *op);
/* False: no memory. */
bool busy_merge(struct busy_lane *lanes, size_t count, busy_take *take, void *context);

/* ---- a clock that runs while somebody is busy ---- */

struct busy_clock { /* {0}: nothing yet */
    bool begun;
    double first_ns, covered_ns; /* first start; the last end so far */
    double busy_ns;
};

/* Takes an operation, none of which began later before it. What the clock showed at its start and its end. */
void busy_clock_take(struct busy_clock *clock, const struct busy_op *op, double *ret_from, double *ret_to);
/* From the first start to the last end, pauses included. */
double busy_clock_span_ns(const struct busy_clock *clock);

/* ---- bytes over busy time ---- */

enum { BUSY_SLICES = 1024 };

struct busy_slices { /* {0}: nothing yet */
    double width_ns; /* of each; doubled when there are too few */
    double bytes[BUSY_SLICES];
};

/* Spreads bytes evenly over the time from..to of a busy clock. */
void busy_slices_add(struct busy_slices *slices, double from_ns, double to_ns, double bytes);
/* All of the busy time, cut into `count` parts that are as equal as slices allow. */
void busy_slices_cut(const struct busy_slices *slices, double busy_ns, int count, double *ret_bytes, double *ret_ns);

#endif
