/* Guided prefetching seen from a program: engine_prefetch FILE. Called by engine_prefetch.sh; needs the engine. */
#include <mpi.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "piolet/mpiio.h"

enum { BLOCK = 256 * 1024, BLOCKS = 100, PIECE = 4096 };

static int rank, failures;
static const char *path;

static char byte_of(int64_t offset)
{
    return (char)((offset * 7 + offset / 251) % 255 + 1);
}

static void make_file(void)
{
    char *block = malloc(BLOCK);
    const int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0666);
    for (int i = 0; i < BLOCKS; i++) {
        for (int k = 0; k < BLOCK; k++)
            block[k] = byte_of((int64_t)i * BLOCK + k);
        if (pwrite(fd, block, BLOCK, (off_t)i * BLOCK) != BLOCK)
            failures++;
    }
    fsync(fd);
    close(fd);
    free(block);
}

/* Out of the system's memory, so that there is something to fetch. */
static void make_cold(void)
{
    const int fd = open(path, O_RDONLY);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

static struct piolet_counters counters(MPI_File file)
{
    piolet_counters_function *ask;
    struct piolet_counters values;
    void *symbol = dlsym(RTLD_DEFAULT, "piolet_counters");
    memcpy(&ask, &symbol, sizeof ask);
    if (!ask || ask(file, &values, sizeof values) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return values;
}

/* Some pieces in each second block or so: no rule in it, or (`regular`) one. */
static MPI_Datatype make_type(bool regular, int *ret_pieces, int *places)
{
    MPI_Datatype type;
    int count = 0;
    for (int block = rank % 2; block < BLOCKS; block += 2 + (regular ? 0 : block % 3))
        for (int k = 0; k < (regular ? 1 : 1 + block % 3); k++)
            places[count++] = block * BLOCK + (regular ? 0 : (block * 7919 + k * 60000) % (BLOCK - 4 * PIECE));
    for (int i = 1; i < count; i++) /* in a block they may be in any order: as pieces they may not */
        for (int k = i; k > 0 && places[k] < places[k - 1]; k--) {
            const int swapped = places[k];
            places[k] = places[k - 1];
            places[k - 1] = swapped;
        }
    MPI_Type_create_indexed_block(count, PIECE, places, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    *ret_pieces = count;
    return type;
}

static struct piolet_counters read_file(const char *ranges, const char *strategy, bool regular, bool together)
{
    static int places[BLOCKS * 4];
    int pieces;
    MPI_File file;
    MPI_Info info;
    MPI_Datatype type = make_type(regular, &pieces, places);
    char *data = calloc((size_t)pieces, PIECE);
    MPI_Info_create(&info);
    MPI_Info_set(info, "piolet_access_ranges", ranges);
    MPI_Info_set(info, "piolet_strategy", strategy);
    if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, info, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL);
    make_cold();
    MPI_Barrier(MPI_COMM_WORLD);
    if (together)
        MPI_File_read_at_all(file, 0, data, pieces * PIECE, MPI_BYTE, MPI_STATUS_IGNORE);
    else
        MPI_File_read_at(file, 0, data, pieces * PIECE, MPI_BYTE, MPI_STATUS_IGNORE);
    for (int i = 0; i < pieces * PIECE; i++)
        if (data[i] != byte_of((int64_t)places[i / PIECE] + i % PIECE)) {
            fprintf(stderr, "rank %d: byte %d is wrong\n", rank, i);
            failures++;
            break;
        }
    MPI_Barrier(MPI_COMM_WORLD);
    const struct piolet_counters seen = counters(file);
    MPI_File_close(&file);
    MPI_Info_free(&info);
    MPI_Type_free(&type);
    free(data);
    return seen;
}

static void expect(bool right, const char *what, const struct piolet_counters *seen)
{
    if (right)
        return;
    fprintf(stderr, "rank %d: %s: asked %lld, accepted %lld, hit %lld, released %lld, ahead %lld\n", rank, what,
            seen->prefetch_asked, seen->prefetch_accepted, seen->prefetch_hit, seen->prefetch_released,
            seen->prefetch_ahead);
    failures++;
}

/* How many blocks a rank's irregular view touches. */
static int blocks_of(void)
{
    int blocks = 0;
    for (int block = rank % 2; block < BLOCKS; block += 2 + block % 3)
        blocks++;
    return blocks;
}

int main(int argc, char **argv)
{
    int sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    path = argv[argc - 1];
    if (rank == 0)
        make_file();
    MPI_Barrier(MPI_COMM_WORLD);
    struct piolet_counters seen = read_file("0", "independent", false, false);
    expect(seen.prefetch_asked == 0, "not wanted", &seen);
    seen = read_file("4", "independent", true, false);
    expect(seen.prefetch_asked == 0, "regular", &seen);
    for (int together = 0; together < 2; together++) {
        seen = read_file("4", "independent", false, together);
        expect(seen.prefetch_asked >= blocks_of() && seen.prefetch_accepted == blocks_of(), "asked", &seen);
        expect(seen.prefetch_hit <= seen.prefetch_accepted && seen.prefetch_released <= seen.prefetch_accepted,
               "hit and released", &seen);
        expect(seen.prefetch_ahead >= 4 && seen.prefetch_ahead <= 64, "ahead", &seen);
    }
    const long long own = seen.prefetch_released;
    seen = read_file("4", "shipping", false, false); /* agents, on some ranks */
    long long mine[3] = {seen.prefetch_accepted, seen.prefetch_hit, own}, all[3];
    MPI_Allreduce(mine, all, 3, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    expect(all[0] >= blocks_of(), "agents", &seen);
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("prefetch is right: agents accepted %lld, hit %lld; ranks released %lld\n", all[0], all[1], all[2]);
        unlink(path);
    }
    MPI_Finalize();
    return sum == 0 ? 0 : 1;
}
