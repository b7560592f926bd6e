/* The choice between the ring and the direct way, from nothing but the cost of earlier calls.
 * proves: COLL-5
 * It would fail if the better way were not found, if trying the other cost more than a twentieth once both are known,
 * if a change of the machine went unnoticed or a single long call was taken for one, or if parts of the file were
 * mapped for nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "engine/tune/tune.h"

/* What `calls` calls cost in all, with these costs of the two ways. */
static double run(struct tune_record *record, int calls, const double cost[2])
{
    double sum = 0;
    for (int i = 0; i < calls; i++) {
        const enum tune_way way = tune_choose(record, STORAGE_NEW, false);
        tune_note(record, way, cost[way]);
        sum += cost[way];
    }
    return sum;
}

static void steady(void **unused)
{
    (void)unused;
    static const double costs[][2] = {{1, 1.05}, {1, 1.25}, {1, 2},   {1, 3.9}, {1, 50},
                                      {1.1, 1},  {2, 1},    {3.5, 1}, {30, 1}};
    for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++) {
        struct tune_record record = {0};
        run(&record, 7, costs[i]); /* until both are known */
        const double best = costs[i][0] < costs[i][1] ? costs[i][0] : costs[i][1];
        const double sum = run(&record, 640, costs[i]);
        if (sum > 640 * best * 1.05)
            fail_msg("costs of %.2f and %.2f: %.1f %% above the better way", costs[i][0], costs[i][1],
                     100 * (sum / (640 * best) - 1));
    }
}

/* The first call through the ring pays for fresh memory: that says nothing of the next ones. */
static void fresh_memory(void **unused)
{
    (void)unused;
    struct tune_record record = {0};
    assert_int_equal(tune_choose(&record, STORAGE_NEW, false), TUNE_AGGREGATE);
    tune_note(&record, TUNE_AGGREGATE, 1000);
    run(&record, 5, (double[]){1, 2});
    assert_int_equal(tune_choose(&record, STORAGE_NEW, false), TUNE_AGGREGATE);
}

static void change(void **unused)
{
    (void)unused;
    struct tune_record record = {0};
    run(&record, 30, (double[]){1, 2});
    assert_int_equal(tune_choose(&record, STORAGE_NEW, false), TUNE_AGGREGATE);
    run(&record, 8, (double[]){5, 2}); /* ranks were moved to cores far apart, say */
    assert_int_equal(tune_choose(&record, STORAGE_NEW, false), TUNE_DIRECT);
    run(&record, 200, (double[]){1, 2}); /* and back: found out when the ring is tried again */
    assert_int_equal(tune_choose(&record, STORAGE_NEW, false), TUNE_AGGREGATE);
}

/* A rank that was kept from running: one long call says nothing. */
static void disturbed(void **unused)
{
    (void)unused;
    struct tune_record record = {0};
    run(&record, 30, (double[]){1, 1.5});
    tune_note(&record, TUNE_AGGREGATE, 50);
    assert_int_equal(tune_choose(&record, STORAGE_NEW, false), TUNE_AGGREGATE);
}

static void series(struct tune_record *record, int calls, enum storage_ground ground, const double *cost, int *ret_ring)
{
    *ret_ring = 0;
    for (int i = 0; i < calls; i++) {
        const enum tune_way way = tune_choose(record, ground, false);
        *ret_ring += way == TUNE_AGGREGATE;
        tune_note(record, way, cost[way]);
    }
}

/* Places that are accessed again are mapped, though that costs more than the ring, since later calls gain by it. But
 * not for ever where they find nothing mapped all the same, and not where a map is not the quickest. */
static void mapped(void **unused)
{
    (void)unused;
    static const double good[TUNE_WAYS] = {1, 2, 0.5}, bad[TUNE_WAYS] = {1, 2, 1.5};
    struct tune_record record = {0};
    int ring;
    series(&record, 64, STORAGE_NEW, good, &ring);
    assert_true(ring >= 58);
    series(&record, 32, STORAGE_SEEN, good, &ring);
    assert_int_equal(ring, 0);
    series(&record, 640, STORAGE_HELD, good, &ring);
    assert_true(ring <= 10);

    record = (struct tune_record){0};
    series(&record, 640, STORAGE_SEEN, good, &ring); /* never held */
    assert_true(ring >= 360);

    record = (struct tune_record){0};
    series(&record, 8, STORAGE_SEEN, bad, &ring);
    series(&record, 64, STORAGE_HELD, bad, &ring);
    assert_true(ring >= 58);
    series(&record, 64, STORAGE_SEEN, bad, &ring);
    assert_true(ring >= 58);
}

/* Where the direct way is likely the better one, it is taken at once; the other is not tried in the first calls, and
 * found all the same where that was wrong. */
static void direct_first(void **unused)
{
    (void)unused;
    static const double right[2] = {2, 1}, wrong[2] = {1, 3};
    struct tune_record record = {0};
    double sum = 0;
    for (int i = 0; i < 20; i++) {
        const enum tune_way way = tune_choose(&record, STORAGE_NEW, true);
        tune_note(&record, way, right[way]);
        sum += right[way];
    }
    assert_true(sum <= 20 * 1.1);
    record = (struct tune_record){0};
    for (int i = 0; i < 100; i++) {
        const enum tune_way way = tune_choose(&record, STORAGE_NEW, true);
        tune_note(&record, way, wrong[way]);
    }
    assert_int_equal(tune_choose(&record, STORAGE_NEW, true), TUNE_AGGREGATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steady), cmocka_unit_test(fresh_memory),
                                       cmocka_unit_test(change), cmocka_unit_test(disturbed),
                                       cmocka_unit_test(mapped), cmocka_unit_test(direct_first)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
