/* piolet-kernel: one pattern of calls, in blocks, started by `piolet bench trace` with and without a tracer. A program
 * of its own, so that a trace holds its calls and nothing else. Arguments: pattern, blocks, file to access, file for
 * the report of rank 0: calls of all ranks, nanoseconds a call in the median block of the slowest rank, nanoseconds of
 * MPI_Finalize. Accesses have no bytes, so that the MPI-IO itself takes as little time as it can, but for the pattern
 * `written`: each rank has a MiB of the file to itself. */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 1000 }; /* of a block */

static MPI_File file;
static char data[1024];
static uint64_t state = 20261115;
static int rank, size;

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
    MPI_File_write_at(file, ((int64_t)rank * 1024 + i % 1024) * 1024, data, 1024, MPI_BYTE, MPI_STATUS_IGNORE);
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

static int kernel_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const struct pattern *find_pattern(const char *name)
{
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        if (strcmp(patterns[i].name, name) == 0)
            return &patterns[i];
    return NULL;
}

static int kernel_fail(const char *why)
{
    fprintf(stderr, "piolet-kernel: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank); /* by names that no tracer counts */
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    const struct pattern *pattern = argc == 5 ? find_pattern(argv[1]) : NULL;
    const int blocks = argc == 5 ? atoi(argv[2]) : 0;
    if (!pattern || blocks <= 0)
        return kernel_fail("wants a pattern, a number of blocks, a file and a report");
    if (MPI_File_open(MPI_COMM_WORLD, argv[3], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS)
        return kernel_fail("cannot open its file");
    double *ns = calloc((size_t)blocks, sizeof *ns);
    if (!ns)
        return kernel_fail("not enough memory");
    int64_t done = 0;
    PMPI_Barrier(MPI_COMM_WORLD); /* all measure at the same time */
    for (int block = 0; block < blocks; block++) {
        const double begin = now_ns();
        for (int i = 0; i < CALLS; i++)
            pattern->call(done++);
        ns[block] = (now_ns() - begin) / CALLS;
    }
    MPI_File_close(&file);
    qsort(ns, (size_t)blocks, sizeof *ns, kernel_compare);
    const double median = ns[blocks / 2];
    double slowest = median;
    free(ns);
    PMPI_Reduce(&median, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    const double begin = now_ns();
    MPI_Finalize();
    const double end = now_ns() - begin;
    if (rank != 0)
        return 0;
    FILE *report = fopen(argv[4], "w");
    const int written = report ? fprintf(report, "%lld %.3f %.0f\n", (long long)done * size, slowest, end) : -1;
    return written > 0 && fclose(report) == 0 ? 0 : 1;
}
