/* Scenes in which a thread of the engine has carried an operation on, or is about to: whose thread calls functions of
 * the program, who is told of a failure, and how a program ends meanwhile. */
#include "engine_progress.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 50, COUNT = 16 };

static pthread_t own;
static int handler_calls;
static MPI_File file;
static int values[COUNT];

static void is_own(const char *what)
{
    if (!pthread_equal(own, pthread_self()))
        fail_row("%s is called in another thread than the program's", what);
}

/* Without a call of MPI until the others have completed theirs: a thread has to carry ours on. */
static void until_others_are_done(int round)
{
    if (rank == LAST)
        while (atomic_load(&board->released) < LAST * (round + 1))
            usleep(50);
    else
        atomic_fetch_add(&board->released, 1);
}

static void open_scene(const char *representation)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "piolet_strategy", "twophase");
    MPI_File_open(world, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
    MPI_Info_free(&info);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, representation, MPI_INFO_NULL);
    atomic_store(&board->released, 0);
    own = pthread_self();
    MPI_Barrier(world);
}

/* ---- failures: once for each request, in the call that completes it ---- */

static void on_error(MPI_File *which, int *code, ...)
{
    (void)which, (void)code;
    is_own("the error handler");
    handler_calls++;
}

/* In all ways to complete a request. */
static int complete(int round, MPI_Request *request)
{
    int done = 0, index, indices[1], looked = 0;
    MPI_Status status;
    switch (round % 5) {
    case 0:
        return MPI_Wait(request, MPI_STATUS_IGNORE);
    case 1:
        MPI_Request_get_status(*request, &looked, MPI_STATUS_IGNORE);
        return MPI_Waitall(1, request, &status) == MPI_ERR_IN_STATUS ? status.MPI_ERROR : MPI_SUCCESS;
    case 2:
        while (!done && MPI_Testany(1, request, &index, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS)
            ;
        return done ? MPI_ERR_IO : MPI_SUCCESS;
    case 3:
        return MPI_Waitsome(1, request, &done, indices, &status) == MPI_ERR_IN_STATUS ? status.MPI_ERROR : MPI_SUCCESS;
    default:
        while (!done)
            MPI_Testall(1, request, &done, &status);
        return status.MPI_ERROR;
    }
}

/* PIOLET_FAULTS lets every write fail. */
static void scene_failures(void)
{
    MPI_Errhandler handler;
    open_scene("native");
    MPI_File_create_errhandler(on_error, &handler);
    MPI_File_set_errhandler(file, handler);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request;
        MPI_File_iwrite_at_all(file, rank * COUNT, values, COUNT, MPI_INT, &request);
        if (rank == LAST)
            until_others_are_done(round);
        if (complete(round, &request) == MPI_SUCCESS)
            fail_row("round %d: a write that failed is completed as done", round);
        if (handler_calls != round + 1)
            fail_row("round %d: the error handler was called %d times", round, handler_calls);
        if (rank != LAST)
            until_others_are_done(round);
    }
    MPI_Errhandler_free(&handler);
    MPI_File_close(&file);
}

/* ---- functions of the program that convert ---- */

static int to_file(void *memory, MPI_Datatype type, int count, void *bytes, MPI_Offset position, void *state)
{
    (void)type, (void)state;
    is_own("the conversion to the file");
    memcpy((char *)bytes, (int *)memory + position, (size_t)count * sizeof(int));
    return MPI_SUCCESS;
}

static int to_memory(void *memory, MPI_Datatype type, int count, void *bytes, MPI_Offset position, void *state)
{
    (void)type, (void)state;
    is_own("the conversion to memory");
    memcpy((int *)memory + position, bytes, (size_t)count * sizeof(int));
    return MPI_SUCCESS;
}

static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    MPI_Aint lower;
    (void)state;
    is_own("the extent function");
    return MPI_Type_get_extent(type, &lower, extent);
}

static void scene_conversion(void)
{
    own = pthread_self();
    MPI_Register_datarep("piolet-progress", to_memory, to_file, extent_of, NULL);
    open_scene("piolet-progress");
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request;
        const int reads = round % 2;
        for (int i = 0; i < COUNT; i++)
            values[i] = reads ? -1 : round * COUNT + i;
        if (reads)
            MPI_File_iread_at_all(file, rank * COUNT, values, COUNT, MPI_INT, &request);
        else
            MPI_File_iwrite_at_all(file, rank * COUNT, values, COUNT, MPI_INT, &request);
        if (rank == LAST)
            until_others_are_done(round);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT; i++)
            if (values[i] != (round - reads) * COUNT + i)
                fail_row("round %d: element %d is wrong", round, i);
        if (rank != LAST)
            until_others_are_done(round);
    }
    MPI_File_close(&file);
}

/* ---- the end of the program while something is pending ---- */

/* The last rank has begun what the others never do. A child ends first: it has no thread to wait for. */
static void scene_exit(bool by_abort)
{
    MPI_Request request;
    int status = -1;
    open_scene("native");
    if (rank == LAST) {
        MPI_File_iwrite_at_all(file, 0, values, COUNT, MPI_INT, &request);
        usleep(50000);
        const pid_t child = fork();
        if (child == 0)
            exit(3);
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 3)
            fail_row("the child ends with %#x", (unsigned)status);
    }
    MPI_Barrier(world);
    if (by_abort && rank == LAST)
        MPI_Abort(world, 7);
    exit(7);
}

bool run_scene(const char *name)
{
    if (strcmp(name, "failures") == 0)
        scene_failures();
    else if (strcmp(name, "conversion") == 0)
        scene_conversion();
    else if (strcmp(name, "exit") == 0)
        scene_exit(false);
    else if (strcmp(name, "abort") == 0)
        scene_exit(true);
    else
        return false;
    return true;
}
