/* One trial. Measured is what Figure 15 of the thesis shows: all start together, and the time is from the first start
 * to the last end. Opening and closing have times of their own. */
#include "bench/piobench/piobench_trial.h"

#include "base/notes.h"
#include "base/rng.h"
#include "measure/place.h"
#include "measure/testfile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ALIGNMENT = 4096 }; /* of buffers, for direct I/O */

/* ---- what all trials of a cell share ---- */

static pl_status make_types(struct piobench_place *place, struct pl_error *error)
{
    char message[PIOLET_DIST_MESSAGE_MAX];
    if (piolet_dist_new(&place->cell->spec, &place->cell->shape, &place->dist, message, sizeof message) ||
        piolet_dist_filetype(place->dist, place->rank, MPI_UINT64_T, &place->filetype, message, sizeof message) ||
        piolet_dist_memtype(place->dist, place->rank, MPI_UINT64_T, &place->memtype, message, sizeof message))
        return pl_fail(error, PL_E_MPI, "%s", message);
    place->count = piolet_dist_count(place->dist, place->rank);
    const size_t bytes = (size_t)place->count * PIOBENCH_ELEMENT;
    void *elements = NULL;
    if (posix_memalign(&elements, ALIGNMENT, bytes ? bytes : ALIGNMENT) != 0)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for %lld elements of the array", (long long)place->count);
    memset(elements, 0, bytes);
    place->elements = elements;
    return PL_OK;
}

/* A file of another length, of an earlier cell, would be another case. */
static pl_status remove_file(const struct piobench_place *place, struct pl_error *error)
{
    return place->rank == 0 ? testfile_clear(place->config->file, error) : PL_OK;
}

pl_status piobench_place_init_coll(struct piobench_place *place, MPI_Comm comm, const struct piobench_config *config,
                                   const struct piobench_cell *cell, struct pl_error *error,
                                   struct coll_verdict *ret_verdict)
{
    *place = (struct piobench_place){
        .comm = comm, .config = config, .cell = cell, .filetype = MPI_DATATYPE_NULL, .memtype = MPI_DATATYPE_NULL};
    MPI_Comm_rank(comm, &place->rank);
    MPI_Comm_size(comm, &place->ranks);
    bool one_node;
    place->clock_offset_ns = piobench_clock_offset_coll(comm, &one_node);
    pl_status status = make_types(place, error);
    if (status == PL_OK)
        status = remove_file(place, error);
    status = coll_agree_coll(comm, status, error, ret_verdict);
    if (status != PL_OK)
        return status;
    if (place->rank != 0)
        testfile_watch(config->file, config->keep);
    place->file_seed = rng_at((uint64_t)config->seed, (uint64_t)cell->file_bytes);
    return coll_agree_coll(comm, piobench_data_write_file(place, place->file_seed, error), error, ret_verdict);
}

void piobench_place_clear(struct piobench_place *place)
{
    if (place->filetype != MPI_DATATYPE_NULL)
        MPI_Type_free(&place->filetype);
    if (place->memtype != MPI_DATATYPE_NULL)
        MPI_Type_free(&place->memtype);
    piolet_dist_free(place->dist);
    free(place->elements);
    place->dist = NULL;
    place->elements = NULL;
}

/* ---- the steps of a trial ---- */

struct course {
    struct coll_course agreed;
    struct piobench_trial *trial;
    const struct piobench_mover *mover;
    struct piobench_file file;
};

static bool prepare_coll(struct course *course)
{
    struct piobench_trial *trial = course->trial;
    struct piobench_place *place = trial->place;
    struct pl_error error;
    if (place->cell->writes)
        piobench_data_fill(place, trial->seed);
    else
        memset(place->elements, 0xa5, (size_t)place->count * PIOBENCH_ELEMENT); /* what is not read is seen */
    pl_status status = PL_OK;
    if (place->config->fresh && place->cell->writes)
        status = remove_file(place, &error);
    else if (place->config->cold)
        status = place_drop(place->config->file, &error);
    return coll_course_agree_coll(&course->agreed, status, &error);
}

static void note_time(struct piobench_trial *trial, const char *key, int64_t from_ns)
{
    samples_time(&trial->samples, key, (double)(piobench_clock_ns() - from_ns) * 1e-9);
}

static bool open_coll(struct course *course)
{
    struct piobench_trial *trial = course->trial;
    struct pl_error error;
    MPI_Barrier(trial->place->comm);
    const int64_t begin = piobench_clock_ns();
    const bool opened = coll_course_agree_coll(&course->agreed, course->mover->open_coll(trial, &course->file, &error),
                                               &error);
    if (!opened && course->file.descriptor >= 0)
        close(course->file.descriptor);
    if (!opened)
        return false;
    coll_course_agree_coll(&course->agreed, course->mover->ready_coll(trial, &course->file, &error), &error);
    note_time(trial, "pre_time", begin);
    return true;
}

/* From the first start to the last end, by the clock of rank 0. */
static void note_total_coll(struct piobench_trial *trial, int64_t start_ns, int64_t end_ns)
{
    const int64_t offset = trial->place->clock_offset_ns;
    const int64_t mine[2] = {start_ns - offset, -(end_ns - offset)};
    int64_t least[2];
    MPI_Allreduce(mine, least, 2, MPI_INT64_T, MPI_MIN, trial->place->comm);
    trial->total_ns = (double)(-least[1] - least[0]);
    samples_time(&trial->samples, "start_time", (double)(mine[0] - least[0]) * 1e-9);
    samples_time(&trial->samples, "end_time", (double)(-mine[1] - least[0]) * 1e-9);
}

static void measure_coll(struct course *course)
{
    struct piobench_trial *trial = course->trial;
    const bool syncs = trial->place->config->sync && trial->place->cell->writes;
    struct pl_error error, sync_error;
    MPI_Barrier(trial->place->comm);
    const int64_t start = piobench_clock_ns();
    pl_status status = course->mover->move_coll(trial, &course->file, &error);
    const int64_t moved = piobench_clock_ns();
    if (syncs) { /* collective: a rank that failed takes part */
        const pl_status synced = course->mover->sync_coll(trial, &course->file, &sync_error);
        if (status == PL_OK && synced != PL_OK) {
            status = synced;
            error = sync_error;
        }
    }
    const int64_t end = piobench_clock_ns();
    if (syncs)
        samples_time(&trial->samples, "sync_time", (double)(end - moved) * 1e-9);
    note_total_coll(trial, start, end);
    coll_course_agree_coll(&course->agreed, status, &error);
}

static void check_coll(struct course *course)
{
    const struct piobench_trial *trial = course->trial;
    struct pl_error error;
    pl_status status;
    if (trial->place->cell->writes)
        status = piobench_data_check_file(trial->place, trial->seed, &error);
    else
        status = piobench_data_check(trial->place, trial->place->file_seed, &error);
    coll_course_agree_coll(&course->agreed, status, &error);
}

pl_status piobench_trial_run_coll(struct piobench_trial *trial, struct pl_error *error,
                                  struct coll_verdict *ret_verdict)
{
    const bool is_naive = trial->contestant->algorithm->access == PIOBENCH_NAIVE;
    struct course course = {.trial = trial,
                            .mover = is_naive ? &PIOBENCH_MOVER_POSIX : &PIOBENCH_MOVER_MPIIO,
                            .file = {.descriptor = -1, .handle = MPI_FILE_NULL}};
    coll_course_init(&course.agreed, trial->place->comm, error, ret_verdict);
    if (!prepare_coll(&course) || !open_coll(&course))
        return course.agreed.status;
    if (course.agreed.status == PL_OK)
        measure_coll(&course);
    struct pl_error close_error;
    const int64_t begin = piobench_clock_ns();
    const pl_status closed = course.mover->close_coll(trial, &course.file, &close_error);
    note_time(trial, "post_time", begin);
    coll_course_agree_coll(&course.agreed, closed, &close_error);
    if (course.agreed.status == PL_OK && trial->check)
        check_coll(&course);
    return course.agreed.status;
}

void piobench_trial_warn(struct piobench_trial *trial, const char *text)
{
    if (trial->place->rank != 0)
        return;
    notes_add(&trial->warnings, NULL, text);
}

void piobench_trial_clear(struct piobench_trial *trial)
{
    samples_clear(&trial->samples);
    text_clear(&trial->used);
    text_clear(&trial->warnings);
}
