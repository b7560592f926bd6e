/* The growing string, and the escaping that keeps a value on one line.
 * proves: IOT-6 IOT-7
 * It would fail if a message with a line end, a control character or a backslash came back changed from a results
 * file, if a broken escape were read as if it were whole, or if a wrapped line were longer than it may be or lost a
 * word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/text.h"

static void grows(void **state)
{
    (void)state;
    struct text text = {0};
    assert_string_equal(text_get(&text), "");
    for (int i = 0; i < 10000; i++)
        text_format(&text, "%d,", i % 10);
    assert_int_equal(text.length, 20000);
    assert_int_equal(strlen(text_get(&text)), 20000);
    text_append(&text, "abc", 2);
    assert_string_equal(text_get(&text) + 20000, "ab");
    text_clear(&text);
    assert_string_equal(text_get(&text), "");
    text_clear(&text);
}

static void expect_escaped(const char *plain, const char *escaped)
{
    struct text text = {0};
    text_add_escaped(&text, plain);
    assert_string_equal(text_get(&text), escaped);
    char *copy = text_dup(text_get(&text));
    assert_true(text_unescape(copy));
    assert_string_equal(copy, plain);
    free(copy);
    text_clear(&text);
}

static void escapes(void **state)
{
    (void)state;
    expect_escaped("", "");
    expect_escaped("a b=c 'd'", "a b=c 'd'");
    expect_escaped("two\nlines", "two\\nlines");
    expect_escaped("\ttab", "\\ttab");
    expect_escaped("C:\\new", "C:\\\\new");
    expect_escaped("\x1b[31mred\x7f\x01", "\\x1b[31mred\\x7f\\x01");
    expect_escaped("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
}

/* Any bytes but 0 come back as they were, and never hold a line end on the way. */
static void round_trip(void **state)
{
    (void)state;
    for (uint64_t trial = 0; trial < 2000; trial++) {
        char plain[65];
        const size_t length = rng_at(trial, 0) % sizeof plain;
        for (size_t i = 0; i < length; i++)
            plain[i] = (char)(1 + rng_at(trial, i + 1) % 255);
        plain[length] = '\0';
        struct text text = {0};
        text_add_escaped(&text, plain);
        assert_null(strpbrk(text_get(&text), "\n\t\r"));
        char *copy = text_dup(text_get(&text));
        assert_true(text_unescape(copy));
        assert_string_equal(copy, plain);
        free(copy);
        text_clear(&text);
    }
}

static void broken_escapes(void **state)
{
    (void)state;
    static const char *const broken[] = {"\\", "a\\", "\\q", "\\x", "\\x1", "\\xg0", "\\x1G", "\\N", "\\ n", "\\X1b"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        char *copy = text_dup(broken[i]);
        if (text_unescape(copy))
            fail_msg("'%s' was taken for a whole escape", broken[i]);
        free(copy);
    }
}

static void shows(const char *string, const char *wanted)
{
    struct text text = {0};
    text_add_visible(&text, string);
    assert_string_equal(text_get(&text), wanted);
    text_clear(&text);
}

/* What a terminal acts upon, and what is no text at all. */
static void visible(void **state)
{
    (void)state;
    shows("plain \\ \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "plain \\ \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    shows("\x1b[31m\x1b]0;x\a\r\n\t\x7f", "\\e[31m\\e]0;x\\x07\\x0d\\n\\t\\x7f");
    shows("\xc2\x9b\x9b\xff\xc3", "\\xc2\\x9b\\x9b\\xff\\xc3");
    /* NOLINTNEXTLINE(misc-misleading-bidirectional): what must not reach a terminal */
    shows("\xe2\x80\xae\xe2\x81\xa6\xed\xa0\x80", "\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xed\\xa0\\x80");
}

/* A stream, cut anywhere: the same as in one piece. Its line ends and tabs stay. */
static void screens(void **state)
{
    (void)state;
    /* NOLINTNEXTLINE(misc-misleading-bidirectional): what must not reach a terminal */
    static const char bytes[] = "a\n\tb\xc3\xa9\xe2\x82\xac\x1b[1m\xe2\x80\xae\xff\xf0\x9f\x98\x80.";
    for (size_t cut = 0; cut < sizeof bytes; cut++) {
        struct text text = {0};
        const size_t taken = text_add_screen(&text, bytes, cut);
        assert_true(taken <= cut && cut - taken < 4);
        text_add_screen(&text, bytes + taken, sizeof bytes - 1 - taken);
        assert_string_equal(text_get(&text), "a\n\tb\xc3\xa9\xe2\x82\xac\\e[1m\\xe2\\x80\\xae\\xff\xf0\x9f\x98\x80.");
        text_clear(&text);
    }
}

static void is_word(const char *string, const char *wanted)
{
    struct text text = {0};
    text_add_word(&text, string);
    assert_string_equal(text_get(&text), wanted);
    text_clear(&text);
}

static void words(void **state)
{
    (void)state;
    is_word("results/k-1.out", "results/k-1.out");
    is_word("my results", "'my results'");
    is_word("it's", "'it'\\''s'");
    is_word("$(reboot)", "'$(reboot)'");
    is_word("", "''");
}

static void wraps_to(const char *string, size_t column, size_t hang, size_t width, const char *wanted)
{
    struct text text = {0};
    text_add_wrapped(&text, string, column, hang, width);
    assert_string_equal(text_get(&text), wanted);
    text_clear(&text);
}

static void wraps(void **state)
{
    (void)state;
    wraps_to("", 0, 0, 10, "");
    wraps_to("one two three", 0, 0, 13, "one two three");
    wraps_to("one two three", 0, 0, 12, "one two\nthree");
    wraps_to("one two three", 0, 0, 1, "one\ntwo\nthree");
    wraps_to("one two three", 4, 2, 10, "one\n  two\n  three");
    wraps_to("one two", 4, 4, 5, "one\n    two"); /* too long, but nothing stands before it */
    wraps_to("one two", 6, 2, 8, "\n  one\n  two");
    wraps_to(" one   two ", 0, 0, 10, "one two");
    wraps_to("one\ntwo three", 0, 2, 8, "one\n  two\n  three");
    wraps_to("one\n", 0, 2, 8, "one\n");
    wraps_to("\xc3\xa4\xc3\xb6\xc3\xbc \xc2\xb5s", 0, 0, 6,
             "\xc3\xa4\xc3\xb6\xc3\xbc \xc2\xb5s"); /* characters, not bytes */
}

/* Whatever the words and the width: all words in their order, and no line too long that holds two of them. */
static void wraps_anything(void **state)
{
    (void)state;
    for (uint64_t trial = 0; trial < 2000; trial++) {
        char plain[81];
        const size_t length = rng_at(trial, 0) % sizeof plain, width = 1 + rng_at(trial, 1) % 30;
        const size_t hang = rng_at(trial, 2) % 5;
        for (size_t i = 0; i < length; i++)
            plain[i] = "ab "[rng_at(trial, i + 3) % 3];
        plain[length] = '\0';
        struct text text = {0};
        text_format(&text, "%*s", (int)hang, "");
        text_add_wrapped(&text, plain, hang, hang, width);
        char *lines = text_dup(text_get(&text)), *rest = lines, *of_lines, *of_plain;
        for (char *line; (line = strsep(&rest, "\n"));) {
            const size_t begin = strspn(line, " ");
            assert_true(strlen(line) <= width || !strchr(line + begin, ' '));
            assert_true(begin == hang);
        }
        char *one = text_dup(text_get(&text)), *other = text_dup(plain);
        const char *word = strtok_r(one, " \n", &of_lines), *same = strtok_r(other, " ", &of_plain);
        for (; word && same; word = strtok_r(NULL, " \n", &of_lines), same = strtok_r(NULL, " ", &of_plain))
            assert_string_equal(word, same);
        assert_true(!word && !same);
        free(lines);
        free(one);
        free(other);
        text_clear(&text);
    }
}

static void duplicates(void **state)
{
    (void)state;
    char *copy = text_dup(NULL);
    assert_string_equal(copy, "");
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(grows),          cmocka_unit_test(escapes),
                                       cmocka_unit_test(round_trip),     cmocka_unit_test(broken_escapes),
                                       cmocka_unit_test(visible),        cmocka_unit_test(screens),
                                       cmocka_unit_test(words),          cmocka_unit_test(wraps),
                                       cmocka_unit_test(wraps_anything), cmocka_unit_test(duplicates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
