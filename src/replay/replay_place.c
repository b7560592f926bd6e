/* The folder of a replay on its target: made by us, with names of ours, and removed with all that is in it. Nothing
 * else is touched there. */
#include "replay/replay_run.h"

#include "mpi/coll.h"

#include "base/interrupt.h"
#include "base/remove.h"
#include "base/rng.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILL_BLOCK = 4 << 20, NAME_SHOWN = 60 };

/* ---- the folder ---- */

/* Rank 0 makes a folder that was not there; the others make it where they do not see it (a disk of their own node). */
pl_status replay_place_make_coll(struct replay_run *run, struct pl_error *error)
{
    pl_status status = PL_OK;
    struct coll_verdict verdict;
    if (run->rank == 0) {
        snprintf(run->folder, sizeof run->folder, "%s/piolet-replay.XXXXXX", run->job->directory);
        if (!interrupt_mkdtemp(run->folder))
            status = pl_fail_errno(error, errno, "making a folder in '%s'", run->job->directory);
    }
    status = coll_agree_coll(run->comm, status, error, &verdict);
    if (status != PL_OK) {
        run->folder[0] = '\0';
        return status;
    }
    MPI_Bcast(run->folder, sizeof run->folder, MPI_CHAR, 0, run->comm);
    if (run->job->keep)
        interrupt_keep(run->folder);
    else
        interrupt_remove(run->folder);
    if (mkdir(run->folder, 0700) != 0 && errno != EEXIST)
        status = pl_fail_errno(error, errno, "making '%s'", run->folder);
    return coll_agree_coll(run->comm, status, error, &verdict);
}

void replay_place_remove_coll(struct replay_run *run)
{
    if (!run->folder[0])
        return;
    MPI_Barrier(run->comm); /* nobody has a file open */
    if (run->rank == 0 && !run->job->keep)
        remove_quietly(run->folder);
    MPI_Barrier(run->comm);
    if (run->rank != 0 && !run->job->keep)
        remove_quietly(run->folder);
    interrupt_keep(run->folder);
}

/* The end of the name for people, and a sum of all of it, so that two names are two files. */
pl_status replay_place_name(const struct replay_run *run, const char *name, char ret_path[REPLAY_PATH_MAX],
                            struct pl_error *error)
{
    uint64_t sum = 1;
    const char *slash = strrchr(name, '/');
    const char *shown = slash ? slash + 1 : name;
    for (const char *c = name; *c; c++)
        sum = rng_at(sum, (uint64_t)(unsigned char)*c);
    const size_t length = strlen(shown);
    int used = snprintf(ret_path, REPLAY_PATH_MAX, "%s/", run->folder);
    for (const char *c = shown + (length > NAME_SHOWN ? length - NAME_SHOWN : 0); *c && used < REPLAY_PATH_MAX; c++)
        ret_path[used++] = isalnum((unsigned char)*c) || (strchr("._-", *c) && c > shown) ? *c : '_';
    if (used < REPLAY_PATH_MAX)
        used += snprintf(ret_path + used, (size_t)(REPLAY_PATH_MAX - used), "-%016llx", (unsigned long long)sum);
    return used < REPLAY_PATH_MAX ? PL_OK : pl_fail_errno(error, ENAMETOOLONG, "naming a file in '%s'", run->folder);
}

/* ---- filling ---- */

static pl_status write_range(int fd, const char *path, const char *block, int64_t from, int64_t to,
                             struct pl_error *error)
{
    while (from < to) {
        const size_t length = to - from < FILL_BLOCK ? (size_t)(to - from) : FILL_BLOCK;
        const ssize_t done = pwrite(fd, block, length, from);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return pl_fail_errno(error, done < 0 ? errno : ENOSPC, "filling '%s'", path);
        from += done;
    }
    return PL_OK;
}

/* Holes in what is there, then what lies behind its end. */
static pl_status fill_holes(int fd, const char *path, const char *block, int64_t bytes, struct pl_error *error)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return pl_fail_errno(error, errno, "looking at '%s'", path);
    const int64_t size = info.st_size < bytes ? info.st_size : bytes;
    pl_status status = PL_OK;
    for (int64_t at = 0; at < size && status == PL_OK;) {
        const int64_t hole = lseek(fd, at, SEEK_HOLE);
        if (hole < 0 || hole >= size)
            break; /* none, or a file system that does not tell */
        int64_t data = lseek(fd, hole, SEEK_DATA);
        data = data < 0 || data > size ? size : data;
        status = write_range(fd, path, block, hole, data, error);
        at = data;
    }
    return status == PL_OK ? write_range(fd, path, block, size, bytes, error) : status;
}

pl_status replay_place_fill(const char *path, int64_t bytes, struct pl_error *error)
{
    char *block = malloc(FILL_BLOCK);
    const int fd = block ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    const int cause = errno;
    pl_status status = PL_OK;
    if (!block)
        status = pl_fail(error, PL_E_NOMEM, "not enough memory to fill '%s'", path);
    else if (fd < 0)
        status = pl_fail_errno(error, cause, "making '%s'", path);
    for (size_t i = 0; block && i < FILL_BLOCK / sizeof(uint64_t); i++)
        ((uint64_t *)(void *)block)[i] = rng_mix(i);
    if (status == PL_OK)
        status = fill_holes(fd, path, block, bytes, error);
    if (fd >= 0 && close(fd) != 0 && status == PL_OK)
        status = pl_fail_errno(error, errno, "filling '%s'", path);
    free(block);
    return status;
}

pl_status replay_place_drop(const char *path, struct pl_error *error)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? PL_OK : pl_fail_errno(error, errno, "opening '%s'", path);
    const bool synced = fdatasync(fd) == 0;
    const int cause = errno, code = synced ? posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) : 0;
    close(fd);
    return !synced ? pl_fail_errno(error, cause, "fdatasync of '%s'", path)
           : code  ? pl_fail_errno(error, code, "dropping the pages of '%s'", path)
                   : PL_OK;
}
