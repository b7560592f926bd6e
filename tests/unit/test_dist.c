/* Distributions of arrays: who owns what, in which runs, and what their texts say.
 * proves: COLL-1
 * Every distribution is compared element by element with owners dealt out by plain counting. It would fail if an
 * element had no owner or two, if a count, owner, run or place in a buffer disagreed with another, if runs did not
 * ascend or touched, if the examples of the thesis came out differently, or if a bad text or grid were taken. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "piolet/dist.h"

static char message[PIOLET_DIST_MESSAGE_MAX];

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

static piolet_dist *make(const char *text, const struct piolet_dist_shape *shape)
{
    struct piolet_dist_spec spec;
    piolet_dist *dist = NULL;
    if (piolet_dist_parse(text, &spec, message, sizeof message))
        fail_msg("%s", message);
    if (piolet_dist_new(&spec, shape, &dist, message, sizeof message))
        fail_msg("%s on %" PRId64 " processes: %s", text, shape->procs, message);
    return dist;
}

/* ---- Owners by counting ------------------------------------------------------------------------------------------ */

static int64_t plain_place(const struct piolet_dist_rule *rule, int64_t size, int64_t grid, int64_t index)
{
    int64_t place = 0, left = 0, wide = 0;
    switch (rule->kind) {
    case PIOLET_DIST_BLOCK:
        while (wide * grid < size)
            wide++;
        while ((place + 1) * wide <= index)
            place++;
        return place;
    case PIOLET_DIST_CYCLIC:
        for (int64_t i = 0; i < index; i++)
            if (++left == rule->block) {
                left = 0;
                place = place + 1 == grid ? 0 : place + 1;
            }
        return place;
    case PIOLET_DIST_BALANCED:
        for (int64_t end = 0;; place++) { /* the share of the rest, rounded up, for one place after the other */
            end += (size - end + grid - place - 1) / (grid - place);
            if (index < end)
                return place;
        }
    case PIOLET_DIST_WHOLE:
        break;
    }
    return 0;
}

/* -1 for the kinds that counting does not know. */
static int64_t plain_owner(const piolet_dist *dist, int64_t offset)
{
    const struct piolet_dist_spec *spec = piolet_dist_spec_of(dist);
    const struct piolet_dist_shape *shape = piolet_dist_shape_of(dist);
    if (spec->kind == PIOLET_DIST_SCATTER)
        return offset / (spec->block ? spec->block : (piolet_dist_elements(dist) + shape->procs - 1) / shape->procs) %
               shape->procs;
    if (spec->kind != PIOLET_DIST_RULES)
        return -1;
    int64_t index[PIOLET_DIST_DIMS_MAX], rank = 0, pitch = 1;
    for (int i = 0; i < shape->dims; i++) {
        const int d = shape->order == PIOLET_DIST_COLUMN_ORDER ? i : shape->dims - 1 - i;
        index[d] = offset % shape->size[d];
        offset /= shape->size[d];
    }
    for (int d = 0; d < shape->dims; d++) {
        rank += pitch * plain_place(&spec->rule[d], shape->size[d], shape->grid[d], index[d]);
        pitch *= shape->grid[d];
    }
    return rank;
}

/* ---- The properties of every distribution ------------------------------------------------------------------------ */

/* The runs of a rank ascend with gaps between them and agree with owners and places; returns their elements. */
static int64_t check_runs(const piolet_dist *dist, int64_t rank, int *seen)
{
    struct piolet_dist_runs runs;
    struct piolet_dist_run run;
    int64_t total = 0, end = -1;
    assert_int_equal(piolet_dist_runs_begin(&runs, dist, rank), 0);
    while (piolet_dist_runs_next(&runs, &run)) {
        assert_true(run.length > 0 && run.offset > end); /* greater, not equal: runs that touch are one */
        end = run.offset + run.length;
        assert_true(end <= piolet_dist_elements(dist));
        for (int64_t offset = run.offset; offset < end; offset++, total++) {
            seen[offset]++;
            assert_int_equal(piolet_dist_owns(dist, rank, offset), 1);
            if (!piolet_dist_spec_of(dist)->transposed) /* then a buffer is in file order */
                assert_int_equal(piolet_dist_local_of_offset(dist, rank, offset), total);
            const int64_t local = piolet_dist_local_of_offset(dist, rank, offset);
            assert_int_equal(piolet_dist_offset_of_local(dist, rank, local), offset);
        }
    }
    assert_false(piolet_dist_runs_next(&runs, &run));
    return total;
}

static void check_owners(const piolet_dist *dist)
{
    const struct piolet_dist_shape *shape = piolet_dist_shape_of(dist);
    for (int64_t offset = 0; offset < piolet_dist_elements(dist); offset++) {
        const int64_t owner = piolet_dist_owner(dist, offset), plain = plain_owner(dist, offset);
        int64_t index[PIOLET_DIST_DIMS_MAX];
        assert_in_range(owner, 0, shape->procs - 1);
        if (plain >= 0)
            assert_int_equal(owner, plain);
        assert_int_equal(piolet_dist_owns(dist, owner, offset), 1);
        assert_int_equal(piolet_dist_index(dist, offset, index), 0);
        assert_int_equal(piolet_dist_offset(dist, index), offset);
    }
}

static void check(const char *text, const struct piolet_dist_shape *shape)
{
    piolet_dist *dist = make(text, shape);
    const int64_t elements = piolet_dist_elements(dist);
    const bool is_broadcast = piolet_dist_spec_of(dist)->kind == PIOLET_DIST_BROADCAST;
    int *seen = test_calloc((size_t)elements, sizeof *seen);
    for (int64_t rank = 0; rank < shape->procs; rank++) {
        const int64_t count = piolet_dist_count(dist, rank);
        assert_int_equal(check_runs(dist, rank, seen), count);
        assert_int_equal(piolet_dist_offset_of_local(dist, rank, count), PIOLET_DIST_E_RANGE);
        assert_int_equal(piolet_dist_offset_of_local(dist, rank, -1), PIOLET_DIST_E_RANGE);
    }
    for (int64_t offset = 0; offset < elements; offset++)
        if (seen[offset] != (is_broadcast ? shape->procs : 1))
            fail_msg("%s: element %" PRId64 " has %d owners", text, offset, seen[offset]);
    check_owners(dist);
    test_free(seen);
    piolet_dist_free(dist);
}

static const enum piolet_dist_order ORDERS[] = {PIOLET_DIST_COLUMN_ORDER, PIOLET_DIST_ROW_ORDER};

static void lines(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "BLOCK",  "BALANCED",  "CYCLIC",  "CYCLIC(2)",  "CYCLIC(3)", "CYCLIC(7)", "CYCLIC(9223372036854775807)",
        "random", "random(3)", "scatter", "scatter(4)", "broadcast"};
    static const int64_t sizes[] = {1, 2, 3, 5, 7, 8, 16, 24, 25, 31, 97, 128};
    static const int64_t procs[] = {1, 2, 3, 4, 5, 7, 8, 13};
    for (int t = 0; t < LENGTH(texts); t++)
        for (int s = 0; s < LENGTH(sizes); s++)
            for (int p = 0; p < LENGTH(procs); p++)
                check(texts[t], &(struct piolet_dist_shape){.dims = 1, .size = {sizes[s]}, .procs = procs[p]});
    check("*", &(struct piolet_dist_shape){.dims = 1, .size = {9}, .procs = 1});
}

static void matrices(void **state)
{
    (void)state;
    static const char *const rules[] = {"*", "BLOCK", "CYCLIC", "CYCLIC(2)", "CYCLIC(5)", "BALANCED"};
    static const int64_t sizes[][2] = {{1, 1}, {1, 7}, {7, 1}, {2, 3}, {5, 5}, {13, 8}, {8, 12}};
    static const int64_t grids[][2] = {{1, 1}, {2, 1}, {1, 3}, {2, 2}, {3, 2}, {2, 5}};
    for (int a = 0; a < LENGTH(rules) * LENGTH(rules) * LENGTH(sizes) * LENGTH(grids) * 4; a++) {
        int rest = a / 4;
        const char *first = rules[rest % LENGTH(rules)], *second = rules[(rest /= LENGTH(rules)) % LENGTH(rules)];
        const int64_t *size = sizes[(rest /= LENGTH(rules)) % LENGTH(sizes)];
        const int64_t *grid = grids[rest / LENGTH(sizes)];
        if ((*first == '*' && grid[0] > 1) || (*second == '*' && grid[1] > 1))
            continue;
        char text[64];
        snprintf(text, sizeof text, "%s(%s,%s)", a & 1 ? "transposed" : "", first, second);
        check(text, &(struct piolet_dist_shape){.dims = 2,
                                                .size = {size[0], size[1]},
                                                .order = ORDERS[a / 2 % 2],
                                                .procs = grid[0] * grid[1],
                                                .grid = {grid[0], grid[1]}});
    }
}

static void more_dimensions(void **state)
{
    (void)state;
    static const char *const texts[] = {"BLOCK,BLOCK,BLOCK",
                                        "*,BLOCK,*",
                                        "*,*,CYCLIC",
                                        "CYCLIC(2),*,BALANCED",
                                        "BALANCED,CYCLIC(3),BLOCK",
                                        "CYCLIC,CYCLIC,CYCLIC",
                                        "random(5)",
                                        "scatter(7)",
                                        "broadcast",
                                        "transposed(BLOCK,CYCLIC(2),*)"};
    static const int64_t sizes[][3] = {{1, 1, 1}, {4, 4, 4}, {5, 3, 7}, {2, 11, 3}, {13, 1, 4}};
    static const int64_t procs[] = {1, 2, 4, 6, 8, 12};
    for (int t = 0; t < LENGTH(texts); t++)
        for (int s = 0; s < LENGTH(sizes); s++)
            for (int p = 0; p < LENGTH(procs); p++)
                for (int o = 0; o < 2; o++)
                    check(texts[t], &(struct piolet_dist_shape){.dims = 3,
                                                                .size = {sizes[s][0], sizes[s][1], sizes[s][2]},
                                                                .order = ORDERS[o],
                                                                .procs = procs[p]});
    for (int o = 0; o < 2; o++)
        check("BLOCK,*,CYCLIC(2),BALANCED",
              &(struct piolet_dist_shape){.dims = 4, .size = {3, 2, 7, 5}, .order = ORDERS[o], .procs = 12});
}

/* ---- The documents' examples ------------------------------------------------------------------------------------- */

static void thesis_25_on_8(void **state)
{
    (void)state;
    static const int64_t block[] = {4, 4, 4, 4, 4, 4, 1, 0}, balanced[] = {4, 3, 3, 3, 3, 3, 3, 3};
    const struct piolet_dist_shape shape = {.dims = 1, .size = {25}, .procs = 8};
    piolet_dist *by_block = make("BLOCK", &shape), *by_balance = make("BALANCED", &shape);
    for (int64_t rank = 0; rank < 8; rank++) {
        assert_int_equal(piolet_dist_count(by_block, rank), block[rank]);
        assert_int_equal(piolet_dist_count(by_balance, rank), balanced[rank]);
    }
    piolet_dist_free(by_block);
    piolet_dist_free(by_balance);

    /* In three dimensions "296 out of 512 empty or nearly empty": all but the 6 x 6 x 6 full ones. */
    const struct piolet_dist_shape cube = {.dims = 3, .size = {25, 25, 25}, .procs = 512};
    piolet_dist *dist = make("BLOCK,BLOCK,BLOCK", &cube);
    int not_full = 0;
    for (int64_t rank = 0; rank < 512; rank++)
        not_full += piolet_dist_count(dist, rank) < 64;
    assert_int_equal(not_full, 296);
    piolet_dist_free(dist);
}

/* Every rank has exactly one cell in each slab of each dimension: first indices of its cells, sorted out by slab. */
static void check_cells(const piolet_dist *dist, int64_t q)
{
    const struct piolet_dist_shape *shape = piolet_dist_shape_of(dist);
    for (int64_t rank = 0; rank < q * q; rank++) {
        int in_slab[3][5] = {{0}};
        assert_int_equal(piolet_dist_boxes(dist, rank), q);
        for (int64_t box = 0; box < q; box++) {
            struct piolet_dist_axis axis[PIOLET_DIST_DIMS_MAX];
            assert_int_equal(piolet_dist_box(dist, rank, box, axis), 0);
            for (int d = 0; d < 3; d++) {
                const int64_t base = shape->size[d] / q, larger = shape->size[d] % q;
                int64_t slab = 0, first = 0;
                for (; first < axis[d].first; slab++)
                    first += base + (slab < larger);
                assert_int_equal(first, axis[d].first);
                assert_int_equal(axis[d].count, 1);
                assert_int_equal(piolet_dist_axis_size(&axis[d]), base + (slab < larger));
                in_slab[d][slab]++;
            }
        }
        for (int d = 0; d < 3; d++)
            for (int64_t slab = 0; slab < q; slab++)
                assert_int_equal(in_slab[d][slab], 1);
    }
}

static void multipartition(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {{5, 5, 5}, {12, 12, 12}, {13, 6, 7}, {10, 11, 5}};
    for (int64_t q = 1; q <= 5; q++)
        for (int s = 0; s < LENGTH(sizes); s++)
            for (int o = 0; o < 2; o++) {
                const struct piolet_dist_shape shape = {
                    .dims = 3, .size = {sizes[s][0], sizes[s][1], sizes[s][2]}, .order = ORDERS[o], .procs = q * q};
                check("multipartition", &shape);
                piolet_dist *dist = make("multipartition", &shape);
                check_cells(dist, q);
                piolet_dist_free(dist);
            }
    for (int o = 0; o < 2; o++) /* fewer indices than slabs: empty cells */
        check("multipartition",
              &(struct piolet_dist_shape){.dims = 3, .size = {2, 1, 3}, .order = ORDERS[o], .procs = 16});
}

/* BT on 4 processes, 4 x 4 x 4: process 1 has the cells (1,0,0) and (0,1,1), as NAS BT numbers them. */
static void multipartition_is_that_of_bt(void **state)
{
    (void)state;
    piolet_dist *dist = make("multipartition", &(struct piolet_dist_shape){.dims = 3, .size = {4, 4, 4}, .procs = 4});
    static const int64_t first[2][3] = {{2, 0, 0}, {0, 2, 2}};
    for (int box = 0; box < 2; box++) {
        struct piolet_dist_axis axis[PIOLET_DIST_DIMS_MAX];
        assert_int_equal(piolet_dist_box(dist, 1, box, axis), 0);
        for (int d = 0; d < 3; d++)
            assert_int_equal(axis[d].first, first[box][d]);
    }
    piolet_dist_free(dist);
}

/* Rank 0 of 2 x 2 has the upper left 3 x 2 of a 5 x 4 matrix. In column order its buffer would run down the columns;
 * transposed it runs along the rows, and the other way round in row order. */
static void transposed_turns_the_buffer(void **state)
{
    (void)state;
    for (int o = 0; o < 2; o++)
        for (int turned = 0; turned < 2; turned++) {
            piolet_dist *dist = make(
                turned ? "transposed(BLOCK,BLOCK)" : "BLOCK,BLOCK",
                &(struct piolet_dist_shape){.dims = 2, .size = {5, 4}, .order = ORDERS[o], .procs = 4, .grid = {2, 2}});
            for (int64_t i = 0; i < 6; i++) {
                int64_t index[2];
                const bool along_rows = (o == 0) == (turned == 1);
                piolet_dist_index(dist, piolet_dist_offset_of_local(dist, 0, i), index);
                assert_int_equal(index[0], along_rows ? i / 2 : i % 3);
                assert_int_equal(index[1], along_rows ? i % 2 : i / 3);
            }
            piolet_dist_free(dist);
        }
}

static int64_t runs_of(const piolet_dist *dist, int64_t rank, struct piolet_dist_run *ret_first)
{
    struct piolet_dist_runs runs;
    struct piolet_dist_run run;
    int64_t count = 0;
    piolet_dist_runs_begin(&runs, dist, rank);
    while (piolet_dist_runs_next(&runs, &run))
        if (count++ == 0)
            *ret_first = run;
    return count;
}

/* Whole leading dimensions melt; a cyclic row that ends where the next begins is one run. */
static void runs_are_long(void **state)
{
    (void)state;
    struct piolet_dist_run run = {0};
    struct piolet_dist_shape shape = {.dims = 3, .size = {100, 100, 10}, .procs = 5};
    piolet_dist *dist = make("*,*,BLOCK", &shape);
    assert_int_equal(runs_of(dist, 1, &run), 1);
    assert_int_equal(run.offset, 20000);
    assert_int_equal(run.length, 20000);
    piolet_dist_free(dist);

    shape = (struct piolet_dist_shape){.dims = 2, .size = {3, 4}, .procs = 2};
    dist = make("CYCLIC,*", &shape); /* rank 0 has 0, 2 of each column: 0 | 2 3 | 5 6 | 8 9 | 11 */
    assert_int_equal(runs_of(dist, 0, &run), 5);
    piolet_dist_free(dist);
    shape.order = PIOLET_DIST_ROW_ORDER; /* rank 0 has rows 0 and 2 */
    dist = make("CYCLIC,*", &shape);
    assert_int_equal(runs_of(dist, 0, &run), 2);
    assert_int_equal(run.length, 4);
    piolet_dist_free(dist);
}

static void grids(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int dims;
        int64_t procs, given[3], chosen[3];
    } cases[] = {
        {"BLOCK,BLOCK,BLOCK", 3, 8, {0}, {2, 2, 2}},     {"BLOCK,BLOCK,BLOCK", 3, 12, {0}, {3, 2, 2}},
        {"BLOCK,BLOCK,BLOCK", 3, 128, {0}, {8, 4, 4}},   {"BLOCK,*,BLOCK", 3, 6, {0}, {3, 1, 2}},
        {"BLOCK,BLOCK,BLOCK", 3, 12, {0, 6}, {2, 6, 1}}, {"BLOCK,BLOCK", 2, 7, {0}, {7, 1}},
        {"BLOCK,BLOCK", 2, 6, {2, 3}, {2, 3}},           {"random", 2, 6, {0}, {1, 1}},
    };
    for (int i = 0; i < LENGTH(cases); i++) {
        struct piolet_dist_shape shape = {.dims = cases[i].dims, .size = {10, 10, 10}, .procs = cases[i].procs};
        memcpy(shape.grid, cases[i].given, sizeof cases[i].given);
        piolet_dist *dist = make(cases[i].text, &shape);
        for (int d = 0; d < shape.dims; d++)
            assert_int_equal(piolet_dist_shape_of(dist)->grid[d], cases[i].chosen[d]);
        piolet_dist_free(dist);
    }
    /* The first dimension of the grid runs fastest, whatever the order in the file. */
    for (int o = 0; o < 2; o++) {
        piolet_dist *dist = make(
            "BLOCK,BLOCK",
            &(struct piolet_dist_shape){.dims = 2, .size = {4, 6}, .order = ORDERS[o], .procs = 6, .grid = {2, 3}});
        assert_int_equal(piolet_dist_owner(dist, piolet_dist_offset(dist, (const int64_t[]){2, 0})), 1);
        assert_int_equal(piolet_dist_owner(dist, piolet_dist_offset(dist, (const int64_t[]){0, 2})), 2);
        piolet_dist_free(dist);
    }
}

/* Counts differ by a block at most; another seed is another distribution; neighbours are not dealt out in turn. */
static void random_is_even_and_seeded(void **state)
{
    (void)state;
    struct piolet_dist_shape shape = {.dims = 1, .size = {10007}, .procs = 7, .seed = 1};
    piolet_dist *one = make("random(4)", &shape), *same = make("random(4)", &shape);
    shape.seed = 2;
    piolet_dist *other = make("random(4)", &shape);
    for (int64_t rank = 0; rank < 7; rank++)
        assert_in_range(piolet_dist_count(one, rank), 10007 / 7 - 8, 10007 / 7 + 8);
    int moved = 0, in_turn = 0, twice = 0;
    for (int64_t offset = 0; offset < 10000; offset += 4) {
        const int64_t owner = piolet_dist_owner(one, offset), next = piolet_dist_owner(one, offset + 4);
        assert_int_equal(owner, piolet_dist_owner(same, offset));
        moved += owner != piolet_dist_owner(other, offset);
        in_turn += next == (owner + 1) % 7;
        twice += next == owner;
    }
    assert_in_range(moved, 2500 * 6 / 7 - 150, 2500 * 6 / 7 + 150); /* 2143 expected, deviation 17 */
    assert_in_range(in_turn, 2500 / 7 - 120, 2500 / 7 + 120);
    assert_in_range(twice, 2500 / 7 - 120, 2500 / 7 + 120);
    piolet_dist_free(one);
    piolet_dist_free(same);
    piolet_dist_free(other);
}

/* The first values of one seed, so that no later version of the code deals out existing files differently. */
static void random_stays_the_same(void **state)
{
    (void)state;
    piolet_dist *dist = make("random", &(struct piolet_dist_shape){.dims = 1, .size = {100}, .procs = 4, .seed = 42});
    char owners[25] = "";
    for (int i = 0; i < 24; i++)
        owners[i] = (char)('0' + piolet_dist_owner(dist, i));
    assert_string_equal(owners, "232013313002130332200111");
    piolet_dist_free(dist);
}

/* 64 bits: sizes beyond 2^31 in one dimension, 2^62 elements in all, blocks that no product may overflow. */
static void huge(void **state)
{
    (void)state;
    static const char *const texts[] = {"BLOCK,BLOCK",
                                        "BALANCED,CYCLIC(1000003)",
                                        "CYCLIC(9223372036854775807),BLOCK",
                                        "random(4611686018427387904)",
                                        "random(12345678901)",
                                        "scatter",
                                        "broadcast",
                                        "transposed"};
    for (int t = 0; t < LENGTH(texts); t++)
        for (int o = 0; o < 2; o++) {
            const struct piolet_dist_shape shape = {
                .dims = 2, .size = {INT64_C(1) << 33, INT64_C(1) << 29}, .order = ORDERS[o], .procs = 2147483647};
            piolet_dist *dist = make(texts[t], &shape);
            static const int64_t offsets[] = {0, 1, INT64_C(1) << 31, INT64_C(5) << 40, (INT64_C(1) << 62) - 1};
            assert_true(piolet_dist_elements(dist) == INT64_C(1) << 62);
            for (int i = 0; i < LENGTH(offsets); i++) {
                const int64_t owner = piolet_dist_owner(dist, offsets[i]);
                struct piolet_dist_runs runs;
                struct piolet_dist_run run;
                assert_in_range(owner, 0, 2147483646);
                const int64_t local = piolet_dist_local_of_offset(dist, owner, offsets[i]);
                assert_true(local >= 0 && local < piolet_dist_count(dist, owner));
                assert_true(piolet_dist_offset_of_local(dist, owner, local) == offsets[i]);
                assert_int_equal(piolet_dist_runs_begin(&runs, dist, owner), 0);
                assert_true(piolet_dist_runs_next(&runs, &run) && run.length > 0);
                assert_true(run.offset >= 0 && run.offset + run.length <= piolet_dist_elements(dist));
            }
            piolet_dist_free(dist);
        }
    const struct piolet_dist_shape cube = {.dims = 3, .size = {1 << 20, 1 << 20, 1 << 20}, .procs = 46340 * 46340};
    piolet_dist *dist = make("multipartition", &cube);
    const int64_t last = piolet_dist_elements(dist) - 1, owner = piolet_dist_owner(dist, last);
    const int64_t local = piolet_dist_local_of_offset(dist, owner, last);
    assert_true(local == piolet_dist_count(dist, owner) - 1);
    assert_true(piolet_dist_offset_of_local(dist, owner, local) == last);
    piolet_dist_free(dist);
}

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

static void texts_are_read(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"BLOCK,BLOCK,BLOCK", "BLOCK,BLOCK,BLOCK"},
        {"(CYCLIC(4),*)", "CYCLIC(4),*"},
        {"balanced,*", "BALANCED,*"},
        {" ( block , Cyclic ( 12 ) , * ) ", "BLOCK,CYCLIC(12),*"},
        {"cyclic(1)", "CYCLIC"},
        {"*", "*"},
        {"*,*,*,BLOCK", "*,*,*,BLOCK"},
        {"CYCLIC(9223372036854775807)", "CYCLIC(9223372036854775807)"},
        {"multipartition", "multipartition"},
        {"Multi-Partition", "multipartition"},
        {"random(64)", "random(64)"},
        {"random", "random"},
        {"RANDOM(1)", "random"},
        {"broadcast", "broadcast"},
        {"reduce", "broadcast"},
        {"scatter", "scatter"},
        {"gather(8)", "scatter(8)"},
        {"transposed", "transposed(*,BLOCK)"},
        {"transposed ( block , cyclic(2) )", "transposed(BLOCK,CYCLIC(2))"},
    };
    for (int i = 0; i < LENGTH(cases); i++) {
        struct piolet_dist_spec spec, again;
        char text[PIOLET_DIST_TEXT_MAX];
        if (piolet_dist_parse(cases[i][0], &spec, message, sizeof message))
            fail_msg("%s", message);
        assert_int_equal(piolet_dist_format(&spec, text, sizeof text), 0);
        assert_string_equal(text, cases[i][1]);
        assert_int_equal(piolet_dist_parse(text, &again, NULL, 0), 0);
        assert_int_equal(spec.kind, again.kind);
        assert_int_equal(spec.rules, again.rules);
        assert_int_equal(spec.transposed, again.transposed);
        assert_true(spec.block == again.block);
        assert_memory_equal(spec.rule, again.rule, sizeof spec.rule);
        assert_int_equal(piolet_dist_format(&spec, text, strlen(cases[i][1])), PIOLET_DIST_E_SPACE);
    }
}

static void bad_texts(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "position 1: the end found; allowed: BLOCK, BALANCED, CYCLIC, CYCLIC(k), *; multipartition"},
        {"  ", "position 3: the end found"},
        {"CYLIC(4),*", "position 1: 'CYLIC' found; allowed: BLOCK"},
        {"BLOCK,", "position 7: the end found; allowed: BLOCK"},
        {"BLOCK,,BLOCK", "position 7: ',' found"},
        {"BLOCK BLOCK", "position 7: 'BLOCK' found; allowed: a comma, the end"},
        {"(BLOCK,*", "position 9: the end found; allowed: a comma, )"},
        {"BLOCK)", "position 6: ')' found"},
        {"(BLOCK),*", "position 8: ',' found; allowed: the end"},
        {"BLOCK(4)", "position 6: '(' found"},
        {"CYCLIC(0)", "position 8: '0' found; allowed: a whole number from 1"},
        {"CYCLIC(-1)", "position 8: '-1' found"},
        {"CYCLIC(4k)", "position 8: '4k' found"},
        {"CYCLIC()", "position 8: ')' found; allowed: a whole number"},
        {"CYCLIC(9223372036854775808)", "position 8"},
        {"CYCLIC(4", "position 9: the end found; allowed: )"},
        {"random(", "position 8: the end found"},
        {"random(1.5)", "position 9: '.' found; allowed: )"},
        {"broadcast(3)", "position 10: '(' found; allowed: the end"},
        {"BLOCK,random", "position 7: 'random' found; allowed: BLOCK, BALANCED, CYCLIC, CYCLIC(k), *"},
        {"BLOCK,*,*,*,BLOCK", "position 12: ',' found; allowed: no more than 4 dimensions"},
        {"transposed(BLOCK)", "position 11: '(' found; allowed: a list of 2 dimensions or more"},
        {"transposed(random,*)", "position 12: 'random' found"},
        {"BLOCK,\x01", "position 7: a strange sign found"},
        {"((BLOCK))", "position 2: '(' found"},
    };
    for (int i = 0; i < LENGTH(cases); i++) {
        struct piolet_dist_spec spec = {.rules = 77};
        message[0] = '\0';
        if (piolet_dist_parse(cases[i][0], &spec, message, sizeof message) != PIOLET_DIST_E_TEXT)
            fail_msg("'%s' was taken", cases[i][0]);
        if (!strstr(message, cases[i][1]))
            fail_msg("'%s': \"%s\" lacks \"%s\"", cases[i][0], message, cases[i][1]);
        assert_int_equal(spec.rules, 77); /* written only on success */
    }
    struct piolet_dist_spec spec;
    char tiny[8];
    assert_int_equal(piolet_dist_parse("nonsense", &spec, tiny, sizeof tiny), PIOLET_DIST_E_TEXT);
    assert_string_equal(tiny, "distrib");
    assert_int_equal(piolet_dist_parse("nonsense", &spec, NULL, 0), PIOLET_DIST_E_TEXT);
}

static void bad_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct piolet_dist_shape shape;
        const char *words;
    } cases[] = {
        {"BLOCK", {.dims = 0, .procs = 1}, "0 dimensions; allowed: 1 to 4"},
        {"BLOCK", {.dims = 5, .procs = 1}, "5 dimensions; allowed: 1 to 4"},
        {"BLOCK", {.dims = 1, .size = {0}, .procs = 1}, "dimension 1 of the array has size 0; allowed: 1 and more"},
        {"BLOCK", {.dims = 1, .size = {4}}, "0 processes; allowed: 1 to 2147483647"},
        {"BLOCK", {.dims = 1, .size = {4}, .procs = 1, .order = 7}, "neither column order nor row order"},
        {"*,*", {.dims = 2, .size = {INT64_MAX, 2}, .procs = 1}, "more than 2^62 elements"},
        {"BLOCK,*",
         {.dims = 3, .size = {4, 4, 4}, .procs = 4},
         "BLOCK,* has rules for 2 dimensions, but the array has 3"},
        {"BLOCK", {.dims = 2, .size = {4, 4}, .procs = 4}, "BLOCK has rules for 1 dimension, but the array has 2"},
        {"BLOCK,BLOCK",
         {.dims = 2, .size = {4, 4}, .procs = 4, .grid = {2, 3}},
         "the process grid 2 x 3 is for more than the 4 processes there are"},
        {"BLOCK,BLOCK",
         {.dims = 2, .size = {4, 4}, .procs = 8, .grid = {2, 3}},
         "the process grid 2 x 3 is for 6 processes, but there are 8"},
        {"BLOCK,BLOCK",
         {.dims = 2, .size = {4, 4}, .procs = 4, .grid = {3, 0}},
         "the process grid 3 x 0 cannot be filled up: 3 does not divide 4"},
        {"BLOCK,BLOCK",
         {.dims = 2, .size = {4, 4}, .procs = 4, .grid = {-4, -1}},
         "the process grid is -4 in dimension 1"},
        {"BLOCK,*",
         {.dims = 2, .size = {4, 4}, .procs = 4, .grid = {2, 2}},
         "dimension 2 is '*', not distributed: the process grid must be 1 there (or 0), not 2"},
        {"*,*", {.dims = 2, .size = {4, 4}, .procs = 2}, "the process grid 0 x 0 is for 1 process, but there are 2"},
        {"multipartition", {.dims = 2, .size = {4, 4}, .procs = 4}, "needs an array of 3 dimensions, not 2"},
        {"multipartition",
         {.dims = 3, .size = {4, 4, 4}, .procs = 8},
         "a square number of processes (1, 4, 9, 16, ...), not 8; the nearest are 4 and 9"},
        {"random(8)",
         {.dims = 1, .size = {64}, .procs = 4, .grid = {4}},
         "random(8) takes no process grid (dimension 1: 4)"},
    };
    for (int i = 0; i < LENGTH(cases); i++) {
        struct piolet_dist_spec spec;
        piolet_dist *dist = NULL;
        assert_int_equal(piolet_dist_parse(cases[i].text, &spec, message, sizeof message), 0);
        if (piolet_dist_new(&spec, &cases[i].shape, &dist, message, sizeof message) != PIOLET_DIST_E_SHAPE)
            fail_msg("%s: taken, but: %s", cases[i].text, cases[i].words);
        if (!strstr(message, cases[i].words))
            fail_msg("%s: \"%s\" lacks \"%s\"", cases[i].text, message, cases[i].words);
        assert_null(dist);
        assert_int_equal(piolet_dist_new(&spec, &cases[i].shape, &dist, NULL, 0), PIOLET_DIST_E_SHAPE);
    }
}

/* Specifications that a program filled in itself, wrongly. */
static void bad_specs(void **state)
{
    (void)state;
    static const struct piolet_dist_spec cases[] = {
        {.kind = PIOLET_DIST_RULES, .rules = 0},
        {.kind = PIOLET_DIST_RULES, .rules = 1, .rule = {{.kind = PIOLET_DIST_CYCLIC}}},
        {.kind = PIOLET_DIST_RULES, .rules = 1, .rule = {{.kind = PIOLET_DIST_BLOCK, .block = 3}}},
        {.kind = PIOLET_DIST_RULES, .rules = 1, .rule = {{.kind = (enum piolet_dist_rule_kind)99}}},
        {.kind = PIOLET_DIST_RULES, .rules = 1, .rule = {{.kind = PIOLET_DIST_BLOCK}}, .transposed = true},
        {.kind = PIOLET_DIST_RANDOM, .block = 0},
        {.kind = PIOLET_DIST_SCATTER, .block = -1},
        {.kind = PIOLET_DIST_BROADCAST, .transposed = true},
        {.kind = (enum piolet_dist_kind)99},
    };
    const struct piolet_dist_shape shape = {.dims = 1, .size = {8}, .procs = 2};
    for (int i = 0; i < LENGTH(cases); i++) {
        piolet_dist *dist = NULL;
        char text[PIOLET_DIST_TEXT_MAX];
        assert_int_equal(piolet_dist_format(&cases[i], text, sizeof text), PIOLET_DIST_E_TEXT);
        assert_int_equal(piolet_dist_new(&cases[i], &shape, &dist, message, sizeof message), PIOLET_DIST_E_SHAPE);
    }
}

static void out_of_range(void **state)
{
    (void)state;
    piolet_dist *dist = make("BLOCK,*", &(struct piolet_dist_shape){.dims = 2, .size = {4, 3}, .procs = 2});
    struct piolet_dist_runs runs;
    struct piolet_dist_axis axis[PIOLET_DIST_DIMS_MAX];
    int64_t index[2];
    static const int64_t ranks[] = {-1, 2, INT64_MAX};
    for (int i = 0; i < LENGTH(ranks); i++) {
        assert_int_equal(piolet_dist_count(dist, ranks[i]), PIOLET_DIST_E_RANGE);
        assert_int_equal(piolet_dist_boxes(dist, ranks[i]), PIOLET_DIST_E_RANGE);
        assert_int_equal(piolet_dist_runs_begin(&runs, dist, ranks[i]), PIOLET_DIST_E_RANGE);
        assert_int_equal(piolet_dist_offset_of_local(dist, ranks[i], 0), PIOLET_DIST_E_RANGE);
        assert_int_equal(piolet_dist_local_of_offset(dist, ranks[i], 0), PIOLET_DIST_E_RANGE);
        assert_int_equal(piolet_dist_box(dist, ranks[i], 0, axis), PIOLET_DIST_E_RANGE);
    }
    assert_int_equal(piolet_dist_owner(dist, 12), PIOLET_DIST_E_RANGE);
    assert_int_equal(piolet_dist_owner(dist, -1), PIOLET_DIST_E_RANGE);
    assert_int_equal(piolet_dist_owns(dist, 0, 12), PIOLET_DIST_E_RANGE);
    assert_int_equal(piolet_dist_owns(dist, 0, 2), 0);
    assert_int_equal(piolet_dist_local_of_offset(dist, 0, 2), PIOLET_DIST_E_RANGE);
    assert_int_equal(piolet_dist_index(dist, 12, index), PIOLET_DIST_E_RANGE);
    assert_int_equal(piolet_dist_offset(dist, (const int64_t[]){4, 0}), PIOLET_DIST_E_RANGE);
    assert_int_equal(piolet_dist_offset(dist, (const int64_t[]){0, -1}), PIOLET_DIST_E_RANGE);
    assert_int_equal(piolet_dist_box(dist, 0, 1, axis), PIOLET_DIST_E_RANGE);
    piolet_dist_free(dist);
    piolet_dist_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),
        cmocka_unit_test(matrices),
        cmocka_unit_test(more_dimensions),
        cmocka_unit_test(thesis_25_on_8),
        cmocka_unit_test(multipartition),
        cmocka_unit_test(multipartition_is_that_of_bt),
        cmocka_unit_test(transposed_turns_the_buffer),
        cmocka_unit_test(runs_are_long),
        cmocka_unit_test(grids),
        cmocka_unit_test(random_is_even_and_seeded),
        cmocka_unit_test(random_stays_the_same),
        cmocka_unit_test(huge),
        cmocka_unit_test(texts_are_read),
        cmocka_unit_test(bad_texts),
        cmocka_unit_test(bad_shapes),
        cmocka_unit_test(bad_specs),
        cmocka_unit_test(out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
