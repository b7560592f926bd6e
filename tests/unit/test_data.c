/* The data that tests write and check, and the task that chooses it in singleI and multipleI.
 * proves: IOT-10 IOT-14
 * It would fail if a block of another place, seed or salt passed the check, if a changed number passed `full`, if pages
 * or whole blocks could be exchanged unseen, or if the task did not give the same sequence again after a reset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "bench/iot/iot_data.h"

enum { COUNT = 8192, PAGE = 512, TRIALS = 4000 }; /* doubles of a block, of a page; blocks tried */

static struct iot_data data, other; /* of seeds 7 and 8 */

static int setup(void **state)
{
    (void)state;
    struct pl_error error;
    return iot_data_init(&data, COUNT * 8, 7, &error) || iot_data_init(&other, COUNT * 8, 8, &error);
}

static int teardown(void **state)
{
    (void)state;
    iot_data_clear(&data);
    iot_data_clear(&other);
    return 0;
}

static int64_t offset_of(int64_t k)
{
    return k * COUNT * 8;
}

static void in_range_and_uniform(void **state)
{
    (void)state;
    double sum = 0;
    const double *block = iot_data_block(&data, 0, 0);
    for (int i = 0; i < COUNT; i++) {
        assert_true(block[i] >= 0 && block[i] < 1);
        sum += block[i];
    }
    assert_true(sum / COUNT > 0.48 && sum / COUNT < 0.52);
}

static void same_again(void **state)
{
    (void)state;
    struct iot_data again;
    struct pl_error error;
    assert_int_equal(iot_data_init(&again, 64, 7, &error), PL_OK); /* the pool's length does not matter */
    for (int64_t k = 0; k < 100; k++)
        assert_memory_equal(iot_data_block(&data, offset_of(k), 3), iot_data_block(&again, offset_of(k), 3), 64);
    iot_data_clear(&again);
    iot_data_clear(&again);
}

static void unchanged_passes(void **state)
{
    (void)state;
    for (int64_t k = 0; k < TRIALS; k++) {
        const double *wanted = iot_data_block(&data, offset_of(k), 0);
        assert_int_equal(iot_data_check(IOT_CHECK_SAMPLE, wanted, wanted, COUNT, (uint64_t)k), -1);
    }
    const double *wanted = iot_data_block(&data, 0, 0);
    assert_int_equal(iot_data_check(IOT_CHECK_FULL, wanted, wanted, COUNT, 0), -1);
    assert_int_equal(iot_data_check(IOT_CHECK_NONE, wanted, other.pool, COUNT, 0), -1);
    assert_int_equal(iot_data_check(IOT_CHECK_FULL, wanted, other.pool, 0, 0), -1);
}

/* How often a block of another place, salt or seed passes. Places share a window once in IOT_DATA_WINDOWS. */
static void foreign_block(void **state)
{
    (void)state;
    int missed_place = 0, missed_salt = 0, missed_seed = 0;
    for (int64_t k = 0; k < TRIALS; k++) {
        const enum iot_check check = k % 2 ? IOT_CHECK_FULL : IOT_CHECK_SAMPLE;
        const double *wanted = iot_data_block(&data, offset_of(k), 0);
        const double *next = iot_data_block(&data, offset_of(k + 1), 0);
        const double *salted = iot_data_block(&data, offset_of(k), 1);
        const double *seeded = iot_data_block(&other, offset_of(k), 0);
        missed_place += iot_data_check(check, wanted, next, COUNT, (uint64_t)k) < 0;
        missed_salt += iot_data_check(check, wanted, salted, COUNT, (uint64_t)k) < 0;
        missed_seed += iot_data_check(check, wanted, seeded, COUNT, (uint64_t)k) < 0;
    }
    assert_int_equal(missed_seed, 0);
    assert_true(missed_place <= 5);
    assert_true(missed_salt <= 5);
}

/* Where two places do have the same data, exchanging them changes nothing; everywhere else `full` must see it. */
static void full_sees_every_difference(void **state)
{
    (void)state;
    for (int64_t k = 0; k < 500; k++) {
        const double *wanted = iot_data_block(&data, offset_of(k), 0);
        const double *got = iot_data_block(&data, offset_of(k + 1), 0);
        const int64_t found = iot_data_check(IOT_CHECK_FULL, wanted, got, COUNT, 0);
        assert_true((found < 0) == (memcmp(wanted, got, COUNT * 8) == 0));
    }
}

static void one_number(void **state)
{
    (void)state;
    double *got = malloc(COUNT * sizeof *got);
    const double *wanted = iot_data_block(&data, 0, 0);
    for (int64_t i = 0; i < COUNT; i += 37) {
        memcpy(got, wanted, COUNT * sizeof *got);
        ((unsigned char *)&got[i])[i % 8] ^= 1; /* one bit */
        assert_int_equal(iot_data_check(IOT_CHECK_FULL, wanted, got, COUNT, 0), i);
    }
    for (int edge = 0; edge < 2; edge++) { /* the first and the last are always in the sample */
        memcpy(got, wanted, COUNT * sizeof *got);
        got[edge ? COUNT - 1 : 0] = 2;
        assert_int_equal(iot_data_check(IOT_CHECK_SAMPLE, wanted, got, COUNT, 0), edge ? COUNT - 1 : 0);
    }
    free(got);
}

/* Zeroes in the place of one page, and two pages exchanged, in another place with each trial. */
static void pages(void **state)
{
    (void)state;
    double *got = malloc(COUNT * sizeof *got);
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        const double *wanted = iot_data_block(&data, offset_of((int64_t)trial), 0);
        const int64_t a = (int64_t)(trial % (COUNT / PAGE)), b = (a + 1) % (COUNT / PAGE);
        memcpy(got, wanted, COUNT * sizeof *got);
        memset(got + a * PAGE, 0, PAGE * sizeof *got);
        assert_true(iot_data_check(IOT_CHECK_SAMPLE, wanted, got, COUNT, trial) >= 0);
        memcpy(got, wanted, COUNT * sizeof *got);
        memcpy(got + a * PAGE, wanted + b * PAGE, PAGE * sizeof *got);
        memcpy(got + b * PAGE, wanted + a * PAGE, PAGE * sizeof *got);
        assert_true(iot_data_check(IOT_CHECK_SAMPLE, wanted, got, COUNT, trial) >= 0);
        assert_int_equal(iot_data_check(IOT_CHECK_FULL, wanted, got, COUNT, trial), (a < b ? a : b) * PAGE);
    }
    free(got);
}

/* A single wrong number somewhere inside: `sample` meets it once in 512 blocks or so, in every place. */
static void sample_moves_about(void **state)
{
    (void)state;
    double *got = malloc(COUNT * sizeof *got);
    const double *wanted = iot_data_block(&data, 0, 0);
    memcpy(got, wanted, COUNT * sizeof *got);
    for (int64_t i = 100; i < COUNT; i += 1500) {
        int noticed = 0;
        got[i] = 2;
        for (uint64_t where = 0; where < 20 * PAGE; where++)
            noticed += iot_data_check(IOT_CHECK_SAMPLE, wanted, got, COUNT, rng_mix(where)) == i;
        got[i] = wanted[i];
        assert_true(noticed > 5 && noticed < 60);
    }
    free(got);
}

static void tiny_blocks(void **state)
{
    (void)state;
    int missed = 0;
    for (int64_t k = 0; k < TRIALS; k++) {
        const double *wanted = iot_data_block(&data, k * 8, 0), *got = iot_data_block(&data, k * 8 + 8, 0);
        missed += iot_data_check(IOT_CHECK_SAMPLE, wanted, got, 1, (uint64_t)k) < 0;
    }
    assert_true(missed <= 5);
}

static void names(void **state)
{
    (void)state;
    assert_int_equal(iot_check_named("none"), IOT_CHECK_NONE);
    assert_int_equal(iot_check_named("sample"), IOT_CHECK_SAMPLE);
    assert_int_equal(iot_check_named("full"), IOT_CHECK_FULL);
}

static void task_sequence(void **state)
{
    (void)state;
    static const int orders[] = {1, 2, 10, 100};
    for (size_t o = 0; o < sizeof orders / sizeof orders[0]; o++) {
        enum { LENGTH = 300 };
        double first[LENGTH];
        struct iot_task task, twin;
        struct pl_error error;
        assert_int_equal(iot_task_init(&task, orders[o], 1, &error), PL_OK);
        assert_int_equal(iot_task_init(&twin, orders[o], 3, &error), PL_OK);
        for (int i = 0; i < LENGTH; i++) {
            first[i] = iot_task_run(&task);
            assert_true(first[i] > 0 && first[i] <= orders[o]);
            for (int k = 0; k < i; k++)
                assert_true(first[k] != first[i]);
        }
        iot_task_reset(&task);
        for (int i = 0; i < LENGTH; i++)
            assert_true(iot_task_run(&task) == first[i]);
        for (int i = 2; i < LENGTH; i += 3) /* three products in a task: every third result */
            assert_true(iot_task_run(&twin) == first[i]);
        iot_task_clear(&task);
        iot_task_clear(&task);
        iot_task_clear(&twin);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_range_and_uniform),
        cmocka_unit_test(same_again),
        cmocka_unit_test(unchanged_passes),
        cmocka_unit_test(foreign_block),
        cmocka_unit_test(full_sees_every_difference),
        cmocka_unit_test(one_number),
        cmocka_unit_test(pages),
        cmocka_unit_test(sample_moves_about),
        cmocka_unit_test(tiny_blocks),
        cmocka_unit_test(names),
        cmocka_unit_test(task_sequence),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
