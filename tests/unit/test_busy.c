/* Many ranks on one clock: when at least one of them was busy, and how clocks are compared.
 * proves: IOT-6 IOT-32
 * It would fail if ranks that run one after the other were rated as if they ran side by side, if pauses of all ranks
 * were counted, if an operation were lost in the merge or given to another part of the time, if a set without stamps
 * had another rate than before, or if an offset were not taken from the fastest exchange or did not follow a drift. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <math.h>

#include "base/busy.h"
#include "base/clock.h"
#include "base/rng.h"
#include "lab/result/analysis_rows.h"

/* ---- lanes ---- */

struct lane {
    struct busy_op ops[2000];
    size_t count, at;
};

static bool lane_next(void *context, struct busy_op *ret_op)
{
    struct lane *lane = context;
    if (lane->at == lane->count)
        return false;
    *ret_op = lane->ops[lane->at++];
    return true;
}

struct sweep {
    struct busy_clock clock;
    struct busy_slices slices;
    double last_start;
    size_t taken;
};

static void sweep_take(void *context, size_t lane, const struct busy_op *op)
{
    struct sweep *sweep = context;
    double from, to;
    (void)lane;
    assert_true(sweep->taken++ == 0 || op->start_ns >= sweep->last_start);
    sweep->last_start = op->start_ns;
    busy_clock_take(&sweep->clock, op, &from, &to);
    assert_true(from >= 0 && to >= from && to <= sweep->clock.busy_ns);
    busy_slices_add(&sweep->slices, from, to, op->bytes);
}

static struct sweep *sweep_of(struct lane *lanes, size_t count)
{
    static struct sweep sweep;
    struct busy_lane list[16];
    memset(&sweep, 0, sizeof sweep);
    for (size_t i = 0; i < count; i++) {
        lanes[i].at = 0;
        list[i] = (struct busy_lane){.next = lane_next, .context = &lanes[i]};
    }
    assert_true(busy_merge(list, count, sweep_take, &sweep));
    return &sweep;
}

/* `n` operations of 100 ns with pauses of `gap` between them, from `start` on. */
static void fill(struct lane *lane, size_t n, double start, double gap)
{
    lane->count = n;
    for (size_t i = 0; i < n; i++)
        lane->ops[i] = (struct busy_op){start + (double)i * (100 + gap), 100, 10};
}

static void busy_time_of_two_ranks(void **state)
{
    static struct lane lanes[3];
    (void)state;
    fill(&lanes[0], 10, 0, 0);
    fill(&lanes[1], 10, 0, 0);
    assert_true(sweep_of(lanes, 2)->clock.busy_ns == 1000); /* side by side */
    fill(&lanes[1], 10, 1000, 0);
    assert_true(sweep_of(lanes, 2)->clock.busy_ns == 2000); /* one after the other */
    fill(&lanes[1], 10, 500, 0);
    assert_true(sweep_of(lanes, 2)->clock.busy_ns == 1500);
    fill(&lanes[0], 10, 0, 100);
    fill(&lanes[1], 10, 100, 100);
    assert_true(sweep_of(lanes, 2)->clock.busy_ns == 2000); /* in turns */
    fill(&lanes[1], 10, 0, 100);
    assert_true(sweep_of(lanes, 2)->clock.busy_ns == 1000); /* pauses of all: checks of what was read */
    fill(&lanes[1], 10, 5000, 0);
    assert_true(sweep_of(lanes, 2)->clock.busy_ns == 2000);
    lanes[1].count = 0;
    assert_true(sweep_of(lanes, 2)->clock.busy_ns == 1000 && sweep_of(lanes, 2)->taken == 10);
    lanes[0].count = 0;
    assert_true(sweep_of(lanes, 2)->clock.busy_ns == 0);
    assert_true(sweep_of(lanes, 0)->taken == 0);
}

/* Against a map of all nanoseconds. */
static void busy_time_of_random_ranks(void **state)
{
    enum { RANKS = 7, OPS = 200, END = 100000 };
    static struct lane lanes[RANKS];
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        static char map[END];
        double busy = 0, bytes[7], ns[7], sum_bytes = 0, sum_ns = 0, all = 0;
        memset(map, 0, sizeof map);
        for (int r = 0; r < RANKS; r++) {
            int64_t at = (int64_t)(rng_at(seed, (uint64_t)r) % 2000);
            lanes[r].count = OPS;
            for (int i = 0; i < OPS; i++) {
                const uint64_t dice = rng_at(seed * 1000 + (uint64_t)r, (uint64_t)i);
                const int64_t length = (int64_t)(dice % 40), pause = (int64_t)(dice >> 20) % (r < 2 ? 400 : 40);
                at += pause;
                lanes[r].ops[i] = (struct busy_op){(double)at, (double)length, (double)(dice >> 40 & 0xff)};
                all += lanes[r].ops[i].bytes;
                memset(map + at, 1, (size_t)length);
                at += length;
            }
        }
        for (size_t i = 0; i < END; i++)
            busy += map[i];
        const struct sweep *sweep = sweep_of(lanes, RANKS);
        assert_true(sweep->clock.busy_ns == busy && sweep->taken == RANKS * OPS);
        busy_slices_cut(&sweep->slices, busy, 7, bytes, ns);
        for (int i = 0; i < 7; i++) {
            assert_true(fabs(ns[i] - busy / 7) < busy / 100);
            sum_bytes += bytes[i];
            sum_ns += ns[i];
        }
        assert_true(fabs(sum_ns - busy) < 1e-6 * busy && fabs(sum_bytes - all) < 1e-6 * all);
    }
}

/* ---- clocks ---- */

/* Exchanges with a clock that is `ahead` and drifts: ways of random length, one in ten far longer. */
static struct clock_offset compare(int64_t now, double ahead, double drift, uint64_t seed)
{
    struct clock_ping pings[24];
    for (uint64_t i = 0; i < 24; i++) {
        const int64_t slow = rng_at(seed, 3 * i) % 10 == 0 ? 200000 : 0;
        const int64_t there = 1000 + (int64_t)(rng_at(seed, 3 * i + 1) % 3000) + slow,
                      back = 1000 + (int64_t)(rng_at(seed, 3 * i + 2) % 3000);
        pings[i].sent_ns = now;
        pings[i].answered_ns = now + there + (int64_t)(ahead + drift * (double)(now + there));
        pings[i].received_ns = now + there + back;
        now = pings[i].received_ns + 500;
    }
    return clock_offset_of(pings, 24);
}

static void offsets_are_estimated(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        const double ahead = (double)(int64_t)(rng_at(seed, 99) % 2000000000) - 1e9, drift = 5e-5; /* 50 µs a second */
        const struct clock_offset before = compare(1000000, ahead, drift, seed),
                                  after = compare(10000000000, ahead, drift, seed + 1000);
        assert_in_range(before.error_ns, 1000, 4000);
        assert_true(fabs((double)before.offset_ns - (ahead + drift * (double)before.at_ns)) <=
                    (double)before.error_ns + 1);
        assert_true(fabs((double)after.offset_ns - (ahead + drift * (double)after.at_ns)) <=
                    (double)after.error_ns + 1);
        for (int64_t local = before.at_ns; local < after.at_ns; local += 777777777) {
            const double common = (double)local + ahead + drift * (double)local;
            assert_true(fabs((double)clock_common_ns(&before, &after, local) - common) <= 4001);
        }
    }
    const struct clock_offset once = {1000, 77, 0};
    assert_int_equal(clock_common_ns(&once, &once, 5000), 5077);
}

/* ---- from a block file ---- */

enum { OPERATIONS = 40, BLOCK = 1000 };

/* Two ranks with 40 operations of 1 µs each; rank 1 begins `late` ns after rank 0. */
static void write_set(struct blockfile_writer *writer, bool stamps, int64_t late)
{
    int64_t times[OPERATIONS], gaps[OPERATIONS] = {0};
    const int64_t spans[2] = {5000000 + late, 40000};
    for (int i = 0; i < OPERATIONS; i++)
        times[i] = 1000;
    blockfile_set(writer);
    blockfile_param(writer, "blocksize_bytes", "%d", BLOCK);
    for (int rank = 0; rank < 2; rank++) {
        blockfile_time(writer, rank, "write", 40000);
        blockfile_series(writer, rank, "w", "ns", OPERATIONS);
        blockfile_values(writer, times, OPERATIONS);
        if (!stamps)
            continue;
        gaps[0] = 5000000 + (rank ? late : 0);
        blockfile_series(writer, rank, "w.start", "gap", OPERATIONS);
        blockfile_values(writer, gaps, OPERATIONS);
        blockfile_series(writer, rank, "write.start", "span", 2);
        blockfile_values(writer, rank ? spans : (const int64_t[]){5000000, 40000}, 2);
    }
}

static void rates_of_a_file(void **state)
{
    char path[] = "/tmp/piolet-test-busy.XXXXXX";
    struct pl_error error;
    struct blockfile_writer *writer;
    struct blockfile file;
    (void)state;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(blockfile_writer_open(path, &writer, &error), PL_OK);
    blockfile_begin(writer, "Lowlevel", "multiple");
    assert_int_equal(blockfile_end_head(writer, &error), PL_OK);
    for (int set = 0; set < 5; set++) { /* side by side, half overlapped, one after the other, without stamps, apart */
        write_set(writer, set != 3, set < 4 ? set * 20000 : 60000);
        assert_int_equal(blockfile_end_set(writer, &error), PL_OK);
    }
    assert_int_equal(blockfile_end(writer, &error), PL_OK);
    assert_int_equal(blockfile_writer_close(writer, &error), PL_OK);
    assert_int_equal(blockfile_open(path, &file, &error), PL_OK);
    const struct analysis_input input = {.files = &file, .file_count = 1};
    const struct analysis_request request = {.to = INT64_MAX};
    struct analysis_chosen chosen = {0};
    static const double rates[] = {2000, 4000 / 3.0, 1000, 2000, 1000}; /* MB/s; by calls it is 2000 each time */
    static const double busy[] = {40000, 60000, 80000, NAN, 80000}, spans[] = {40000, 60000, 80000, NAN, 100000};
    for (int set = 0; set < 5; set++) {
        struct analysis_rows rows;
        struct analysis_op_rate rate;
        struct analysis_time time;
        const char *const keys[] = {"write"};
        assert_true(analysis_next(&request, &input, &chosen));
        assert_int_equal(analysis_rows_build(&request, &chosen, &rows, &error), PL_OK);
        assert_int_equal(rows.count, 2); /* stamps are no operations of their own */
        assert_true(analysis_op_rate(&rows, rows.ops[0].first, rows.ops[0].end, &rate));
        assert_true(fabs(rate.rate.value - rates[set]) < 1e-6 * rates[set]);
        assert_true(fabs(rate.call_rate.value - 2000) < 1e-6);
        assert_int_equal(rate.by_calls, set == 3);
        assert_true(fabs(rate.point_rate[rate.point_count - 1] - rates[set]) < 1e-6 * rates[set]);
        assert_int_equal(analysis_busy_of(&request, &chosen, keys, 1, &time, &error), PL_OK);
        assert_true(set == 3 ? isnan(time.busy_ns) : time.busy_ns == busy[set]);
        assert_true(set == 3 ? isnan(time.span_ns) : time.span_ns == spans[set]);
        assert_true(set == 3 ? isnan(rate.span_rate) : fabs(rate.span_rate - 80e6 / spans[set]) < 1e-6);
        analysis_rows_clear(&rows);
    }
    blockfile_close(&file);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_time_of_two_ranks),
        cmocka_unit_test(busy_time_of_random_ranks),
        cmocka_unit_test(offsets_are_estimated),
        cmocka_unit_test(rates_of_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
