/* What tracing adds to a call. One pattern of calls for each start of the program, in blocks; a line: pattern, calls,
 * nanoseconds a call in the median block, microseconds of MPI_Finalize. Accesses have no bytes, so that the MPI-IO
 * itself takes as little as it can, but for the pattern `written`. bench/trace starts this with and without a tracer.
 */
#include "bench.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 1000 }; /* of a block */

static MPI_File file;
static char data[1024];
static uint64_t state = 20261115;

static void call_regular(int64_t i)
{
    MPI_File_write_at(file, 8 * i, data, 0, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void call_random(int64_t i)
{
    (void)i;
    state = state * 6364136223846793005u + 1442695040888963407u;
    MPI_File_write_at(file, (MPI_Offset)(state >> 30), data, 0, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void call_pointer(int64_t i)
{
    (void)i;
    MPI_File_read(file, data, 0, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void call_written(int64_t i)
{
    MPI_File_write_at(file, (i % 1024) * 1024, data, 1024, MPI_BYTE, MPI_STATUS_IGNORE);
}

/* Ten lines of ten writes, a read, and communication. */
static void call_nested(int64_t i)
{
    const int64_t place = i % 102;
    if (place == 100)
        MPI_File_read_at(file, i, data, 0, MPI_BYTE, MPI_STATUS_IGNORE);
    else if (place == 101)
        MPI_Barrier(MPI_COMM_SELF);
    else
        MPI_File_write_at(file, i / 102 * 5000 + place / 10 * 300 + place % 10 * 8, data, 0, MPI_BYTE,
                          MPI_STATUS_IGNORE);
}

static void call_barrier(int64_t i)
{
    (void)i;
    MPI_Barrier(MPI_COMM_SELF);
}

static const struct pattern {
    const char *name;
    void (*call)(int64_t i);
} patterns[] = {
    {"regular", call_regular}, {"nested", call_nested},   {"random", call_random},
    {"pointer", call_pointer}, {"written", call_written}, {"barrier", call_barrier},
};

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const struct pattern *find(const char *name)
{
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        if (strcmp(patterns[i].name, name) == 0)
            return &patterns[i];
    bench_die("bench/trace --help tells the patterns");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc != 4)
        bench_die("wants a pattern, a number of blocks, and a file");
    const struct pattern *pattern = find(argv[1]);
    const int blocks = atoi(argv[2]);
    double *ns = calloc((size_t)blocks + 1, sizeof *ns);
    if (blocks < 1 || !ns)
        bench_die("wants at least one block");
    bench_must(MPI_File_open(MPI_COMM_SELF, argv[3], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), "open");
    int64_t done = 0;
    for (int block = 0; block < blocks; block++) {
        const double begin = now_ns();
        for (int i = 0; i < CALLS; i++)
            pattern->call(done++);
        ns[block] = (now_ns() - begin) / CALLS;
    }
    bench_must(MPI_File_close(&file), "close");
    qsort(ns, (size_t)blocks, sizeof *ns, compare);
    const double begin = now_ns();
    MPI_Finalize();
    printf("%s\t%lld\t%.1f\t%.0f\n", pattern->name, (long long)done, ns[blocks / 2], (now_ns() - begin) / 1000);
    free(ns);
    return 0;
}
