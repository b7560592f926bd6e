/* Counts what the engine sends and reads: a library that is preloaded behind it. A program finds the counters with
 * dlsym(). What goes from a rank to itself is counted too, since an engine may send it as it sends the rest. */
#include <mpi.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

extern _Atomic int64_t count_messages, count_message_bytes, count_broadcasts, count_read_bytes;
_Atomic int64_t count_messages, count_message_bytes, count_broadcasts, count_read_bytes;

static void note(int count, MPI_Datatype type)
{
    int size = 0;
    MPI_Type_size(type, &size);
    count_messages++;
    count_message_bytes += (int64_t)count * size;
}

int PMPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    int (*real)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = dlsym(RTLD_NEXT, "PMPI_Isend");
    note(count, type);
    return real(buffer, count, type, to, tag, comm, request);
}

int PMPI_Issend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    int (*real)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = dlsym(RTLD_NEXT, "PMPI_Issend");
    note(count, type);
    return real(buffer, count, type, to, tag, comm, request);
}

int PMPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request)
{
    int (*real)(void *, int, MPI_Datatype, int, MPI_Comm, MPI_Request *) = dlsym(RTLD_NEXT, "PMPI_Ibcast");
    count_broadcasts++;
    return real(buffer, count, type, root, comm, request);
}

ssize_t pread(int fd, void *buffer, size_t bytes, off_t offset)
{
    ssize_t (*real)(int, void *, size_t, off_t) = dlsym(RTLD_NEXT, "pread");
    const ssize_t got = real(fd, buffer, bytes, offset);
    count_read_bytes += got > 0 ? got : 0;
    return got;
}

ssize_t preadv(int fd, const struct iovec *pieces, int count, off_t offset)
{
    ssize_t (*real)(int, const struct iovec *, int, off_t) = dlsym(RTLD_NEXT, "preadv");
    const ssize_t got = real(fd, pieces, count, offset);
    count_read_bytes += got > 0 ? got : 0;
    return got;
}
