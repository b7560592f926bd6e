/* Contiguous writes that become copies where that is quicker: small ones and large ones, on the file system of the
 * build and in memory (/dev/shm).
 * proves: GPFS-1 GPFS-6 COLL-8
 * It would fail if such a write left other bytes than a system call, at the end of a file, beside holes, after the file
 * was cut by this or by another process, or with several threads; if bytes of a write that was told to have gone well
 * were not in the file; if such a cut ended the program; if nothing were ever mapped, or under a fault plan, or where
 * it is not allowed; or if a file's time of change stayed behind its last write. */
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

#include "unit/mapped_file.h"

#include "engine/storage/storage_core.h"

enum { FILE_BYTES = 5 << 20, ENOUGH = 24 };

static int set_up(void **state)
{
    (void)state;
    return mapped_set_up("test_way", FILE_BYTES);
}

static void put(struct storage *storage, int64_t offset, int64_t bytes, int value)
{
    int64_t done = 0;
    memset(model + offset, value, (size_t)bytes);
    fine(storage_way_write(storage, offset, (char *)model + offset, bytes, &done, &error));
    assert_int_equal(done, bytes);
}

static void close_same(struct storage *storage, int64_t bytes)
{
    assert_model(storage, bytes);
    fine(storage_close(storage, &error));
}

/* Walks along pieces, so that the part there is mapped, whether it pays or not. */
static int64_t walk(struct storage *storage, int64_t offset, int64_t bytes, int pieces)
{
    for (int i = 0; i < pieces; i++, offset += bytes) {
        storage->small.resting = storage->large.resting = 0;
        put(storage, offset, bytes, i);
    }
    storage->small.resting = storage->large.resting = 0;
    return offset;
}

static bool is_held(struct storage *storage, int64_t offset)
{
    return storage_hold_ground(storage, true, offset, offset + 1) == STORAGE_HELD;
}

#define EACH_PLACE(storage)                                                                                            \
    (void)state;                                                                                                       \
    struct storage *storage;                                                                                           \
    for (int where = 0; where < PLACES; where++)                                                                       \
        if ((storage = open_full(where)) != NULL)

static void is_used(void **state)
{
    EACH_PLACE(storage)
    {
        walk(storage, 1000, 100, ENOUGH);
        assert_true(is_held(storage, 1000));
        fine(storage_sync(storage, &error));
        assert_false(is_held(storage, 1000));
        for (int i = 0; i < 5; i++)
            walk(storage, 2 << 20, 2 << 20, 1);
        assert_true(is_held(storage, 2 << 20));
        close_same(storage, FILE_BYTES);
    }
}

static void random_walks(void **state)
{
    EACH_PLACE(storage)
    {
        int64_t size = FILE_BYTES;
        for (uint64_t w = 0; w < 300; w++) {
            int64_t offset = (int64_t)(rng_at(2, w) % (uint64_t)(size - 1));
            const int64_t bytes = 1 + (int64_t)(rng_at(3, w) % (rng_at(4, w) % 2 ? STORAGE_WAY_SMALL : 64));
            const int64_t step = rng_at(5, w) % 4 == 0 ? -bytes : bytes + (int64_t)(rng_at(6, w) % 3) * 40;
            storage->small.resting = 0;
            for (int i = 0; i < 100 && offset >= 0 && offset + bytes < size + 2000; i++, offset += step) {
                if (offset + bytes > 2 * FILE_BYTES)
                    break;
                put(storage, offset, bytes, (int)(w + (uint64_t)i));
                size = offset + bytes > size ? offset + bytes : size;
            }
            if (rng_at(8, w) % 16 == 0)
                fine(storage_sync(storage, &error));
        }
        close_same(storage, size);
    }
}

static void cut_by_itself(void **state)
{
    EACH_PLACE(storage)
    {
        const int64_t offset = walk(storage, 4096, 100, ENOUGH);
        fine(storage_truncate(storage, 4500, &error));
        memset(model + 4500, 0, FILE_BYTES - 4500);
        put(storage, offset, 100, 77);
        close_same(storage, offset + 100);
    }
}

/* To inside of the page that is written, where no fault tells of it, and to before it. */
static void cut_by_another(void **state)
{
    static const int64_t sizes[] = {65536 + 10, 65536 + 4000, 4096, 0};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        EACH_PLACE(storage)
        {
            const int64_t size = sizes[i], offset = walk(storage, 65536, 100, ENOUGH);
            assert_true(is_held(storage, offset));
            assert_int_equal(truncate(path[where], size), 0);
            memset(model + size, 0, (size_t)(FILE_BYTES - size));
            put(storage, 65536 + 1500, 100, 78); /* in the file, or behind its end */
            const int64_t end = size > 65536 + 1600 ? size : 65536 + 1600;
            assert_model(storage, end);
            put(storage, 65536 + 3950, 100, 79); /* across the end */
            close_same(storage, 65536 + 4050);
        }
    }
}

static void cut_large(void **state)
{
    EACH_PLACE(storage)
    {
        for (int i = 0; i < 5; i++)
            walk(storage, 2 << 20, 2 << 20, 1);
        assert_true(is_held(storage, 2 << 20));
        const int64_t size = (4 << 20) - 1000;
        assert_int_equal(truncate(path[where], size), 0);
        memset(model + size, 0, (size_t)(FILE_BYTES - size));
        put(storage, 2 << 20, 2 << 20, 99);
        close_same(storage, 4 << 20);
    }
}

/* Only what is allocated is mapped for writing, and no hole is filled by it. */
static void holes(void **state)
{
    EACH_PLACE(storage)
    {
        const int64_t end = 2 * FILE_BYTES - 4096;
        struct stat before, after;
        fine(storage_truncate(storage, end, &error));
        fstat(storage->fd, &before);
        walk(storage, FILE_BYTES - 2000, 100, 40);
        fstat(storage->fd, &after);
        assert_in_range(after.st_blocks - before.st_blocks, 0, 64);
        close_same(storage, end);
    }
}

static void *walk_in_thread(void *arg)
{
    struct storage *storage = arg;
    for (int64_t offset = FILE_BYTES / 2; offset < FILE_BYTES - 1000; offset += 500) {
        storage->small.resting = 0;
        put(storage, offset, 500, 5);
    }
    return NULL;
}

static void *drop_in_thread(void *arg)
{
    for (int i = 0; i < 500; i++) {
        storage_hold_drop(arg);
        nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL);
    }
    return NULL;
}

static void threads(void **state)
{
    EACH_PLACE(storage)
    {
        pthread_t other, dropper;
        assert_int_equal(pthread_create(&other, NULL, walk_in_thread, storage), 0);
        assert_int_equal(pthread_create(&dropper, NULL, drop_in_thread, storage), 0);
        for (int64_t offset = 0; offset < FILE_BYTES / 2 - 1000; offset += 500)
            put(storage, offset, 500, 6);
        pthread_join(other, NULL);
        pthread_join(dropper, NULL);
        close_same(storage, FILE_BYTES);
    }
}

/* It is told in the call itself: a program that is killed closes nothing. */
static void time_of_change(void **state)
{
    EACH_PLACE(storage)
    {
        struct stat facts;
        const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}}, tick = {.tv_nsec = 20000000};
        const int64_t offset = walk(storage, 0, 100, ENOUGH);
        assert_true(is_held(storage, offset));
        assert_int_equal(futimens(storage->fd, old), 0);
        nanosleep(&tick, NULL); /* as exact as the system's own */
        put(storage, offset, 100, 8);
        assert_int_equal(stat(path[where], &facts), 0);
        assert_true(facts.st_mtime > 1000);
        close_same(storage, FILE_BYTES);
    }
}

static void not_everywhere(void **state)
{
    (void)state;
    struct storage *storage = open_full(0);
    if (!storage)
        skip();
    walk(storage, 0, 100, ENOUGH);
    assert_true(is_held(storage, 0));
    storage_map_allow(storage, 0);
    assert_false(is_held(storage, 0));
    walk(storage, 0, 100, ENOUGH);
    assert_false(is_held(storage, 0));
    close_same(storage, FILE_BYTES);
    fine(fault_plan_load("pwrite:1000000=EIO", 0, &error));
    storage = open_at(0, O_RDWR);
    walk(storage, 0, 100, ENOUGH);
    assert_false(is_held(storage, 0));
    fine(storage_close(storage, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(is_used, clean_up),        cmocka_unit_test_teardown(random_walks, clean_up),
        cmocka_unit_test_teardown(cut_by_itself, clean_up),  cmocka_unit_test_teardown(cut_by_another, clean_up),
        cmocka_unit_test_teardown(cut_large, clean_up),      cmocka_unit_test_teardown(holes, clean_up),
        cmocka_unit_test_teardown(threads, clean_up),        cmocka_unit_test_teardown(time_of_change, clean_up),
        cmocka_unit_test_teardown(not_everywhere, clean_up),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
