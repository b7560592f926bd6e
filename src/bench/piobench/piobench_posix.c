/* Naive: each rank seeks to each of its data blocks and writes or reads it, as programs did before MPI-IO. */
#include "bench/piobench/piobench_trial.h"

#include "measure/place.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { DIRECT_UNIT = 4096 }; /* sectors of all devices of today */

static pl_status posix_open_coll(struct piobench_trial *trial, struct piobench_file *file, struct pl_error *error)
{
    const struct piobench_config *config = trial->place->config;
    const int direct = config->direct ? O_DIRECT : 0;
    if (direct && trial->place->cell->block_bytes % DIRECT_UNIT)
        return pl_fail(error, PL_E_UNSUPPORTED, "direct I/O: a data block of %lld bytes; allowed: multiples of %d",
                       (long long)trial->place->cell->block_bytes, DIRECT_UNIT);
    file->descriptor = open(config->file,
                            (trial->place->cell->writes ? O_WRONLY | O_CREAT : O_RDONLY) | O_CLOEXEC | direct, 0666);
    return file->descriptor < 0 ? place_fail(trial->place->config->file, "opening", error) : PL_OK;
}

static pl_status posix_ready_coll(struct piobench_trial *trial, struct piobench_file *file, struct pl_error *error)
{
    (void)trial;
    (void)file;
    (void)error;
    return PL_OK;
}

static pl_status move_block(const struct piobench_trial *trial, int descriptor, char *data, int64_t offset,
                            int64_t bytes, struct pl_error *error)
{
    const bool writes = trial->place->cell->writes;
    if (lseek(descriptor, offset, SEEK_SET) < 0)
        return place_fail(trial->place->config->file, "seeking in", error);
    for (int64_t done = 0; done < bytes;) {
        const ssize_t moved = writes ? write(descriptor, data + done, (size_t)(bytes - done))
                                     : read(descriptor, data + done, (size_t)(bytes - done));
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved < 0)
            return place_fail(trial->place->config->file, writes ? "writing" : "reading", error);
        if (moved == 0)
            return pl_fail(error, PL_E_IO, "%s '%s': nothing moved at byte %lld", writes ? "writing" : "reading",
                           trial->place->config->file, (long long)(offset + done));
        done += moved;
    }
    return PL_OK;
}

static pl_status posix_move_coll(struct piobench_trial *trial, struct piobench_file *file, struct pl_error *error)
{
    const struct piobench_place *place = trial->place;
    const int64_t block = place->cell->block_bytes;
    char *data = (char *)place->elements;
    struct piolet_dist_runs runs;
    struct piolet_dist_run run;
    piolet_dist_runs_begin(&runs, place->dist, place->rank);
    while (piolet_dist_runs_next(&runs, &run)) {
        const int64_t end = (run.offset + run.length) * PIOBENCH_ELEMENT;
        /* neighbouring blocks of one rank come as one run: a naive program does not know that */
        for (int64_t at = run.offset * PIOBENCH_ELEMENT; at < end;) {
            const int64_t bytes = end - at < block ? end - at : block;
            if (move_block(trial, file->descriptor, data, at, bytes, error) != PL_OK)
                return error->status;
            data += bytes;
            at += bytes;
        }
    }
    return PL_OK;
}

static pl_status posix_sync_coll(struct piobench_trial *trial, struct piobench_file *file, struct pl_error *error)
{
    return fsync(file->descriptor) == 0 ? PL_OK : place_fail(trial->place->config->file, "syncing", error);
}

static pl_status posix_close_coll(struct piobench_trial *trial, struct piobench_file *file, struct pl_error *error)
{
    return close(file->descriptor) == 0 ? PL_OK : place_fail(trial->place->config->file, "closing", error);
}

const struct piobench_mover PIOBENCH_MOVER_POSIX = {posix_open_coll, posix_ready_coll, posix_move_coll, posix_sync_coll,
                                                    posix_close_coll};
