/* trace_calls MODE FILE EXPECTED: known MPI-IO calls, for trace.sh.
 * MODE calls: one call of each kind; what a trace must say of each goes to EXPECTED.RANK:
 *     function position offset byte asked done code(0, or 1 for any failure)
 * MODE threads: 4 threads write at once. abort, exit, kill: the process ends that way in the middle of its calls.
 * Exits with 9 where tracing changed what the program sees. */
#include <mpi.h>

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INT_BYTES = sizeof(int), BLOCK = 4, THREADS = 4, WRITES = 500, CHANGED = 9 };

static int rank, size, handled;
static FILE *expected;

static void expect(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void expect(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs(strncmp(format, "Wait", 4) == 0 ? "MPI_" : "MPI_File_", expected);
    vfprintf(expected, format, args);
    fputc('\n', expected);
    va_end(args);
}

static void check(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, CHANGED);
}

/* A call that says nothing about a place. */
#define PLAIN(name) expect("%s - -1 -1 -1 -1 0", name)

static void count_errors(MPI_File *fh, int *error, ...)
{
    (void)fh;
    (void)error;
    handled++;
}

/* Every rank has blocks of 4 ints in turn, behind 16 bytes. */
static void individual(MPI_File fh)
{
    int data[64] = {rank};
    MPI_Datatype vector, filetype;
    MPI_Status status;
    MPI_Type_vector(1, BLOCK, BLOCK, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, (MPI_Aint)BLOCK * size * INT_BYTES, &filetype);
    MPI_Type_commit(&filetype);
    const int first = 16 + rank * BLOCK * INT_BYTES, round = BLOCK * size * INT_BYTES;

    MPI_File_set_view(fh, 16 + rank * BLOCK * INT_BYTES, MPI_INT, filetype, "native", MPI_INFO_NULL);
    PLAIN("set_view");
    MPI_File_write_all(fh, data, 8, MPI_INT, &status);
    expect("write_all individual 0 %d 32 32 0", first);
    MPI_File_write_all(fh, data, 1, MPI_INT, MPI_STATUS_IGNORE);
    expect("write_all individual 8 %d 4 4 0", first + 2 * round);
    MPI_File_seek(fh, 5, MPI_SEEK_SET);
    PLAIN("seek");
    MPI_File_read(fh, data, 3, MPI_INT, MPI_STATUS_IGNORE);
    expect("read individual 5 %d 12 12 0", first + round + INT_BYTES);
    MPI_File_read_at_all(fh, 4, data, 1, MPI_INT, &status);
    expect("read_at_all explicit 4 %d 4 4 0", first + round);
    MPI_File_read_at_all_begin(fh, 2, data, 2, MPI_INT);
    expect("read_at_all_begin explicit 2 %d 8 -1 0", first + 2 * INT_BYTES);
    MPI_File_read_at_all_end(fh, data, MPI_STATUS_IGNORE);
    expect("read_at_all_end explicit -1 -1 -1 8 0");
    MPI_Offset position;
    MPI_File_get_position(fh, &position);
    PLAIN("get_position");
    check(position == 8, "the individual pointer was moved");
    MPI_Type_free(&vector);
    MPI_Type_free(&filetype);
}

static void other_kinds(MPI_File fh)
{
    char data[64] = {0};
    MPI_Request request;
    MPI_Status status;
    int count;
    MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    PLAIN("set_view");
    MPI_File_iwrite_at(fh, 1000 + 10 * rank, data, 10, MPI_CHAR, &request);
    expect("iwrite_at explicit %d %d 10 -1 0", 1000 + 10 * rank, 1000 + 10 * rank);
    MPI_Wait(&request, &status);
    expect("Wait explicit -1 -1 -1 10 0");
    MPI_Get_count(&status, MPI_CHAR, &count);
    check(count == 10, "a request lost its count");
    MPI_File_write_ordered(fh, data, 5, MPI_BYTE, MPI_STATUS_IGNORE);
    expect("write_ordered shared -1 -1 5 5 0");
    PMPI_File_sync(fh);
    PLAIN("sync");
    MPI_File_read_at(fh, 1 << 20, data, 7, MPI_BYTE, &status); /* behind the end */
    expect("read_at explicit %d %d 7 0 0", 1 << 20, 1 << 20);
    MPI_Get_count(&status, MPI_BYTE, &count);
    check(count == 0, "a status is not what it was");
    MPI_File_write_at(fh, 0, data, 0, MPI_BYTE, &status);
    expect("write_at explicit 0 0 0 0 0");
#if MPI_VERSION >= 4
    PMPI_File_write_at_c(fh, 77, data, 3, MPI_BYTE, MPI_STATUS_IGNORE);
    expect("write_at_c explicit 77 77 3 3 0");
#endif
}

/* What fails fails as ever: the program's handler runs once for each call, and nothing of ours fails besides. */
static void failures(const char *path)
{
    char data[8] = {0};
    MPI_Errhandler handler;
    MPI_File fh;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh);
    PLAIN("open");
    MPI_File_create_errhandler(count_errors, &handler);
    PLAIN("create_errhandler");
    MPI_File_set_errhandler(fh, handler);
    PLAIN("set_errhandler");
    check(MPI_File_write_at(fh, 3, data, 1, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS, "wrote a read-only file");
    expect("write_at explicit 3 3 1 -1 1");
    check(handled == 1, "the error handler did not run once");
    check(MPI_File_read(fh, data, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE) != MPI_SUCCESS, "took a null type");
    expect("read individual 0 0 -1 -1 1");
    check(handled == 2, "the error handler did not run once for a bad type");
#ifndef OPEN_MPI /* OMPIO takes it */
    check(MPI_File_read_at(fh, -1, data, 1, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS, "took a bad offset");
    expect("read_at explicit -1 -1 -1 -1 1");
    check(handled == 3, "the error handler did not run once for a bad offset");
#endif
    MPI_Errhandler_free(&handler);
    MPI_File_close(&fh);
    PLAIN("close");
    check(MPI_File_open(MPI_COMM_SELF, "/nowhere/at all", MPI_MODE_RDONLY, MPI_INFO_NULL, &fh) != MPI_SUCCESS,
          "opened what is not there");
    expect("open - -1 -1 -1 -1 1");
}

/* There are no places in them: nobody may be asked. */
static void places_that_are_not(const char *path)
{
    char data[8] = {0};
    MPI_Datatype nothing;
    MPI_File fh;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
    PLAIN("open");
    const int bad = MPI_File_set_view(fh, 0, MPI_INT, nothing, "native", MPI_INFO_NULL) != MPI_SUCCESS;
    expect("set_view - -1 -1 -1 -1 %d", bad);
    if (!bad) {
        MPI_File_get_amode(fh, &(int){0});
        PLAIN("get_amode");
    }
    MPI_File_close(&fh);
    PLAIN("close");
    MPI_Type_free(&nothing);

    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &fh);
    PLAIN("open");
    MPI_File_write_shared(fh, data, 2, MPI_BYTE, MPI_STATUS_IGNORE);
    expect("write_shared shared -1 -1 2 2 0");
    MPI_File_close(&fh);
    PLAIN("close");
}

static void calls(const char *path)
{
    int data[10] = {rank};
    MPI_File fh;
    MPI_Info info;
    MPI_Offset bytes;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_Info_set(info, "odd key=\"1\"", "a \"b\"\\c");
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &fh);
    PLAIN("open");
    MPI_Info_free(&info);
    MPI_File_set_size(fh, 600);
    PLAIN("set_size");
    MPI_File_write_at(fh, 40 * rank, data, 10, MPI_INT, MPI_STATUS_IGNORE);
    expect("write_at explicit %d %d 40 40 0", 40 * rank, 40 * rank);
    PMPI_File_get_size(fh, &bytes);
    PLAIN("get_size");
    check(bytes == 600, "the size is wrong");
    individual(fh);
    other_kinds(fh);
    MPI_File_close(&fh);
    PLAIN("close");
    failures(path);
    places_that_are_not(path);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_File_delete(path, MPI_INFO_NULL);
        PLAIN("delete");
    }
}

static void *write_many(void *file)
{
    char data[16] = {0};
    for (int i = 0; i < WRITES; i++)
        MPI_File_write_at(*(MPI_File *)file, 16 * i, data, 16, MPI_BYTE, MPI_STATUS_IGNORE);
    return NULL;
}

static void threads(const char *path)
{
    MPI_File fh;
    pthread_t thread[THREADS];
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, write_many, &fh);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    MPI_File_close(&fh);
}

/* 100 writes, and another one a little more than a second later. */
static void end_early(const char *mode, const char *path)
{
    char data[16] = {0};
    MPI_File fh;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
    for (int i = 0; i < 101; i++) {
        if (i == 100 && strcmp(mode, "kill") == 0)
            usleep(1200000);
        MPI_File_write_at(fh, 16 * i, data, 16, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(mode, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(mode, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 5);
    exit(3);
}

int main(int argc, char **argv)
{
    char name[4096];
    int provided;
    if (argc != 4)
        return 2;
    MPI_Init_thread(&argc, &argv, strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(name, sizeof name, "%s.%d", argv[3], rank);
    expected = fopen(name, "w");
    check(expected != NULL, "cannot write what is expected");
    if (strcmp(argv[1], "calls") == 0)
        calls(argv[2]);
    else if (strcmp(argv[1], "threads") == 0 && provided == MPI_THREAD_MULTIPLE)
        threads(argv[2]);
    else
        end_early(argv[1], argv[2]);
    fclose(expected);
    MPI_Finalize();
    return 0;
}
