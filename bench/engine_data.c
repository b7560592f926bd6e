#include "engine_data.h"

#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORD = 8, CHUNK = 1 << 20 };

static uint64_t word_at(int64_t offset, uint64_t seed)
{
    return seed ^ ((uint64_t)offset / WORD * 0x9E3779B97F4A7C15U);
}

static uint64_t load(const char *memory)
{
    uint64_t word;
    memcpy(&word, memory, sizeof word);
    return word;
}

void data_make(char *memory, int64_t offset, int64_t bytes, uint64_t seed)
{
    for (int64_t i = 0; i < bytes; i += WORD) {
        const uint64_t word = word_at(offset + i, seed);
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

static bool piece_is_right(const struct piece *piece, const char *memory, uint64_t seed, char *ret_words, size_t room)
{
    for (int64_t i = 0; i < piece->bytes; i += WORD) {
        const uint64_t found = load(memory + piece->memory + i), wanted = word_at(piece->file + i, seed);
        if (found == wanted)
            continue;
        snprintf(ret_words, room,
                 "what was read from byte %" PRId64 " of the file is %016" PRIx64 " in the place of %016" PRIx64,
                 piece->file + i, found, wanted);
        return false;
    }
    return true;
}

/* What is right is cleared, so that in the end everything must be: also what lies between the pieces. */
bool data_memory_is_right(const struct layout *layout, char *memory, uint64_t seed, char *ret_words, size_t room)
{
    for (int64_t i = 0; i < layout->piece_count; i++) {
        const struct piece *piece = &layout->pieces[i];
        if (!piece_is_right(piece, memory, seed, ret_words, room))
            return false;
        memset(memory + piece->memory, DATA_UNTOUCHED, (size_t)piece->bytes);
    }
    for (int64_t i = 0; i < layout->memory_bytes; i++)
        if ((unsigned char)memory[i] != DATA_UNTOUCHED) {
            snprintf(ret_words, room, "a read changed byte %" PRId64 " of the memory, which is no part of its type", i);
            return false;
        }
    return true;
}

static char *chunk_memory(void)
{
    char *chunk = malloc(CHUNK);
    if (!chunk)
        bench_die("no memory for the serial reader");
    return chunk;
}

static int64_t chunk_bytes(int64_t bytes, int64_t at)
{
    return bytes - at < CHUNK ? bytes - at : CHUNK;
}

/* Never a new file: its place in the page cache is kept. */
void data_write_file(const char *path, int64_t bytes, uint64_t seed)
{
    char *chunk = chunk_memory();
    const int fd = open(path, O_RDWR | O_CREAT, 0666);
    bool is_written = fd >= 0 && ftruncate(fd, bytes) == 0;
    for (int64_t at = 0; at < bytes && is_written; at += CHUNK) {
        const int64_t length = chunk_bytes(bytes, at);
        data_make(chunk, at, length, seed);
        is_written = pwrite(fd, chunk, (size_t)length, at) == length;
    }
    if (!is_written)
        bench_die("cannot write a file to begin with: is there space?");
    close(fd);
    free(chunk);
}

static bool chunk_is_right(const char *chunk, int64_t at, int64_t length, const struct data_file *wanted,
                           char *ret_words, size_t room)
{
    const bool has_holes = wanted->layout && wanted->layout->pattern->stride_bytes > 0;
    for (int64_t i = 0; i < length; i += WORD) {
        const bool is_hole = has_holes && layout_is_hole(wanted->layout, at + i);
        if (is_hole && wanted->holes == DATA_HOLES_ARE_ANYTHING)
            continue;
        const uint64_t found = load(chunk + i);
        const uint64_t right = is_hole && wanted->holes == DATA_HOLES_ARE_ZERO
                                   ? 0
                                   : word_at(at + i, is_hole ? wanted->hole_seed : wanted->seed);
        if (found == right)
            continue;
        snprintf(ret_words, room, "byte %" PRId64 " of the file%s is %016" PRIx64 " in the place of %016" PRIx64,
                 at + i, is_hole ? ", in a hole," : "", found, right);
        return false;
    }
    return true;
}

static bool open_is_right(int fd, const struct data_file *wanted, char *ret_words, size_t room)
{
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0) {
        snprintf(ret_words, room, "cannot open the file: %s", strerror(errno));
        return false;
    }
    if (status.st_size != wanted->bytes) {
        snprintf(ret_words, room, "the file has %" PRId64 " bytes in the place of %" PRId64, (int64_t)status.st_size,
                 wanted->bytes);
        return false;
    }
    char *chunk = chunk_memory();
    bool is_right = true;
    for (int64_t at = 0; at < wanted->bytes && is_right; at += CHUNK) {
        const int64_t length = chunk_bytes(wanted->bytes, at);
        if (pread(fd, chunk, (size_t)length, at) != length) {
            snprintf(ret_words, room, "cannot read byte %" PRId64 " of the file", at);
            is_right = false;
        } else {
            is_right = chunk_is_right(chunk, at, length, wanted, ret_words, room);
        }
    }
    free(chunk);
    return is_right;
}

bool data_file_is_right(const char *path, const struct data_file *wanted, char *ret_words, size_t room)
{
    const int fd = open(path, O_RDONLY);
    const bool is_right = open_is_right(fd, wanted, ret_words, room);
    if (fd >= 0)
        close(fd);
    return is_right;
}
