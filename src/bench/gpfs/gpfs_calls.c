/* Goes through the calls of a rank, on one thread or on several, which compute between them. */
#include "bench/gpfs/gpfs_trial.h"

#include <pthread.h>
#include <string.h>

enum { THREADS_MAX = 256, CALIBRATION_SPINS = 200000, CALIBRATIONS = 5 };

/* What one thread does. */
struct worker {
    struct gpfs_trial *trial; /* NULL: it only computes */
    const struct gpfs_place *place;
    const struct gpfs_mover *mover;
    struct gpfs_file *file;
    int64_t first, end; /* calls */
    pl_status status;
    struct pl_error error;
};

/* ---- computing ---- */

static void spin(int64_t spins)
{
    volatile double value = 1;
    for (int64_t i = 0; i < spins; i++)
        value = value * 0.999999 + 1e-6;
}

double gpfs_calls_spins_per_us(void)
{
    double best = 0;
    for (int i = 0; i < CALIBRATIONS; i++) {
        const double begin = MPI_Wtime();
        spin(CALIBRATION_SPINS);
        const double rate = CALIBRATION_SPINS / ((MPI_Wtime() - begin) * 1e6);
        best = rate > best ? rate : best;
    }
    return best;
}

/* ---- calling ---- */

/* Others may be waiting in the same call: a rank that failed goes on calling. */
static bool is_collective(const struct gpfs_place *place)
{
    return place->cell->value[GPFS_COLLECTIVE] || place->plan.view == GPFS_VIEW_EACH;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    const struct gpfs_place *place = worker->place;
    const int64_t spins = (int64_t)((double)place->cell->value[GPFS_COMPUTE] * place->spins_per_us);
    const bool goes_on = is_collective(place);
    for (int64_t i = worker->first; i < worker->end; i++) {
        struct pl_error error;
        const int64_t call = place->plan.order ? place->plan.order[i] : i;
        if (worker->trial && worker->mover->call(worker->trial, worker->file, call, &error) != PL_OK &&
            worker->status == PL_OK) {
            worker->status = error.status;
            worker->error = error;
        }
        if (worker->status != PL_OK && !goes_on)
            break;
        spin(spins);
    }
    return NULL;
}

/* Each thread has a part of the calls; the first of them runs on the thread that is there. */
static pl_status work_all(const struct worker *task, struct pl_error *error)
{
    const int64_t calls = task->place->plan.calls, asked = task->place->cell->value[GPFS_THREADS];
    const int threads = asked > 1 ? (int)asked : 1;
    struct worker workers[THREADS_MAX];
    pthread_t ids[THREADS_MAX];
    int started = 0, problem = 0;
    for (int t = 0; t < threads; t++) {
        workers[t] = *task;
        workers[t].first = calls * t / threads;
        workers[t].end = calls * (t + 1) / threads;
    }
    while (started + 1 < threads && !problem) {
        problem = pthread_create(&ids[started], NULL, work, &workers[started + 1]);
        started += problem == 0;
    }
    work(&workers[0]);
    for (int t = 0; t < started; t++)
        pthread_join(ids[t], NULL);
    if (problem)
        return pl_fail_errno(error, problem, "starting thread %d of %d", started + 2, threads);
    for (int t = 0; t < threads; t++)
        if (workers[t].status != PL_OK) {
            *error = workers[t].error;
            return error->status;
        }
    return PL_OK;
}

pl_status gpfs_calls_run_coll(struct gpfs_trial *trial, const struct gpfs_mover *mover, struct gpfs_file *file,
                              struct pl_error *error)
{
    const struct worker task = {.trial = trial, .place = trial->place, .mover = mover, .file = file};
    const pl_status viewed = mover->view_coll(trial, file, error);
    if (viewed != PL_OK && !is_collective(trial->place))
        return viewed;
    struct pl_error ignored;
    const pl_status worked = work_all(&task, viewed == PL_OK ? error : &ignored);
    return viewed == PL_OK ? worked : viewed;
}

double gpfs_calls_compute_alone(const struct gpfs_place *place)
{
    struct pl_error ignored;
    const struct worker task = {.place = place};
    const double begin = MPI_Wtime();
    work_all(&task, &ignored);
    return MPI_Wtime() - begin;
}
