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

#include "bench/apps/madbench_plan.h"

static const struct madbench_options USUAL = {
    .pixels = 640, .bins = 8, .gangs = 1, .block_bytes = 4096, .rmod = 1, .wmod = 1};

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
    assert_int_equal(plan.request_bytes, 32 << 20);
    assert_int_equal(madbench_plan_request(&plan, 3, 0).offset, INT64_C(3) * 8 * (32 << 20));
    assert_int_equal(madbench_plan_cost(&plan).file_bytes, INT64_C(4) << 30);
}

static void requests_are_rounded_up(void **state)
{
    (void)state;
    struct madbench_options options = USUAL;
    options.pixels = 641; /* 410881 numbers: 102721 on the fullest rank */
    options.block_bytes = 8;
    assert_int_equal(plan_of(&options, 4).request_bytes, 102721 * 8);
    options.block_bytes = 1 << 20;
    assert_int_equal(plan_of(&options, 4).request_bytes, 1 << 20);
}

/* Walks through the requests of a rank on a file of numbers: which request wrote each block of 8 bytes last. */
static void check_contents(const struct madbench_options *options, int ranks)
{
    const struct madbench_plan plan = plan_of(options, ranks);
    const int64_t region = madbench_plan_region_bytes(&plan);
    const int rank = ranks - 1;
    const int64_t base = options->files == MADBENCH_SHARED ? rank * region : 0;
    int *file = calloc((size_t)(region / 8), sizeof *file);
    assert_non_null(file);
    for (int64_t i = 0; i < madbench_plan_requests(&plan); i++) {
        const struct madbench_request request = madbench_plan_request(&plan, rank, i);
        const int mark = 1 + (int)(2 * request.number + request.is_result);
        assert_true(request.offset >= base && request.offset + request.bytes <= base + region);
        for (int64_t at = request.offset - base; at < request.offset - base + request.bytes; at += 8) {
            if (!request.writes && file[at / 8] != mark)
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
    assert_int_equal(plan.result_bytes, 4 * 819200);
    assert_int_equal(madbench_plan_request(&plan, 1, 17).offset, 6553600 + 3276800);
}

static void refused(struct madbench_options options, int ranks, const char *words)
{
    struct madbench_plan plan;
    struct pl_error error;
    assert_int_equal(madbench_plan_make(&options, ranks, &plan, &error), PL_E_USAGE);
    if (!strstr(error.text, words))
        fail_msg("'%s' is not in: %s", words, error.text);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    struct madbench_options options = USUAL;
    refused(options, 3, "square");
    options.gangs = 2;
    refused(options, 4, "--gangs");
    options.gangs = 9;
    refused(options, 9, "divisors of --bins");
    options = USUAL;
    options.block_bytes = 12;
    refused(options, 4, "--block");
    options = USUAL;
    options.calls = MADBENCH_COLLECTIVE;
    options.wmod = 2;
    refused(options, 4, "--calls");
    options = USUAL;
    options.rmod = 5;
    refused(options, 4, "--rmod");
    options = USUAL;
    options.pixels = 100000;
    refused(options, 1, "--pixels");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_of_one_gang),       cmocka_unit_test(facts_of_sixteen),
        cmocka_unit_test(requests_are_rounded_up), cmocka_unit_test(what_is_read_was_written),
        cmocka_unit_test(gangs_share_the_bins),    cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
