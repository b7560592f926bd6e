#include "mpiio/storage/storage.h"

#include "base/size_limit.h"
#include "mpiio/mem.h"
#include "mpiio/storage/fault.h"
#include "mpiio/storage/storage_core.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>

const struct storage_backend *const STORAGE_BACKENDS[] = {
#define ENTRY(name) &storage_backend_##name,
#include "mpiio/storage/storage.def"
#undef ENTRY
    NULL};

const struct storage_backend *storage_backend_in_force(void)
{
    return fault_plan_active() ? &storage_backend_faulty : &storage_backend_posix;
}

static int open_patiently(const struct storage_backend *backend, const char *path, int flags, mode_t mode)
{
    struct storage_patience patience = {0};
    int fd;
    do
        fd = backend->open(path, flags, mode);
    while (fd < 0 && storage_again(&patience, -fd));
    return fd;
}

static int size_patiently(const struct storage *storage, int64_t *ret_bytes, int64_t *ret_block_bytes)
{
    struct storage_patience patience = {0};
    int outcome;
    do
        outcome = storage->backend->size(storage->fd, ret_bytes, ret_block_bytes);
    while (outcome < 0 && storage_again(&patience, -outcome));
    return outcome;
}

/* Fills in all but path and mutex; leaves no descriptor behind on failure. */
static pl_status open_file(struct storage *storage, mode_t mode, struct pl_error *error)
{
    const int fd = open_patiently(storage->backend, storage->path, storage->flags, mode);
    if (fd < 0)
        return storage_fail(error, -fd, "opening '%s%s'", STORAGE_NAME(storage->path));
    storage->fd = fd;
    int64_t bytes, block_bytes;
    const int outcome = size_patiently(storage, &bytes, &block_bytes);
    if (outcome < 0) {
        storage->backend->close(fd);
        return storage_fail(error, -outcome, "opening '%s%s': finding its size", STORAGE_NAME(storage->path));
    }
    enum { BLOCK_LEAST = 512 };
    storage->block_bytes = block_bytes < BLOCK_LEAST ? BLOCK_LEAST : block_bytes;
    return PL_OK;
}

static void storage_free(struct storage *storage)
{
    if (storage)
        mem_free(storage->path);
    mem_free(storage);
}

pl_status storage_open(const char *path, int flags, mode_t mode, struct storage **ret_storage, struct pl_error *error)
{
    struct storage *storage = mem_zalloc(1, sizeof *storage);
    if (!storage || !(storage->path = mem_strdup(path))) {
        storage_free(storage);
        return pl_fail(error, PL_E_NOMEM, "opening '%s%s': not enough memory", STORAGE_NAME(path));
    }
    storage->backend = storage_backend_in_force();
    size_limit_look();
    storage->flags = flags & ~O_APPEND;
    const pl_status status = open_file(storage, mode, error);
    if (status != PL_OK) {
        storage_free(storage);
        return status;
    }
    pthread_mutex_init(&storage->mutex, NULL);
    storage_hold_init(&storage->hold);
    *ret_storage = storage;
    return PL_OK;
}

pl_status storage_close(struct storage *storage, struct pl_error *error)
{
    if (!storage)
        return PL_OK;
    storage_hold_drop(storage);
    const int outcome = storage->backend->close(storage->fd);
    pl_status status = PL_OK;
    if (outcome < 0 && outcome != -EINTR) /* on Linux the descriptor is gone even after EINTR: there is no second try */
        status = storage_fail(error, -outcome, "closing '%s%s'", STORAGE_NAME(storage->path));
    storage_spans_free(storage);
    pthread_mutex_destroy(&storage->mutex);
    storage_hold_clear(&storage->hold);
    storage_free(storage);
    return status;
}

pl_status storage_unlink(const char *path, struct pl_error *error)
{
    const struct storage_backend *backend = storage_backend_in_force();
    struct storage_patience patience = {0};
    int outcome;
    do
        outcome = backend->unlink(path);
    while (outcome < 0 && storage_again(&patience, -outcome));
    return outcome < 0 ? storage_fail(error, -outcome, "deleting '%s%s'", STORAGE_NAME(path)) : PL_OK;
}

const char *storage_name(const struct storage *storage)
{
    return storage->path;
}

void storage_call(struct storage *storage, const char *name)
{
    char *copy = mem_strdup(name);
    if (!copy)
        return;
    mem_free(storage->path);
    storage->path = copy;
}

int storage_descriptor(const struct storage *storage)
{
    return storage->fd;
}

int64_t storage_block_bytes(const struct storage *storage)
{
    return storage->block_bytes;
}

pl_status storage_sync(struct storage *storage, struct pl_error *error)
{
    size_limit_look();
    storage_hold_drop(storage);
    struct storage_patience patience = {0};
    int outcome;
    do
        outcome = storage->backend->sync(storage->fd);
    while (outcome < 0 && storage_again(&patience, -outcome));
    return outcome < 0 ? storage_fail(error, -outcome, "syncing '%s%s'", STORAGE_NAME(storage->path)) : PL_OK;
}

pl_status storage_size(struct storage *storage, int64_t *ret_bytes, struct pl_error *error)
{
    int64_t bytes, block_bytes;
    const int outcome = size_patiently(storage, &bytes, &block_bytes);
    if (outcome < 0)
        return storage_fail(error, -outcome, "finding the size of '%s%s'", STORAGE_NAME(storage->path));
    *ret_bytes = bytes;
    return PL_OK;
}

pl_status storage_truncate(struct storage *storage, int64_t bytes, struct pl_error *error)
{
    if (bytes < 0)
        return pl_fail(error, PL_E_ARG, "setting the size of '%s%s': %lld is negative", STORAGE_NAME(storage->path),
                       (long long)bytes);
    storage_hold_drop(storage);
    struct storage_patience patience = {0};
    int outcome;
    do
        outcome = storage->backend->truncate(storage->fd, bytes);
    while (outcome < 0 && storage_again(&patience, -outcome));
    if (outcome < 0)
        return storage_fail(error, -outcome, "setting the size of '%s%s' to %lld bytes", STORAGE_NAME(storage->path),
                            (long long)bytes);
    return PL_OK;
}
