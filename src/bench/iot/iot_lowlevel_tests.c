/* single, multiple, sinunix: low-level tests, each its two timed loops and its entry. */
#include "bench/iot/iot_lowlevel.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* ---- single and multiple: one process or all, one file, MPI-IO ---- */

typedef int write_at(MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *);
typedef int read_at(MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Status *);

static const struct lowlevel_block NOTHING = {0};

/* After a failure a rank goes on taking part in collective calls, with nothing; alone it leaves. */
static pl_status lowlevel_write_coll(struct lowlevel *low, struct pl_error *error)
{
    write_at *const write = low->collective ? MPI_File_write_at_all : MPI_File_write_at;
    pl_status status = PL_OK;
    double told = MPI_Wtime();
    for (int64_t j = 0; j < low->calls && (status == PL_OK || low->collective); j++) {
        const struct lowlevel_block block = status == PL_OK ? lowlevel_block(low, j, 0) : NOTHING;
        MPI_Status moved;
        const int code = write(low->file, block.offset, block.data, block.count, MPI_DOUBLE, &moved);
        const double tnew = MPI_Wtime();
        if (block.count > 0)
            sample_put(low->w, j, told, tnew);
        told = tnew;
        if (status == PL_OK)
            status = lowlevel_moved(low, &block, j, "writing", code, &moved, error);
    }
    return status;
}

static pl_status lowlevel_read_coll(struct lowlevel *low, struct pl_error *error)
{
    read_at *const read = low->collective ? MPI_File_read_at_all : MPI_File_read_at;
    pl_status status = PL_OK;
    for (int64_t j = 0; j < low->calls && (status == PL_OK || low->collective); j++) {
        const struct lowlevel_block block = status == PL_OK ? lowlevel_block(low, j, 0) : NOTHING;
        MPI_Status moved;
        const double told = MPI_Wtime();
        const int code = read(low->file, block.offset, low->buffer, block.count, MPI_DOUBLE, &moved);
        const double tnew = MPI_Wtime();
        if (block.count > 0)
            sample_put(low->r, j, told, tnew);
        if (status == PL_OK)
            status = lowlevel_moved(low, &block, j, "reading", code, &moved, error);
        if (status == PL_OK)
            status = lowlevel_verify(low, &block, j, error);
    }
    return status;
}

static const struct lowlevel_steps MPI_STEPS = {
    LOWLEVEL_MPI_STEPS,
    .write = lowlevel_write_coll,
    .read = lowlevel_read_coll,
};

IOT_TEST(single) = {
    .name = "single",
    .keywords = (const struct option_row *const[]){IOT_COMMON, LOWLEVEL_KEYWORDS, NULL},
    .summary = "one process writes and reads a file through MPI-IO",
    .access = "one rank",
    IOT_TEST_CALLS(lowlevel),
    .steps = &MPI_STEPS,
};

IOT_TEST(multiple) = {
    .name = "multiple",
    .keywords = (const struct option_row *const[]){IOT_COMMON, LOWLEVEL_KEYWORDS, LOWLEVEL_COLLECTIVE, NULL},
    .summary = "all processes write and read one file, independently or collectively",
    IOT_TEST_CALLS(lowlevel),
    .steps = &MPI_STEPS,
};

/* ---- sinunix: one process, plain UNIX calls ---- */

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
static ssize_t sinunix_move(int fd, bool writes, void *data, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        char *const place = (char *)data + done;
        const ssize_t n = writes ? write(fd, place, bytes - done) : read(fd, place, bytes - done);
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
        const ssize_t got = sinunix_move(low->fd, true, (void *)block.data, (size_t)block.count * 8);
        const double tnew = MPI_Wtime();
        sample_put(low->w, j, told, tnew);
        told = tnew;
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
        const ssize_t got = sinunix_move(low->fd, false, low->buffer, (size_t)block.count * 8);
        sample_put(low->r, j, told, MPI_Wtime());
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

IOT_TEST(sinunix) = {
    .name = "sinunix",
    .keywords = (const struct option_row *const[]){IOT_COMMON, LOWLEVEL_KEYWORDS, NULL},
    .summary = "one process writes and reads a file with plain UNIX calls",
    .access = "one rank",
    IOT_TEST_CALLS(lowlevel),
    .steps = &SINUNIX_STEPS,
};
