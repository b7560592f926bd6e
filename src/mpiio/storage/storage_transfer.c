/* The loops around reads and writes. */
#include "mpiio/storage/storage_core.h"

#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* What Linux transfers at most in one call. */
#define CALL_BYTES_MAX ((size_t)2147479552)
enum { CALL_PIECES_MAX = IOV_MAX, ZEROS_MAX = 8 };

/* The part of a list that is still to be done. */
struct rest {
    struct iovec *pieces;
    int64_t count;
    int64_t offset;
    int64_t bytes;
};

/* How many pieces the next call takes; *ret_held_back bytes are taken from the last of them. */
static int portion_take(struct rest *rest, size_t *ret_held_back)
{
    size_t total = 0;
    int taken = 0;
    *ret_held_back = 0;
    while (taken < rest->count && taken < CALL_PIECES_MAX && total < CALL_BYTES_MAX) {
        struct iovec *piece = &rest->pieces[taken++];
        if (piece->iov_len > CALL_BYTES_MAX - total) {
            *ret_held_back = piece->iov_len - (CALL_BYTES_MAX - total);
            piece->iov_len -= *ret_held_back;
        }
        total += piece->iov_len;
    }
    return taken;
}

static void rest_advance(struct rest *rest, size_t done)
{
    rest->offset += (int64_t)done;
    rest->bytes -= (int64_t)done;
    while (rest->count > 0 && done >= rest->pieces->iov_len) { /* also over empty pieces */
        done -= rest->pieces->iov_len;
        rest->pieces++;
        rest->count--;
    }
    if (done > 0) {
        assert(rest->count > 0);
        rest->pieces->iov_base = (char *)rest->pieces->iov_base + done;
        rest->pieces->iov_len -= done;
    }
}

static ssize_t call_once(const struct storage *storage, bool writing, struct rest *rest)
{
    size_t held_back;
    const int count = portion_take(rest, &held_back);
    const ssize_t moved = writing ? storage->backend->writev(storage->fd, rest->pieces, count, rest->offset)
                                  : storage->backend->readv(storage->fd, rest->pieces, count, rest->offset);
    rest->pieces[count - 1].iov_len += held_back;
    return moved;
}

static pl_status transfer_fail(const struct storage *storage, bool writing, const struct rest *all, int64_t done,
                               int errno_value, struct pl_error *error)
{
    static const char *const verbs[] = {"reading", "writing"};
    if (errno_value == 0)
        pl_fail(error, PL_E_IO, "%s %lld bytes at byte %lld of '%s%s': no progress: the system took nothing, %d times",
                verbs[writing], (long long)all->bytes, (long long)all->offset, STORAGE_NAME(storage->path), ZEROS_MAX);
    else
        storage_fail(error, errno_value, "%s %lld bytes at byte %lld of '%s%s'", verbs[writing], (long long)all->bytes,
                     (long long)all->offset, STORAGE_NAME(storage->path));
    const size_t used = strlen(error->text);
    if (done > 0)
        snprintf(error->text + used, sizeof error->text - used, " (after %lld bytes)", (long long)done);
    return error->status;
}

/* `moved`: what the first call gave. */
static pl_status transfer(struct storage *storage, bool writing, struct rest rest, ssize_t moved, int64_t *ret_done,
                          struct pl_error *error)
{
    const struct rest all = rest;
    struct storage_patience patience = {0};
    pl_status status = PL_OK;
    int zeros = 0;
    for (;;) {
        if (moved > 0) {
            rest_advance(&rest, (size_t)moved);
            patience = (struct storage_patience){0};
            zeros = 0;
        } else if (moved == 0 && !writing) {
            break; /* the file ends here */
        } else if (moved == 0 ? ++zeros >= ZEROS_MAX : !storage_again(&patience, (int)-moved)) {
            status = transfer_fail(storage, writing, &all, all.bytes - rest.bytes, (int)-moved, error);
            break;
        }
        if (rest.bytes == 0)
            break;
        moved = call_once(storage, writing, &rest);
    }
    if (ret_done)
        *ret_done = all.bytes - rest.bytes;
    return status;
}

/* Sums up; false beyond the largest offset. */
static bool rest_make(int64_t offset, struct iovec *pieces, int64_t count, struct rest *ret_rest)
{
    if (offset < 0 || count < 0)
        return false;
    int64_t bytes = 0;
    for (int64_t i = 0; i < count; i++) {
        if (pieces[i].iov_len > (size_t)(INT64_MAX - offset - bytes))
            return false;
        bytes += (int64_t)pieces[i].iov_len;
    }
    *ret_rest = (struct rest){.pieces = pieces, .count = count, .offset = offset, .bytes = bytes};
    return true;
}

static pl_status transfer_list(struct storage *storage, bool writing, int64_t offset, struct iovec *pieces,
                               int64_t count, int64_t *ret_done, struct pl_error *error)
{
    struct rest rest;
    if (ret_done)
        *ret_done = 0;
    if (!rest_make(offset, pieces, count, &rest))
        return pl_fail(error, PL_E_ARG, "%s '%s%s' at byte %lld: the access does not lie between byte 0 and byte %lld",
                       writing ? "writing" : "reading", STORAGE_NAME(storage->path), (long long)offset,
                       (long long)INT64_MAX);
    rest_advance(&rest, 0);
    if (rest.bytes == 0)
        return PL_OK;
    const ssize_t moved = call_once(storage, writing, &rest);
    return transfer(storage, writing, rest, moved, ret_done, error);
}

/* One piece by one call, as nearly every access is; all else that may happen is for the loops. */
static pl_status transfer_piece(struct storage *storage, bool writing, int64_t offset, struct iovec piece,
                                int64_t *ret_done, struct pl_error *error)
{
    const size_t bytes = piece.iov_len;
    if (bytes == 0 || bytes > CALL_BYTES_MAX || offset < 0 || offset > INT64_MAX - (int64_t)bytes)
        return transfer_list(storage, writing, offset, &piece, 1, ret_done, error);
    const ssize_t moved = writing ? storage->backend->writev(storage->fd, &piece, 1, offset)
                                  : storage->backend->readv(storage->fd, &piece, 1, offset);
    if (moved != (ssize_t)bytes) {
        const struct rest rest = {.pieces = &piece, .count = 1, .offset = offset, .bytes = (int64_t)bytes};
        return transfer(storage, writing, rest, moved, ret_done, error);
    }
    if (ret_done)
        *ret_done = moved;
    return PL_OK;
}

pl_status storage_read(struct storage *storage, int64_t offset, void *buffer, int64_t bytes, int64_t *ret_done,
                       struct pl_error *error)
{
    const struct iovec piece = {.iov_base = buffer,
                                .iov_len = (size_t)bytes}; /* a negative one is refused: too large */
    return transfer_piece(storage, false, offset, piece, ret_done, error);
}

pl_status storage_write(struct storage *storage, int64_t offset, const void *buffer, int64_t bytes, int64_t *ret_done,
                        struct pl_error *error)
{
    const struct iovec piece = {.iov_base = (void *)buffer, .iov_len = (size_t)bytes};
    return transfer_piece(storage, true, offset, piece, ret_done, error);
}

pl_status storage_readv(struct storage *storage, int64_t offset, struct iovec *pieces, int64_t count, int64_t *ret_done,
                        struct pl_error *error)
{
    return transfer_list(storage, false, offset, pieces, count, ret_done, error);
}

pl_status storage_writev(struct storage *storage, int64_t offset, struct iovec *pieces, int64_t count,
                         int64_t *ret_done, struct pl_error *error)
{
    return transfer_list(storage, true, offset, pieces, count, ret_done, error);
}
