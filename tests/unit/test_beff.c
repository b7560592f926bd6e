/* The pure half of b_eff: lengths, loops, rings, patterns, data, averages, and where ranks are.
 * proves: BEFF-1 BEFF-2 BEFF-4 BEFF-5 BEFF-6 BEFF-7
 * It would fail if a process were in no ring or in two, if the rings of a number of processes were other ones than
 * those worked out by hand, if a message were expected by nobody, if a loop were lengthened, if messages of following
 * rounds stood at the same address, if a grid were another one than that of b_eff 3.6, if the form of a pattern as 3.6
 * has it sent or counted other messages, or if an average were not the document's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/beff/beff.h"

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

/* Six messages of L_max stand behind each other, then the first address comes again; shorter ones fill the buffer. */
static void test_addresses(void **state)
{
    (void)state;
    static const int64_t longest[] = {8192, 1 << 20, 1000003, 128 << 20};
    for (size_t i = 0; i < sizeof longest / sizeof longest[0]; i++) {
        const int64_t bytes = beff_buffer_bytes(longest[i]), step = (longest[i] + 7) / 8 * 8;
        int64_t base = 0;
        assert_true(bytes >= 6 * longest[i] && bytes < INT32_MAX); /* displacements of MPI_Alltoallv are int */
        for (int turn = 0; turn < 13; turn++)
            assert_int_equal(beff_walk(&base, longest[i], bytes), turn % 6 * step);
        int64_t covered = 0, before = -1;
        base = 0;
        for (int64_t at = beff_walk(&base, 4095, bytes); at > before; at = beff_walk(&base, 4095, bytes)) {
            assert_int_equal(at, covered);
            before = at;
            covered += 4096;
        }
        assert_true(covered <= bytes && covered > bytes - 4096);
    }
    int64_t base = 0; /* short messages share a cache line, and lengths that change do not overlap */
    assert_int_equal(beff_walk(&base, 1, 96), 0);
    assert_int_equal(beff_walk(&base, 2, 96), 8);
    assert_int_equal(beff_walk(&base, 64, 96), 16);
    assert_int_equal(beff_walk(&base, 17, 96), 0);
    assert_int_equal(base, 24);
}

/* ---- rings ---- */

static void expect_rings(int n, const char *const wanted[BEFF_RING_PATTERNS])
{
    for (int p = 1; p <= BEFF_RING_PATTERNS; p++) {
        char text[BEFF_RINGS_TEXT_MAX];
        const struct beff_rings rings = beff_rings_of(p, n, false);
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
            const struct beff_rings rings = beff_rings_of(p, n, false);
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

/* Every message that is sent over link k is expected over link k by its receiver, and goes with the same call of
 * MPI_Alltoallv, which has room for one message between two processes. */
static void check_links(struct beff_pattern pattern, int n, int *order)
{
    struct beff_links *links = calloc((size_t)n, sizeof *links);
    const int used = beff_pattern_used(pattern, n);
    int64_t messages = 0;
    int calls = 1;
    assert_non_null(links);
    for (int r = 0; r < n; r++)
        links[r] = beff_pattern_links(pattern, n, r, 7, order);
    for (int r = 0; r < n; r++) {
        assert_true((links[r].count > 0) == (r < used));
        for (int k = 0; k < links[r].count; k++) {
            const int to = links[r].to[k];
            assert_true(to != BEFF_NOBODY || links[r].from[k] != BEFF_NOBODY);
            if (to == BEFF_NOBODY)
                continue;
            assert_true(to >= 0 && to < used && to != r);
            assert_int_equal(links[to].from[k], r);
            const int call = beff_link_call(links[r].to, k);
            assert_int_equal(call, beff_link_call(links[to].from, k));
            calls = call + 1 > calls ? call + 1 : calls;
            for (int j = 0; j < k; j++)
                assert_true(links[r].to[j] != to || beff_link_call(links[r].to, j) != call);
            messages++;
        }
    }
    assert_int_equal(calls, beff_pattern_calls(pattern, n));
    /* b_eff 3.6 counts the messages of rank 0 n times, also where another ring is larger. */
    const bool mixed = pattern.as36 && links[0].count != links[used - 1].count;
    assert_int_equal(mixed ? (int64_t)n * links[0].count : messages, beff_pattern_messages(pattern, n));
    assert_true(!mixed || (pattern.kind == BEFF_RING && pattern.number == 1 && n % 2 == 1));
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
            assert_true(back.kind == pattern.kind && back.number == pattern.number && back.as36 == pattern.as36);
        }
        assert_int_equal(index, beff_pattern_count(n, 2));
        assert_true(pattern.kind == BEFF_RANDOM); /* those that may be cut come last */
    }
    free(order);
}

static void expect_links(enum beff_kind kind, int number, bool as36, int n, int rank, const struct beff_links wanted)
{
    int order[64];
    const struct beff_links links = beff_pattern_links((struct beff_pattern){kind, number, as36}, n, rank, 0, order);
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
    expect_links(BEFF_RING, 1, false, 7, 2, (struct beff_links){2, {3, 3}, {3, 3}});
    expect_links(BEFF_RING, 1, false, 7, 4, (struct beff_links){2, {6, 5}, {5, 6}});
    expect_links(BEFF_RING, 2, false, 7, 0, (struct beff_links){2, {6, 1}, {1, 6}});
    /* the worst cycle of 5 is 0 4 1 3 2, that of 4 is 0 3 1 2 */
    expect_links(BEFF_WORST_CYCLE, 0, false, 5, 4, (struct beff_links){2, {0, 1}, {1, 0}});
    expect_links(BEFF_WORST_CYCLE, 0, false, 5, 2, (struct beff_links){2, {3, 0}, {0, 3}});
    expect_links(BEFF_WORST_CYCLE, 0, false, 4, 2, (struct beff_links){2, {1, 0}, {0, 1}});
    /* pairs in turn: one sends and is then sent to */
    expect_links(BEFF_BISECTION_BEST, 0, false, 5, 2, (struct beff_links){2, {3, BEFF_NOBODY}, {BEFF_NOBODY, 3}});
    expect_links(BEFF_BISECTION_BEST, 0, false, 5, 3, (struct beff_links){2, {BEFF_NOBODY, 2}, {2, BEFF_NOBODY}});
    expect_links(BEFF_BISECTION_BEST, 0, false, 5, 4, (struct beff_links){0});
    expect_links(BEFF_BISECTION_WORST, 0, false, 6, 1, (struct beff_links){2, {4, BEFF_NOBODY}, {BEFF_NOBODY, 4}});
    expect_links(BEFF_BISECTION_WORST, 0, false, 5, 3, (struct beff_links){2, {BEFF_NOBODY, 0}, {0, BEFF_NOBODY}});
    expect_links(BEFF_BISECTION_WORST, 0, false, 5, 4, (struct beff_links){0});
    /* 12 = 4 x 3: rank 4 is (1, 1); 12 = 3 x 2 x 2: rank 6 is (1, 1, 0) */
    expect_links(BEFF_CART2, 1, false, 12, 4, (struct beff_links){2, {1, 7}, {7, 1}});
    expect_links(BEFF_CART2, 2, false, 12, 5, (struct beff_links){2, {4, 3}, {3, 4}});
    expect_links(BEFF_CART2, 0, false, 12, 4, (struct beff_links){4, {1, 7, 3, 5}, {7, 1, 5, 3}});
    expect_links(BEFF_CART3, 0, false, 12, 6, (struct beff_links){6, {2, 10, 4, 4, 7, 7}, {10, 2, 4, 4, 7, 7}});
    /* 7 = 3 x 2, and rank 6 is left out; 11 in 3-D are 2 x 2 x 2 */
    expect_links(BEFF_CART2, 1, false, 7, 1, (struct beff_links){2, {5, 3}, {3, 5}});
    expect_links(BEFF_CART2, 0, false, 7, 6, (struct beff_links){0});
    expect_links(BEFF_CART3, 3, false, 11, 7, (struct beff_links){2, {6, 6}, {6, 6}});
    expect_links(BEFF_CART3, 0, false, 11, 8, (struct beff_links){0});
    expect_links(BEFF_PINGPONG, 0, false, 3, 1, (struct beff_links){2, {BEFF_NOBODY, 0}, {0, BEFF_NOBODY}});
    expect_links(BEFF_PINGPONG, 0, false, 3, 2, (struct beff_links){0});
}

/* As b_eff 3.6: one message each way in rings of 2, and 7 processes in rings of 4 and 3. */
static void test_as_3_6(void **state)
{
    (void)state;
    int order[2];
    char text[BEFF_RINGS_TEXT_MAX];
    expect_links(BEFF_RING, 1, true, 7, 2, (struct beff_links){1, {3}, {3}});
    expect_links(BEFF_RING, 1, true, 7, 4, (struct beff_links){2, {6, 5}, {5, 6}});
    expect_links(BEFF_CART3, 0, true, 12, 6, (struct beff_links){4, {2, 10, 4, 7}, {10, 2, 4, 7}});
    expect_links(BEFF_WORST_CYCLE, 0, true, 2, 0, (struct beff_links){1, {1}, {1}});
    assert_int_equal(beff_pattern_links((struct beff_pattern){BEFF_RANDOM, 3, true}, 2, 1, 5, order).count, 1);
    const struct beff_rings seven = beff_rings_of(2, 7, true);
    assert_string_equal(beff_rings_text(&seven, text), "1 x 4 + 1 x 3");
    static const struct {
        struct beff_pattern pattern;
        int n;
        bool differs;
        int document, as36; /* messages of a round */
    } cases[] = {
        {{BEFF_RING, 1, false}, 2, true, 4, 2},        {{BEFF_RING, 6, false}, 2, true, 4, 2},
        {{BEFF_RANDOM, 4, false}, 2, true, 4, 2},      {{BEFF_RING, 1, false}, 3, false, 6, 6},
        {{BEFF_RING, 1, false}, 4, true, 8, 4},        {{BEFF_RING, 2, false}, 4, false, 8, 8},
        {{BEFF_RANDOM, 1, false}, 4, false, 8, 8},     {{BEFF_RING, 1, false}, 7, true, 14, 7},
        {{BEFF_RING, 2, false}, 7, true, 14, 14},      {{BEFF_RING, 2, false}, 6, false, 12, 12},
        {{BEFF_CART2, 0, false}, 7, true, 24, 18},     {{BEFF_CART2, 1, false}, 7, false, 12, 12},
        {{BEFF_CART2, 2, false}, 7, true, 12, 6},      {{BEFF_CART3, 0, false}, 8, true, 48, 24},
        {{BEFF_CART3, 0, false}, 27, false, 162, 162}, {{BEFF_BISECTION_BEST, 0, false}, 7, false, 6, 6},
        {{BEFF_PINGPONG, 0, false}, 2, false, 2, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct beff_pattern pattern = cases[i].pattern;
        assert_int_equal(beff_pattern_differs(pattern, cases[i].n), cases[i].differs);
        assert_int_equal(beff_pattern_messages(pattern, cases[i].n), cases[i].document);
        pattern.as36 = true;
        assert_int_equal(beff_pattern_messages(pattern, cases[i].n), cases[i].as36);
        assert_int_equal(beff_pattern_calls(pattern, cases[i].n), 1);
    }
}

/* What b_eff 3.6 prints at its start, on both MPIs: the extents of its grids. */
static void test_grids(void **state)
{
    (void)state;
    static const int wanted[][6] = {
        /* n, 2-D, 3-D */
        {2, 2, 1, 2, 1, 1},   {3, 3, 1, 3, 1, 1},   {4, 2, 2, 2, 2, 1},   {5, 2, 2, 2, 2, 1},  {6, 3, 2, 3, 2, 1},
        {7, 3, 2, 3, 2, 1},   {8, 4, 2, 2, 2, 2},   {9, 3, 3, 2, 2, 2},   {10, 5, 2, 2, 2, 2}, {11, 5, 2, 2, 2, 2},
        {12, 4, 3, 3, 2, 2},  {13, 4, 3, 3, 2, 2},  {14, 7, 2, 3, 2, 2},  {15, 5, 3, 3, 2, 2}, {16, 4, 4, 4, 2, 2},
        {17, 4, 4, 4, 2, 2},  {18, 6, 3, 3, 3, 2},  {19, 6, 3, 3, 3, 2},  {20, 5, 4, 5, 2, 2}, {21, 7, 3, 5, 2, 2},
        {22, 11, 2, 5, 2, 2}, {23, 11, 2, 5, 2, 2}, {24, 6, 4, 4, 3, 2},  {25, 5, 5, 4, 3, 2}, {26, 13, 2, 4, 3, 2},
        {27, 9, 3, 3, 3, 3},  {28, 7, 4, 7, 2, 2},  {29, 7, 4, 7, 2, 2},  {30, 6, 5, 5, 3, 2}, {31, 6, 5, 5, 3, 2},
        {32, 8, 4, 4, 4, 2},  {33, 11, 3, 4, 4, 2}, {34, 17, 2, 4, 4, 2}, {35, 7, 5, 4, 4, 2}, {36, 6, 6, 4, 3, 3},
        {37, 6, 6, 4, 3, 3},  {38, 19, 2, 4, 3, 3}, {39, 13, 3, 4, 3, 3}, {40, 8, 5, 5, 4, 2},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        int grid[BEFF_DIMENSIONS];
        assert_int_equal(beff_grid(wanted[i][0], 2, grid), wanted[i][1] * wanted[i][2]);
        assert_true(grid[0] == wanted[i][1] && grid[1] == wanted[i][2] && grid[2] == 1);
        assert_int_equal(beff_grid(wanted[i][0], 3, grid), wanted[i][3] * wanted[i][4] * wanted[i][5]);
        assert_true(grid[0] == wanted[i][3] && grid[1] == wanted[i][4] && grid[2] == wanted[i][5]);
    }
    for (int n = 2; n <= N_MAX; n++) {
        int grid[BEFF_DIMENSIONS];
        const int used = beff_grid(n, 3, grid);
        assert_true(used >= 2 && used <= n && n - used < 12);
        assert_true(grid[0] * grid[1] * grid[2] == used && grid[0] >= grid[1] && grid[1] >= grid[2]);
        assert_true(n < 8 || grid[2] > 1);
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
    struct beff_row row = {.pattern = {.kind = kind, .number = number}, .messages = 4};
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

    struct blockfile_block block = {.class_name = (char *)BEFF_CLASS, .testname = (char *)BEFF_TEST};
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

/* As b_eff 3.6 counts: of a pattern that it does otherwise, its form counts; the headline does not see it. */
static void test_average_as_3_6(void **state)
{
    (void)state;
    struct blockfile_block block = {.class_name = (char *)BEFF_CLASS, .testname = (char *)BEFF_TEST};
    struct beff_row rows[8];
    struct beff_results results = {
        .block = &block, .nprocs = 4, .rows = rows, .row_count = 8, .length_count = BEFF_LENGTHS, .walks = true};
    for (int i = 0; i < BEFF_LENGTHS; i++)
        results.lengths[i] = 1000 * (i + 1);
    for (int p = 0; p < 6; p++)
        rows[p] = row_of(BEFF_RING, p + 1, 100);
    rows[6] = row_of(BEFF_RANDOM, 1, 100);
    rows[7] = row_of(BEFF_RING, 1, 100);
    rows[7].pattern.as36 = true;
    rows[7].messages = 2;
    struct beff_filter as36 = BEFF_EVERYTHING;
    as36.as36 = true;
    const struct beff_average document = beff_average(&results, BEFF_EVERYTHING), other = beff_average(&results, as36);
    assert_true(fabs(document.rings / document.random - 1) < 1e-12);
    assert_true(fabs(other.rings / document.rings - pow(0.5, 1.0 / 6)) < 1e-12); /* one of six has half */
    assert_true(fabs(other.random / document.random - 1) < 1e-12);
    results.walks = false; /* messages in the cache: nothing that 3.6 would print */
    assert_true(isnan(beff_average(&results, as36).both));
    results.walks = true;
    results.row_count = 7; /* not measured */
    assert_true(isnan(beff_average(&results, as36).both));
    assert_true(fabs(beff_average(&results, BEFF_EVERYTHING).both / document.both - 1) < 1e-12);
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
    struct beff_options wish = {0};
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
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_rings_by_hand),
        cmocka_unit_test(test_rings_of_all_numbers),
        cmocka_unit_test(test_every_message_is_expected),
        cmocka_unit_test(test_patterns_by_hand),
        cmocka_unit_test(test_as_3_6),
        cmocka_unit_test(test_grids),
        cmocka_unit_test(test_random_orders),
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_averages),
        cmocka_unit_test(test_average_as_3_6),
        cmocka_unit_test(test_placement),
        cmocka_unit_test(test_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
