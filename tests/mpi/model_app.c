/* A program whose phases are known: BT-IO's pattern (a view of each rank, a write in each step, everything read back at
 * the end), MADbench2's (five phases of one rank's part of a shared file), a header by rank 0 alone, and a file for
 * each rank. */
#include <mpi.h>

#include <stdio.h>

enum { STEPS = 20, BINS = 8, PIECE = 4096, ETYPE = 40, CELL = 64 };

static char buffer[ETYPE * CELL + PIECE];

static void btio(int rank, int size)
{
    const int sizes[] = {8, 8 * size}, part[] = {8, 8}, begin[] = {0, 8 * rank};
    MPI_Datatype point, view;
    MPI_File file;
    MPI_Type_contiguous(5, MPI_DOUBLE, &point);
    MPI_Type_commit(&point);
    MPI_Type_create_subarray(2, sizes, part, begin, MPI_ORDER_C, point, &view);
    MPI_Type_commit(&view);
    MPI_File_open(MPI_COMM_WORLD, "btio.out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, point, view, "native", MPI_INFO_NULL);
    for (int step = 0; step < STEPS; step++) {
        if (rank > 0) /* ticks drift between the ranks */
            MPI_Sendrecv_replace(buffer, 1, MPI_CHAR, rank, 0, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_write_at_all(file, (MPI_Offset)step * CELL, buffer, CELL, point, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < STEPS; step++)
        MPI_File_read_at_all(file, (MPI_Offset)step * CELL, buffer, CELL, point, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Type_free(&point);
    MPI_Type_free(&view);
}

static MPI_File shared;

static void put(int rank, int bin)
{
    MPI_File_seek(shared, ((MPI_Offset)rank * BINS + bin) * PIECE, MPI_SEEK_SET);
    MPI_File_write(shared, buffer, PIECE, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void get(int rank, int bin)
{
    MPI_File_seek(shared, ((MPI_Offset)rank * BINS + bin) * PIECE, MPI_SEEK_SET);
    MPI_File_read(shared, buffer, PIECE, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void madbench(int rank)
{
    MPI_File_open(MPI_COMM_WORLD, "madbench.out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &shared);
    for (int bin = 0; bin < BINS; bin++)
        put(rank, bin);
    MPI_Barrier(MPI_COMM_WORLD);
    get(rank, 0);
    get(rank, 1);
    for (int bin = 0; bin < BINS - 2; bin++) {
        put(rank, bin);
        get(rank, bin + 2);
    }
    put(rank, BINS - 2);
    put(rank, BINS - 1);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int bin = 0; bin < BINS; bin++)
        get(rank, bin);
    MPI_File_close(&shared);
}

static void own_file(int rank)
{
    char name[32];
    MPI_File file;
    snprintf(name, sizeof name, "own.%04d", rank);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    if (rank == 0)
        MPI_File_write_at(file, 0, buffer, 16, MPI_BYTE, MPI_STATUS_IGNORE);
    for (int i = 0; i < 10; i++)
        MPI_File_write_at(file, 16 + (MPI_Offset)i * (100 + rank), buffer, 100 + rank, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

/* A rank may have nothing in its view, and the others a lower bound: ROMIO has no true answer where the pointer stands.
 */
static void some_have_nothing(int rank)
{
    MPI_File file;
    MPI_Datatype bytes, type;
    MPI_Type_contiguous(rank == 0 ? 0 : 8, MPI_BYTE, &bytes);
    MPI_Type_create_resized(bytes, rank == 0 ? 0 : 8, rank == 0 ? 0 : 8, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_WORLD, "some\x01.out", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, buffer, rank == 0 ? 0 : 16, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Type_free(&type);
    MPI_Type_free(&bytes);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    btio(rank, size);
    madbench(rank);
    own_file(rank);
    some_have_nothing(rank);
    MPI_Finalize();
    return 0;
}
