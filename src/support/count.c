/* libpiolet-count.so: preloaded behind the engine for `piolet bench engine --counts`. Counts what an MPI-IO asks of the
 * MPI and of the system. The engine finds the MPI's functions with RTLD_NEXT, and so comes through here; ROMIO calls
 * them by name. OMPIO does neither, so that on Open MPI messages are seen one level below, where it monitors itself:
 * there, also the messages that make up a collective are messages. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): names of ours for functions of others */
#include <mpi.h>

#include <dlfcn.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* In pairs: how often, and bytes. */
enum count {
    COUNT_MESSAGES,
    COUNT_MESSAGE_BYTES,
    COUNT_COLLECTIVES,
    COUNT_COLLECTIVE_BYTES, /* that this rank gave */
    COUNT_READS,
    COUNT_READ_BYTES,
    COUNT_WRITES,
    COUNT_WRITE_BYTES,
    COUNT_MAPS,
    COUNT_MAP_BYTES,
    COUNT_KINDS,
};

static _Atomic int64_t sums[COUNT_KINDS];

/* The name of a kind and its sum since the start of this process. Returns 0, or 1 where there is no such kind. */
int piolet_count_at(int kind, const char **ret_name, int64_t *ret_sum);
int piolet_count_at(int kind, const char **ret_name, int64_t *ret_sum)
{
    static const char *const names[COUNT_KINDS] = {"messages", "message_bytes", "collectives", "collective_bytes",
                                                   "reads",    "read_bytes",    "writes",      "write_bytes",
                                                   "maps",     "map_bytes"};
    if (kind < 0 || kind >= COUNT_KINDS)
        return 1;
    *ret_name = names[kind];
    *ret_sum = sums[kind];
    return 0;
}

#ifdef OPEN_MPI
/* Before MPI_Init of the rank that this library is in. */
__attribute__((constructor)) static void count_monitor(void)
{
    setenv("OMPI_MCA_pml_monitoring_enable", "1", 0);
}
#endif

/* The calls are counted in `kind`, their bytes in the kind behind it. */
static void count_note(enum count kind, int64_t bytes)
{
    sums[kind]++;
    sums[kind + 1] += bytes;
}

static int64_t bytes_of(int64_t count, MPI_Datatype type)
{
    int size = 0;
    if (count > 0)
        PMPI_Type_size(type, &size);
    return count * size;
}

static int size_of(MPI_Comm comm)
{
    int size;
    PMPI_Comm_size(comm, &size);
    return size;
}

/* Bytes that go to each rank in an exchange of different lengths. */
static int64_t bytes_in(const int counts[], MPI_Datatype type, MPI_Comm comm)
{
    int64_t bytes = 0;
    for (int i = 0; i < size_of(comm); i++)
        bytes += bytes_of(counts[i], type);
    return bytes;
}

static int64_t bytes_from_root(int64_t bytes, int root, MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank == root ? bytes : 0;
}

#define FIND(real, name)                                                                                               \
    static __typeof__(&name) real;                                                                                     \
    if (!real) {                                                                                                       \
        void *symbol = dlsym(RTLD_NEXT, #name);                                                                        \
        memcpy(&real, &symbol, sizeof real);                                                                           \
    }

/* ---- messages: both names of a function, since ROMIO may use either ---- */

#define WRAP(name, kind, bytes, parameters, ...)                                                                       \
    static int count_##name parameters                                                                                 \
    {                                                                                                                  \
        FIND(real, PMPI_##name)                                                                                        \
        count_note(kind, bytes);                                                                                       \
        return real(__VA_ARGS__);                                                                                      \
    }                                                                                                                  \
    int MPI_##name parameters                                                                                          \
    {                                                                                                                  \
        return count_##name(__VA_ARGS__);                                                                              \
    }                                                                                                                  \
    int PMPI_##name parameters                                                                                         \
    {                                                                                                                  \
        return count_##name(__VA_ARGS__);                                                                              \
    }

/* clang-format off */
#define SEND(name, counter) \
    WRAP(name, COUNT_MESSAGES, bytes_of(n, type), (const void *buf, counter n, MPI_Datatype type, int dest, int tag, MPI_Comm comm), buf, n, type, dest, tag, comm)
#define ISEND(name, counter) \
    WRAP(name, COUNT_MESSAGES, bytes_of(n, type), (const void *buf, counter n, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request), buf, n, type, dest, tag, comm, request)
#ifdef OPEN_MPI
/* Open MPI's component pml/monitoring calls this for each message that leaves, whoever sends it. */
void mca_common_monitoring_record_pml(int world_rank, size_t bytes, int tag);
void mca_common_monitoring_record_pml(int world_rank, size_t bytes, int tag)
{
    (void)world_rank;
    (void)tag;
    count_note(COUNT_MESSAGES, (int64_t)bytes);
}
#else
SEND(Send, int)
SEND(Ssend, int)
SEND(Bsend, int)
SEND(Rsend, int)
ISEND(Isend, int)
ISEND(Issend, int)
ISEND(Ibsend, int)
ISEND(Irsend, int)
WRAP(Sendrecv, COUNT_MESSAGES, bytes_of(n, type), (const void *buf, int n, MPI_Datatype type, int dest, int tag, void *rbuf, int rn, MPI_Datatype rtype, int source, int rtag, MPI_Comm comm, MPI_Status *status), buf, n, type, dest, tag, rbuf, rn, rtype, source, rtag, comm, status)
SEND(Send_c, MPI_Count)
ISEND(Isend_c, MPI_Count)
ISEND(Issend_c, MPI_Count)
#endif

WRAP(Barrier, COUNT_COLLECTIVES, 0, (MPI_Comm comm), comm)
WRAP(Ibarrier, COUNT_COLLECTIVES, 0, (MPI_Comm comm, MPI_Request *request), comm, request)
WRAP(Bcast, COUNT_COLLECTIVES, bytes_from_root(bytes_of(n, type), root, comm), (void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm), buf, n, type, root, comm)
WRAP(Ibcast, COUNT_COLLECTIVES, bytes_from_root(bytes_of(n, type), root, comm), (void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request), buf, n, type, root, comm, request)
WRAP(Reduce, COUNT_COLLECTIVES, bytes_of(n, type), (const void *buf, void *rbuf, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm), buf, rbuf, n, type, op, root, comm)
#define REDUCES(upper, lower) \
    WRAP(upper, COUNT_COLLECTIVES, bytes_of(n, type), (const void *buf, void *rbuf, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), buf, rbuf, n, type, op, comm) \
    WRAP(I##lower, COUNT_COLLECTIVES, bytes_of(n, type), (const void *buf, void *rbuf, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request), buf, rbuf, n, type, op, comm, request)
REDUCES(Allreduce, allreduce)
REDUCES(Scan, scan)
REDUCES(Exscan, exscan)
#define ALL(upper, lower, times) \
    WRAP(upper, COUNT_COLLECTIVES, bytes_of(n, type) * (times), (const void *buf, int n, MPI_Datatype type, void *rbuf, int rn, MPI_Datatype rtype, MPI_Comm comm), buf, n, type, rbuf, rn, rtype, comm) \
    WRAP(I##lower, COUNT_COLLECTIVES, bytes_of(n, type) * (times), (const void *buf, int n, MPI_Datatype type, void *rbuf, int rn, MPI_Datatype rtype, MPI_Comm comm, MPI_Request *request), buf, n, type, rbuf, rn, rtype, comm, request)
ALL(Allgather, allgather, 1)
ALL(Alltoall, alltoall, size_of(comm))
WRAP(Allgatherv, COUNT_COLLECTIVES, bytes_of(n, type), (const void *buf, int n, MPI_Datatype type, void *rbuf, const int rn[], const int displs[], MPI_Datatype rtype, MPI_Comm comm), buf, n, type, rbuf, rn, displs, rtype, comm)
WRAP(Alltoallv, COUNT_COLLECTIVES, bytes_in(n, type, comm), (const void *buf, const int n[], const int displs[], MPI_Datatype type, void *rbuf, const int rn[], const int rdispls[], MPI_Datatype rtype, MPI_Comm comm), buf, n, displs, type, rbuf, rn, rdispls, rtype, comm)
WRAP(Gather, COUNT_COLLECTIVES, bytes_of(n, type), (const void *buf, int n, MPI_Datatype type, void *rbuf, int rn, MPI_Datatype rtype, int root, MPI_Comm comm), buf, n, type, rbuf, rn, rtype, root, comm)
WRAP(Gatherv, COUNT_COLLECTIVES, bytes_of(n, type), (const void *buf, int n, MPI_Datatype type, void *rbuf, const int rn[], const int displs[], MPI_Datatype rtype, int root, MPI_Comm comm), buf, n, type, rbuf, rn, displs, rtype, root, comm)
WRAP(Scatter, COUNT_COLLECTIVES, bytes_from_root(bytes_of(n, type) * size_of(comm), root, comm), (const void *buf, int n, MPI_Datatype type, void *rbuf, int rn, MPI_Datatype rtype, int root, MPI_Comm comm), buf, n, type, rbuf, rn, rtype, root, comm)
/* clang-format on */

/* ---- system calls on files ---- */

/* Not sockets, pipes, the kernel's own files, nor memory without a name. */
static int is_file(int fd)
{
    struct stat status;
    struct statfs system;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink > 0 && fstatfs(fd, &system) == 0 &&
           system.f_type != PROC_SUPER_MAGIC && system.f_type != SYSFS_MAGIC;
}

static void note_file(enum count kind, int fd, ssize_t moved)
{
    if (moved >= 0 && is_file(fd))
        count_note(kind, moved);
}

#define WRAP_FILE(name, kind, parameters, ...)                                                                         \
    ssize_t name parameters                                                                                            \
    {                                                                                                                  \
        FIND(real, name)                                                                                               \
        const ssize_t moved = real(__VA_ARGS__);                                                                       \
        note_file(kind, fd, moved);                                                                                    \
        return moved;                                                                                                  \
    }

/* clang-format off */
WRAP_FILE(read, COUNT_READS, (int fd, void *buf, size_t n), fd, buf, n)
WRAP_FILE(write, COUNT_WRITES, (int fd, const void *buf, size_t n), fd, buf, n)
WRAP_FILE(readv, COUNT_READS, (int fd, const struct iovec *pieces, int n), fd, pieces, n)
WRAP_FILE(writev, COUNT_WRITES, (int fd, const struct iovec *pieces, int n), fd, pieces, n)
#define WRAP_PLACED(suffix, offset_type) \
    WRAP_FILE(pread##suffix, COUNT_READS, (int fd, void *buf, size_t n, offset_type at), fd, buf, n, at) \
    WRAP_FILE(pwrite##suffix, COUNT_WRITES, (int fd, const void *buf, size_t n, offset_type at), fd, buf, n, at) \
    WRAP_FILE(preadv##suffix, COUNT_READS, (int fd, const struct iovec *pieces, int n, offset_type at), fd, pieces, n, at) \
    WRAP_FILE(pwritev##suffix, COUNT_WRITES, (int fd, const struct iovec *pieces, int n, offset_type at), fd, pieces, n, at)
WRAP_PLACED(, off_t)
WRAP_PLACED(64, off64_t)
WRAP_FILE(preadv2, COUNT_READS, (int fd, const struct iovec *pieces, int n, off_t at, int flags), fd, pieces, n, at, flags)
WRAP_FILE(pwritev2, COUNT_WRITES, (int fd, const struct iovec *pieces, int n, off_t at, int flags), fd, pieces, n, at, flags)
WRAP_FILE(preadv64v2, COUNT_READS, (int fd, const struct iovec *pieces, int n, off64_t at, int flags), fd, pieces, n, at, flags)
WRAP_FILE(pwritev64v2, COUNT_WRITES, (int fd, const struct iovec *pieces, int n, off64_t at, int flags), fd, pieces, n, at, flags)

/* What goes through a mapping is no system call: that there was one is all that can be seen. */
#define WRAP_MAP(name, offset_type) \
    void *name(void *address, size_t n, int protection, int flags, int fd, offset_type at) \
    { \
        FIND(real, name) \
        void *mapped = real(address, n, protection, flags, fd, at); \
        if (fd >= 0 && (flags & MAP_SHARED) && mapped != MAP_FAILED && is_file(fd)) \
            count_note(COUNT_MAPS, (int64_t)n); \
        return mapped; \
    }
WRAP_MAP(mmap, off_t)
WRAP_MAP(mmap64, off64_t)
/* clang-format on */
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
