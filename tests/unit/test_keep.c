/* Small accesses through a part of the file that stays mapped: on the file system of the build and in memory
 * (/dev/shm). proves: GPFS-1 GPFS-6 COLL-8 It would fail if a small access gave or left other bytes than a system call,
 * at the end of a file, beside holes, after the file was cut by this or by another handle, or with several threads; if
 * such a cut ended the program; if nothing were ever mapped, or under a fault plan; or if a file's time of change
 * stayed behind its last write. */
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

#include "unit/mapped_file.h"

#include "mpiio/storage/storage_core.h"

enum { FILE_BYTES = 5 << 20, ENOUGH = 9 };

static int set_up(void **state)
{
    (void)state;
    return mapped_set_up("test_keep", FILE_BYTES);
}

static void put(struct storage *storage, int64_t offset, int64_t bytes, int value)
{
    int64_t done = 0;
    memset(model + offset, value, (size_t)bytes);
    fine(storage_keep_access(storage, true, offset, (char *)model + offset, bytes, &done, &error));
    assert_int_equal(done, bytes);
}

/* Reads, and compares as far as the file goes. */
static void get(struct storage *storage, int64_t offset, int64_t bytes, int64_t file_bytes)
{
    int64_t done = 0, there = file_bytes - offset < bytes ? file_bytes - offset : bytes;
    fine(storage_keep_access(storage, false, offset, (char *)found, bytes, &done, &error));
    assert_int_equal(done, there > 0 ? there : 0);
    assert_memory_equal(found, model + offset, (size_t)done);
}

static void close_same(struct storage *storage, int64_t bytes)
{
    assert_model(storage, bytes);
    fine(storage_close(storage, &error));
}

/* Walks along small pieces, so that the part there is mapped. */
static int64_t walk(struct storage *storage, int64_t offset, int pieces)
{
    for (int i = 0; i < pieces; i++, offset += 100)
        put(storage, offset, 100, i);
    return offset;
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
        walk(storage, 1000, ENOUGH);
        assert_non_null(storage->keep.memory);
        assert_true(storage->keep.copies > 0);
        close_same(storage, FILE_BYTES);
    }
}

static void random_walks(void **state)
{
    EACH_PLACE(storage)
    {
        int64_t size = FILE_BYTES;
        for (uint64_t w = 0; w < 300; w++) {
            const bool write = rng_at(1, w) % 2;
            int64_t offset = (int64_t)(rng_at(2, w) % (uint64_t)(size - 1));
            const int64_t bytes = 1 + (int64_t)(rng_at(3, w) % (rng_at(4, w) % 2 ? STORAGE_KEEP_PIECE_MAX : 64));
            const int64_t step = rng_at(5, w) % 4 == 0 ? -bytes : bytes + (int64_t)(rng_at(6, w) % 3) * 40;
            for (int i = 0; i < 100 && offset >= 0 && offset + bytes < size + 2000; i++, offset += step) {
                if (write && offset + bytes <= 2 * FILE_BYTES) {
                    put(storage, offset, bytes, (int)(w + (uint64_t)i));
                    size = offset + bytes > size ? offset + bytes : size;
                } else {
                    get(storage, offset, bytes, size);
                }
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
        const int64_t offset = walk(storage, 4096, ENOUGH);
        fine(storage_truncate(storage, 4500, &error));
        memset(model + 4500, 0, FILE_BYTES - 4500);
        get(storage, 4400, 200, 4500);
        put(storage, offset, 100, 77);
        get(storage, offset - 50, 100, offset + 100);
        close_same(storage, offset + 100);
    }
}

/* Behind the back of the mapping: pages that are gone raise SIGBUS, and a system call does it. */
static void cut_by_another(void **state)
{
    EACH_PLACE(storage)
    {
        const int64_t offset = walk(storage, 65536, ENOUGH);
        assert_int_equal(truncate(path[where], 4096), 0);
        memset(model + 4096, 0, FILE_BYTES - 4096);
        get(storage, offset, 100, 4096);
        put(storage, offset, 100, 78);
        close_same(storage, offset + 100);
    }
}

/* What was mapped becomes too long without a fault: it is seen after some accesses at the latest. */
static void cut_inside_a_page(void **state)
{
    EACH_PLACE(storage)
    {
        walk(storage, 0, ENOUGH);
        assert_int_equal(truncate(path[where], 3000), 0);
        memset(model + 3000, 0, FILE_BYTES - 3000);
        for (int i = 0; i < 200; i++)
            get(storage, 0, 10, 3000);
        get(storage, 2950, 100, 3000);
        put(storage, 3100, 100, 79);
        close_same(storage, 3200);
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
        walk(storage, FILE_BYTES - 2000, 40);
        for (int i = 0; i < 40; i++)
            get(storage, FILE_BYTES + 500000 + i * 100, 100, end);
        fstat(storage->fd, &after);
        assert_in_range(after.st_blocks - before.st_blocks, 0, 64);
        close_same(storage, end);
    }
}

static void *walk_in_thread(void *arg)
{
    struct storage *storage = arg;
    for (int64_t offset = FILE_BYTES / 2; offset < FILE_BYTES - 1000; offset += 500)
        put(storage, offset, 500, 5);
    return NULL;
}

static void *drop_in_thread(void *arg)
{
    for (int i = 0; i < 500; i++) {
        storage_keep_drop(arg);
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

static void time_of_change(void **state)
{
    EACH_PLACE(storage)
    {
        struct stat facts;
        const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
        const int64_t offset = walk(storage, 0, ENOUGH);
        assert_int_equal(futimens(storage->fd, old), 0);
        put(storage, offset, 100, 8);
        close_same(storage, FILE_BYTES);
        assert_int_equal(stat(path[where], &facts), 0);
        assert_true(facts.st_mtime > 1000);
    }
}

static void not_under_faults(void **state)
{
    (void)state;
    renew_guard();
    fine(fault_plan_load("pwrite:1000000=EIO", 0, &error));
    struct storage *storage = NULL;
    fine(storage_open(path[0], O_RDWR | O_CREAT | O_TRUNC, 0644, &storage, &error));
    fine(storage_truncate(storage, FILE_BYTES, &error));
    memset(model, 0, FILE_BYTES);
    for (int i = 0; i < 50; i++)
        get(storage, i * 100, 100, FILE_BYTES);
    assert_null(storage->keep.memory);
    fine(storage_close(storage, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(is_used, clean_up),           cmocka_unit_test_teardown(random_walks, clean_up),
        cmocka_unit_test_teardown(cut_by_itself, clean_up),     cmocka_unit_test_teardown(cut_by_another, clean_up),
        cmocka_unit_test_teardown(cut_inside_a_page, clean_up), cmocka_unit_test_teardown(holes, clean_up),
        cmocka_unit_test_teardown(threads, clean_up),           cmocka_unit_test_teardown(time_of_change, clean_up),
        cmocka_unit_test_teardown(not_under_faults, clean_up),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
