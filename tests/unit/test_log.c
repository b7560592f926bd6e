/* The engine's log: what is asked for is there, nothing else, and trouble with the log is no trouble of the program.
 * proves: GPFS-7
 * It would fail if an error or a wanted access were missing, if accesses below the given offset came too, if two opens
 * or an agent shared a file, if lines of threads were mixed, if a log that cannot be written did any
 * harm, or if it were appended to a pipe, a link or another's file of its name. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/log/log.h"

enum { LINES_MAX = 9000 };
static char folder[64];
static char *lines[LINES_MAX];
static int line_count;

static void forget_lines(void)
{
    while (line_count > 0)
        free(lines[--line_count]);
}

static int begin(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "test_log.%d.tmp", (int)getpid());
    unsetenv("PIOLET_LOG");
    unsetenv("PIOLET_LOG_ABOVE");
    setenv("PIOLET_LOG_DIR", folder, 1);
    return mkdir(folder, 0700);
}

/* Calls visit for each file of the folder; how many there are. */
static int each_file(void (*visit)(const char *path))
{
    int count = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char path[512];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        visit(path);
        count++;
    }
    if (directory)
        closedir(directory);
    return count;
}

static void read_lines(const char *path)
{
    FILE *stream = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    while (stream && getline(&line, &capacity, stream) > 0 && line_count < LINES_MAX) {
        line[strcspn(line, "\n")] = '\0';
        lines[line_count++] = strdup(line);
    }
    free(line);
    if (stream)
        fclose(stream);
}

static void remove_file(const char *path)
{
    unlink(path);
}

static int end(void **state)
{
    (void)state;
    forget_lines();
    each_file(remove_file);
    return rmdir(folder);
}

static int load(void)
{
    forget_lines();
    return each_file(read_lines);
}

/* The line without its time, which must be a number with 6 decimals. */
static const char *behind_time(const char *line)
{
    char *rest;
    strtod(line, &rest);
    assert_true(rest > line + 7 && rest[-7] == '.' && *rest == '\t');
    return rest + 1;
}

static const char COLUMNS[] = "time_s\tfunction\toffset\tbytes\tdone\tparameters\tcode\terror";

static void access_at(struct log *log, int64_t offset, int64_t bytes)
{
    log_call(log, &(struct log_call){.function = "MPI_File_read_at",
                                     .offset = offset,
                                     .bytes = bytes,
                                     .done = bytes,
                                     .parameters = "count 1, datatype MPI_INT"});
}

static void fail_at(struct log *log, int64_t offset)
{
    struct pl_error error;
    pl_fail(&error, PL_E_IO, "reading 8 bytes at byte %d of 'a\tb': no\nway", (int)offset);
    log_call(log,
             &(struct log_call){
                 .function = "MPI_File_read_at", .offset = offset, .bytes = 8, .done = 0, .code = 32, .error = &error});
}

static void nothing_by_default(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_null(log_open(1, 0, "x"));
        setenv("PIOLET_LOG", "", 1);
    }
    assert_false(log_wants_access(NULL, 0, 1));
    access_at(NULL, 0, 1);
    assert_null(log_open_agent(NULL, 0));
    log_close(NULL);
    assert_int_equal(load(), 0);
}

static void errors_only(void **state)
{
    (void)state;
    setenv("PIOLET_LOG", "errors", 1);
    struct log *log = log_open(0xabcdef0123456789, 7, "/scratch/some dir/my file\n.dat");
    assert_non_null(log);
    assert_false(log_wants_access(log, 0, 1));
    access_at(log, 0, 8);
    fail_at(log, 4096);
    log_call(log, &(struct log_call){.function = "MPI_File_sync", .offset = -1, .bytes = -1, .done = -1, .code = 5});
    log_close(log);
    assert_int_equal(load(), 1);
    assert_int_equal(line_count, 3);
    assert_string_equal(lines[0], COLUMNS);
    assert_string_equal(behind_time(lines[1]), "MPI_File_read_at\t4096\t8\t0\t-\t32\treading 8 bytes at byte 4096 of "
                                               "'a\\tb': no\\nway");
    assert_string_equal(behind_time(lines[2]), "MPI_File_sync\t-\t-\t-\t-\t5\t-");
}

static void names(void **state)
{
    (void)state;
    setenv("PIOLET_LOG", "errors", 1);
    struct log *one = log_open(0xabc, 7, "/scratch/my file\n.dat"), *two = log_open(0xabc, 7, "/scratch/my file\n.dat");
    struct log *agent = log_open_agent(one, 3);
    fail_at(agent, 1);
    log_close(agent);
    log_close(one);
    log_close(two);
    assert_int_equal(load(), 3);
    assert_int_equal(line_count, 4);
    int found = 0;
    char path[256];
    for (int sequence = 0; sequence < 20; sequence++) { /* it counts the opens of the process, also those before */
        snprintf(path, sizeof path, "%s/piolet-log.abc.7.%d.my_file_.dat", folder, sequence);
        if (access(path, F_OK) != 0)
            continue;
        strcat(path, ".agent3");
        found += access(path, F_OK) == 0 ? 10 : 1;
    }
    assert_int_equal(found, 11);
}

static void all_accesses(void **state)
{
    (void)state;
    setenv("PIOLET_LOG", "all", 1);
    struct log *log = log_open(1, 0, "x");
    assert_true(log_wants_access(log, 0, 0));
    access_at(log, 0, 0);
    access_at(log, INT64_MAX - 4, 4);
    log_call(log, &(struct log_call){.function = "MPI_File_open", .offset = -1, .bytes = -1, .done = -1});
    log_close(log);
    load();
    assert_int_equal(line_count, 4);
    assert_string_equal(behind_time(lines[2]),
                        "MPI_File_read_at\t9223372036854775803\t4\t4\tcount 1, datatype MPI_INT\t0\t-");
}

static void above_an_offset(void **state)
{
    (void)state;
    setenv("PIOLET_LOG", "all", 1);
    setenv("PIOLET_LOG_ABOVE", "1k", 1);
    struct log *log = log_open(1, 0, "x");
    assert_true(log_wants_access(log, -1, -1));
    assert_false(log_wants_access(log, 0, 1024));
    assert_true(log_wants_access(log, 0, 1025));
    assert_false(log_wants_access(log, 1024, 0));
    assert_true(log_wants_access(log, 1024, 1));
    assert_true(log_wants_access(log, INT64_MAX - 1, 1));
    access_at(log, 1000, 10);
    access_at(log, 1020, 10);
    fail_at(log, 5);
    log_close(log);
    load();
    assert_int_equal(line_count, 3);
    assert_true(strncmp(behind_time(lines[1]), "MPI_File_read_at\t1020\t", 22) == 0);
    assert_non_null(strstr(lines[2], "\t32\treading 8 bytes at byte 5"));
}

/* Runs `act` with stderr in a file of the folder, which is then read. */
static void hear(void (*act)(void))
{
    char path[128];
    snprintf(path, sizeof path, "%s/stderr", folder);
    fflush(stderr);
    const int saved = dup(STDERR_FILENO);
    FILE *stream = freopen(path, "w", stderr);
    act();
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    assert_non_null(stream);
    forget_lines();
    read_lines(path);
    unlink(path);
}

static void open_wrongly(void)
{
    setenv("PIOLET_LOG", "everything", 1);
    struct log *logs[] = {log_open(1, 1, "x"), log_open(1, 0, "x"), log_open(1, 0, "x")};
    setenv("PIOLET_LOG", "all", 1);
    setenv("PIOLET_LOG_ABOVE", "much", 1);
    struct log *other = log_open(1, 0, "x");
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++)
        assert_null(logs[i]);
    assert_null(other);
}

static void wrong_settings(void **state)
{
    (void)state;
    hear(open_wrongly);
    assert_int_equal(line_count, 1);
    assert_string_equal(lines[0], "piolet: PIOLET_LOG is 'everything'; allowed: errors, all; nothing is logged");
    assert_int_equal(load(), 0);
}

static void fill_up(void)
{
    setenv("PIOLET_LOG", "all", 1);
    struct log *log = log_open(1, 5, "x");
    assert_non_null(log);
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 1000, .rlim_max = before.rlim_max});
    for (int i = 0; i < 100; i++)
        access_at(log, 0, 8);
    const bool wants = log_wants_access(log, 0, 8);
    setrlimit(RLIMIT_FSIZE, &before);
    log_close(log);
    assert_false(wants);
    setenv("PIOLET_LOG_DIR", "/no/such/folder", 1);
    assert_null(log_open(1, 5, "x"));
}

static void trouble_with_the_log(void **state)
{
    (void)state;
    hear(fill_up);
    assert_int_equal(line_count, 1); /* and SIGXFSZ did not end us */
    assert_non_null(strstr(lines[0], "piolet: rank 5: the log 'test_log."));
    assert_non_null(strstr(lines[0], "cannot be written and is given up: File too large"));
}

enum { THREADS = 4, CALLS = 2000 };

static void *log_often(void *log)
{
    for (int i = 0; i < CALLS; i++)
        access_at(log, i, 8);
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    setenv("PIOLET_LOG", "all", 1);
    struct log *log = log_open(1, 0, "x");
    pthread_t workers[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&workers[i], NULL, log_often, log), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i], NULL);
    log_close(log);
    load();
    assert_int_equal(line_count, 1 + THREADS * CALLS);
    int64_t sum = 0;
    for (int i = 1; i < line_count; i++) {
        int offset = -1;
        assert_int_equal(
            sscanf(behind_time(lines[i]), "MPI_File_read_at\t%d\t8\t8\tcount 1, datatype MPI_INT\t0\t-", &offset), 1);
        sum += offset;
    }
    assert_true(sum == (int64_t)THREADS * CALLS * (CALLS - 1) / 2);
}

/* The name of the next log: they are numbered. */
static void next_name(char *ret_path, size_t size)
{
    static int64_t sequence = -1;
    struct log *log = log_open(1, 7, "seen");
    assert_non_null(log);
    log_close(log);
    for (sequence++;; sequence++) {
        snprintf(ret_path, size, "%s/piolet-log.1.7.%lld.seen", folder, (long long)sequence);
        if (access(ret_path, F_OK) == 0)
            break;
    }
    unlink(ret_path);
    snprintf(ret_path, size, "%s/piolet-log.1.7.%lld.x", folder, (long long)++sequence);
}

static void put_file(const char *path)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs("precious", stream);
    fclose(stream);
}

/* Whatever stands under the name of the next log already: no log, and it stays as it is. */
static void taken_names(void **state)
{
    (void)state;
    char path[512], other[512];
    struct stat facts;
    setenv("PIOLET_LOG", "all", 1);
    snprintf(other, sizeof other, "%s/other", folder);
    for (int kind = 0; kind < 5; kind++) {
        next_name(path, sizeof path);
        put_file(other);
        int reader = -1;
        if (kind == 0 || kind == 1) { /* a pipe, with nobody and with somebody who reads it */
            assert_int_equal(mkfifo(path, 0600), 0);
            reader = kind == 1 ? open(path, O_RDONLY | O_NONBLOCK) : -1;
        } else if (kind == 2) {
            assert_int_equal(link(other, path), 0);
        } else if (kind == 3) {
            assert_int_equal(symlink("other", path), 0);
        } else {
            put_file(path);
            if (chown(path, 12345, (gid_t)-1) != 0) { /* only root can make another's file */
                unlink(path);
                continue;
            }
        }
        assert_null(log_open(1, 7, "x"));
        assert_int_equal(stat(kind == 4 ? path : other, &facts), 0);
        assert_int_equal(facts.st_size, 8);
        if (reader >= 0)
            close(reader);
        unlink(path);
        unlink(other);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_by_default), TEST(errors_only),          TEST(names),   TEST(all_accesses), TEST(above_an_offset),
        TEST(wrong_settings),     TEST(trouble_with_the_log), TEST(threads), TEST(taken_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
