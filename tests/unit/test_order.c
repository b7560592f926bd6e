/* The pseudo-random order of nonseq: a permutation in closed form.
 * proves: IOT-22
 * It would fail if a number came twice or never, if two seeds gave one order, if an order were no mixture at all, or if
 * the order of a seed changed from one version to the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/iot/iot_data.h"

static void check_permutation(int64_t count, uint64_t seed)
{
    const struct iot_order order = iot_order_make(count, seed);
    unsigned char *seen = calloc((size_t)count, 1);
    assert_non_null(seen);
    for (int64_t i = 0; i < count; i++) {
        const int64_t number = iot_order_at(&order, i);
        if (number < 0 || number >= count || seen[number]++)
            fail_msg("count %lld, seed %llu: place %lld has %lld, out of range or for the second time",
                     (long long)count, (unsigned long long)seed, (long long)i, (long long)number);
    }
    free(seen);
}

static void every_number_once(void **state)
{
    (void)state;
    for (int64_t count = 1; count <= 300; count++)
        for (uint64_t seed = 0; seed < 5; seed++)
            check_permutation(count, seed * UINT64_C(0x123456789abcdef));
    static const int64_t counts[] = {1023, 1024, 1025, 4096, 4097, 65535, 65536, 65537, 1000003};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        check_permutation(counts[i], UINT64_MAX - i);
}

/* Far more blocks than a list could hold: different places, different numbers, all in range. */
static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void large_counts(void **state)
{
    (void)state;
    enum { TRIED = 20000 };
    static int64_t numbers[TRIED];
    static const int64_t counts[] = {INT64_C(1) << 31, (INT64_C(1) << 31) + 1, INT64_C(1) << 40,
                                     INT64_C(125000000000000000)};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        const struct iot_order order = iot_order_make(counts[c], 7);
        for (int64_t i = 0; i < TRIED; i++) {
            numbers[i] = iot_order_at(&order, i % 2 ? counts[c] - i : i);
            assert_true(numbers[i] >= 0 && numbers[i] < counts[c]);
        }
        qsort(numbers, TRIED, sizeof numbers[0], by_value);
        for (int i = 1; i < TRIED; i++)
            assert_true(numbers[i] != numbers[i - 1]);
        assert_true(numbers[TRIED / 2] > counts[c] / 3 && numbers[TRIED / 2] < counts[c] / 3 * 2); /* from all over */
    }
}

static int64_t agreements(const struct iot_order *a, const struct iot_order *b)
{
    int64_t same = 0;
    for (int64_t i = 0; i < a->count; i++)
        same += iot_order_at(a, i) == (b ? iot_order_at(b, i) : i);
    return same;
}

/* Two random orders agree in one place on average, and so does an order with the plain one. */
static void seeds_differ(void **state)
{
    (void)state;
    enum { COUNT = 1000, SEEDS = 50 };
    int64_t plain = 0, neighbours = 0, steps = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const struct iot_order one = iot_order_make(COUNT, seed), two = iot_order_make(COUNT, seed + 1);
        plain += agreements(&one, NULL);
        neighbours += agreements(&one, &two);
        for (int64_t i = 1; i < COUNT; i++)
            steps += iot_order_at(&one, i) == iot_order_at(&one, i - 1) + 1;
    }
    assert_true(plain < 3 * SEEDS);
    assert_true(neighbours < 3 * SEEDS);
    assert_true(steps < 3 * SEEDS); /* no run of blocks one behind the other */
}

static void same_seed_same_order(void **state)
{
    (void)state;
    const struct iot_order one = iot_order_make(1000, 42), two = iot_order_make(1000, 42);
    assert_true(agreements(&one, &two) == 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_once),
        cmocka_unit_test(large_counts),
        cmocka_unit_test(seeds_differ),
        cmocka_unit_test(same_seed_same_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
