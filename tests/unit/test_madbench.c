/* The requests of MADbench2's I/O mode, against the facts of the original.
 * The program is a reference case of PHASE-7; its phases are not looked at here.
 * It would fail if a request had another size, place or order, if a rank read what nobody wrote or what was overwritten
 * before, or if gangs that cannot be were not refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/apps/madbench.h"

static const struct madbench_options USUAL = {
    .pixels = 640, .bins = 8, .gangs = 1, .scatter = 8, .block_bytes = 4096, .rmod = 1, .wmod = 1};

static struct madbench_plan plan_of(const struct madbench_options *options, int ranks)
{
    struct madbench_plan plan;
    struct pl_error error;
    if (madbench_plan_make(options, ranks, &plan, &error) != PL_OK)
        fail_msg("%s", error.text);
    return plan;
}

/* Function and kind of each request as text: "Sw Sw … Wr". */
static void order_of(const struct madbench_plan *plan, char *text)
{
    for (int64_t i = 0; i < madbench_plan_requests(plan); i++) {
        const struct madbench_request request = madbench_plan_request(plan, 0, i);
        *text++ = "SWC"[request.function];
        *text++ = request.writes ? 'w' : 'r';
    }
    *text = '\0';
}

static void facts_of_one_gang(void **state)
{
    (void)state;
    const struct madbench_plan plan = plan_of(&USUAL, 4);
    char order[256];
    order_of(&plan, order);
    assert_string_equal(order, "SwSwSwSwSwSwSwSw"
                               "WrWrWwWrWwWrWwWrWwWrWwWrWwWrWwWw"
                               "CrCrCrCrCrCrCrCr");
    static const int w_bins[] = {0, 1, 0, 2, 1, 3, 2, 4, 3, 5, 4, 6, 5, 7, 6, 7};
    for (int rank = 0; rank < 4; rank++)
        for (int64_t i = 0; i < 32; i++) {
            const struct madbench_request request = madbench_plan_request(&plan, rank, i);
            const int64_t bin = i < 8 ? i : i < 24 ? w_bins[i - 8] : i - 24;
            assert_int_equal(request.bytes, 819200);
            assert_int_equal(request.offset, rank * INT64_C(6553600) + bin * 819200);
        }
    const struct apps_cost cost = madbench_plan_cost(&plan);
    assert_int_equal(cost.file_bytes, 4 * 6553600);
    assert_int_equal(cost.write_bytes, 2 * 4 * 6553600);
    assert_int_equal(cost.read_requests, 4 * 16);
}

/* 16 ranks, 8192 pixels: the 32 MB requests of the document's table. */
static void facts_of_sixteen(void **state)
{
    (void)state;
    struct madbench_options options = USUAL;
    options.pixels = 8192;
    const struct madbench_plan plan = plan_of(&options, 16);
    for (int rank = 0; rank < 16; rank++)
        assert_int_equal(madbench_plan_matrix_bytes(&plan, rank), 32 << 20);
    assert_int_equal(plan.stride_bytes, 32 << 20);
    assert_int_equal(madbench_plan_request(&plan, 3, 0).offset, INT64_C(3) * 8 * (32 << 20));
    assert_int_equal(madbench_plan_cost(&plan).file_bytes, INT64_C(4) << 30);
}

/* 500 pixels in blocks of 8 on a square of 2 x 2: ranks differ, and the stride alone is rounded. */
static void facts_of_uneven_parts(void **state)
{
    (void)state;
    static const int64_t bytes[4] = {508032, 499968, 499968, 492032};
    struct madbench_options options = USUAL;
    options.pixels = 500;
    struct madbench_plan plan = plan_of(&options, 4);
    assert_int_equal(plan.stride_bytes, 512000);
    assert_int_equal(madbench_plan_region_bytes(&plan), 4096000);
    assert_false(madbench_plan_is_even(&plan));
    for (int rank = 0; rank < 4; rank++)
        for (int64_t i = 0; i < madbench_plan_requests(&plan); i++) {
            const struct madbench_request request = madbench_plan_request(&plan, rank, i);
            assert_int_equal(request.bytes, bytes[rank]);
            assert_int_equal(request.offset, rank * INT64_C(4096000) + request.number * 512000);
        }
    options.block_bytes = 8;
    plan = plan_of(&options, 4);
    assert_int_equal(plan.stride_bytes, 508032);
    /* All elements are dealt out, whatever the blocks; the first rank has most. */
    for (options.pixels = 1; options.pixels < 60; options.pixels += 7)
        for (options.scatter = 1; options.scatter < 40; options.scatter += 3) {
            plan = plan_of(&options, 9);
            int64_t sum = 0;
            for (int rank = 0; rank < 9; rank++) {
                const int64_t mine = madbench_plan_matrix_bytes(&plan, rank);
                sum += mine;
                assert_true(mine <= madbench_plan_matrix_bytes(&plan, 0) && mine <= plan.stride_bytes);
                assert_true(mine >= madbench_plan_matrix_bytes(&plan, 8));
            }
            assert_int_equal(sum, 8 * options.pixels * options.pixels);
        }
}

/* Walks through the requests of all ranks, request by request, on a file of numbers: who wrote each 8 bytes last. */
static void check_contents(const struct madbench_options *options, int ranks)
{
    const struct madbench_plan plan = plan_of(options, ranks);
    const bool shared = options->files == MADBENCH_SHARED;
    const int64_t cells =
        (shared ? ranks * options->bins * plan.result_stride_bytes : ranks * madbench_plan_region_bytes(&plan)) / 8 + 1;
    int *file = calloc((size_t)cells, sizeof *file);
    assert_non_null(file);
    for (int64_t i = 0; i < madbench_plan_requests(&plan); i++)
        for (int rank = 0; rank < ranks; rank++) {
            const struct madbench_request request = madbench_plan_request(&plan, rank, i);
            const int mark = 1 + (int)(2 * request.number + request.is_result) * ranks + rank;
            const int64_t base = shared ? 0 : rank * madbench_plan_region_bytes(&plan);
            assert_true((base + request.offset + request.bytes) / 8 <= cells);
            for (int64_t at = base + request.offset; at < base + request.offset + request.bytes; at += 8) {
                if (!request.writes && file[at / 8] != mark && (request.is_result || !plan.overwrites))
                    fail_msg("%d ranks, %lld gangs, request %lld reads what is not its own", ranks,
                             (long long)options->gangs, (long long)i);
                file[at / 8] = request.writes ? mark : file[at / 8];
            }
        }
    free(file);
}

static void what_is_read_was_written(void **state)
{
    (void)state;
    static const int64_t gangs[] = {1, 4, 9, 36};
    for (size_t g = 0; g < sizeof gangs / sizeof gangs[0]; g++)
        for (int unique = 0; unique < 2; unique++)
            for (int64_t block = 8; block <= 4096; block *= 512) {
                const struct madbench_options options = {.pixels = 53,
                                                         .bins = 72,
                                                         .gangs = gangs[g],
                                                         .scatter = 4,
                                                         .block_bytes = block,
                                                         .files = unique ? MADBENCH_UNIQUE : MADBENCH_SHARED,
                                                         .rmod = 1,
                                                         .wmod = 1};
                check_contents(&options, 36);
            }
}

static void gangs_share_the_bins(void **state)
{
    (void)state;
    struct madbench_options options = USUAL;
    options.gangs = 4;
    const struct madbench_plan plan = plan_of(&options, 4);
    char order[256];
    order_of(&plan, order);
    assert_string_equal(order, "SwSwSwSwSwSwSwSwWrWrWrWrWrWrWrWrWwWwCrCr");
    assert_int_equal(madbench_plan_result_bytes(&plan, 1), 4 * 819200);
    assert_int_equal(madbench_plan_request(&plan, 1, 17).offset, 8 * 3276800 + 3276800);
    assert_false(plan.overwrites);
}

static void refused(struct madbench_options options, int ranks, const char *words)
{
    struct madbench_plan plan;
    struct pl_error error;
    assert_int_equal(madbench_plan_make(&options, ranks, &plan, &error), PL_E_USAGE);
    if (!strstr(error.text, words))
        fail_msg("'%s' is not in: %s", words, error.text);
}

/* The usual options, with one change. */
#define REFUSED(change, ranks, words)                                                                                  \
    do {                                                                                                               \
        struct madbench_options options = USUAL;                                                                       \
        change;                                                                                                        \
        refused(options, ranks, words);                                                                                \
    } while (0)

static void wrong_options_are_refused(void **state)
{
    (void)state;
    refused(USUAL, 3, "square");
    REFUSED(options.gangs = 2, 4, "--gangs");
    REFUSED(options.gangs = 9, 9, "divisors of --bins");
    REFUSED(options.mode = MADBENCH_ASYNC; options.method = MADBENCH_POSIX, 4, "--iomode");
    REFUSED(options.mode = MADBENCH_ASYNC; options.calls = MADBENCH_COLLECTIVE, 4, "--calls");
    REFUSED(options.calls = MADBENCH_COLLECTIVE; options.wmod = 2, 4, "--calls");
    REFUSED(options.rmod = 5, 4, "--rmod");
    REFUSED(options.pixels = 100000, 1, "--pixels");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_of_one_gang),     cmocka_unit_test(facts_of_sixteen),
        cmocka_unit_test(facts_of_uneven_parts), cmocka_unit_test(what_is_read_was_written),
        cmocka_unit_test(gangs_share_the_bins),  cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
