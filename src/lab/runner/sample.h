/* The raw timings of one parameter set on one rank, and their way into the block file.
 *
 * A test asks for its series before it measures: memory is taken and touched then, never inside a timed loop. Of each
 * operation its start and its time are kept: ranks are put together on one clock (timebase.h). */
#ifndef PIOLET_LAB_SAMPLE_H
#define PIOLET_LAB_SAMPLE_H

#include "base/blockfile.h"
#include "base/clock.h"
#include "base/status.h"

#include <assert.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Memory of one operation in a series in "ns": its time and its start. */
enum { SAMPLE_OPERATION_BYTES = 2 * sizeof(double) };
enum { SAMPLE_SERIES_MAX = 16, SAMPLE_TIMES_MAX = 32, SAMPLE_NAME_MAX = 16, SAMPLE_PIECES_MAX = 8 };

struct sample_series {
    char key[SAMPLE_NAME_MAX];
    char unit[8];   /* "ns": values are seconds, written as nanoseconds; "B": bytes; "count" */
    double *values; /* owned */
    double *starts; /* owned: MPI_Wtime at the start of each, of series in "ns"; else NULL */
    int64_t capacity;
    int64_t count; /* how many are valid */
    bool stamped;  /* sample_put() was used: all have their start */
};

/* One operation: number `i`, which is the next one or a later one where earlier ones are filled too. */
static inline void sample_put(struct sample_series *series, int64_t i, double begin, double end)
{
    assert(i < series->capacity);
    series->values[i] = end - begin;
    series->starts[i] = begin;
    series->count = i + 1;
    series->stamped = true;
}

struct sample_time {
    char key[SAMPLE_NAME_MAX];
    double seconds;
    /* When: begin and end of what it is the sum of. 0: not known. */
    int piece_count;
    double pieces[SAMPLE_PIECES_MAX][2];
};

/* From MPI_Wtime to the common clock, before and after the set was measured. */
struct sample_clock {
    bool known;
    struct clock_offset before, after;
    int64_t zero_ns; /* stamps count from this common time */
};

struct samples {
    struct sample_series series[SAMPLE_SERIES_MAX];
    int series_count;
    struct sample_time times[SAMPLE_TIMES_MAX];
    int time_count;
    struct sample_clock clock; /* lab_set_clock_coll() */
};

void samples_clear(struct samples *samples);

/* Every rank asks for the same series in the same order; capacities may differ and may be 0. */
pl_status samples_add(struct samples *samples, const char *key, const char *unit, int64_t capacity,
                      struct sample_series **ret_series, struct pl_error *error);

/* Room for `capacity` numbers, where a test cannot know before how many it will measure; what is there stays. Local.
 * After a failure the series is as before. */
pl_status sample_reserve(struct sample_series *series, int64_t capacity, struct pl_error *error);

/* A single time, such as pre_time. A second call with the same key replaces the first. */
void samples_time(struct samples *samples, const char *key, double seconds);
/* The same of what lasted from `begin` to `end` (MPI_Wtime). */
void samples_span(struct samples *samples, const char *key, double begin, double end);
/* A further piece of it: the time is the sum of all. */
void samples_piece(struct samples *samples, const char *key, double begin, double end);

double sample_total(const struct sample_series *series);

/* Seconds in which at least one rank was in an operation of the series or single times `keys` (count of them, NULLs
 * passed over), on the common clock (base/busy.h). On rank 0; 0: nothing is known. */
double samples_busy_coll(const struct samples *samples, MPI_Comm comm, const char *const *keys, int count);

/* Streams times and series of all ranks, rank by rank, through rank 0 into `writer` (NULL on other ranks): rank 0 never
 * holds more than one chunk. Every rank must have the same series. */
void samples_write_coll(const struct samples *samples, MPI_Comm comm, struct blockfile_writer *writer);

#endif
