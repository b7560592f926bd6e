/* piolet-programs: what `piolet bench predict` traces and runs besides the application kernels. `segments FILE`: as IOR
 * does it, segments of a block of each rank, moved in transfers by collective calls, read back by another rank than
 * wrote. `synced FILE`: the same, every segment brought to the device. `mixed FILE`: writes and reads in turns, of two
 * files. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENTS = 4, TRANSFERS = 8, TRANSFER = 1 << 18, TURNS = 24 };

static char *buffer;
static int rank, size;

static MPI_File programs_open(const char *name)
{
    MPI_File file;
    if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
        fprintf(stderr, "cannot open %s\n", name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return file;
}

static void programs_need(int code)
{
    if (code != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void programs_segments(const char *name, int is_synced)
{
    MPI_File file = programs_open(name);
    for (int read = 0; read < 2; read++) {
        const int owner = read ? (rank + 1) % size : rank;
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < SEGMENTS * TRANSFERS; i++) {
            const MPI_Offset block = (MPI_Offset)(i / TRANSFERS) * size + owner;
            const MPI_Offset at = (block * TRANSFERS + i % TRANSFERS) * TRANSFER;
            programs_need(read ? MPI_File_read_at_all(file, at, buffer, TRANSFER, MPI_BYTE, MPI_STATUS_IGNORE)
                               : MPI_File_write_at_all(file, at, buffer, TRANSFER, MPI_BYTE, MPI_STATUS_IGNORE));
            if (is_synced && !read && i % TRANSFERS == TRANSFERS - 1)
                programs_need(MPI_File_sync(file));
        }
    }
    MPI_File_close(&file);
}

static void programs_mixed(const char *name)
{
    char second[4096];
    snprintf(second, sizeof second, "%s.2", name);
    MPI_File data = programs_open(name), log = programs_open(second);
    for (int turn = 0; turn < TURNS; turn++) {
        const MPI_Offset at = ((MPI_Offset)turn * size + rank) * TRANSFER;
        memset(buffer, turn, TRANSFER);
        MPI_Barrier(MPI_COMM_WORLD);
        programs_need(MPI_File_write_at(data, at, buffer, TRANSFER, MPI_BYTE, MPI_STATUS_IGNORE));
        programs_need(
            MPI_File_read_at(data, (MPI_Offset)rank * TRANSFER, buffer, TRANSFER / 2, MPI_BYTE, MPI_STATUS_IGNORE));
        programs_need(MPI_File_write_at_all(log, ((MPI_Offset)turn * size + rank) * 4096, buffer, 4096, MPI_BYTE,
                                            MPI_STATUS_IGNORE));
    }
    MPI_File_close(&data);
    MPI_File_close(&log);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    buffer = malloc(TRANSFER);
    if (argc != 3 || !buffer)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < TRANSFER; i++) /* programs write data that they have made */
        buffer[i] = (char)(31 * i + rank);
    if (strcmp(argv[1], "mixed") == 0)
        programs_mixed(argv[2]);
    else
        programs_segments(argv[2], strcmp(argv[1], "synced") == 0);
    free(buffer);
    MPI_Finalize();
    return 0;
}
