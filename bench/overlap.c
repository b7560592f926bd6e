/* Computation beside I/O. For each way to access a file without waiting, and each contestant in turn, three times:
 *   io    the blocking call alone          compute   the computation alone, calibrated to take as long
 *   both  start, compute, wait
 * A line for each: contestant, call, calls of MPI_Test during the computation, seconds io, compute, both.
 * bench/overlap starts this and makes a table of the lines. */
#include "bench.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 8192 }; /* of the interleaved layout */

struct setting {
    const char *dir;
    char without[256]; /* calls that are left out, with a comma behind each */
    int megabytes, repetitions, tests;
    double compute_s; /* 0: as long as the I/O */
    bool sync, cold, interleaved;
};

struct run {
    struct bench bench;
    struct setting setting;
    MPI_File file; /* of the contestant whose turn it is */
    uint64_t *buffer;
    int bytes;
    uint64_t seed;           /* of the data, another for each access */
    double iterations_per_s; /* of the computation */
    volatile double result;  /* of the computation, so that it is done */
    const struct method *now;
};

struct method {
    const char *name;
    bool is_write, has_request;
    int (*block)(struct run *run);
    int (*start)(struct run *run, MPI_Request *request);
    int (*end)(struct run *run); /* of those without a request */
};

/* ---- the ways to access a file; the view makes 0 the place of each rank ---- */

static int block_write_at(struct run *run)
{
    return MPI_File_write_at(run->file, 0, run->buffer, run->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int block_write_at_all(struct run *run)
{
    return MPI_File_write_at_all(run->file, 0, run->buffer, run->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int block_read_at(struct run *run)
{
    return MPI_File_read_at(run->file, 0, run->buffer, run->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int block_read_at_all(struct run *run)
{
    return MPI_File_read_at_all(run->file, 0, run->buffer, run->bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static int start_iwrite_at(struct run *run, MPI_Request *request)
{
    return MPI_File_iwrite_at(run->file, 0, run->buffer, run->bytes, MPI_BYTE, request);
}

static int start_iwrite_at_all(struct run *run, MPI_Request *request)
{
    return MPI_File_iwrite_at_all(run->file, 0, run->buffer, run->bytes, MPI_BYTE, request);
}

static int start_iread_at(struct run *run, MPI_Request *request)
{
    return MPI_File_iread_at(run->file, 0, run->buffer, run->bytes, MPI_BYTE, request);
}

static int start_iread_at_all(struct run *run, MPI_Request *request)
{
    return MPI_File_iread_at_all(run->file, 0, run->buffer, run->bytes, MPI_BYTE, request);
}

static int start_write_split(struct run *run, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL; /* split collectives have none */
    return MPI_File_write_at_all_begin(run->file, 0, run->buffer, run->bytes, MPI_BYTE);
}

static int end_write_split(struct run *run)
{
    return MPI_File_write_at_all_end(run->file, run->buffer, MPI_STATUS_IGNORE);
}

static int start_read_split(struct run *run, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    return MPI_File_read_at_all_begin(run->file, 0, run->buffer, run->bytes, MPI_BYTE);
}

static int end_read_split(struct run *run)
{
    return MPI_File_read_at_all_end(run->file, run->buffer, MPI_STATUS_IGNORE);
}

static const struct method methods[] = {
    {"iwrite_at", true, true, block_write_at, start_iwrite_at, NULL},
    {"iwrite_at_all", true, true, block_write_at_all, start_iwrite_at_all, NULL},
    {"write_at_all_begin", true, false, block_write_at_all, start_write_split, end_write_split},
    {"iread_at", false, true, block_read_at, start_iread_at, NULL},
    {"iread_at_all", false, true, block_read_at_all, start_iread_at_all, NULL},
    {"read_at_all_begin", false, false, block_read_at_all, start_read_split, end_read_split},
};
enum { METHODS = sizeof methods / sizeof methods[0] };

/* ---- the data ---- */

static void fill(struct run *run)
{
    const size_t words = (size_t)run->bytes / sizeof *run->buffer;
    run->seed += (uint64_t)1 << 40;
    for (size_t i = 0; i < words; i++)
        run->buffer[i] = run->seed + i;
}

static bool is_filled(const struct run *run, const uint64_t *data, size_t first, size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (data[i] != run->seed + first + i)
            return false;
    return true;
}

/* This rank's data as they lie in the file, read past MPI. */
static bool file_is_right(const struct run *run, const char *path)
{
    static uint64_t piece[PIECE_BYTES / sizeof(uint64_t)];
    const int fd = open(path, O_RDONLY);
    const int pieces = run->bytes / PIECE_BYTES, ranks = run->bench.ranks, rank = run->bench.rank;
    bool is_right = fd >= 0;
    for (int i = 0; i < pieces && is_right; i++) {
        const off_t at = run->setting.interleaved ? (off_t)i * ranks + rank : (off_t)rank * pieces + i;
        is_right = pread(fd, piece, sizeof piece, at * PIECE_BYTES) == (ssize_t)sizeof piece &&
                   is_filled(run, piece, (size_t)i * PIECE_BYTES / sizeof *piece, PIECE_BYTES / sizeof *piece);
    }
    if (fd >= 0)
        close(fd);
    return is_right;
}

static void check(const struct run *run, const char *path)
{
    const bool is_right = run->now->is_write ? file_is_right(run, path)
                                             : is_filled(run, run->buffer, 0, (size_t)run->bytes / sizeof *run->buffer);
    if (!is_right)
        bench_die("wrong data: the times mean nothing");
}

static void drop_from_cache(const char *path)
{
    const int fd = open(path, O_RDWR);
    if (fd < 0 || fdatasync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
        bench_die("cannot drop the file from the page cache");
    close(fd);
}

/* What a measurement of I/O finds: data to write, or an empty buffer and, with --cold, no page in the cache. */
static void prepare(struct run *run, const char *path)
{
    if (run->now->is_write) {
        fill(run);
        return;
    }
    memset(run->buffer, 0, (size_t)run->bytes);
    if (run->setting.cold && run->bench.rank == 0)
        drop_from_cache(path);
}

/* ---- the computation ---- */

/* No memory but registers. Now and then, if asked for, it gives MPI a chance. */
static void compute(struct run *run, int64_t iterations, int tests, MPI_Request *request)
{
    double x = 0.5;
    int done = 0;
    for (int part = 0; part <= tests; part++) {
        for (int64_t i = iterations * part / (tests + 1); i < iterations * (part + 1) / (tests + 1); i++)
            x = x * 0.999999 + 1e-9;
        if (part < tests && !done)
            bench_must(MPI_Test(request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    }
    run->result = x;
}

static void calibrate_coll(struct run *run)
{
    int64_t iterations = 1000000;
    double seconds = 0;
    while (seconds < 0.05) {
        iterations *= 2;
        const double begin = bench_start_coll();
        compute(run, iterations, 0, NULL);
        seconds = bench_max_coll(MPI_Wtime() - begin);
    }
    run->iterations_per_s = (double)iterations / seconds;
}

/* ---- the three measurements ---- */

static void sync_if_asked(struct run *run)
{
    if (run->setting.sync && run->now->is_write)
        bench_must(MPI_File_sync(run->file), "MPI_File_sync");
}

static double measure_io_coll(struct run *run, const char *path)
{
    prepare(run, path);
    const double begin = bench_start_coll();
    bench_must(run->now->block(run), run->now->name);
    sync_if_asked(run);
    const double seconds = bench_max_coll(MPI_Wtime() - begin);
    check(run, path);
    return seconds;
}

static double measure_compute_coll(struct run *run, int64_t iterations)
{
    const double begin = bench_start_coll();
    compute(run, iterations, 0, NULL);
    return bench_max_coll(MPI_Wtime() - begin);
}

static double measure_both_coll(struct run *run, const char *path, int64_t iterations, int tests)
{
    MPI_Request request = MPI_REQUEST_NULL;
    prepare(run, path);
    const double begin = bench_start_coll();
    bench_must(run->now->start(run, &request), run->now->name);
    compute(run, iterations, tests, &request);
    bench_must(run->now->has_request ? MPI_Wait(&request, MPI_STATUS_IGNORE) : run->now->end(run), "the end");
    sync_if_asked(run);
    const double seconds = bench_max_coll(MPI_Wtime() - begin);
    check(run, path);
    return seconds;
}

static void measure_coll(struct run *run, const struct bench_contestant *contestant, int tests)
{
    run->file = contestant->file;
    const double io = measure_io_coll(run, contestant->path);
    const double wanted = run->setting.compute_s > 0 ? run->setting.compute_s : io;
    const int64_t iterations = (int64_t)(wanted * run->iterations_per_s);
    const double computing = measure_compute_coll(run, iterations);
    const double both = measure_both_coll(run, contestant->path, iterations, tests);
    if (run->bench.rank == 0)
        printf("%s\t%s\t%d\t%.6f\t%.6f\t%.6f\n", contestant->name, run->now->name, tests, io, computing, both);
}

/* ---- everything, in turn ---- */

static void set_view_coll(const struct run *run, MPI_File file)
{
    const MPI_Offset place = (MPI_Offset)run->bench.rank * (run->setting.interleaved ? PIECE_BYTES : run->bytes);
    MPI_Datatype filetype = MPI_BYTE;
    if (run->setting.interleaved) {
        MPI_Datatype piece;
        MPI_Type_contiguous(PIECE_BYTES, MPI_BYTE, &piece);
        MPI_Type_create_resized(piece, 0, (MPI_Aint)run->bench.ranks * PIECE_BYTES, &filetype);
        MPI_Type_commit(&filetype);
        MPI_Type_free(&piece);
    }
    bench_must(MPI_File_set_view(file, place, MPI_BYTE, filetype, "native", MPI_INFO_NULL), "MPI_File_set_view");
    if (run->setting.interleaved)
        MPI_Type_free(&filetype);
}

/* The files exist and are in the page cache before anything is measured. */
static void open_all_coll(struct run *run)
{
    for (int i = 0; i < run->bench.contestant_count; i++) {
        struct bench_contestant *contestant = &run->bench.contestants[i];
        contestant->file = run->file = bench_open_coll(contestant);
        set_view_coll(run, run->file);
        run->now = &methods[1];
        measure_io_coll(run, contestant->path);
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

/* All files hold the same data before reads, so that what is read can be checked. */
static void write_all_files_coll(struct run *run)
{
    run->now = &methods[1];
    fill(run);
    for (int i = 0; i < run->bench.contestant_count; i++) {
        run->file = run->bench.contestants[i].file;
        bench_must(run->now->block(run), run->now->name);
        bench_must(MPI_File_sync(run->file), "MPI_File_sync");
    }
}

static bool is_left_out(const struct run *run, const struct method *method)
{
    const size_t length = strlen(method->name);
    for (const char *word = run->setting.without; *word; word += strcspn(word, ",") + 1)
        if (strncmp(word, method->name, length) == 0 && word[length] == ',')
            return true;
    return false;
}

static void measure_all_coll(struct run *run)
{
    const int count = run->bench.contestant_count;
    for (int repetition = 0; repetition < run->setting.repetitions; repetition++)
        for (int m = 0; m < METHODS; m++) {
            if (is_left_out(run, &methods[m]))
                continue;
            if (!methods[m].is_write)
                write_all_files_coll(run);
            run->now = &methods[m];
            for (int variant = 0; variant <= (methods[m].has_request && run->setting.tests > 0); variant++)
                for (int i = 0; i < count; i++)
                    measure_coll(run, &run->bench.contestants[(i + repetition) % count],
                                 variant ? run->setting.tests : 0);
        }
}

static void read_options(struct run *run, int argc, char **argv)
{
    static const struct option options[] = {
        {"dir", required_argument, NULL, 'd'},   {"without", required_argument, NULL, 'w'},
        {"mb", required_argument, NULL, 'm'},    {"repetitions", required_argument, NULL, 'r'},
        {"tests", required_argument, NULL, 't'}, {"compute", required_argument, NULL, 'c'},
        {"sync", no_argument, NULL, 's'},        {"cold", no_argument, NULL, 'o'},
        {"interleaved", no_argument, NULL, 'i'}, {NULL, 0, NULL, 0},
    };
    struct setting *setting = &run->setting;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'd':
            setting->dir = optarg;
            break;
        case 'w':
            snprintf(setting->without + strlen(setting->without), sizeof setting->without - strlen(setting->without),
                     "%s,", optarg);
            break;
        case 'm':
            setting->megabytes = atoi(optarg);
            break;
        case 'r':
            setting->repetitions = atoi(optarg);
            break;
        case 't':
            setting->tests = atoi(optarg);
            break;
        case 'c':
            setting->compute_s = atof(optarg);
            break;
        case 's':
            setting->sync = true;
            break;
        case 'o':
            setting->cold = true;
            break;
        case 'i':
            setting->interleaved = true;
            break;
        default:
            bench_die("bench/overlap --help tells the options");
        }
    }
    if (setting->megabytes < 1 || setting->megabytes > 1024 || setting->repetitions < 1 || optind == argc)
        bench_die("wants 1 to 1024 MB, at least one repetition and one contestant");
    for (int i = optind; i < argc; i++)
        bench_add(&run->bench, argv[i], setting->dir, "overlap");
}

int main(int argc, char **argv)
{
    struct run run = {.setting = {.dir = ".", .megabytes = 64, .repetitions = 1, .tests = 20}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &run.bench.ranks);
    read_options(&run, argc, argv);
    run.bytes = run.setting.megabytes * 1024 * 1024;
    run.seed = (uint64_t)run.bench.rank << 56;
    run.buffer = malloc((size_t)run.bytes);
    if (!run.buffer)
        bench_die("no memory for the data");
    calibrate_coll(&run);
    open_all_coll(&run);
    measure_all_coll(&run);
    close_all_coll(&run);
    free(run.buffer);
    MPI_Finalize();
    return 0;
}
