/* One repetition, by the measuring rule of section 4.1: all meet, access, MPI_File_sync, all meet again; the time is
 * that of the job. Opening and closing have times of their own. */
#include "bench/gpfs/gpfs_trial.h"

#include "base/rng.h"
#include "measure/environment.h"
#include "measure/place.h"
#include "measure/testfile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ALIGNMENT = 4096, POISON = 0xa5 };

/* ---- what all repetitions of a cell share ---- */

uint64_t gpfs_place_seed(const struct gpfs_config *config, const struct gpfs_cell *cell)
{
    return rng_at((uint64_t)config->seed, (uint64_t)cell->file_bytes);
}

/* Memory that a rank does not really have would end the whole job. */
static pl_status take_memory(struct gpfs_place *place, int node_ranks, struct pl_error *error)
{
    const int64_t bytes = place->plan.count * place->plan.piece_bytes;
    const int64_t free_bytes = environment_memory_available_bytes();
    void *data = NULL;
    if ((free_bytes > 0 && bytes > free_bytes / node_ranks) || posix_memalign(&data, ALIGNMENT, (size_t)bytes) != 0)
        return pl_fail(error, PL_E_NOMEM, "%d rank%s on this host need %lld bytes each, and %lld are free", node_ranks,
                       node_ranks == 1 ? "" : "s", (long long)bytes, (long long)free_bytes);
    memset(data, POISON, (size_t)bytes);
    place->data = data;
    return PL_OK;
}

static pl_status make_lists(struct gpfs_place *place, int node_ranks, struct pl_error *error)
{
    if (gpfs_plan_make(place->cell, place->rank, (uint64_t)place->config->seed, &place->plan, error) != PL_OK ||
        take_memory(place, node_ranks, error) != PL_OK)
        return error->status;
    return place->cell->writes ? gpfs_data_touched(place, error) : PL_OK;
}

pl_status gpfs_place_init_coll(struct gpfs_place *place, MPI_Comm comm, const struct gpfs_config *config,
                               const struct gpfs_cell *cell, bool is_ready, struct pl_error *error,
                               struct coll_verdict *ret_verdict)
{
    *place = (struct gpfs_place){
        .comm = comm, .config = config, .cell = cell, .file_seed = gpfs_place_seed(config, cell)};
    MPI_Comm_rank(comm, &place->rank);
    MPI_Comm_size(comm, &place->ranks);
    MPI_Query_thread(&place->thread_level);
    const int node_ranks = environment_node_ranks_coll(comm);
    if (cell->value[GPFS_COMPUTE])
        place->spins_per_us = gpfs_calls_spins_per_us();
    pl_status status = make_lists(place, node_ranks, error);
    if (status == PL_OK && !is_ready)
        status = gpfs_data_remove(place, error);
    status = coll_agree_coll(comm, status, error, ret_verdict);
    if (status == PL_OK && place->rank != 0)
        testfile_watch(config->file, config->keep);
    return status == PL_OK && !is_ready ? gpfs_place_mend_coll(place, error, ret_verdict) : status;
}

pl_status gpfs_place_mend_coll(const struct gpfs_place *place, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    const pl_status status = place->cell->fresh ? PL_OK : gpfs_data_write_file(place, error);
    return coll_agree_coll(place->comm, status, error, ret_verdict);
}

void gpfs_place_clear(struct gpfs_place *place)
{
    gpfs_plan_clear(&place->plan);
    free(place->data);
    free(place->touched);
    place->data = NULL;
    place->touched = NULL;
}

/* ---- the steps ---- */

struct course {
    struct coll_course agreed;
    struct gpfs_trial *trial;
    const struct gpfs_mover *mover;
    struct gpfs_file file;
};

static bool prepare_coll(struct course *course)
{
    const struct gpfs_trial *trial = course->trial;
    const struct gpfs_place *place = trial->place;
    struct pl_error error;
    pl_status status = PL_OK;
    if (place->cell->writes)
        gpfs_data_fill_pieces(place, trial->seed);
    else /* what is not read is seen */
        memset(place->data, POISON, (size_t)(place->plan.count * place->plan.piece_bytes));
    if (place->cell->fresh)
        status = gpfs_data_remove(place, &error);
    else if (place->cell->value[GPFS_CACHE] == GPFS_COLD)
        status = place_drop(place->config->file, &error);
    return coll_course_agree_coll(&course->agreed, status, &error);
}

static bool open_coll(struct course *course)
{
    struct gpfs_trial *trial = course->trial;
    struct pl_error error;
    MPI_Barrier(trial->place->comm);
    const double begin = MPI_Wtime();
    const bool opened = coll_course_agree_coll(&course->agreed, course->mover->open_coll(trial, &course->file, &error),
                                               &error);
    samples_time(&trial->samples, "pre_time", MPI_Wtime() - begin);
    if (!opened && course->file.descriptor >= 0)
        close(course->file.descriptor);
    if (opened)
        coll_course_agree_coll(&course->agreed, course->mover->ready_coll(trial, &course->file, &error), &error);
    return opened;
}

static void measure_coll(struct course *course)
{
    struct gpfs_trial *trial = course->trial;
    MPI_Comm comm = trial->place->comm;
    struct pl_error error, sync_error;
    if (trial->place->cell->value[GPFS_COMPUTE])
        samples_time(&trial->samples, "task_time", gpfs_calls_compute_alone(trial->place));
    MPI_Barrier(comm);
    const double start = MPI_Wtime();
    pl_status status = gpfs_calls_run_coll(trial, course->mover, &course->file, &error);
    const double accessed = MPI_Wtime();
    const pl_status synced = course->mover->sync_coll(trial, &course->file, &sync_error); /* who failed takes part */
    const double synchronised = MPI_Wtime();
    MPI_Barrier(comm);
    const double end = MPI_Wtime();
    if (status == PL_OK && synced != PL_OK) {
        status = synced;
        error = sync_error;
    }
    double job = end - start;
    MPI_Allreduce(MPI_IN_PLACE, &job, 1, MPI_DOUBLE, MPI_MAX, comm);
    trial->total_ns = job * 1e9;
    samples_time(&trial->samples, "access_time", accessed - start);
    samples_time(&trial->samples, "sync_time", synchronised - accessed);
    coll_course_agree_coll(&course->agreed, status, &error);
}

static void check_coll(struct course *course)
{
    const struct gpfs_trial *trial = course->trial;
    struct pl_error error;
    const pl_status status = trial->place->cell->writes ? gpfs_data_check_file(trial->place, trial->seed, &error)
                                                        : gpfs_data_check_pieces(trial->place, &error);
    coll_course_agree_coll(&course->agreed, status, &error);
}

pl_status gpfs_trial_run_coll(struct gpfs_trial *trial, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    struct course course = {.trial = trial,
                            .mover = trial->contestant->access == GPFS_POSIX ? &GPFS_MOVER_POSIX : &GPFS_MOVER_MPIIO,
                            .file = {.descriptor = -1, .handle = MPI_FILE_NULL}};
    coll_course_init(&course.agreed, trial->place->comm, error, ret_verdict);
    if (!prepare_coll(&course) || !open_coll(&course))
        return course.agreed.status;
    if (course.agreed.status == PL_OK)
        measure_coll(&course);
    struct pl_error close_error;
    const double begin = MPI_Wtime();
    const pl_status closed = course.mover->close_coll(trial, &course.file, &close_error);
    samples_time(&trial->samples, "post_time", MPI_Wtime() - begin);
    coll_course_agree_coll(&course.agreed, closed, &close_error);
    if (course.agreed.status == PL_OK)
        check_coll(&course);
    return course.agreed.status;
}

void gpfs_trial_clear(struct gpfs_trial *trial)
{
    samples_clear(&trial->samples);
    text_clear(&trial->used);
}
