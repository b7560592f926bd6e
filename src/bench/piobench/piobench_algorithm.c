/* The table of algorithms. */
#include "bench/piobench/piobench.h"

#include <string.h>

const char PIOBENCH_CLASS[] = "Piobench", PIOBENCH_TEST[] = "piobench";
const char *const PIOBENCH_CONDITIONS[] = {"file", "dims", "hint", "sync", "cold", "direct", "fresh", NULL};

#define ALGORITHM(n, a, s, f, b, text)                                                                                 \
    {.name = (n), .access = PIOBENCH_##a, .strategy = (s), .family = (f), .buffer_hint = (b), .summary = (text)},
const struct piobench_algorithm PIOBENCH_ALGORITHMS[] = {
#include "bench/piobench/algorithm.def"
    {0}};
#undef ALGORITHM

const struct piobench_algorithm *piobench_algorithm_find(const char *name, size_t length)
{
    for (const struct piobench_algorithm *row = PIOBENCH_ALGORITHMS; row->name; row++)
        if (strlen(row->name) == length && strncmp(row->name, name, length) == 0)
            return row;
    return NULL;
}
