/* One clock for all ranks of a run: what must be added to a rank's MPI_Wtime to have the common one.
 *
 * The common clock is CLOCK_MONOTONIC of rank 0. Ranks of the same boot of a host and the same time namespace read it
 * themselves; all others compare theirs with rank 0's by messages. MPI_Wtime may begin at another moment in every
 * process (Open MPI): each rank compares it with its own CLOCK_MONOTONIC. */
#ifndef PIOLET_LAB_RUNNER_TIMEBASE_H
#define PIOLET_LAB_RUNNER_TIMEBASE_H

#include "base/clock.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct timebase {
    uint64_t domain;          /* equal where CLOCK_MONOTONIC is the same clock */
    bool one_clock;           /* it is, on all ranks of the run */
    int64_t zero_ns;          /* of the common clock: the begin of the run, from which stamps count */
    struct clock_offset last; /* the last measurement on this rank */
};

/* Measures for the first time. */
void timebase_begin_coll(struct timebase *timebase, MPI_Comm world);

/* Common clock minus MPI_Wtime, both in ns. Rank 0 of `comm` is rank 0 of the run. */
struct clock_offset timebase_measure_coll(struct timebase *timebase, MPI_Comm comm);

/* Common clock minus this rank's CLOCK_MONOTONIC: 0 with an error of 0 where it is the same clock. */
struct clock_offset timebase_monotonic_coll(const struct timebase *timebase, MPI_Comm comm);

#endif
