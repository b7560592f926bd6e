/* Files on POSIX storage: all that a system call may do, once with the system and once under a fault plan.
 * proves: GPFS-6
 * It would fail if a short transfer, a signal or a full disk lost or moved bytes, if an error came without its file,
 * place and reason, if making room changed a byte or the limit of file size ended the program, or if two holders
 * locked the same bytes. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "engine/fault/fault.h"
#include "engine/storage/storage.h"

static char path[64];
static struct pl_error error;

static int make_path(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "test_storage.%d.tmp", (int)getpid());
    unlink(path);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    unlink(path);
    return fault_plan_load(NULL, 0, &error);
}

static void fine(pl_status status)
{
    if (status != PL_OK)
        fail_msg("%s", error.text);
}

static void says(pl_status status, pl_status wanted, const char *words)
{
    if (status != wanted)
        fail_msg("status %s, not %s", pl_status_name(status), pl_status_name(wanted));
    assert_int_equal(error.status, wanted);
    if (!strstr(error.text, words))
        fail_msg("'%s' does not say '%s'", error.text, words);
}

static struct storage *open_flags(int flags)
{
    struct storage *storage = NULL;
    fine(storage_open(path, flags, 0644, &storage, &error));
    return storage;
}

static struct storage *open_plan(const char *plan)
{
    fine(fault_plan_load(plan, 0, &error));
    return open_flags(O_RDWR | O_CREAT);
}

static void fill(unsigned char *bytes, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)rng_at(seed, i);
}

static void assert_content(struct storage *storage, int64_t offset, const void *wanted, int64_t bytes)
{
    unsigned char *found = malloc((size_t)bytes);
    int64_t done = -1;
    fine(storage_read(storage, offset, found, bytes, &done, &error));
    assert_true(done == bytes);
    assert_memory_equal(found, wanted, (size_t)bytes);
    free(found);
}

static void prefixes(void **state)
{
    (void)state;
    static const struct {
        const char *name, *path;
    } cases[] = {
        {"ufs:/a/b", "/a/b"},     {"UFS:x", "x"}, {"piolet:a:b", "a:b"},       {"nfs:", ""},     {"pvfs2:f", "f"},
        {"/a/ufs:b", "/a/ufs:b"}, {"c:x", "c:x"}, {"ufsx:y", "ufsx:y"},        {"uf:y", "uf:y"}, {":y", ":y"},
        {"plain", "plain"},       {"", ""},       {"host:/data", "host:/data"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(storage_path(cases[i].name), cases[i].path);
}

static void registry(void **state)
{
    (void)state;
    assert_string_equal(STORAGE_BACKENDS[0]->name, "posix");
    assert_string_equal(STORAGE_BACKENDS[1]->name, "faulty");
    assert_null(STORAGE_BACKENDS[2]);
}

static void opening(void **state)
{
    (void)state;
    struct storage *storage = NULL;
    says(storage_open(path, O_RDWR, 0, &storage, &error), PL_E_NO_SUCH_FILE, path);
    says(storage_open(".", O_RDONLY, 0, &storage, &error), PL_E_BAD_FILE, "opening '.': Is a directory");
    char name[3000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    says(storage_open(name, O_RDWR, 0, &storage, &error), PL_E_BAD_FILE, "xxx': File name too long");
    assert_non_null(strstr(error.text, "opening '...xxx"));
    assert_null(storage);
    storage = open_flags(O_RDWR | O_CREAT | O_EXCL);
    assert_string_equal(storage_name(storage), path);
    assert_true(storage_block_bytes(storage) >= 512);
    struct storage *second = NULL;
    says(storage_open(path, O_RDWR | O_CREAT | O_EXCL, 0644, &second, &error), PL_E_EXISTS, path);
    fine(storage_close(storage, &error));
    fine(storage_unlink(path, &error));
    says(storage_unlink(path, &error), PL_E_NO_SUCH_FILE, "deleting 'test_storage");
    fine(storage_close(NULL, &error));
}

static void there_and_back(void **state)
{
    const char *plan = *state;
    enum { BYTES = 300000 };
    unsigned char *bytes = malloc(BYTES);
    fill(bytes, BYTES, 1);
    struct storage *storage = open_plan(plan);
    int64_t done = -1, size = -1;
    fine(storage_write(storage, 1000, bytes, BYTES, &done, &error));
    assert_true(done == BYTES);
    fine(storage_sync(storage, &error));
    fine(storage_size(storage, &size, &error));
    assert_int_equal(size, 1000 + BYTES);
    assert_content(storage, 1000, bytes, BYTES);
    static const char zeros[1000];
    assert_content(storage, 0, zeros, 1000);
    unsigned char end[100];
    fine(storage_read(storage, 1000 + BYTES - 10, end, sizeof end, &done, &error));
    assert_int_equal(done, 10);
    assert_memory_equal(end, bytes + BYTES - 10, 10);
    fine(storage_read(storage, 1 << 30, end, sizeof end, &done, &error));
    assert_int_equal(done, 0);
    fine(storage_write(storage, 5, bytes, 0, &done, &error));
    assert_int_equal(done, 0);
    fine(storage_close(storage, &error));
    free(bytes);
}

static void append_is_ignored(void **state)
{
    (void)state;
    struct storage *storage = open_flags(O_RDWR | O_CREAT | O_APPEND);
    fine(storage_write(storage, 0, "abcd", 4, NULL, &error));
    fine(storage_write(storage, 1, "X", 1, NULL, &error));
    assert_content(storage, 0, "aXcd", 4);
    fine(storage_close(storage, &error));
}

enum { PIECES = 5000, PIECE_MAX = 97 };

static int64_t make_pieces(struct iovec *pieces, unsigned char *bytes)
{
    int64_t total = 0;
    for (int i = 0; i < PIECES; i++) {
        const size_t length = i % 7 == 0 ? 0 : rng_at(5, (uint64_t)i) % PIECE_MAX; /* also empty ones */
        pieces[i].iov_base = &bytes[total];
        pieces[i].iov_len = length;
        total += (int64_t)length;
    }
    return total;
}

static void vectors(void **state)
{
    const char *plan = *state;
    unsigned char *out = malloc((size_t)PIECES * PIECE_MAX), *in = calloc(PIECES, PIECE_MAX);
    struct iovec *pieces = malloc(PIECES * sizeof *pieces);
    fill(out, (size_t)PIECES * PIECE_MAX, 2);
    struct storage *storage = open_plan(plan);
    int64_t done = -1;
    const int64_t total = make_pieces(pieces, out);
    fine(storage_writev(storage, 7, pieces, PIECES, &done, &error));
    assert_true(done == total);
    make_pieces(pieces, in);
    fine(storage_readv(storage, 7, pieces, PIECES, &done, &error));
    assert_true(done == total);
    assert_memory_equal(in, out, (size_t)total);
    make_pieces(pieces, in);
    fine(storage_readv(storage, 7 + total - 100, pieces, PIECES, &done, &error));
    assert_int_equal(done, 100);
    fine(storage_readv(storage, 0, pieces, 0, &done, &error));
    assert_int_equal(done, 0);
    fine(storage_close(storage, &error));
    free(pieces);
    free(out);
    free(in);
}

/* /dev/null takes any number of bytes without looking at them: the limits of one call are passed in no time. */
static void beyond_one_call(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    const int64_t large = (int64_t)5 << 30, piece = 4 << 20;
    void *nothing = mmap(NULL, (size_t)large, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(nothing != MAP_FAILED);
    struct storage *storage = NULL;
    fine(storage_open("/dev/null", O_WRONLY, 0, &storage, &error));
    int64_t done = 0;
    fine(storage_write(storage, 0, nothing, large, &done, &error));
    assert_true(done == large);
    static struct iovec pieces[COUNT];
    for (int i = 0; i < COUNT; i++)
        pieces[i] = (struct iovec){.iov_base = nothing, .iov_len = (size_t)piece + (size_t)i};
    fine(storage_writev(storage, 0, pieces, COUNT, &done, &error));
    assert_true(done == COUNT * piece + (int64_t)COUNT * (COUNT - 1) / 2);
    fine(storage_sync(storage, &error)); /* a special file has nothing to store */
    fine(storage_close(storage, &error));
    munmap(nothing, (size_t)large);
}

static void large_offsets(void **state)
{
    (void)state;
    struct storage *storage = open_flags(O_RDWR | O_CREAT);
    const int64_t far = (int64_t)2 << 40;
    char byte = 'x';
    int64_t done, size;
    const pl_status status = storage_write(storage, far, "far", 3, &done, &error);
    if (status == PL_OK) { /* not every file system goes so far */
        assert_content(storage, far, "far", 3);
        fine(storage_size(storage, &size, &error));
        assert_true(size == far + 3);
    } else {
        says(status, PL_E_SPACE, "for this file system");
    }
    says(storage_write(storage, INT64_MAX - 1, "abc", 3, &done, &error), PL_E_ARG, "does not lie between byte 0");
    says(storage_write(storage, -1, "abc", 3, &done, &error), PL_E_ARG, "at byte -1");
    says(storage_read(storage, 0, &byte, -1, &done, &error), PL_E_ARG, "reading");
    says(storage_write(storage, INT64_MAX - 1, "a", 1, &done, &error), PL_E_SPACE, "File too large");
    fine(storage_read(storage, INT64_MAX - 1, &byte, 1, &done, &error));
    assert_int_equal(done, 0);
    fine(storage_close(storage, &error));
}

static void faults_of_transfers(void **state)
{
    (void)state;
    static char bytes[65536 * 2];
    char words[160];
    int64_t done;
    struct storage *storage = open_plan("pwrite:1=short pwrite:2=ENOSPC");
    snprintf(words, sizeof words,
             "writing 131072 bytes at byte 4096 of '%s': No space left on device (after 65536 bytes)", path);
    says(storage_write(storage, 4096, bytes, sizeof bytes, &done, &error), PL_E_SPACE, words);
    assert_int_equal(done, 65536);
    fine(fault_plan_load("pwrite:*=zero", 0, &error));
    says(storage_write(storage, 0, bytes, 10, &done, &error), PL_E_IO, "no progress");
    assert_int_equal(done, 0);
    fine(fault_plan_load("pwrite:1=zero pwrite:2=zero", 0, &error));
    fine(storage_write(storage, 0, bytes, 10, &done, &error));
    fine(fault_plan_load("pwrite:*=EDQUOT pread:*=EIO", 0, &error));
    says(storage_write(storage, 0, bytes, 10, &done, &error), PL_E_QUOTA, "quota");
    says(storage_read(storage, 3, bytes, 10, &done, &error), PL_E_IO, "reading 10 bytes at byte 3 of 'test_");
    fine(fault_plan_load("pread:2=zero pread:1=short", 0, &error));
    fine(storage_read(storage, 0, bytes, 1000, &done, &error));
    assert_int_equal(done, 500);
    fine(fault_plan_load("pread:*=EINTR", 0, &error)); /* an error in the end, not a hang */
    says(storage_read(storage, 3, bytes, 10, &done, &error), PL_E_SYSTEM, "Interrupted");
    fine(fault_plan_load("pread:*=EAGAIN", 0, &error));
    says(storage_read(storage, 3, bytes, 10, &done, &error), PL_E_SYSTEM, "temporarily unavailable");
    fine(storage_close(storage, &error));
}

static void faults_of_other_calls(void **state)
{
    (void)state;
    int64_t size;
    struct storage *storage = open_plan("fsync:1=EINTR fsync:2=EIO truncate:1=EAGAIN truncate:2=EIO stat:2=EIO "
                                        "unlink:1=EACCES close:1=EDQUOT allocate:1=ENOSPC");
    says(storage_sync(storage, &error), PL_E_IO, "syncing 'test_storage");
    says(storage_truncate(storage, 10, &error), PL_E_IO, "setting the size of 'test_storage");
    says(storage_size(storage, &size, &error), PL_E_IO, "finding the size of");
    says(storage_allocate(storage, 10, &error), PL_E_SPACE, "allocating 10 bytes for");
    says(storage_unlink(path, &error), PL_E_ACCESS, "deleting");
    says(storage_close(storage, &error), PL_E_QUOTA, "closing 'test_storage");
    storage = open_plan("open:1=EINTR close:1=EINTR");
    fine(storage_close(storage, &error));
    fine(fault_plan_load("open:1=EIO stat:1=EIO malloc:5=ENOMEM", 0, &error));
    struct storage *none = NULL;
    says(storage_open(path, O_RDWR, 0, &none, &error), PL_E_IO, "opening");
    says(storage_open(path, O_RDWR, 0, &none, &error), PL_E_IO, "finding its size");
    says(storage_open(path, O_RDWR, 0, &none, &error), PL_E_NOMEM, "not enough memory");
    assert_null(none);
}

static void sizes(void **state)
{
    (void)state;
    struct storage *storage = open_flags(O_RDWR | O_CREAT);
    int64_t size = -1;
    fine(storage_write(storage, 0, "0123456789", 10, NULL, &error));
    fine(storage_truncate(storage, 5, &error));
    fine(storage_truncate(storage, 8, &error));
    assert_content(storage, 0, "01234\0\0", 8);
    says(storage_truncate(storage, -1, &error), PL_E_ARG, "-1 is negative");
    says(storage_allocate(storage, -1, &error), PL_E_ARG, "-1 is negative");
    fine(storage_allocate(storage, 0, &error));
    fine(storage_allocate(storage, 3, &error)); /* never makes it shorter */
    fine(storage_size(storage, &size, &error));
    assert_int_equal(size, 8);
    fine(storage_allocate(storage, 100000, &error));
    fine(storage_size(storage, &size, &error));
    assert_int_equal(size, 100000);
    assert_content(storage, 0, "01234\0\0", 8);
    fine(storage_close(storage, &error));
}

static void room_by_hand(void **state)
{
    (void)state;
    enum { BYTES = (2 << 20) + 333, WHOLE = (3 << 20) + 77 };
    unsigned char *bytes = calloc(1, WHOLE);
    fill(bytes, 5000, 3);
    fill(bytes + BYTES - 5000, 5000, 4);
    struct storage *storage = open_plan("allocate:*=EOPNOTSUPP pwrite:?0.5=short");
    fine(storage_write(storage, 0, bytes, 5000, NULL, &error)); /* and a hole */
    fine(storage_write(storage, BYTES - 5000, bytes + BYTES - 5000, 5000, NULL, &error));
    fine(storage_close(storage, &error));
    storage = open_flags(O_WRONLY);
    fine(storage_allocate(storage, BYTES / 2, &error));
    int64_t size = -1;
    fine(storage_size(storage, &size, &error));
    assert_int_equal(size, BYTES);
    fine(storage_allocate(storage, WHOLE, &error));
    fine(storage_close(storage, &error));
    storage = open_flags(O_RDWR);
    fine(storage_allocate(storage, WHOLE, &error));
    assert_content(storage, 0, bytes, WHOLE);
    fine(storage_size(storage, &size, &error));
    assert_int_equal(size, WHOLE);
    fine(fault_plan_load("allocate:*=ENOSYS pwrite:2=ENOSPC", 0, &error));
    says(storage_allocate(storage, WHOLE, &error), PL_E_SPACE, "writing 1048576 bytes at byte 1048576 of");
    assert_non_null(strstr(error.text, "allocating 3145805 bytes for"));
    fine(storage_close(storage, &error));
    free(bytes);
}

static void limit_of_file_size(void **state)
{
    (void)state;
    enum { LIMIT = 65536 };
    static char bytes[LIMIT * 2];
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){.rlim_cur = LIMIT, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    struct storage *storage = open_flags(O_RDWR | O_CREAT);
    int64_t done = -1;
    struct pl_error of_write, of_truncate, of_allocate;
    const pl_status written = storage_write(storage, 0, bytes, sizeof bytes, &done, &of_write);
    const pl_status cut = storage_truncate(storage, LIMIT + 1, &of_truncate);
    const pl_status allocated = storage_allocate(storage, LIMIT + 1, &of_allocate);
    sigset_t pending, mask;
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(written, PL_E_SPACE);
    assert_int_equal(done, LIMIT);
    assert_non_null(strstr(of_write.text, "(RLIMIT_FSIZE, ulimit -f) is 65536 bytes (after 65536 bytes)"));
    assert_int_equal(cut, PL_E_SPACE);
    assert_non_null(strstr(of_truncate.text, "RLIMIT_FSIZE"));
    assert_int_equal(allocated, PL_E_SPACE);
    assert_false(sigismember(&pending, SIGXFSZ));
    assert_false(sigismember(&mask, SIGXFSZ));
    fine(storage_close(storage, &error));
}

static bool try_lock(struct storage *storage, enum storage_lock kind, int64_t offset, int64_t bytes)
{
    bool locked = false;
    fine(storage_try_lock(storage, kind, offset, bytes, &locked, &error));
    return locked;
}

static void spans(void **state)
{
    (void)state;
    struct storage *one = open_flags(O_RDWR | O_CREAT), *two = open_flags(O_RDWR);
    assert_true(try_lock(one, STORAGE_EXCLUSIVE, 0, 100));
    assert_false(try_lock(one, STORAGE_EXCLUSIVE, 99, 1)); /* one storage, as if another thread asked */
    assert_false(try_lock(one, STORAGE_SHARED, 50, 1000));
    assert_false(try_lock(two, STORAGE_SHARED, 99, 1));
    assert_true(try_lock(two, STORAGE_SHARED, 100, 50));
    assert_true(try_lock(one, STORAGE_SHARED, 100, 50)); /* shared between processes */
    assert_false(try_lock(one, STORAGE_EXCLUSIVE, 150, 0) && try_lock(two, STORAGE_SHARED, INT64_MAX - 1, 1));
    fine(storage_unlock(one, 150, 0, &error));
    assert_true(try_lock(two, STORAGE_EXCLUSIVE, INT64_MAX - 1, 1));
    fine(storage_unlock(one, 0, 100, &error));
    assert_true(try_lock(two, STORAGE_EXCLUSIVE, 0, 100));
    says(storage_unlock(one, 0, 100, &error), PL_E_ARG, "this span is not locked");
    bool locked;
    says(storage_try_lock(one, STORAGE_SHARED, -1, 5, &locked, &error), PL_E_ARG, "no such span");
    says(storage_try_lock(one, STORAGE_SHARED, INT64_MAX, 5, &locked, &error), PL_E_ARG, "no such span");
    fine(storage_close(two, &error)); /* with its locks */
    assert_true(try_lock(one, STORAGE_EXCLUSIVE, 0, 100));
    fine(storage_close(one, &error));
}

static void locks_between_processes(void **state)
{
    (void)state;
    struct storage *storage = open_flags(O_RDWR | O_CREAT);
    assert_true(try_lock(storage, STORAGE_EXCLUSIVE, 10, 10));
    const pid_t child = fork();
    if (child == 0) {
        struct storage *own = NULL;
        bool held = true, free_one = false;
        const bool fair = storage_open(path, O_RDWR, 0, &own, &error) == PL_OK &&
                          storage_try_lock(own, STORAGE_EXCLUSIVE, 19, 1, &held, &error) == PL_OK &&
                          storage_try_lock(own, STORAGE_EXCLUSIVE, 20, 1, &free_one, &error) == PL_OK;
        _exit(fair && !held && free_one ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    fine(storage_close(storage, &error));
}

static void faults_of_locks(void **state)
{
    (void)state;
    bool locked = true;
    struct storage *storage = open_plan("lock:1=ENOLCK lock:2=EINVAL lock:3=EIO lock:4=EAGAIN lock:5=EINTR lock:7=EIO");
    says(storage_try_lock(storage, STORAGE_SHARED, 0, 10, &locked, &error), PL_E_UNSUPPORTED,
         "locking bytes 0 to 9 of");
    says(storage_try_lock(storage, STORAGE_SHARED, 0, 10, &locked, &error), PL_E_UNSUPPORTED, "Invalid argument");
    says(storage_try_lock(storage, STORAGE_SHARED, 0, 10, &locked, &error), PL_E_IO, "locking");
    assert_false(try_lock(storage, STORAGE_EXCLUSIVE, 0, 10));
    assert_true(try_lock(storage, STORAGE_EXCLUSIVE, 0, 10));
    says(storage_unlock(storage, 0, 10, &error), PL_E_IO, "unlocking");
    assert_true(try_lock(storage, STORAGE_EXCLUSIVE, 0, 10)); /* it is free all the same */
    fine(storage_close(storage, &error));
}

enum { THREADS = 4, ROUNDS = 2000 };
static struct storage *shared_storage;
static int64_t inside, counter, trouble;

static void *count_locked(void *nothing)
{
    struct pl_error own;
    for (int i = 0; i < ROUNDS; i++) {
        bool locked = false;
        while (!locked)
            if (storage_try_lock(shared_storage, STORAGE_EXCLUSIVE, i % 3, 10, &locked, &own) != PL_OK)
                return nothing;
        if (__atomic_add_fetch(&inside, 1, __ATOMIC_RELAXED) != 1)
            __atomic_add_fetch(&trouble, 1, __ATOMIC_RELAXED);
        counter++;
        __atomic_sub_fetch(&inside, 1, __ATOMIC_RELAXED);
        storage_unlock(shared_storage, i % 3, 10, &own);
    }
    return nothing;
}

static void locks_between_threads(void **state)
{
    (void)state;
    shared_storage = open_flags(O_RDWR | O_CREAT);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_locked, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(trouble, 0);
    assert_int_equal(counter, THREADS * ROUNDS);
    fine(storage_close(shared_storage, &error));
}

static void standard_output_stays_free(void **state)
{
    (void)state;
    const int saved = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    struct storage *storage = open_flags(O_RDWR | O_CREAT);
    struct stat facts;
    const int outcome = fstat(STDIN_FILENO, &facts);
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
    assert_int_equal(outcome, -1);
    fine(storage_write(storage, 0, "x", 1, NULL, &error));
    fine(storage_close(storage, &error));
}

#define PLAIN(test) cmocka_unit_test_setup_teardown(test, make_path, clean_up)
#define WITH(test, plan, number)                                                                                       \
    {                                                                                                                  \
#test number, test, make_path, clean_up, (void *)(plan)                                                        \
    }

int main(void)
{
    static const char shorts[] = "pread:*=short pwrite:*=short";
    static const char signals[] = "pread:?0.5=EINTR pwrite:?0.5=EINTR seed=1";
    static const char naps[] = "pread:1=EAGAIN pwrite:1=EAGAIN pwrite:2=EAGAIN pread:2=short pwrite:3=short";
    const struct CMUnitTest tests[] = {
        PLAIN(prefixes),
        PLAIN(registry),
        PLAIN(opening),
        WITH(there_and_back, NULL, ""),
        WITH(there_and_back, shorts, " in short transfers"),
        WITH(there_and_back, signals, " interrupted by signals"),
        WITH(there_and_back, naps, " after naps"),
        PLAIN(append_is_ignored),
        WITH(vectors, NULL, ""),
        WITH(vectors, shorts, " in short transfers"),
        WITH(vectors, signals, " interrupted by signals"),
        PLAIN(beyond_one_call),
        PLAIN(large_offsets),
        PLAIN(faults_of_transfers),
        PLAIN(faults_of_other_calls),
        PLAIN(sizes),
        PLAIN(room_by_hand),
        PLAIN(limit_of_file_size),
        PLAIN(spans),
        PLAIN(locks_between_processes),
        PLAIN(faults_of_locks),
        PLAIN(locks_between_threads),
        PLAIN(standard_output_stays_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
