/* libpiolet-logger.so: the least that a tracer can do, for `piolet bench trace` to measure ours against. For the calls
 * of kernel.c, a record of numbers with two times, written when a buffer is full. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): names of ours for functions of others */
#include <mpi.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { RECORDS = 8192 };

static struct record {
    uint32_t function, bytes;
    int64_t offset, begin_ns, end_ns;
} records[RECORDS];
static int count, fd = -1;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1000000000 * (int64_t)now.tv_sec + now.tv_nsec;
}

static void *logger_next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

static void logger_flush(void)
{
    if (fd < 0 && getenv("PIOLET_TRACE_DIR")) {
        char path[4096];
        int rank = 0;
        ((int (*)(MPI_Comm, int *))logger_next("PMPI_Comm_rank"))(MPI_COMM_WORLD, &rank);
        snprintf(path, sizeof path, "%s/trace.%d", getenv("PIOLET_TRACE_DIR"), rank);
        fd = open(path, O_WRONLY | O_CREAT, 0666);
    }
    if (fd < 0 || write(fd, records, (size_t)count * sizeof records[0]) < 0)
        abort();
    count = 0;
}

static void logger_keep(uint32_t function, int64_t offset, int bytes, int64_t begin_ns)
{
    if (count == RECORDS)
        logger_flush();
    records[count++] = (struct record){function, (uint32_t)bytes, offset, begin_ns, now_ns()};
}

#define WRAP(number, name, parameters, arguments, offset, bytes)                                                       \
    int MPI_##name parameters                                                                                          \
    {                                                                                                                  \
        static __typeof__(&PMPI_##name) real;                                                                          \
        if (!real)                                                                                                     \
            real = logger_next("PMPI_" #name);                                                                         \
        const int64_t begin = now_ns();                                                                                \
        const int code = real arguments;                                                                               \
        logger_keep(number, offset, bytes, begin);                                                                     \
        return code;                                                                                                   \
    }

WRAP(1, File_write_at, (MPI_File fh, MPI_Offset offset, const void *buf, int n, MPI_Datatype type, MPI_Status *status),
     (fh, offset, buf, n, type, status), offset, n)
WRAP(2, File_read_at, (MPI_File fh, MPI_Offset offset, void *buf, int n, MPI_Datatype type, MPI_Status *status),
     (fh, offset, buf, n, type, status), offset, n)
WRAP(3, File_read, (MPI_File fh, void *buf, int n, MPI_Datatype type, MPI_Status *status), (fh, buf, n, type, status),
     -1, n)
WRAP(4, Barrier, (MPI_Comm comm), (comm), -1, -1)

int MPI_Finalize(void)
{
    logger_flush();
    return ((int (*)(void))logger_next("PMPI_Finalize"))();
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
