#include "lab/runner/sample.h"

#include "base/busy.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 15, TAG_GO = 1, TAG_DATA = 2 };

void samples_clear(struct samples *samples)
{
    for (int i = 0; i < samples->series_count; i++) {
        free(samples->series[i].values);
        free(samples->series[i].starts);
    }
    *samples = (struct samples){0};
}

/* Page faults come here, not in the loop. Volatile: a compiler makes calloc of malloc and memset, which touches
 * nothing. */
static void sample_touch(volatile double *values, int64_t count)
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
    *series = (struct sample_series){0};
    snprintf(series->key, sizeof series->key, "%s", key);
    snprintf(series->unit, sizeof series->unit, "%s", unit);
    *ret_series = series;
    return sample_reserve(series, capacity, error);
}

pl_status sample_reserve(struct sample_series *series, int64_t capacity, struct pl_error *error)
{
    if (capacity <= series->capacity)
        return PL_OK;
    double *values = realloc(series->values, (size_t)capacity * sizeof *values);
    if (values)
        series->values = values;
    const bool stamps = strcmp(series->unit, "ns") == 0;
    double *starts = stamps ? realloc(series->starts, (size_t)capacity * sizeof *starts) : NULL;
    if (starts)
        series->starts = starts;
    if (!values || (stamps && !starts))
        return pl_fail_errno(error, ENOMEM, "taking memory for %lld timings", (long long)capacity);
    sample_touch(values + series->capacity, capacity - series->capacity);
    if (stamps)
        sample_touch(starts + series->capacity, capacity - series->capacity);
    series->capacity = capacity;
    return PL_OK;
}

static struct sample_time *sample_time_of(struct samples *samples, const char *key)
{
    int i = 0;
    while (i < samples->time_count && strcmp(samples->times[i].key, key) != 0)
        i++;
    if (i == samples->time_count) {
        assert(samples->time_count < SAMPLE_TIMES_MAX);
        samples->times[samples->time_count++] = (struct sample_time){.seconds = 0};
        snprintf(samples->times[i].key, sizeof samples->times[i].key, "%s", key);
    }
    return &samples->times[i];
}

void samples_time(struct samples *samples, const char *key, double seconds)
{
    struct sample_time *time = sample_time_of(samples, key);
    time->seconds = seconds;
    time->piece_count = 0;
}

void samples_piece(struct samples *samples, const char *key, double begin, double end)
{
    struct sample_time *time = sample_time_of(samples, key);
    assert(time->piece_count < SAMPLE_PIECES_MAX);
    time->pieces[time->piece_count][0] = begin;
    time->pieces[time->piece_count++][1] = end;
    time->seconds += end - begin;
}

void samples_span(struct samples *samples, const char *key, double begin, double end)
{
    samples_time(samples, key, 0);
    samples_piece(samples, key, begin, end);
}

double sample_total(const struct sample_series *series)
{
    double total = 0;
    for (int64_t i = 0; i < series->count; i++)
        total += series->values[i];
    return total;
}

/* ---- on the common clock ---- */

static int64_t sample_ns(double seconds)
{
    return llround(seconds * 1e9);
}

static int64_t sample_common_ns(const struct sample_clock *clock, double wtime)
{
    return clock_common_ns(&clock->before, &clock->after, sample_ns(wtime)) - clock->zero_ns;
}

static bool sample_has_stamps(const struct samples *samples, const struct sample_series *series)
{
    return samples->clock.known && series->stamped && series->count > 0;
}

/* Operations of one rank, of some of its series and single times, in the order of their starts. */
struct sample_walk {
    const struct samples *samples;
    int count;
    struct {
        const struct sample_series *series; /* or, NULL, */
        const struct sample_time *time;
        int64_t at, end;
    } parts[8];
};

static struct sample_walk sample_walk_of(const struct samples *samples, const char *const *keys, int count)
{
    struct sample_walk walk = {.samples = samples};
    for (int k = 0; k < count; k++) {
        for (int i = 0; keys[k] && i < samples->series_count; i++)
            if (strcmp(samples->series[i].key, keys[k]) == 0 && sample_has_stamps(samples, &samples->series[i])) {
                assert(walk.count < (int)(sizeof walk.parts / sizeof walk.parts[0]));
                walk.parts[walk.count].series = &samples->series[i];
                walk.parts[walk.count++].end = samples->series[i].count;
            }
        for (int i = 0; keys[k] && samples->clock.known && i < samples->time_count; i++)
            if (strcmp(samples->times[i].key, keys[k]) == 0) {
                assert(walk.count < (int)(sizeof walk.parts / sizeof walk.parts[0]));
                walk.parts[walk.count].time = &samples->times[i];
                walk.parts[walk.count++].end = samples->times[i].piece_count;
            }
    }
    return walk;
}

/* The part whose next operation begins first; -1: none is left. */
static int sample_walk_first(const struct sample_walk *walk, double *ret_begin, double *ret_end)
{
    int first = -1;
    for (int i = 0; i < walk->count; i++) {
        const int64_t at = walk->parts[i].at;
        if (at == walk->parts[i].end)
            continue;
        const struct sample_series *series = walk->parts[i].series;
        const double begin = series ? series->starts[at] : walk->parts[i].time->pieces[at][0];
        if (first >= 0 && begin >= *ret_begin)
            continue;
        first = i;
        *ret_begin = begin;
        *ret_end = series ? begin + series->values[at] : walk->parts[i].time->pieces[at][1];
    }
    return first;
}

/* The next time in which this rank was in operations without a pause: {start, length} in ns. */
static bool sample_walk_next(struct sample_walk *walk, double ret_span[2])
{
    double begin, end, next_begin, next_end;
    int part = sample_walk_first(walk, &begin, &end);
    if (part < 0)
        return false;
    walk->parts[part].at++;
    while ((part = sample_walk_first(walk, &next_begin, &next_end)) >= 0 && next_begin <= end) {
        walk->parts[part].at++;
        end = next_end > end ? next_end : end;
    }
    ret_span[0] = (double)sample_common_ns(&walk->samples->clock, begin);
    ret_span[1] = (double)sample_ns(end - begin);
    return true;
}

enum { SPANS = 1024, TAG_SPANS = 3 };

/* Of a rank, on rank 0: its own ones, or what the rank sends when it is asked. */
struct sample_lane {
    struct sample_walk *own;
    MPI_Comm comm;
    int rank, have, at;
    bool is_last;
    double (*spans)[2];
};

static bool sample_lane_next(void *context, struct busy_op *ret_op)
{
    struct sample_lane *lane = context;
    if (lane->own) {
        double span[2];
        if (!sample_walk_next(lane->own, span))
            return false;
        *ret_op = (struct busy_op){.start_ns = span[0], .ns = span[1]};
        return true;
    }
    if (lane->at == lane->have && !lane->is_last) {
        const int go = 1;
        MPI_Status status;
        int numbers;
        MPI_Send(&go, 1, MPI_INT, lane->rank, TAG_GO, lane->comm);
        MPI_Recv(lane->spans, 2 * SPANS, MPI_DOUBLE, lane->rank, TAG_SPANS, lane->comm, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &numbers);
        lane->have = numbers / 2;
        lane->at = 0;
        lane->is_last = lane->have < SPANS;
    }
    if (lane->at == lane->have)
        return false;
    *ret_op = (struct busy_op){.start_ns = lane->spans[lane->at][0], .ns = lane->spans[lane->at][1]};
    lane->at++;
    return true;
}

static void sample_take_busy(void *context, size_t lane, const struct busy_op *op)
{
    double from, to;
    (void)lane;
    busy_clock_take(context, op, &from, &to);
}

static void sample_send_spans(struct sample_walk *walk, MPI_Comm comm)
{
    static double spans[SPANS][2];
    for (;;) {
        int go, count = 0;
        MPI_Recv(&go, 1, MPI_INT, 0, TAG_GO, comm, MPI_STATUS_IGNORE);
        if (!go)
            return;
        while (count < SPANS && sample_walk_next(walk, spans[count]))
            count++;
        MPI_Send(spans, 2 * count, MPI_DOUBLE, 0, TAG_SPANS, comm);
    }
}

double samples_busy_coll(const struct samples *samples, MPI_Comm comm, const char *const *keys, int count)
{
    struct sample_walk walk = sample_walk_of(samples, keys, count);
    struct busy_clock clock = {0};
    int me, size;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    if (me != 0) {
        sample_send_spans(&walk, comm);
        return 0;
    }
    /* Without memory nothing is known, and the others go on. */
    struct busy_lane *lanes = malloc((size_t)size * sizeof *lanes);
    struct sample_lane *sources = malloc((size_t)size * sizeof *sources);
    double(*spans)[2] = malloc((size_t)size * SPANS * sizeof *spans);
    const bool can = lanes && sources && spans;
    for (int rank = 0; can && rank < size; rank++) {
        sources[rank] = (struct sample_lane){
            .own = rank == 0 ? &walk : NULL, .comm = comm, .rank = rank, .spans = spans + (size_t)rank * SPANS};
        lanes[rank] = (struct busy_lane){.next = sample_lane_next, .context = &sources[rank]};
    }
    if (can)
        busy_merge(lanes, (size_t)size, sample_take_busy, &clock);
    for (int rank = 1; rank < size; rank++) {
        const int go = 0;
        MPI_Send(&go, 1, MPI_INT, rank, TAG_GO, comm);
    }
    free(spans);
    free(sources);
    free(lanes);
    return clock.busy_ns * 1e-9;
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

/* The starts of operations `first`..`first` + count: of each the pause since the one before ended, of the first one its
 * start. Small numbers, most of them 0. */
static void sample_gaps(const struct samples *samples, const struct sample_series *series, int64_t first, int64_t count,
                        int64_t *ret_gaps)
{
    int64_t end = 0;
    if (first > 0)
        end = sample_common_ns(&samples->clock, series->starts[first - 1]) + sample_ns(series->values[first - 1]);
    for (int64_t i = 0; i < count; i++) {
        const int64_t start = sample_common_ns(&samples->clock, series->starts[first + i]);
        ret_gaps[i] = start - end;
        end = start + sample_ns(series->values[first + i]);
    }
}

/* The same of the pieces of a single time, with the length of each: 2 numbers a piece. */
static int sample_piece_gaps(const struct samples *samples, const struct sample_time *time, int64_t *ret_gaps)
{
    int64_t end = 0;
    for (int i = 0; i < time->piece_count; i++) {
        const int64_t start = sample_common_ns(&samples->clock, time->pieces[i][0]);
        ret_gaps[2 * i] = start - end;
        ret_gaps[2 * i + 1] = sample_ns(time->pieces[i][1] - time->pieces[i][0]);
        end = start + ret_gaps[2 * i + 1];
    }
    return samples->clock.known ? 2 * time->piece_count : 0;
}

/* What a rank has besides its numbers: as it goes over the wire. */
struct sample_head {
    int time_count;
    int clock_known;
    int64_t clock[6];
    struct {
        struct sample_time time;
        int gap_count;
        int64_t gaps[2 * SAMPLE_PIECES_MAX];
    } times[SAMPLE_TIMES_MAX];
};

static void sample_head_of(const struct samples *samples, struct sample_head *ret_head)
{
    const struct sample_clock *clock = &samples->clock;
    bool stamps = false; /* without any nobody needs the clock */
    for (int i = 0; i < samples->series_count; i++)
        stamps = stamps || sample_has_stamps(samples, &samples->series[i]);
    for (int i = 0; i < samples->time_count; i++)
        stamps = stamps || samples->times[i].piece_count > 0;
    *ret_head = (struct sample_head){.time_count = samples->time_count,
                                     .clock_known = clock->known && stamps,
                                     .clock = {clock->before.at_ns + clock->before.offset_ns - clock->zero_ns,
                                               clock->before.offset_ns, clock->before.error_ns,
                                               clock->after.at_ns + clock->after.offset_ns - clock->zero_ns,
                                               clock->after.offset_ns, clock->after.error_ns}};
    for (int i = 0; i < samples->time_count; i++) {
        ret_head->times[i].time = samples->times[i];
        ret_head->times[i].gap_count = sample_piece_gaps(samples, &samples->times[i], ret_head->times[i].gaps);
    }
}

static void put_starts(struct blockfile_writer *writer, int rank, const char *key, const char *unit, int64_t count)
{
    char name[SAMPLE_NAME_MAX + 8];
    snprintf(name, sizeof name, "%s.start", key);
    blockfile_series(writer, rank, name, unit, count);
}

static void put_head(const struct sample_head *head, int rank, struct blockfile_writer *writer)
{
    for (int i = 0; i < head->time_count; i++)
        blockfile_time(writer, rank, head->times[i].time.key, sample_ns(head->times[i].time.seconds));
    for (int i = 0; i < head->time_count; i++)
        if (head->times[i].gap_count) {
            put_starts(writer, rank, head->times[i].time.key, "span", head->times[i].gap_count);
            blockfile_values(writer, head->times[i].gaps, (size_t)head->times[i].gap_count);
        }
    if (head->clock_known) {
        blockfile_series(writer, rank, "clock", "offset", 6);
        blockfile_values(writer, head->clock, 6);
    }
}

static int64_t gaps_chunk[CHUNK];
static struct sample_head head_buffer; /* like the chunks: on the heap its allocation could fail while others wait */

static void put_own(const struct samples *samples, int rank, struct blockfile_writer *writer)
{
    sample_head_of(samples, &head_buffer);
    put_head(&head_buffer, rank, writer);
    for (int i = 0; i < samples->series_count; i++) {
        const struct sample_series *series = &samples->series[i];
        blockfile_series(writer, rank, series->key, series->unit, series->count);
        put_values(writer, series->unit, series->values, series->count);
        if (!sample_has_stamps(samples, series))
            continue;
        put_starts(writer, rank, series->key, "gap", series->count);
        for (int64_t done = 0; done < series->count; done += CHUNK) {
            const int64_t left = series->count - done, count = left < CHUNK ? left : CHUNK;
            sample_gaps(samples, series, done, count, gaps_chunk);
            blockfile_values(writer, gaps_chunk, (size_t)count);
        }
    }
}

static void send_own(const struct samples *samples, MPI_Comm comm)
{
    int go;
    MPI_Recv(&go, 1, MPI_INT, 0, TAG_GO, comm, MPI_STATUS_IGNORE);
    sample_head_of(samples, &head_buffer);
    MPI_Send(&head_buffer, sizeof head_buffer, MPI_BYTE, 0, TAG_DATA, comm);
    for (int i = 0; i < samples->series_count; i++) {
        const struct sample_series *series = &samples->series[i];
        const int64_t sizes[2] = {series->count, sample_has_stamps(samples, series)};
        MPI_Send(sizes, 2, MPI_INT64_T, 0, TAG_DATA, comm);
        for (int64_t done = 0; done < series->count; done += CHUNK) {
            const int64_t left = series->count - done;
            MPI_Send(series->values + done, (int)(left < CHUNK ? left : CHUNK), MPI_DOUBLE, 0, TAG_DATA, comm);
        }
        for (int64_t done = 0; sizes[1] && done < series->count; done += CHUNK) {
            const int64_t left = series->count - done, count = left < CHUNK ? left : CHUNK;
            sample_gaps(samples, series, done, count, gaps_chunk);
            MPI_Send(gaps_chunk, (int)count, MPI_INT64_T, 0, TAG_DATA, comm);
        }
    }
}

static void receive_series(const struct sample_series *like, int rank, MPI_Comm comm, double *chunk,
                           struct blockfile_writer *writer)
{
    int64_t sizes[2];
    MPI_Recv(sizes, 2, MPI_INT64_T, rank, TAG_DATA, comm, MPI_STATUS_IGNORE);
    blockfile_series(writer, rank, like->key, like->unit, sizes[0]);
    for (int64_t done = 0; done < sizes[0]; done += CHUNK) {
        const int64_t left = sizes[0] - done;
        const int expected = (int)(left < CHUNK ? left : CHUNK);
        MPI_Recv(chunk, expected, MPI_DOUBLE, rank, TAG_DATA, comm, MPI_STATUS_IGNORE);
        put_values(writer, like->unit, chunk, expected);
    }
    if (sizes[1])
        put_starts(writer, rank, like->key, "gap", sizes[0]);
    for (int64_t done = 0; sizes[1] && done < sizes[0]; done += CHUNK) {
        const int64_t left = sizes[0] - done;
        const int expected = (int)(left < CHUNK ? left : CHUNK);
        MPI_Recv(gaps_chunk, expected, MPI_INT64_T, rank, TAG_DATA, comm, MPI_STATUS_IGNORE);
        blockfile_values(writer, gaps_chunk, (size_t)expected);
    }
}

static void receive_rank(const struct samples *like, int rank, MPI_Comm comm, double *chunk,
                         struct blockfile_writer *writer)
{
    int go = 1;
    MPI_Send(&go, 1, MPI_INT, rank, TAG_GO, comm);
    MPI_Recv(&head_buffer, sizeof head_buffer, MPI_BYTE, rank, TAG_DATA, comm, MPI_STATUS_IGNORE);
    put_head(&head_buffer, rank, writer);
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
