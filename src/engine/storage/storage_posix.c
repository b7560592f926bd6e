/* The backend that makes the system calls. */
#include "base/limits.h"
#include "engine/storage/storage_core.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(off_t) == 8, "files beyond 2 GiB need a 64-bit off_t");

static int storage_posix_result(int outcome)
{
    return outcome < 0 ? -errno : outcome;
}

/* A program that closed its standard output must not print into our file through the same number. */
static int storage_posix_above_standard(int fd)
{
    if (fd > STDERR_FILENO)
        return fd;
    const int moved = storage_posix_result(fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    close(fd);
    return moved;
}

static int posix_open(const char *path, int flags, mode_t mode)
{
    int fd = storage_posix_result(open(path, flags | O_CLOEXEC | O_NOCTTY, mode));
    if (fd >= 0)
        fd = storage_posix_above_standard(fd);
    struct stat facts;
    if (fd >= 0 && fstat(fd, &facts) == 0 && S_ISDIR(facts.st_mode)) { /* open(2) allows it for reading */
        close(fd);
        return -EISDIR;
    }
    return fd;
}

static int posix_close(int fd)
{
    return storage_posix_result(close(fd));
}

static ssize_t posix_readv(int fd, const struct iovec *pieces, int count, int64_t offset)
{
    const ssize_t got = count == 1 ? pread(fd, pieces[0].iov_base, pieces[0].iov_len, offset)
                                   : preadv(fd, pieces, count, offset);
    return got < 0 ? -errno : got;
}

static ssize_t posix_writev(int fd, const struct iovec *pieces, int count, int64_t offset)
{
    struct size_limit limit;
    size_limit_enter(&limit);
    ssize_t put = count == 1 ? pwrite(fd, pieces[0].iov_base, pieces[0].iov_len, offset)
                             : pwritev(fd, pieces, count, offset);
    if (put < 0)
        put = -errno;
    size_limit_leave(&limit, put == -EFBIG);
    return put;
}

static int posix_sync(int fd)
{
    const int outcome = storage_posix_result(fsync(fd));
    return outcome == -EINVAL ? 0 : outcome; /* a special file: there is nothing to store */
}

static int posix_truncate(int fd, int64_t bytes)
{
    struct size_limit limit;
    size_limit_enter(&limit);
    const int outcome = storage_posix_result(ftruncate(fd, bytes));
    size_limit_leave(&limit, outcome == -EFBIG);
    return outcome;
}

static int posix_allocate(int fd, int64_t offset, int64_t bytes)
{
    struct size_limit limit;
    size_limit_enter(&limit);
    const int outcome = storage_posix_result(fallocate(fd, 0, offset, bytes));
    size_limit_leave(&limit, outcome == -EFBIG);
    return outcome;
}

static int posix_size(int fd, int64_t *ret_bytes, int64_t *ret_block_bytes)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0)
        return -errno;
    int64_t bytes = facts.st_size;
    if (S_ISBLK(facts.st_mode)) { /* st_size is 0 there */
        bytes = lseek(fd, 0, SEEK_END);
        if (bytes < 0)
            return -errno;
    }
    *ret_bytes = bytes;
    *ret_block_bytes = facts.st_blksize;
    return 0;
}

static int posix_unlink(const char *path)
{
    return storage_posix_result(unlink(path));
}

static int posix_lock(int fd, short kind, int64_t offset, int64_t bytes, bool wait)
{
    /* Locks of the open file, not of the process: those end when any descriptor of the same file is closed, and the
     * program may have one of its own. */
    struct flock span = {.l_type = kind, .l_whence = SEEK_SET, .l_start = offset, .l_len = bytes};
    int outcome = storage_posix_result(fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &span));
    if (outcome == -EINVAL)
        outcome = storage_posix_result(fcntl(fd, wait ? F_SETLKW : F_SETLK, &span));
    return outcome;
}

static int64_t posix_hole(int fd, int64_t offset)
{
    const int64_t hole = lseek(fd, offset, SEEK_HOLE); /* moves the descriptor's place, which nobody uses */
    return hole < 0 ? -errno : hole;
}

static int posix_map(int fd, bool write, int64_t offset, size_t bytes, void **ret_memory)
{
    void *memory = mmap(NULL, bytes, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, offset);
    if (memory == MAP_FAILED)
        return -errno;
    *ret_memory = memory;
    return 0;
}

const struct storage_backend storage_backend_posix = {
    .name = "posix",
    .open = posix_open,
    .close = posix_close,
    .readv = posix_readv,
    .writev = posix_writev,
    .sync = posix_sync,
    .truncate = posix_truncate,
    .allocate = posix_allocate,
    .size = posix_size,
    .unlink = posix_unlink,
    .lock = posix_lock,
    .hole = posix_hole,
    .map = posix_map,
};
