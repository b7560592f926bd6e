/* Options: rows, and everything that is made from them.
 * proves: IOT-5
 * It would fail if a value were taken that its row refuses, if a default or an alias did not count, if a text did not
 * come back as the value it stands for, if the order default, environment, file, command line were another, or if a
 * misspelt name were not told with the one that was meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/option.h"

struct demo {
    bool sync;
    const char *name;
    int access;
    int64_t count, size;
    double time_s, width;
    struct option_numbers sizes;
    uint64_t operations;
    struct option_texts words, each;
    int called;
    char last[32];
};

static pl_status set_called(void *target, const struct option_row *row, const char *value, struct pl_error *error)
{
    struct demo *demo = target;
    (void)row;
    if (!value) { /* all that was given before goes */
        demo->called = 0;
        return PL_OK;
    }
    if (strcmp(value, "bad") == 0)
        return pl_fail(error, PL_E_USAGE, "'bad'; allowed: good");
    demo->called++;
    snprintf(demo->last, sizeof demo->last, "%s", value);
    return PL_OK;
}

#define AT(member) OPTION_AT(struct demo, member)
static const struct option_row ROWS[] = {
    {.name = "sync", .letter = 's', .type = OPTION_FLAG, AT(sync), .help = "end with fsync"},
    {.name = "name", .aliases = "file label", .type = OPTION_TEXT, .initial = "none", AT(name), .help = "a name"},
    {.name = "access", .type = OPTION_CHOICE, .choices = "auto yes no", .initial = "yes", AT(access), .help = "how"},
    {.name = "count", .letter = 'c', .type = OPTION_INT, .initial = "3", .min = 1, .max = 10, AT(count), .help = "n"},
    {.name = "size", .type = OPTION_SIZE, .initial = "16m", .min = 512, AT(size), .help = "bytes"},
    {.name = "time", .type = OPTION_TIME, .initial = "5m", .max = 86400, AT(time_s), .help = "seconds"},
    {.name = "width", .type = OPTION_PERCENT, .initial = "5%", .max = 1, AT(width), .help = "width"},
    {.name = "sizes", .type = OPTION_SIZES, .initial = "4k,1m", .min = 1, AT(sizes), .help = "sizes"},
    {.name = "ops", .type = OPTION_CHOICES, .choices = "write read stat", AT(operations), .help = "operations"},
    {.name = "words", .type = OPTION_TEXTS, AT(words), .help = "words"},
    {.name = "each", .type = OPTION_EACH, AT(each), .help = "texts"},
    {.name = "call", .type = OPTION_CALL, .flags = OPTION_REPEATS, .set = set_called, .help = "calls"},
    {.name = "quiet", .type = OPTION_FLAG, .flags = OPTION_QUIET, AT(sync), .help = "not shown"},
    {0}};
#undef AT

static struct demo demo;
static struct options options;
static struct pl_error failure;

static int begin(void **state)
{
    (void)state;
    memset(&demo, 0, sizeof demo);
    options_init(&options, &(struct option_table){ROWS, &demo}, 1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    options_clear(&options);
    return 0;
}

static pl_status take(const char *a, const char *b, const char *c)
{
    char *words[] = {(char *)"demo", (char *)a, (char *)b, (char *)c, NULL};
    int count = 1;
    while (words[count])
        count++;
    return options_take_words(&options, count, words, false, &failure);
}

static void defaults_count(void **state)
{
    (void)state;
    assert_false(demo.sync);
    assert_string_equal(demo.name, "none");
    assert_int_equal(demo.access, 1);
    assert_int_equal(demo.size, 16 << 20);
    assert_float_equal(demo.time_s, 300, 0);
    assert_float_equal(demo.width, 0.05, 1e-12);
    assert_int_equal(demo.sizes.count, 2);
    assert_int_equal(demo.sizes.values[1], 1 << 20);
    assert_false(options_given(&options, "name"));
}

static void words_are_taken(void **state)
{
    (void)state;
    assert_int_equal(take("-sc7", "operand", "--size=64k"), PL_OK);
    assert_true(demo.sync);
    assert_int_equal(demo.count, 7);
    assert_int_equal(demo.size, 64 << 10);
    assert_int_equal(options.operand_count, 1);
    assert_string_equal(options.operands[0], "operand");
    assert_int_equal(take("--no-sync", "--fil", "x"), PL_E_USAGE); /* aliases have no abbreviations */
    assert_int_equal(take("--no-sync", "--file", "x"), PL_OK);
    assert_false(demo.sync);
    assert_string_equal(demo.name, "x");
    assert_int_equal(take("--acc", "no", NULL), PL_OK);
    assert_int_equal(demo.access, 2);
    assert_int_equal(take("--ops=stat,write", "--time", "1.5h"), PL_OK);
    assert_int_equal(demo.operations, 5);
    assert_float_equal(demo.time_s, 5400, 0);
    assert_int_equal(take("--each=a,b", "--each", "c"), PL_OK);
    assert_int_equal(demo.each.count, 2);
    assert_string_equal(demo.each.values[0], "a,b");
    assert_int_equal(take("--words= a, b ,", "--", "--sync"), PL_OK);
    assert_int_equal(demo.words.count, 2);
    assert_string_equal(demo.words.values[1], "b");
    assert_string_equal(options.operands[1], "--sync");
}

static void wrong_words_are_refused(void **state)
{
    static const struct {
        const char *words[2], *message;
    } cases[] = {
        {{"--count", "11"}, "--count: '11'; allowed: a whole number from 1 to 10"},
        {{"--count", "0x3"}, "--count: '0x3'; allowed: a whole number from 1 to 10"},
        {{"--size", "100"}, "--size: '100'; allowed: a size from 512 on, as 512, 64k or 16m"},
        {{"--access", "maybe"}, "--access: 'maybe'; allowed: auto, yes, no"},
        {{"--sizes", "4k,no"},
         "--sizes: 'no'; allowed: sizes from 1 on, as 512, 64k or 16m, separated by blanks or commas"},
        {{"--conut", "3"}, "'--conut' is not an option; did you mean --count?"},
        {{"--zzzzzzzz", NULL}, "'--zzzzzzzz' is not an option"},
        {{"-q", NULL}, "'-q' is not an option"},
        {{"--sync=1", NULL}, "option '--sync' takes no value"},
        {{"--count", NULL}, "option '--count' needs a value"},
        {{"-c", NULL}, "option '-c' needs a value"},
        {{"--call", "bad"}, "--call: 'bad'; allowed: good"},
        {{"--si", "3"}, "'--si' is not an option"}, /* size or sizes */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(take(cases[i].words[0], cases[i].words[1], NULL), PL_E_USAGE);
        assert_string_equal(failure.text, cases[i].message);
    }
    assert_int_equal(demo.count, 3); /* what is refused changes nothing */
}

/* Every value's text gives the value back. */
static void texts_come_back(void **state)
{
    static const char *const values[][2] = {{"sync", "true"},   {"name", "a b"},      {"access", "no"},
                                            {"count", "10"},    {"size", "65536"},    {"time", "0.25"},
                                            {"width", "12.5%"}, {"sizes", "1,2,3"},   {"ops", "write,stat"},
                                            {"words", "x,y"},   {"call", "anything"}, {"each", "one,two"}};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct text text = {0};
        assert_int_equal(options_set(&options, values[i][0], values[i][1], OPTION_FROM_RESULTS, &failure), PL_OK);
        options_text(&options, values[i][0], &text);
        assert_string_equal(text_get(&text), values[i][1]);
        text_clear(&text);
    }
}

static void note_input(void *context, const char *name, const char *value)
{
    text_format(context, "%s=%s;", name, value);
}

static void given_ones_are_listed(void **state)
{
    struct text seen = {0};
    (void)state;
    assert_int_equal(take("--call=one", "--call=two", "--count=4"), PL_OK);
    options_each_given(&options, note_input, &seen);
    assert_string_equal(text_get(&seen), "count=4;call=one;call=two;");
    text_clear(&seen);
}

static void later_sources_win(void **state)
{
    char path[64];
    (void)state;
    snprintf(path, sizeof path, "/tmp/test_option.%d", (int)getpid());
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs("% a comment\ncount 5 # five\n\n sync\nsize = 1m\ncall file\n", stream);
    fclose(stream);
    setenv("DEMO_COUNT", "4", 1);
    setenv("DEMO_NAME", "env", 1);
    setenv("DEMO_CALL", "env", 1);
    assert_int_equal(options_take_environment(&options, "DEMO_", &failure), PL_OK);
    assert_int_equal(demo.count, 4);
    assert_int_equal(options_take_file(&options, path, &failure), PL_OK);
    assert_int_equal(demo.count, 5);
    assert_true(demo.sync);
    assert_int_equal(demo.size, 1 << 20);
    assert_string_equal(demo.name, "env");
    assert_int_equal(demo.called, 1); /* not the environment's and the file's */
    assert_int_equal(take("--count=6", "--call=a", "--call=b"), PL_OK);
    assert_int_equal(demo.count, 6);
    assert_int_equal(demo.called, 2);
    stream = fopen(path, "w");
    fputs("count 5\ncuont 5\n", stream);
    fclose(stream);
    assert_int_equal(options_take_file(&options, path, &failure), PL_E_USAGE);
    assert_non_null(strstr(failure.text, ":2: 'cuont' is not an option; did you mean count?"));
    setenv("DEMO_COUNT", "x", 1);
    assert_int_equal(options_take_environment(&options, "DEMO_", &failure), PL_E_USAGE);
    assert_string_equal(failure.text,
                        "environment variable DEMO_COUNT: count: 'x'; allowed: a whole number from 1 to 10");
    unsetenv("DEMO_COUNT");
    unlink(path);
}

static void help_is_made_of_rows(void **state)
{
    const struct option_row *const tables[] = {ROWS, NULL};
    char *text = NULL;
    size_t length = 0;
    (void)state;
    FILE *stream = open_memstream(&text, &length);
    options_print_help(tables, stream);
    options_print_man(tables, stream);
    struct json json = {.stream = stream};
    options_put_json(tables, &json, NULL);
    fclose(stream);
    assert_non_null(strstr(text, "  -c, --count=N             n (3)\n"));
    assert_non_null(strstr(text, "      --access=WORD         how: auto, yes, no (yes)\n"));
    assert_non_null(strstr(text, "*-c*, *--count*=_N_\n\tN (3).\n"));
    assert_non_null(strstr(text, "\"count\""));
    assert_null(strstr(text, "quiet"));
    free(text);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(defaults_count),        TEST(words_are_taken),   TEST(wrong_words_are_refused), TEST(texts_come_back),
        TEST(given_ones_are_listed), TEST(later_sources_win), TEST(help_is_made_of_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
