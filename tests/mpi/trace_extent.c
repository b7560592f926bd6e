/* Writes 'x' through views of several kinds: trace_extent FILE. Called by trace_extent.sh. */
#include <mpi.h>

#include <string.h>

enum { BYTES = 40 };

static MPI_File file;
static char data[4096];

static void write_through(MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, MPI_Offset offset, int bytes)
{
    MPI_File_set_view(file, disp, etype, filetype, "native", MPI_INFO_NULL);
    MPI_File_write_at_all(file, offset, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void free_after(MPI_Offset disp, MPI_Datatype etype, MPI_Datatype type, MPI_Offset offset, int bytes)
{
    MPI_Type_commit(&type);
    write_through(disp, etype, type, offset, bytes);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Datatype type, inner;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(data, 'x', sizeof data);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_size(file, 7120); /* all of it: beyond the end, ROMIO fills gaps with what its buffer holds */
    for (int i = 0; i < 12; i++)   /* no view */
        MPI_File_write_at(file, rank * 400 + i * 30, data, 7, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Type_vector(10, 1, 2, MPI_INT, &type); /* the ranks take turns */
    free_after(1000 + 4 * rank, MPI_INT, type, 0, BYTES);
    MPI_Type_vector(10, 1, 2, MPI_INT, &type);
    free_after(1200 + 4 * rank, MPI_INT, type, 3, BYTES + 20); /* into the next filetype */
    for (int i = 0; i < 9; i++) {                              /* a view that moves */
        MPI_Type_create_subarray(2, (int[]){4, 10}, (int[]){2, 3}, (int[]){1, 2 + 4 * rank}, MPI_ORDER_C, MPI_SHORT,
                                 &type);
        free_after(2000 + 100 * i, MPI_SHORT, type, 0, 12);
    }
    for (int i = 0; i < 9; i++) { /* and one that moves by no rule, with another number of etypes */
        MPI_Type_create_darray(2, rank, 2, (int[]){5, 6}, (int[]){MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
                               (int[]){2, MPI_DISTRIBUTE_DFLT_DARG}, (int[]){2, 1}, MPI_ORDER_FORTRAN, MPI_BYTE, &type);
        free_after(4000 + 40 * ((i * 7) % 9), MPI_BYTE, type, i % 3, 8 + i % 2);
    }
    MPI_Type_create_hindexed(3, (int[]){2, 1, 4}, (MPI_Aint[]){0, 5, 20}, MPI_BYTE, &inner);
    MPI_Type_create_resized(inner, 0, 64, &type);
    MPI_Type_free(&inner);
    free_after(5000 + 32 * rank, MPI_BYTE, type, 2, 30);
    write_through(7000, MPI_DOUBLE, MPI_DOUBLE, 2 * rank, 16);
    MPI_File_seek(file, 10 + 3 * rank, MPI_SEEK_SET); /* by the file pointer */
    for (int i = 0; i < 2; i++)
        MPI_File_write(file, data, 8, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
