/* Parts of data shipping that need no MPI: the map of agents, the cache of a partitioned file, pieces combined.
 * proves: GPFS-2 GPFS-3
 * It would fail if a byte belonged to two agents, if a cache gave or wrote a wrong byte, changed one that nobody wrote,
 * forgot what it could not write, or took the end of the file to be elsewhere, or if pieces of several boxes got mixed
 * up or went to the system one by one. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/fault/fault.h"
#include "engine/ship/ship_agent.h"
#include "engine/ship/ship_core.h"

#include "random_case.h"

enum { BLOCK = 512, FILE_BYTES = 40 * BLOCK };

static char path[64];

static int make_path(void **unused)
{
    (void)unused;
    snprintf(path, sizeof path, "test_ship.%d.tmp", (int)getpid());
    return 0;
}

static int clean_up(void **unused)
{
    (void)unused;
    unlink(path);
    return fault_plan_load(NULL, 0, &error);
}

/* ---- the map ---- */

static void test_map(void **unused)
{
    (void)unused;
    int ranks[] = {2, 0, 0};
    const struct ship_map map = {.part_bytes = 100, .count = 3, .ranks = ranks};
    assert_int_equal(ship_map_rank(&map, 0), 2);
    assert_int_equal(ship_map_rank(&map, 99), 2);
    assert_int_equal(ship_map_rank(&map, 100), 0);
    assert_int_equal(ship_map_rank(&map, 300), 2);
    assert_int_equal(ship_map_end(&map, 99), 100);
    assert_int_equal(ship_map_end(&map, 100), 200);
    assert_int_equal(ship_map_end(&map, INT64_MAX - 3), INT64_MAX);
    assert_true(ship_map_has(&map, 2) && ship_map_has(&map, 0) && !ship_map_has(&map, 1));
    assert_int_equal(ship_map_block(4096), 262144);
    assert_int_equal(ship_map_block(1 << 20), 1 << 20);
    assert_int_equal(ship_map_part(0, 262144), 16 * 262144);
    assert_int_equal(ship_map_part(1, 262144), 262144);
    assert_int_equal(ship_map_part(262145, 262144), 2 * 262144);
    for (int size = 1; size < 20; size++)
        for (int count = 1; count <= size; count++) {
            int spread[20];
            ship_map_spread(spread, count, size);
            for (int i = 0; i < count; i++)
                assert_true(spread[i] >= (i ? spread[i - 1] + 1 : 0) && spread[i] < size);
        }
}

/* ---- the cache: two agents with alternating blocks, against a file in memory ---- */

struct world {
    struct storage *storage;
    struct ship_cache *caches[2];
    _Atomic int64_t end;
    char bytes[FILE_BYTES];
    int64_t size;
};

static struct world *make_world(int64_t size, int blocks)
{
    struct world *world = calloc(1, sizeof *world);
    const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0666);
    world->size = size;
    for (int64_t i = 0; i < size; i++)
        world->bytes[i] = (char)below(256);
    assert_int_equal(write(fd, world->bytes, (size_t)size), size);
    close(fd);
    ok(storage_open(path, O_RDWR, 0, &world->storage, &error));
    for (int i = 0; i < 2; i++)
        ok(ship_cache_new(world->storage, true, BLOCK, blocks, &world->end, &world->caches[i], &error));
    return world;
}

static void free_world(struct world *world)
{
    for (int i = 0; i < 2; i++)
        ship_cache_free(world->caches[i]);
    ok(storage_close(world->storage, &error));
    free(world);
}

static void step_write(struct world *world, int64_t offset, int64_t bytes, struct ship_cache *cache)
{
    char data[BLOCK];
    int64_t done = -1;
    for (int64_t i = 0; i < bytes; i++)
        data[i] = (char)below(256);
    ok(ship_cache_write(cache, offset, data, bytes, &done, &error));
    assert_int_equal(done, bytes);
    memcpy(world->bytes + offset, data, (size_t)bytes);
    world->size = offset + bytes > world->size ? offset + bytes : world->size;
}

static void step_read(struct world *world, int64_t offset, int64_t bytes, struct ship_cache *cache)
{
    char data[BLOCK];
    int64_t done = -1;
    ok(ship_cache_read(cache, offset, data, bytes, &done, &error));
    const int64_t there = world->size <= offset ? 0 : world->size - offset < bytes ? world->size - offset : bytes;
    assert_int_equal(done, there);
    assert_memory_equal(data, world->bytes + offset, (size_t)there);
}

static void step(struct world *world)
{
    const int64_t offset = below(FILE_BYTES), left = BLOCK - offset % BLOCK;
    const int64_t bytes = 1 + below(below(3) ? (left < 20 ? left : 20) : left);
    struct ship_cache *cache = world->caches[offset / BLOCK % 2];
    if (below(2))
        step_write(world, offset, bytes, cache);
    else
        step_read(world, offset, bytes, cache);
    if (below(50) == 0)
        ok(ship_cache_flush(cache, &error));
    if (below(50) == 0)
        ship_cache_drop(cache);
}

static void expect_file(const struct world *world)
{
    char bytes[FILE_BYTES];
    const int fd = open(path, O_RDONLY);
    assert_int_equal(read(fd, bytes, sizeof bytes), world->size);
    assert_memory_equal(bytes, world->bytes, (size_t)world->size);
    close(fd);
}

static void test_cache(void **unused)
{
    (void)unused;
    for (int round = 0; round < 60; round++) {
        struct world *world = make_world(below(FILE_BYTES), 1 + (int)below(12));
        const int steps = 1 + (int)below(600);
        for (int i = 0; i < steps; i++)
            step(world);
        for (int i = 0; i < 2; i++)
            ok(ship_cache_flush(world->caches[i], &error));
        expect_file(world);
        free_world(world);
    }
}

/* Some writes fail: a call that says success keeps its data, and a flush that says success has written them. */
static void test_cache_failing(void **unused)
{
    (void)unused;
    for (int round = 0; round < 30; round++) {
        char plan[64];
        struct ship_cache_counts counts;
        ok(fault_plan_load(NULL, 0, &error));
        snprintf(plan, sizeof plan, "pwrite:?0.5=ENOSPC seed=%d", round);
        ok(fault_plan_load(plan, 0, &error));
        const int64_t size = below(FILE_BYTES);
        struct world *world = make_world(size, 3);
        for (int i = 0; i < 40; i++) { /* few blocks: there is room for all, or they fail and stay */
            const int64_t offset = below(3) * 2 * BLOCK + below(BLOCK / 2);
            step_write(world, offset, 1 + below(BLOCK / 2), world->caches[0]);
            step_read(world, below(3) * 2 * BLOCK + below(BLOCK / 2), 1 + below(BLOCK / 2), world->caches[0]);
        }
        int tries = 0;
        while (ship_cache_flush(world->caches[0], &error) != PL_OK)
            assert_true(++tries < 1000);
        counts = ship_cache_count(world->caches[0]);
        assert_true(counts.writes >= 1);
        expect_file(world);
        free_world(world);
    }
}

/* Small records side by side become one write for each block. */
static void test_cache_writes_blocks(void **unused)
{
    (void)unused;
    struct world *world = make_world(0, 8);
    for (int64_t at = 0; at < 16 * BLOCK; at += 8)
        if (at / BLOCK % 2 == 0)
            step_write(world, at, 8, world->caches[0]);
    ok(ship_cache_flush(world->caches[0], &error));
    assert_int_equal(ship_cache_count(world->caches[0]).writes, 8);
    assert_int_equal(ship_cache_count(world->caches[0]).misses, 8);
    free_world(world);
}

/* ---- combining ---- */

static void fill_box(struct ship_box *box, int command, int first, int count)
{
    box->command = command;
    box->status = PL_OK;
    box->pieces = count;
    for (int i = 0; i < count; i++) { /* every second piece of 16 bytes */
        box->piece[i] = (struct ship_piece){.offset = (int64_t)(first + 2 * i) * 16, .bytes = 16};
        memset(box->data + (ptrdiff_t)16 * i, first + 2 * i + 1, 16);
    }
}

static void test_combine(void **unused)
{
    (void)unused;
    enum { COUNT = 60 };
    struct ship_combine combine;
    struct ship_box *a = aligned_alloc(_Alignof(struct ship_box), sizeof *a);
    struct ship_box *b = aligned_alloc(_Alignof(struct ship_box), sizeof *b);
    struct world *world = make_world(0, 1);
    char bytes[2 * COUNT * 16];
    ok(ship_combine_init(&combine, world->storage, 1 << 16, &error));
    fill_box(a, SHIP_WRITE, 0, COUNT);
    fill_box(b, SHIP_WRITE, 1, COUNT);
    ship_combine_add(&combine, b);
    ship_combine_add(&combine, a);
    ship_combine_run(&combine, true);
    assert_int_equal(combine.calls, 1); /* of two ranks, one behind the other */
    for (int i = 0; i < COUNT; i++)
        assert_true(a->piece[i].done == 16 && b->piece[i].done == 16);
    ok(storage_read(world->storage, 0, bytes, sizeof bytes, NULL, &error));
    for (int i = 0; i < 2 * COUNT * 16; i++)
        assert_int_equal(bytes[i], i / 16 + 1);
    fill_box(a, SHIP_READ, 1, COUNT + 1); /* the last one is behind the end */
    memset(a->data, 0, 2 * COUNT * 16);
    ship_combine_add(&combine, a);
    ship_combine_run(&combine, false);
    assert_int_equal(combine.calls, 2);
    for (int i = 0; i < COUNT * 16; i++)
        assert_int_equal(a->data[i], 2 * (i / 16) + 2);
    assert_int_equal(a->piece[COUNT].done, 0);
    assert_int_equal(a->status, PL_OK);
    ship_combine_clear(&combine);
    free_world(world);
    free(a);
    free(b);
}

int main(void)
{
    state = 11;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),
        cmocka_unit_test_setup_teardown(test_cache, make_path, clean_up),
        cmocka_unit_test_setup_teardown(test_cache_failing, make_path, clean_up),
        cmocka_unit_test_setup_teardown(test_cache_writes_blocks, make_path, clean_up),
        cmocka_unit_test_setup_teardown(test_combine, make_path, clean_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
