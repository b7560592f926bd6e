/* Small pieces through mapped parts of a file: on the file system of the build and in memory (/dev/shm).
 * proves: GPFS-6 COLL-8
 * It would fail if a byte beside the pieces changed, if a piece had other bytes than by system calls, if a hole, the
 * end of the file or another process that cuts it ended the program or lost an error, if bytes were told to be written
 * or read that are not in the file, if the program did not get its own SIGBUS, by a handler or by waiting for it, if a
 * fault plan were passed by, or if a call were made for each piece. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "unit/mapped_file.h"

#include "engine/access/access.h"

enum { FILE_BYTES = 9 << 20 };

static int set_up(void **state)
{
    (void)state;
    return mapped_set_up("test_map", FILE_BYTES);
}

/* ---- accesses ---- */

static struct typemap *strided(int64_t piece, int64_t stride)
{
    struct typemap *dense = NULL, *map = NULL;
    fine(typemap_dense(piece, &dense, &error));
    fine(typemap_resized(dense, 0, stride, &map, &error));
    typemap_unref(dense);
    return map;
}

static int64_t calls_so_far(const char *key) /* "syscw: " or "syscr: " */
{
    char line[128];
    long long count = -1;
    FILE *file = fopen("/proc/self/io", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            count = strtoll(line + strlen(key), NULL, 10);
    if (file)
        fclose(file);
    return count;
}

static bool sieve_writes, lock_writes; /* how the accesses are done */

/* NOLINTBEGIN(readability-non-const-parameter): it is read into */
static int64_t run(struct storage *storage, bool write, struct typemap *filetype, struct typemap *memory, int64_t at,
                   int64_t position, int64_t bytes, char *buffer)
/* NOLINTEND(readability-non-const-parameter) */
{
    struct view view = {.displacement = at, .filetype = filetype, .etype_size = 1, .etype_extent = 1};
    const struct access_request request = {
        .write = write, .view = &view, .position = position, .bytes = bytes, .memory = memory, .buffer = buffer};
    const struct access_options options = {.sieve_reads = true,
                                           .sieve_writes = sieve_writes,
                                           .lock_writes = lock_writes,
                                           .read_buffer_bytes = 4 << 20,
                                           .write_buffer_bytes = 512 << 10,
                                           .progress = MPI_COMM_NULL};
    int64_t done = -1;
    fine(access_run(storage, &request, &options, &done, &error));
    return done;
}

/* Into the model, byte by byte. */
static void plain_write(struct typemap *filetype, struct typemap *memory, int64_t at, int64_t position, int64_t bytes,
                        const char *buffer)
{
    for (int64_t i = 0; i < bytes; i++)
        model[at + typemap_displacement(filetype, position + i)] =
            (unsigned char)buffer[typemap_displacement(memory, i)];
}

static void check_pattern(struct storage *storage, int64_t piece, int64_t stride, bool gaps_in_memory, int64_t at)
{
    struct typemap *filetype = strided(piece, stride);
    struct typemap *memory = gaps_in_memory ? strided(13, 17) : strided(1, 1);
    const int64_t position = 5, bytes = (FILE_BYTES - at) / stride * piece - 2 * position;
    const int64_t room = typemap_displacement(memory, bytes) + 1;
    char *buffer = malloc((size_t)room), *back = malloc((size_t)room);
    for (int64_t i = 0; i < room; i++)
        buffer[i] = (char)rng_at((uint64_t)at + 1, (uint64_t)i);
    memcpy(back, buffer, (size_t)room);
    plain_write(filetype, memory, at, position, bytes, buffer);
    const int64_t writes = calls_so_far("syscw: "), reads = calls_so_far("syscr: ");
    assert_int_equal(run(storage, true, filetype, memory, at, position, bytes, buffer), bytes);
    for (int64_t i = 0; i < bytes; i++)
        back[typemap_displacement(memory, i)] ^= 1; /* what is between stays as it is */
    assert_int_equal(run(storage, false, filetype, memory, at, position, bytes, back), bytes);
    assert_true(calls_so_far("syscw: ") - writes < 60 && calls_so_far("syscr: ") - reads < 60);
    assert_memory_equal(buffer, back, (size_t)room);
    assert_model(storage, FILE_BYTES);
    free(buffer);
    free(back);
    typemap_unref(memory);
    typemap_unref(filetype);
}

static void patterns(void **state)
{
    (void)state;
    for (int where = 0; where < 2; where++) {
        struct storage *storage = open_full(where);
        if (!storage)
            continue;
        check_pattern(storage, 256, 1024, false, 0);
        check_pattern(storage, 100, 1001, true, 12345);
        lock_writes = true; /* of the whole, */
        check_pattern(storage, 700, 3000, false, 1);
        sieve_writes = true; /* or of parts */
        check_pattern(storage, 701, 3001, true, 1);
        lock_writes = sieve_writes = false;
        if (where == 0)
            check_pattern(storage, 1024, 8192, true, 4096);
        fine(storage_close(storage, &error));
    }
}

/* A list of uneven pieces, and a file that ends inside it: reading stops there, writing goes on behind. */
static void end_of_file(void **state)
{
    (void)state;
    for (int where = 0; where < 2; where++) {
        struct storage *storage = open_full(where);
        if (!storage)
            continue;
        struct typemap *byte = strided(1, 1), *list = NULL, *filetype = NULL;
        fine(typemap_indexed(3, (int64_t[]){3, 300, 700}, (int64_t[]){100, 50, 200}, byte, &list, &error));
        fine(typemap_resized(list, 0, 1024, &filetype, &error));
        const int64_t bytes = FILE_BYTES / 1024 * 350 + 3500; /* ten copies behind the end */
        char *buffer = calloc(1, (size_t)bytes);
        assert_int_equal(run(storage, false, filetype, byte, 0, 0, bytes, buffer), bytes - 3500);
        for (int64_t i = 0; i < bytes - 3500; i++)
            assert_int_equal((unsigned char)buffer[i], model[typemap_displacement(filetype, i)]);
        memset(model + FILE_BYTES, 0, FILE_BYTES);
        for (int64_t i = 0; i < bytes; i++)
            buffer[i] = (char)rng_at(3, (uint64_t)i);
        plain_write(filetype, byte, 0, 0, bytes, buffer);
        assert_int_equal(run(storage, true, filetype, byte, 0, 0, bytes, buffer), bytes);
        assert_model(storage, typemap_displacement(filetype, bytes - 1) + 1);
        free(buffer);
        typemap_unref(byte);
        typemap_unref(list);
        typemap_unref(filetype);
        fine(storage_close(storage, &error));
    }
}

/* A new file: right bytes, nothing between them, and the end where the last piece ends. */
static void new_file(void **state)
{
    (void)state;
    for (int where = 0; where < 2; where++) {
        struct storage *storage = open_at(where, O_RDWR | O_CREAT | O_TRUNC);
        struct typemap *byte = strided(1, 1), *filetype = strided(256, 1000);
        const int64_t bytes = 256 * 5000 - 7;
        char *buffer = malloc((size_t)bytes);
        memset(buffer, 'n', (size_t)bytes);
        memset(model, 0, FILE_BYTES);
        plain_write(filetype, byte, 77, 0, bytes, buffer);
        const int64_t writes = calls_so_far("syscw: ");
        assert_int_equal(run(storage, true, filetype, byte, 77, 0, bytes, buffer), bytes);
        if (storage_map_reach(storage, true) > 0)
            assert_true(calls_so_far("syscw: ") - writes < 60);
        assert_model(storage, 77 + 1000 * 4999 + 249);
        free(buffer);
        typemap_unref(byte);
        typemap_unref(filetype);
        fine(storage_close(storage, &error));
    }
}

/* ---- what is mapped, and what is not ---- */

static void set_byte(char *memory, void *arg)
{
    memory[0] = *(const char *)arg;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): so that it fits */
static void get_byte(char *memory, void *arg)
{
    *(char *)arg = memory[0];
}

static bool copy_byte(struct storage *storage, bool write, int64_t offset, bool allocate)
{
    const struct storage_map_range range = {.write = write, .offset = offset, .bytes = 3, .allocate = allocate};
    char byte = 'b';
    return storage_map_copy(storage, &range, write ? set_byte : get_byte, &byte);
}

static void holes(void **state)
{
    (void)state;
    for (int where = 0; where < 2; where++) {
        struct storage *storage = open_full(where);
        if (!storage)
            continue;
        fine(storage_truncate(storage, 0, &error));
        fine(storage_truncate(storage, 1 << 20, &error));
        assert_false(copy_byte(storage, true, 5000, false));
        assert_int_equal(copy_byte(storage, false, 5000, false), where == 0); /* tmpfs would take memory for it */
        assert_true(copy_byte(storage, true, 5000, true));
        assert_false(copy_byte(storage, true, 1 << 20, false)); /* behind the end */
        assert_false(copy_byte(storage, false, 1 << 20, true));
        assert_false(copy_byte(storage, false, (1 << 20) - 2, false));
        assert_true(copy_byte(storage, true, (1 << 20) + 10000, true));
        int64_t size = 0;
        fine(storage_size(storage, &size, &error));
        assert_int_equal(size, (1 << 20) + 10003);
        memset(model, 0, (size_t)size);
        model[5000] = model[(1 << 20) + 10000] = 'b';
        assert_model(storage, size);
        fine(storage_close(storage, &error));
    }
}

static void refused(void **state)
{
    (void)state;
    struct storage *storage = open_full(0);
    if (!storage)
        skip();
    fine(storage_close(storage, &error));
    storage = open_at(0, O_WRONLY);
    assert_true(storage_map_reach(storage, true) == 0 && storage_map_reach(storage, false) == 0);
    fine(storage_close(storage, &error));
    storage = open_at(0, O_RDONLY);
    assert_true(storage_map_reach(storage, true) == 0 && storage_map_reach(storage, false) > 0);
    assert_false(copy_byte(storage, true, 0, false));
    assert_true(copy_byte(storage, false, 0, false));
    fine(storage_close(storage, &error));
    struct storage *direct = NULL;
    if (storage_open(path[0], O_RDWR | O_DIRECT, 0, &direct, &error) == PL_OK)
        assert_true(storage_map_reach(direct, true) == 0);
    fine(storage_close(direct, &error));
    fine(storage_open("/dev/null", O_RDWR, 0, &storage, &error)); /* on a tmpfs, and no file */
    assert_true(storage_map_reach(storage, true) == 0);
    fine(storage_close(storage, &error));

    fine(fault_plan_load("pwrite:3=ENOSPC", 0, &error)); /* seen by the third piece */
    storage = open_at(0, O_RDWR);
    assert_true(storage_map_reach(storage, true) == 0);
    assert_false(copy_byte(storage, true, 0, true));
    struct typemap *byte = strided(1, 1), *filetype = strided(100, 1000);
    struct view view = {.filetype = filetype, .etype_size = 1, .etype_extent = 1};
    const struct access_request request = {
        .write = true, .view = &view, .bytes = 100000, .memory = byte, .buffer = (char *)found};
    const struct access_options options = {.write_buffer_bytes = 512 << 10, .progress = MPI_COMM_NULL};
    int64_t done = 0;
    assert_int_equal(access_run(storage, &request, &options, &done, &error), PL_E_SPACE);
    assert_int_equal(done, 200);
    typemap_unref(byte);
    typemap_unref(filetype);
    fine(storage_close(storage, &error));
}

/* ---- faults ---- */

/* Another process cuts the file while it is copied. */
static void cut_and_set(char *memory, void *arg)
{
    if (truncate(arg, 0) == 0)
        memory[0] = 'x';
}

static void cut_meanwhile(void **state)
{
    (void)state;
    for (int where = 0; where < 2; where++) {
        struct storage *storage = open_full(where);
        if (!storage)
            continue;
        const struct storage_map_range range = {.write = true, .offset = 100000, .bytes = 5};
        for (int i = 0; i < 3; i++) { /* the handler stays, and the signal is not blocked afterwards */
            assert_false(storage_map_copy(storage, &range, cut_and_set, path[where]));
            fine(storage_write(storage, 0, model, FILE_BYTES, NULL, &error));
            assert_true(copy_byte(storage, true, 0, false));
            fine(storage_write(storage, 0, model, 1, NULL, &error));
            assert_model(storage, FILE_BYTES);
        }
        fine(storage_close(storage, &error));
    }
}

/* To inside of the page: no fault tells of it, and what is stored behind the end is in no file. */
static void cut_page_and_set(char *memory, void *arg)
{
    if (truncate(arg, 100002) == 0)
        memset(memory, 'x', 5);
}

static void cut_page_and_get(char *memory, void *arg)
{
    if (truncate(arg, 100002) == 0)
        memcpy(found, memory, 5);
}

static void cut_inside_a_page(void **state)
{
    (void)state;
    for (int where = 0; where < 2; where++) {
        struct storage *storage = open_full(where);
        if (!storage)
            continue;
        for (int i = 0; i < 4; i++) { /* mapped for it, and held */
            const struct storage_map_range range = {.write = i % 2 == 0, .offset = 100000, .bytes = 5};
            assert_false(
                storage_map_copy(storage, &range, range.write ? cut_page_and_set : cut_page_and_get, path[where]));
            assert_false(storage_map_copy(storage, &range, set_byte, path[where])); /* it is noticed before, too */
            memset(model + 100002, 0, FILE_BYTES - 100002);
            memset(model + 100000, 'x', 2);
            assert_model(storage, 100002);
            fine(storage_truncate(storage, FILE_BYTES, &error));
            fine(storage_write(storage, 0, model, FILE_BYTES, NULL, &error));
        }
        fine(storage_close(storage, &error));
    }
}

static void *cut_in_thread(void *arg)
{
    const struct storage_map_range range = {.write = true, .offset = 100000, .bytes = 5};
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    void *const outcome = storage_map_copy(arg, &range, cut_and_set, path[1]) ? arg : NULL;
    pthread_sigmask(SIG_SETMASK, NULL, &all);
    return sigismember(&all, SIGBUS) ? outcome : arg;
}

/* As threads of the engine do. */
static void cut_while_blocked(void **state)
{
    (void)state;
    struct storage *storage = open_full(1);
    if (!storage)
        skip();
    pthread_t thread;
    void *outcome = storage;
    assert_int_equal(pthread_create(&thread, NULL, cut_in_thread, storage), 0);
    pthread_join(thread, &outcome);
    assert_null(outcome);
    fine(storage_close(storage, &error));
}

static atomic_bool stop;

static void *cut_again_and_again(void *arg)
{
    while (!atomic_load(&stop))
        if (truncate(arg, 100) != 0 || truncate(arg, FILE_BYTES) != 0)
            break;
    return NULL;
}

static void *write_again_and_again(void *arg)
{
    struct storage *storage = arg;
    struct typemap *byte = strided(1, 1), *filetype = strided(256, 1024);
    char *buffer = calloc(1, FILE_BYTES / 4);
    for (int i = 0; i < 20; i++)
        assert_int_equal(run(storage, i % 2, filetype, byte, 0, 0, 4096 * 64, buffer) >= 0, true);
    free(buffer);
    typemap_unref(byte);
    typemap_unref(filetype);
    return NULL;
}

static void cut_by_threads(void **state)
{
    (void)state;
    struct storage *storage = open_full(1);
    if (!storage)
        skip();
    pthread_t cutter, writer[2];
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&cutter, NULL, cut_again_and_again, path[1]), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&writer[i], NULL, write_again_and_again, storage), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(writer[i], NULL);
    atomic_store(&stop, true);
    pthread_join(cutter, NULL);
    fine(storage_close(storage, &error));
}

/* ---- the program's own signals ---- */

static void own_fault(void)
{
    const int fd = open(path[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    volatile char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memory[0] = 'x';
}

static void leave_42(int signal)
{
    (void)signal;
    _exit(42);
}

static void leave_43(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    _exit(info->si_addr ? 43 : 44);
}

/* What a child of this kind ends with: its exit status, or 1000 + signal. */
static int outcome_of(void (*child)(void))
{
    const pid_t pid = fork();
    if (pid == 0) {
        signal(SIGBUS, SIG_DFL);
        child();
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void child_default(void)
{
    if (bus_guard_ready())
        own_fault();
}

static void child_sent(void)
{
    if (bus_guard_ready())
        raise(SIGBUS);
}

static void child_handler(void)
{
    signal(SIGBUS, leave_42);
    if (bus_guard_ready())
        own_fault();
}

static void child_handler_info(void)
{
    sigaction(SIGBUS, &(struct sigaction){.sa_sigaction = leave_43, .sa_flags = SA_SIGINFO}, NULL);
    if (bus_guard_ready())
        own_fault();
}

static void say_once(int signal)
{
    static volatile sig_atomic_t calls;
    (void)signal;
    if (++calls > 1)
        _exit(42);
}

/* A handler for one signal: after it the default holds, and copies are guarded still. */
static void child_handler_once(void)
{
    sigaction(SIGBUS, &(struct sigaction){.sa_handler = say_once, .sa_flags = (int)SA_RESETHAND}, NULL);
    if (!bus_guard_ready())
        return;
    raise(SIGBUS);
    if (bus_guard_ready())
        own_fault();
}

static void child_ignored(void)
{
    signal(SIGBUS, SIG_IGN);
    if (bus_guard_ready())
        raise(SIGBUS);
    _exit(9);
}

static void child_later(void)
{
    if (!bus_guard_ready())
        return;
    signal(SIGBUS, leave_42); /* the program's own comes later: nothing is mapped any more, and it stays */
    if (!bus_guard_ready())
        own_fault();
}

static void send_meanwhile(char *memory, void *arg)
{
    (void)arg;
    kill(getpid(), SIGBUS);
    memory[0] = 1;
}

/* A program that waits for the signal: a copy does not take it away. */
static void child_waits(void)
{
    char byte = 0;
    sigset_t bus;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    if (!bus_guard_ready())
        return;
    sigprocmask(SIG_BLOCK, &bus, NULL);
    if (!bus_guard_run(&byte, 1, &byte, send_meanwhile, NULL) || byte != 1)
        return;
    siginfo_t info = {0};
    const struct timespec none = {0};
    if (sigtimedwait(&bus, &info, &none) == SIGBUS && info.si_code == SI_USER && info.si_pid == getpid())
        _exit(8);
}

/* In children that have not installed ours yet: this test comes first. */
static void signals(void **state)
{
    (void)state;
    assert_int_equal(outcome_of(child_default), 1000 + SIGBUS);
    assert_int_equal(outcome_of(child_sent), 1000 + SIGBUS);
    assert_int_equal(outcome_of(child_handler), 42);
    assert_int_equal(outcome_of(child_handler_info), 43);
    assert_int_equal(outcome_of(child_handler_once), 1000 + SIGBUS);
    assert_int_equal(outcome_of(child_ignored), 9);
    assert_int_equal(outcome_of(child_later), 42);
    assert_int_equal(outcome_of(child_waits), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(signals, clean_up),        cmocka_unit_test_teardown(patterns, clean_up),
        cmocka_unit_test_teardown(end_of_file, clean_up),    cmocka_unit_test_teardown(new_file, clean_up),
        cmocka_unit_test_teardown(holes, clean_up),          cmocka_unit_test_teardown(refused, clean_up),
        cmocka_unit_test_teardown(cut_meanwhile, clean_up),  cmocka_unit_test_teardown(cut_inside_a_page, clean_up),
        cmocka_unit_test_teardown(cut_by_threads, clean_up), cmocka_unit_test_teardown(cut_while_blocked, clean_up),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
