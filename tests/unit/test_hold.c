/* Parts of a file that stay mapped between accesses, and large writes through them.
 * proves: COLL-5 COLL-8 GPFS-6
 * It would fail if a byte were other than by system calls, if places that are accessed once stayed mapped or those that
 * are accessed again did not, if the file's time of change stood still, if more were mapped than allowed or the
 * budget of a rank depended on anything but what is left, if a part
 * that is dropped were taken from somebody who uses it, or if a file that is cut ended the program. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bus_guard.h"
#include "base/rng.h"
#include "engine/storage/storage_map.h"

enum { MIB = 1 << 20, FILE_BYTES = 12 * MIB, BUDGET = 256 * MIB };

static struct pl_error error;
static char path[64];
static char *model, *found;

static int set_up(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "test_hold.%d.tmp", (int)getpid());
    model = malloc(FILE_BYTES);
    found = malloc(FILE_BYTES);
    return model && found ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(model);
    free(found);
    unlink(path);
    return 0;
}

static void fine(pl_status status)
{
    if (status != PL_OK)
        fail_msg("%s", error.text);
}

/* cmocka sets a handler of its own at the beginning of each test: ours takes the place that it had. */
static void renew_guard(void)
{
    static struct sigaction ours;
    if (ours.sa_sigaction)
        sigaction(SIGBUS, &ours, NULL);
    assert_true(bus_guard_ready());
    sigaction(SIGBUS, NULL, &ours);
}

struct copy {
    bool write;
    size_t bytes;
    char *memory;
};

static void run_copy(char *mapped, void *arg)
{
    const struct copy *copy = arg;
    if (copy->write)
        memcpy(mapped, copy->memory, copy->bytes);
    else
        memcpy(copy->memory, mapped, copy->bytes);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): it is written through in a read */
static bool move(struct storage *storage, bool write, int64_t offset, char *memory, size_t bytes)
{
    const struct storage_map_range range = {.write = write, .offset = offset, .bytes = (int64_t)bytes};
    struct copy copy = {write, bytes, memory};
    return storage_map_copy(storage, &range, run_copy, &copy);
}

static struct storage *open_full(void)
{
    renew_guard();
    struct storage *storage = NULL;
    fine(storage_open(path, O_RDWR | O_CREAT | O_TRUNC, 0644, &storage, &error));
    assert_int_equal(storage_map_reach(storage, true), 0); /* not before it is allowed */
    assert_false(move(storage, false, 0, found, 0));
    storage_map_allow(storage, (int64_t)BUDGET);
    if (storage_map_reach(storage, true) == 0) {
        fine(storage_close(storage, &error));
        skip();
    }
    memset(model, 'm', FILE_BYTES);
    fine(storage_write(storage, 0, model, FILE_BYTES, NULL, &error));
    return storage;
}

static void assert_model(struct storage *storage)
{
    int64_t there = 0;
    fine(storage_read(storage, 0, found, FILE_BYTES, &there, &error));
    assert_int_equal(there, FILE_BYTES);
    if (memcmp(found, model, FILE_BYTES) != 0)
        fail_msg("the file has other bytes");
}

/* Of the file. */
static int64_t mapped_bytes(void)
{
    char line[512];
    int64_t bytes = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        unsigned long long begin, end;
        if (strstr(line, path) && sscanf(line, "%llx-%llx", &begin, &end) == 2)
            bytes += (int64_t)(end - begin);
    }
    fclose(file);
    return bytes;
}

/* ---- staying mapped ---- */

static void comes_and_goes(void **state)
{
    (void)state;
    struct storage *storage = open_full();
    assert_int_equal(storage_hold_ground(storage, true, 5 * MIB, 6 * MIB), STORAGE_NEW);
    for (int i = 0; i < 4; i++) {
        memset(model + 5 * MIB, 'a' + i, MIB);
        assert_true(move(storage, true, 5 * MIB, model + 5 * MIB, MIB));
        assert_model(storage);
        assert_int_equal(storage_hold_ground(storage, true, 5 * MIB, 6 * MIB), i == 0 ? STORAGE_SEEN : STORAGE_HELD);
        assert_int_equal(mapped_bytes(), i == 0 ? 0 : 2 * MIB);
    }
    assert_true(move(storage, false, 5 * MIB, found, 100)); /* by the same mapping */
    assert_int_equal(mapped_bytes(), 2 * MIB);
    assert_int_equal(storage_hold_ground(storage, true, 5 * MIB, 7 * MIB), STORAGE_NEW); /* not to its end */
    fine(storage_sync(storage, &error));
    assert_int_equal(mapped_bytes(), 0);
    assert_int_equal(storage_hold_ground(storage, true, 5 * MIB, 6 * MIB), STORAGE_SEEN);
    storage_hold_see(storage, 0, 5 * MIB);
    assert_true(move(storage, false, 0, found, 5 * MIB));
    assert_int_equal(storage_hold_ground(storage, false, 0, 5 * MIB), STORAGE_HELD);
    assert_int_equal(storage_hold_ground(storage, true, 0, 5 * MIB), STORAGE_SEEN); /* for reading only */
    assert_true(move(storage, true, MIB, model, 10));
    fine(storage_truncate(storage, FILE_BYTES, &error));
    assert_int_equal(mapped_bytes(), 0);
    assert_model(storage);
    fine(storage_close(storage, &error));
}

static struct timespec changed(void)
{
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    return facts.st_mtim;
}

static void tells_change(void **state)
{
    (void)state;
    struct storage *storage = open_full();
    for (int i = 0; i < 5; i++) {
        const struct timespec before = changed();
        const struct timespec nap = {.tv_nsec = 30000000}; /* longer than a tick of any system */
        nanosleep(&nap, NULL);
        assert_true(move(storage, true, MIB, model, 4096));
        const struct timespec after = changed();
        assert_true(after.tv_sec > before.tv_sec || after.tv_nsec > before.tv_nsec);
    }
    fine(storage_close(storage, &error));
}

/* NOLINTNEXTLINE(readability-non-const-parameter): so that it fits */
static void look(char *mapped, void *arg)
{
    *(char *)arg = mapped[0];
}

/* A large file with nothing in it, of which much is read twice. */
static void has_limits(void **state)
{
    (void)state;
    enum { PARTS = 60 };
    struct storage *storage = open_full();
    fine(storage_truncate(storage, (int64_t)PARTS * 16 * MIB, &error));
    for (int i = 0; i < 3 * PARTS; i++) {
        const struct storage_map_range range = {.offset = (int64_t)(i % PARTS) * 16 * MIB, .bytes = 16 * MIB};
        char byte;
        assert_true(storage_map_copy(storage, &range, look, &byte));
    }
    assert_in_range(mapped_bytes(), BUDGET / 2, BUDGET);
    storage_map_allow(storage, 20 * MIB); /* the others of the file make way */
    assert_true(move(storage, false, 16 * MIB, found, MIB));
    assert_in_range(mapped_bytes(), MIB, 20 * MIB);
    const struct storage_map_range range = {.bytes = 32 * MIB};
    char byte;
    assert_false(storage_map_copy(storage, &range, look, &byte)); /* by itself too much */
    storage_map_allow(storage, STORAGE_MAP_LEAST - 1);
    assert_int_equal(mapped_bytes(), 0);
    assert_false(move(storage, false, 0, found, MIB));
    assert_non_null(storage_map_refused(storage));
    fine(storage_close(storage, &error));
}

static void has_a_budget(void **state)
{
    (void)state;
    const int64_t gib = 1 << 30;
    assert_int_equal(storage_budget_of(16 * (uint64_t)gib, UINT64_MAX, 8), 256 * MIB);
    assert_int_equal(storage_budget_of(16 * (uint64_t)gib, UINT64_MAX, 1), 512 * MIB); /* the most */
    assert_int_equal(storage_budget_of(16 * (uint64_t)gib, (uint64_t)gib, 1), 128 * MIB);
    assert_int_equal(storage_budget_of(100 * MIB, UINT64_MAX, 2), 6 * MIB);
    assert_int_equal(storage_budget_of(UINT64_MAX, UINT64_MAX, 100000), 512 * MIB);
    assert_int_equal(storage_budget_of(0, UINT64_MAX, 1), 0);
    assert_in_range(storage_budget(UINT64_MAX, 1000000), 0, storage_budget(UINT64_MAX, 1));
    assert_int_equal(storage_budget(80 * MIB, 1), 10 * MIB);
}

/* ---- when things go wrong ---- */

static void cut(void **state)
{
    (void)state;
    struct storage *storage = open_full();
    for (int i = 0; i < 2; i++)
        assert_true(move(storage, true, 8 * MIB, model, MIB));
    assert_int_equal(truncate(path, 4 * MIB), 0); /* by somebody else */
    assert_false(move(storage, true, 8 * MIB, model, MIB));
    assert_false(move(storage, false, 8 * MIB, found, MIB));
    int64_t done = 0;
    fine(storage_way_write(storage, 4 * MIB, model, 8 * MIB, &done, &error));
    assert_int_equal(done, 8 * MIB);
    assert_model(storage);
    fine(storage_close(storage, &error));
}

struct worker {
    struct storage *storage;
    int number;
    atomic_bool *over;
};

/* Each writes its own part; what is there must be what it wrote last. */
static void *work(void *arg)
{
    const struct worker *worker = arg;
    const int64_t offset = (int64_t)worker->number * 3 * MIB / 2;
    static _Thread_local char mine[64 << 10];
    for (int i = 0; i < 200; i++) {
        memset(mine, worker->number * 50 + i, sizeof mine);
        if (!move(worker->storage, true, offset + i % 8 * (int64_t)sizeof mine, mine, sizeof mine))
            return arg;
    }
    return NULL;
}

static void *drop_often(void *arg)
{
    const struct worker *worker = arg;
    while (!atomic_load(worker->over))
        storage_hold_drop(worker->storage);
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    enum { WORKERS = 4 };
    struct storage *storage = open_full();
    atomic_bool over = false;
    struct worker workers[WORKERS + 1];
    pthread_t thread[WORKERS + 1];
    for (int i = 0; i <= WORKERS; i++) {
        workers[i] = (struct worker){storage, i, &over};
        assert_int_equal(pthread_create(&thread[i], NULL, i < WORKERS ? work : drop_often, &workers[i]), 0);
    }
    for (int i = 0; i <= WORKERS; i++) {
        void *failed;
        atomic_store(&over, i == WORKERS);
        assert_int_equal(pthread_join(thread[i], &failed), 0);
        assert_null(failed);
    }
    for (int i = 0; i < WORKERS; i++)
        for (int part = 0; part < 8; part++)
            memset(model + i * 3 * MIB / 2 + part * (64 << 10), i * 50 + 192 + part, 64 << 10);
    assert_model(storage);
    fine(storage_close(storage, &error));
}

/* ---- large writes ---- */

static void large(void **state)
{
    (void)state;
    struct storage *storage = open_full();
    int64_t most = 0;
    for (int i = 0; i < 20; i++) {
        const int64_t offset = (int64_t)(rng_at(1, (uint64_t)i) % (4 * MIB)), bytes = 7 * MIB - 5 * i;
        for (int64_t at = 0; at < bytes; at += 997)
            model[offset + at] = (char)rng_at(2, (uint64_t)(at + i));
        int64_t done = 0;
        fine(storage_way_write(storage, offset, model + offset, bytes, &done, &error));
        assert_int_equal(done, bytes);
        assert_model(storage);
        const int64_t mapped = mapped_bytes();
        most = mapped > most ? mapped : most;
    }
    assert_true(most > 0); /* it was tried at least */
    fine(storage_close(storage, &error));
}

/* In a file that has no blocks, or ends before, nothing is copied. */
static void without_room(void **state)
{
    (void)state;
    struct storage *storage = open_full();
    int64_t done = 0;
    for (int i = 0; i < 4; i++)
        fine(storage_way_write(storage, 0, model, 4 * MIB, &done, &error));
    fine(storage_truncate(storage, 0, &error));
    fine(storage_truncate(storage, 2 * MIB, &error));
    fine(storage_way_write(storage, 0, model, 4 * MIB, &done, &error));
    assert_int_equal(done, 4 * MIB);
    fine(storage_write(storage, 4 * MIB, model + 4 * MIB, FILE_BYTES - 4 * MIB, NULL, &error));
    assert_model(storage);
    assert_int_equal(storage_way_write(storage, INT64_MAX - 10, model, MIB, &done, &error), PL_E_ARG);
    fine(storage_close(storage, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_and_goes), cmocka_unit_test(tells_change),
        cmocka_unit_test(has_limits),     cmocka_unit_test(cut),
        cmocka_unit_test(threads),        cmocka_unit_test(large),
        cmocka_unit_test(without_room),   cmocka_unit_test(has_a_budget),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
