#include "engine/storage/storage.h"
#include "base/limits.h"
#include "engine/fault/fault.h"
#include "engine/mem.h"
#include "engine/storage/storage_core.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

const struct storage_backend *const STORAGE_BACKENDS[] = {
#define ENTRY(name) &storage_backend_##name,
#include "engine/storage/storage.def"
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
static pl_status storage_open_file(struct storage *storage, mode_t mode, struct pl_error *error)
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
    assert(storage->fd > STDERR_FILENO);
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
    const pl_status status = storage_open_file(storage, mode, error);
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

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* What a failed system call means: try again, or find words. */

const char *storage_tail(const char *path)
{
    enum { SHOWN = 200 }; /* leaves room for the words in a struct pl_error */
    const size_t length = strlen(path);
    return length > SHOWN ? path + length - SHOWN : path;
}

pl_status storage_fail(struct pl_error *error, int errno_value, const char *format, ...)
{
    assert(errno_value > 0);
    char context[PL_ERROR_TEXT_MAX / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof context, format, args);
    va_end(args);
    if (errno_value != EFBIG)
        return pl_fail_errno(error, errno_value, "%s", context);
    unsigned long long bytes;
    if (size_limit_bytes(&bytes))
        return pl_fail(error, PL_E_SPACE,
                       "%s: %s: the limit of file size of this process (RLIMIT_FSIZE, ulimit -f) is %llu bytes",
                       context, strerror(EFBIG), bytes);
    return pl_fail(error, PL_E_SPACE, "%s: %s for this file system", context, strerror(EFBIG));
}

bool storage_again(struct storage_patience *patience, int errno_value)
{
    enum { INTERRUPTED_MAX = 1000000 }; /* no storm of signals does that; a fault plan may, and must not hang */
    const int64_t ms = 1000000, nap_longest_ns = 256 * ms, naps_ns = 2000 * ms;
    if (errno_value == EINTR)
        return ++patience->interrupted < INTERRUPTED_MAX;
    if (errno_value != EAGAIN || patience->napped_ns >= naps_ns)
        return false;
    /* Each nap is as long as all before it, so that a short trouble costs little. */
    int64_t nap_ns = patience->napped_ns ? patience->napped_ns : ms;
    if (nap_ns > nap_longest_ns)
        nap_ns = nap_longest_ns;
    nanosleep(&(struct timespec){.tv_nsec = nap_ns}, NULL);
    patience->napped_ns += nap_ns;
    return true;
}

/* ---- Paths ------------------------------------------------------------------------------------------------------- */

/* The words that MPI-IO implementations know before a colon. Any other colon is part of a file's name. */
static const char *const PREFIXES[] = {"ufs",       "nfs",    "xfs",   "pfs",  "piofs",  "sfs",    "hfs",     "panfs",
                                       "pvfs2",     "lustre", "gpfs",  "daos", "testfs", "zoidfs", "gridftp", "ime",
                                       "quobytefs", "ext",    "posix", "unix", "file",   "piolet"};

const char *storage_path(const char *name)
{
    const char *colon = strchr(name, ':');
    if (!colon)
        return name;
    const size_t length = (size_t)(colon - name);
    for (size_t i = 0; i < sizeof PREFIXES / sizeof PREFIXES[0]; i++)
        if (strlen(PREFIXES[i]) == length && strncasecmp(name, PREFIXES[i], length) == 0)
            return colon + 1;
    return name;
}

/* ---- Span locks -------------------------------------------------------------------------------------------------- */

/* Span locks. The kernel keeps processes apart; threads that share a storage are one to it, so the spans they hold
 * stand in a list. Spans of that list never overlap: unlocking one then never takes away a part of another. */

struct storage_span {
    int64_t first, last;
    struct storage_span *next;
};

static bool span_make(int64_t offset, int64_t bytes, struct storage_span *ret_span)
{
    if (offset < 0 || bytes < 0 || (bytes > 0 && offset > INT64_MAX - (bytes - 1)))
        return false;
    *ret_span = (struct storage_span){.first = offset, .last = bytes == 0 ? INT64_MAX : offset + (bytes - 1)};
    return true;
}

static bool overlaps_held(const struct storage *storage, const struct storage_span *span)
{
    for (const struct storage_span *held = storage->spans; held; held = held->next)
        if (span->first <= held->last && held->first <= span->last)
            return true;
    return false;
}

static int call_lock(const struct storage *storage, short kind, const struct storage_span *span)
{
    const int64_t bytes = span->last == INT64_MAX ? 0 : span->last - span->first + 1;
    struct storage_patience patience = {0};
    int outcome;
    do
        outcome = storage->backend->lock(storage->fd, kind, span->first, bytes, false);
    while (outcome == -EINTR && storage_again(&patience, EINTR));
    return outcome;
}

static pl_status lock_fail(const struct storage *storage, const char *verb, const struct storage_span *span,
                           int errno_value, struct pl_error *error)
{
    const pl_status status = storage_fail(error, errno_value, "%s bytes %lld to %lld of '%s%s'", verb,
                                          (long long)span->first, (long long)span->last, STORAGE_NAME(storage->path));
    switch (errno_value) {
    case ENOLCK:
    case EOPNOTSUPP:
    case ENOSYS:
    case EINVAL:
        error->status = PL_E_UNSUPPORTED;
        return PL_E_UNSUPPORTED;
    default:
        return status;
    }
}

static pl_status arguments_fail(const struct storage *storage, const char *verb, int64_t offset, int64_t bytes,
                                struct pl_error *error)
{
    return pl_fail(error, PL_E_ARG, "%s %lld bytes at byte %lld of '%s%s': no such span can be locked", verb,
                   (long long)bytes, (long long)offset, STORAGE_NAME(storage->path));
}

pl_status storage_try_lock(struct storage *storage, enum storage_lock kind, int64_t offset, int64_t bytes,
                           bool *ret_locked, struct pl_error *error)
{
    struct storage_span wanted;
    if (!span_make(offset, bytes, &wanted))
        return arguments_fail(storage, "locking", offset, bytes, error);
    struct storage_span *span = mem_alloc(sizeof *span);
    if (!span)
        return pl_fail(error, PL_E_NOMEM, "locking '%s%s': not enough memory", STORAGE_NAME(storage->path));
    *span = wanted;
    pthread_mutex_lock(&storage->mutex);
    int outcome = -EAGAIN;
    if (!overlaps_held(storage, span))
        outcome = call_lock(storage, kind == STORAGE_SHARED ? F_RDLCK : F_WRLCK, span);
    if (outcome >= 0) {
        span->next = storage->spans;
        storage->spans = span;
    }
    pthread_mutex_unlock(&storage->mutex);
    if (outcome < 0)
        mem_free(span);
    if (outcome < 0 && outcome != -EAGAIN && outcome != -EACCES) /* those two: another process has it */
        return lock_fail(storage, "locking", &wanted, -outcome, error);
    *ret_locked = outcome >= 0;
    return PL_OK;
}

/* Takes the span out of the list; NULL where it is not held. */
static struct storage_span *span_remove(struct storage *storage, const struct storage_span *wanted)
{
    for (struct storage_span **link = &storage->spans; *link; link = &(*link)->next) {
        struct storage_span *span = *link;
        if (span->first == wanted->first && span->last == wanted->last) {
            *link = span->next;
            return span;
        }
    }
    return NULL;
}

pl_status storage_unlock(struct storage *storage, int64_t offset, int64_t bytes, struct pl_error *error)
{
    struct storage_span wanted;
    if (!span_make(offset, bytes, &wanted))
        return arguments_fail(storage, "unlocking", offset, bytes, error);
    pthread_mutex_lock(&storage->mutex);
    struct storage_span *span = span_remove(storage, &wanted);
    const int outcome = span ? call_lock(storage, F_UNLCK, span) : 0;
    pthread_mutex_unlock(&storage->mutex);
    if (!span)
        return pl_fail(error, PL_E_ARG, "unlocking bytes %lld to %lld of '%s%s': this span is not locked",
                       (long long)wanted.first, (long long)wanted.last, STORAGE_NAME(storage->path));
    mem_free(span);
    return outcome < 0 ? lock_fail(storage, "unlocking", &wanted, -outcome, error) : PL_OK;
}

void storage_spans_free(struct storage *storage)
{
    while (storage->spans) {
        struct storage_span *span = storage->spans;
        storage->spans = span->next;
        mem_free(span);
    }
}
