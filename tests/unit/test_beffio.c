/* The pure parts of b_eff_io: pattern table, schedule, termination, layout, values.
 * proves: BIO-1 BIO-3 BIO-4 BIO-5 BIO-6 BIO-8 BIO-10
 * It would fail if a pattern, a size or a time unit were not the document's; if a loop ended late or early, or its
 * decisions cost more than a tenth; if two chunks overlapped or left a hole; or if a value were averaged otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/beffio/beffio.h"

#include <math.h>

static const int64_t KB = 1024, MB = 1024 * 1024;

static void near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%.12g in the place of %.12g", got, wanted);
}

/* Table 2 as printed: type, number of the first pattern, l, L and U. M_PART is 3 MB here. */
static void table(void **state)
{
    (void)state;
    enum { M = 3 * 1024 * 1024 };
    static const struct {
        int64_t l, call;
        int units;
    } scatter[] = {{1048576, 1048576, 0}, {M, M, 4},           {1048576, 2097152, 4},
                   {1048576, 1048576, 4}, {32768, 1048576, 2}, {1024, 1048576, 2},
                   {32776, 1048832, 2},   {1032, 1056768, 2},  {1048584, 1048584, 2}},
      others[] = {{1048576, 1048576, 0}, {M, M, 2},         {1048576, 1048576, 2}, {32768, 32768, 1},
                  {1024, 1024, 1},       {32776, 32776, 1}, {1032, 1032, 1},       {1048584, 1048584, 2}};
    static const int first[] = {0, 9, 17, 25, 34, 43, 51};
    int units = 0, sums[BEFFIO_TYPES] = {0};
    for (int p = 0; p < BEFFIO_PATTERNS; p++)
        sums[BEFFIO_TABLE[p].type] += BEFFIO_TABLE[p].units;
    for (int t = 0; t < BEFFIO_TYPES; t++)
        units += sums[t];
    assert_int_equal(units, BEFFIO_UNITS);
    assert_true(sums[0] == 22 && sums[1] == 12 && sums[2] == 10 && sums[3] == 10 && sums[4] == 10);
    for (int t = 0; t < BEFFIO_TYPES_ALL; t++) {
        assert_int_equal(beffio_type_first(t), first[t]);
        assert_int_equal(beffio_type_end(t), first[t + 1]);
    }
    for (int i = 0; i < 9; i++) {
        assert_int_equal(beffio_chunk_bytes(BEFFIO_TABLE[i].chunk, M), scatter[i].l);
        assert_int_equal(beffio_call_bytes(i, M), scatter[i].call);
        assert_int_equal(BEFFIO_TABLE[i].units, scatter[i].units);
    }
    for (int t = 1; t < BEFFIO_TYPES_ALL; t++)
        for (int i = 0; i < 8; i++) {
            assert_int_equal(beffio_call_bytes(first[t] + i, M), others[i].call);
            assert_int_equal(beffio_chunk_bytes(BEFFIO_TABLE[first[t] + i].chunk, M), others[i].l);
            assert_int_equal(BEFFIO_TABLE[first[t] + i].units, t == 1 && i == 1 ? 4 : others[i].units);
        }
    assert_true(BEFFIO_TABLE[33].chunk == BEFFIO_FILL && BEFFIO_TABLE[42].chunk == BEFFIO_FILL);
}

static void sizes(void **state)
{
    (void)state;
    assert_int_equal(beffio_mpart(0, BEFFIO_BY_DOCUMENT), 2 * MB);
    assert_int_equal(beffio_mpart(256 * MB, BEFFIO_BY_DOCUMENT), 2 * MB);
    assert_int_equal(beffio_mpart(512 * MB, BEFFIO_BY_DOCUMENT), 4 * MB);
    assert_int_equal(beffio_mpart(INT64_C(16) << 30, BEFFIO_BY_DOCUMENT), 128 * MB);
    assert_int_equal(beffio_mpart((INT64_C(16) << 30) + 1024, BEFFIO_BY_DOCUMENT), 128 * MB + 8);
    assert_int_equal(beffio_mpart(INT64_C(1) << 40, BEFFIO_BY_DOCUMENT), INT64_C(8) << 30);
    assert_int_equal(beffio_mpart(INT64_C(1) << 40, BEFFIO_RELEASE_2_1), INT64_C(1) << 30);
    assert_int_equal(beffio_mpart(512 * MB, BEFFIO_RELEASE_2_1), 4 * MB);
    near(beffio_pattern_s(1, 900), 18.75); /* 15 min, U = 4 */
    near(beffio_pattern_s(5, 900), 9.375);
    near(beffio_pattern_s(0, 900), 0);
    static const int counterparts[3][BEFFIO_CHUNKS] = {
        {5, 7, 4, 6, 3, 8, 1}, {13, 15, 12, 14, 11, 16, 10}, {21, 23, 20, 22, 19, 24, 18}};
    for (int type = 0; type < 3; type++)
        for (int chunk = 0; chunk < BEFFIO_CHUNKS; chunk++)
            assert_int_equal(beffio_counterpart(type, (enum beffio_chunk)chunk), counterparts[type][chunk]);
}

/* Plays a loop whose calls and decisions cost always the same; returns its time. */
static double play(double call_s, double decision_s, const struct beffio_loop_plan *plan, int64_t *ret_calls,
                   int *ret_decisions, int64_t *batches)
{
    struct beffio_state at = {.decision_s = decision_s};
    int decisions = 0;
    for (;;) {
        const int64_t batch = beffio_next_batch(plan, &at);
        if (batches && decisions < 12)
            batches[decisions] = batch;
        if (batch == 0)
            break;
        assert_true(batch > 0 && batch <= plan->most_calls - at.calls);
        at.calls += batch;
        at.batch = batch;
        at.batch_s = (double)batch * call_s;
        at.elapsed_s += at.batch_s + decision_s;
        at.spent_s += decision_s;
        decisions++;
        assert_true(decisions < 100000);
    }
    *ret_calls = at.calls;
    *ret_decisions = decisions;
    return at.elapsed_s;
}

static void termination(void **state)
{
    (void)state;
    int64_t calls, batches[12] = {0};
    int decisions;
    /* 100 calls of 1 s: four times as many until a quarter of what is left is less */
    struct beffio_loop_plan plan = {.limit_s = 100, .pace_s = 100, .most_calls = INT64_MAX};
    static const int64_t wanted[12] = {1, 4, 16, 19, 15, 11, 8, 6, 5, 3, 3, 2};
    near(play(1, 0, &plan, &calls, &decisions, batches), 100);
    for (int i = 0; i < 12; i++)
        assert_int_equal(batches[i], wanted[i]);
    assert_int_equal(calls, 100);
    for (int c = 0; c < 60; c++)
        for (int d = 0; d < 5; d++) {
            const double call_s = 1e-7 * pow(1.37, c), decision_s = d ? 1e-6 * pow(7, d - 1) : 0;
            const double took = play(call_s, decision_s, &plan, &calls, &decisions, NULL);
            const double slack = call_s / 2 + decision_s + 1e-6;
            if (fabs(took - plan.limit_s) > slack * 1.01)
                fail_msg("calls of %g s, decisions of %g s: ended at %.6f s of 100", call_s, decision_s, took);
            if (decisions * decision_s > 0.1 * took)
                fail_msg("calls of %g s, decisions of %g s: %d decisions", call_s, decision_s, decisions);
        }
    /* short patterns too, whenever two decisions can be less than a tenth of them; a call that a pattern before made
     * expected to be a tenth as long, or ten times as long, changes nothing */
    for (int c = 0; c < 40; c++)
        for (int k = 0; k < 60; k++)
            for (int e = -1; e < 3; e++) {
                const double decision_s = 1e-5, limit_s = decision_s * 22 * pow(1.2, k);
                const double call_s = 1e-7 * pow(1.4, c), expected_s = e < 0 ? 0 : call_s * pow(10, e - 1);
                const struct beffio_loop_plan brief = {
                    .limit_s = limit_s, .pace_s = limit_s, .most_calls = INT64_MAX, .expected_s = expected_s};
                const double took = play(call_s, decision_s, &brief, &calls, &decisions, NULL);
                if (took > limit_s * 1.01 && took > limit_s + call_s + 2 * decision_s)
                    fail_msg("calls of %g s (%g expected): %g s in the place of %g", call_s, expected_s, took, limit_s);
                if (decisions * decision_s > BEFFIO_DECISION_SHARE * took)
                    fail_msg("calls of %g s (%g expected) for %g s: %d decisions of %g s in %g s", call_s, expected_s,
                             limit_s, decisions, decision_s, took);
            }
    /* at least one call, however long; never beyond the region; without a limit as many as planned */
    play(500, 0, &plan, &calls, &decisions, NULL);
    assert_int_equal(calls, 1);
    plan.most_calls = 37;
    play(0.1, 0, &plan, &calls, &decisions, NULL);
    assert_int_equal(calls, 37);
    plan = (struct beffio_loop_plan){.limit_s = INFINITY, .pace_s = 1, .most_calls = INT64_C(1) << 33};
    play(1e-7, 1e-6, &plan, &calls, &decisions, NULL);
    assert_int_equal(calls, INT64_C(1) << 33);
    plan.most_calls = 0;
    play(1, 0, &plan, &calls, &decisions, NULL);
    assert_int_equal(calls, 0);
}

static void space(void **state)
{
    (void)state;
    assert_int_equal(beffio_calls_in_space(100, MB, 1000 * MB), 100);
    assert_int_equal(beffio_calls_in_space(100, MB, 50 * MB), 45); /* 4 MB and 1 % are kept */
    assert_int_equal(beffio_calls_in_space(100, MB, 3 * MB), 0);
    assert_int_equal(beffio_calls_in_space(7, 0, 0), 7);
}

static struct beffio_measured measured_of(int64_t type0, int64_t type1, int64_t type2)
{
    struct beffio_measured measured = {.release = BEFFIO_BY_DOCUMENT};
    for (int p = 0; p < BEFFIO_PATTERNS_ALL; p++)
        measured.process_bytes[p] = BEFFIO_TABLE[p].type == 0 ? type0 : BEFFIO_TABLE[p].type == 1 ? type1 : type2;
    return measured;
}

static void segments(void **state)
{
    (void)state;
    struct beffio_measured measured = measured_of(30 * MB, 20 * MB, 10 * MB);
    assert_int_equal(beffio_repeats(&measured, BEFFIO_KB1, 2 * MB), 20 * 1024);
    assert_int_equal(beffio_repeats(&measured, BEFFIO_KB1_8, 2 * MB), 20 * MB / 1032);
    assert_int_equal(beffio_repeats(&measured, BEFFIO_MPART, 2 * MB), 10);
    struct beffio_layout layout;
    beffio_layout_plan(&layout, 3, 4, 2 * MB, &measured);
    /* 1 + 10·2 + 20 + 20 + 20 MB wellformed; 639·32776 + 20321·1032 + 19·1048584 bytes of the others */
    const int64_t sum = 81 * MB + 639 * 32776 + 20321 * 1032 + 19 * (MB + 8);
    assert_int_equal(layout.calls[25], 1);
    assert_int_equal(layout.calls[30], 639);
    assert_int_equal(layout.calls[31], 20321);
    assert_int_equal(layout.calls[32], 19);
    assert_int_equal(layout.segment_bytes, 140 * MB);
    assert_int_equal(layout.fill_bytes, 140 * MB - sum);
    assert_int_equal(layout.calls[33], 1);
    assert_int_equal(beffio_layout_start(&layout, 33), sum);
    assert_int_equal(beffio_layout_offset(&layout, 33, 3, 0), 3 * 140 * MB + sum);
    assert_int_equal(beffio_layout_total(&layout), 4 * 140 * MB);
    measured = measured_of(-1, 12 * MB, -1);
    assert_int_equal(beffio_repeats(&measured, BEFFIO_MB1, 2 * MB), 12);
    measured = measured_of(-1, -1, -1);
    assert_int_equal(beffio_repeats(&measured, BEFFIO_KB1, 2 * MB), 1);
    /* release 2.1: the least of type 0, ten times type 1, and type 2 */
    measured = measured_of(30 * MB, 2 * MB, 40 * MB);
    measured.release = BEFFIO_RELEASE_2_1;
    assert_int_equal(beffio_repeats(&measured, BEFFIO_KB1, 2 * MB), 20 * 1024);
    measured = measured_of(30 * MB, 4 * MB, 40 * MB);
    measured.release = BEFFIO_RELEASE_2_1;
    assert_int_equal(beffio_repeats(&measured, BEFFIO_KB1, 2 * MB), 30 * 1024);
    assert_int_equal(beffio_repeats(&measured, BEFFIO_KB32_8, 2 * MB), 30 * MB / 32776);
    measured = measured_of(30 * MB, 4 * MB, 3 * MB);
    measured.release = BEFFIO_RELEASE_2_1;
    assert_int_equal(beffio_repeats(&measured, BEFFIO_MB1, 2 * MB), 3);
    measured = measured_of(0, 0, 0);
    measured.release = BEFFIO_RELEASE_2_1;
    assert_int_equal(beffio_repeats(&measured, BEFFIO_MB1, 2 * MB), 1);
    /* beyond 32 bits: 3 TB for each process */
    measured = measured_of(INT64_C(3) << 40, INT64_C(3) << 40, INT64_C(3) << 40);
    beffio_layout_plan(&layout, 4, 1000, 2 * MB, &measured);
    assert_true(beffio_layout_offset(&layout, 42, 999, 0) > 999 * (INT64_C(20) << 40));
    assert_int_equal(layout.calls[38], INT64_C(3) << 30);
}

/* Every byte from 0 to the end exactly once: what calls cover, as lines of 8 bytes. */
static void cover(const struct beffio_layout *layout, int rank, unsigned char *seen, int64_t size)
{
    for (int p = beffio_type_first(layout->type); p < beffio_type_end(layout->type); p++)
        for (int64_t index = 0; index < layout->calls[p]; index++) {
            const int64_t call = beffio_layout_call_bytes(layout, p);
            const int chunks = BEFFIO_TABLE[p].chunks;
            const int64_t at = beffio_layout_offset(layout, p, rank, index);
            for (int c = 0; c < chunks; c++)
                for (int64_t b = 0; b < call / chunks; b += 8) {
                    const int64_t place = at + c * (call / chunks) * layout->nprocs + b;
                    assert_true(place >= 0 && place < size && place % 8 == 0);
                    assert_int_equal(seen[place / 8]++, 0);
                }
        }
}

static void offsets(void **state)
{
    (void)state;
    const struct beffio_measured measured = measured_of(2 * MB, 3 * MB, 4 * MB);
    for (int type = 0; type < BEFFIO_TYPES_ALL; type++) {
        struct beffio_layout layout;
        beffio_layout_plan(&layout, type, 3, 2 * MB, &measured);
        for (int p = beffio_type_first(type); p < beffio_type_end(type) && type < 3; p++)
            layout.calls[p] = 1 + p % 3;
        const int64_t size = beffio_layout_total(&layout) / (type == 2 ? 3 : 1);
        unsigned char *seen = calloc((size_t)(size / 8), 1);
        assert_non_null(seen);
        for (int rank = 0; rank < (type == 2 ? 1 : 3); rank++)
            cover(&layout, rank, seen, size);
        for (int64_t i = 0; i < size / 8; i++)
            assert_int_equal(seen[i], 1);
        free(seen);
    }
    struct beffio_layout layout;
    beffio_layout_plan(&layout, 0, 4, 2 * MB, &measured);
    layout.calls[0] = 1;
    layout.calls[1] = 2;
    assert_int_equal(beffio_layout_start(&layout, 2), 4 * MB + 2 * 8 * MB);
    assert_int_equal(beffio_layout_offset(&layout, 5, 3, 0) - beffio_layout_start(&layout, 5), 3 * KB);
    assert_int_equal(beffio_layout_offset(&layout, 5, 3, 2) - beffio_layout_start(&layout, 5), 8 * MB + 3 * KB);
}

static void values(void **state)
{
    (void)state;
    const struct beffio_rates rates = {
        .type = {{60, 30, 20, 10, 10, NAN}, {80, 40, 40, 20, 20, NAN}, {100, 50, 50, 50, 50, NAN}}};
    near(beffio_method_value(rates.type[BEFFIO_WRITE]), 190.0 / 6);
    near(beffio_rewrite_value(&rates, false), 280.0 / 6);
    near(beffio_rewrite_value(&rates, true), 80);
    near(beffio_partition_value(&rates, false), (190 + 280 + 2 * 400) / 24.0);
    near(beffio_partition_value(&rates, true), (190 + 6 * 80 + 2 * 400) / 24.0);
    near(beffio_value_2_1(&rates, rates.type[BEFFIO_READ]), sqrt(210.0 / 6 * 400 / 6));
    struct beffio_rates missing = rates;
    missing.type[BEFFIO_READ][3] = NAN;
    assert_true(isnan(beffio_partition_value(&missing, false)) &&
                isnan(beffio_value_2_1(&missing, missing.type[BEFFIO_READ])));
    near(beffio_cache_share(20e9, 1e9), 0.05);
    near(beffio_cache_share(5e8, 1e9), 1);
    near(beffio_coffee_minutes(600e9, 1000), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),    cmocka_unit_test(sizes),   cmocka_unit_test(termination), cmocka_unit_test(space),
        cmocka_unit_test(segments), cmocka_unit_test(offsets), cmocka_unit_test(values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
