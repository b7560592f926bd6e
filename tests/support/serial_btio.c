/* For tests/mpi/apps.sh: the file of BT-IO as one process without MPI would write it, number by number.
 *   serial_btio SEED SIZE DUMPS >FILE */
#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    const uint64_t seed = strtoull(argv[1], NULL, 10), size = strtoull(argv[2], NULL, 10);
    const uint64_t dumps = strtoull(argv[3], NULL, 10);
    for (uint64_t dump = 0; dump < dumps; dump++)
        for (uint64_t i = 0; i < 5 * size * size * size; i++) {
            const double value = rng_unit(rng_at(rng_at(seed, dump), i));
            if (fwrite(&value, sizeof value, 1, stdout) != 1)
                return 1;
        }
    return fflush(stdout) ? 1 : 0;
}
