/* The raw timings of one parameter set on one rank, and their way into the block file.
 *
 * A test asks for its series before it measures: memory is taken and touched then, never inside a timed loop. */
#ifndef PIOLET_MEASURE_SAMPLE_H
#define PIOLET_MEASURE_SAMPLE_H

#include "base/blockfile.h"
#include "base/status.h"

#include <mpi.h>
#include <stdint.h>

enum { SAMPLE_SERIES_MAX = 16, SAMPLE_TIMES_MAX = 32, SAMPLE_NAME_MAX = 16 };

struct sample_series {
    char key[SAMPLE_NAME_MAX];
    char unit[8];   /* "ns": values are seconds, written as nanoseconds; "B": bytes; "count" */
    double *values; /* owned */
    int64_t capacity;
    int64_t count; /* how many are valid */
};

struct sample_time {
    char key[SAMPLE_NAME_MAX];
    double seconds;
};

struct samples {
    struct sample_series series[SAMPLE_SERIES_MAX];
    int series_count;
    struct sample_time times[SAMPLE_TIMES_MAX];
    int time_count;
};

void samples_clear(struct samples *samples);

/* Every rank asks for the same series in the same order; capacities may differ and may be 0. */
pl_status samples_add(struct samples *samples, const char *key, const char *unit, int64_t capacity,
                      struct sample_series **ret_series, struct pl_error *error);

/* A single time, such as pre_time. A second call with the same key replaces the first. */
void samples_time(struct samples *samples, const char *key, double seconds);

double sample_total(const struct sample_series *series);

/* Streams times and series of all ranks, rank by rank, through rank 0 into `writer` (NULL on other ranks): rank 0 never
 * holds more than one chunk. Every rank must have the same series. */
void samples_write_coll(const struct samples *samples, MPI_Comm comm, struct blockfile_writer *writer);

#endif
