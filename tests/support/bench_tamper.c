/* Preloaded by bench_engine.sh: a storage that does not keep byte 50001 of the engine's file, and one that gives back
 * another byte than it holds. The name of the file is the one that the benchmark opened first. */
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char tampered[4096];

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file)
{
    int (*real)(MPI_Comm, const char *, int, MPI_Info, MPI_File *) = next("MPI_File_open");
    if (!*tampered)
        snprintf(tampered, sizeof tampered, "%s", name);
    return real(comm, name, mode, info, file);
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void *memory, int count, MPI_Datatype type,
                          MPI_Status *status)
{
    int (*real)(MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *) = next("MPI_File_write_at_all");
    const int code = real(file, at, memory, count, type, status);
    char byte;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    const int fd = rank == 1 ? open(tampered, O_RDWR) : -1;
    if (fd >= 0 && pread(fd, &byte, 1, 50001) == 1) {
        byte ^= 4;
        if (pwrite(fd, &byte, 1, 50001) != 1)
            abort();
    }
    if (fd >= 0)
        close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    return code;
}

int MPI_File_read_at_all(MPI_File file, MPI_Offset at, void *memory, int count, MPI_Datatype type, MPI_Status *status)
{
    int (*real)(MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Status *) = next("MPI_File_read_at_all");
    const int code = real(file, at, memory, count, type, status);
    ((char *)memory)[atoi(getenv("TAMPER_MEMORY"))] ^= 4;
    return code;
}
