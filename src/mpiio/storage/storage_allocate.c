/* Making room: fallocate(2), or by hand where the file system has no such call. */
#include "mpiio/mem.h"
#include "mpiio/storage/storage_core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 20 };

/* A file opened for writing only must be read all the same. The descriptor's own name also works after a chdir(2). */
static pl_status open_reader(const struct storage *storage, struct storage **ret_reader, struct pl_error *error)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", storage->fd);
    if (storage_open(name, O_RDONLY, 0, ret_reader, error) == PL_OK)
        return PL_OK;
    return storage_open(storage->path, O_RDONLY, 0, ret_reader, error);
}

/* Reads before each write, also behind the end: another process may have made the file longer meanwhile. */
static pl_status rewrite(struct storage *storage, struct storage *reader, char *buffer, int64_t bytes,
                         struct pl_error *error)
{
    for (int64_t at = 0; at < bytes;) {
        const int64_t wanted = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
        int64_t found = 0;
        pl_status status = storage_read(reader, at, buffer, wanted, &found, error);
        if (status != PL_OK)
            return status;
        memset(buffer + found, 0, (size_t)(wanted - found));
        status = storage_write(storage, at, buffer, wanted, NULL, error);
        if (status != PL_OK)
            return status;
        at += wanted;
    }
    return PL_OK;
}

static pl_status allocate_by_hand(struct storage *storage, int64_t bytes, struct pl_error *error)
{
    char *buffer = mem_alloc(PIECE_BYTES);
    if (!buffer)
        return pl_fail(error, PL_E_NOMEM, "not enough memory");
    struct storage *opened = NULL;
    pl_status status = PL_OK;
    if ((storage->flags & O_ACCMODE) == O_WRONLY)
        status = open_reader(storage, &opened, error);
    if (status == PL_OK)
        status = rewrite(storage, opened ? opened : storage, buffer, bytes, error);
    struct pl_error ignored; /* closing what was only read loses nothing */
    storage_close(opened, &ignored);
    mem_free(buffer);
    return status;
}

pl_status storage_allocate(struct storage *storage, int64_t bytes, struct pl_error *error)
{
    if (bytes < 0)
        return pl_fail(error, PL_E_ARG, "allocating '%s%s': %lld is negative", STORAGE_NAME(storage->path),
                       (long long)bytes);
    if (bytes == 0)
        return PL_OK;
    struct storage_patience patience = {0};
    int outcome;
    do
        outcome = storage->backend->allocate(storage->fd, 0, bytes);
    while (outcome < 0 && storage_again(&patience, -outcome));
    if (outcome == -EOPNOTSUPP || outcome == -ENOSYS) {
        if (allocate_by_hand(storage, bytes, error) == PL_OK)
            return PL_OK;
        return pl_within(error, "allocating %lld bytes for '%s%s'", (long long)bytes, STORAGE_NAME(storage->path));
    }
    if (outcome < 0)
        return storage_fail(error, -outcome, "allocating %lld bytes for '%s%s'", (long long)bytes,
                            STORAGE_NAME(storage->path));
    return PL_OK;
}
