/* A program that asks MPI-IO for a little of everything, with numbers that a replay can be compared by: views of all
 * kinds, accesses by explicit offset, individual and shared pointer, non-blocking and split ones, files of groups of
 * ranks, data that lie scattered in memory, and what is no access. */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 64, TURNS = 6 };

static double buffer[4 * CELLS], second[4 * CELLS];
static int rank, size;

static MPI_File opened(MPI_Comm comm, const char *name, int mode, MPI_Info info)
{
    MPI_File file;
    if (MPI_File_open(comm, name, mode, info, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return file;
}

static void view(MPI_File file, MPI_Offset disp, MPI_Datatype type)
{
    MPI_Type_commit(&type);
    MPI_File_set_view(file, disp, MPI_DOUBLE, type, "native", MPI_INFO_NULL);
    MPI_Type_free(&type);
}

/* One view of every constructor; each is used to write and to read. */
static MPI_Datatype type_of(int kind)
{
    const int blocks[] = {2, 3, 1}, places[] = {0, 4, 9}, even[] = {0, 4, 8, 12, 20};
    const MPI_Aint bytes[] = {0, 48, 96}, ebytes[] = {0, 32, 64, 96, 160};
    const int sizes[] = {8, 4 * size}, part[] = {4, 4}, at[] = {2, 4 * rank};
    const int gsizes[] = {8, 8}, how[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE},
              args[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {size, 1};
    MPI_Datatype inner, types[3] = {MPI_DOUBLE, MPI_DOUBLE, MPI_DOUBLE}, type = MPI_DOUBLE;
    switch (kind) {
    case 0:
        MPI_Type_vector(4, 2, 2 * size, MPI_DOUBLE, &type);
        break;
    case 1:
        MPI_Type_create_hvector(3, 2, 64, MPI_DOUBLE, &type);
        break;
    case 2:
        MPI_Type_indexed(3, blocks, places, MPI_DOUBLE, &type);
        break;
    case 3:
        MPI_Type_create_hindexed(3, blocks, bytes, MPI_DOUBLE, &type);
        break;
    case 4:
        MPI_Type_create_indexed_block(5, 2, even, MPI_DOUBLE, &type);
        break;
    case 5:
        MPI_Type_create_hindexed_block(5, 2, ebytes, MPI_DOUBLE, &type);
        break;
    case 6:
        MPI_Type_create_struct(3, blocks, bytes, types, &type);
        break;
    case 7:
        MPI_Type_create_subarray(2, sizes, part, at, rank % 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, MPI_DOUBLE, &type);
        break;
    case 8:
        MPI_Type_create_darray(size, rank, 2, gsizes, how, args, grid, MPI_ORDER_C, MPI_DOUBLE, &type);
        break;
    default:
        MPI_Type_contiguous(3, MPI_DOUBLE, &inner);
        MPI_Type_create_resized(inner, 0, 24 * (MPI_Aint)size, &type);
        MPI_Type_free(&inner);
        MPI_Type_dup(type, &inner);
        MPI_Type_free(&type);
        type = inner;
    }
    return type;
}

static void views(void)
{
    MPI_File file = opened(MPI_COMM_WORLD, "views.out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    for (int kind = 0; kind < 10; kind++) {
        view(file, 8192 * kind + 16 * rank, type_of(kind));
        MPI_File_write_all(file, buffer, 12, MPI_DOUBLE, MPI_STATUS_IGNORE);
        MPI_File_seek(file, 6, MPI_SEEK_SET);
        MPI_File_read_all(file, buffer, 6, MPI_DOUBLE, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File_sync(file);
    MPI_File_close(&file);
}

static void waits(void)
{
    MPI_Info info;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_File file = opened(MPI_COMM_WORLD, "waits.out", MPI_MODE_CREATE | MPI_MODE_RDWR, info);
    MPI_Info_free(&info);
    MPI_File_set_size(file, 65536);
    MPI_File_preallocate(file, 131072);
#ifndef OPEN_MPI /* OMPIO refuses it, but for the first rank */
    MPI_File_set_atomicity(file, 1);
    MPI_File_set_atomicity(file, 0);
#endif
    for (int turn = 0; turn < TURNS; turn++) {
        const MPI_Offset at = ((MPI_Offset)turn * size + rank) * (MPI_Offset)sizeof buffer;
        MPI_File_iwrite_at(file, at, buffer, 2 * CELLS, MPI_DOUBLE, &requests[0]);
        MPI_File_iread_at(file, 0, second, CELLS, MPI_DOUBLE, &requests[1]);
        MPI_Waitall(2, requests, statuses);
        MPI_File_write_at_all_begin(file, at, buffer, 3 * CELLS, MPI_DOUBLE);
        MPI_File_write_at_all_end(file, buffer, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File_seek(file, 512 * rank, MPI_SEEK_SET);
    MPI_File_iwrite(file, buffer, 8, MPI_DOUBLE, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_File_read_all_begin(file, buffer, 8, MPI_DOUBLE);
    MPI_File_read_all_end(file, buffer, MPI_STATUS_IGNORE);
    MPI_File_iwrite_at_all(file, 8192 + 64 * rank, buffer, 8, MPI_DOUBLE, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void shared(void)
{
    MPI_Comm half;
    char name[32];
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    snprintf(name, sizeof name, "half.%d", rank % 2);
    MPI_File file = opened(half, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    MPI_File_write_ordered(file, buffer, CELLS + rank, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_write_shared(file, buffer, CELLS, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_Barrier(half);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_ordered(file, buffer, CELLS, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Comm_free(&half);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_File_delete("half.1", MPI_INFO_NULL);
}

static MPI_Datatype ready(MPI_Datatype type)
{
    MPI_Type_commit(&type);
    return type;
}

/* Types are made anew in each turn: MPI uses their handles again. Some ranks have their data in one piece. */
static void made_in_turn(MPI_File file, int turn)
{
    MPI_Datatype type = MPI_DOUBLE;
    if (turn % 2 == 0)
        MPI_Type_vector(4, 2, 3, MPI_DOUBLE, &type);
    else if (rank > 0)
        MPI_Type_create_hvector(2, 4, 64, MPI_DOUBLE, &type);
    if (type != MPI_DOUBLE)
        type = ready(type);
    MPI_File_write_at_all(file, ((MPI_Offset)turn * size + rank) * 128, buffer, type == MPI_DOUBLE ? 16 : 2, type,
                          MPI_STATUS_IGNORE);
    if (type != MPI_DOUBLE)
        MPI_Type_free(&type);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void scattered(void)
{
    const int blocks[] = {3, 2, 4}, places[] = {-8, 0, 5}, equal[] = {8, 8};
    const MPI_Aint addresses[] = {(MPI_Aint)(uintptr_t)buffer, (MPI_Aint)(uintptr_t)(buffer + 20)};
    MPI_Datatype type, inner;
    MPI_Request request;
    MPI_File file = opened(MPI_COMM_WORLD, "memory.out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL);
    for (int turn = 0; turn < TURNS; turn++)
        made_in_turn(file, turn);
    MPI_Type_indexed(3, blocks, places, MPI_DOUBLE, &type); /* begins before the buffer */
    type = ready(type);
    MPI_File_iwrite_at(file, 4096 + 72 * rank, buffer + 16, 1, type, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_read_at_all_begin(file, 0, buffer + 16, 1 + rank, type);
    MPI_File_read_at_all_end(file, buffer + 16, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    MPI_Type_contiguous(4, MPI_DOUBLE, &inner); /* in one piece, but for several */
    MPI_Type_create_resized(inner, 0, 48, &type);
    MPI_Type_free(&inner);
    type = ready(type);
    MPI_File_write_at(file, 8192 + 64 * rank, buffer, 1, type, MPI_STATUS_IGNORE);
    MPI_File_write_at(file, 8192 + 64 * rank, buffer, 2, type, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    MPI_Type_create_hindexed(2, equal, addresses, MPI_DOUBLE, &type); /* addresses are others in another run */
    type = ready(type);
    MPI_File_write_at(file, 16384 + 256 * rank, MPI_BOTTOM, 1, type, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    views();
    waits();
    shared();
    scattered();
    MPI_Finalize();
    return 0;
}
