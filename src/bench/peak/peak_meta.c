#include "bench/peak/peak_meta.h"

#include "base/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static const char *name_of(const struct peak_meta *meta, int64_t file, char path[PATH_MAX])
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
        unlink(name_of(meta, i, path)); /* those that are gone are gone */
    rmdir(meta->path);
    interrupt_keep(meta->path);
    meta->path[0] = '\0';
}

/* ---- operations: 0 or an errno ---- */

static int open_and_close(const char *path, int flags)
{
    const int fd = open(path, flags | O_CLOEXEC, 0600);
    return fd < 0 || close(fd) != 0 ? errno : 0;
}

static int write_and_sync(int fd)
{
    static const char page[SYNCED_BYTES] = {1};
    errno = 0;
    if (pwrite(fd, page, sizeof page, 0) != (ssize_t)sizeof page)
        return errno ? errno : EIO;
    return fsync(fd) != 0 ? errno : 0;
}

/* The time of an fsync is that of making one page durable, without opening the file. */
static int timed_fsync(const char *path, double *ret_seconds)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    const double begin = MPI_Wtime();
    const int failed = write_and_sync(fd);
    *ret_seconds = MPI_Wtime() - begin;
    close(fd);
    return failed;
}

static int timed(enum peak_operation operation, const char *path, double *ret_seconds)
{
    struct stat info;
    int failed = 0;
    if (operation == PEAK_FSYNC)
        return timed_fsync(path, ret_seconds);
    const double begin = MPI_Wtime();
    if (operation == PEAK_CREATE)
        failed = open_and_close(path, O_WRONLY | O_CREAT | O_EXCL);
    else if (operation == PEAK_OPEN)
        failed = open_and_close(path, O_RDONLY);
    else if (operation == PEAK_STAT)
        failed = stat(path, &info) != 0 ? errno : 0;
    else
        failed = unlink(path) != 0 ? errno : 0;
    *ret_seconds = MPI_Wtime() - begin;
    return failed;
}

pl_status peak_meta_run(struct peak_meta *meta, struct peak_pass *pass, int64_t files, struct pl_error *error)
{
    const enum peak_operation operation = pass->set->operation;
    const int64_t count = operation == PEAK_CREATE ? files : meta->files;
    char path[PATH_MAX];
    for (int64_t i = 0; i < count && !pass->cut; i++) {
        double seconds = 0;
        const int failed = timed(operation, name_of(meta, i, path), &seconds);
        if (failed)
            return pl_fail_errno(error, failed, "%s of '%s'", PEAK_OPERATION_NAMES[operation], path);
        meta->files += operation == PEAK_CREATE;
        pass->series->values[pass->series->count++] = seconds;
        pass->seconds += seconds;
        pass->cut = MPI_Wtime() > pass->deadline && i + 1 < count;
    }
    return PL_OK;
}
