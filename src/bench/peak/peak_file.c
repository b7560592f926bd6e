#include "bench/peak/peak_file.h"

#include "base/interrupt.h"
#include "base/rng.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, STAMP = sizeof(uint64_t) };

/* ---- the file ---- */

static bool fill_buffer(struct peak_file *file, int64_t bytes)
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
    if (!fill_buffer(file, largest_request))
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
static int64_t first_stamp(int64_t offset)
{
    return (offset + PAGE - 1) / PAGE * PAGE;
}

static void put_stamps(const struct peak_file *file, int64_t offset, int64_t bytes)
{
    for (int64_t at = first_stamp(offset); at < offset + bytes; at += PAGE) {
        const uint64_t stamp = rng_at(file->seed, (uint64_t)at);
        memcpy((char *)file->buffer + (at - offset), &stamp, STAMP);
    }
}

static pl_status check_stamps(const struct peak_file *file, int64_t offset, int64_t bytes, struct pl_error *error)
{
    for (int64_t at = first_stamp(offset); at < offset + bytes; at += PAGE) {
        const uint64_t stamp = rng_at(file->seed, (uint64_t)at);
        if (memcmp((char *)file->buffer + (at - offset), &stamp, STAMP) != 0)
            return pl_fail(error, PL_E_DATA, "'%s': what was read at offset %lld is not what was written", file->path,
                           (long long)at);
    }
    return PL_OK;
}

/* ---- one operation ---- */

/* All bytes, or an errno; -1: the file ended. */
static int move(const struct peak_file *file, bool writes, int64_t offset, int64_t bytes)
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

static pl_status fail_move(const struct peak_file *file, const struct peak_set *set, int64_t offset, int failed,
                           struct pl_error *error)
{
    const char *doing = set->operation == PEAK_WRITE ? "writing" : "reading";
    if (failed < 0)
        return pl_fail(error, PL_E_IO, "%s '%s' at offset %lld: the file ends there", doing, file->path,
                       (long long)offset);
    return pl_fail_errno(error, failed, "%s %lld bytes at offset %lld of '%s'", doing, (long long)set->request_bytes,
                         (long long)offset, file->path);
}

static pl_status run_operation(struct peak_file *file, struct peak_pass *pass, int64_t offset, double *ret_end,
                               struct pl_error *error)
{
    const struct peak_set *set = pass->set;
    const bool writes = set->operation == PEAK_WRITE;
    if (writes)
        put_stamps(file, offset, set->request_bytes);
    const double begin = MPI_Wtime();
    const int failed = move(file, writes, offset, set->request_bytes);
    *ret_end = MPI_Wtime();
    if (failed)
        return fail_move(file, set, offset, failed, error);
    pass->series->values[pass->series->count++] = *ret_end - begin;
    pass->seconds += *ret_end - begin;
    pass->bytes += set->request_bytes;
    return writes ? PL_OK : check_stamps(file, offset, set->request_bytes, error);
}

static pl_status sync_file(struct peak_file *file, struct peak_pass *pass, struct pl_error *error)
{
    const double begin = MPI_Wtime();
    const int failed = fsync(file->fd) != 0 ? errno : 0;
    pass->sync_seconds = MPI_Wtime() - begin;
    pass->seconds += pass->sync_seconds;
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
    pl_status status = PL_OK;
    for (int64_t i = 0; i < count && status == PL_OK && !pass->cut; i++) {
        double end;
        const int64_t place = peak_place(set->access, places, file->stride, file->seed, i);
        status = run_operation(file, pass, place * set->request_bytes, &end, error);
        pass->cut = end > pass->deadline && i + 1 < count;
    }
    if (status == PL_OK && set->operation == PEAK_WRITE)
        status = sync_file(file, pass, error);
    if (set->makes_file)
        file->bytes = pass->bytes; /* what later sets can read */
    return status;
}
