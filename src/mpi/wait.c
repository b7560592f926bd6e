#include "mpi/wait.h"

#include "mpi/real.h"

#include <assert.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    SPINS = 200,          /* about a microsecond: a partner on another core answers within */
    NAP_FIRST_NS = 20000, /* each nap ends with a progress of MPI, so it may not become long */
    NAP_LONGEST_NS = 500000,
    WATCH_SHORT = 20,     /* turns of watching a bell before sleeping, where others want the core, */
    WATCH_LONG = 500,     /* and where nobody does */
    BELL_NAP_NS = 200000, /* then MPI makes progress again */
    ANSWER_TURNS = 100,   /* an answer from another node takes tens of microseconds */
    ANSWER_NAP_NS = 50000,
    IDLE_NAP_FIRST_NS = 31250, /* doubled up to a millisecond */
};

static void wait_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static _Atomic(const struct wait_hooks *) hooks;

void wait_set_hooks(const struct wait_hooks *given)
{
    atomic_store(&hooks, given);
}

static _Thread_local bool steps_nothing;

void wait_steps_nothing(void)
{
    steps_nothing = true;
}

bool wait_may_step(void)
{
    return !steps_nothing;
}

static void step_others(void)
{
    const struct wait_hooks *set = atomic_load_explicit(&hooks, memory_order_acquire);
    if (set && !steps_nothing)
        set->step();
}

void wait_enter(void)
{
    const struct wait_hooks *set = atomic_load(&hooks);
    if (set)
        set->enter();
}

void wait_leave(void)
{
    const struct wait_hooks *set = atomic_load(&hooks);
    if (set)
        set->leave();
}

void wait_progress(MPI_Comm comm)
{
    int found;
    if (comm == MPI_COMM_NULL)
        return;
    step_others();
    real.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
}

static void wait_nap(_Atomic uint32_t *word, uint32_t seen, long nap_ns)
{
    assert(nap_ns > 0 && nap_ns < 1000000000);
    const struct timespec time = {.tv_nsec = nap_ns};
    if (word)
        syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT, seen, &time, NULL, 0);
    else
        nanosleep(&time, NULL);
}

void wait_until(wait_ready *ready, void *arg, _Atomic uint32_t *word, MPI_Comm comm)
{
    for (int i = 0; i < SPINS; i++) {
        if (ready(arg))
            return;
        wait_relax();
    }
    for (long nap_ns = NAP_FIRST_NS;; nap_ns = nap_ns * 2 < NAP_LONGEST_NS ? nap_ns * 2 : NAP_LONGEST_NS) {
        const uint32_t seen = word ? atomic_load(word) : 0; /* before looking: a change after it is not slept through */
        if (ready(arg))
            return;
        wait_progress(comm);
        wait_nap(word, seen, nap_ns);
    }
}

void wait_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, (uint32_t *)word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* ---- bells ---- */

void wait_bell_ring(struct wait_bell *bell)
{
    atomic_fetch_add(&bell->rings, 1);
    if (atomic_load(&bell->sleepers) > 0)
        wait_wake(&bell->rings);
}

void wait_change_core(void)
{
    cpu_set_t allowed, others;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    others = allowed;
    CPU_CLR(sched_getcpu(), &others);
    if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
        sched_setaffinity(0, sizeof allowed, &allowed);
}

static bool wait_watch(struct wait_bell *bell, uint32_t heard, int turns)
{
    for (int i = 0; i < turns; i++) {
        if (atomic_load_explicit(&bell->rings, memory_order_relaxed) != heard)
            return true;
        wait_relax();
    }
    return false;
}

void wait_bell_listen(struct wait_bell *bell, uint32_t heard, bool crowded, MPI_Comm comm)
{
    if (wait_watch(bell, heard, crowded ? WATCH_SHORT : WATCH_LONG))
        return;
    wait_progress(comm);
    if (!crowded) {
        sched_yield();
        return;
    }
    atomic_fetch_add(&bell->sleepers, 1);
    wait_nap(&bell->rings, heard, BELL_NAP_NS);
    atomic_fetch_sub(&bell->sleepers, 1);
}

int wait_request(MPI_Request *request)
{
    struct wait_pace pace = {0};
    int done = 0, code;
    while ((code = real.Test(request, &done, MPI_STATUS_IGNORE)) == MPI_SUCCESS && !done)
        wait_turn(&pace);
    return code;
}

int wait_answer(int count, MPI_Request *requests, MPI_Comm comm)
{
    assert(count > 0 && count <= WAIT_ANSWERS_MAX);
    MPI_Status statuses[WAIT_ANSWERS_MAX];
    int done = 0, code;
    for (int turn = 0; (code = real.Testall(count, requests, &done, statuses)) == MPI_SUCCESS && !done;) {
        wait_progress(comm);
        if (turn++ < ANSWER_TURNS)
            sched_yield();
        else
            wait_nap(NULL, 0, ANSWER_NAP_NS);
        turn = turn < ANSWER_TURNS ? turn : ANSWER_TURNS;
    }
    return code;
}

void wait_idle(int *idle, _Atomic uint32_t *word, uint32_t seen)
{
    assert(*idle >= 0 && *idle <= WAIT_IDLE_LONGEST);
    if (*idle < WAIT_IDLE_TURNS)
        sched_yield();
    else
        wait_nap(word, seen, (long)IDLE_NAP_FIRST_NS << (*idle - WAIT_IDLE_TURNS));
    if (*idle < WAIT_IDLE_LONGEST)
        ++*idle;
}

void wait_turn(struct wait_pace *pace)
{
    step_others();
    if (++pace->idle > SPINS)
        sched_yield();
    else
        wait_relax();
}
