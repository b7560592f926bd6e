/* The keyword parser: what a block holds after reading, and the exact words of messages.
 * proves: IOT-2 IOT-3 IOT-4 IOT-5
 * It would fail if a value, a list, an alias, a hint or an override were read otherwise than written, if a size were
 * not rounded to 8 bytes, or if a message named another line or keyword. Whole broken files are in tests/golden. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/iot/iot.h"
#include "bench/iot/iot_spec.h"

static const struct option_row ALPHA_KEYWORDS[] = {
    {.name = "filename", .type = OPTION_TEXT, .argument = "NAME", .flags = OPTION_REQUIRED},
    {.name = "numsizes", .aliases = "numproblemsizes", .type = OPTION_INT, .min = 1, .max = 1e6},
    {.name = "sizes", .type = OPTION_MBS, .min = 8e-6, .max = 1e12},
    {.name = "factor", .type = OPTION_NUMBER, .initial = "0.5", .min = -1, .max = 1},
    {.name = "shape", .type = OPTION_CHOICE, .initial = "round", .choices = "round square"},
    {.name = "flag", .type = OPTION_FLAG, .initial = "true"},
    {0},
};
static const struct option_row BETA_KEYWORDS[] = {
    {.name = "filename", .type = OPTION_TEXT, .argument = "NAME", .flags = OPTION_REQUIRED},
    {.name = "beta", .type = OPTION_INT, .initial = "3", .min = 0, .max = 10},
    {0},
};
static const struct iot_test ALPHA = {.name = "alpha",
                                      .keywords = (const struct option_row *const[]){ALPHA_KEYWORDS, NULL}};
static const struct iot_test BETA = {.name = "beta",
                                     .keywords = (const struct option_row *const[]){BETA_KEYWORDS, NULL}};
static const struct iot_class TESTS[] = {{.name = "Lowlevel", .tests = (const struct iot_test *const[]){&ALPHA, NULL}},
                                         {.name = "Kernel", .tests = (const struct iot_test *const[]){&BETA, NULL}},
                                         {0}};

static struct iot_spec spec;
static struct pl_error error;

static pl_status parse(const char *text)
{
    return iot_spec_parse("a.in", text, strlen(text), TESTS, NULL, 0, &spec, &error);
}

static const struct iot_block *parse_block(const char *text)
{
    if (parse(text) != PL_OK)
        fail_msg("refused: %s", error.text);
    return &spec.blocks[0];
}

static pl_status parse_with(const char *text, const char *key, const char *value)
{
    const struct iot_override override = {key, value};
    return iot_spec_parse("a.in", text, strlen(text), TESTS, &override, 1, &spec, &error);
}

static void expect_message(const char *text, const char *message)
{
    if (parse(text) == PL_OK) {
        iot_spec_clear(&spec);
        fail_msg("no message for: %s", text);
    }
    assert_int_equal(error.status, PL_E_INPUT);
    assert_string_equal(error.text, message);
    assert_null(spec.blocks);
}

#define HEAD "classname Lowlevel\ntestname alpha\nfilename f\n"

static void values_and_defaults(void **state)
{
    (void)state;
    const struct iot_block *block = parse_block(HEAD "numsizes 2\nsizes 1 2.5\nfactor -0.25\nflag false\n");
    assert_string_equal(block->test->name, "alpha");
    assert_int_equal(block->line, 2);
    assert_string_equal(iot_spec_text(block, "filename"), "f");
    assert_true(iot_spec_number(block, "numsizes") == 2);
    assert_true(iot_spec_number(block, "factor") == -0.25);
    assert_false(iot_spec_is_true(block, "flag"));
    assert_string_equal(iot_spec_text(block, "shape"), "round"); /* default */
    assert_int_equal(iot_spec_find(block, "shape")->line, 0);
    assert_int_equal(iot_spec_find(block, "factor")->line, 6);
    assert_null(iot_spec_find(block, "beta"));
    assert_string_equal(spec.timings_path, "all.out");
    iot_spec_clear(&spec);
    block = parse_block(HEAD);
    assert_null(iot_spec_find(block, "numsizes")); /* neither given nor with a default */
    assert_true(iot_spec_is_true(block, "flag"));
    iot_spec_clear(&spec);
    iot_spec_clear(&spec);
}

static void lists(void **state)
{
    (void)state;
    static const char *const spellings[] = {
        "sizes 1 2 3",   "sizes 1,2,3",           "sizes 1, 2, 3",       "sizes\t1\t2\t3", "  sizes   1 ,2  ,  3  ",
        "sizes 1,,2,,3", "sizes 1.0 2e0 300e-2 ", "sizes +1 2. 3.00000", "sizes ,1,2,3",
    };
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "%s%s\n", HEAD, spellings[i]);
        const struct option_value *sizes = iot_spec_find(parse_block(text), "sizes");
        assert_int_equal(sizes->count, 3);
        for (int k = 0; k < 3; k++) {
            assert_true(sizes->numbers[k] == k + 1);
            assert_int_equal(sizes->integers[k], (k + 1) * 1000000);
        }
        iot_spec_clear(&spec);
    }
}

static void long_list(void **state)
{
    (void)state;
    enum { LENGTH = 20000 };
    char *text = malloc(LENGTH * 8), *end = text;
    end += sprintf(end, "%ssizes ", HEAD);
    for (int i = 1; i <= LENGTH; i++)
        end += sprintf(end, "%d%s", i, i % 2 ? "," : " ");
    const struct option_value *sizes = iot_spec_find(parse_block(text), "sizes");
    assert_int_equal(sizes->count, LENGTH);
    assert_int_equal(sizes->integers[LENGTH - 1], LENGTH * 1000000LL);
    iot_spec_clear(&spec);
    free(text);
}

static void rounding(void **state)
{
    (void)state;
    static const struct {
        const char *mb;
        int64_t bytes;
    } cases[] = {{"0.000008", 8}, {"0.000011", 8},      {"0.000012", 16},         {"0.000013", 16},
                 {"0.1", 100000}, {"0.333333", 333336}, {"1048.576", 1048576000}, {"1e12", 1000000000000000000}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "%ssizes %s\n", HEAD, cases[i].mb);
        assert_int_equal(iot_spec_find(parse_block(text), "sizes")->integers[0], cases[i].bytes);
        iot_spec_clear(&spec);
    }
}

static void aliases(void **state)
{
    (void)state;
    const struct iot_block *block = parse_block("class Lowlevel\ntestname alpha\nfilename f\nnumproblemsizes 4\n");
    assert_true(iot_spec_number(block, "numsizes") == 4);
    assert_true(iot_spec_number(block, "numproblemsizes") == 4);
    assert_string_equal(block->lines[1].key, "numproblemsizes"); /* the copy is as given */
    iot_spec_clear(&spec);
    expect_message(HEAD "numproblemsizes 4\nnumsizes 4\n",
                   "a.in:5: numsizes: given twice, first in line 4; allowed: once in a block");
    expect_message(HEAD "numsizes 4\nnumproblemsizes 4\n",
                   "a.in:5: numsizes: given twice, first in line 4; allowed: once in a block");
}

/* Comments, empty lines, line ends of other systems and a byte order mark do not shift a line number. */
static void comments_and_line_ends(void **state)
{
    (void)state;
    const struct iot_block *block = parse_block("\xef\xbb\xbf# made elsewhere\r\n\r\n  # more\r\n%%% a rule %%%\r\n"
                                                "classname Lowlevel\r\ntestname alpha\t\r\nfilename a b#c  \r\n"
                                                "numsizes 7");
    assert_string_equal(iot_spec_text(block, "filename"), "a b#c");
    assert_int_equal(block->line, 6);
    assert_int_equal(iot_spec_find(block, "numsizes")->line, 8);
    iot_spec_clear(&spec);
    expect_message("\xef\xbb\xbf\r\n\r\nclassname Lowleveles\r\n",
                   "a.in:3: classname: 'Lowleveles' is not a class; allowed: Lowlevel, Kernel");
}

static void several_blocks(void **state)
{
    (void)state;
    parse_block("timingsfilename out put\n" HEAD "numsizes 1\nclass Kernel\ntestname beta\nfilename g\nbeta 7\n" HEAD);
    assert_string_equal(spec.timings_path, "out put");
    assert_int_equal(spec.block_count, 3);
    assert_string_equal(spec.blocks[1].test->name, "beta");
    assert_true(iot_spec_number(&spec.blocks[1], "beta") == 7);
    assert_null(iot_spec_find(&spec.blocks[2], "numsizes")); /* nothing carries over */
    assert_int_equal(spec.blocks[0].line_count, 2);          /* timingsfilename belongs to no block */
    iot_spec_clear(&spec);
}

static void timings_anywhere(void **state)
{
    (void)state;
    parse_block(HEAD "timingsfilename late.out\nnumsizes 1\n");
    assert_string_equal(spec.timings_path, "late.out");
    assert_int_equal(spec.blocks[0].line_count, 2);
    iot_spec_clear(&spec);
}

static const char *hint(const struct iot_block *block, const char *key)
{
    const char *value = NULL;
    for (size_t i = 0; i < block->hint_count; i++)
        if (strcmp(block->hints[i].key, key) == 0) {
            assert_null(value); /* once */
            value = iot_spec_hint_value(&block->hints[i], 0);
        }
    return value ? value : "(none)";
}

static void hints(void **state)
{
    (void)state;
    const struct iot_block *block = parse_block(
        HEAD
        "access_style write_once, sequential\ncollective_buffering true\ncb_block_size 4096\ncb_buffer_size 65536\n"
        "cb_nodes 2\nchunked 10 20,30\nchunked_item 8\nchunked_size 5 , 5\nfile_perm 0644\nio_node_list a b\n"
        "nb_proc 4\nnum_io_nodes 2\nstriping_factor 4\nstriping_unit 1048576\nhint.romio_ds_write enable\n"
        "hint.cb_config_list *:1, *:2\n");
    assert_int_equal(block->hint_count, 16);
    assert_string_equal(hint(block, "access_style"), "write_once,sequential");
    assert_string_equal(hint(block, "collective_buffering"), "true");
    assert_string_equal(hint(block, "chunked"), "10,20,30");
    assert_string_equal(hint(block, "chunked_size"), "5,5");
    assert_string_equal(hint(block, "file_perm"), "0644");
    assert_string_equal(hint(block, "io_node_list"), "a b");
    assert_string_equal(hint(block, "striping_unit"), "1048576");
    assert_string_equal(hint(block, "romio_ds_write"), "enable");
    assert_string_equal(hint(block, "cb_config_list"), "*:1, *:2"); /* not ours to change */
    assert_int_equal(block->line_count, 17);                        /* all are copied to the results */
    iot_spec_clear(&spec);
}

static void remarks(void **state)
{
    (void)state;
    const struct iot_block *block = parse_block(HEAD "info.queue  long, 64 GB  \ninfo.a.b #1\n");
    assert_int_equal(block->hint_count, 0);
    assert_string_equal(block->lines[1].key, "info.queue");
    assert_string_equal(block->lines[1].value, "long, 64 GB");
    assert_string_equal(block->lines[2].value, "#1");
    iot_spec_clear(&spec);
}

static void overrides(void **state)
{
    (void)state;
    static const char two[] = HEAD "numproblemsizes 1\nclass Kernel\ntestname beta\nfilename g\n";
    assert_int_equal(parse_with(two, "filename", "elsewhere"), PL_OK); /* replaces in every block */
    assert_string_equal(iot_spec_text(&spec.blocks[0], "filename"), "elsewhere");
    assert_string_equal(iot_spec_text(&spec.blocks[1], "filename"), "elsewhere");
    assert_int_equal(spec.blocks[1].line_count, 1);
    iot_spec_clear(&spec);
    assert_int_equal(parse_with(two, "beta", "9"), PL_OK); /* adds, where the test knows it */
    assert_null(iot_spec_find(&spec.blocks[0], "beta"));
    assert_true(iot_spec_number(&spec.blocks[1], "beta") == 9);
    iot_spec_clear(&spec);
    assert_int_equal(parse_with(two, "numsizes", "5"), PL_OK); /* under either name */
    assert_true(iot_spec_number(&spec.blocks[0], "numsizes") == 5);
    assert_int_equal(spec.blocks[0].line_count, 2);
    iot_spec_clear(&spec);
    assert_int_equal(parse_with(HEAD "cb_nodes 1\n", "cb_nodes", "3"), PL_OK);
    assert_int_equal(spec.blocks[0].hint_count, 1);
    assert_string_equal(hint(&spec.blocks[0], "cb_nodes"), "3");
    iot_spec_clear(&spec);
    assert_int_equal(parse_with(HEAD, "hint.x", "y"), PL_OK);
    assert_string_equal(hint(&spec.blocks[0], "x"), "y");
    iot_spec_clear(&spec);
    assert_int_equal(parse_with("classname Lowlevel\ntestname alpha\n", "filename", "f"),
                     PL_OK); /* even a missing one */
    iot_spec_clear(&spec);
}

static void override_messages(void **state)
{
    (void)state;
    assert_int_equal(parse_with(HEAD, "numsizes", "x"), PL_E_INPUT);
    assert_string_equal(error.text, "--set: numsizes: 'x' is not a number; allowed: a whole number from 1 to 1000000");
    assert_int_equal(parse_with(HEAD, "numsize", "1"), PL_E_INPUT);
    assert_non_null(strstr(error.text, "--set: numsize: not a keyword of test 'alpha'; did you mean 'numsizes'?"));
    assert_int_equal(parse_with(HEAD, "filename", ""), PL_E_INPUT);
    assert_string_equal(error.text, "--set: filename: has no value; allowed: a name");
}

static void messages(void **state)
{
    (void)state;
    expect_message("", "a.in:1: no test in this file; allowed: blocks that begin with classname");
    expect_message(HEAD "factor 2\n", "a.in:4: factor: '2' is out of range; allowed: a number from -1 to 1");
    expect_message(HEAD "factor nan\n", "a.in:4: factor: 'nan' is not a number; allowed: a number from -1 to 1");
    expect_message(HEAD "flag yes\n", "a.in:4: flag: 'yes' is not allowed; allowed: true, false");
    expect_message(HEAD "shape oval\n", "a.in:4: shape: 'oval' is not allowed; allowed: round, square");
    expect_message("classname Lowlevel\ntestname alpha\nnumsizes 1\n",
                   "a.in:2: filename: missing in this block of test 'alpha'; allowed: a name");
}

/* A message stays one line, whatever the file holds. */
static void hostile_text(void **state)
{
    (void)state;
    expect_message(HEAD "flag \x1b[2Jx\n", "a.in:4: flag: '\\x1b[2Jx' is not allowed; allowed: true, false");
    char *text = calloc(1, 100000);
    strcpy(text, HEAD);
    memset(text + strlen(text), 'x', 90000);
    assert_int_equal(parse(text), PL_E_INPUT);
    assert_true(strlen(error.text) < PL_ERROR_TEXT_MAX);
    assert_int_equal(strncmp(error.text, "a.in:4: xxx", 11), 0);
    free(text);
    static const char zero[] = HEAD "flag tr\0ue\n";
    assert_int_equal(iot_spec_parse("a.in", zero, sizeof zero - 1, TESTS, NULL, 0, &spec, &error), PL_E_INPUT);
}

/* Cut anywhere, the text gives a spec or a message, never a crash; sanitizers watch. */
static void cut_anywhere(void **state)
{
    (void)state;
    static const char whole[] = "timingsfilename o\n" HEAD "numsizes 2\nsizes 1, 2\ncb_nodes 4\nhint.a b\ninfo.c d\n"
                                "class Kernel\ntestname beta\nfilename g\nbeta 4\n";
    for (size_t length = 0; length < sizeof whole; length++) {
        char *copy = malloc(length + 1); /* exactly as long, so that a read beyond is found */
        memcpy(copy, whole, length);
        if (iot_spec_parse("a.in", copy, length, TESTS, NULL, 0, &spec, &error) == PL_OK)
            iot_spec_clear(&spec);
        free(copy);
    }
}

/* The tables of the real tests are sound: every default is allowed, every keyword explained. */
static void real_tables(void **state)
{
    (void)state;
    for (const struct iot_test *const *test = IOT_CLASSES[0].tests; *test; test++) {
        const char *name = (*test)->name;
        char text[300];
        snprintf(text, sizeof text,
                 "class %s\ntestname %s\nfilename f\nnumfilesize 1\nfilesize 1\nnumblocksize 1\nblocksize 1\n%s%s",
                 IOT_CLASSES[0].name, name, strncmp(name, "multiple", 8) ? "" : "collective true\n",
                 strchr(name, 'I') ? "tasklength 10\n" : "");
        if (iot_spec_parse("a.in", text, strlen(text), IOT_CLASSES, NULL, 0, &spec, &error) != PL_OK)
            fail_msg("%s: %s", name, error.text);
        iot_spec_clear(&spec);
    }
    for (const struct iot_class *class = IOT_CLASSES; class->name; class ++)
        for (const struct iot_test *const *test = class->tests; *test; test++)
            for (const struct option_row *const *table = (*test)->keywords; *table; table++)
                for (const struct option_row *row = *table; row->name; row++)
                    assert_true(row->help && *row->help);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_defaults),
        cmocka_unit_test(lists),
        cmocka_unit_test(long_list),
        cmocka_unit_test(rounding),
        cmocka_unit_test(aliases),
        cmocka_unit_test(comments_and_line_ends),
        cmocka_unit_test(several_blocks),
        cmocka_unit_test(timings_anywhere),
        cmocka_unit_test(hints),
        cmocka_unit_test(remarks),
        cmocka_unit_test(overrides),
        cmocka_unit_test(override_messages),
        cmocka_unit_test(messages),
        cmocka_unit_test(hostile_text),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(real_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
