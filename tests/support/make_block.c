/* make_block FILE TIME RANKS FILESYSTEM SETS SEED FACTOR HOST: a block file as a low-level test would write it, with
 * rates that are known: set i writes blocks of i kB at 100 i MB/s with 2 % of noise, the first four times FACTOR. SEED
 * 0: without noise. */
#include "base/blockfile.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>

static double noise(uint64_t seed, int set)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += rng_unit(rng_at(rng_at(seed, (uint64_t)set), (uint64_t)i));
    return seed ? exp(0.02 * (sum - 6)) : 1;
}

int main(int argc, char **argv)
{
    struct blockfile_writer *writer;
    struct pl_error error;
    if (argc != 9 || blockfile_writer_open(argv[1], &writer, &error) != PL_OK)
        return 2;
    blockfile_begin(writer, "Lowlevel", "single");
    blockfile_fact(writer, "nprocs", "%s", argv[3]);
    blockfile_fact(writer, "product_version", "0.1.0");
    blockfile_fact(writer, "hostname", "%s", argv[8]);
    blockfile_fact(writer, "timestamp", "%s", argv[2]);
    blockfile_fact(writer, "mpi_library", "MPICH Version: 4.0.2");
    blockfile_fact(writer, "mpiio", "ROMIO");
    blockfile_fact(writer, "filesystem", "%s", argv[4]);
    blockfile_fact(writer, "filesystem_source", "/dev/sda1");
    blockfile_end_head(writer, &error);
    for (int set = 1; set <= atoi(argv[5]); set++) {
        const double rate = 100.0 * set * noise(strtoull(argv[6], NULL, 10), set) * (set <= 4 ? atof(argv[7]) : 1);
        const int64_t time_ns = llround(set * 1000 * 1000 / rate);
        blockfile_set(writer);
        blockfile_param(writer, "filesize_bytes", "8000000");
        blockfile_param(writer, "blocksize_bytes", "%d", set * 1000);
        blockfile_series(writer, 0, "w", "ns", 1);
        blockfile_values(writer, &time_ns, 1);
        blockfile_end_set(writer, &error);
    }
    blockfile_end(writer, &error);
    return blockfile_writer_close(writer, &error) == PL_OK ? 0 : 1;
}
