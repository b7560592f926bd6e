/* Whether a store to the mapped trace may meet SIGBUS here and live. Asking the system costs more than the whole rest
 * of a traced call. So the functions by which a program changes the handler or a thread's mask are wrapped, and the
 * system is asked behind each such change, once on each thread, and now and then for changes on other ways (longjmp(),
 * system calls by number). */
#include "base/bus_guard.h"
#include "tracer/tracer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const int64_t LOOK_NS = 100000; /* two system calls in that time: less than 1 % */

static atomic_uint changes = 1; /* of the handler */
static _Thread_local bool mask_changed;
static atomic_bool started;
static _Atomic(void *) over_ours; /* a handler that took the place of ours, or NULL */

/* The engine, which maps files too, passes on what is not its own to the handler that it found: ours. */
static bool is_of_engine(void *handler)
{
    static _Atomic(void *) known;
    Dl_info info;
    if (!handler)
        return false;
    if (atomic_load(&known) == handler)
        return true;
    if (!dladdr(handler, &info) || !info.dli_fname || !strstr(info.dli_fname, "libpiolet-mpiio.so"))
        return false;
    atomic_store(&known, handler);
    return true;
}

static void *function_of(const struct sigaction *action)
{
    void *function = NULL;
    if (action->sa_flags & SA_SIGINFO)
        memcpy(&function, &action->sa_sigaction, sizeof function);
    return function;
}

static bool handler_is_ours(void)
{
    struct sigaction now;
    if (bus_guard_ready())
        return true;
    void *over = atomic_load(&over_ours);
    return over && sigaction(SIGBUS, NULL, &now) == 0 && function_of(&now) == over && is_of_engine(over);
}

static enum tracer_guard ask_system(void)
{
    sigset_t blocked;
    const bool ours = handler_is_ours();
    atomic_store(&started, true);
    if (!ours || pthread_sigmask(SIG_BLOCK, NULL, &blocked) != 0)
        return TRACER_GUARD_NONE;
    return sigismember(&blocked, SIGBUS) ? TRACER_GUARD_BLOCKED : TRACER_GUARD_OPEN;
}

enum tracer_guard tracer_guard_look(int64_t now_ns)
{
    static _Thread_local struct {
        unsigned seen;
        int64_t asked_ns;
        enum tracer_guard guard;
    } here;
    const unsigned seen = atomic_load_explicit(&changes, memory_order_acquire);
    if (here.seen != seen || mask_changed || now_ns - here.asked_ns >= LOOK_NS) {
        mask_changed = false;
        here.seen = seen;
        here.asked_ns = now_ns;
        here.guard = ask_system();
    }
    return here.guard;
}

/* ---- the functions that change it ---- */

static void note_handler(int number)
{
    if (number == SIGBUS)
        atomic_fetch_add_explicit(&changes, 1, memory_order_release);
}

static struct {
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
#define HANDLER(name)  sighandler_t (*name)(int, sighandler_t);
#define MASK(name)     int (*name)(int, const sigset_t *, sigset_t *);
#define MASK_INT(name) int (*name)(int);
#include "tracer/tracer_guard.def"
#undef HANDLER
#undef MASK
#undef MASK_INT
} libc;

/* Before anything else of ours runs: looking for a function may take memory, which these functions must not. */
__attribute__((constructor(101))) static void find_libc(void)
{
    if (libc.sigaction)
        return;
#define FIND(name)                                                                                                     \
    do {                                                                                                               \
        void *found = dlsym(RTLD_NEXT, #name);                                                                         \
        memcpy(&libc.name, &found, sizeof found);                                                                      \
    } while (0);
#define HANDLER  FIND
#define MASK     FIND
#define MASK_INT FIND
#include "tracer/tracer_guard.def"
    FIND(sigaction)
#undef HANDLER
#undef MASK
#undef MASK_INT
}

TRACER_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    find_libc();
    const bool changes_ours = number == SIGBUS && action && atomic_load(&started) && bus_guard_ready();
    const int code = libc.sigaction(number, action, old);
    if (action && code == 0 && number == SIGBUS) {
        atomic_store(&over_ours, changes_ours ? function_of(action) : NULL);
        note_handler(number);
    }
    return code;
}

#define HANDLER(name)                                                                                                  \
    TRACER_EXPORT sighandler_t name(int number, sighandler_t handler)                                                  \
    {                                                                                                                  \
        find_libc();                                                                                                   \
        const sighandler_t old = libc.name(number, handler);                                                           \
        note_handler(number);                                                                                          \
        mask_changed = true; /* sigset() does */                                                                       \
        return old;                                                                                                    \
    }
#define MASK(name)                                                                                                     \
    TRACER_EXPORT int name(int how, const sigset_t *set, sigset_t *old)                                                \
    {                                                                                                                  \
        find_libc();                                                                                                   \
        const int code = libc.name(how, set, old);                                                                     \
        mask_changed |= set && how != SIG_UNBLOCK && sigismember(set, SIGBUS) == 1;                                    \
        return code;                                                                                                   \
    }
#define MASK_INT(name)                                                                                                 \
    TRACER_EXPORT int name(int number)                                                                                 \
    {                                                                                                                  \
        find_libc();                                                                                                   \
        const int old = libc.name(number);                                                                             \
        note_handler(number); /* sigignore() does */                                                                   \
        mask_changed = true;                                                                                           \
        return old;                                                                                                    \
    }
#include "tracer/tracer_guard.def"
