/* Sizes, numbers and times as people write and read them.
 * proves: IOT-3 IOT-5
 * It would fail if a number with something behind it were taken, if a size were read in another unit, or if a printed
 * size lost its unit at a border such as 999.5 kB. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"

static void whole_numbers(void **state)
{
    (void)state;
    int64_t value = -1;
    assert_true(units_parse_int("42", 0, 100, &value));
    assert_int_equal(value, 42);
    assert_true(units_parse_int("+7", 0, 100, &value));
    assert_int_equal(value, 7);
    assert_true(units_parse_int("-7", -7, 100, &value));
    assert_int_equal(value, -7);
    assert_true(units_parse_int("9223372036854775807", 0, INT64_MAX, &value));
    assert_true(value == INT64_MAX);
    value = 3;
    static const char *const bad[] = {"",    " 1", "1 ",  "1.0", "1e3", "0x10", "--1",
                                      "+-1", "+",  "ten", "1k",  "8",   "-1",   "9223372036854775808"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (units_parse_int(bad[i], 0, 7, &value))
            fail_msg("'%s' was taken for a number from 0 to 7", bad[i]);
    assert_int_equal(value, 3); /* written only on success */
}

static void decimal_numbers(void **state)
{
    (void)state;
    double value;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0}, {"1", 1}, {"-2.5", -2.5}, {"+.5", 0.5}, {"1.", 1}, {"1e3", 1000}, {"1E-6", 1e-6}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(units_parse_number(good[i].text, &value));
        assert_true(value == good[i].value);
    }
    static const char *const bad[] = {"",    " 1",    "1 ",    "nan", "inf",      "-inf", "1e999", "0x1p3",
                                      "1,5", "1MB",   "e5",    ".",   "1e",       "1..2", "ten",   "+",
                                      "1e+", "1_000", "1\xc2", "NaN", "infinity", "1e5x", "0b1",   "nan(1)"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (units_parse_number(bad[i], &value))
            fail_msg("'%s' was taken for the number %g", bad[i], value);
}

static void sizes(void **state)
{
    (void)state;
    int64_t bytes = -1;
    static const struct {
        const char *text;
        int64_t bytes;
    } good[] = {{"0", 0},          {"8", 8},          {"1k", 1024},           {"1K", 1024}, {"1.5m", 1536 << 10},
                {"2G", 2LL << 30}, {"1t", 1LL << 40}, {"4194304t", 1LL << 62}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(units_parse_size(good[i].text, &bytes));
        assert_true(bytes == good[i].bytes);
    }
    static const char *const bad[] = {"", "-1", "1kb", "1 k", "k", "1p", " 1", "nan", "inf", "8388608t", "0x10"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (units_parse_size(bad[i], &bytes))
            fail_msg("'%s' was taken for a size", bad[i]);
}

static void printed(void **state)
{
    (void)state;
    char text[UNITS_TEXT_MAX];
    struct size {
        int64_t bytes;
        const char *text;
    };
    static const struct size sizes[] = {{0, "0 B"},
                                        {8, "8 B"},
                                        {999, "999 B"},
                                        {1000, "1 kB"},
                                        {999499, "999 kB"},
                                        {999999, "1 MB"},
                                        {16777216, "16.8 MB"},
                                        {1000000000000000000, "1 EB"},
                                        {INT64_MAX, "9.22 EB"}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        assert_string_equal(units_bytes(sizes[i].bytes, text), sizes[i].text);
    static const struct size binary[] = {{0, "0 B"},
                                         {64, "64 B"},
                                         {1000, "1 kB"},
                                         {1024, "1 KiB"},
                                         {1536, "1.54 kB"},
                                         {65536, "64 KiB"},
                                         {16 << 20, "16 MiB"},
                                         {1536 << 10, "1536 KiB"},
                                         {333000000, "333 MB"},
                                         {65536000, "65.5 MB"},
                                         {INT64_C(1) << 62, "4 EiB"}};
    for (size_t i = 0; i < sizeof binary / sizeof binary[0]; i++)
        assert_string_equal(units_binary(binary[i].bytes, text), binary[i].text);
    assert_string_equal(units_ns(340, text), "340 ns");
    assert_string_equal(units_ns(1250000, text), "1.25 ms");
    assert_string_equal(units_ns(999600, text), "1 ms");
    assert_string_equal(units_ns(12345e9, text), "12345 s");
    assert_string_equal(units_duration(41.6, text), "42 s");
    assert_string_equal(units_duration(59.6, text), "1 min 00 s");
    assert_string_equal(units_duration(185, text), "3 min 05 s");
    assert_string_equal(units_duration(3600 * 25 + 60, text), "25 h 01 min");
}

static void rates(void **state)
{
    (void)state;
    assert_true(fabs(units_rate_mb_per_s(1e6, 1e9) - 1) < 1e-12);
    assert_true(units_rate_mb_per_s(1e6, 0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_numbers), cmocka_unit_test(decimal_numbers),
                                       cmocka_unit_test(sizes), cmocka_unit_test(printed), cmocka_unit_test(rates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
