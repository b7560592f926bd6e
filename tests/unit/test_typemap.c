/* Typemaps: what they say of a datatype's bytes, and the walk through them.
 * proves: GPFS-1 COLL-8
 * Random trees are compared, byte by byte, with a list of displacements that plain loops expand. It would fail if a
 * byte had another place or order, if a piece were not as long as it can be, if a run had other pieces than the walk,
 * if a shape lied (above all: "monotone" of data that goes back), if neighbours were not joined, if a deep tree overran
 * the stack, or if an overflow went unnoticed. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/fewer.h"

#include "base/rng.h"
#include "engine/typemap/typemap_node.h"

static struct pl_error error;

static void ok(pl_status status)
{
    if (status)
        fail_msg("%s: %s", pl_status_name(status), error.text);
}

static struct typemap *dense(int64_t bytes)
{
    struct typemap *map = NULL;
    ok(typemap_dense(bytes, &map, &error));
    return map;
}

/* These three use their argument up, so that calls can be nested. */
static struct typemap *repeat(struct typemap *child, int64_t count, int64_t stride)
{
    struct typemap *map = NULL;
    ok(typemap_repeat(child, count, stride, &map, &error));
    typemap_unref(child);
    return map;
}

static struct typemap *resized(struct typemap *child, int64_t lb, int64_t extent)
{
    struct typemap *map = NULL;
    ok(typemap_resized(child, lb, extent, &map, &error));
    typemap_unref(child);
    return map;
}

static struct typemap *indexed(struct typemap *child, int64_t n, const int64_t *displacements, const int64_t *counts)
{
    struct typemap *map = NULL;
    ok(typemap_indexed(n, displacements, counts, child, &map, &error));
    typemap_unref(child);
    return map;
}

static struct typemap *pair(struct typemap *a, int64_t at_a, struct typemap *b, int64_t at_b)
{
    struct typemap *map = NULL;
    ok(typemap_list(2, (int64_t[]){at_a, at_b}, (int64_t[]){1, 1}, (struct typemap *[]){a, b}, &map, &error));
    typemap_unref(a);
    typemap_unref(b);
    return map;
}

static int64_t next(struct typemap_cursor *cursor, int64_t limit, int64_t wanted_displacement)
{
    int64_t displacement = -999;
    const int64_t length = typemap_cursor_next(cursor, limit, &displacement);
    assert_int_equal(displacement, wanted_displacement);
    return length;
}

/* ---- Cases by hand ----------------------------------------------------------------------------------------------- */

static void expect_dense(struct typemap *map, int64_t bytes)
{
    assert_null(map->node);
    assert_int_equal(typemap_shape(map)->size, bytes);
    assert_true(typemap_shape(map)->dense);
    typemap_unref(map);
}

static void test_joins(void **state)
{
    (void)state;
    expect_dense(repeat(dense(8), 10, 8), 80);
    expect_dense(repeat(repeat(dense(8), 3, 8), 10, 24), 240);
    expect_dense(pair(dense(4), 0, dense(4), 4), 8);
    expect_dense(pair(dense(4), 100, repeat(dense(2), 3, 2), 104), 10);
    expect_dense(indexed(dense(4), 3, (int64_t[]){8, 16, 20}, (int64_t[]){2, 1, 1}), 16);
    expect_dense(pair(repeat(dense(4), 0, 1), 7, dense(6), 1), 6);
    expect_dense(repeat(dense(0), 7, 3), 0);

    struct typemap *map = repeat(repeat(dense(8), 3, 16), 5, 48); /* evenly on: one repeat */
    assert_int_equal(map->node->count, 15);
    assert_null(map->node->child);
    typemap_unref(map);
    map = indexed(dense(4), 4, (int64_t[]){8, 20, 32, 44}, (int64_t[]){1, 1, 1, 1}); /* an index that is a vector */
    assert_null(map->node->pieces);
    assert_int_equal(map->node->stride, 12);
    assert_int_equal(map->first, 8);
    typemap_unref(map);
    map = dense(8);
    for (int i = 0; i < 100; i++) /* bounds and displacements add no depth */
        map = indexed(resized(map, i % 7, 8), 1, (int64_t[]){3}, (int64_t[]){1});
    assert_int_equal(map->first, 300);
    expect_dense(map, 8);
}

static void test_shape(void **state)
{
    (void)state;
    struct typemap *map = repeat(dense(4), 3, -10);
    const struct typemap_shape *shape = typemap_shape(map);
    assert_int_equal(shape->lb, -20);
    assert_int_equal(shape->extent, 24);
    assert_int_equal(shape->true_lb, -20);
    assert_int_equal(shape->true_extent, 24);
    assert_int_equal(shape->pieces, 3);
    assert_false(shape->monotone || shape->ascending);
    typemap_unref(map);

    map = repeat(dense(4), 3, 2); /* overlaps: to be read only */
    assert_true(typemap_shape(map)->ascending && !typemap_shape(map)->monotone);
    typemap_unref(map);
    map = pair(repeat(dense(4), 3, 8), 0, repeat(dense(4), 3, 8), 4); /* interleaved, but not in order */
    assert_false(typemap_shape(map)->monotone || typemap_shape(map)->ascending);
    typemap_unref(map);
    map = resized(repeat(dense(4), 2, 8), 0, 4); /* a copy begins inside the one before */
    assert_false(typemap_shape(map)->monotone || typemap_shape(map)->ascending);
    typemap_unref(map);
    map = resized(repeat(dense(4), 2, 8), -3, 12);
    assert_true(typemap_shape(map)->monotone);
    assert_int_equal(typemap_shape(map)->lb, -3);
    typemap_unref(map);
    map = resized(dense(8), 0, 16);
    assert_true(typemap_shape(map)->dense && !typemap_shape(map)->tiles && typemap_shape(map)->monotone);
    typemap_unref(map);
    map = dense(8);
    assert_true(typemap_shape(map)->tiles);
    typemap_unref(map);
    map = resized(dense(0), 5, 7);
    assert_true(typemap_shape(map)->monotone && typemap_shape(map)->pieces == 0);
    assert_int_equal(typemap_shape(map)->lb, 5);
    assert_int_equal(typemap_shape(map)->true_extent, 0);
    typemap_unref(map);
}

static void test_cursor_joins_copies(void **state)
{
    (void)state;
    struct typemap_cursor cursor;
    struct typemap *map = resized(pair(dense(4), 0, dense(6), 10), 0, 16); /* the end touches the next copy */
    ok(typemap_cursor_init(&cursor, map, &error));
    assert_int_equal(next(&cursor, 100, 0), 4);
    assert_int_equal(next(&cursor, 100, 10), 10);
    assert_int_equal(next(&cursor, 7, 26), 7);
    assert_int_equal(next(&cursor, 100, 33), 3);
    typemap_cursor_seek(&cursor, 5);
    assert_int_equal(next(&cursor, 100, 11), 9);
    assert_int_equal(cursor.position, 14);
    typemap_cursor_clear(&cursor);
    typemap_unref(map);

    map = dense(3); /* tiles: as long as one likes */
    ok(typemap_cursor_init(&cursor, map, &error));
    typemap_cursor_seek(&cursor, 10);
    assert_int_equal(next(&cursor, INT64_C(1) << 50, 10), INT64_C(1) << 50);
    typemap_cursor_clear(&cursor);
    typemap_unref(map);

    map = dense(0);
    ok(typemap_cursor_init(&cursor, map, &error));
    assert_int_equal(next(&cursor, 100, 0), 0);
    typemap_cursor_clear(&cursor);
    typemap_cursor_clear(&cursor);
    typemap_unref(map);
}

static void expect_run(struct typemap_cursor *cursor, int64_t limit, struct typemap_run wanted)
{
    struct typemap_run run;
    assert_int_equal(typemap_cursor_run(cursor, limit, &run), wanted.length * wanted.count);
    assert_int_equal(run.displacement, wanted.displacement);
    assert_int_equal(run.length, wanted.length);
    assert_int_equal(run.stride, wanted.stride);
    assert_int_equal(run.count, wanted.count);
}

static void test_runs(void **state)
{
    (void)state;
    const int64_t many = INT64_C(1) << 40;
    struct typemap_cursor cursor;
    struct typemap *map = repeat(dense(8), many, 24); /* the copies do not go on in step */
    ok(typemap_cursor_init(&cursor, map, &error));
    expect_run(&cursor, INT64_MAX, (struct typemap_run){0, 8, 24, many - 1}); /* the last one touches the next copy */
    expect_run(&cursor, INT64_MAX, (struct typemap_run){24 * (many - 1), 16, 16, 1});
    typemap_cursor_seek(&cursor, 3);
    expect_run(&cursor, 8 * many - 3, (struct typemap_run){3, 5, 5, 1});
    expect_run(&cursor, 8 * many - 8, (struct typemap_run){24, 8, 24, many - 1}); /* here the limit ends it */
    typemap_cursor_clear(&cursor);
    typemap_unref(map);

    map = resized(repeat(dense(8), 3, 24), 0, 72); /* in step: copies are no border */
    ok(typemap_cursor_init(&cursor, map, &error));
    expect_run(&cursor, 8 * many + 5, (struct typemap_run){0, 8, 24, many});
    expect_run(&cursor, 5, (struct typemap_run){24 * many, 5, 5, 1});
    expect_run(&cursor, 100, (struct typemap_run){24 * many + 5, 3, 3, 1});
    expect_run(&cursor, 40, (struct typemap_run){24 * many + 24, 8, 24, 5});
    typemap_cursor_clear(&cursor);
    typemap_unref(map);

    map = resized(dense(1024), 0, 8192); /* one piece and a gap */
    ok(typemap_cursor_init(&cursor, map, &error));
    expect_run(&cursor, 1024 * many, (struct typemap_run){0, 1024, 8192, many});
    typemap_cursor_seek(&cursor, INT64_MAX - 1024); /* beyond 64 bits there is no place, but no harm either */
    struct typemap_run run;
    assert_true(typemap_cursor_run(&cursor, INT64_MAX, &run) <= 1024);
    typemap_cursor_clear(&cursor);
    typemap_unref(map);

    map = dense(0);
    ok(typemap_cursor_init(&cursor, map, &error));
    expect_run(&cursor, 10, (struct typemap_run){0});
    typemap_cursor_clear(&cursor);
    typemap_unref(map);
}

/* ---- Huge and deep ----------------------------------------------------------------------------------------------- */

static void test_huge(void **state)
{
    (void)state;
    const int64_t blocks = INT64_C(1) << 40, far = blocks - 5;
    struct typemap_cursor cursor;
    struct typemap *map = repeat(repeat(dense(8), 2, 24), blocks, 64);
    assert_int_equal(map->node->sum.height, 2); /* two nodes, whatever the count */
    assert_int_equal(typemap_shape(map)->pieces, 2 * blocks);
    assert_true(typemap_shape(map)->monotone);
    assert_int_equal(typemap_displacement(map, 16 * far + 9), 64 * far + 25);
    assert_int_equal(typemap_position(map, 64 * far + 25), 16 * far + 9);
    ok(typemap_cursor_init(&cursor, map, &error));
    typemap_cursor_seek(&cursor, 16 * far + 9);
    assert_int_equal(next(&cursor, 1000, 64 * far + 25), 7);
    assert_int_equal(next(&cursor, 1000, 64 * far + 64), 8);
    typemap_cursor_clear(&cursor);
    typemap_unref(map);
}

static void test_million_pieces(void **state)
{
    (void)state;
    enum { PIECES = 1000000 };
    int64_t *displacements = calloc(PIECES, sizeof *displacements), *counts = calloc(PIECES, sizeof *counts);
    for (int64_t i = 0; i < PIECES; i++) {
        displacements[i] = i * i;
        counts[i] = 1;
    }
    struct typemap *map = indexed(dense(1), PIECES, displacements, counts);
    assert_null(map->node->children);               /* plain pairs of numbers, no nodes */
    assert_int_equal(map->node->count, PIECES - 1); /* 0 and 1 touch */
    assert_int_equal(typemap_displacement(map, 777777), INT64_C(777777) * 777777);
    assert_int_equal(typemap_position(map, INT64_C(777777) * 777777 + 1), 777778);
    typemap_unref(map);
    map = indexed(resized(dense(1), 0, 2), PIECES, displacements, counts); /* one copy each: the bounds do not matter */
    assert_null(map->node->children);
    typemap_unref(map);
    for (int64_t i = 0; i < PIECES; i++) {
        counts[i] = 2 + i % 2;
        displacements[i] *= 8;
    }
    map = indexed(resized(dense(1), 0, 2), PIECES, displacements, counts);
    assert_ptr_equal(map->node->children[10], map->node->children[PIECES - 2]); /* equal blocks are one node */
    assert_int_equal(typemap_displacement(map, 5 * 1000 + 4), 8 * INT64_C(2001) * 2001 + 4);
    typemap_unref(map);
    free(displacements);
    free(counts);
}

static void test_deep(void **state)
{
    (void)state;
    enum { DEPTH = 200000 };
    struct typemap_cursor cursor;
    struct typemap *front = dense(1), *back = dense(1);
    for (int i = 0; i < DEPTH; i++) {
        front = pair(front, 0, dense(1), 2 * i + 2);
        back = pair(dense(1), 0, back, 2);
    }
    struct typemap *maps[2] = {front, back};
    for (int m = 0; m < 2; m++) {
        assert_int_equal(typemap_shape(maps[m])->size, DEPTH + 1);
        assert_true(typemap_shape(maps[m])->monotone);
        assert_int_equal(typemap_displacement(maps[m], DEPTH / 2), DEPTH);
        assert_int_equal(typemap_position(maps[m], DEPTH), DEPTH / 2);
        ok(typemap_cursor_init(&cursor, maps[m], &error));
        for (int i = 0; i < DEPTH; i++)
            assert_int_equal(next(&cursor, 9, 2 * i), 1);
        assert_int_equal(next(&cursor, 9, 2 * DEPTH), 2); /* goes on in the next copy */
        typemap_cursor_clear(&cursor);
        typemap_unref(maps[m]);
    }
}

static void test_overflow(void **state)
{
    (void)state;
    const int64_t half = INT64_C(1) << 62;
    struct typemap *map = dense(1 << 20), *made = NULL;
    const int64_t far_apart[] = {-half, half}, ones[] = {1, 1};
    assert_int_equal(typemap_repeat(map, half, 1 << 20, &made, &error), PL_E_TYPE);
    assert_int_equal(typemap_repeat(map, half, 0, &made, &error), PL_E_TYPE);
    assert_int_equal(typemap_repeat(map, 3, half, &made, &error), PL_E_TYPE);
    assert_int_equal(typemap_repeat(map, -1, 1, &made, &error), PL_E_TYPE);
    assert_int_equal(typemap_indexed(2, far_apart, ones, map, &made, &error), PL_E_TYPE);
    assert_int_equal(typemap_indexed(1, far_apart, (int64_t[]){-2}, map, &made, &error), PL_E_TYPE);
    assert_int_equal(typemap_resized(map, half, half, &made, &error), PL_E_TYPE);
    assert_int_equal(typemap_dense(-1, &made, &error), PL_E_TYPE);
    assert_null(made);
    ok(typemap_indexed(2, far_apart, (int64_t[]){0, 1}, map, &made, &error)); /* what is not there overflows nothing */
    assert_int_equal(typemap_displacement(made, 5), half + 5);
    typemap_unref(made);
    typemap_unref(map);
}

/* ---- Random trees against plain loops ---------------------------------------------------------------------------- */

enum { BYTES_MAX = 1500, COPIES = 5, TREES = 3000 / FEWER, POOL = 5 };

/* One copy: the displacement of each byte in order, and whether it begins a dense leaf of the constructors. */
struct plain {
    int64_t n, lb, extent;
    int64_t bytes[BYTES_MAX];
    bool begins[BYTES_MAX];
};

struct item {
    struct typemap *map;
    struct plain plain;
};

static uint64_t fuzz_seed;

static int64_t pick(int64_t low, int64_t high) /* both are possible */
{
    fuzz_seed = rng_mix(fuzz_seed + 1);
    return low + (int64_t)(fuzz_seed % (uint64_t)(high - low + 1));
}

static bool plain_add(struct plain *to, bool *is_first, const struct plain *from, int64_t at)
{
    if (to->n + from->n > BYTES_MAX)
        return false;
    for (int64_t i = 0; i < from->n; i++) {
        to->bytes[to->n] = from->bytes[i] + at;
        to->begins[to->n++] = from->begins[i];
    }
    const int64_t lb = at + from->lb, ub = lb + from->extent;
    const int64_t old_ub = to->lb + to->extent;
    const int64_t new_ub = *is_first || ub > old_ub ? ub : old_ub;
    to->lb = *is_first || lb < to->lb ? lb : to->lb;
    to->extent = new_ub - to->lb;
    *is_first = false;
    return true;
}

static bool add_blocks(struct plain *to, bool *is_first, const struct plain *from, int64_t at, int64_t count,
                       int64_t stride)
{
    for (int64_t i = 0; i < count; i++)
        if (!plain_add(to, is_first, from, at + i * stride))
            return false;
    return true;
}

/* Likely to touch something: random numbers alone would seldom join. */
static int64_t pick_stride(const struct item *item)
{
    const struct typemap_shape *shape = typemap_shape(item->map);
    const int64_t strides[] = {shape->extent, shape->size, shape->true_extent, pick(-30, 60), 2 * shape->extent, 0};
    return strides[pick(0, 5)];
}

static bool fuzz_repeat(const struct item *pool, struct item *made)
{
    const struct item *child = &pool[pick(0, POOL - 1)];
    const int64_t count = pick(0, 9) ? pick(1, 5) : 0, stride = pick_stride(child);
    bool is_first = true;
    if (!add_blocks(&made->plain, &is_first, &child->plain, 0, count, stride))
        return false;
    ok(typemap_repeat(child->map, count, stride, &made->map, &error));
    return true;
}

static bool fuzz_list(const struct item *pool, struct item *made, bool is_indexed)
{
    enum { MAX = 6 };
    struct typemap *children[MAX];
    int64_t places[MAX], counts[MAX], at = pick(-20, 40);
    const int64_t n = pick(0, MAX), only = pick(0, POOL - 1);
    bool is_first = true;
    for (int64_t i = 0; i < n; i++) {
        const struct item *child = &pool[is_indexed ? only : pick(0, POOL - 1)];
        children[i] = child->map;
        counts[i] = pick(0, 5) ? pick(1, 3) : 0;
        places[i] = pick(0, 3) ? at : at + pick(-12, 12);
        if (!add_blocks(&made->plain, &is_first, &child->plain, places[i], counts[i], child->plain.extent))
            return false;
        at = places[i] + counts[i] * child->plain.extent + (pick(0, 1) ? 0 : 8);
    }
    if (is_indexed)
        ok(typemap_indexed(n, places, counts, pool[only].map, &made->map, &error));
    else
        ok(typemap_list(n, places, counts, children, &made->map, &error));
    return true;
}

static bool fuzz_resized(const struct item *pool, struct item *made)
{
    const struct item *child = &pool[pick(0, POOL - 1)];
    made->plain = child->plain;
    made->plain.lb = pick(-10, 10);
    made->plain.extent = pick(0, 2) ? child->plain.n : pick(-20, 80);
    ok(typemap_resized(child->map, made->plain.lb, made->plain.extent, &made->map, &error));
    return true;
}

static bool fuzz_dense(struct item *made)
{
    const int64_t bytes = pick(0, 9) ? pick(1, 9) : 0;
    for (int64_t i = 0; i < bytes; i++) {
        made->plain.bytes[i] = i;
        made->plain.begins[i] = i == 0;
    }
    made->plain.n = made->plain.extent = bytes;
    ok(typemap_dense(bytes, &made->map, &error));
    return true;
}

static bool fuzz_make(const struct item *pool, struct item *made)
{
    switch (pick(0, 9)) {
    case 0:
        return fuzz_dense(made);
    case 1:
    case 2:
        return fuzz_resized(pool, made);
    case 3:
    case 4:
    case 5:
        return fuzz_repeat(pool, made);
    case 6:
    case 7:
        return fuzz_list(pool, made, true);
    default:
        return fuzz_list(pool, made, false);
    }
}

static int64_t plain_at(const struct plain *plain, int64_t position)
{
    return plain->bytes[position % plain->n] + position / plain->n * plain->extent;
}

/* Bytes from `position` on that lie side by side, at most `limit`. */
static int64_t plain_run(const struct plain *plain, int64_t position, int64_t limit)
{
    int64_t length = 1;
    while (length < limit && plain_at(plain, position + length) == plain_at(plain, position) + length)
        length++;
    return length;
}

static void check_pieces(const struct item *item)
{
    const struct typemap_shape *shape = typemap_shape(item->map);
    int64_t pieces = 0, largest = 0, low = 0, high = 0;
    for (int64_t i = 0; i < item->plain.n;) {
        const int64_t length = plain_run(&item->plain, i, item->plain.n - i);
        const int64_t begin = item->plain.bytes[i];
        low = !i || begin < low ? begin : low;
        high = !i || begin + length > high ? begin + length : high;
        largest = length > largest ? length : largest;
        pieces++;
        i += length;
    }
    assert_int_equal(shape->size, item->plain.n);
    assert_int_equal(shape->lb, item->plain.lb);
    assert_int_equal(shape->extent, item->plain.extent);
    assert_int_equal(shape->true_lb, low);
    assert_int_equal(shape->true_extent, high - low);
    assert_int_equal(shape->pieces, pieces);
    assert_int_equal(shape->largest, largest);
    assert_int_equal(shape->dense, pieces <= 1);
    assert_int_equal(shape->tiles, pieces <= 1 && item->plain.extent == item->plain.n);
    assert_true(pieces > 1 || !item->map->node);
}

static void check_order(const struct item *item)
{
    const struct plain *plain = &item->plain;
    const struct typemap_shape *shape = typemap_shape(item->map);
    bool monotone = true, pieces_ascend = true, leaves_ascend = true;
    int64_t piece = INT64_MIN, leaf = INT64_MIN, last = INT64_MIN;
    for (int64_t i = 0; i < plain->n * COPIES; i++) {
        const int64_t at = plain_at(plain, i);
        monotone = monotone && at > last;
        if (at != last + 1) {
            pieces_ascend = pieces_ascend && at >= piece;
            piece = at;
        }
        if (plain->begins[i % plain->n]) {
            leaves_ascend = leaves_ascend && at >= leaf;
            leaf = at;
        }
        last = at;
    }
    assert_int_equal(shape->monotone, monotone);
    assert_true(!shape->ascending || pieces_ascend); /* no wrong claim, */
    assert_true(!leaves_ascend || shape->ascending); /* and every filetype that MPI allows passes */
    assert_true(!shape->monotone || shape->ascending);
}

static void check_places(const struct item *item)
{
    const struct plain *plain = &item->plain;
    const struct typemap_shape *shape = typemap_shape(item->map);
    for (int64_t i = 0; i < 2 * plain->n; i += 1 + (plain->n > 100 ? pick(0, 9) : 0))
        assert_int_equal(typemap_displacement(item->map, i), plain_at(plain, i));
    if (!shape->monotone || plain->n == 0)
        return;
    int64_t position = 0;
    for (int64_t at = shape->true_lb - 3; at < shape->true_lb + 2 * shape->extent + 3; at++) {
        while (plain_at(plain, position) < at)
            position++;
        assert_int_equal(typemap_position(item->map, at), position);
    }
}

static void check_cursor(const struct item *item)
{
    const struct plain *plain = &item->plain;
    struct typemap_cursor cursor;
    if (plain->n == 0)
        return;
    ok(typemap_cursor_init(&cursor, item->map, &error));
    for (int walk = 0; walk < 4; walk++) {
        int64_t position = walk ? pick(0, 2 * plain->n) : 0;
        typemap_cursor_seek(&cursor, position);
        while (position < 3 * plain->n) {
            const int64_t limit = walk % 2 ? pick(1, 12) : plain->n;
            const int64_t length = plain_run(plain, position, limit);
            assert_int_equal(cursor.position, position);
            assert_int_equal(next(&cursor, limit, plain_at(plain, position)), length);
            position += length;
        }
    }
    typemap_cursor_clear(&cursor);
}

/* Runs are the pieces of the other walk, piece by piece. */
static void check_runs(const struct item *item, int64_t *ret_longest)
{
    const int64_t n = item->plain.n;
    struct typemap_cursor cursor, pieces;
    if (n == 0)
        return;
    ok(typemap_cursor_init(&cursor, item->map, &error));
    ok(typemap_cursor_init(&pieces, item->map, &error));
    for (int walk = 0; walk < 4; walk++) {
        const int64_t position = walk ? pick(0, 2 * n) : 0;
        typemap_cursor_seek(&cursor, position);
        typemap_cursor_seek(&pieces, position);
        while (cursor.position < 4 * n) {
            int64_t left = walk == 3 ? pick(1, 12) : pick(1, 8 * n);
            struct typemap_run run = {0};
            const int64_t bytes = typemap_cursor_run(&cursor, left, &run);
            assert_true(run.count >= 1 && bytes == run.length * run.count && bytes <= left);
            for (int64_t i = 0; i < run.count; i++) {
                assert_int_equal(next(&pieces, left, run.displacement + i * run.stride), run.length);
                left -= run.length;
            }
            assert_int_equal(cursor.position, pieces.position);
            *ret_longest = run.count > *ret_longest ? run.count : *ret_longest;
            if (!pick(0, 9)) { /* runs and pieces may be mixed */
                int64_t displacement;
                const int64_t limit = pick(1, 12);
                const int64_t length = typemap_cursor_next(&cursor, limit, &displacement);
                assert_int_equal(next(&pieces, limit, displacement), length);
            }
        }
    }
    typemap_cursor_clear(&cursor);
    typemap_cursor_clear(&pieces);
}

struct tally {
    int64_t made, with_nodes, monotone, longest_run;
};

/* A pool of dense items; each step makes something of them and takes the place of one. */
static void fuzz_tree(struct item *pool, struct tally *tally)
{
    struct item *made = &pool[POOL];
    memset(pool, 0, (POOL + 1) * sizeof *pool);
    for (int i = 0; i < POOL; i++)
        fuzz_dense(&pool[i]);
    for (int64_t steps = pick(1, 8); steps > 0; steps--) {
        memset(made, 0, sizeof *made);
        if (!fuzz_make(pool, made))
            break; /* too large for loops */
        check_pieces(made);
        check_order(made);
        check_places(made);
        check_cursor(made);
        check_runs(made, &tally->longest_run);
        tally->made++;
        tally->with_nodes += made->map->node != NULL;
        tally->monotone += made->map->node && typemap_shape(made->map)->monotone;
        struct item *old = &pool[pick(0, POOL - 1)];
        typemap_unref(old->map); /* while others may still use its nodes */
        *old = *made;
    }
    for (int i = 0; i < POOL; i++)
        typemap_unref(pool[i].map);
}

static void test_random_trees(void **state)
{
    (void)state;
    struct item *pool = calloc(POOL + 1, sizeof *pool);
    struct tally tally = {0};
    for (int tree = 0; tree < TREES; tree++) {
        fuzz_seed = rng_at(20261115, (uint64_t)tree);
        fuzz_tree(pool, &tally);
    }
    free(pool);
    print_message("%" PRId64 " maps: %" PRId64 " with nodes, %" PRId64 " of them monotone; runs of up to %" PRId64 "\n",
                  tally.made, tally.with_nodes, tally.monotone, tally.longest_run);
    assert_true(tally.longest_run > 20);
    assert_true(tally.with_nodes > tally.made / 3 && tally.monotone > tally.with_nodes / 20); /* not trivial */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joins), cmocka_unit_test(test_shape),    cmocka_unit_test(test_cursor_joins_copies),
        cmocka_unit_test(test_runs),  cmocka_unit_test(test_huge),     cmocka_unit_test(test_million_pieces),
        cmocka_unit_test(test_deep),  cmocka_unit_test(test_overflow), cmocka_unit_test(test_random_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
