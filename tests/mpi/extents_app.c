/* extents_app SCENE...: small programs, each with another way of telling MPI-IO which bytes it means. For a test that
 * compares what was accessed, byte by byte, with what our model of it says. "all" is every scene, in this order. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TURNS = 12, ROOM = 1 << 17 };

static char buffer[ROOM], second[ROOM];
static int rank, size;

static MPI_File opened(MPI_Comm comm, const char *name, int mode)
{
    MPI_File file;
    if (MPI_File_open(comm, name, mode, MPI_INFO_NULL, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return file;
}

static MPI_File made(const char *name)
{
    return opened(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
}

static void view(MPI_File file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype type)
{
    MPI_Type_commit(&type);
    MPI_File_set_view(file, disp, etype, type, "native", MPI_INFO_NULL);
    MPI_Type_free(&type);
}

/* The same everywhere, and without a rule. */
static unsigned drawn(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* ---- views that move ---- */

static void moving(void)
{
    MPI_File file = made("moving.dat");
    for (int i = 0; i < TURNS; i++) {
        MPI_File_set_view(file, (MPI_Offset)i * 10000, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
        MPI_File_write_at_all(file, rank * 500, buffer, 500, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

/* Displacements by rank and turn, with holes, an inner loop, and no rule in the last turns. */
static void moving_more(void)
{
    static const int jump[] = {7, 3, 11, 29, 2};
    MPI_File file = made("moving_more.dat");
    MPI_Datatype type;
    for (int i = 0; i < 5; i++) {
        MPI_Type_vector(4, 10, 10 * size, MPI_INT, &type);
        view(file, (MPI_Offset)i * 40000 + 40 * rank, MPI_INT, type);
        for (int j = 0; j < 6; j++)
            MPI_File_write_at_all(file, j * 20, buffer, 20, MPI_INT, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 5; i++) {
        MPI_File_set_view(file, 300000 + (MPI_Offset)jump[i] * 10000 + 400 * rank, MPI_INT, MPI_INT, "native",
                          MPI_INFO_NULL);
        MPI_File_write(file, buffer, 30 + jump[i], MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_read_at(file, 3, second, 10, MPI_INT, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

/* The filetype changes with the turn. */
static void growing(void)
{
    MPI_File file = made("growing.dat");
    for (int i = 0; i < TURNS; i++) {
        const int sizes[] = {8, size * (i + 1)}, part[] = {4, i + 1}, at[] = {2, rank * (i + 1)};
        MPI_Datatype type;
        MPI_Type_create_subarray(2, sizes, part, at, MPI_ORDER_C, MPI_DOUBLE, &type);
        view(file, (MPI_Offset)i * 8192, MPI_DOUBLE, type);
        MPI_File_write_all(file, buffer, 4 * (i + 1), MPI_DOUBLE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

/* ---- views of all kinds ---- */

static void shapes(void)
{
    const int sizes[] = {6 * size, 10}, part[] = {6, 4}, at[] = {6 * rank, 3};
    const int gsizes[] = {5 * size + 1, 7}, how[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, args[] = {2, 7},
              grid[] = {size, 1};
    const int blocks[] = {3, 1, 5, 2}, places[] = {0, 7, 11, 40};
    const MPI_Aint bytes[] = {16, 200, 112, 600}; /* not ascending: allowed for reading only */
    MPI_Aint up[] = {8, 104, 208, 600};
    MPI_Datatype type, inner;
    MPI_File file = made("shapes.dat");
    MPI_Type_create_subarray(2, sizes, part, at, MPI_ORDER_FORTRAN, MPI_FLOAT, &type);
    view(file, 100, MPI_FLOAT, type);
    MPI_File_write_all(file, buffer, 100, MPI_FLOAT, MPI_STATUS_IGNORE);
    MPI_Type_create_darray(size, rank, 2, gsizes, how, args, grid, MPI_ORDER_C, MPI_DOUBLE, &type);
    view(file, 20000, MPI_DOUBLE, type);
    MPI_File_write_at_all(file, 3, buffer, 61, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, 1, second, 5, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_Type_create_hindexed(4, blocks, up, MPI_DOUBLE, &inner);
    MPI_Type_create_resized(inner, 0, 1000, &type);
    MPI_Type_free(&inner);
    view(file, 60000 + 10000 * rank, MPI_DOUBLE, type);
    for (int i = 0; i < 4; i++)
        MPI_File_write_at(file, 5 * i, buffer, 4, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_Type_indexed(4, blocks, places, MPI_INT, &type);
    view(file, 200000, MPI_INT, type);
    MPI_File_read_all(file, second, 20, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Type_create_hindexed_block(4, 2, up, MPI_DOUBLE, &type);
    view(file, 0, MPI_DOUBLE, type);
    MPI_File_read_at(file, 1, second, 9, MPI_DOUBLE, MPI_STATUS_IGNORE);
    (void)bytes;
    MPI_File_close(&file);
}

/* A large etype: offsets count cells of 40 bytes, as BT-IO's. */
static void cells(void)
{
    MPI_Datatype cell, type;
    MPI_File file = made("cells.dat");
    MPI_Type_contiguous(5, MPI_DOUBLE, &cell);
    MPI_Type_commit(&cell);
    MPI_Type_vector(3, 2, 2 * size, cell, &type);
    view(file, 80 * rank, cell, type);
    for (int i = 0; i < TURNS; i++) {
        MPI_File_write_at_all(file, 6 * i, buffer, 6, cell, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < TURNS; i++)
        MPI_File_read_at_all(file, 6 * i, second, 6, cell, MPI_STATUS_IGNORE);
    MPI_Type_free(&cell);
    MPI_File_close(&file);
}

/* A type whose elements lie over each other: more is written than there is memory of it. */
static void overlapping(void)
{
    MPI_Datatype type;
    MPI_File file = made("overlapping.dat");
    MPI_Type_create_hvector(3, 4096, 1024, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < TURNS; i++)
        MPI_File_write_at_all(file, (i * size + rank) * 12288, buffer, 1, type, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    MPI_File_close(&file);
}

/* ---- pointers ---- */

static void seeks(void)
{
    unsigned state = 5;
    MPI_File file = made("seeks.dat");
    MPI_File_set_view(file, 64, MPI_SHORT, MPI_SHORT, "native", MPI_INFO_NULL);
    for (int i = 0; i < TURNS; i++) {
        MPI_File_seek(file, (i * size + rank) * 300, MPI_SEEK_SET);
        MPI_File_write(file, buffer, 100, MPI_SHORT, MPI_STATUS_IGNORE);
        MPI_File_seek(file, 50, MPI_SEEK_CUR);
        MPI_File_write(file, buffer, 100 + rank, MPI_SHORT, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < TURNS; i++) {
        MPI_File_seek(file, drawn(&state) % 2000, MPI_SEEK_SET);
        MPI_File_read(file, second, 40, MPI_SHORT, MPI_STATUS_IGNORE);
        MPI_File_read_all(file, second, 10, MPI_SHORT, MPI_STATUS_IGNORE);
    }
    MPI_File_seek(file, -100 * (rank + 1), MPI_SEEK_END);
    MPI_File_read(file, second, 60, MPI_SHORT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void ordered(void)
{
    MPI_File file = made("ordered.dat");
    for (int i = 0; i < TURNS; i++)
        MPI_File_write_ordered(file, buffer, 100 + 10 * rank, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek_shared(file, 128, MPI_SEEK_SET);
    MPI_File_read_ordered(file, second, 20, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_ordered_begin(file, buffer, 7, MPI_INT);
    MPI_File_write_ordered_end(file, buffer, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

/* Who comes first is free, but all write the same size. */
static void shared(void)
{
    MPI_Request request;
    MPI_File file = made("shared.dat");
    for (int i = 0; i < 5; i++)
        MPI_File_write_shared(file, buffer, 1000, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_iwrite_shared(file, buffer, 1000, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_shared(file, second, 500, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

/* Only the shared pointer, and views that begin where it stands. */
static void sequential(void)
{
    MPI_File file = opened(MPI_COMM_WORLD, "sequential.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    MPI_File_write_ordered(file, buffer, 100 + rank, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_ordered(file, buffer, 10, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

/* ---- split, non-blocking ---- */

static void split(void)
{
    MPI_File file = made("split.dat");
    for (int i = 0; i < TURNS; i++) {
        MPI_File_write_at_all_begin(file, (i * size + rank) * 700, buffer, 650, MPI_BYTE);
        MPI_File_write_at_all_end(file, buffer, MPI_STATUS_IGNORE);
    }
    MPI_File_seek(file, 40 * rank, MPI_SEEK_SET);
    for (int i = 0; i < 3; i++) {
        MPI_File_write_all_begin(file, buffer, 13, MPI_BYTE);
        MPI_File_write_all_end(file, buffer, MPI_STATUS_IGNORE);
        MPI_File_read_all_begin(file, second, 4, MPI_BYTE);
        MPI_File_read_all_end(file, second, MPI_STATUS_IGNORE);
    }
    MPI_File_read_at_all_begin(file, 700 * rank, second, 600, MPI_BYTE);
    MPI_File_read_at_all_end(file, second, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void nonblocking(void)
{
    MPI_Request requests[4];
    MPI_Status statuses[4];
    MPI_File file = made("nonblocking.dat");
    for (int i = 0; i < TURNS; i++) {
        for (int j = 0; j < 4; j++)
            MPI_File_iwrite_at(file, ((i * 4 + j) * size + rank) * 512, buffer + 512 * j, 512, MPI_BYTE, &requests[j]);
        MPI_Waitall(4, requests, statuses);
    }
    for (int i = 0; i < 3; i++) {
        MPI_File_iwrite(file, buffer, 64 + i, MPI_BYTE, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_File_iread(file, second, 64, MPI_BYTE, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_File_iwrite_at_all(file, 100000 + i * 1000 + rank * 100, buffer, 100, MPI_BYTE, &requests[0]);
        MPI_File_iread_at(file, i * 100, second, 50, MPI_BYTE, &requests[1]);
        MPI_Waitall(2, requests, statuses);
        MPI_File_iwrite_all(file, buffer, 8, MPI_BYTE, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

/* ---- files ---- */

static void several(void)
{
    MPI_File files[3];
    char name[32];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "several.%d", i);
        files[i] = made(name);
    }
    for (int i = 0; i < TURNS; i++)
        for (int j = 0; j < 3; j++)
            MPI_File_write_at_all(files[j], (i * size + rank) * (100 + j), buffer, 100 + j, MPI_BYTE,
                                  MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; i++)
        MPI_File_close(&files[i]);
    for (int i = 0; i < 2; i++) { /* removed between, and not by MPI */
        MPI_File file = opened(MPI_COMM_WORLD, "several.new", MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY);
        MPI_File_write_at_all(file, (2 - i) * 5000 + rank * 100, buffer, 100, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
        if (i == 0 && rank == 0)
            unlink("several.new");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < TURNS; i++) { /* one for each turn, and as long as its number */
        snprintf(name, sizeof name, "turn.%03d", i);
        MPI_File file = made(name);
        MPI_File_write_at_all(file, rank * 8 * (i + 1), buffer, 8 * (i + 1), MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
    }
}

static void own(void)
{
    char name[32];
    snprintf(name, sizeof name, "own.%d", rank);
    MPI_File file = opened(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    for (int i = 0; i < TURNS; i++)
        MPI_File_write(file, buffer, 100 + 7 * rank, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i <= rank; i++) /* as many as the rank's number */
        MPI_File_read_at(file, 10 * i, second, 30, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    file = opened(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_APPEND);
    MPI_File_write(file, buffer, 50, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write(file, buffer, 51, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

/* One rank looks at the file by itself between the times that all have it open. */
static void looked_at(void)
{
    MPI_Offset bytes;
    for (int i = 0; i < 3; i++) {
        MPI_File file = made("looked_at.dat");
        MPI_File_set_size(file, 0);
        MPI_File_write_at_all(file, (i * size + rank) * 500, buffer, 500, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
        for (int j = 0; j < 2; j++) {
            if (rank == 0) {
                file = opened(MPI_COMM_SELF, "looked_at.dat", MPI_MODE_RDONLY);
                MPI_File_get_size(file, &bytes);
                MPI_File_close(&file);
            }
            MPI_Barrier(MPI_COMM_WORLD);
            file = opened(MPI_COMM_WORLD, "looked_at.dat", MPI_MODE_RDONLY);
            MPI_File_read_at(file, (i * size + rank) * 500, second, 500, MPI_BYTE, MPI_STATUS_IGNORE);
            MPI_File_close(&file);
        }
    }
}

static void groups(void)
{
    MPI_Comm half;
    char name[32];
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    snprintf(name, sizeof name, "group.%d", rank % 2);
    MPI_File file = opened(half, name, MPI_MODE_CREATE | MPI_MODE_RDWR);
    for (int i = 0; i < TURNS; i++)
        MPI_File_write_at_all(file, (i * size + rank) * 100, buffer, 60 + rank, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Comm_free(&half);
}

/* ---- sizes ---- */

static void sizes(void)
{
    MPI_File file = made("sizes.dat");
    MPI_File_set_size(file, 300000);
    MPI_File_preallocate(file, 20000);
    MPI_File_write_at(file, 100000 + rank * 1000, buffer, 1000, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_size(file, 250000);
    MPI_File_write_at_all(file, 200000 + rank * 100, buffer, 100, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    file = made("shrunk.dat");
    for (int i = 0; i < 6; i++) {
        MPI_File_write_at_all(file, i * 20000 + 1000 * rank, buffer, 1000, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_set_size(file, i * 20000 + 500);
    }
    MPI_File_close(&file);
}

/* Behind the end of the file there is nothing, and asking for it makes nothing. */
static void past_end(void)
{
    MPI_File file = made("past_end.dat");
    MPI_File_write_at_all(file, rank * 1000, buffer, 1000, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(file, (size - 1) * 1000 + 500, second, 5000, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 900000, second, 5000, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_seek(file, size * 1000 - 100, MPI_SEEK_SET);
    for (int i = 0; i < 4; i++)
        MPI_File_read(file, second, 60, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, 800000 + rank, second, 4000, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void zero(void)
{
    MPI_File file = made("zero.dat");
    MPI_File_write_at_all(file, rank * 1000, buffer, rank % 2 ? 0 : 1000, MPI_BYTE, MPI_STATUS_IGNORE);
    for (int i = 0; i < TURNS; i++) /* each time another one has something */
        MPI_File_write_at_all(file, 10000 + i * 100, buffer, i % size == rank ? 100 : 0, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_write_at(file, 500000, buffer, 0, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, 0, second, 0, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void uneven(void)
{
    MPI_File file = made("uneven.dat");
    const int mine = 1000 / size + (rank < 1000 % size),
              before = rank * (1000 / size) + (rank < 1000 % size ? rank : 1000 % size);
    for (int i = 0; i < TURNS; i++)
        MPI_File_write_at_all(file, ((MPI_Offset)i * 1000 + before) * 8, buffer, mine, MPI_DOUBLE, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3 * (rank + 1); i++) /* more turns on later ranks */
        MPI_File_write_at(file, 200000 + (i * size + rank) * 64, buffer, 64 - rank, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank % 2 == 0)
        MPI_File_read_at(file, rank * 8, second, 9 + rank, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void irregular(void)
{
    unsigned state = 77 + (unsigned)rank;
    MPI_File file = made("irregular.dat");
    for (int i = 0; i < 60; i++)
        MPI_File_write_at(file, rank * 400000 + (int)(drawn(&state) % 390000), buffer, 1 + (int)(drawn(&state) % 5000),
                          MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 40; i++) {
        const MPI_Offset at = drawn(&state) % 100000;
        if (drawn(&state) % 3 == 0)
            MPI_File_read_at(file, at, second, 100 + (int)(drawn(&state) % 400), MPI_BYTE, MPI_STATUS_IGNORE);
        else
            MPI_File_write_at(file, rank * 400000 + at, buffer, 77, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

static void nested(void)
{
    MPI_File file = made("nested.dat");
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 5; j++)
            for (int k = 0; k < 6; k++)
                MPI_File_write_at(file, i * 60000 + j * 9000 + (k * size + rank) * 300, buffer, 300, MPI_BYTE,
                                  MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 6; i++) /* the inner loop grows */
        for (int j = 0; j <= i; j++)
            MPI_File_read_at(file, i * 10000 + j * 100, second, 100, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

/* A loop of two calls, communication, and the same loop: the loop is as long as "a call and communication" would be. */
static void twice(void)
{
    MPI_File file = made("twice.dat");
    for (int i = 0; i < 2; i++) {
        if (i > 0)
            MPI_Barrier(MPI_COMM_WORLD);
        for (int j = 0; j < 5; j++) {
            MPI_File_write_at(file, (i * 5 + j) * 1000 + rank * 100, buffer, 100, MPI_BYTE, MPI_STATUS_IGNORE);
            MPI_File_read_at(file, (i * 5 + j) * 1000 + rank * 100, second, 50, MPI_BYTE, MPI_STATUS_IGNORE);
        }
    }
    MPI_File_close(&file);
}

static void atomic(void)
{
    MPI_File file = made("atomic.dat");
    MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
#ifndef OPEN_MPI /* OMPIO refuses it, but for the first rank */
    MPI_File_set_atomicity(file, 1);
#endif
    for (int i = 0; i < TURNS; i++)
        MPI_File_write_at(file, (i * size + rank) * 256, buffer, 256, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at_all(file, 256 * rank, second, 256, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

/* ---- calls in no order ---- */

/* Numbers that no rule gives: `common` the same on all ranks. */
static unsigned mixed_next(unsigned long *state, unsigned most)
{
    *state = *state * 6364136223846793005UL + 1442695040888963407UL;
    return (unsigned)(*state >> 40) % most;
}

static void mixed_access(MPI_File file, unsigned long *own)
{
    const MPI_Offset place = mixed_next(own, 100000);
    const int bytes = (int)mixed_next(own, 300);
    if (mixed_next(own, 2))
        MPI_File_write_at(file, place, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    else
        MPI_File_read_at(file, place, second, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
}

static MPI_File mixed_made(const char *name)
{
    MPI_File file = made(name);
    MPI_File_write_at_all(file, 100000 + rank * 300, buffer, 300, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    return file;
}

/* Reads and writes of two files, on each rank others and another number of them. */
static void mixed(void)
{
    unsigned long own = 7 + (unsigned long)rank;
    MPI_File one = mixed_made("mixed_one.dat"), other = mixed_made("mixed_other.dat");
    for (int i = 0; i < 500 + 37 * rank; i++)
        if (rank % 2 == 0 && mixed_next(&own, 3) == 0)
            MPI_File_write_at(other, mixed_next(&own, 100000), buffer, 64, MPI_BYTE, MPI_STATUS_IGNORE);
        else
            mixed_access(one, &own);
    MPI_File_close(&one);
    MPI_File_close(&other);
}

/* Bursts between barriers, or messages, and between much communication; some ranks begin with a read. */
static void mixed_bursts(void)
{
    unsigned long own = 70 + (unsigned long)rank, common = 5;
    MPI_File file = mixed_made("mixed_bursts.dat");
    for (int i = 0; i < 60; i++) {
        for (unsigned j = mixed_next(&own, 12); j > 0; j--)
            mixed_access(file, &own);
        if (mixed_next(&common, 2)) {
            MPI_Barrier(MPI_COMM_WORLD);
        } else {
            int mine = i, others;
            MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, 0, &others, 1, MPI_INT, (rank + size - 1) % size, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    for (int i = 0; i < 30; i++) {
        for (unsigned j = mixed_next(&own, 12); j > 0; j--)
            mixed_access(file, &own);
        for (int j = 0; j < 20; j++)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File_close(&file);
}

/* Collective and independent calls, views and loops of a few turns inside of each other. */
static void mixed_kinds(void)
{
    unsigned long own = 700 + (unsigned long)rank, common = 50;
    MPI_File file = mixed_made("mixed_kinds.dat");
    for (int i = 0; i < 300; i++) {
        const int bytes = (int)mixed_next(&own, 200);
        switch (mixed_next(&common, 5)) {
        case 0:
            MPI_File_write_at_all(file, mixed_next(&own, 50000), buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
            break;
        case 1:
            MPI_File_read_at_all(file, mixed_next(&own, 50000), second, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
            break;
        case 2:
            MPI_File_set_view(file, mixed_next(&common, 1000), MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
            break;
        default:
            for (unsigned j = mixed_next(&own, 4); j > 0; j--)
                for (unsigned k = mixed_next(&own, 4); k > 0; k--)
                    mixed_access(file, &own);
        }
    }
    MPI_File_close(&file);
}

/* Loops of a few turns, whose size changes from one to the next. */
static void mixed_turns(void)
{
    MPI_File file = mixed_made("mixed_turns.dat");
    MPI_Offset at = 0;
    for (int i = 0; i < 20; i++) {
        const int bytes = 100 + 7 * i * i;
        for (int j = 0; j < 5; j++, at += (MPI_Offset)size * bytes)
            MPI_File_write_at_all(file, at + rank * bytes, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        for (int j = 0; j < (i < 10 ? 1 : 30); j++)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File_close(&file);
}

static const struct {
    const char *name;
    void (*play)(void);
} SCENES[] = {{"moving", moving},
              {"moving_more", moving_more},
              {"growing", growing},
              {"shapes", shapes},
              {"cells", cells},
              {"overlapping", overlapping},
              {"seeks", seeks},
              {"ordered", ordered},
              {"shared", shared},
              {"sequential", sequential},
              {"split", split},
              {"nonblocking", nonblocking},
              {"several", several},
              {"own", own},
              {"looked_at", looked_at},
              {"groups", groups},
              {"sizes", sizes},
              {"past_end", past_end},
              {"zero", zero},
              {"uneven", uneven},
              {"irregular", irregular},
              {"nested", nested},
              {"twice", twice},
              {"atomic", atomic},
              {"mixed", mixed},
              {"mixed_bursts", mixed_bursts},
              {"mixed_kinds", mixed_kinds},
              {"mixed_turns", mixed_turns}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(buffer, 'a' + rank, sizeof buffer);
    if (argc == 2 && strcmp(argv[1], "list") == 0)
        for (size_t j = 0; j < sizeof SCENES / sizeof SCENES[0] && rank == 0; j++)
            puts(SCENES[j].name);
    for (int i = 1; i < argc; i++)
        for (size_t j = 0; j < sizeof SCENES / sizeof SCENES[0]; j++)
            if (strcmp(argv[i], "all") == 0 || strcmp(argv[i], SCENES[j].name) == 0) {
                SCENES[j].play();
                MPI_Barrier(MPI_COMM_WORLD);
            }
    MPI_Finalize();
    return 0;
}
