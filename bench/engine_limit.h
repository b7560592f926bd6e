/* The limit: one process that moves the same number of bytes by large pwrite or pread calls, contiguous in memory and
 * in the file. For patterns of small calls, by calls of their size. */
#ifndef PIOLET_BENCH_ENGINE_LIMIT_H
#define PIOLET_BENCH_ENGINE_LIMIT_H

#include "engine_pattern.h"

enum op { OP_FRESH, OP_OVERWRITE, OP_READ, OP_COUNT };

/* On one rank alone. Seconds of the better chunk size; `ret_calls` its calls. The file exists unless the op is fresh,
 * and holds the data of `seed` if it is read. Ends the program where data are wrong. */
double limit_measure(const struct layout *layout, const char *path, enum op op, uint64_t seed, int64_t *ret_calls);

#endif
