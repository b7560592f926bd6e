/* sinunix: the test `single` with plain UNIX calls instead of MPI-IO, same output (IOT-13). */
#include "bench/iot/iot_lowlevel.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static pl_status sinunix_fail(const struct lowlevel *low, const struct lowlevel_block *block, int64_t j,
                              const char *doing, ssize_t got, struct pl_error *error)
{
    const long long bytes = (long long)block->count * 8;
    if (got < 0)
        return pl_fail_errno(error, errno, "%s block %lld at byte %lld of '%s'", doing, (long long)j,
                             (long long)block->offset_bytes, low->run->filename);
    return pl_fail(error, PL_E_SYSTEM, "%s block %lld at byte %lld of '%s': only %lld of %lld bytes moved", doing,
                   (long long)j, (long long)block->offset_bytes, low->run->filename, (long long)got, bytes);
}

/* A single call moves at most 2^31 - 4096 bytes, and may move less than asked for without being at fault. */
static ssize_t write_whole(int fd, const char *data, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        const ssize_t n = write(fd, data + done, bytes - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? n : (ssize_t)done;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static ssize_t read_whole(int fd, char *data, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        const ssize_t n = read(fd, data + done, bytes - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? n : (ssize_t)done;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static pl_status sinunix_write(struct lowlevel *low, struct pl_error *error)
{
    double told = MPI_Wtime();
    for (int64_t j = 0; j < low->count; j++) {
        const struct lowlevel_block block = lowlevel_block(low, j, 0);
        const ssize_t got = write_whole(low->fd, (const char *)block.data, (size_t)block.count * 8);
        const double tnew = MPI_Wtime();
        low->w->values[j] = tnew - told;
        told = tnew;
        low->w->count = j + 1;
        if (got != (ssize_t)block.count * 8)
            return sinunix_fail(low, &block, j, "writing", got, error);
    }
    return PL_OK;
}

static pl_status sinunix_read(struct lowlevel *low, struct pl_error *error)
{
    if (lseek(low->fd, 0, SEEK_SET) != 0)
        return pl_fail_errno(error, errno, "going back to the start of '%s'", low->run->filename);
    for (int64_t j = 0; j < low->count; j++) {
        const struct lowlevel_block block = lowlevel_block(low, j, 0);
        const double told = MPI_Wtime();
        const ssize_t got = read_whole(low->fd, (char *)low->buffer, (size_t)block.count * 8);
        low->r->values[j] = MPI_Wtime() - told;
        low->r->count = j + 1;
        if (got != (ssize_t)block.count * 8)
            return sinunix_fail(low, &block, j, "reading", got, error);
        if (lowlevel_verify(low, &block, j, error) != PL_OK)
            return error->status;
    }
    return PL_OK;
}

static pl_status sinunix_open(struct lowlevel *low, struct pl_error *error)
{
    const bool writes = low->run->set.write_bytes > 0;
    low->fd = open(iot_local_path(low->run->filename), (writes ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC, 0666);
    return low->fd >= 0 ? PL_OK : pl_fail_errno(error, errno, "opening '%s'", low->run->filename);
}

static pl_status sinunix_preallocate(struct lowlevel *low, struct pl_error *error)
{
    const int failed = posix_fallocate(low->fd, 0, low->run->set.file_bytes);
    return failed ? pl_fail_errno(error, failed, "preallocating %lld bytes of '%s'",
                                  (long long)low->run->set.file_bytes, low->run->filename)
                  : PL_OK;
}

static pl_status sinunix_sync(struct lowlevel *low, struct pl_error *error)
{
    return fsync(low->fd) == 0 ? PL_OK : pl_fail_errno(error, errno, "syncing '%s'", low->run->filename);
}

static pl_status sinunix_close(struct lowlevel *low, struct pl_error *error)
{
    return close(low->fd) == 0 ? PL_OK : pl_fail_errno(error, errno, "closing '%s'", low->run->filename);
}

static const struct lowlevel_steps SINUNIX_STEPS = {
    .open = sinunix_open,
    .preallocate = sinunix_preallocate,
    .write = sinunix_write,
    .sync = sinunix_sync,
    .read = sinunix_read,
    .close = sinunix_close,
};

static pl_status sinunix_run_coll(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    return lowlevel_run_coll(run, &SINUNIX_STEPS, error, ret_verdict);
}

extern const struct iot_test iot_test_sinunix;
const struct iot_test iot_test_sinunix = {
    .spec = {.class_name = "Lowlevel",
             .name = "sinunix",
             .keywords = (const struct spec_keyword *const[]){IOT_COMMON, LOWLEVEL_KEYWORDS, NULL}},
    .summary = "one process writes and reads a file with plain UNIX calls",
    .access = "one rank",
    .check = lowlevel_check,
    .describe = lowlevel_describe,
    .run_coll = sinunix_run_coll,
};
