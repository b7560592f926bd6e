/* What one call costs. Contestants take turns in one process, block by block: a block is the time of many equal calls.
 * A line for each block: number of the block, contestant, call, microseconds a call. bench/calls starts this and makes
 * a table of the lines. */
#include "bench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 1024, PLACES = 1024 }; /* of a call; before it begins anew: a file of 1 MiB for each rank */

struct run {
    struct bench bench;
    MPI_File file; /* of the contestant whose turn it is */
    const struct bench_contestant *contestant;
    char buffer[BYTES];
    double block_s;
    int blocks;
};

struct call {
    const char *name;
    int (*make)(struct run *run, int i);
};

static MPI_Offset place(int i)
{
    return (MPI_Offset)(i % PLACES) * BYTES;
}

/* Calls that use a file pointer go back to the beginning before it leaves the file. */
static int rewind_at_end(struct run *run, int i)
{
    return i % PLACES == 0 ? MPI_File_seek(run->file, 0, MPI_SEEK_SET) : MPI_SUCCESS;
}

static int make_write_at(struct run *run, int i)
{
    return MPI_File_write_at(run->file, place(i), run->buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int make_read_at(struct run *run, int i)
{
    return MPI_File_read_at(run->file, place(i), run->buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int make_iwrite_at(struct run *run, int i)
{
    MPI_Request request;
    const int code = MPI_File_iwrite_at(run->file, place(i), run->buffer, BYTES, MPI_BYTE, &request);
    return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int make_write_all(struct run *run, int i)
{
    const int code = rewind_at_end(run, i);
    return code ? code : MPI_File_write_all(run->file, run->buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int make_read_all(struct run *run, int i)
{
    const int code = rewind_at_end(run, i);
    return code ? code : MPI_File_read_all(run->file, run->buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int make_open_close(struct run *run, int i)
{
    (void)i;
    MPI_File file = bench_open_coll(run->contestant);
    return MPI_File_close(&file);
}

static const struct call calls[] = {
    {"write_at", make_write_at},   {"read_at", make_read_at},   {"iwrite_at+wait", make_iwrite_at},
    {"write_all", make_write_all}, {"read_all", make_read_all}, {"open+close", make_open_close},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* How many calls fill a block: the same for all contestants, by the time that one takes. */
static int calibrate_coll(struct run *run, const struct call *call)
{
    int count = 4;
    double seconds = 0;
    while (seconds < run->block_s / 4) {
        count *= 2;
        const double begin = bench_start_coll();
        for (int i = 0; i < count; i++)
            bench_must(call->make(run, i), call->name);
        seconds = bench_max_coll(MPI_Wtime() - begin);
    }
    return 1 + (int)(count * run->block_s / seconds);
}

static void take_turn(struct run *run, int which)
{
    run->contestant = &run->bench.contestants[which];
    run->file = run->contestant->file;
}

static void measure_block_coll(struct run *run, const struct call *call, int count, int block)
{
    MPI_File_seek(run->file, 0, MPI_SEEK_SET);
    const double begin = bench_start_coll();
    for (int i = 0; i < count; i++)
        bench_must(call->make(run, i), call->name);
    const double seconds = bench_max_coll(MPI_Wtime() - begin);
    if (run->bench.rank == 0)
        printf("%d\t%s\t%s\t%.4f\n", block, run->contestant->name, call->name, seconds / count * 1e6);
}

static void measure_all_coll(struct run *run)
{
    const int contestants = run->bench.contestant_count;
    for (int c = 0; c < CALLS; c++) {
        int count = 0;
        for (int i = 0; i < contestants; i++) { /* the first calls warm up, too */
            take_turn(run, i);
            const int own = calibrate_coll(run, &calls[c]);
            count = i == 0 || own < count ? own : count;
        }
        for (int block = 0; block < run->blocks; block++)
            for (int i = 0; i < contestants; i++) {
                take_turn(run, (i + block) % contestants);
                measure_block_coll(run, &calls[c], count, block);
            }
    }
}

/* Each rank has its own part of the file, by its view. */
static void open_all_coll(struct run *run)
{
    for (int i = 0; i < run->bench.contestant_count; i++) {
        struct bench_contestant *contestant = &run->bench.contestants[i];
        contestant->file = bench_open_coll(contestant);
        bench_must(MPI_File_set_view(contestant->file, (MPI_Offset)run->bench.rank * PLACES * BYTES, MPI_BYTE, MPI_BYTE,
                                     "native", MPI_INFO_NULL),
                   "MPI_File_set_view");
    }
}

static void close_all_coll(struct run *run)
{
    for (int i = 0; i < run->bench.contestant_count; i++) {
        bench_must(MPI_File_close(&run->bench.contestants[i].file), "MPI_File_close");
        if (run->bench.rank == 0)
            unlink(run->bench.contestants[i].path);
    }
}

static void read_options(struct run *run, int argc, char **argv)
{
    static const struct option options[] = {
        {"dir", required_argument, NULL, 'd'},
        {"blocks", required_argument, NULL, 'b'},
        {"block-ms", required_argument, NULL, 'm'},
        {NULL, 0, NULL, 0},
    };
    const char *dir = ".";
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'd')
            dir = optarg;
        else if (option == 'b')
            run->blocks = atoi(optarg);
        else if (option == 'm')
            run->block_s = atof(optarg) / 1000;
        else
            bench_die("bench/calls --help tells the options");
    }
    if (run->blocks < 1 || run->block_s <= 0 || optind == argc)
        bench_die("wants blocks, their time, and a contestant");
    for (int i = optind; i < argc; i++)
        bench_add(&run->bench, argv[i], dir, "calls");
}

int main(int argc, char **argv)
{
    static struct run run = {.blocks = 7, .block_s = 0.02};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &run.bench.ranks);
    read_options(&run, argc, argv);
    memset(run.buffer, 'p', sizeof run.buffer);
    open_all_coll(&run);
    measure_all_coll(&run);
    close_all_coll(&run);
    MPI_Finalize();
    return 0;
}
