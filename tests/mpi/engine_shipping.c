/* Data shipping and partitioned files: engine_shipping FILE SCENE. Called by engine_shipping.sh; needs the engine. */
#include <mpi.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "piolet/mpiio.h"

enum { BLOCK = 256 * 1024, RECORD = 1000 };

static int rank, ranks, failures;
static const char *path;

static void complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "rank %d: ", rank);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    failures++;
}

static void well(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    complain("%s: %s", what, text);
}

static void *function(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    if (!symbol) {
        fprintf(stderr, "%s is not there\n", name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return symbol;
}

#define LOOK_UP(pointer, name)                                                                                         \
    do {                                                                                                               \
        void *symbol = function(name);                                                                                 \
        memcpy(&(pointer), &symbol, sizeof(pointer));                                                                  \
    } while (0)

static struct piolet_counters counters(MPI_File file)
{
    piolet_counters_function *ask;
    struct piolet_counters values;
    LOOK_UP(ask, "piolet_counters");
    well(ask(file, &values, sizeof values), "piolet_counters");
    return values;
}

static MPI_File open_file(int mode, const char *key, const char *value)
{
    MPI_Info info;
    MPI_File file = MPI_FILE_NULL;
    MPI_Info_create(&info);
    if (!(key && strcmp(key, "piolet_strategy") == 0))
        MPI_Info_set(info, "piolet_strategy", "shipping");
    if (key)
        MPI_Info_set(info, key, value);
    well(MPI_File_open(MPI_COMM_WORLD, path, mode | MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file), "open");
    MPI_Info_free(&info);
    if (file == MPI_FILE_NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return file;
}

static void expect_info(MPI_File file, const char *key, const char *begin)
{
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL] = "(none)";
    int found;
    MPI_File_get_info(file, &info);
    MPI_Info_get(info, key, sizeof value - 1, value, &found);
    MPI_Info_free(&info);
    if (strncmp(value, begin, strlen(begin)) != 0)
        complain("%s is '%s', not '%s…'", key, value, begin);
}

/* Two on each node. */
static int usual_agents(void)
{
    const char *text = getenv("PIOLET_NODE_RANKS");
    const int each = text ? atoi(text) : ranks, nodes = (ranks + each - 1) / each;
    return ranks < 2 * nodes ? ranks : 2 * nodes;
}

/* ---- data: byte i of record n of a file is known ---- */

static char byte_of(int64_t offset, int turn)
{
    return (char)((offset * 7 + offset / 251 + turn * 13) % 255 + 1);
}

static int try_record(MPI_File file, int64_t offset, int bytes, int turn)
{
    char *data = malloc((size_t)bytes);
    for (int i = 0; i < bytes; i++)
        data[i] = byte_of(offset + i, turn);
    const int code = MPI_File_write_at(file, offset, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    free(data);
    return code;
}

static void write_record(MPI_File file, int64_t offset, int bytes, int turn)
{
    well(try_record(file, offset, bytes, turn), "write_at");
}

static void check_record(MPI_File file, int64_t offset, int bytes, int turn)
{
    char *data = calloc(1, (size_t)bytes);
    well(MPI_File_read_at(file, offset, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE), "read_at");
    for (int i = 0; i < bytes; i++)
        if (data[i] != byte_of(offset + i, turn)) {
            complain("byte %lld is wrong", (long long)offset + i);
            break;
        }
    free(data);
}

/* Rank r writes records r, r + ranks, …: every block is shared by all ranks. */
static int64_t write_all_records(MPI_File file, int count, int turn)
{
    for (int i = rank; i < count; i += ranks)
        write_record(file, (int64_t)i * RECORD, RECORD, turn);
    return (int64_t)count * RECORD;
}

static void check_plain(int64_t bytes, int turn)
{
    const int fd = open(path, O_RDONLY);
    char *data = malloc((size_t)bytes);
    const ssize_t got = pread(fd, data, (size_t)bytes, 0);
    if (got != bytes)
        complain("the file has %lld of %lld bytes", (long long)got, (long long)bytes);
    for (ssize_t i = 0; i < got; i++)
        if (data[i] != byte_of(i, turn)) {
            complain("byte %lld of the file is wrong", (long long)i);
            break;
        }
    free(data);
    close(fd);
}

/* ---- scenes ---- */

static bool exists(const char *name)
{
    struct stat facts;
    return stat(name, &facts) == 0;
}

/* Rank 0 computes, and calls nothing of MPI, until rank 1 has read and written blocks of rank 0's agent. */
static void busy(void)
{
    char sign[4200];
    MPI_File file = open_file(0, "cb_nodes", "1"); /* the only agent is rank 0's */
    expect_info(file, "piolet_shipping", "on: 1 agents, parts of 4194304 bytes");
    snprintf(sign, sizeof sign, "%s.sign", path);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        const time_t begin = time(NULL);
        volatile double sum = 0;
        for (long i = 0; !exists(sign) && time(NULL) - begin < 60; i++)
            sum += (double)i;
        if (!exists(sign))
            complain("the agent does nothing while its program computes");
    } else if (rank == 1) {
        for (int i = 0; i < 20; i++)
            write_record(file, (int64_t)i * BLOCK / 2 + 5, BLOCK, 3);
        check_record(file, 19 * BLOCK / 2 + 5, BLOCK, 3);
        const int fd = open(sign, O_CREAT | O_WRONLY, 0666);
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        const struct piolet_counters seen = counters(file);
        unlink(sign);
        if (seen.agent_requests < 20 || seen.agent_writes < 20)
            complain("the agent has served %lld requests by %lld writes", seen.agent_requests, seen.agent_writes);
    }
    MPI_File_close(&file);
}

/* The script looks at who wrote what. Independent, collective and non-blocking access, small and large. */
static void owner(void)
{
    const int count = 3 * BLOCK / RECORD;
    MPI_File file = open_file(0, "IBM_io_buffer_size", "1"); /* one block */
    MPI_Datatype type;
    int64_t bytes = write_all_records(file, count, 1);
    MPI_Type_vector(64, RECORD, RECORD * ranks, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    char *data = malloc((size_t)64 * RECORD);
    MPI_Barrier(MPI_COMM_WORLD);
    well(MPI_File_set_view(file, (MPI_Offset)rank * RECORD, MPI_BYTE, type, "native", MPI_INFO_NULL), "set_view");
    for (int i = 0; i < 64 * RECORD; i++)
        data[i] = byte_of((int64_t)(i / RECORD * ranks + rank) * RECORD + i % RECORD, 1);
    well(MPI_File_write_at_all(file, 0, data, 64 * RECORD, MPI_BYTE, MPI_STATUS_IGNORE), "write_at_all");
    MPI_Request request;
    well(MPI_File_iwrite_at_all(file, 0, data, 64 * RECORD, MPI_BYTE, &request), "iwrite_at_all");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    well(MPI_File_iwrite_at(file, 0, data, 64 * RECORD, MPI_BYTE, &request), "iwrite_at");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    well(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "set_view");
    const struct piolet_counters seen = counters(file);
    if (seen.shipped_bytes < bytes / ranks)
        complain("only %lld bytes were shipped", seen.shipped_bytes);
    MPI_File_close(&file);
    if (64 * RECORD * ranks > bytes)
        bytes = (int64_t)64 * RECORD * ranks;
    if (rank == 0)
        check_plain(bytes, 1);
    MPI_Type_free(&type);
    free(data);
}

static void set_hint(MPI_File file, const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    well(MPI_File_set_info(file, info), "set_info");
    MPI_Info_free(&info);
}

/* What get_info says, and the stripe that changes while the file is open. */
static void info(void)
{
    MPI_File file = open_file(0, NULL, NULL);
    expect_info(file, "piolet_shipping", "on: ");
    expect_info(file, "piolet_strategy_read", "shipping");
    set_hint(file, "IBM_largeblock_io", "true");
    expect_info(file, "piolet_shipping", "off: IBM_largeblock_io is true");
    write_record(file, (int64_t)rank * RECORD, RECORD, 2);
    set_hint(file, "IBM_largeblock_io", "false");
    expect_info(file, "piolet_shipping", "on: ");
    set_hint(file, "IBM_io_buffer_size", "300000"); /* two blocks */
    char begin[60];
    snprintf(begin, sizeof begin, "on: %d agents, parts of %d bytes", usual_agents(), 2 * BLOCK);
    expect_info(file, "piolet_shipping", begin);
    check_record(file, (int64_t)rank * RECORD, RECORD, 2);
    well(MPI_File_set_atomicity(file, 1), "set_atomicity");
    expect_info(file, "piolet_shipping", "off: the file is in atomic mode");
    write_record(file, (int64_t)rank * RECORD, RECORD, 3);
    well(MPI_File_set_atomicity(file, 0), "set_atomicity");
    expect_info(file, "piolet_shipping", "on: ");
    set_hint(file, "piolet_strategy", "independent");
    expect_info(file, "piolet_shipping", "off: the strategy is another one");
    check_record(file, (int64_t)rank * RECORD, RECORD, 3);
    MPI_File_close(&file);
}

static void expect_size(MPI_File file, int64_t bytes)
{
    MPI_Offset size = -1, end = -1;
    well(MPI_File_get_size(file, &size), "get_size");
    well(MPI_File_seek(file, 0, MPI_SEEK_END), "seek");
    well(MPI_File_get_position(file, &end), "get_position");
    if (size != bytes || end != bytes)
        complain("the size is %lld, its end %lld, not %lld", (long long)size, (long long)end, (long long)bytes);
}

/* Partitioned by its mode: what agents hold counts, is seen by all, and is in the file when it must be. */
static void partition(void)
{
    const int count = 5 * BLOCK / RECORD;
    MPI_File file = open_file(MPI_MODE_UNIQUE_OPEN, "IBM_io_buffer_size", "1");
    char begin[60];
    snprintf(begin, sizeof begin, "on: %d agents, parts of %d bytes, partitioned", usual_agents(), BLOCK);
    expect_info(file, "piolet_shipping", begin);
    const int64_t bytes = write_all_records(file, count, 4);
    MPI_Barrier(MPI_COMM_WORLD);
    expect_size(file, bytes);
    check_record(file, 0, (int)bytes, 4);
    well(MPI_File_sync(file), "sync");
    if (rank == 0)
        check_plain(bytes, 4);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == ranks - 1) /* far behind the end: what lies between is zeros for all */
        write_record(file, bytes + 20 * BLOCK, 10, 4);
    MPI_Barrier(MPI_COMM_WORLD);
    char zeros[100];
    memset(zeros, 1, sizeof zeros);
    well(MPI_File_read_at(file, bytes + 7 * BLOCK + rank, zeros, 100, MPI_BYTE, MPI_STATUS_IGNORE), "read_at");
    for (int i = 0; i < 100; i++)
        if (zeros[i] != 0) {
            complain("byte %d of a gap is %d", i, zeros[i]);
            break;
        }
    expect_size(file, bytes + 20 * BLOCK + 10);
    well(MPI_File_set_size(file, bytes - 1), "set_size");
    expect_size(file, bytes - 1);
    well(MPI_File_set_size(file, bytes), "set_size");
    char last = 1;
    well(MPI_File_read_at(file, bytes - 1, &last, 1, MPI_BYTE, MPI_STATUS_IGNORE), "read_at");
    if (last != 0)
        complain("a byte that was cut off comes back");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        write_record(file, bytes - 1, 1, 4);
    const struct piolet_counters seen = counters(file);
    if (rank == 0 && (seen.cached_hits == 0 || seen.cached_writes == 0 || seen.agent_writes > 0))
        complain("%lld hits, %lld late writes, %lld at once", seen.cached_hits, seen.cached_writes, seen.agent_writes);
    well(MPI_File_close(&file), "close");
    if (rank == 0)
        check_plain(bytes, 4);
}

/* start, map, stop; what is wrong is refused on all ranks. */
static void functions(void)
{
    piolet_partition_start_function *start;
    piolet_partition_map_function *map;
    piolet_partition_stop_function *stop;
    LOOK_UP(start, "piolet_partition_start");
    LOOK_UP(map, "piolet_partition_map");
    LOOK_UP(stop, "piolet_partition_stop");
    const int count = 5 * BLOCK / RECORD, odd[] = {ranks - 1, 0, 0}, wrong[] = {0, ranks};
    char begin[60];
    MPI_File file = open_file(0, "piolet_strategy", "auto");
    if (stop(file) == MPI_SUCCESS || map(file, 0, 0, NULL) == MPI_SUCCESS)
        complain("what was not started is stopped, or mapped");
    well(start(file), "start");
    snprintf(begin, sizeof begin, "on: %d agents, parts of %d bytes, partitioned", ranks, BLOCK);
    expect_info(file, "piolet_shipping", begin);
    write_all_records(file, count / 2, 5);
    well(map(file, 2 * BLOCK - 1, 3, odd), "map");
    snprintf(begin, sizeof begin, "on: %d agents, parts of %d bytes, partitioned", ranks > 1 ? 2 : 1, 2 * BLOCK);
    expect_info(file, "piolet_shipping", begin);
    if (map(file, 0, 2, wrong) == MPI_SUCCESS || map(file, -1, 0, NULL) == MPI_SUCCESS)
        complain("a wrong map is taken");
    if (ranks > 1 && map(file, (int64_t)(rank + 1) * BLOCK, 0, NULL) == MPI_SUCCESS)
        complain("a map that differs between ranks is taken");
    expect_info(file, "piolet_shipping", begin);
    const int64_t bytes = write_all_records(file, count, 5);
    well(stop(file), "stop");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        check_plain(bytes, 5);
    expect_info(file, "piolet_strategy", "auto");
    expect_info(file, "piolet_shipping", "off: ");
    if (stop(file) == MPI_SUCCESS)
        complain("it is stopped twice");
    well(start(file), "start again");
    MPI_Barrier(MPI_COMM_WORLD);
    write_all_records(file, count, 6);
    well(MPI_File_close(&file), "close"); /* stops it */
    if (rank == 0)
        check_plain(bytes, 6);
}

/* Under a plan that lets all writes fail: nobody hears of it before the file is synchronised, and then all do. */
static void lost(void)
{
    MPI_File file = open_file(MPI_MODE_UNIQUE_OPEN, NULL, NULL);
    write_all_records(file, 100, 7);
    if (MPI_File_sync(file) == MPI_SUCCESS)
        complain("sync succeeds although nothing could be written");
    if (MPI_File_sync(file) == MPI_SUCCESS)
        complain("the second sync succeeds although nothing could be written");
    expect_size(file, 100 * RECORD);
    check_record(file, 0, 100 * RECORD, 7); /* they are still there */
    if (MPI_File_set_size(file, 5) == MPI_SUCCESS)
        complain("set_size succeeds although nothing could be written");
    if (MPI_File_close(&file) == MPI_SUCCESS)
        complain("close succeeds although nothing could be written");
}

/* Under a plan that lets some writes fail: what failed late is written later; what failed at once was told at once. */
static void retried(void)
{
    const int count = 60 * BLOCK / RECORD; /* more than agents keep in memory */
    MPI_File file = open_file(MPI_MODE_UNIQUE_OPEN, "IBM_io_buffer_size", "1");
    const int64_t bytes = (int64_t)count * RECORD;
    for (int i = rank; i < count; i += ranks)
        for (int tries = 0; tries < 50 && try_record(file, (int64_t)i * RECORD, RECORD, 8) != MPI_SUCCESS; tries++)
            ;
    for (int i = 0; i < 100 && MPI_File_sync(file) != MPI_SUCCESS; i++)
        ;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        check_plain(bytes, 8);
    MPI_File_close(&file);
}

/* A program that forgets to close its file: agents serve until all ranks have come to the end of MPI. */
static MPI_File forgotten_file = MPI_FILE_NULL;

static void forgotten(void)
{
    forgotten_file = open_file(0, "cb_nodes", "1");
}

static void write_forgotten(void)
{
    const struct timespec pause = {.tv_nsec = 200000000};
    if (forgotten_file == MPI_FILE_NULL || rank == 0)
        return;
    nanosleep(&pause, NULL); /* rank 0, which has the agent, is in MPI_Finalize */
    for (int i = 0; i < 20; i++)
        write_record(forgotten_file, (int64_t)i * BLOCK + rank, RECORD, 9);
}

/* Of several nodes without MPI_THREAD_MULTIPLE: visibly off, and right all the same. */
static void off(void)
{
    const int count = 3 * BLOCK / RECORD;
    MPI_File file = open_file(0, NULL, NULL);
    expect_info(file, "piolet_shipping",
                "off: the ranks are on several nodes, and the MPI was not initialised with MPI_THREAD_MULTIPLE");
    const int64_t bytes = write_all_records(file, count, 1);
    MPI_File_close(&file);
    if (rank == 0)
        check_plain(bytes, 1);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenes[] = {{"busy", busy},           {"owner", owner},         {"info", info},
                  {"partition", partition}, {"functions", functions}, {"lost", lost},
                  {"retried", retried},     {"forgotten", forgotten}, {"off", off}};
    int sum = 0;
    bool known = false;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t i = 0; argc == 3 && i < sizeof scenes / sizeof *scenes; i++) {
        if (strcmp(argv[2], scenes[i].name) != 0)
            continue;
        known = true;
        path = argv[1];
        scenes[i].run();
    }
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && known && sum == 0)
        printf("%d ranks: %s is right\n", ranks, argv[2]);
    if (rank == 0 && path)
        unlink(path);
    write_forgotten();
    MPI_Finalize();
    return known && sum == 0 && failures == 0 ? 0 : 1;
}
