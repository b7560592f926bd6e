/* What the file holds, and whether it does. Everything here is outside of the timing and uses POSIX calls only, so that
 * no implementation is judge of itself. */
#include "bench/gpfs/gpfs_trial.h"

#include "base/rng.h"
#include "measure/place.h"
#include "measure/testfile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 20, WORD = 8 };

/* ---- bytes ---- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void gpfs_data_fill(char *to, int64_t offset, int64_t bytes, uint64_t seed)
{
    for (int64_t done = 0; done < bytes;) {
        const int64_t within = (offset + done) % WORD, count = least(WORD - within, bytes - done);
        const uint64_t word = rng_at(seed, (uint64_t)((offset + done) / WORD));
        memcpy(to + done, (const char *)&word + within, (size_t)count);
        done += count;
    }
}

int64_t gpfs_data_differs(const char *data, int64_t offset, int64_t bytes, uint64_t seed)
{
    for (int64_t done = 0; done < bytes;) {
        const int64_t within = (offset + done) % WORD, count = least(WORD - within, bytes - done);
        const uint64_t word = rng_at(seed, (uint64_t)((offset + done) / WORD));
        const char *wanted = (const char *)&word + within;
        if (memcmp(data + done, wanted, (size_t)count) == 0) {
            done += count;
            continue;
        }
        while (data[done] == *wanted++)
            done++;
        return done;
    }
    return -1;
}

void gpfs_data_fill_pieces(const struct gpfs_place *place, uint64_t seed)
{
    const struct gpfs_plan *plan = &place->plan;
    for (int64_t i = 0; i < plan->count; i++)
        gpfs_data_fill(place->data + i * plan->piece_bytes, plan->offsets[i], plan->piece_bytes, seed);
}

static pl_status fail_data(const struct gpfs_place *place, int64_t offset, const char *what, struct pl_error *error)
{
    return pl_fail(error, PL_E_DATA, "'%s': wrong data at byte %lld, %s", place->config->file, (long long)offset, what);
}

pl_status gpfs_data_check_pieces(const struct gpfs_place *place, struct pl_error *error)
{
    const struct gpfs_plan *plan = &place->plan;
    for (int64_t i = 0; i < plan->count; i++) {
        const int64_t wrong = gpfs_data_differs(place->data + i * plan->piece_bytes, plan->offsets[i],
                                                plan->piece_bytes, place->file_seed);
        if (wrong >= 0)
            return fail_data(place, plan->offsets[i] + wrong, "as it was read", error);
    }
    return PL_OK;
}

/* ---- shares of the file ---- */

struct share {
    int64_t first, end;
};

static struct share share_of(const struct gpfs_place *place)
{
    const int64_t bytes = place->cell->file_bytes, each = (bytes + place->ranks - 1) / place->ranks;
    const int64_t first = least(each * place->rank, bytes);
    return (struct share){first, least(first + each, bytes)};
}

static int by_offset(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool add_touched(struct gpfs_place *place, int64_t offset)
{
    const int64_t count = place->touched_count;
    if ((count & (count - 1)) == 0) {
        int64_t *more = realloc(place->touched, (size_t)(count ? 2 * count : 1) * sizeof *more);
        if (!more)
            return false;
        place->touched = more;
    }
    place->touched[place->touched_count++] = offset;
    return true;
}

pl_status gpfs_data_touched(struct gpfs_place *place, struct pl_error *error)
{
    const struct share share = share_of(place);
    for (int rank = 0; rank < place->ranks; rank++) {
        struct gpfs_plan plan;
        if (gpfs_plan_make(place->cell, rank, (uint64_t)place->config->seed, &plan, error) != PL_OK)
            return error->status;
        bool enough = true;
        for (int64_t i = 0; i < plan.count && enough; i++)
            if (plan.offsets[i] < share.end && plan.offsets[i] + plan.piece_bytes > share.first)
                enough = add_touched(place, plan.offsets[i]);
        gpfs_plan_clear(&plan);
        if (!enough)
            return pl_fail(error, PL_E_NOMEM, "not enough memory for the list of all pieces");
    }
    if (place->touched_count)
        qsort(place->touched, (size_t)place->touched_count, sizeof *place->touched, by_offset);
    return PL_OK;
}

/* Compares [at, end) of the file with what was there before, or, inside of a piece, with what was written. `next` is
 * the first piece that may reach behind `at`. */
static pl_status check_chunk(const struct gpfs_place *place, const char *data, struct share chunk, uint64_t seed,
                             int64_t *next, struct pl_error *error)
{
    const int64_t length = place->plan.piece_bytes;
    for (int64_t at = chunk.first; at < chunk.end;) {
        while (*next < place->touched_count && place->touched[*next] + length <= at)
            ++*next;
        const int64_t begin = *next < place->touched_count ? place->touched[*next] : INT64_MAX;
        const bool written = begin <= at;
        const int64_t end = least(written ? begin + length : begin, chunk.end);
        const int64_t wrong = gpfs_data_differs(data + (at - chunk.first), at, end - at,
                                                written ? seed : place->file_seed);
        if (wrong >= 0)
            return fail_data(place, at + wrong, written ? "which was written" : "which nobody was to write", error);
        at = end;
    }
    return PL_OK;
}

static pl_status walk_file(const struct gpfs_place *place, bool writes, uint64_t seed, int descriptor, char *data,
                           struct pl_error *error)
{
    const struct share share = share_of(place);
    int64_t next = 0;
    for (int64_t at = share.first; at < share.end; at += CHUNK) {
        const struct share chunk = {at, least(at + CHUNK, share.end)};
        if (writes)
            gpfs_data_fill(data, at, chunk.end - at, place->file_seed);
        if (place_move(place->config->file, writes ? "preparing" : "checking", descriptor, writes, data,
                       (size_t)(chunk.end - at), at, error) != PL_OK)
            return error->status;
        if (!writes && check_chunk(place, data, chunk, seed, &next, error) != PL_OK)
            return error->status;
    }
    return PL_OK;
}

static pl_status check_length(const struct gpfs_place *place, int descriptor, struct pl_error *error)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0)
        return place_fail(place->config->file, "looking at", error);
    if (info.st_size != place->cell->file_bytes)
        return pl_fail(error, PL_E_DATA, "'%s' has %lld bytes in the place of %lld", place->config->file,
                       (long long)info.st_size, (long long)place->cell->file_bytes);
    return PL_OK;
}

static pl_status visit_file(const struct gpfs_place *place, bool writes, uint64_t seed, struct pl_error *error)
{
    char *chunk = malloc(CHUNK);
    if (!chunk)
        return pl_fail(error, PL_E_NOMEM, "not enough memory to look at the file");
    const int descriptor = open(place->config->file, (writes ? O_WRONLY | O_CREAT : O_RDONLY) | O_CLOEXEC, 0666);
    pl_status status = descriptor < 0 ? place_fail(place->config->file, "opening", error) : PL_OK;
    if (status == PL_OK)
        status = walk_file(place, writes, seed, descriptor, chunk, error);
    if (status == PL_OK && !writes)
        status = check_length(place, descriptor, error);
    if (descriptor >= 0 && close(descriptor) != 0 && status == PL_OK)
        status = place_fail(place->config->file, "closing", error);
    free(chunk);
    return status;
}

pl_status gpfs_data_check_file(const struct gpfs_place *place, uint64_t seed, struct pl_error *error)
{
    return visit_file(place, false, seed, error);
}

pl_status gpfs_data_write_file(const struct gpfs_place *place, struct pl_error *error)
{
    return visit_file(place, true, 0, error);
}

pl_status gpfs_data_remove(const struct gpfs_place *place, struct pl_error *error)
{
    return place->rank == 0 ? testfile_clear(place->config->file, error) : PL_OK;
}
