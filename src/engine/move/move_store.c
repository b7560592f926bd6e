/* The file, as every transport's aggregators access it: at once or in a thread, by themselves or by auxiliary
 * processes. */
#include "base/container.h"
#include "engine/aux/aux.h"
#include "engine/move/move.h"
#include "engine/store/store.h"

#include <assert.h>

/* ---- jobs ---- */

static void move_job_run(struct pool_work *work)
{
    struct move *move = container_of(work, struct move, job.work);
    move->job.run(move);
}

void move_job_start(struct move *move, bool pays, void (*run)(struct move *move))
{
    struct move_job *job = &move->job;
    assert(!job->busy && move->state == MOVE_TRANSFER);
    move->job_error.status = PL_OK;
    job->run = run;
    job->busy = true;
    job->slept = move->file->memory.reads_sleep;
    job->in_thread = move->async || pays;
    if (job->in_thread) {
        pool_submit(&job->work, move_job_run);
    } else {
        run(move);
        atomic_store_explicit(&job->work.done, true, memory_order_relaxed);
    }
}

bool move_job_is_over(struct move *move)
{
    struct move_job *job = &move->job;
    if (!job->busy)
        return true;
    if (!pool_is_done(&job->work))
        return false;
    job->busy = false;
    if (!move->request.write)
        move->file->memory.reads_sleep = job->slept;
    if (move->job_error.status != PL_OK)
        move_note(move, &move->job_error);
    return true;
}

/* What is read is waited for: a thread reads only where the storage is slow. */
bool move_job_pays(const struct move *move, int64_t bytes)
{
    static const int64_t THREAD_BYTES = 256 << 10; /* for less, a thread would take longer to begin */
    return bytes >= THREAD_BYTES && (move->request.write || move->file->memory.reads_sleep);
}

/* ---- storing and loading ---- */

static pl_status move_job_note(struct move *move, const struct pl_error *error)
{
    if (error->status != PL_OK && move->job_error.status == PL_OK)
        move->job_error = *error;
    return error->status;
}

pl_status move_store(struct move *move, int64_t offset, char *window, int64_t bytes, const uint64_t *coverage)
{
    const struct file *file = move->file;
    const struct store_options options = {.storage = file->storage,
                                          .sieve = file->readable && file_may_sieve_writes(file),
                                          .lock = file->lock_writes,
                                          .progress = move_progress(move)};
    struct pl_error error = {0};
    if (file->aux)
        aux_store(file->aux, &options, offset, window, bytes, coverage, &error);
    else
        store_window(&options, offset, window, bytes, coverage, &error);
    return move_job_note(move, &error);
}

/* Who has something to do while a thread reads: aggregators with other partners, or with other nodes. */
static bool move_load_is_watched(const struct move *move, int64_t bytes)
{
    enum { LOOK_BYTES = 32 << 10 }; /* to ask costs as much as reading a few of them */
    return bytes >= LOOK_BYTES && (move->strategy->exchange != EXCHANGE_MEMORY || move->file->node.count > 1);
}

pl_status move_load(struct move *move, int64_t offset, char *to, int64_t bytes, int64_t *ret_done)
{
    const bool watched = move_load_is_watched(move, bytes);
    const long sleeps = watched ? pool_sleeps() : 0;
    struct pl_error error = {0};
    *ret_done = 0;
    storage_read(move->file->storage, offset, to, bytes, ret_done, &error);
    if (watched)
        move->job.slept = pool_sleeps() > sleeps;
    assert(*ret_done >= 0 && *ret_done <= bytes);
    return move_job_note(move, &error);
}
