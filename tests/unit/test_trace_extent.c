/* Bytes of an access through its view, for every constructor of a datatype that a trace tells.
 * proves: PHASE-2 PHASE-10
 * It would fail if a place, a length or the order of the pieces were wrong, or if a text that does not tell its places
 * were believed. */
#include "trace/trace_extent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *detail, int64_t offset, int64_t bytes, int most, const char *wanted)
{
    struct trace_view view;
    struct pl_error error = {0};
    struct text text = {0};
    if (trace_view_init(&view, detail, &error) != PL_OK)
        fail_msg("%s: %s", detail ? detail : "no view", error.text);
    trace_extents_add_text(&view, offset, bytes, most, &text);
    assert_string_equal(text_get(&text), wanted);
    text_clear(&text);
    trace_view_clear(&view);
}

static void expect_type(const char *filetype, int64_t offset, int64_t bytes, const char *wanted)
{
    char detail[1024];
    snprintf(detail, sizeof detail, "disp=1000 etype_bytes=1 datarep=\"native\" etype=\"MPI_BYTE\" filetype=\"%s\"",
             filetype);
    expect(detail, offset, bytes, 0, wanted);
}

static void test_no_view_is_bytes(void **state)
{
    (void)state;
    expect(NULL, 7, 100, 0, "7+100");
    expect("", 7, 100, 4, "7+100");
    expect(NULL, 7, 0, 0, "-");
    expect(NULL, -1, 100, 0, "-");
    expect(NULL, INT64_MAX, 100, 0, "-");
}

static void test_dense_view_counts_etypes(void **state)
{
    (void)state;
    expect("disp=16 etype_bytes=8 size=8 extent=8 datarep=\"native\" etype=\"MPI_DOUBLE\" filetype=\"MPI_DOUBLE\"", 3,
           80, 0, "40+80");
    expect("etype=\"MPI_DOUBLE\" filetype=\"contiguous(10,MPI_DOUBLE)\"", 3, 800, 0, "24+800");
}

static void test_each_constructor(void **state)
{
    (void)state;
    expect_type("vector(3,2,4,MPI_INT)", 0, 24, "1000+8,1016+8,1032+8");
    expect_type("vector(3,2,4,MPI_INT)", 4, 24, "1004+4,1016+8,1032+12"); /* the next one follows at 40 */
    expect_type("hvector(2,1,10,MPI_INT)", 0, 16, "1000+4,1010+8,1024+4");
    expect_type("indexed([1 2],[3 5],MPI_SHORT)", 0, 6, "1006+2,1010+4");
    expect_type("hindexed([1 2],[3 5],MPI_BYTE)", 0, 3, "1003+1,1005+2");
    expect_type("indexed_block(2,[0 4],MPI_BYTE)", 0, 4, "1000+2,1004+2");
    expect_type("hindexed_block(2,[0:4*3],MPI_BYTE)", 0, 6, "1000+2,1004+2,1008+2");
    expect_type("struct([1 1],[0 16],[MPI_INT MPI_DOUBLE])", 0, 24, "1000+4,1016+12,1040+8");
    expect_type("struct([1 1],[0 4],[MPI_INT MPI_BYTE])", 0, 10, "1000+5,1008+5"); /* padded to 8 */
    expect_type("resized(0,100,MPI_INT)", 2, 8, "1002+2,1100+4,1200+2");
    expect_type("resized(-4,100,hindexed([4],[-4],MPI_BYTE))", 0, 8, "996+4,1096+4");
    expect_type("dup(vector(2,1,2,MPI_BYTE))", 0, 4, "1000+1,1002+2,1005+1");
    expect_type("subarray([4 6],[2 3],[1 2],C,MPI_BYTE)", 0, 7, "1008+3,1014+3,1032+1");
    expect_type("subarray([4 6],[2 3],[1 2],F,MPI_BYTE)", 0, 6, "1009+2,1013+2,1017+2");
    expect_type("subarray([4 6],[4 6],[0 0],C,MPI_INT)", 3, 200, "1003+200");
    expect_type("MPI_SHORT_INT", 0, 12, "1000+2,1004+6,1012+4");
    expect_type("f90_real(15,300)", 0, 16, "1000+16");
    expect_type("contiguous(2,vector(2,1,2,MPI_INT))", 0, 16, "1000+4,1008+8,1020+4");
}

static void test_darray(void **state)
{
    (void)state;
    /* 10 elements to 3 processes: 4 4 2 in blocks; the default has any negative number */
    expect_type("darray(3,0,[10],[block],[-1],[3],C,MPI_BYTE)", 0, 5, "1000+4,1010+1");
    expect_type("darray(3,2,[10],[block],[-49767],[3],C,MPI_BYTE)", 0, 2, "1008+2");
    /* cyclic(2): process 1 has 2 3, 8 9 */
    expect_type("darray(3,1,[10],[cyclic],[2],[3],C,MPI_BYTE)", 0, 4, "1002+2,1008+2");
    expect_type("darray(3,0,[10],[cyclic],[2],[3],C,MPI_BYTE)", 0, 4, "1000+2,1006+2");
    expect_type("darray(3,2,[11],[cyclic],[1],[3],C,MPI_BYTE)", 0, 3, "1002+1,1005+1,1008+1");
    /* a last block that is cut: process 0 of 2 has 0-2, 6 of 7 */
    expect_type("darray(2,0,[7],[cyclic],[3],[2],C,MPI_BYTE)", 0, 5, "1000+3,1006+2"); /* the next array goes on */
    expect_type("darray(4,2,[4 4],[block block],[-1 -1],[2 2],C,MPI_INT)", 0, 16, "1032+8,1048+8");
    expect_type("darray(4,2,[4 4],[block none],[-1 -1],[4 1],F,MPI_BYTE)", 0, 4, "1002+1,1006+1,1010+1,1014+1");
}

static void test_the_mpi_s_own_extent_counts(void **state)
{
    (void)state;
    expect("disp=0 etype_bytes=1 size=2 extent=12 datarep=\"native\" etype=\"MPI_BYTE\" "
           "filetype=\"hindexed([1 1],[0 5],MPI_BYTE)\"",
           0, 3, 0, "0+1,5+1,12+1");
}

static void test_short_text(void **state)
{
    (void)state;
    const char *row = "etype=\"MPI_BYTE\" filetype=\"vector(1000,2,5,MPI_BYTE)\"";
    expect(row, 0, 2000, 4, "0+2:5*1000");
    expect(row, 1, 6, 4, "1+1,5+2,10+2,15+1");
    expect(row, 1, 8, 2, "1+1,5+2:5*3,...");
    const char *ragged = "etype=\"MPI_BYTE\" filetype=\"hindexed([1 2 3 4 5 6],[0 10 20 30 40 50],MPI_BYTE)\"";
    expect(ragged, 0, 21, 4, "0+1,10+2,20+3,30+4,...");
    expect(ragged, 0, 10, 4, "0+1,10+2,20+3,30+4");
    /* 0 2 | 5 8 11: the second piece of a pair begins no run, or one */
    expect("etype=\"MPI_BYTE\" filetype=\"hindexed([1 1 1 1 1],[0 2 5 8 11],MPI_BYTE)\"", 0, 5, 4, "0+1,2+1:3*4");
}

static void test_what_is_not_told_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *detail;
        pl_status status;
    } cases[] = {
        {"etype=\"MPI_INT\" filetype=\"hindexed([1 2 ...],[0 3 ...],MPI_INT)\"", PL_E_FORMAT},
        {"etype=\"MPI_INT\" filetype=\"...\"", PL_E_FORMAT},
        {"etype=\"MPI_INT\" filetype=\"?\"", PL_E_FORMAT},
        {"etype=\"MPI_INT\"", PL_E_FORMAT},
        {"size=5 etype=\"MPI_INT\" filetype=\"MPI_INT\"", PL_E_FORMAT},
        {"datarep=\"external32\" etype=\"MPI_LONG\" filetype=\"MPI_LONG\"", PL_E_UNSUPPORTED},
        {"filetype=\"hvector(2,1,9223372036854775807,MPI_INT)\"", PL_E_FORMAT},
        {"filetype=\"contiguous(-1,MPI_INT)\"", PL_E_FORMAT},
        {"filetype=\"subarray([4],[5],[0],C,MPI_INT)\"", PL_E_FORMAT},
        {"filetype=\"subarray([],[],[],C,MPI_INT)\"", PL_E_FORMAT},
        {"filetype=\"darray(2,0,[10],[block],[2],[2],C,MPI_INT)\"", PL_E_FORMAT},
        {"filetype=\"darray(2,0,[10],[block],[2],[0],C,MPI_INT)\"", PL_E_FORMAT},
        {"filetype=\"indexed([1 2],[1],MPI_INT)\"", PL_E_FORMAT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trace_view view;
        struct pl_error error = {0};
        const pl_status status = trace_view_init(&view, cases[i].detail, &error);
        if (status != cases[i].status)
            fail_msg("%s: status %d", cases[i].detail, (int)status);
        trace_view_clear(&view);
    }
}

static void test_empty_types_have_no_places(void **state)
{
    (void)state;
    expect("etype_bytes=0 size=0 extent=0 etype=\"contiguous(0,MPI_INT)\" filetype=\"contiguous(0,MPI_INT)\"", 0, 4, 0,
           "-");
}

static bool count_piece(void *context, int64_t first, int64_t bytes)
{
    (void)first;
    (void)bytes;
    return ++*(int *)context < 3;
}

static void test_range_and_end(void **state)
{
    (void)state;
    struct trace_view view;
    struct pl_error error;
    int64_t first, end;
    int pieces = 0;
    assert_int_equal(
        trace_view_init(&view, "disp=100 etype_bytes=4 filetype=\"vector(1000000000,1,3,MPI_INT)\"", &error), PL_OK);
    assert_true(trace_extents_range(&view, 1, 4000000000 - 8, &first, &end)); /* at once, whatever lies between */
    assert_int_equal(first, 112);
    assert_int_equal(end, 100 + INT64_C(999999998) * 12 + 4);
    assert_true(trace_extents_range(&view, 2, 0, &first, &end));
    assert_int_equal(first, 124);
    assert_int_equal(end, 124);
    assert_false(trace_extents_range(&view, -1, 4, &first, &end));
    view.disp = 0; /* it moves */
    assert_true(trace_extents_range(&view, 1, 4, &first, &end));
    assert_int_equal(first, 12);
    assert_true(trace_extents_each(&view, 0, 4000, count_piece, &pieces));
    assert_int_equal(pieces, 3);
    trace_view_clear(&view);
}

/* Every byte by itself, against the pieces of any access. */
static void test_pieces_are_the_bytes(void **state)
{
    (void)state;
    static const char *const types[] = {"vector(3,2,5,MPI_SHORT)",
                                        "indexed([2 1 3],[0 4 7],MPI_SHORT)",
                                        "subarray([5 4 3],[2 3 2],[1 0 1],C,MPI_SHORT)",
                                        "darray(4,1,[7 5],[cyclic block],[2 -1],[2 2],C,MPI_SHORT)",
                                        "struct([2 1 2],[0 9 20],[MPI_INT MPI_BYTE vector(2,1,2,MPI_SHORT)])",
                                        "resized(0,64,hvector(3,2,10,indexed_block(1,[0 2],MPI_BYTE)))"};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        char detail[256];
        struct trace_view view;
        struct pl_error error;
        snprintf(detail, sizeof detail, "disp=3 etype_bytes=1 filetype=\"%s\"", types[t]);
        assert_int_equal(trace_view_init(&view, detail, &error), PL_OK);
        for (int64_t offset = 0; offset < 3 * view.size; offset++)
            for (int64_t bytes = 1; bytes < 2 * view.size; bytes += 3) {
                struct text pieces = {0}, single = {0};
                int64_t from = -1, length = 0;
                trace_extents_add_text(&view, offset, bytes, 0, &pieces);
                for (int64_t i = 0; i < bytes; i++) {
                    int64_t first, end;
                    assert_true(trace_extents_range(&view, offset + i, 1, &first, &end));
                    if (from + length != first || length == 0) {
                        if (length)
                            text_format(&single, "%s%lld+%lld", single.length ? "," : "", (long long)from,
                                        (long long)length);
                        from = first;
                        length = 0;
                    }
                    length++;
                }
                text_format(&single, "%s%lld+%lld", single.length ? "," : "", (long long)from, (long long)length);
                assert_string_equal(text_get(&pieces), text_get(&single));
                text_clear(&pieces);
                text_clear(&single);
            }
        trace_view_clear(&view);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_view_is_bytes),
        cmocka_unit_test(test_dense_view_counts_etypes),
        cmocka_unit_test(test_each_constructor),
        cmocka_unit_test(test_darray),
        cmocka_unit_test(test_the_mpi_s_own_extent_counts),
        cmocka_unit_test(test_short_text),
        cmocka_unit_test(test_what_is_not_told_is_refused),
        cmocka_unit_test(test_empty_types_have_no_places),
        cmocka_unit_test(test_range_and_end),
        cmocka_unit_test(test_pieces_are_the_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
