/* The data of the patterns: made and checked by place and seed, by ranks in memory and by one process in the file. */
#include "bench/engine/engine.h"

#include "base/memory.h"
#include "lab/facts/place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORD = 8, CHUNK = 1 << 20 };

static uint64_t data_word(int64_t offset, uint64_t seed)
{
    return seed ^ ((uint64_t)offset / WORD * 0x9E3779B97F4A7C15U);
}

static uint64_t data_load(const char *memory)
{
    uint64_t word;
    memcpy(&word, memory, sizeof word);
    return word;
}

/* Words from `offset` of the file on. */
static void data_make(char *memory, int64_t offset, int64_t bytes, uint64_t seed)
{
    for (int64_t i = 0; i < bytes; i += WORD) {
        const uint64_t word = data_word(offset + i, seed);
        memcpy(memory + i, &word, sizeof word);
    }
}

void data_clear(const struct layout *layout, char *memory)
{
    memset(memory, DATA_UNTOUCHED, (size_t)layout->memory_bytes);
}

void data_fill(const struct layout *layout, char *memory, uint64_t seed)
{
    for (int64_t i = 0; i < layout->piece_count; i++) {
        const struct piece *piece = &layout->pieces[i];
        data_make(memory + piece->memory, piece->file, piece->bytes, seed);
    }
}

/* What is right is cleared, so that in the end everything must be: also what lies between the pieces. */
pl_status data_memory_check(const struct layout *layout, char *memory, uint64_t seed, struct pl_error *error)
{
    for (int64_t i = 0; i < layout->piece_count; i++) {
        const struct piece *piece = &layout->pieces[i];
        for (int64_t at = 0; at < piece->bytes; at += WORD) {
            const uint64_t found = data_load(memory + piece->memory + at), wanted = data_word(piece->file + at, seed);
            if (found != wanted)
                return pl_fail(error, PL_E_DATA,
                               "what was read from byte %" PRId64 " of the file is %016" PRIx64
                               " in the place of %016" PRIx64,
                               piece->file + at, found, wanted);
        }
        memset(memory + piece->memory, DATA_UNTOUCHED, (size_t)piece->bytes);
    }
    for (int64_t i = 0; i < layout->memory_bytes; i++)
        if ((unsigned char)memory[i] != DATA_UNTOUCHED)
            return pl_fail(error, PL_E_DATA,
                           "a read changed byte %" PRId64 " of the memory, which is no part of its type", i);
    return PL_OK;
}

/* ---- files, by one process ---- */

static int64_t data_chunk(int64_t bytes, int64_t at)
{
    return bytes - at < CHUNK ? bytes - at : CHUNK;
}

/* Never a new file: its place in the page cache is kept. */
pl_status data_write_file(const char *path, int64_t bytes, uint64_t seed, struct pl_error *error)
{
    char *chunk = memory_new(CHUNK, 1);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    pl_status status = fd >= 0 && ftruncate(fd, bytes) == 0 ? PL_OK : pl_fail_errno(error, errno, "making '%s'", path);
    for (int64_t at = 0; at < bytes && status == PL_OK; at += CHUNK) {
        const int64_t length = data_chunk(bytes, at);
        data_make(chunk, at, length, seed);
        status = place_move(path, "writing", fd, true, chunk, (size_t)length, at, error);
    }
    if (fd >= 0)
        close(fd);
    free(chunk);
    return status;
}

static pl_status data_chunk_check(const char *chunk, int64_t at, int64_t length, const struct data_file *wanted,
                                  struct pl_error *error)
{
    const bool has_holes = wanted->layout && wanted->layout->pattern->stride_bytes > 0;
    for (int64_t i = 0; i < length; i += WORD) {
        const bool is_hole = has_holes && layout_is_hole(wanted->layout, at + i);
        if (is_hole && wanted->holes == DATA_HOLES_ARE_ANYTHING)
            continue;
        const uint64_t found = data_load(chunk + i);
        const uint64_t right = is_hole && wanted->holes == DATA_HOLES_ARE_ZERO
                                   ? 0
                                   : data_word(at + i, is_hole ? wanted->hole_seed : wanted->seed);
        if (found != right)
            return pl_fail(error, PL_E_DATA,
                           "byte %" PRId64 " of the file%s is %016" PRIx64 " in the place of %016" PRIx64, at + i,
                           is_hole ? ", in a hole," : "", found, right);
    }
    return PL_OK;
}

pl_status data_file_check(const char *path, const struct data_file *wanted, struct pl_error *error)
{
    struct stat info;
    char *chunk = memory_new(CHUNK, 1);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    pl_status status = fd >= 0 && fstat(fd, &info) == 0 ? PL_OK : pl_fail_errno(error, errno, "opening '%s'", path);
    if (status == PL_OK && info.st_size != wanted->bytes)
        status = pl_fail(error, PL_E_DATA, "the file has %lld bytes in the place of %" PRId64, (long long)info.st_size,
                         wanted->bytes);
    for (int64_t at = 0; at < wanted->bytes && status == PL_OK; at += CHUNK) {
        const int64_t length = data_chunk(wanted->bytes, at);
        status = place_move(path, "reading", fd, false, chunk, (size_t)length, at, error);
        if (status == PL_OK)
            status = data_chunk_check(chunk, at, length, wanted, error);
    }
    if (fd >= 0)
        close(fd);
    free(chunk);
    return status;
}

/* ---- the limit ---- */

static pl_status data_limit_chunk(const char *path, enum op op, char *memory, int64_t bytes, int64_t chunk,
                                  double *ret_seconds, struct pl_error *error)
{
    if (op == OP_FRESH)
        unlink(path);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    pl_status status = fd >= 0 ? PL_OK : pl_fail_errno(error, errno, "opening '%s'", path);
    const double begin = MPI_Wtime();
    for (int64_t at = 0; at < bytes && status == PL_OK; at += chunk) {
        const int64_t length = bytes - at < chunk ? bytes - at : chunk;
        status = place_move(path, op == OP_READ ? "reading" : "writing", fd, op != OP_READ, memory + at, (size_t)length,
                            at, error);
    }
    *ret_seconds = MPI_Wtime() - begin;
    if (fd >= 0)
        close(fd);
    return status;
}

pl_status data_limit(const struct layout *layout, const char *path, enum op op, uint64_t seed, double *ret_seconds,
                     int64_t *ret_calls, struct pl_error *error)
{
    const bool is_small = layout->pattern->call == PATTERN_SMALL || layout->pattern->call == PATTERN_ORDERED;
    const int64_t bytes = layout->total_bytes;
    const int64_t chunks[] = {is_small ? layout->pattern->piece_bytes : 1 << 20, 16 << 20};
    struct piece whole = {0, 0, bytes};
    const struct layout one = {.pieces = &whole, .piece_count = 1, .memory_bytes = bytes};
    const struct data_file wanted = {.bytes = bytes, .seed = seed};
    char *memory = memory_new((size_t)bytes, 1);
    pl_status status = PL_OK;
    for (int i = 0; i < (is_small ? 1 : 2) && status == PL_OK; i++) {
        double seconds = 0;
        if (op == OP_READ)
            memset(memory, DATA_UNTOUCHED, (size_t)bytes);
        else
            data_make(memory, 0, bytes, seed);
        status = data_limit_chunk(path, op, memory, bytes, chunks[i], &seconds, error);
        if (status == PL_OK)
            status = op == OP_READ ? data_memory_check(&one, memory, seed, error)
                                   : data_file_check(path, &wanted, error);
        if (i == 0 || seconds < *ret_seconds) {
            *ret_seconds = seconds;
            *ret_calls = (bytes + chunks[i] - 1) / chunks[i];
        }
    }
    free(memory);
    return status == PL_OK ? PL_OK : pl_within(error, "limit");
}
