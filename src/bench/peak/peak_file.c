/* One process measures: a file of its own, written and read, and metadata operations in a directory of its own. */
#include "bench/peak/peak.h"

#include "base/interrupt.h"
#include "base/rng.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, STAMP = sizeof(uint64_t) };

/* ---- the file ---- */

static bool peak_fill_buffer(struct peak_file *file, int64_t bytes)
{
    file->capacity = (bytes + PAGE - 1) / PAGE * PAGE;
    file->buffer = aligned_alloc(PAGE, (size_t)file->capacity);
    uint64_t *words = file->buffer;
    for (int64_t i = 0; words && i < file->capacity / (int64_t)sizeof *words; i++)
        words[i] = rng_at(file->seed, (uint64_t)i);
    return words;
}

pl_status peak_file_open(struct peak_file *file, const char *directory, bool direct, int64_t largest_request,
                         uint64_t seed, struct pl_error *error)
{
    char host[64] = "host";
    *file = (struct peak_file){.fd = -1, .seed = seed};
    gethostname(host, sizeof host - 1);
    const int length = snprintf(file->path, sizeof file->path, "%s/piolet-peak.%s.%d", directory, host, (int)getpid());
    if (length >= (int)sizeof file->path)
        return pl_fail(error, PL_E_BAD_FILE, "'%s' is too long a name", directory);
    if (!peak_fill_buffer(file, largest_request))
        return pl_fail_errno(error, ENOMEM, "taking %lld bytes for requests", (long long)largest_request);
    interrupt_hold();
    file->fd = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | (direct ? O_DIRECT : 0), 0600);
    if (file->fd >= 0)
        interrupt_remove(file->path); /* a killed run must not leave a file of twice the memory behind */
    interrupt_release();
    if (file->fd < 0)
        return pl_fail_errno(error, errno, "making '%s'", file->path);
    return PL_OK;
}

void peak_file_close(struct peak_file *file)
{
    if (file->fd >= 0) {
        close(file->fd);
        unlink(file->path);
        interrupt_keep(file->path);
    }
    free(file->buffer);
    *file = (struct peak_file){.fd = -1};
}

void peak_file_forget(struct peak_file *file)
{
    posix_fadvise(file->fd, 0, 0, POSIX_FADV_DONTNEED);
}

/* ---- data ---- */

/* Every page of the file begins with a number of its own, so that nothing stores equal pages once, and reads can be
 * checked. Requests are multiples of 512: none of these numbers is cut. */
static int64_t peak_first_stamp(int64_t offset)
{
    return (offset + PAGE - 1) / PAGE * PAGE;
}

static void peak_put_stamps(const struct peak_file *file, int64_t offset, int64_t bytes)
{
    for (int64_t at = peak_first_stamp(offset); at < offset + bytes; at += PAGE) {
        const uint64_t stamp = rng_at(file->seed, (uint64_t)at);
        memcpy((char *)file->buffer + (at - offset), &stamp, STAMP);
    }
}

static pl_status peak_check_stamps(const struct peak_file *file, int64_t offset, int64_t bytes, struct pl_error *error)
{
    for (int64_t at = peak_first_stamp(offset); at < offset + bytes; at += PAGE) {
        const uint64_t stamp = rng_at(file->seed, (uint64_t)at);
        if (memcmp((char *)file->buffer + (at - offset), &stamp, STAMP) != 0)
            return pl_fail(error, PL_E_DATA, "'%s': what was read at offset %lld is not what was written", file->path,
                           (long long)at);
    }
    return PL_OK;
}

/* ---- one operation ---- */

/* All bytes, or an errno; -1: the file ended. */
static int peak_move(const struct peak_file *file, bool writes, int64_t offset, int64_t bytes)
{
    for (int64_t done = 0; done < bytes;) {
        char *at = (char *)file->buffer + done;
        const ssize_t moved = writes ? pwrite(file->fd, at, (size_t)(bytes - done), offset + done)
                                     : pread(file->fd, at, (size_t)(bytes - done), offset + done);
        if (moved < 0 && errno != EINTR)
            return errno;
        if (moved == 0)
            return -1;
        done += moved > 0 ? moved : 0;
    }
    return 0;
}

static pl_status peak_fail_move(const struct peak_file *file, const struct peak_set *set, int64_t offset, int failed,
                                struct pl_error *error)
{
    const char *doing = set->operation == PEAK_WRITE ? "writing" : "reading";
    if (failed < 0)
        return pl_fail(error, PL_E_IO, "%s '%s' at offset %lld: the file ends there", doing, file->path,
                       (long long)offset);
    return pl_fail_errno(error, failed, "%s %lld bytes at offset %lld of '%s'", doing, (long long)set->request_bytes,
                         (long long)offset, file->path);
}

static pl_status peak_run_operation(struct peak_file *file, struct peak_pass *pass, int64_t offset, double *ret_end,
                                    struct pl_error *error)
{
    const struct peak_set *set = pass->set;
    const bool writes = set->operation == PEAK_WRITE;
    if (writes)
        peak_put_stamps(file, offset, set->request_bytes);
    const double begin = MPI_Wtime();
    const int failed = peak_move(file, writes, offset, set->request_bytes);
    *ret_end = MPI_Wtime();
    if (failed)
        return peak_fail_move(file, set, offset, failed, error);
    sample_put(pass->series, pass->series->count, begin, *ret_end);
    pass->seconds += *ret_end - begin;
    pass->bytes += set->request_bytes;
    return writes ? PL_OK : peak_check_stamps(file, offset, set->request_bytes, error);
}

static pl_status peak_sync_file(struct peak_file *file, struct peak_pass *pass, struct pl_error *error)
{
    pass->sync_begin = MPI_Wtime();
    const int failed = fsync(file->fd) != 0 ? errno : 0;
    pass->sync_end = MPI_Wtime();
    pass->seconds += pass->sync_end - pass->sync_begin;
    return failed ? pl_fail_errno(error, failed, "syncing '%s'", file->path) : PL_OK;
}

/* ---- a pass ---- */

int64_t peak_file_operations(const struct peak_file *file, const struct peak_set *set)
{
    const int64_t count = file->bytes / set->request_bytes;
    return set->makes_file || count < PEAK_OPERATIONS_MAX ? count : PEAK_OPERATIONS_MAX;
}

pl_status peak_file_run(struct peak_file *file, struct peak_pass *pass, struct pl_error *error)
{
    const struct peak_set *set = pass->set;
    const int64_t places = file->bytes / set->request_bytes, count = peak_file_operations(file, set);
    assert(file->fd >= 0 && set->request_bytes <= file->capacity && count <= pass->series->capacity);
    pl_status status = PL_OK;
    for (int64_t i = 0; i < count && status == PL_OK && !pass->cut; i++) {
        double end;
        const int64_t place = peak_place(set->access, places, file->stride, file->seed, i);
        status = peak_run_operation(file, pass, place * set->request_bytes, &end, error);
        pass->cut = end > pass->deadline && i + 1 < count;
    }
    if (status == PL_OK && set->operation == PEAK_WRITE)
        status = peak_sync_file(file, pass, error);
    if (set->makes_file)
        file->bytes = pass->bytes; /* what later sets can read */
    return status;
}

/* ---- metadata ---- */

enum { NAME_MAX_CHARS = 24, SYNCED_BYTES = 4096 };

pl_status peak_meta_begin(struct peak_meta *meta, const char *directory, struct pl_error *error)
{
    char host[64] = "host";
    *meta = (struct peak_meta){.files = 0};
    gethostname(host, sizeof host - 1);
    const int length = snprintf(meta->path, sizeof meta->path, "%s/piolet-peak-meta.%s.%d", directory, host,
                                (int)getpid());
    interrupt_hold();
    const bool made = length < (int)sizeof meta->path - NAME_MAX_CHARS && mkdir(meta->path, 0700) == 0;
    const int failed = errno;
    if (made)
        interrupt_remove(meta->path);
    interrupt_release();
    if (made)
        return PL_OK;
    meta->path[0] = '\0';
    return pl_fail_errno(error, failed, "making a directory in '%s'", directory);
}

static const char *peak_meta_name(const struct peak_meta *meta, int64_t file, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.*s/%08lld", PATH_MAX - NAME_MAX_CHARS, meta->path, (long long)file);
    return path;
}

void peak_meta_end(struct peak_meta *meta)
{
    char path[PATH_MAX];
    if (!meta->path[0])
        return;
    for (int64_t i = 0; i < meta->files; i++)
        unlink(peak_meta_name(meta, i, path)); /* those that are gone are gone */
    rmdir(meta->path);
    interrupt_keep(meta->path);
    meta->path[0] = '\0';
}

/* Operations: 0 or an errno. */

static int peak_open_and_close(const char *path, int flags)
{
    const int fd = open(path, flags | O_CLOEXEC, 0600);
    return fd < 0 || close(fd) != 0 ? errno : 0;
}

static int peak_write_and_sync(int fd)
{
    static const char page[SYNCED_BYTES] = {1};
    errno = 0;
    if (pwrite(fd, page, sizeof page, 0) != (ssize_t)sizeof page)
        return errno ? errno : EIO;
    return fsync(fd) != 0 ? errno : 0;
}

/* The time of an fsync is that of making one page durable, without opening the file. */
static int peak_timed_fsync(const char *path, double ret_span[2])
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    ret_span[0] = MPI_Wtime();
    const int failed = peak_write_and_sync(fd);
    ret_span[1] = MPI_Wtime();
    close(fd);
    return failed;
}

static int peak_timed(enum peak_operation operation, const char *path, double ret_span[2])
{
    struct stat info;
    int failed = 0;
    if (operation == PEAK_FSYNC)
        return peak_timed_fsync(path, ret_span);
    ret_span[0] = MPI_Wtime();
    if (operation == PEAK_CREATE)
        failed = peak_open_and_close(path, O_WRONLY | O_CREAT | O_EXCL);
    else if (operation == PEAK_OPEN)
        failed = peak_open_and_close(path, O_RDONLY);
    else if (operation == PEAK_STAT)
        failed = stat(path, &info) != 0 ? errno : 0;
    else
        failed = unlink(path) != 0 ? errno : 0;
    ret_span[1] = MPI_Wtime();
    return failed;
}

pl_status peak_meta_run(struct peak_meta *meta, struct peak_pass *pass, int64_t files, struct pl_error *error)
{
    const enum peak_operation operation = pass->set->operation;
    const int64_t count = operation == PEAK_CREATE ? files : meta->files;
    char path[PATH_MAX];
    assert(count <= pass->series->capacity);
    for (int64_t i = 0; i < count && !pass->cut; i++) {
        double span[2] = {0, 0};
        const int failed = peak_timed(operation, peak_meta_name(meta, i, path), span);
        if (failed)
            return pl_fail_errno(error, failed, "%s of '%s'", PEAK_OPERATION_NAMES[operation], path);
        meta->files += operation == PEAK_CREATE;
        sample_put(pass->series, pass->series->count, span[0], span[1]);
        pass->seconds += span[1] - span[0];
        pass->cut = MPI_Wtime() > pass->deadline && i + 1 < count;
    }
    return PL_OK;
}
