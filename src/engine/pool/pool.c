#include "engine/pool/pool.h"

#include "base/thread.h"
#include "mpi/wait.h"

#include <assert.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

enum { THREADS_MAX = 4 }; /* one file gains little from more */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static struct pool_work *first, **last = &first;
static pthread_t threads[THREADS_MAX];
static int running, idle;
static bool stopping;

static void do_work(struct pool_work *work)
{
    work->run(work);
    atomic_store_explicit(&work->done, true, memory_order_release); /* from here on it may be gone */
}

/* Under the lock; NULL: there is nothing more to do, ever. */
static struct pool_work *next_work(void)
{
    while (!first && !stopping) {
        idle++;
        pthread_cond_wait(&more, &lock);
        idle--;
        assert(idle >= 0);
    }
    struct pool_work *work = first;
    if (work) {
        first = work->next;
        if (!first)
            last = &first;
    }
    return work;
}

static void *pool_serve(void *unused)
{
    (void)unused;
    wait_steps_nothing();
    pthread_mutex_lock(&lock);
    for (struct pool_work *work; (work = next_work());) {
        pthread_mutex_unlock(&lock);
        do_work(work);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Under the lock. */
static void pool_start_thread(void)
{
    assert(running >= 0 && running < THREADS_MAX);
    if (thread_start(&threads[running], pool_serve, NULL))
        running++;
}

/* Under the lock: it is found out once. */
static int threads_wanted(void)
{
    static int wanted;
    if (wanted == 0) {
        const long cores = sysconf(_SC_NPROCESSORS_ONLN);
        wanted = cores < 1 ? 1 : cores < THREADS_MAX ? (int)cores : THREADS_MAX;
    }
    return wanted;
}

void pool_submit(struct pool_work *work, void (*run)(struct pool_work *work))
{
    assert(run);
    work->run = run;
    work->next = NULL;
    atomic_store_explicit(&work->done, false, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    if (idle == 0 && running < threads_wanted() && !stopping)
        pool_start_thread();
    const bool served = running > 0 && !stopping;
    if (served) {
        *last = work;
        last = &work->next;
        pthread_cond_signal(&more);
    }
    pthread_mutex_unlock(&lock);
    if (!served)
        do_work(work);
}

long pool_sleeps(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : 0;
}

void pool_stop(void)
{
    pthread_mutex_lock(&lock);
    stopping = true;
    pthread_cond_broadcast(&more);
    const int count = running;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_lock(&lock);
    assert(!first && idle == 0);
    running = 0;
    stopping = false;
    pthread_mutex_unlock(&lock);
}
