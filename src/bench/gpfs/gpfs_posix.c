/* Plain POSIX: each rank writes or reads each piece with a system call of its own, as programs did before MPI-IO. */
#include "bench/gpfs/gpfs_trial.h"

#include "measure/place.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static pl_status posix_open_coll(struct gpfs_trial *trial, struct gpfs_file *file, struct pl_error *error)
{
    const int creates = trial->place->cell->fresh ? O_CREAT : 0;
    file->descriptor = open(trial->place->config->file, O_RDWR | O_CLOEXEC | creates, 0666);
    return file->descriptor < 0 ? place_fail(trial->place->config->file, "opening", error) : PL_OK;
}

static pl_status posix_ready_coll(struct gpfs_trial *trial, struct gpfs_file *file, struct pl_error *error)
{
    const struct gpfs_cell *cell = trial->place->cell;
    if (!cell->fresh || !cell->value[GPFS_PREALLOCATE] || trial->place->rank != 0)
        return PL_OK;
    errno = posix_fallocate(file->descriptor, 0, cell->file_bytes);
    return errno ? place_fail(trial->place->config->file, "allocating", error) : PL_OK;
}

static pl_status posix_view_coll(struct gpfs_trial *trial, struct gpfs_file *file, struct pl_error *error)
{
    (void)trial;
    (void)file;
    (void)error;
    return PL_OK;
}

static pl_status move_piece(const struct gpfs_trial *trial, int descriptor, int64_t piece, struct pl_error *error)
{
    const struct gpfs_plan *plan = &trial->place->plan;
    const bool writes = trial->place->cell->writes;
    char *data = trial->place->data + piece * plan->piece_bytes;
    for (int64_t done = 0; done < plan->piece_bytes;) {
        const size_t rest = (size_t)(plan->piece_bytes - done);
        const int64_t offset = plan->offsets[piece] + done;
        const ssize_t moved = writes ? pwrite(descriptor, data + done, rest, offset)
                                     : pread(descriptor, data + done, rest, offset);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved < 0)
            return place_fail(trial->place->config->file, writes ? "writing" : "reading", error);
        if (moved == 0)
            return pl_fail(error, PL_E_IO, "%s '%s': nothing moved at byte %lld", writes ? "writing" : "reading",
                           trial->place->config->file, (long long)offset);
        done += moved;
    }
    return PL_OK;
}

static pl_status posix_call(const struct gpfs_trial *trial, struct gpfs_file *file, int64_t call,
                            struct pl_error *error)
{
    const struct gpfs_plan *plan = &trial->place->plan;
    for (int64_t piece = plan->first_piece[call]; piece < plan->first_piece[call + 1]; piece++)
        if (move_piece(trial, file->descriptor, piece, error) != PL_OK)
            return error->status;
    return PL_OK;
}

static pl_status posix_sync_coll(struct gpfs_trial *trial, struct gpfs_file *file, struct pl_error *error)
{
    return fsync(file->descriptor) == 0 ? PL_OK : place_fail(trial->place->config->file, "syncing", error);
}

static pl_status posix_close_coll(struct gpfs_trial *trial, struct gpfs_file *file, struct pl_error *error)
{
    return close(file->descriptor) == 0 ? PL_OK : place_fail(trial->place->config->file, "closing", error);
}

const struct gpfs_mover GPFS_MOVER_POSIX = {.open_coll = posix_open_coll,
                                            .ready_coll = posix_ready_coll,
                                            .view_coll = posix_view_coll,
                                            .call = posix_call,
                                            .sync_coll = posix_sync_coll,
                                            .close_coll = posix_close_coll};
