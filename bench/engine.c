/* One pattern, its operations, and all contestants in turn. A line for each access that was measured: repetition,
 * contestant, pattern, operation, ranks, bytes of all ranks, calls of a rank, seconds, strategy that the engine chose
 * ("-": it is not the engine's, or the call is not collective). With --counts, the line is contestant, pattern,
 * operation, ranks, bytes, calls, chosen and what count_print_coll() says. bench/engine starts this and makes tables of
 * the lines. */
#include "bench.h"
#include "engine_count.h"
#include "engine_data.h"
#include "engine_limit.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const op_names[OP_COUNT] = {"fresh", "over", "read"};

struct run {
    struct bench bench;
    struct layout layout;
    const char *dir;
    bool has_op[OP_COUNT];
    int megabytes, repetitions, warmups;
    bool counts;
    enum op op;
    char *memory;
    uint64_t seed;       /* of the newest data */
    uint64_t first_seed; /* of the file before it was overwritten, or of the file to be read */
};

static bool is_limit(const struct bench_contestant *contestant)
{
    return strcmp(contestant->name, "limit") == 0;
}

/* A seed that no data had before; the same on all ranks. */
static uint64_t new_seed(struct run *run)
{
    run->seed += (uint64_t)1 << 48;
    return run->seed;
}

/* Others than rank 0 wait for it here without taking a core from it. */
static void wait_for_rank_0_coll(const struct run *run)
{
    MPI_Request request;
    int done = 0;
    bench_must(MPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
    while (!done) {
        bench_must(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (!done && run->bench.rank != 0)
            usleep(500);
    }
}

/* ---- one access ---- */

static int access_once(const struct run *run, MPI_File file, int64_t call)
{
    const struct layout *layout = &run->layout;
    char *memory = run->memory + call * (layout->bytes / layout->calls); /* in a series memory is contiguous */
    const bool reads = run->op == OP_READ;
    const int count = layout->count;
    const MPI_Datatype type = layout->memory_type;
    switch (layout->pattern->call) {
    case PATTERN_ALL:
        return reads ? MPI_File_read_at_all(file, 0, memory, count, type, MPI_STATUS_IGNORE)
                     : MPI_File_write_at_all(file, 0, memory, count, type, MPI_STATUS_IGNORE);
    case PATTERN_SERIES:
        return reads ? MPI_File_read_all(file, memory, count, type, MPI_STATUS_IGNORE)
                     : MPI_File_write_all(file, memory, count, type, MPI_STATUS_IGNORE);
    case PATTERN_ALONE:
        return reads ? MPI_File_read_at(file, 0, memory, count, type, MPI_STATUS_IGNORE)
                     : MPI_File_write_at(file, 0, memory, count, type, MPI_STATUS_IGNORE);
    case PATTERN_SMALL:
        return reads ? MPI_File_read(file, memory, count, type, MPI_STATUS_IGNORE)
                     : MPI_File_write(file, memory, count, type, MPI_STATUS_IGNORE);
    case PATTERN_ORDERED:
        return reads ? MPI_File_read_ordered(file, memory, count, type, MPI_STATUS_IGNORE)
                     : MPI_File_write_ordered(file, memory, count, type, MPI_STATUS_IGNORE);
    }
    return MPI_ERR_OTHER;
}

static void rewind_coll(const struct run *run, MPI_File file)
{
    if (run->layout.pattern->call == PATTERN_ORDERED)
        bench_must(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), "MPI_File_seek_shared");
    else
        bench_must(MPI_File_seek(file, 0, MPI_SEEK_SET), "MPI_File_seek");
}

static double access_coll(const struct run *run, MPI_File file)
{
    rewind_coll(run, file);
    const double begin = bench_start_coll();
    if (run->counts)
        count_begin();
    for (int64_t call = 0; call < run->layout.calls; call++)
        bench_must(access_once(run, file, call), op_names[run->op]);
    if (run->counts)
        count_end();
    return bench_max_coll(MPI_Wtime() - begin);
}

static void wrong_data(const struct run *run, const struct bench_contestant *contestant, const char *words)
{
    char text[512];
    snprintf(text, sizeof text, "wrong data of %s, pattern %s, %s, %d ranks: %s", contestant->name,
             run->layout.pattern->name, op_names[run->op], run->bench.ranks, words);
    bench_die(text);
}

static bool is_engine(const struct bench_contestant *contestant)
{
    return strcmp(contestant->value, "piolet") == 0;
}

/* Holes of a fresh file: the MPI standard leaves them undefined, and ROMIO fills them with what its buffer holds. Ours
 * are zero. */
static bool file_is_right(const struct run *run, const struct bench_contestant *contestant, char *ret_words,
                          size_t room)
{
    struct data_file wanted = {
        .bytes = run->layout.file_bytes, .seed = run->seed, .layout = &run->layout, .hole_seed = run->first_seed};
    if (run->op == OP_FRESH)
        wanted.holes = is_engine(contestant) ? DATA_HOLES_ARE_ZERO : DATA_HOLES_ARE_ANYTHING;
    return data_file_is_right(contestant->path, &wanted, ret_words, room);
}

/* Right after the access: the bytes must be in the file by then, not in somebody's buffer. */
static void check_coll(struct run *run, const struct bench_contestant *contestant)
{
    char words[256];
    bool is_right = true;
    if (run->op == OP_READ)
        is_right = data_memory_is_right(&run->layout, run->memory, run->first_seed, words, sizeof words);
    else if (run->bench.rank == 0)
        is_right = file_is_right(run, contestant, words, sizeof words);
    if (!is_right)
        wrong_data(run, contestant, words);
    wait_for_rank_0_coll(run);
}

/* ---- one measurement ---- */

static void open_coll(const struct run *run, struct bench_contestant *contestant)
{
    const struct layout *layout = &run->layout;
    contestant->file = bench_open_coll(contestant);
    bench_must(MPI_File_set_view(contestant->file, layout->displacement, layout->etype, layout->filetype, "native",
                                 MPI_INFO_NULL),
               "MPI_File_set_view");
}

static void find_chosen(const struct run *run, const struct bench_contestant *contestant, char *ret_name, int room)
{
    const enum pattern_call call = run->layout.pattern->call;
    if (is_engine(contestant) && call != PATTERN_ALONE && call != PATTERN_SMALL)
        bench_info(contestant->file, run->op == OP_READ ? "piolet_strategy_read" : "piolet_strategy_write", ret_name,
                   room);
}

static double measure_limit_coll(struct run *run, const struct bench_contestant *contestant, int64_t *ret_calls)
{
    double seconds = 0;
    if (run->bench.rank == 0)
        seconds = limit_measure(&run->layout, contestant->path, run->op,
                                run->op == OP_READ ? run->first_seed : run->seed, ret_calls);
    wait_for_rank_0_coll(run);
    return seconds;
}

static double measure_mpi_coll(struct run *run, struct bench_contestant *contestant, char *ret_chosen, int room)
{
    if (run->op == OP_FRESH) {
        if (run->bench.rank == 0)
            unlink(contestant->path);
        MPI_Barrier(MPI_COMM_WORLD);
        open_coll(run, contestant);
    }
    if (run->op == OP_READ)
        data_clear(&run->layout, run->memory);
    else
        data_fill(&run->layout, run->memory, run->seed);
    const double seconds = access_coll(run, contestant->file);
    find_chosen(run, contestant, ret_chosen, room);
    check_coll(run, contestant);
    if (run->op == OP_FRESH)
        bench_must(MPI_File_close(&contestant->file), "MPI_File_close");
    return seconds;
}

static void measure_coll(struct run *run, struct bench_contestant *contestant, int repetition)
{
    const struct layout *layout = &run->layout;
    char chosen[64] = "-", about[256];
    int64_t calls = layout->calls;
    new_seed(run);
    const double seconds = is_limit(contestant) ? measure_limit_coll(run, contestant, &calls)
                                                : measure_mpi_coll(run, contestant, chosen, sizeof chosen);
    if (repetition < 0)
        return;
    snprintf(about, sizeof about, "%s\t%s\t%s\t%d\t%" PRId64 "\t%" PRId64, contestant->name, layout->pattern->name,
             op_names[run->op], run->bench.ranks, layout->total_bytes, calls);
    if (run->counts) {
        snprintf(about + strlen(about), sizeof about - strlen(about), "\t%s", chosen);
        count_print_coll(about, layout);
    } else if (run->bench.rank == 0) {
        printf("%d\t%s\t%.9f\t%s\n", repetition, about, seconds, chosen);
    }
}

/* ---- everything, in turn ---- */

/* Files that are overwritten or read: one process wrote them, they are in the page cache, and they stay open. */
static void begin_op_coll(struct run *run)
{
    run->first_seed = new_seed(run);
    if (run->op == OP_FRESH)
        return;
    for (int i = 0; i < run->bench.contestant_count; i++) {
        struct bench_contestant *contestant = &run->bench.contestants[i];
        const int64_t bytes = is_limit(contestant) ? run->layout.total_bytes : run->layout.file_bytes;
        if (run->bench.rank == 0)
            data_write_file(contestant->path, bytes, run->first_seed);
        wait_for_rank_0_coll(run);
        if (!is_limit(contestant))
            open_coll(run, contestant);
    }
}

static void end_op_coll(struct run *run)
{
    if (run->op == OP_FRESH)
        return;
    for (int i = 0; i < run->bench.contestant_count; i++)
        if (!is_limit(&run->bench.contestants[i]))
            bench_must(MPI_File_close(&run->bench.contestants[i].file), "MPI_File_close");
}

static void measure_all_coll(struct run *run)
{
    const int count = run->bench.contestant_count;
    for (int op = 0; op < OP_COUNT; op++) {
        if (!run->has_op[op])
            continue;
        run->op = (enum op)op;
        begin_op_coll(run);
        for (int repetition = -run->warmups; repetition < run->repetitions; repetition++)
            for (int i = 0; i < count; i++)
                measure_coll(run, &run->bench.contestants[(i + repetition + run->warmups) % count], repetition);
        end_op_coll(run);
    }
    if (run->bench.rank == 0)
        for (int i = 0; i < count; i++)
            unlink(run->bench.contestants[i].path);
}

static void read_ops(struct run *run, char *list)
{
    for (char *name; (name = strsep(&list, ","));) {
        int op = 0;
        while (op < OP_COUNT && strcmp(op_names[op], name) != 0)
            op++;
        if (op == OP_COUNT)
            bench_die("operations are fresh, over and read");
        run->has_op[op] = true;
    }
}

static void read_options(struct run *run, int argc, char **argv)
{
    static const struct option options[] = {
        {"dir", required_argument, NULL, 'd'},
        {"pattern", required_argument, NULL, 'p'},
        {"ops", required_argument, NULL, 'o'},
        {"mb", required_argument, NULL, 'm'},
        {"edge", required_argument, NULL, 'e'},
        {"reps", required_argument, NULL, 'r'},
        {"warmups", required_argument, NULL, 'w'},
        {"counts", no_argument, NULL, 'c'},
        {NULL, 0, NULL, 0},
    };
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'd')
            run->dir = optarg;
        else if (option == 'p')
            run->layout.pattern = pattern_find(optarg);
        else if (option == 'o')
            read_ops(run, optarg);
        else if (option == 'm')
            run->megabytes = atoi(optarg);
        else if (option == 'e')
            run->layout.edge = atoi(optarg);
        else if (option == 'r')
            run->repetitions = atoi(optarg);
        else if (option == 'w')
            run->warmups = atoi(optarg);
        else if (option == 'c')
            run->counts = true;
        else
            bench_die("bench/engine --help tells the options");
    }
    if (!run->layout.pattern || run->megabytes < 1 || run->layout.edge < 1 || run->repetitions < 1 ||
        run->warmups < 0 || optind == argc)
        bench_die("wants a pattern, at least 1 MB, at least one repetition and one contestant");
    for (int i = optind; i < argc; i++)
        bench_add(&run->bench, argv[i], run->dir, "engine");
}

int main(int argc, char **argv)
{
    static struct run run = {.dir = ".", .megabytes = 64, .layout.edge = 256, .repetitions = 7, .warmups = 1};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.bench.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &run.bench.ranks);
    read_options(&run, argc, argv);
    run.layout.rank = run.bench.rank;
    run.layout.ranks = run.bench.ranks;
    run.layout.wanted_bytes = (int64_t)run.megabytes << 20;
    if (run.counts)
        count_init_coll();
    if (layout_make_coll(&run.layout)) { /* else it is not for so many ranks: nothing is measured */
        run.memory = malloc((size_t)run.layout.memory_bytes);
        if (!run.memory)
            bench_die("no memory for the data");
        data_clear(&run.layout, run.memory);
        measure_all_coll(&run);
        free(run.memory);
    }
    layout_clear(&run.layout);
    MPI_Finalize();
    return 0;
}
