#include "measure/sample.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 15, TAG_GO = 1, TAG_DATA = 2 };

void samples_clear(struct samples *samples)
{
    for (int i = 0; i < samples->series_count; i++)
        free(samples->series[i].values);
    *samples = (struct samples){0};
}

/* Page faults come here, not in the loop. Volatile: a compiler makes calloc of malloc and memset, which touches
 * nothing. */
static void touch(volatile double *values, int64_t count)
{
    enum { STEP = 4096 / sizeof(double) };
    for (int64_t i = 0; i < count; i += STEP)
        values[i] = 0;
}

pl_status samples_add(struct samples *samples, const char *key, const char *unit, int64_t capacity,
                      struct sample_series **ret_series, struct pl_error *error)
{
    assert(samples->series_count < SAMPLE_SERIES_MAX);
    struct sample_series *series = &samples->series[samples->series_count++];
    *series = (struct sample_series){.capacity = capacity};
    snprintf(series->key, sizeof series->key, "%s", key);
    snprintf(series->unit, sizeof series->unit, "%s", unit);
    *ret_series = series;
    if (capacity == 0)
        return PL_OK;
    series->values = malloc((size_t)capacity * sizeof *series->values);
    if (!series->values) {
        series->capacity = 0;
        return pl_fail_errno(error, ENOMEM, "taking memory for %lld timings", (long long)capacity);
    }
    touch(series->values, capacity);
    return PL_OK;
}

void samples_time(struct samples *samples, const char *key, double seconds)
{
    int i = 0;
    while (i < samples->time_count && strcmp(samples->times[i].key, key) != 0)
        i++;
    if (i == samples->time_count) {
        assert(samples->time_count < SAMPLE_TIMES_MAX);
        samples->time_count++;
        snprintf(samples->times[i].key, sizeof samples->times[i].key, "%s", key);
    }
    samples->times[i].seconds = seconds;
}

double sample_total(const struct sample_series *series)
{
    double total = 0;
    for (int64_t i = 0; i < series->count; i++)
        total += series->values[i];
    return total;
}

/* ---- towards the block file ---- */

static void put_values(struct blockfile_writer *writer, const char *unit, const double *values, int64_t count)
{
    const double scale = strcmp(unit, "ns") == 0 ? 1e9 : 1;
    int64_t whole[512];
    for (int64_t done = 0; done < count;) {
        size_t n = 0;
        for (; n < sizeof whole / sizeof whole[0] && done < count; n++, done++)
            whole[n] = llround(values[done] * scale);
        blockfile_values(writer, whole, n);
    }
}

static void put_own(const struct samples *samples, int rank, struct blockfile_writer *writer)
{
    for (int i = 0; i < samples->time_count; i++)
        blockfile_time(writer, rank, samples->times[i].key, llround(samples->times[i].seconds * 1e9));
    for (int i = 0; i < samples->series_count; i++) {
        const struct sample_series *series = &samples->series[i];
        blockfile_series(writer, rank, series->key, series->unit, series->count);
        put_values(writer, series->unit, series->values, series->count);
    }
}

static void send_own(const struct samples *samples, MPI_Comm comm)
{
    int go;
    MPI_Recv(&go, 1, MPI_INT, 0, TAG_GO, comm, MPI_STATUS_IGNORE);
    MPI_Send(&samples->time_count, 1, MPI_INT, 0, TAG_DATA, comm);
    MPI_Send(samples->times, (int)(samples->time_count * sizeof samples->times[0]), MPI_BYTE, 0, TAG_DATA, comm);
    for (int i = 0; i < samples->series_count; i++) {
        const struct sample_series *series = &samples->series[i];
        MPI_Send(&series->count, 1, MPI_INT64_T, 0, TAG_DATA, comm);
        for (int64_t done = 0; done < series->count; done += CHUNK) {
            const int64_t left = series->count - done;
            MPI_Send(series->values + done, (int)(left < CHUNK ? left : CHUNK), MPI_DOUBLE, 0, TAG_DATA, comm);
        }
    }
}

static void receive_series(const struct sample_series *like, int rank, MPI_Comm comm, double *chunk,
                           struct blockfile_writer *writer)
{
    int64_t count;
    MPI_Recv(&count, 1, MPI_INT64_T, rank, TAG_DATA, comm, MPI_STATUS_IGNORE);
    blockfile_series(writer, rank, like->key, like->unit, count);
    for (int64_t done = 0; done < count; done += CHUNK) {
        const int64_t left = count - done;
        const int expected = (int)(left < CHUNK ? left : CHUNK);
        MPI_Recv(chunk, expected, MPI_DOUBLE, rank, TAG_DATA, comm, MPI_STATUS_IGNORE);
        put_values(writer, like->unit, chunk, expected);
    }
}

static void receive_rank(const struct samples *like, int rank, MPI_Comm comm, double *chunk,
                         struct blockfile_writer *writer)
{
    int go = 1, time_count;
    struct sample_time times[SAMPLE_TIMES_MAX];
    MPI_Send(&go, 1, MPI_INT, rank, TAG_GO, comm);
    MPI_Recv(&time_count, 1, MPI_INT, rank, TAG_DATA, comm, MPI_STATUS_IGNORE);
    MPI_Recv(times, sizeof times, MPI_BYTE, rank, TAG_DATA, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < time_count; i++)
        blockfile_time(writer, rank, times[i].key, llround(times[i].seconds * 1e9));
    for (int i = 0; i < like->series_count; i++)
        receive_series(&like->series[i], rank, comm, chunk, writer);
}

void samples_write_coll(const struct samples *samples, MPI_Comm comm, struct blockfile_writer *writer)
{
    static double chunk[CHUNK]; /* on the heap its allocation could fail while others wait to send */
    int me, size;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    if (me != 0) {
        send_own(samples, comm);
        return;
    }
    put_own(samples, 0, writer);
    for (int rank = 1; rank < size; rank++)
        receive_rank(samples, rank, comm, chunk, writer);
}
