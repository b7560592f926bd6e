/* The data of bench/engine: the word at a place of the file depends on the place and on a seed, so that whoever knows
 * the pattern can tell what must be where. A serial reader and writer go past MPI. */
#ifndef PIOLET_BENCH_ENGINE_DATA_H
#define PIOLET_BENCH_ENGINE_DATA_H

#include "engine_pattern.h"

/* Bytes of a rank's memory that no piece covers keep this. */
enum { DATA_UNTOUCHED = 0xA5 };

/* A rank's pieces, to be written. */
void data_fill(const struct layout *layout, char *memory, uint64_t seed);
/* Memory before a read: nothing but DATA_UNTOUCHED. */
void data_clear(const struct layout *layout, char *memory);
/* After a read; leaves it cleared. False: `ret_words` says what is wrong. */
bool data_memory_is_right(const struct layout *layout, char *memory, uint64_t seed, char *ret_words, size_t room);

/* Words from `offset` of the file on. */
void data_make(char *memory, int64_t offset, int64_t bytes, uint64_t seed);
/* The whole file, holes too, by one process. */
void data_write_file(const char *path, int64_t bytes, uint64_t seed);

/* What a file must be. */
struct data_file {
    int64_t bytes;
    uint64_t seed;               /* of pieces */
    const struct layout *layout; /* tells where holes are; NULL: there are none */
    enum { DATA_HOLES_ARE_OLD, DATA_HOLES_ARE_ZERO, DATA_HOLES_ARE_ANYTHING } holes;
    uint64_t hole_seed; /* of those that are old */
};
/* All of it, by one process. False: `ret_words` says what is wrong. */
bool data_file_is_right(const char *path, const struct data_file *wanted, char *ret_words, size_t room);

#endif
