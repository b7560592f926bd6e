/* Preloaded into a run, for tests/fault/kernels.sh and apps.sh: a storage that does not keep what it was given.
 *   TAMPER_SYNC=N TAMPER_FILE=F TAMPER_OFFSET=O   after the N-th MPI_File_sync rank 0 changes byte O of file F;
 *   TAMPER_ZERO=1                                 or sets 8 bytes there to zero
 *   TAMPER_LOSE=N TAMPER_RANK=R                   the N-th independent write or shared write of rank R is lost
 *   TAMPER_LOSE_AT=N TAMPER_RANK=R                the N-th independent write with an offset of rank R is lost
 *   TAMPER_TWICE=N TAMPER_RANK=R                  the N-th shared write of rank R is done twice
 *   TAMPER_FILL=NAME TAMPER_FILE=F                once F is open, the new file NAME takes all free space beside it,
 *                                                 but for some 64 kB: MPI's own small files must fit
 * Of the writes that are lost or doubled the caller is told that all went well. */
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static long long setting(const char *name)
{
    const char *text = getenv(name);
    return text ? atoll(text) : 0;
}

static int is_my_turn(const char *name, long long *count)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == setting("TAMPER_RANK") && ++*count == setting(name);
}

static void change_a_byte(void)
{
    char bytes[8] = {0};
    const off_t offset = (off_t)setting("TAMPER_OFFSET");
    const char *file = getenv("TAMPER_FILE");
    const int fd = file ? open(file, O_RDWR) : -1;
    const size_t count = setting("TAMPER_ZERO") ? 8 : 1;
    if (fd < 0 || (count == 1 && pread(fd, bytes, 1, offset) != 1))
        abort();
    bytes[0] = count == 1 ? (char)(bytes[0] ^ 4) : 0;
    if (pwrite(fd, bytes, count, offset) != (ssize_t)count)
        abort();
    close(fd);
}

static void fill_up(const char *name)
{
    const int fd = open(name, O_RDWR | O_CREAT, 0666);
    struct statvfs info;
    if (fd < 0 || fstatvfs(fd, &info) != 0)
        abort();
    off_t taken = 0;
    for (off_t step = (off_t)(info.f_bavail * info.f_frsize); step >= 512; step /= 2) /* metadata needs a part */
        while (posix_fallocate(fd, taken, step) == 0)
            taken += step;
    if (ftruncate(fd, taken > 65536 ? taken - 65536 : 0) != 0)
        abort();
    fsync(fd); /* what was given back is free at once */
    close(fd);
}

int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file)
{
    const int code = PMPI_File_open(comm, name, mode, info, file);
    const char *filler = getenv("TAMPER_FILL"), *wanted = getenv("TAMPER_FILE");
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && filler && wanted && strcmp(name, wanted) == 0)
        fill_up(filler);
    return code;
}

int MPI_File_sync(MPI_File file)
{
    static long long count;
    const int code = PMPI_File_sync(file);
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && ++count == setting("TAMPER_SYNC"))
        change_a_byte();
    return code;
}

static int lose(MPI_Status *status, MPI_Datatype type, int count)
{
    int bytes;
    PMPI_Type_size(type, &bytes);
    PMPI_Status_set_elements(status, MPI_BYTE, count * bytes);
    return MPI_SUCCESS;
}

int MPI_File_write(MPI_File file, const void *buffer, int count, MPI_Datatype type, MPI_Status *status)
{
    static long long calls;
    if (is_my_turn("TAMPER_LOSE", &calls))
        return lose(status, type, count);
    return PMPI_File_write(file, buffer, count, type, status);
}

int MPI_File_write_at(MPI_File file, MPI_Offset offset, const void *buffer, int count, MPI_Datatype type,
                      MPI_Status *status)
{
    static long long calls;
    if (is_my_turn("TAMPER_LOSE_AT", &calls))
        return lose(status, type, count);
    return PMPI_File_write_at(file, offset, buffer, count, type, status);
}

int MPI_File_write_shared(MPI_File file, const void *buffer, int count, MPI_Datatype type, MPI_Status *status)
{
    static long long losable, doubled;
    if (is_my_turn("TAMPER_LOSE", &losable))
        return lose(status, type, count);
    if (is_my_turn("TAMPER_TWICE", &doubled))
        PMPI_File_write_shared(file, buffer, count, type, status);
    return PMPI_File_write_shared(file, buffer, count, type, status);
}
