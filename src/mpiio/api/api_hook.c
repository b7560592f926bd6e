#include "mpiio/api/api_hook.h"

#include "mpi/real.h"
#include "mpi/wait.h"
#include "mpiio/pending/pending.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static bool threads_are(const char *value)
{
    const char *setting = getenv("PIOLET_THREADS");
    return setting && strcmp(setting, value) == 0;
}

#if PIOLET_IS_OPENMPI
#include <pthread.h>

typedef int hook_function(void);

static pthread_mutex_t hook_lock = PTHREAD_MUTEX_INITIALIZER;
static bool hook_is_in;

static int step(void)
{
    return wait_may_step() && pending_step();
}

static void call_hook(const char *name)
{
    int (*function)(hook_function *) = NULL;
    void *symbol = real_find(name);
    memcpy(&function, &symbol, sizeof function);
    if (function)
        function(step);
}

void api_hook_install(void)
{
    pthread_mutex_lock(&hook_lock);
    if (!hook_is_in)
        call_hook("opal_progress_register"); /* from then on every call of MPI steps, ours as well */
    hook_is_in = true;
    pthread_mutex_unlock(&hook_lock);
}

void api_hook_remove(void)
{
    pthread_mutex_lock(&hook_lock);
    if (hook_is_in)
        call_hook("opal_progress_unregister");
    hook_is_in = false;
    pthread_mutex_unlock(&hook_lock);
}

void api_hook_wake(void)
{
}

void api_hook_enter(void)
{
}

void api_hook_leave(void)
{
}

/* Only shipping across nodes needs more than the program does, and it costs every call a lock. */
int api_hook_thread_level(int wanted)
{
    const char *hints = getenv("PIOLET_HINTS");
    if (threads_are("program"))
        return wanted;
    return threads_are("multiple") || (hints && strstr(hints, "piolet_strategy=shipping")) ? MPI_THREAD_MULTIPLE
                                                                                           : wanted;
}
#else
#include <pthread.h>
#include <signal.h>

static pthread_mutex_t hook_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t hook_wanted = PTHREAD_COND_INITIALIZER;
static pthread_t hook_thread;
static bool hook_runs, hook_ends;
static atomic_int waiting; /* program threads inside of a call that only we can go on for */

static void step_for_others(void)
{
    struct wait_pace pace = {0};
    while (atomic_load(&waiting) > 0 && pending_count() > 0)
        if (!pending_step())
            wait_turn(&pace);
}

static void *serve(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&hook_lock);
    while (!hook_ends) {
        while (!hook_ends && (atomic_load(&waiting) == 0 || pending_count() == 0))
            pthread_cond_wait(&hook_wanted, &hook_lock);
        pthread_mutex_unlock(&hook_lock);
        step_for_others();
        pthread_mutex_lock(&hook_lock);
    }
    pthread_mutex_unlock(&hook_lock);
    return NULL;
}

/* Under the lock. */
static bool start_thread(void)
{
    int level = MPI_THREAD_SINGLE;
    if (hook_runs)
        return true;
    if (real.Query_thread(&level) != MPI_SUCCESS || level != MPI_THREAD_MULTIPLE)
        return false;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    hook_runs = pthread_create(&hook_thread, NULL, serve, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return hook_runs;
}

void api_hook_enter(void)
{
    atomic_fetch_add(&waiting, 1);
    if (pending_count() == 0)
        return;
    pthread_mutex_lock(&hook_lock);
    const bool served = start_thread();
    pthread_cond_signal(&hook_wanted);
    pthread_mutex_unlock(&hook_lock);
    if (!served)
        pending_settle();
}

void api_hook_leave(void)
{
    atomic_fetch_sub(&waiting, 1);
}

void api_hook_wake(void)
{
    if (atomic_load(&waiting) == 0)
        return;
    pthread_mutex_lock(&hook_lock);
    start_thread();
    pthread_cond_signal(&hook_wanted);
    pthread_mutex_unlock(&hook_lock);
}

void api_hook_install(void)
{
    static const struct wait_hooks hooks = {.step = pending_step, .enter = api_hook_enter, .leave = api_hook_leave};
    wait_set_hooks(&hooks);
}

void api_hook_remove(void)
{
    wait_set_hooks(NULL);
    pthread_mutex_lock(&hook_lock);
    const bool runs = hook_runs;
    hook_ends = true;
    pthread_cond_signal(&hook_wanted);
    pthread_mutex_unlock(&hook_lock);
    if (runs)
        pthread_join(hook_thread, NULL);
    pthread_mutex_lock(&hook_lock);
    hook_runs = hook_ends = false;
    pthread_mutex_unlock(&hook_lock);
}

int api_hook_thread_level(int wanted)
{
    return threads_are("program") ? wanted : MPI_THREAD_MULTIPLE;
}
#endif
