/* trace_fold MODE FILE: programs for trace_fold.sh.
 * mix: loops, random places, file pointers, requests, views, a file of some ranks, and communication between.
 * kill, abort: the process ends that way behind 5000 writes. threads: 4 threads write and send at once.
 * files: 10000 files, one after the other. */
#include <mpi.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, WRITES = 500, FILES = 10000 };

static int rank, size;
static char data[4096];

static MPI_File open_on(MPI_Comm comm, const char *path, int amode)
{
    MPI_File file;
    if (MPI_File_open(comm, path, amode, MPI_INFO_NULL, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 9);
    return file;
}

static void regular(MPI_File file)
{
    MPI_Datatype vector;
    for (int step = 0; step < 10; step++) { /* dumps, with communication between */
        MPI_Bcast(data, 8, MPI_BYTE, 0, MPI_COMM_WORLD);
        MPI_Sendrecv(data, 8, MPI_BYTE, (rank + 1) % size, 0, data + 8, 8, MPI_BYTE, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 7; i++)
            for (int j = 0; j < 5; j++)
                MPI_File_write_at(file, step * 10000 + i * 1000 + j * 16, data, 16, MPI_BYTE, MPI_STATUS_IGNORE);
        if (step == 6)
            MPI_File_sync(file);
    }
    MPI_Type_vector(4, 2, 2 * size, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    for (int step = 0; step < 5; step++) { /* a view that moves on */
        MPI_File_set_view(file, 8 * rank + step * 1024, MPI_INT, vector, "native", MPI_INFO_NULL);
        MPI_File_write_all(file, data, 8, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_write_all(file, data, 4, MPI_INT, MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&vector);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
}

static void pointers(MPI_File file)
{
    MPI_Status status;
    MPI_Offset position;
    for (int i = 0; i < 20; i++) {
        MPI_File_seek(file, 3 * i, MPI_SEEK_SET);
        MPI_File_read(file, data, 10, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_seek(file, 100, MPI_SEEK_CUR);
    MPI_File_read(file, data, 10, MPI_BYTE, &status);
    MPI_File_seek(file, -7, MPI_SEEK_END); /* reads the rest, and then nothing */
    for (int i = 0; i < 3; i++)
        MPI_File_read(file, data, 5, MPI_BYTE, &status);
    MPI_File_get_position(file, &position);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_write_all_begin(file, data, 100, MPI_BYTE);
    MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE);
    MPI_File_write(file, data, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    for (int i = 0; i < 5; i++)
        MPI_File_write_shared(file, data, 3, MPI_BYTE, MPI_STATUS_IGNORE);
}

static void requests(MPI_File file)
{
    MPI_Request request[20];
    int flag, index;
    for (int i = 0; i < 10; i++) {
        MPI_File_iwrite_at(file, 64 * i, data, 64, MPI_BYTE, &request[0]);
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 20; i++)
        MPI_File_iread(file, data + 64 * i, 64, MPI_BYTE, &request[i]);
    MPI_Waitall(20, request, MPI_STATUSES_IGNORE);
    MPI_Irecv(data, 1, MPI_BYTE, rank, 5, MPI_COMM_WORLD, &request[0]);
    MPI_File_iwrite_at(file, 0, data + 64, 64, MPI_BYTE, &request[1]);
    MPI_Isend(data + 1, 1, MPI_BYTE, rank, 5, MPI_COMM_WORLD, &request[2]);
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    MPI_File_iwrite_at(file, 0, data, 64, MPI_BYTE, &request[1]);
    MPI_Waitany(3, request, &index, MPI_STATUS_IGNORE);
    MPI_Ibarrier(MPI_COMM_WORLD, &request[0]);
    do /* how often depends on the others, and is not told */
        MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE);
    while (!flag);
}

static void mix(const char *path)
{
    unsigned long state = 1234 + (unsigned long)rank;
    MPI_File file = open_on(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
    regular(file);
    for (int i = 0; i < 200; i++) { /* anywhere */
        state = state * 6364136223846793005u + 1442695040888963407u;
        MPI_File_read_at(file, (MPI_Offset)(state >> 50), data, 32, MPI_BYTE, MPI_STATUS_IGNORE);
        if (i >= 100)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    pointers(file);
    requests(file);
    MPI_File_set_size(file, 500000);
    for (int i = 0; i < 5; i++)
        MPI_File_write_at(file, 0, data, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE); /* refused */
    MPI_File_close(&file);

    MPI_Comm part; /* the odd ranks, backward */
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? 1 : MPI_UNDEFINED, -rank, &part);
    if (part != MPI_COMM_NULL) {
        file = open_on(part, path, MPI_MODE_RDWR | MPI_MODE_APPEND);
        MPI_Barrier(part); /* the end of the file is where all found it */
        MPI_File_write(file, data, 10, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_write(file, data, 10, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
        MPI_Comm_free(&part);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_File_delete(path, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void end_early(const char *mode, const char *path)
{
    MPI_File file = open_on(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    for (int i = 0; i < 5000; i++) {
        MPI_File_write_at(file, 16 * (i % 1000), data, 16, MPI_BYTE, MPI_STATUS_IGNORE);
        if (i % 10 == 9)
            MPI_File_read_at(file, 0, data, 8, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(mode, "kill") == 0)
        raise(SIGKILL);
    MPI_Abort(MPI_COMM_WORLD, 5);
}

static void *write_many(void *file)
{
    char own[16] = {0};
    MPI_Status status;
    for (int i = 0; i < WRITES; i++) {
        MPI_File_write_at(*(MPI_File *)file, 16 * i, own, 16, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_Sendrecv(own, 1, MPI_BYTE, 0, 0, own + 1, 1, MPI_BYTE, 0, 0, MPI_COMM_SELF, &status);
    }
    return NULL;
}

static void threads(const char *path)
{
    MPI_File file = open_on(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, write_many, &file);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    MPI_File_close(&file);
}

static void files(const char *path)
{
    for (int i = 0; i < FILES; i++) {
        MPI_File file = open_on(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR);
        MPI_File_write_at(file, i, data, 1, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
    }
}

int main(int argc, char **argv)
{
    int provided;
    if (argc != 3)
        return 2;
    const int wanted = strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(argv[1], "mix") == 0)
        mix(argv[2]);
    else if (strcmp(argv[1], "threads") == 0)
        threads(argv[2]);
    else if (strcmp(argv[1], "files") == 0)
        files(argv[2]);
    else
        end_early(argv[1], argv[2]);
    MPI_Finalize();
    return 0;
}
