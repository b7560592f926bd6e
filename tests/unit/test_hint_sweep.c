/* Hints of a block: one value for all variants, or with `numhints` a list with one for each.
 * proves: IOT-5
 * It would fail if a variant got another variant's value, if a comma inside a value divided it, if a list too short
 * were filled up in silence, or if `numhints` meant something else before than behind the hints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bench/iot/iot.h"

static const struct option_row KEYWORDS[] = {
    {.name = "filename", .type = OPTION_TEXT, .argument = "NAME", .flags = OPTION_REQUIRED},
    {0},
};
static const struct iot_test TEST = {.name = "alpha", .keywords = (const struct option_row *const[]){KEYWORDS, NULL}};
static const struct iot_class TESTS[] = {{.name = "Kernel", .tests = (const struct iot_test *const[]){&TEST, NULL}},
                                         {0}};

#define HEAD "class Kernel\ntestname alpha\nfilename f\n"

static struct iot_spec spec;
static struct pl_error error;

static const struct iot_block *parse(const char *text)
{
    if (iot_spec_parse("a.in", text, strlen(text), TESTS, NULL, 0, &spec, &error) != PL_OK)
        fail_msg("refused: %s", error.text);
    return &spec.blocks[0];
}

/* The values of all variants, with blanks between them. */
static const char *values(const struct iot_block *block, const char *key)
{
    static char text[256];
    text[0] = '\0';
    for (size_t i = 0; i < block->hint_count; i++)
        for (size_t v = 0; strcmp(block->hints[i].key, key) == 0 && v < block->hint_variants; v++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", v ? " " : "",
                     iot_spec_hint_value(&block->hints[i], v));
    return text;
}

static void lists(void **state)
{
    (void)state;
    const struct iot_block *block = parse(HEAD "numhints 3\ncb_buffer_size 1000 2000\t3000\nhint.any  x   y z\n");
    assert_int_equal(block->hint_variants, 3);
    assert_int_equal(block->hint_count, 2); /* numhints is none */
    assert_string_equal(values(block, "cb_buffer_size"), "1000 2000 3000");
    assert_string_equal(values(block, "any"), "x y z");
    iot_spec_clear(&spec);
}

static void order_of_lines(void **state)
{
    (void)state;
    const struct iot_block *block = parse(HEAD "cb_nodes 4 5\nhint.any x y\nnumhints 2\n");
    assert_string_equal(values(block, "cb_nodes"), "4 5");
    assert_string_equal(values(block, "any"), "x y");
    iot_spec_clear(&spec);
    block = parse(HEAD "numhints 2\ncb_nodes 4, 5\n");
    assert_string_equal(values(block, "cb_nodes"), "4 5"); /* the comma goes to nobody */
    iot_spec_clear(&spec);
}

static void one_value_for_all(void **state)
{
    (void)state;
    const struct iot_block *block = parse(HEAD
                                          "numhints 3\ncb_nodes 4\nhint.any x\ncollective_buffering true false true\n");
    assert_string_equal(values(block, "cb_nodes"), "4 4 4");
    assert_string_equal(values(block, "any"), "x x x");
    assert_string_equal(values(block, "collective_buffering"), "true false true");
    iot_spec_clear(&spec);
}

/* As with every list: the count says how many of it are used. */
static void longer_lists(void **state)
{
    (void)state;
    const struct iot_block *block = parse(HEAD "numhints 2\ncb_nodes 4 5 6 7\n");
    assert_string_equal(values(block, "cb_nodes"), "4 5");
    iot_spec_clear(&spec);
}

static void commas_stay_inside(void **state)
{
    (void)state;
    const struct iot_block *block = parse(HEAD "numhints 2\naccess_style write_once,sequential random\n"
                                               "chunked 10,20,30 40,50,60\nhint.cb_config_list *:1,*:2 host:3\n");
    assert_string_equal(values(block, "access_style"), "write_once,sequential random");
    assert_string_equal(values(block, "chunked"), "10,20,30 40,50,60");
    assert_string_equal(values(block, "cb_config_list"), "*:1,*:2 host:3");
    iot_spec_clear(&spec);
}

static void without_a_sweep(void **state)
{
    (void)state;
    const struct iot_block *block = parse(HEAD "access_style write_once sequential\nhint.any x y\nchunked 10 20\n");
    assert_int_equal(block->hint_variants, 1);
    assert_string_equal(values(block, "access_style"), "write_once,sequential");
    assert_string_equal(values(block, "any"), "x y");
    assert_string_equal(values(block, "chunked"), "10,20");
    iot_spec_clear(&spec);
    block = parse(HEAD "numhints 1\nhint.any x y\n");
    assert_int_equal(block->hint_variants, 1);
    assert_string_equal(values(block, "any"), "x y");
    iot_spec_clear(&spec);
}

static void overrides(void **state)
{
    (void)state;
    static const char text[] = HEAD "cb_nodes 1 2 3\nnumhints 3\n";
    const struct iot_override given[] = {{"numhints", "2"}, {"cb_nodes", "8 9"}, {"hint.any", "x y"}};
    assert_int_equal(iot_spec_parse("a.in", text, strlen(text), TESTS, given, 3, &spec, &error), PL_OK);
    assert_string_equal(values(&spec.blocks[0], "cb_nodes"), "8 9");
    assert_string_equal(values(&spec.blocks[0], "any"), "x y");
    iot_spec_clear(&spec);
}

/* The head of a message: what is allowed is told by tests/golden. */
static void expect_message(const char *lines, const char *message)
{
    char text[256];
    snprintf(text, sizeof text, HEAD "%s", lines);
    if (iot_spec_parse("a.in", text, strlen(text), TESTS, NULL, 0, &spec, &error) == PL_OK) {
        iot_spec_clear(&spec);
        fail_msg("no message for: %s", text);
    }
    if (strncmp(error.text, message, strlen(message)) != 0)
        assert_string_equal(error.text, message);
}

static void messages(void **state)
{
    (void)state;
    static const char number[] = "a whole number from 1 to 9000000000000000";
    static const struct {
        const char *lines, *message;
    } cases[] = {
        {"numhints 3\nhint.any x y\n", "a.in:5: hint.any: the list holds 2 values, but numhints is 3; allowed: "},
        {"hint.any x y\nnumhints 3\n", "a.in:4: hint.any: the list holds 2 values, but numhints is 3; allowed: "},
        {"numhints 3\ncb_nodes 1 2\n", "a.in:5: cb_nodes: the list holds 2 values, but numhints is 3; allowed: "},
        {"numhints 2\ncb_nodes 1 x\n", "a.in:5: cb_nodes: 'x' is not a number; allowed: "},
        {"numhints 2\ncb_nodes 1,2\n", "a.in:5: cb_nodes: '1,2' holds more than one value; allowed: "},
        {"numhints 2\naccess_style random no\n", "a.in:5: access_style: 'no' is not allowed; allowed: "},
        {"cb_nodes 1 2\n", "a.in:4: cb_nodes: '1 2' holds more than one value; allowed: "},
        {"numhints 0\n", "a.in:4: numhints: '0' is out of range; allowed: "},
        {"numhints 2 3\n", "a.in:4: numhints: '2 3' holds more than one value; allowed: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_message(cases[i].lines, cases[i].message);
    expect_message("numhints 2\ncb_nodes 1 0\n", "a.in:5: cb_nodes: '0' is out of range; allowed: ");
    assert_string_equal(strstr(error.text, "allowed: ") + strlen("allowed: "), number);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),        cmocka_unit_test(order_of_lines),     cmocka_unit_test(one_value_for_all),
        cmocka_unit_test(longer_lists), cmocka_unit_test(commas_stay_inside), cmocka_unit_test(without_a_sweep),
        cmocka_unit_test(overrides),    cmocka_unit_test(messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
