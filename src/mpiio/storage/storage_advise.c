#include "mpiio/storage/storage_advise.h"

#include "mpiio/storage/storage_core.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static enum storage_cached byte_is_cached(const struct storage *storage, int64_t offset)
{
    char byte;
    const struct iovec piece = {.iov_base = &byte, .iov_len = 1};
    if (preadv2(storage->fd, &piece, 1, offset, RWF_NOWAIT) >= 0)
        return STORAGE_CACHED;
    return errno == EAGAIN ? STORAGE_NOT_CACHED : STORAGE_UNKNOWN;
}

enum storage_cached storage_is_cached(struct storage *storage, int64_t offset, int64_t bytes)
{
    const enum storage_cached first = byte_is_cached(storage, offset);
    return first == STORAGE_CACHED && bytes > 1 ? byte_is_cached(storage, offset + bytes - 1) : first;
}

bool storage_fetch(struct storage *storage, int64_t offset, int64_t bytes)
{
    return posix_fadvise(storage->fd, offset, bytes, POSIX_FADV_WILLNEED) == 0;
}

bool storage_release(struct storage *storage, int64_t offset, int64_t bytes)
{
    const int64_t page = sysconf(_SC_PAGESIZE), begin = offset - offset % page; /* the system takes whole ones only */
    const int64_t end = offset + bytes > INT64_MAX - page ? INT64_MAX : (offset + bytes + page - 1) / page * page;
    return posix_fadvise(storage->fd, begin, end - begin, POSIX_FADV_DONTNEED) == 0;
}
