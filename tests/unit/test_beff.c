/* The pure half of b_eff: lengths, loops, rings, patterns, data, averages, and where ranks are.
 * proves: BEFF-1 BEFF-2 BEFF-4 BEFF-5 BEFF-6 BEFF-7
 * It would fail if a process were in no ring or in two, if the rings of a number of processes were other ones than
 * those worked out by hand, if a message were expected by nobody, if a loop were lengthened, or if an average were not
 * the document's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/beff/beff_data.h"
#include "bench/beff/beff_results.h"
#include "bench/beff/beff_run.h"

#include <math.h>

enum { N_MAX = 4096 };

/* ---- lengths and loops ---- */

static void test_lengths(void **state)
{
    (void)state;
    int64_t lengths[BEFF_LENGTHS];
    assert_int_equal(beff_length_max((int64_t)128 << 20), 1 << 20);
    assert_int_equal(beff_length_max((int64_t)16 << 30), 128 << 20);
    assert_int_equal(beff_length_max((int64_t)64 << 30), 128 << 20); /* counts are int */
    beff_lengths(1 << 20, lengths);                                  /* a = 2 */
    for (int i = 0; i < BEFF_LENGTHS; i++)
        assert_int_equal(lengths[i], (int64_t)1 << i);
    beff_lengths(128 << 20, lengths); /* a = 32768^(1/8) = 3.668016… */
    static const int64_t longest[] = {4096, 15024, 55109, 202141, 741455, 2719670, 9975792, 36591368, 134217728};
    for (int i = 0; i < 9; i++)
        assert_int_equal(lengths[12 + i], longest[i]);
    for (int64_t memory = BEFF_MEMORY_LEAST; memory < (int64_t)1 << 36; memory += memory / 7) {
        beff_lengths(beff_length_max(memory), lengths);
        for (int i = 1; i < BEFF_LENGTHS; i++)
            assert_true(lengths[i] > lengths[i - 1]);
        assert_int_equal(lengths[BEFF_LENGTHS - 1], beff_length_max(memory));
    }
}

static void test_loops(void **state)
{
    (void)state;
    const double target = BEFF_LOOP_TARGET_S;
    assert_int_equal(beff_loop_next(300, 1e-4, target), 300); /* only ever reduced */
    assert_int_equal(beff_loop_next(300, 2.5e-3, target), 300);
    assert_int_equal(beff_loop_next(300, 5e-3, target), 150);
    assert_int_equal(beff_loop_next(300, 4e-3, target), 187);
    assert_int_equal(beff_loop_next(3, 1.0, target), 1);
    assert_int_equal(beff_loop_next(1, 1.0, target), 1);
    assert_int_equal(beff_repetitions(0, 0, 20, 15), 3);
    assert_int_equal(beff_repetitions(5, 10, 10, 15), 3);
    assert_int_equal(beff_repetitions(5, 10, 10, 9), 1); /* would end after 10 s */
    /* Where the time is in proportion to the length, a loop with doubling lengths takes 2.5 to 5 ms. */
    int64_t loops = 300;
    double round_s = 10e-6;
    for (int i = 0; i < 8; i++, round_s *= 2) {
        const double seconds = (double)loops * round_s;
        assert_true(seconds >= 2.3e-3 && seconds <= 5e-3);
        loops = beff_loop_next(loops, seconds, target);
    }
}

/* ---- rings ---- */

static void expect_rings(int n, const char *const wanted[BEFF_RING_PATTERNS])
{
    for (int p = 1; p <= BEFF_RING_PATTERNS; p++) {
        char text[BEFF_RINGS_TEXT_MAX];
        const struct beff_rings rings = beff_rings_of(p, n);
        assert_string_equal(beff_rings_text(&rings, text), wanted[p - 1]);
    }
}

static void test_rings_by_hand(void **state)
{
    (void)state;
    static const struct {
        int n;
        const char *rings[BEFF_RING_PATTERNS];
    } cases[] = {
        {2, {"1 x 2", "1 x 2", "1 x 2", "1 x 2", "1 x 2", "1 x 2"}},
        {3, {"1 x 3", "1 x 3", "1 x 3", "1 x 3", "1 x 3", "1 x 3"}},
        {7, {"2 x 2 + 1 x 3", "1 x 7", "1 x 7", "1 x 7", "1 x 7", "1 x 7"}},
        {8, {"4 x 2", "2 x 4", "1 x 8", "1 x 8", "1 x 8", "1 x 8"}},
        {11, {"4 x 2 + 1 x 3", "2 x 4 + 1 x 3", "1 x 11", "1 x 11", "1 x 11", "1 x 11"}},
        {28, {"14 x 2", "7 x 4", "1 x 10 + 2 x 9", "2 x 14", "1 x 28", "1 x 28"}},
        {29, {"13 x 2 + 1 x 3", "6 x 4 + 1 x 5", "1 x 8 + 3 x 7", "1 x 14 + 1 x 15", "1 x 29", "1 x 29"}},
        {100, {"50 x 2", "25 x 4", "8 x 8 + 4 x 9", "4 x 25", "2 x 50", "1 x 100"}},
        {127, {"62 x 2 + 1 x 3", "31 x 4 + 1 x 3", "15 x 8 + 1 x 7", "3 x 32 + 1 x 31", "1 x 64 + 1 x 63", "1 x 127"}},
        {128, {"64 x 2", "32 x 4", "16 x 8", "4 x 32", "2 x 64", "1 x 128"}},
        {256, {"128 x 2", "64 x 4", "32 x 8", "4 x 64", "2 x 128", "1 x 256"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_rings(cases[i].n, cases[i].rings);
}

/* Positions are in rings without gap; the document's sizes of patterns 1 to 3. */
static void test_rings_of_all_numbers(void **state)
{
    (void)state;
    for (int n = 2; n <= N_MAX; n++)
        for (int p = 1; p <= BEFF_RING_PATTERNS; p++) {
            const struct beff_rings rings = beff_rings_of(p, n);
            int next = 0, count = 0;
            while (next < n) {
                const struct beff_ring ring = beff_ring_at(&rings, next);
                assert_int_equal(ring.first, next);
                assert_true(ring.size >= 2 && ring.size - rings.size >= 0 && ring.size - rings.size <= 1);
                const struct beff_ring same = beff_ring_at(&rings, next + ring.size - 1);
                assert_true(same.first == ring.first && same.size == ring.size);
                assert_true(p != 1 || ring.size == 2 || (ring.size == 3 && next + 3 == n));
                assert_true(p != 2 || n <= 7 || (ring.size >= 3 && ring.size <= 5));
                assert_true(p != 3 || n < 29 || (ring.size >= 7 && ring.size <= 9));
                next += ring.size;
                count++;
            }
            assert_int_equal(next, n);
            assert_int_equal(count, rings.count);
            assert_true(p != 2 || n > 7 || count == 1);
            assert_true(p != 6 || count == 1);
        }
}

/* ---- patterns ---- */

/* Every message that is sent over link k is expected over link k by its receiver. */
static void check_links(struct beff_pattern pattern, int n, int *order)
{
    struct beff_links *links = calloc((size_t)n, sizeof *links);
    int64_t messages = 0;
    assert_non_null(links);
    for (int r = 0; r < n; r++)
        links[r] = beff_pattern_links(pattern, n, r, 7, order);
    for (int r = 0; r < n; r++)
        for (int k = 0; k < links[r].count; k++) {
            const int to = links[r].to[k];
            assert_true((to == BEFF_NOBODY) == (links[r].from[k] == BEFF_NOBODY));
            if (to == BEFF_NOBODY)
                continue;
            assert_true(to >= 0 && to < n && to != r);
            assert_int_equal(links[to].from[k], r);
            /* several messages to one process stand behind each other */
            for (int j = 0; j + 1 < k; j++)
                assert_true(links[r].to[j] != to);
            messages++;
        }
    assert_int_equal(messages, beff_pattern_messages(pattern, n));
    assert_true(links[0].count <= beff_links_max(n));
    free(links);
}

static void test_every_message_is_expected(void **state)
{
    (void)state;
    int *order = calloc(N_MAX, sizeof *order);
    assert_non_null(order);
    static const int more[] = {97, 100, 127, 128, 256, 360};
    for (int i = 2; i < 40 + (int)(sizeof more / sizeof more[0]); i++) {
        const int n = i < 40 ? i : more[i - 40];
        struct beff_pattern pattern, back;
        char name[BEFF_NAME_MAX];
        int index = 0;
        for (; beff_pattern_next(n, 2, index, &pattern); index++) {
            check_links(pattern, n, order);
            assert_true(beff_pattern_parse(beff_pattern_name(pattern, name), &back));
            assert_true(back.kind == pattern.kind && back.number == pattern.number);
        }
        assert_int_equal(index, beff_pattern_count(n, 2));
        assert_true(pattern.kind == BEFF_RANDOM); /* those that may be cut come last */
    }
    free(order);
}

static void expect_links(enum beff_kind kind, int number, int n, int rank, const struct beff_links wanted)
{
    int order[64];
    const struct beff_links links = beff_pattern_links((struct beff_pattern){kind, number}, n, rank, 0, order);
    assert_int_equal(links.count, wanted.count);
    for (int k = 0; k < wanted.count; k++) {
        assert_int_equal(links.to[k], wanted.to[k]);
        assert_int_equal(links.from[k], wanted.from[k]);
    }
}

static void test_patterns_by_hand(void **state)
{
    (void)state;
    /* 7 processes: 0 1, 2 3, 4 5 6; in a ring of 2 both messages go to the same neighbour */
    expect_links(BEFF_RING, 1, 7, 2, (struct beff_links){2, {3, 3}, {3, 3}});
    expect_links(BEFF_RING, 1, 7, 4, (struct beff_links){2, {6, 5}, {5, 6}});
    expect_links(BEFF_RING, 2, 7, 0, (struct beff_links){2, {6, 1}, {1, 6}});
    /* the worst cycle of 5 is 0 4 1 3 2, that of 4 is 0 3 1 2 */
    expect_links(BEFF_WORST_CYCLE, 0, 5, 4, (struct beff_links){2, {0, 1}, {1, 0}});
    expect_links(BEFF_WORST_CYCLE, 0, 5, 2, (struct beff_links){2, {3, 0}, {0, 3}});
    expect_links(BEFF_WORST_CYCLE, 0, 4, 2, (struct beff_links){2, {1, 0}, {0, 1}});
    expect_links(BEFF_BISECTION_BEST, 0, 5, 3, (struct beff_links){1, {2}, {2}});
    expect_links(BEFF_BISECTION_BEST, 0, 5, 4, (struct beff_links){1, {BEFF_NOBODY}, {BEFF_NOBODY}});
    expect_links(BEFF_BISECTION_WORST, 0, 6, 1, (struct beff_links){1, {4}, {4}});
    expect_links(BEFF_BISECTION_WORST, 0, 5, 0, (struct beff_links){1, {3}, {3}});
    expect_links(BEFF_BISECTION_WORST, 0, 5, 4, (struct beff_links){1, {BEFF_NOBODY}, {BEFF_NOBODY}});
    /* 12 = 4 x 3: rank 4 is (1, 1); 12 = 3 x 2 x 2: rank 6 is (1, 1, 0) */
    expect_links(BEFF_CART2, 1, 12, 4, (struct beff_links){2, {1, 7}, {7, 1}});
    expect_links(BEFF_CART2, 2, 12, 5, (struct beff_links){2, {4, 3}, {3, 4}});
    expect_links(BEFF_CART2, 0, 12, 4, (struct beff_links){4, {1, 7, 3, 5}, {7, 1, 5, 3}});
    expect_links(BEFF_CART3, 0, 12, 6, (struct beff_links){6, {2, 10, 4, 4, 7, 7}, {10, 2, 4, 4, 7, 7}});
    expect_links(BEFF_PINGPONG, 0, 3, 1, (struct beff_links){1, {0}, {0}});
    expect_links(BEFF_PINGPONG, 0, 3, 2, (struct beff_links){1, {BEFF_NOBODY}, {BEFF_NOBODY}});
}

static void test_grids(void **state)
{
    (void)state;
    static const int wanted[][6] = {/* n, 3-D, 2-D */
                                    {2, 2, 1, 1, 2, 1},        {7, 7, 1, 1, 7, 1},     {8, 2, 2, 2, 4, 2},
                                    {12, 3, 2, 2, 4, 3},       {16, 4, 2, 2, 4, 4},    {36, 4, 3, 3, 6, 6},
                                    {64, 4, 4, 4, 8, 8},       {100, 5, 5, 4, 10, 10}, {128, 8, 4, 4, 16, 8},
                                    {1000, 10, 10, 10, 40, 25}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        int grid[BEFF_DIMENSIONS];
        beff_grid(wanted[i][0], 3, grid);
        assert_true(grid[0] == wanted[i][1] && grid[1] == wanted[i][2] && grid[2] == wanted[i][3]);
        beff_grid(wanted[i][0], 2, grid);
        assert_true(grid[0] == wanted[i][4] && grid[1] == wanted[i][5]);
    }
    for (int n = 2; n <= N_MAX; n++) {
        int grid[BEFF_DIMENSIONS];
        beff_grid(n, 3, grid);
        assert_true(grid[0] * grid[1] * grid[2] == n && grid[0] >= grid[1] && grid[1] >= grid[2]);
    }
}

static void test_random_orders(void **state)
{
    (void)state;
    enum { N = 100 };
    int first[N], again[N], other[N], seen[N] = {0}, moved = 0;
    beff_random_order(N, 5, 1, first);
    beff_random_order(N, 5, 1, again);
    beff_random_order(N, 5, 2, other);
    for (int i = 0; i < N; i++) {
        seen[first[i]]++;
        moved += first[i] != other[i];
    }
    for (int i = 0; i < N; i++)
        assert_int_equal(seen[i], 1);
    assert_memory_equal(first, again, sizeof first);
    assert_true(moved > N / 2);
    beff_random_order(N, 6, 1, again);
    assert_memory_not_equal(first, again, sizeof first);
}

/* ---- data ---- */

static void test_data(void **state)
{
    (void)state;
    char buffer[4096] = {0};
    struct pl_error error;
    for (int64_t length = 1; length <= 4096; length = 2 * length + (length > 3)) {
        const struct beff_message message = {.serial = 9, .sender = 3, .link = 1, .length = length};
        struct beff_message other = message;
        beff_data_fill(&message, buffer);
        assert_int_equal(beff_data_check(&message, buffer, &error), PL_OK);
        buffer[length - 1] ^= 1;
        assert_int_equal(beff_data_check(&message, buffer, &error), PL_E_DATA);
        buffer[length - 1] ^= 1;
        buffer[0] ^= 1;
        assert_int_equal(beff_data_check(&message, buffer, &error), PL_E_DATA);
        assert_non_null(strstr(error.text, "from rank 3"));
        beff_data_spoil(&message, buffer);
        assert_int_equal(beff_data_check(&message, buffer, &error), PL_E_DATA);
        beff_data_fill(&message, buffer);
        if (length < 16)
            continue; /* few bytes may be equal by chance */
        other.link = 0;
        assert_int_equal(beff_data_check(&other, buffer, &error), PL_E_DATA);
        other = message;
        other.serial++;
        assert_int_equal(beff_data_check(&other, buffer, &error), PL_E_DATA);
    }
}

/* ---- averages ---- */

static struct beff_row row_of(enum beff_kind kind, int number, int64_t time_ns)
{
    struct beff_row row = {.pattern = {kind, number}, .messages = 4};
    for (int i = 0; i < BEFF_LENGTHS; i++)
        for (int m = 0; m < 3; m++)
            row.cells[i][m] = (struct beff_cell){
                .loops = 10, .count = 3, .times_ns = {9 * time_ns, 4 * time_ns, 8 * time_ns}};
    return row;
}

static void test_averages(void **state)
{
    (void)state;
    const double values[] = {1, 100, 10};
    assert_true(fabs(beff_logavg(values, 3) - 10) < 1e-12);
    assert_true(fabs(beff_bandwidth(1024, 8, 100, 2000000) - 409600000) < 1e-3);

    struct blockfile_block block = {.class_name = (char *)"Beff", .testname = (char *)"b_eff"};
    struct beff_row rows[9];
    struct beff_results results = {
        .block = &block, .nprocs = 2, .rows = rows, .row_count = 9, .length_count = BEFF_LENGTHS};
    for (int i = 0; i < BEFF_LENGTHS; i++)
        results.lengths[i] = 1000 * (i + 1);
    for (int p = 0; p < 6; p++)
        rows[p] = row_of(BEFF_RING, p + 1, p < 3 ? 10 : 1000); /* logavg: as 100 */
    rows[6] = row_of(BEFF_RANDOM, 1, 100);
    rows[7] = row_of(BEFF_RANDOM, 2, 10000); /* logavg: as 1000 */
    rows[8] = row_of(BEFF_WORST_CYCLE, 0, 1);
    /* The best repetition has 4 units of time; the mean length is 11000; 40 messages in a loop. */
    const double unit = 11000.0 * 40 / (4 * 1e-9);
    struct beff_average average = beff_average(&results, BEFF_EVERYTHING);
    assert_true(fabs(average.rings / (unit / 100) - 1) < 1e-12);
    assert_true(fabs(average.random / (unit / 1000) - 1) < 1e-12);
    assert_true(fabs(average.both / (unit / sqrt(100 * 1000)) - 1) < 1e-12);
    /* One method twice as fast at one length: its maximum counts there. */
    rows[0].cells[20][1].times_ns[2] = 20;
    int method;
    assert_true(fabs(beff_best(&results, &rows[0], 20, BEFF_EVERYTHING, &method) - 21000.0 * 40 / 20e-9) < 1);
    assert_int_equal(method, BEFF_ALLTOALLV);
    const double ring1 = (210 * 1000.0 / 21 * 40 / 40e-9) + 21000.0 / 21 * 40 / 20e-9;
    assert_true(fabs(beff_row_value(&results, &rows[0], BEFF_EVERYTHING) / ring1 - 1) < 1e-12);
    /* A random pattern that was not finished is left out; without all rings there is no b_eff. */
    rows[7].cells[5][0].count = rows[7].cells[5][1].count = rows[7].cells[5][2].count = 0;
    average = beff_average(&results, BEFF_EVERYTHING);
    assert_int_equal(average.random_patterns, 1);
    assert_true(fabs(average.random / (unit / 100) - 1) < 1e-12);
    results.rows++;
    results.row_count--;
    assert_true(isnan(beff_average(&results, BEFF_EVERYTHING).both));
}

/* ---- placement and plan ---- */

static void test_placement(void **state)
{
    (void)state;
    assert_int_equal(beff_placement_of((int[]){0, 0, 0}, 3), BEFF_ONE_HOST);
    assert_int_equal(beff_placement_of((int[]){0, 1, 2}, 3), BEFF_ONE_EACH);
    assert_int_equal(beff_placement_of((int[]){0, 0, 1, 1, 1}, 5), BEFF_SEQUENTIAL);
    assert_int_equal(beff_placement_of((int[]){0, 1, 0, 1}, 4), BEFF_ROUND_ROBIN);
    assert_int_equal(beff_placement_of((int[]){0, 1, 2, 0, 2, 2}, 6), BEFF_ROUND_ROBIN); /* until they are full */
    assert_int_equal(beff_placement_of((int[]){0, 1, 1, 0}, 4), BEFF_IRREGULAR);
}

static void test_plan(void **state)
{
    (void)state;
    struct beff_plan plan;
    struct pl_error error;
    struct beff_wish wish = {.output = "x"};
    assert_int_equal(beff_plan_make(&wish, 1, (int64_t)1 << 30, &plan, &error), PL_E_USAGE);
    assert_int_equal(beff_plan_make(&wish, 2, 1000, &plan, &error), PL_E_USAGE);
    assert_int_equal(beff_plan_make(&wish, 2, (int64_t)1 << 30, &plan, &error), PL_OK);
    assert_int_equal(plan.random_patterns, 30);
    assert_int_equal(plan.loop_first, 300);
    assert_true(plan.loop_target_s == 2.5e-3 && plan.time_s == 300);
    assert_int_equal(plan.lengths[20], 8 << 20);
    wish.quick = true;
    assert_int_equal(beff_plan_make(&wish, 2, (int64_t)1 << 30, &plan, &error), PL_OK);
    assert_true(plan.time_s < 20 && plan.loop_target_s < 1e-3 && plan.random_patterns == 3);
    wish.memory_bytes = 1 << 21;
    wish.random_patterns = 5;
    assert_int_equal(beff_plan_make(&wish, 2, (int64_t)1 << 30, &plan, &error), PL_OK);
    assert_true(plan.lengths[20] == 1 << 14 && plan.random_patterns == 5 && plan.memory_given);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_rings_by_hand),
        cmocka_unit_test(test_rings_of_all_numbers),
        cmocka_unit_test(test_every_message_is_expected),
        cmocka_unit_test(test_patterns_by_hand),
        cmocka_unit_test(test_grids),
        cmocka_unit_test(test_random_orders),
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_averages),
        cmocka_unit_test(test_placement),
        cmocka_unit_test(test_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
