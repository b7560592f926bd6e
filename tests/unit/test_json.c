/* The streaming JSON writer, read back by an independent parser.
 * proves: IOT-6 (exports of the sample format)
 * It would fail if a comma, an escape or a digit of a 64-bit number were wrong, or if bytes that are not UTF-8 came
 * through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "base/json.h"

static json_t *parse(const char *text)
{
    json_error_t error;
    json_t *tree = json_loads(text, JSON_DECODE_ANY, &error);
    if (!tree)
        fail_msg("not JSON: %s in %s", error.text, text);
    return tree;
}

static void nesting_and_commas(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    struct json json = {.stream = open_memstream(&text, &size)};
    json_object_begin(&json, NULL);
    json_array_begin(&json, "empty");
    json_array_end(&json);
    json_row_begin(&json, "none");
    json_object_end(&json);
    json_array_begin(&json, "list");
    for (int i = 0; i < 3; i++) {
        json_row_begin(&json, NULL);
        json_put_int(&json, "i", i);
        json_numbers_begin(&json, "values");
        json_put_double(&json, NULL, i / 3.0);
        json_put_double(&json, NULL, -1e300);
        json_array_end(&json);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_put_bool(&json, "yes", true);
    json_put_null(&json, "null");
    json_object_end(&json);
    fclose(json.stream);

    json_t *tree = parse(text);
    assert_int_equal(json_array_size(json_object_get(tree, "empty")), 0);
    json_t *last = json_array_get(json_object_get(tree, "list"), 2);
    assert_int_equal(json_integer_value(json_object_get(last, "i")), 2);
    assert_true(json_real_value(json_array_get(json_object_get(last, "values"), 0)) == 2 / 3.0);
    assert_true(json_is_true(json_object_get(tree, "yes")));
    assert_true(json_is_null(json_object_get(tree, "null")));
    json_decref(tree);
    free(text);
}

static void extreme_numbers(void **state)
{
    (void)state;
    const int64_t ints[] = {0, -1, INT64_MAX, INT64_MIN, 9007199254740993};
    const double doubles[] = {0.1, 1.0 / 3, 1e-300, 123456789.125, -2.5e17, 5e-324};
    char *text = NULL;
    size_t size = 0;
    struct json json = {.stream = open_memstream(&text, &size)};
    json_numbers_begin(&json, NULL);
    for (size_t i = 0; i < sizeof ints / sizeof ints[0]; i++)
        json_put_int(&json, NULL, ints[i]);
    for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++)
        json_put_double(&json, NULL, doubles[i]);
    json_put_double(&json, NULL, NAN);
    json_put_double(&json, NULL, INFINITY);
    json_array_end(&json);
    fclose(json.stream);

    json_t *tree = parse(text);
    size_t at = 0;
    for (size_t i = 0; i < sizeof ints / sizeof ints[0]; i++)
        assert_true(json_integer_value(json_array_get(tree, at++)) == ints[i]);
    for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++)
        assert_true(json_number_value(json_array_get(tree, at++)) == doubles[i]);
    assert_int_equal(json_typeof(json_array_get(tree, at)), JSON_NULL);
    assert_int_equal(json_typeof(json_array_get(tree, at + 1)), JSON_NULL);
    json_decref(tree);
    free(text);
}

static char *round_trip(const char *value)
{
    char *text = NULL;
    size_t size = 0;
    struct json json = {.stream = open_memstream(&text, &size)};
    json_object_begin(&json, NULL);
    json_put_string(&json, value, value);
    json_object_end(&json);
    fclose(json.stream);
    json_t *tree = parse(text);
    void *member = json_object_iter(tree);
    assert_non_null(member);
    char *got = strdup(json_string_value(json_object_iter_value(member)));
    assert_string_equal(got, json_object_iter_key(member));
    json_decref(tree);
    free(text);
    return got;
}

static void strings(void **state)
{
    (void)state;
    static const struct {
        const char *value, *expected;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"\"quoted\\ \n\t\r\x01\x1f\x7f/", "\"quoted\\ \n\t\r\x01\x1f\x7f/"},
        {"µs → 日本 😀", "µs → 日本 😀"},
        {"bad \xff end", "bad \xef\xbf\xbd end"},
        {"cut \xe6\x97", "cut \xef\xbf\xbd\xef\xbf\xbd"},
        {"overlong \xc0\xaf", "overlong \xef\xbf\xbd\xef\xbf\xbd"},
        {"surrogate \xed\xa0\x80", "surrogate \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"too high \xf4\x90\x80\x80", "too high \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *got = round_trip(cases[i].value);
        assert_string_equal(got, cases[i].expected);
        free(got);
    }
}

static void any_bytes_give_valid_json(void **state)
{
    (void)state;
    char bytes[4] = {0};
    for (int a = 1; a < 256; a++)
        for (int b = 0; b < 256; b++) {
            bytes[0] = (char)a;
            bytes[1] = (char)b;
            bytes[2] = b ? (char)(a ^ b) : '\0';
            free(round_trip(bytes));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nesting_and_commas),
        cmocka_unit_test(extreme_numbers),
        cmocka_unit_test(strings),
        cmocka_unit_test(any_bytes_give_valid_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
