/* Reads a file into memory that nobody has touched, and one, which it then removes, into the same memory again and
 * again: replay_fresh.sh. */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 1 << 20, TURNS = 6, HEADER = 4, LINE = 480 };

int main(int argc, char **argv)
{
    MPI_File file;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *warm = malloc(BYTES), *lines = malloc(BYTES), *news[TURNS];
    if (argc != 2 || !warm || !lines)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(warm, rank, BYTES);
    for (int kind = 0; kind < 2; kind++) {
        char name[4096];
        strcpy(name, argv[1]);
        strcat(name, kind ? ".news" : ".same");
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        for (int i = 0; i < TURNS; i++)
            MPI_File_write_at(file, ((MPI_Offset)i * size + rank) * BYTES, warm, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < TURNS; i++) {
            news[i] = malloc(BYTES);
            MPI_File_read_at(file, ((MPI_Offset)i * size + rank) * BYTES, kind ? news[i] : warm, BYTES, MPI_BYTE,
                             MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (kind && rank == 0) { /* one rank has more of it than the others */
            char *header = malloc((size_t)HEADER * BYTES);
            MPI_File_read_at(file, 0, header, HEADER * BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
        }
        for (int at = 0; kind && at + LINE <= BYTES; at += LINE) /* many small ones meet each page once */
            MPI_File_read_at(file, (MPI_Offset)rank * BYTES + at, lines + at, LINE, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
        if (!kind && rank == 0) /* others may have it open: the last one frees it inside of its close */
            unlink(name);
        if (kind && rank == 0) /* a call of MPI-IO, told by itself */
            MPI_File_delete(name, MPI_INFO_NULL);
    }
    MPI_Finalize();
    return 0;
}
