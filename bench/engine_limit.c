#include "engine_limit.h"

#include "bench.h"
#include "engine_data.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool move(int fd, enum op op, char *memory, int64_t bytes, int64_t chunk)
{
    for (int64_t at = 0; at < bytes; at += chunk) {
        const int64_t length = bytes - at < chunk ? bytes - at : chunk;
        const ssize_t moved = op == OP_READ ? pread(fd, memory + at, (size_t)length, at)
                                            : pwrite(fd, memory + at, (size_t)length, at);
        if (moved != length)
            return false;
    }
    return true;
}

static double measure_chunk(const char *path, enum op op, char *memory, int64_t bytes, int64_t chunk)
{
    if (op == OP_FRESH)
        unlink(path);
    const int fd = open(path, O_RDWR | O_CREAT, 0666);
    const double begin = MPI_Wtime();
    const bool is_moved = fd >= 0 && move(fd, op, memory, bytes, chunk);
    const double seconds = MPI_Wtime() - begin;
    if (!is_moved)
        bench_die("limit: cannot write or read its file");
    close(fd);
    return seconds;
}

static void check(const struct layout *layout, const char *path, enum op op, uint64_t seed, char *memory)
{
    char words[256];
    const int64_t bytes = layout->total_bytes;
    const struct piece whole = {0, 0, bytes};
    const struct layout one = {.pieces = (struct piece *)&whole, .piece_count = 1, .memory_bytes = bytes};
    if (op == OP_READ
            ? data_memory_is_right(&one, memory, seed, words, sizeof words)
            : data_file_is_right(path, &(struct data_file){.bytes = bytes, .seed = seed}, words, sizeof words))
        return;
    fprintf(stderr, "limit: ");
    bench_die(words);
}

double limit_measure(const struct layout *layout, const char *path, enum op op, uint64_t seed, int64_t *ret_calls)
{
    const bool is_small = layout->pattern->call == PATTERN_SMALL || layout->pattern->call == PATTERN_ORDERED;
    const int64_t bytes = layout->total_bytes;
    const int64_t chunks[] = {is_small ? layout->pattern->piece_bytes : 1 << 20, 16 << 20};
    double best = 0;
    char *memory = malloc((size_t)bytes);
    if (!memory)
        bench_die("no memory for the limit");
    for (int i = 0; i < (is_small ? 1 : 2); i++) {
        if (op == OP_READ)
            memset(memory, DATA_UNTOUCHED, (size_t)bytes);
        else
            data_make(memory, 0, bytes, seed);
        const double seconds = measure_chunk(path, op, memory, bytes, chunks[i]);
        check(layout, path, op, seed, memory);
        if (i == 0 || seconds < best) {
            best = seconds;
            *ret_calls = (bytes + chunks[i] - 1) / chunks[i];
        }
    }
    free(memory);
    return best;
}
