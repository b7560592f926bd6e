/* For tests/mpi/kernels.sh and large_kernels.sh: writes the array as one process without MPI would, in column order.
 *   serial_matrix SEED XSIZE YSIZE ZSIZE [FROM COUNT] >FILE
 * With FROM and COUNT only those elements, by their place in the file. SEED is the keyword `seed`. */
#include "base/rng.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct array {
    uint64_t seed;
    int64_t size[3];
};

static double value_at(const struct array *array, int64_t x, int64_t y, int64_t z)
{
    const int64_t place = x + array->size[0] * (y + array->size[1] * z);
    return rng_unit(rng_at(array->seed, (uint64_t)place));
}

static int put(const struct array *array, int64_t from, int64_t count)
{
    for (int64_t i = from; i < from + count; i++) {
        const int64_t x = i % array->size[0], y = i / array->size[0] % array->size[1],
                      z = i / array->size[0] / array->size[1];
        const double value = value_at(array, x, y, z);
        if (fwrite(&value, sizeof value, 1, stdout) != 1)
            return 1;
    }
    return fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
    if (argc != 5 && argc != 7)
        return 2;
    struct array array = {.seed = rng_at(strtoull(argv[1], NULL, 10), 0)}; /* the data of every set with this seed */
    int64_t count = 1;
    for (int d = 0; d < 3; d++)
        count *= array.size[d] = strtoll(argv[2 + d], NULL, 10);
    return argc == 7 ? put(&array, strtoll(argv[5], NULL, 10), strtoll(argv[6], NULL, 10)) : put(&array, 0, count);
}
