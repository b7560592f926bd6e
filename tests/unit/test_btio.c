/* The requests of BT-IO, against the facts of the original and a map that is counted point by point.
 * proves: COLL-1
 * It would fail if a point were written twice or by nobody, if a request had another size, place or order than the
 * original's, or if a number of ranks that cannot be were not refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/apps/btio.h"

static struct btio_plan plan_of(const char *class, enum btio_subtype subtype, int ranks)
{
    struct btio_options options = {.class = BTIO_CLASSES, .subtype = subtype, .reads = true};
    struct btio_plan plan;
    struct pl_error error;
    while (strcmp(options.class->name, class) != 0)
        options.class ++;
    if (btio_plan_make(&options, ranks, &plan, &error) != PL_OK)
        fail_msg("%s", error.text);
    return plan;
}

static void facts_of_full(void **state)
{
    (void)state;
    static const struct {
        const char *class;
        int ranks;
        int64_t dumps, request_bytes, all_bytes;
    } cases[] = {
        {"S", 4, 12, 17280, 829440},        {"W", 4, 40, 138240, 22118400},
        {"A", 4, 40, 2621440, 419430400}, /* 10485760 a dump */
        {"B", 4, 40, 10612080, 1697932800}, {"D", 16, 50, 169793280, 135834624000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct btio_plan plan = plan_of(cases[i].class, BTIO_FULL, cases[i].ranks);
        const struct apps_cost cost = btio_plan_cost(&plan);
        assert_int_equal(plan.options.dumps, cases[i].dumps);
        assert_int_equal(cost.write_bytes, cases[i].all_bytes);
        assert_int_equal(cost.read_bytes, cases[i].all_bytes);
        for (int rank = 0; rank < cases[i].ranks; rank++)
            for (int64_t dump = 0; dump < 3; dump++) {
                struct btio_walk walk;
                struct btio_request request;
                btio_walk_begin(&walk, &plan, rank, dump);
                assert_true(btio_walk_next(&walk, &request));
                assert_int_equal(request.bytes, cases[i].request_bytes);
                assert_int_equal(request.offset, dump * cases[i].request_bytes / BTIO_POINT_BYTES);
                assert_false(btio_walk_next(&walk, &request));
            }
        btio_plan_clear(&plan);
    }
}

/* Class C on 16: cells of 41, 41, 40 and 40 points; what a rank has differs. */
static void uneven_cells(void **state)
{
    (void)state;
    struct btio_plan plan = plan_of("C", BTIO_FULL, 16);
    int64_t all = 0;
    for (int rank = 0; rank < 16; rank++)
        all += btio_plan_points(&plan, rank);
    assert_int_equal(all, 162 * 162 * 162);
    assert_int_equal(btio_plan_cell(&plan, 0, 0).size[0], 41);
    assert_int_equal(btio_plan_cell(&plan, 0, 3).size[2], 40);
    assert_int_equal(btio_plan_even_bytes(&plan), 0);
    assert_int_not_equal(btio_plan_points(&plan, 0), btio_plan_points(&plan, 2));
    btio_plan_clear(&plan);
}

/* Who has which cell, by the rule in words: in the lowest slab rank r has (r mod q, r / q); from slab to slab one
 * further in x and one back in y. */
static void cells_by_the_rule(void **state)
{
    (void)state;
    for (int q = 1; q <= 4; q++) {
        struct btio_plan plan = plan_of("W", BTIO_SIMPLE, q * q);
        for (int rank = 0; rank < q * q; rank++)
            for (int c = 0; c < q; c++) {
                const struct btio_cell cell = btio_plan_cell(&plan, rank, c);
                const int64_t width = 24 / q;
                assert_int_equal(cell.low[0], (rank % q + c) % q * width);
                assert_int_equal(cell.low[1], (rank / q - c + q) % q * width);
                assert_int_equal(cell.low[2], c * width);
            }
        btio_plan_clear(&plan);
    }
}

/* Marks the bytes of a rank's requests in one dump; none may be marked before. */
static void mark(const struct btio_plan *plan, int rank, int64_t dump, int64_t dump_bytes, unsigned char *seen)
{
    struct btio_walk walk;
    struct btio_request request;
    int64_t requests = 0;
    btio_walk_begin(&walk, plan, rank, dump);
    while (btio_walk_next(&walk, &request)) {
        const int64_t first = request.offset * 8 - dump * dump_bytes;
        requests++;
        assert_true(first >= 0 && first + request.bytes <= dump_bytes);
        for (int64_t point = first / BTIO_POINT_BYTES; point < (first + request.bytes) / BTIO_POINT_BYTES; point++) {
            assert_int_equal(seen[point], 0);
            assert_int_equal(piolet_dist_owner(plan->dist, point), rank);
            seen[point] = 1;
        }
    }
    assert_int_equal(requests, btio_plan_requests(plan, rank));
}

static void lines_cover_the_grid(void **state)
{
    (void)state;
    static const int ranks[] = {1, 4, 9, 16, 25};
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        struct btio_plan plan = plan_of("W", BTIO_SIMPLE, ranks[i]);
        const int64_t points = 24 * 24 * 24, dump = 7;
        unsigned char *seen = calloc((size_t)points, 1);
        assert_non_null(seen);
        for (int rank = 0; rank < ranks[i]; rank++)
            mark(&plan, rank, dump, points * BTIO_POINT_BYTES, seen);
        assert_null(memchr(seen, 0, (size_t)points));
        free(seen);
        btio_plan_clear(&plan);
    }
}

static void facts_of_simple(void **state)
{
    (void)state;
    struct btio_plan plan = plan_of("W", BTIO_SIMPLE, 4);
    struct btio_walk walk;
    struct btio_request request;
    int64_t last = -1, count = 0;
    btio_walk_begin(&walk, &plan, 3, 1);
    for (; btio_walk_next(&walk, &request); count++) {
        assert_int_equal(request.bytes, 480);
        assert_true(request.offset > last); /* cells go up in z, lines up in y within them */
        last = request.offset;
    }
    assert_int_equal(count, 288);
    btio_plan_clear(&plan);
}

/* Records have a mark of 4 bytes before and behind them, as a Fortran program writes them. */
static void own_files_are_gapless(void **state)
{
    (void)state;
    struct btio_plan plan = plan_of("C", BTIO_EPIO, 16);
    assert_true(btio_plan_is_records(&plan));
    for (int rank = 0; rank < 16; rank++) {
        int64_t end = 0;
        for (int64_t dump = 0; dump < 3; dump++) {
            struct btio_walk walk;
            struct btio_request request;
            int64_t count = 0;
            btio_walk_begin(&walk, &plan, rank, dump);
            for (; btio_walk_next(&walk, &request); count++) {
                assert_int_equal(request.offset, end);
                end += 4 + request.bytes + 4;
            }
            assert_int_equal(count, 4);
        }
        assert_int_equal(end, 3 * (btio_plan_points(&plan, rank) * BTIO_POINT_BYTES + 4 * 8));
    }
    btio_plan_clear(&plan);
    plan = plan_of("C", BTIO_EPIO, 16);
    plan.options.method = BTIO_MPI;
    struct btio_walk walk;
    struct btio_request request;
    btio_walk_begin(&walk, &plan, 3, 1);
    assert_true(btio_walk_next(&walk, &request));
    assert_int_equal(request.offset, btio_plan_points(&plan, 3) * BTIO_POINT_BYTES);
    btio_plan_clear(&plan);
}

static void refused(const char *class, int ranks, int64_t dumps, const char *words)
{
    struct btio_options options = {.class = BTIO_CLASSES, .dumps = dumps};
    struct btio_plan plan;
    struct pl_error error;
    while (strcmp(options.class->name, class) != 0)
        options.class ++;
    assert_int_equal(btio_plan_make(&options, ranks, &plan, &error), PL_E_USAGE);
    if (!strstr(error.text, words))
        fail_msg("'%s' is not in: %s", words, error.text);
}

static void wrong_ranks_are_refused(void **state)
{
    (void)state;
    refused("W", 3, 0, "nearest are 1 and 4");
    refused("W", 8, 0, "nearest are 4 and 9");
    refused("S", 25, 0, "up to 16 ranks");
    refused("S", 17, 0, "up to 16 ranks");
    refused("W", 4, 41, "1 to 40");
}

static void data_differ(void **state)
{
    (void)state;
    assert_true(btio_value(1, 0, 0, 0) != btio_value(1, 1, 0, 0));
    assert_true(btio_value(1, 0, 0, 0) != btio_value(2, 0, 0, 0));
    assert_true(btio_value(1, 0, 1, 0) != btio_value(1, 0, 0, 1));
    assert_true(btio_value(1, 3, 9, 2) == btio_value(1, 3, 9, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_of_full),           cmocka_unit_test(uneven_cells),
        cmocka_unit_test(cells_by_the_rule),       cmocka_unit_test(lines_cover_the_grid),
        cmocka_unit_test(facts_of_simple),         cmocka_unit_test(own_files_are_gapless),
        cmocka_unit_test(wrong_ranks_are_refused), cmocka_unit_test(data_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
