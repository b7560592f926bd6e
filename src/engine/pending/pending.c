#include "engine/pending/pending.h"

#include "base/clock.h"
#include "base/container.h"
#include "engine/ship/ship.h"
#include "mpi/wait.h"

#include <assert.h>

enum { SMALL_BYTES = 4096 }; /* handing so little to a thread costs more than doing it */

static atomic_int under_way;
static atomic_int collectives; /* of these: what other ranks may wait for */
static atomic_uint turns;      /* of program threads that stepped: while it rises, no other thread has to */
static atomic_flag stepping = ATOMIC_FLAG_INIT; /* one thread at a time; the others leave it the work */

static pthread_mutex_t lists_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pending *done_first, **done_last = &done_first; /* threads are through with them */
static struct file *active;                                   /* files with a queue */

int pending_count(void)
{
    return atomic_load_explicit(&under_way, memory_order_relaxed);
}

int pending_collectives(void)
{
    return atomic_load_explicit(&collectives, memory_order_relaxed);
}

static void pending_begin(struct pending *pending)
{
    assert(pending->finish && pending->file);
    atomic_fetch_add(&pending->file->under_way, 1);
    if (pending->together) {
        atomic_fetch_add(&pending->file->together, 1);
        atomic_fetch_add(&collectives, 1);
    }
    atomic_fetch_add(&under_way, 1);
}

/* ---- alone ---- */

static void enter_done(struct pending *pending)
{
    pthread_mutex_lock(&lists_lock);
    pending->next = NULL;
    *done_last = pending;
    done_last = &pending->next;
    pthread_mutex_unlock(&lists_lock);
}

static void run_alone(struct pool_work *work)
{
    struct pending *pending = container_of(work, struct pending, work);
    struct move *operation = &pending->operation;
    file_settle(pending->file, MPI_COMM_NULL);
    if (operation->error.status == PL_OK)
        ship_access(pending->file, &operation->request, &pending->options, &operation->done, &operation->error);
    enter_done(pending);
}

void pending_start_alone(struct pending *pending)
{
    pending->together = false;
    pending->options = file_options(pending->file, MPI_COMM_NULL);
    pending_begin(pending);
    if (pending->operation.request.bytes <= SMALL_BYTES && file_is_settled(pending->file)) {
        run_alone(&pending->work);
        atomic_store(&pending->work.done, true);
    } else {
        pool_submit(&pending->work, run_alone);
    }
}

/* The struct may go in `finish`, the file as soon as it counts none: another thread may be waiting to close it. */
static void pending_end(struct pending *pending)
{
    struct file *file = pending->file;
    const bool together = pending->together;
    assert(atomic_load(&under_way) > 0 && atomic_load(&file->under_way) > 0);
    assert(!together || (atomic_load(&collectives) > 0 && atomic_load(&file->together) > 0));
    pending->finish(pending);
    atomic_fetch_sub(&under_way, 1);
    if (together) {
        atomic_fetch_sub(&collectives, 1);
        atomic_fetch_sub(&file->together, 1);
    }
    atomic_fetch_sub(&file->under_way, 1);
}

/* `program`: the calling thread is one of the program's. */
static bool finish_done(bool program)
{
    pthread_mutex_lock(&lists_lock);
    struct pending *list = done_first;
    done_first = NULL;
    done_last = &done_first;
    pthread_mutex_unlock(&lists_lock);
    bool some = false;
    while (list) {
        struct pending *pending = list;
        list = pending->next;
        if (pending->calls_program && !program) {
            enter_done(pending);
            continue;
        }
        while (!pending->together && !pool_is_done(&pending->work)) /* the thread has still to leave it: soon */
            ;
        pending_end(pending);
        some = true;
    }
    return some;
}

/* ---- together ---- */

void pending_start_together(struct pending *pending)
{
    assert(pending->operation.strategy && pending->operation.file == pending->file);
    struct file *file = pending->file;
    pending->together = true;
    pending->started = false;
    pending->next = NULL;
    pending_begin(pending);
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

/* Takes the first out of the queue, and the file out of the list where it was the last. Returns the next one. */
static struct pending *leave_queue(struct file *file)
{
    pthread_mutex_lock(&lists_lock);
    assert(file->queue && file->queue->started);
    struct pending *next = file->queue->next;
    file->queue = next;
    if (!next) {
        struct file **place = &active;
        while (*place != file)
            place = &(*place)->next_active;
        assert(*place == file);
        *place = file->next_active;
    }
    pthread_mutex_unlock(&lists_lock);
    return next;
}

/* The file has a queue. Behind the end of its last operation it may be gone. */
static bool step_file(struct file *file, bool program)
{
    bool moved = false;
    pthread_mutex_lock(&lists_lock);
    struct pending *pending = file->queue;
    pthread_mutex_unlock(&lists_lock);
    while (pending) {
        if (!pending->started)
            move_start(&pending->operation);
        pending->started = true;
        if (move_step(&pending->operation) == STEP_PENDING)
            return moved;
        struct pending *next = leave_queue(file);
        if (pending->calls_program && !program)
            enter_done(pending);
        else
            pending_end(pending);
        pending = next;
        moved = true;
    }
    return moved;
}

static bool step_files(bool program)
{
    bool moved = false;
    pthread_mutex_lock(&lists_lock);
    struct file *file = active;
    while (file) {
        struct file *next = file->next_active; /* only this thread takes files out */
        pthread_mutex_unlock(&lists_lock);
        moved = step_file(file, program) || moved;
        pthread_mutex_lock(&lists_lock);
        file = next;
    }
    pthread_mutex_unlock(&lists_lock);
    return moved;
}

static bool step_all(bool program)
{
    if (atomic_flag_test_and_set(&stepping))
        return false;
    bool moved = finish_done(program);
    moved = step_files(program) || moved;
    atomic_flag_clear(&stepping);
    return moved;
}

bool pending_step(void)
{
    if (pending_count() == 0)
        return false;
    atomic_fetch_add_explicit(&turns, 1, memory_order_relaxed);
    return step_all(true);
}

bool pending_step_in_thread(void)
{
    return pending_count() > 0 && step_all(false);
}

unsigned pending_turns(void)
{
    return atomic_load_explicit(&turns, memory_order_relaxed);
}

/* ---- waiting ---- */

void pending_drain_some(struct file *file)
{
    struct wait_pace pace = {0};
    while (atomic_load(&file->together) > 0)
        if (!pending_step())
            wait_turn(&pace);
}

void pending_finish(struct file *file)
{
    struct wait_pace pace = {0};
    while (atomic_load(&file->under_way) > 0)
        if (!pending_step())
            wait_turn(&pace);
}

void pending_settle(double patience_s)
{
    struct wait_pace pace = {0};
    double moved_s = clock_now_s();
    while (pending_count() > 0 && clock_now_s() - moved_s < patience_s) {
        if (pending_step())
            moved_s = clock_now_s();
        else
            wait_turn(&pace);
    }
}
