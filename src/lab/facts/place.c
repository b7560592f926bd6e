#include "lab/facts/place.h"

#include "lab/facts/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STAT_BLOCK = 512 }; /* unit of st_blocks */

int64_t place_taken_bytes(const char *file)
{
    struct stat info;
    return stat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1 ? (int64_t)info.st_blocks * STAT_BLOCK
                                                                                 : 0;
}

pl_status place_check(const char *file, int64_t bytes, struct pl_error *error)
{
    struct environment_filesystem fs;
    struct stat info;
    if (environment_filesystem(file, &fs, error) != PL_OK)
        return error->status;
    const bool is_there = stat(file, &info) == 0;
    if (is_there && !S_ISREG(info.st_mode))
        return pl_fail(error, PL_E_BAD_FILE, "'%s' is not a regular file; allowed: one, or a new name", file);
    if (access(fs.directory, W_OK | X_OK) != 0)
        return pl_fail_errno(error, errno, "files cannot be made in '%s'", fs.directory);
    const int64_t room = fs.free_bytes + place_taken_bytes(file);
    if (fs.total_bytes > 0 && room < bytes) /* some file systems do not tell */
        return pl_fail(error, PL_E_SPACE, "'%s': the largest file has %lld bytes, but %lld are free", file,
                       (long long)bytes, (long long)room);
    return PL_OK;
}

const char *place_in_memory(const char *file)
{
    static const char *const kinds[] = {"tmpfs", "ramfs"};
    struct environment_filesystem fs;
    struct pl_error ignored;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (environment_filesystem(file, &fs, &ignored) == PL_OK && strcmp(fs.type, kinds[i]) == 0)
            return kinds[i];
    return NULL;
}

pl_status place_fail(const char *file, const char *doing, struct pl_error *error)
{
    if (errno == ENOSPC)
        return pl_fail(error, PL_E_SPACE, "%s '%s': no space left on the file system", doing, file);
    return pl_fail_errno(error, errno, "%s '%s'", doing, file);
}

pl_status place_drop(const char *file, struct pl_error *error)
{
    const int descriptor = open(file, O_RDWR | O_CLOEXEC);
    if (descriptor < 0)
        return errno == ENOENT ? PL_OK : place_fail(file, "opening", error);
    pl_status status = PL_OK;
    if (fsync(descriptor) != 0)
        status = place_fail(file, "syncing", error);
    else if ((errno = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)) != 0)
        status = place_fail(file, "dropping from the cache", error);
    close(descriptor);
    return status;
}

pl_status place_move(const char *file, const char *doing, int descriptor, bool writes, void *data, size_t bytes,
                     int64_t offset, struct pl_error *error)
{
    for (size_t done = 0; done < bytes;) {
        char *at = (char *)data + done;
        const ssize_t moved = writes ? pwrite(descriptor, at, bytes - done, offset + (int64_t)done)
                                     : pread(descriptor, at, bytes - done, offset + (int64_t)done);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved < 0)
            return place_fail(file, doing, error);
        if (moved == 0)
            return pl_fail(error, PL_E_DATA, "%s '%s': it ends too early", doing, file);
        done += (size_t)moved;
    }
    return PL_OK;
}
