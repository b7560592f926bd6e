/* Span locks. The kernel keeps processes apart; threads that share a storage are one to it, so the spans they hold
 * stand in a list. Spans of that list never overlap: unlocking one then never takes away a part of another. */
#include "mpiio/mem.h"
#include "mpiio/storage/storage_core.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>

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
