#include "engine/api/api.h"

#include "base/clock.h"
#include "base/thread.h"
#include "engine/pending/pending.h"
#include "mpi/real.h"
#include "mpi/wait.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BUSY_NS = 30000,  /* a step that takes longer has moved something */
    QUIET_TURNS = 10, /* naps with nothing pending before the thread sleeps: programs often start the next one soon */
    INSIDE_TURNS = 5000, /* without a nap while the program sits in a call: it does not need the core */
    EXIT_NS_MAX = 1000000000,
};

static pthread_mutex_t hook_lock = PTHREAD_MUTEX_INITIALIZER; /* of the thread's life */
static pthread_cond_t hook_wanted = PTHREAD_COND_INITIALIZER;
static pthread_t hook_thread;
static _Atomic pid_t hook_process; /* that the thread runs in; 0: there is none */
static atomic_bool hook_failed;    /* the system gave no thread */
static atomic_bool hook_ends, hook_sleeps;
static _Atomic uint32_t hook_bell; /* rises where a nap has to end */
static atomic_int waiting;         /* program threads inside of a call that we have to go on for */

/* ---- the thread ---- */

struct server {
    int idle;       /* see wait_idle() */
    bool needed;    /* no thread of the program steps */
    unsigned turns; /* of the program's threads, when we last looked */
    int quiet;      /* turns with nothing pending */
    int inside;     /* and those that moved nothing while the program sat in a call */
};

/* Where the program's threads step, the thread only looks on. */
static void serve_turn(struct server *server)
{
    const unsigned turns = pending_turns();
    const bool inside = atomic_load(&waiting) > 0;
    const bool others = turns != server->turns && !inside;
    server->turns = turns;
    if (others || pending_collectives() == 0) {
        server->needed = false;
        server->idle = WAIT_IDLE_LONGEST;
        return;
    }
    const int64_t began_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
    const bool moved = pending_step_in_thread() || clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns > BUSY_NS;
    server->inside = inside && !moved ? server->inside + 1 : 0;
    if (moved || !server->needed || (inside && server->inside < INSIDE_TURNS))
        server->idle = 0;
    server->needed = true;
}

/* Until something is pending, or the end. Whoever starts something counts it first, and looks then whether we sleep. */
static void serve_sleep(void)
{
    pthread_mutex_lock(&hook_lock);
    atomic_store(&hook_sleeps, true);
    atomic_thread_fence(memory_order_seq_cst);
    while (!atomic_load(&hook_ends) && pending_collectives() == 0)
        pthread_cond_wait(&hook_wanted, &hook_lock);
    atomic_store(&hook_sleeps, false);
    pthread_mutex_unlock(&hook_lock);
}

static void *api_hook_serve(void *unused)
{
    (void)unused;
    wait_steps_nothing(); /* what it calls of MPI: it steps here only */
    struct server server = {.idle = WAIT_IDLE_LONGEST, .turns = pending_turns()};
    while (!atomic_load(&hook_ends)) {
        const uint32_t heard = atomic_load(&hook_bell);
        serve_turn(&server);
        server.quiet = pending_collectives() > 0 ? 0 : server.quiet + 1;
        if (server.quiet > QUIET_TURNS)
            serve_sleep();
        else
            wait_idle(&server.idle, &hook_bell, heard);
    }
    return NULL;
}

static void api_hook_ring(void)
{
    atomic_fetch_add(&hook_bell, 1);
    wait_wake(&hook_bell);
}

/* A program may end without MPI_Finalize: what the MPI takes down then must not meet our thread. One that hangs in a
 * lock of the MPI, which the thread that ends the program holds, is left there. */
static void end_at_exit(void)
{
    if (hook_process != getpid() || pthread_equal(pthread_self(), hook_thread))
        return; /* a child has no such thread */
    const struct timespec until = clock_after(CLOCK_REALTIME, EXIT_NS_MAX);
    const bool locked = pthread_mutex_trylock(&hook_lock) == 0; /* a signal handler may end the program */
    atomic_store(&hook_ends, true);
    pthread_cond_signal(&hook_wanted);
    if (locked)
        pthread_mutex_unlock(&hook_lock);
    api_hook_ring();
    pthread_timedjoin_np(hook_thread, NULL, &until);
}

/* Under the lock. */
static void api_hook_start_thread(void)
{
    static bool at_exit;
    at_exit = at_exit || atexit(end_at_exit) == 0;
    hook_failed = !thread_start(&hook_thread, api_hook_serve, NULL);
    hook_process = hook_failed ? 0 : getpid();
}

static bool threads_allowed(void)
{
    static atomic_int known = -1;
    int level = atomic_load_explicit(&known, memory_order_relaxed);
    if (level < 0) {
        if (real.Query_thread(&level) != MPI_SUCCESS)
            return false;
        atomic_store(&known, level);
    }
    return level == MPI_THREAD_MULTIPLE;
}

/* Something is pending. False: there is no thread. */
static bool wake_thread(void)
{
    if (!threads_allowed())
        return false;
    atomic_thread_fence(memory_order_seq_cst);
    if (hook_process != 0 && !atomic_load(&hook_sleeps))
        return true;
    pthread_mutex_lock(&hook_lock);
    if (hook_process == 0)
        api_hook_start_thread();
    pthread_cond_signal(&hook_wanted);
    const bool runs = hook_process != 0;
    pthread_mutex_unlock(&hook_lock);
    return runs;
}

static void end_thread(void)
{
    pthread_mutex_lock(&hook_lock);
    const bool runs = hook_process != 0;
    atomic_store(&hook_ends, true);
    pthread_cond_signal(&hook_wanted);
    pthread_mutex_unlock(&hook_lock);
    api_hook_ring();
    if (runs)
        pthread_join(hook_thread, NULL);
    pthread_mutex_lock(&hook_lock);
    hook_process = 0;
    atomic_store(&hook_ends, false);
    pthread_mutex_unlock(&hook_lock);
}

/* ---- calls that cannot be taken apart ---- */

void api_hook_enter(void)
{
    atomic_fetch_add(&waiting, 1);
    if (pending_collectives() == 0)
        return;
    if (wake_thread())
        api_hook_ring();
    else
        pending_settle(0.1);
}

void api_hook_leave(void)
{
    atomic_fetch_sub(&waiting, 1);
}

/* ---- what the two MPIs differ in ---- */

static bool threads_are(const char *value)
{
    const char *setting = getenv("PIOLET_THREADS");
    return setting && strcmp(setting, value) == 0;
}

#if PIOLET_IS_OPENMPI
typedef int progress_function(void);

static atomic_bool hook_is_in;

static int api_hook_step(void)
{
    return wait_may_step() && pending_step();
}

static void call_hook(const char *name)
{
    int (*function)(progress_function *) = NULL;
    void *symbol = real_find(name);
    memcpy(&function, &symbol, sizeof function);
    if (function)
        function(api_hook_step);
}

void api_hook_install(void)
{
}

void api_hook_wake(void)
{
    if (!atomic_load(&hook_is_in)) {
        pthread_mutex_lock(&hook_lock);
        if (!atomic_exchange(&hook_is_in, true))
            call_hook("opal_progress_register"); /* from then on every call of MPI steps, ours as well */
        pthread_mutex_unlock(&hook_lock);
    }
    if (pending_collectives() > 0)
        wake_thread();
}

void api_hook_remove(void)
{
    end_thread();
    if (atomic_exchange(&hook_is_in, false))
        call_hook("opal_progress_unregister");
}

/* Only shipping across nodes needs more than the program does. It costs every call a lock, and Open MPI 4.1 then makes
 * no windows across hosts. */
int api_hook_thread_level(int wanted)
{
    const char *hints = getenv("PIOLET_HINTS");
    if (threads_are("program"))
        return wanted;
    return threads_are("multiple") || (hints && strstr(hints, "piolet_strategy=shipping")) ? MPI_THREAD_MULTIPLE
                                                                                           : wanted;
}

static bool has_hook(void)
{
    return real_find("opal_progress_register") != NULL;
}
#else
void api_hook_install(void)
{
    static const struct wait_hooks hooks = {.step = pending_step, .enter = api_hook_enter, .leave = api_hook_leave};
    wait_set_hooks(&hooks);
}

void api_hook_wake(void)
{
    if (pending_collectives() > 0 && wake_thread() && atomic_load(&waiting) > 0)
        api_hook_ring(); /* another thread of the program waits in MPI already */
}

void api_hook_remove(void)
{
    wait_set_hooks(NULL);
    end_thread();
}

int api_hook_thread_level(int wanted)
{
    return threads_are("program") ? wanted : MPI_THREAD_MULTIPLE;
}

static bool has_hook(void)
{
    return false;
}
#endif

#define HOOK       "hook: pending operations go on in calls of MPI that wait or test, since "
#define CALLS      "calls: pending operations go on only in calls of MPI that the engine wraps, since "
#define NO_THREADS "the MPI was not initialised with MPI_THREAD_MULTIPLE"
#define NO_THREAD  "the system gave the engine no thread"

const char *api_hook_describe(void)
{
    if (!threads_allowed())
        return has_hook() ? HOOK NO_THREADS : CALLS NO_THREADS;
    if (hook_failed)
        return has_hook() ? HOOK NO_THREAD : CALLS NO_THREAD;
    return "thread: a thread of the engine carries pending operations on";
}
