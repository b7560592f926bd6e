/* The backend under a fault plan: as posix, but each call first asks the plan. Descriptors are those of posix, so that
 * a file opened before the plan was read works with either. */
#include "engine/fault/fault.h"
#include "engine/storage/storage_core.h"

#include <fcntl.h>

static const struct storage_backend *const inner = &storage_backend_posix;

static int faulty_open(const char *path, int flags, mode_t mode)
{
    const int fault = fault_next(FAULT_open);
    return fault > 0 ? -fault : inner->open(path, flags, mode);
}

/* As the system does: the descriptor is gone even where close reports that data was lost. */
static int faulty_close(int fd)
{
    const int fault = fault_next(FAULT_close);
    const int outcome = inner->close(fd);
    return fault > 0 ? -fault : outcome;
}

typedef ssize_t transfer_function(int fd, const struct iovec *pieces, int count, int64_t offset);

/* At most half of the bytes: the pieces that fit whole, or a part of the first. */
static ssize_t transfer_half(transfer_function *transfer, int fd, const struct iovec *pieces, int count, int64_t offset)
{
    size_t total = 0, fitting = 0;
    for (int i = 0; i < count; i++)
        total += pieces[i].iov_len;
    const size_t half = total > 1 ? total / 2 : total;
    int whole = 0;
    while (whole < count && fitting + pieces[whole].iov_len <= half)
        fitting += pieces[whole++].iov_len;
    if (fitting > 0 || whole == count)
        return transfer(fd, pieces, whole, offset);
    const struct iovec part = {.iov_base = pieces[whole].iov_base, .iov_len = half};
    return transfer(fd, &part, 1, offset);
}

static ssize_t faulty_transfer(enum fault_call call, transfer_function *transfer, int fd, const struct iovec *pieces,
                               int count, int64_t offset)
{
    const int fault = fault_next(call);
    if (fault == FAULT_NONE)
        return transfer(fd, pieces, count, offset);
    if (fault == FAULT_SHORT)
        return transfer_half(transfer, fd, pieces, count, offset);
    return fault == FAULT_ZERO ? 0 : -fault;
}

static ssize_t faulty_readv(int fd, const struct iovec *pieces, int count, int64_t offset)
{
    return faulty_transfer(FAULT_pread, inner->readv, fd, pieces, count, offset);
}

static ssize_t faulty_writev(int fd, const struct iovec *pieces, int count, int64_t offset)
{
    return faulty_transfer(FAULT_pwrite, inner->writev, fd, pieces, count, offset);
}

static int faulty_sync(int fd)
{
    const int fault = fault_next(FAULT_fsync);
    return fault > 0 ? -fault : inner->sync(fd);
}

static int faulty_truncate(int fd, int64_t bytes)
{
    const int fault = fault_next(FAULT_truncate);
    return fault > 0 ? -fault : inner->truncate(fd, bytes);
}

static int faulty_allocate(int fd, int64_t offset, int64_t bytes)
{
    const int fault = fault_next(FAULT_allocate);
    return fault > 0 ? -fault : inner->allocate(fd, offset, bytes);
}

static int faulty_size(int fd, int64_t *ret_bytes, int64_t *ret_block_bytes)
{
    const int fault = fault_next(FAULT_stat);
    return fault > 0 ? -fault : inner->size(fd, ret_bytes, ret_block_bytes);
}

static int faulty_unlink(const char *path)
{
    const int fault = fault_next(FAULT_unlink);
    return fault > 0 ? -fault : inner->unlink(path);
}

/* An unlock that fails unlocks all the same: the fault is about the error's way, not about a span locked for ever. */
static int faulty_lock(int fd, short kind, int64_t offset, int64_t bytes, bool wait)
{
    const int fault = fault_next(FAULT_lock);
    if (fault > 0 && kind != F_UNLCK)
        return -fault;
    const int outcome = inner->lock(fd, kind, offset, bytes, wait);
    return fault > 0 ? -fault : outcome;
}

const struct storage_backend storage_backend_faulty = {
    .name = "faulty",
    .open = faulty_open,
    .close = faulty_close,
    .readv = faulty_readv,
    .writev = faulty_writev,
    .sync = faulty_sync,
    .truncate = faulty_truncate,
    .allocate = faulty_allocate,
    .size = faulty_size,
    .unlink = faulty_unlink,
    .lock = faulty_lock, /* and nothing is mapped: stores into memory would pass the plan by */
};
