/* Sizes, grids and distributions of the array kernels before anything runs: sets, their description, and what is
 * refused. proves: IOT-20 IOT-21 IOT-23 IOT-25 It would fail if a grid that does not fit or a size that does not divide
 * were let through, if sets were counted or ordered otherwise than size by size and grid by grid, or if a size in bytes
 * ran over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bench/iot/iot.h"
#include "bench/iot/iot_matrix.h"

static struct iot_spec spec;
static struct pl_error error;

static pl_status parse(const char *text)
{
    return iot_spec_parse("a.in", text, strlen(text), IOT_CLASSES, NULL, 0, &spec, &error);
}

static const struct iot_block *parse_block(const char *text)
{
    if (parse(text) != PL_OK)
        fail_msg("refused: %s", error.text);
    return &spec.blocks[0];
}

static pl_status check(const struct iot_block *block, int nprocs, int64_t *ret_sets)
{
    return block->test->check(&spec, block, nprocs, ret_sets, &error);
}

#define HEAD_2D       "class Kernel\ntestname matrix2D\nfilename f\ncollective true\n"
#define HEAD_3D       "class Kernel\ntestname matrix3D\nfilename f\ncollective true\n"
#define SIZES_2D      "numsizes 1\nxsize 12\nysize 6\n"
#define GRID_2D(x, y) "numprocgrids 1\nxproc " #x "\nyproc " #y "\n"

static void sets_in_order(void **state)
{
    (void)state;
    const struct iot_block *block = parse_block(HEAD_2D "repeat 2\nnumsizes 2\nxsize 12 24 99\nysize 6 12\n"
                                                        "numprocgrids 3\nxproc 1 2 6\nyproc 6 3 1\n");
    int64_t sets;
    assert_int_equal(check(block, 6, &sets), PL_OK);
    assert_int_equal(sets, 12);
    static const char *const labels[] = {"12 x 6 on 1x6",  "12 x 6 on 2x3",  "12 x 6 on 6x1",
                                         "24 x 12 on 1x6", "24 x 12 on 2x3", "24 x 12 on 6x1"};
    for (int64_t i = 0; i < sets; i++) {
        struct iot_set set;
        const struct piolet_dist_shape shape = matrix_shape(block, 6, i);
        matrix_describe(block, 6, i, &set);
        assert_string_equal(set.label, labels[i % 6]);
        assert_int_equal(shape.size[0], i % 6 < 3 ? 12 : 24);
        assert_int_equal(shape.grid[0] * shape.grid[1], 6);
        assert_int_equal(set.file_bytes, i % 6 < 3 ? 12 * 6 * 8 : 24 * 12 * 8);
        assert_int_equal(set.memory_bytes, set.file_bytes / 6);
        assert_int_equal(set.write_bytes, set.file_bytes);
        assert_int_equal(set.read_bytes, set.file_bytes);
    }
    iot_spec_clear(&spec);
}

static void phases(void **state)
{
    (void)state;
    struct iot_set set;
    const struct iot_block *block = parse_block(HEAD_2D SIZES_2D GRID_2D(2, 1) "phases read\nseed 1\n");
    matrix_describe(block, 2, 0, &set);
    assert_int_equal(set.write_bytes, 0);
    assert_int_equal(set.read_bytes, 576);
    iot_spec_clear(&spec);
    block = parse_block(HEAD_2D SIZES_2D GRID_2D(2, 1) "phases write\n");
    matrix_describe(block, 2, 0, &set);
    assert_int_equal(set.write_bytes, 576);
    assert_int_equal(set.read_bytes, 0);
    iot_spec_clear(&spec);
}

static void three_dimensions(void **state)
{
    (void)state;
    struct iot_set set;
    int64_t sets;
    const struct iot_block *block = parse_block(HEAD_3D "numproblemsizes 1\nxsize 2000\nysize 1000\nzsize 1500\n"
                                                        "numprocgrids 1\nxproc 2\nyproc 1\nzproc 2\n");
    assert_int_equal(check(block, 4, &sets), PL_OK);
    assert_int_equal(sets, 1);
    matrix_describe(block, 4, 0, &set);
    assert_string_equal(set.label, "2000 x 1000 x 1500 on 2x1x2");
    assert_int_equal(set.file_bytes, INT64_C(24000000000));
    assert_int_equal(set.memory_bytes, INT64_C(6000000000));
    iot_spec_clear(&spec);
}

/* The largest part counts, with every distribution; kinds that know no grid take any that fits the processes. */
static void distributions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t first; /* elements of rank 0 of a 13 x 7 array on 2 x 3 */
    } cases[] = {
        {"BALANCED,BALANCED", 21}, {"CYCLIC,CYCLIC(2)", 21}, {"CYCLIC(100),BALANCED", 39}, {"scatter(91)", 91}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[300];
        struct iot_set set;
        int64_t sets;
        snprintf(text, sizeof text, HEAD_2D "numsizes 1\nxsize 13\nysize 7\n" GRID_2D(2, 3) "distribution %s\n",
                 cases[i].text);
        const struct iot_block *block = parse_block(text);
        if (check(block, 6, &sets) != PL_OK)
            fail_msg("%s: %s", cases[i].text, error.text);
        matrix_describe(block, 6, 0, &set);
        if (set.memory_bytes != cases[i].first * 8)
            fail_msg("%s: %lld bytes", cases[i].text, (long long)set.memory_bytes);
        iot_spec_clear(&spec);
    }
}

/* transpose divides both axes among all processes; gatherscat2D needs the whole matrix on one of them. */
static void other_kernels(void **state)
{
    (void)state;
    struct iot_set set;
    int64_t sets;
    const struct iot_block *block = parse_block("class Kernel\ntestname transpose\nfilename f\ncollective false\n"
                                                "numsizes 1\nxsize 12\nysize 18\n");
    assert_int_equal(check(block, 6, &sets), PL_OK);
    block->test->describe(block, 6, 0, &set);
    assert_int_equal(set.memory_bytes, 2 * 12 * 18 * 8 / 6);
    assert_string_equal(set.label, "12 x 18");
    assert_int_equal(check(block, 4, &sets), PL_E_INPUT);
    assert_string_equal(error.text,
                        "a.in:7: ysize: 18 elements do not divide among 4 processes; allowed: a multiple of 4");
    assert_int_equal(check(block, 9, &sets), PL_E_INPUT);
    assert_string_equal(error.text,
                        "a.in:6: xsize: 12 elements do not divide among 9 processes; allowed: a multiple of 9");
    iot_spec_clear(&spec);
    block = parse_block("class Kernel\ntestname gatherscat2D\nfilename f\n" SIZES_2D GRID_2D(2, 3));
    assert_int_equal(check(block, 6, &sets), PL_OK);
    block->test->describe(block, 6, 0, &set);
    assert_int_equal(set.memory_bytes, 12 * 6 * 8 / 6);
    assert_int_equal(set.memory_alone_bytes, 12 * 6 * 8);
    iot_spec_clear(&spec);
}

static void refused(const char *text, int nprocs, const char *message)
{
    int64_t sets;
    const struct iot_block *block = parse_block(text);
    if (check(block, nprocs, &sets) == PL_OK)
        fail_msg("let through: %s", text);
    assert_int_equal(error.status, PL_E_INPUT);
    assert_string_equal(error.text, message);
    iot_spec_clear(&spec);
}

static void messages(void **state)
{
    (void)state;
    refused(HEAD_2D SIZES_2D GRID_2D(2, 2), 6,
            "a.in:9: xproc: a process grid of 2 x 2 has 4 processes, but 6 run; allowed: a product of 6");
    refused(HEAD_2D SIZES_2D GRID_2D(1000000, 1000000), 6,
            "a.in:9: xproc: a process grid of 1000000 x 1000000 has 1000000000000 processes, but 6 run; allowed: a "
            "product of 6");
    refused(HEAD_2D SIZES_2D GRID_2D(1, 4), 4,
            "a.in:7: ysize: 6 elements do not divide among 4 processes; allowed: a multiple of 4, or distribution "
            "BALANCED along this axis");
    refused(HEAD_2D "numsizes 2\nxsize 12 13\nysize 6 6\n" GRID_2D(2, 1), 2,
            "a.in:6: xsize: 13 elements do not divide among 2 processes; allowed: a multiple of 2, or distribution "
            "BALANCED along this axis");
    refused(HEAD_2D "numsizes 2\nxsize 12 14\nysize 6\n" GRID_2D(2, 1), 2,
            "a.in:7: ysize: the list holds 1 value, but numsizes is 2; allowed: at least 2");
    refused(HEAD_2D SIZES_2D "numprocgrids 2\nxproc 2 1\nyproc 1\n", 2,
            "a.in:10: yproc: the list holds 1 value, but numprocgrids is 2; allowed: at least 2");
    refused("class Kernel\ntestname gatherscat2D\nfilename f\n" SIZES_2D GRID_2D(1, 4), 4,
            "a.in:6: ysize: 6 elements do not divide among 4 processes; allowed: a multiple of 4");
    refused(HEAD_2D SIZES_2D GRID_2D(2, 1) "phases read\n", 2,
            "a.in:11: phases: 'read' cannot check the data without the seed of the writing run; allowed: with seed N, "
            "or with check none");
}

/* 4·10^18 elements pass for an array, but their bytes do not fit 64 bits. */
static void sizes_beyond_any_file(void **state)
{
    (void)state;
    static const char huge[] = HEAD_3D "numsizes 1\nxsize 1000000000\nysize 1000000000\nzsize %s\n"
                                       "numprocgrids 1\nxproc 1\nyproc 1\nzproc 1\n";
    static const char *const sizes[] = {"1", "4", "1000000000"};
    for (size_t i = 0; i < 3; i++) {
        char text[300];
        int64_t sets;
        snprintf(text, sizeof text, huge, sizes[i]);
        const struct iot_block *block = parse_block(text);
        assert_int_equal(check(block, 1, &sets), PL_E_INPUT);
        assert_non_null(strstr(error.text, "a.in:6: xsize: an array of "));
        assert_non_null(strstr(error.text, "is larger than any file; allowed: sizes with a product up to 5.76e+17"));
        iot_spec_clear(&spec);
    }
    struct iot_set set;
    int64_t sets;
    const struct iot_block *block = parse_block(HEAD_2D
                                                "numsizes 1\nxsize 1000000000\nysize 500000000\n" GRID_2D(1, 1));
    assert_int_equal(check(block, 1, &sets), PL_OK);
    matrix_describe(block, 1, 0, &set);
    assert_int_equal(set.file_bytes, INT64_C(4000000000000000000));
    iot_spec_clear(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_in_order),         cmocka_unit_test(phases),        cmocka_unit_test(three_dimensions),
        cmocka_unit_test(distributions),         cmocka_unit_test(other_kernels), cmocka_unit_test(messages),
        cmocka_unit_test(sizes_beyond_any_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
