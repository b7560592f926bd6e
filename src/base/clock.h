/* The only reader of clocks, but for timed intervals of MPI jobs (MPI_Wtime). tests/lint/only.sh sees to it. */
#ifndef PIOLET_BASE_CLOCK_H
#define PIOLET_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* A clock of the system, in nanoseconds: CLOCK_MONOTONIC, CLOCK_REALTIME, ... */
static inline int64_t clock_read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* So long from now, as functions that wait until a moment want it. May be called by a signal handler. */
struct timespec clock_after(clockid_t clock, int64_t ns);
/* Seconds since some moment; never goes back. */
double clock_now_s(void);
/* "2026-11-15T10:02:11Z": now, in UTC. */
enum { CLOCK_STAMP_MAX = 32 };
const char *clock_stamp(char stamp[CLOCK_STAMP_MAX]);
/* Now, as strftime() has it: in UTC, or in local time. */
const char *clock_format(const char *format, int utc, char *text, size_t capacity);

/* ---- one clock for many processes ---- */

/* A message to another process and back: when it was sent and its answer received, on one clock; what the other one's
 * clock showed in between. */
struct clock_ping {
    int64_t sent_ns, answered_ns, received_ns;
};

/* What must be added to a local clock to have the common one. True at `at_ns` of the local clock, and wrong by at most
 * `error_ns`. */
struct clock_offset {
    int64_t at_ns, offset_ns, error_ns;
};

/* The other clock minus this one, by the exchange that took the least: the answer lies somewhere between sending and
 * receiving, so half of that is the most it can be wrong by. `at_ns` is on this clock. */
struct clock_offset clock_offset_of(const struct clock_ping *pings, int count);

/* The common time of a local one. Clocks drift apart: between two measurements the offset is taken to change evenly.
 * Where they differ by no more than their errors, the one with the smaller error holds. */
int64_t clock_common_ns(const struct clock_offset *before, const struct clock_offset *after, int64_t local_ns);

#endif
