/* What the file holds, and whether it does. Everything here is outside of the timing and uses POSIX calls only, so that
 * no implementation is judge of itself. */
#include "bench/piobench/piobench_trial.h"

#include "base/rng.h"
#include "measure/place.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { CHUNK = 1 << 17 }; /* elements */

uint64_t piobench_data_at(uint64_t seed, int64_t element)
{
    return rng_at(seed, (uint64_t)element);
}

void piobench_data_fill(struct piobench_place *place, uint64_t seed)
{
    struct piolet_dist_runs runs;
    struct piolet_dist_run run;
    int64_t at = 0;
    piolet_dist_runs_begin(&runs, place->dist, place->rank);
    while (piolet_dist_runs_next(&runs, &run))
        for (int64_t i = 0; i < run.length; i++)
            place->elements[at++] = piobench_data_at(seed, run.offset + i);
}

static pl_status fail_data(const struct piobench_place *place, int64_t element, struct pl_error *error)
{
    return pl_fail(error, PL_E_DATA, "'%s': wrong data at byte %lld", place->config->file,
                   (long long)(element * PIOBENCH_ELEMENT));
}

pl_status piobench_data_check(const struct piobench_place *place, uint64_t seed, struct pl_error *error)
{
    struct piolet_dist_runs runs;
    struct piolet_dist_run run;
    int64_t at = 0;
    piolet_dist_runs_begin(&runs, place->dist, place->rank);
    while (piolet_dist_runs_next(&runs, &run))
        for (int64_t i = 0; i < run.length; i++)
            if (place->elements[at++] != piobench_data_at(seed, run.offset + i))
                return fail_data(place, run.offset + i, error);
    return PL_OK;
}

/* ---- the whole file ---- */

struct share {
    int64_t first, end; /* elements */
};

static struct share share_of(const struct piobench_place *place)
{
    const int64_t elements = place->cell->file_bytes / PIOBENCH_ELEMENT;
    const int64_t each = (elements + place->ranks - 1) / place->ranks;
    const int64_t first = each * place->rank < elements ? each * place->rank : elements;
    return (struct share){first, first + each < elements ? first + each : elements};
}

static pl_status walk_file(const struct piobench_place *place, bool writes, uint64_t seed, int descriptor,
                           uint64_t *chunk, struct pl_error *error)
{
    const struct share share = share_of(place);
    for (int64_t at = share.first; at < share.end; at += CHUNK) {
        const int64_t count = share.end - at < CHUNK ? share.end - at : CHUNK;
        for (int64_t i = 0; i < count && writes; i++)
            chunk[i] = piobench_data_at(seed, at + i);
        if (place_move(place->config->file, writes ? "preparing" : "checking", descriptor, writes, chunk,
                       (size_t)count * PIOBENCH_ELEMENT, at * PIOBENCH_ELEMENT, error) != PL_OK)
            return error->status;
        for (int64_t i = 0; i < count && !writes; i++)
            if (chunk[i] != piobench_data_at(seed, at + i))
                return fail_data(place, at + i, error);
    }
    return PL_OK;
}

static pl_status visit_file(const struct piobench_place *place, bool writes, uint64_t seed, struct pl_error *error)
{
    uint64_t *chunk = malloc((size_t)CHUNK * PIOBENCH_ELEMENT);
    if (!chunk)
        return pl_fail(error, PL_E_NOMEM, "not enough memory to look at the file");
    const int descriptor = open(place->config->file, writes ? O_WRONLY | O_CREAT | O_CLOEXEC : O_RDONLY | O_CLOEXEC,
                                0666);
    pl_status status = PL_OK;
    if (descriptor < 0)
        status = place_fail(place->config->file, "opening", error);
    else
        status = walk_file(place, writes, seed, descriptor, chunk, error);
    if (descriptor >= 0 && close(descriptor) != 0 && status == PL_OK)
        status = place_fail(place->config->file, "closing", error);
    free(chunk);
    return status;
}

pl_status piobench_data_check_file(const struct piobench_place *place, uint64_t seed, struct pl_error *error)
{
    return visit_file(place, false, seed, error);
}

pl_status piobench_data_write_file(const struct piobench_place *place, uint64_t seed, struct pl_error *error)
{
    return visit_file(place, true, seed, error);
}
