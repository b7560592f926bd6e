#include "mpiio/pending/pending.h"

#include "mpi/wait.h"
#include "mpiio/ship/ship.h"

#include <stddef.h>
#include <time.h>

enum { SMALL_BYTES = 4096 }; /* handing so little to a thread costs more than doing it */

static atomic_int under_way;
static atomic_flag stepping = ATOMIC_FLAG_INIT; /* one thread at a time; the others leave it the work */

static pthread_mutex_t lists_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pending *done_first, **done_last = &done_first; /* threads are through with them */
static struct file *active;                                   /* files with a queue */

int pending_count(void)
{
    return atomic_load_explicit(&under_way, memory_order_relaxed);
}

static void begin(struct pending *pending)
{
    atomic_fetch_add(&pending->file->under_way, 1);
    atomic_fetch_add(&under_way, 1);
}

/* ---- alone ---- */

static void run_alone(struct pool_work *work)
{
    struct pending *pending = (struct pending *)((char *)work - offsetof(struct pending, work));
    struct collective *operation = &pending->operation;
    file_settle(pending->file, MPI_COMM_NULL);
    if (operation->error.status == PL_OK)
        ship_access(pending->file, &operation->request, &pending->manner, &operation->done, &operation->error);
    pthread_mutex_lock(&lists_lock);
    pending->next = NULL;
    *done_last = pending;
    done_last = &pending->next;
    pthread_mutex_unlock(&lists_lock);
}

void pending_start_alone(struct pending *pending)
{
    pending->together = false;
    pending->manner = file_manner(pending->file, MPI_COMM_NULL);
    begin(pending);
    if (pending->operation.request.bytes <= SMALL_BYTES && file_is_settled(pending->file)) {
        run_alone(&pending->work);
        atomic_store(&pending->work.done, true);
    } else {
        pool_submit(&pending->work, run_alone);
    }
}

/* The struct may go in `finish`, the file only when it counts none. */
static void finish(struct pending *pending)
{
    struct file *file = pending->file;
    pending->finish(pending);
    atomic_fetch_sub(&under_way, 1);
    atomic_fetch_sub(&file->under_way, 1);
}

static bool finish_done(void)
{
    pthread_mutex_lock(&lists_lock);
    struct pending *list = done_first;
    done_first = NULL;
    done_last = &done_first;
    pthread_mutex_unlock(&lists_lock);
    const bool some = list != NULL;
    while (list) {
        struct pending *pending = list;
        list = pending->next;
        while (!pool_is_done(&pending->work)) /* the thread has still to leave it: a few instructions */
            ;
        finish(pending);
    }
    return some;
}

/* ---- together ---- */

void pending_start_together(struct pending *pending)
{
    struct file *file = pending->file;
    pending->together = true;
    pending->started = false;
    pending->next = NULL;
    begin(pending);
    pthread_mutex_lock(&lists_lock);
    if (file->queue) {
        file->queue_last->next = pending;
    } else {
        file->queue = pending;
        file->next_active = active;
        active = file;
    }
    file->queue_last = pending;
    pthread_mutex_unlock(&lists_lock);
    pending_step();
}

/* Takes the first out of the queue, and the file out of the list where it was the last. */
static void leave_queue(struct file *file)
{
    pthread_mutex_lock(&lists_lock);
    file->queue = file->queue->next;
    if (!file->queue) {
        struct file **place = &active;
        while (*place != file)
            place = &(*place)->next_active;
        *place = file->next_active;
    }
    pthread_mutex_unlock(&lists_lock);
}

static bool step_file(struct file *file)
{
    bool moved = false;
    for (;;) {
        pthread_mutex_lock(&lists_lock);
        struct pending *pending = file->queue;
        pthread_mutex_unlock(&lists_lock);
        if (!pending)
            return moved;
        if (!pending->started)
            collective_start(&pending->operation);
        pending->started = true;
        if (collective_step(&pending->operation) == STEP_PENDING)
            return moved;
        leave_queue(file);
        finish(pending);
        moved = true;
    }
}

static bool step_files(void)
{
    bool moved = false;
    pthread_mutex_lock(&lists_lock);
    struct file *file = active;
    while (file) {
        struct file *next = file->next_active; /* only this thread takes files out */
        pthread_mutex_unlock(&lists_lock);
        moved = step_file(file) || moved;
        pthread_mutex_lock(&lists_lock);
        file = next;
    }
    pthread_mutex_unlock(&lists_lock);
    return moved;
}

bool pending_step(void)
{
    if (pending_count() == 0 || atomic_flag_test_and_set(&stepping))
        return false;
    bool moved = finish_done();
    moved = step_files() || moved;
    atomic_flag_clear(&stepping);
    return moved;
}

/* ---- waiting ---- */

void pending_drain(struct file *file)
{
    struct wait_pace pace = {0};
    for (;;) {
        pthread_mutex_lock(&lists_lock);
        const bool empty = file->queue == NULL;
        pthread_mutex_unlock(&lists_lock);
        if (empty)
            return;
        if (!pending_step())
            wait_turn(&pace);
    }
}

void pending_finish(struct file *file)
{
    struct wait_pace pace = {0};
    while (atomic_load(&file->under_way) > 0)
        if (!pending_step())
            wait_turn(&pace);
}

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void pending_settle(void)
{
    const double patience_s = 0.1;
    struct wait_pace pace = {0};
    double moved_s = now_s();
    while (pending_count() > 0 && now_s() - moved_s < patience_s) {
        if (pending_step())
            moved_s = now_s();
        else
            wait_turn(&pace);
    }
}
