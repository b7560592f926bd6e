/* What the benchmarks share. A contestant is who serves a file: NAME=VALUE opens it with the hint piolet_impl=VALUE,
 * for which the engine is preloaded; NAME alone opens it without, with whatever MPI-IO the program was started on.
 * More hints may follow: NAME=VALUE;HINT=VALUE;HINT=VALUE */
#ifndef PIOLET_BENCH_H
#define PIOLET_BENCH_H

#include <mpi.h>
#include <stdbool.h>

enum { BENCH_CONTESTANTS_MAX = 32 };

struct bench_contestant {
    char name[48], value[16];
    char hints[256]; /* the others, as they were given */
    char path[4096]; /* of its file */
    MPI_File file;
};

struct bench {
    int rank, ranks;
    struct bench_contestant contestants[BENCH_CONTESTANTS_MAX];
    int contestant_count;
};

/* Ends the program with words, on all ranks. */
_Noreturn void bench_die(const char *what);
/* The same where an MPI call failed. */
void bench_must(int code, const char *what);

/* By the words of the command line; the contestant's file will be DIR/PROGRAM.NAME. */
void bench_add(struct bench *bench, const char *word, const char *dir, const char *program);
/* All ranks. Fails where the engine should serve the file and does not, or does not take a hint. */
MPI_File bench_open_coll(const struct bench_contestant *contestant);

/* The value of a key of the file's info; "" where there is none. */
void bench_info(MPI_File file, const char *key, char *ret_value, int room);

/* Seconds of the slowest rank. */
double bench_max_coll(double seconds);
/* All ranks begin a measurement now; the time. */
double bench_start_coll(void);

#endif
