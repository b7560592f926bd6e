#include "base/bus_guard.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What this thread is copying to or from; `bytes` 0: nothing. */
static _Thread_local struct {
    volatile uintptr_t begin;
    volatile size_t bytes;
    sigjmp_buf back;
} guarded;

/* A signal that somebody sent while this thread let it through for a copy only. */
static _Thread_local struct {
    volatile sig_atomic_t waits; /* the signal is to be kept */
    volatile sig_atomic_t came;
    siginfo_t info;
} deferred;

static pthread_mutex_t install_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool installed;
static struct sigaction before; /* written before the handler is in force */
static atomic_bool spent;       /* the program's handler was for one signal only, and has had it */

/* Whether the system would do now as it does by default: also where it would have set that before. */
static bool bus_is_default(void)
{
    if (before.sa_flags & SA_RESETHAND && atomic_exchange(&spent, true))
        return true;
    return !(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL;
}

/* The program's own handler, as if the system had called it. */
static void bus_call_before(int signal, siginfo_t *info, void *context)
{
    sigset_t mask = before.sa_mask, old;
    if (!(before.sa_flags & SA_NODEFER))
        sigaddset(&mask, signal);
    pthread_sigmask(SIG_BLOCK, &mask, &old);
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(signal, info, context);
    else
        before.sa_handler(signal);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static _Atomic(struct bus_shield *) shields;
static uintptr_t shield_page;

static bool bus_shield_takes(uintptr_t at)
{
    for (struct bus_shield *shield = atomic_load(&shields); shield; shield = shield->next)
        if (at - atomic_load(&shield->begin) < atomic_load(&shield->bytes)) {
            void *const page = (void *)(at / shield_page * shield_page); /* NOLINT(performance-no-int-to-ptr) */
            atomic_store(shield->failed, true);
            return mmap(page, shield_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
                   page;
        }
    return false;
}

static void bus_on_signal(int signal, siginfo_t *info, void *context)
{
    const int saved = errno;
    const bool fault = info->si_code > 0; /* of this thread itself, not sent by anybody */
    if (fault && (uintptr_t)info->si_addr - guarded.begin < guarded.bytes)
        siglongjmp(guarded.back, 1);
    if (fault && bus_shield_takes((uintptr_t)info->si_addr)) {
        errno = saved;
        return;
    }
    if (!fault && deferred.waits) {
        deferred.info = *info;
        deferred.came = 1;
        return;
    }
    if (!(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_IGN) {
        if (fault) /* the system does not let a fault be ignored either */
            sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    } else if (bus_is_default()) { /* what caused it happens again, and ends the program as without us */
        sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        if (!fault)
            raise(signal);
    } else {
        bus_call_before(signal, info, context);
    }
    errno = saved;
}

/* No mask and no deferral: leaving the handler by a jump must not need a system call to undo them. */
static bool bus_install(void)
{
    struct sigaction action = {.sa_sigaction = bus_on_signal, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, NULL, &before) != 0)
        return false;
    action.sa_flags |= before.sa_flags & SA_ONSTACK;
    return sigaction(SIGBUS, &action, NULL) == 0;
}

static bool bus_run_guarded(const void *begin, size_t bytes, char *memory, void (*copy)(char *memory, void *arg),
                            void *arg)
{
    if (sigsetjmp(guarded.back, 0) != 0) {
        guarded.bytes = 0;
        return false;
    }
    guarded.begin = (uintptr_t)begin;
    guarded.bytes = bytes;
    copy(memory, arg);
    guarded.bytes = 0;
    return true;
}

void bus_guard_add_shield(struct bus_shield *shield, atomic_bool *failed)
{
    shield_page = (uintptr_t)sysconf(_SC_PAGESIZE);
    shield->failed = failed;
    shield->next = atomic_load(&shields);
    while (!atomic_compare_exchange_weak(&shields, &shield->next, shield))
        continue;
}

void bus_guard_shield(struct bus_shield *shield, void *begin, size_t bytes)
{
    atomic_store(&shield->bytes, 0);
    atomic_store(&shield->begin, (uintptr_t)begin);
    atomic_store(&shield->bytes, bytes);
}

static bool bus_is_in_force(void)
{
    struct sigaction now;
    return sigaction(SIGBUS, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == bus_on_signal;
}

bool bus_guard_is_lost(void)
{
    return atomic_load_explicit(&installed, memory_order_acquire) && !bus_is_in_force();
}

bool bus_guard_ready(void)
{
    if (!atomic_load_explicit(&installed, memory_order_acquire)) {
        pthread_mutex_lock(&install_lock);
        if (!atomic_load(&installed) && bus_install())
            atomic_store_explicit(&installed, true, memory_order_release);
        pthread_mutex_unlock(&install_lock);
    }
    return bus_is_in_force();
}

/* As it was sent: to the process or to this thread. It waits where the thread blocks it, as it would have. */
static void bus_send_again(siginfo_t *info)
{
    if (info->si_code == SI_TKILL)
        syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), SIGBUS, info);
    else
        syscall(SYS_rt_sigqueueinfo, getpid(), SIGBUS, info);
}

/* A fault while the signal is blocked, as in threads of ours, ends the program, whatever the handler. */
bool bus_guard_run(const void *begin, size_t bytes, char *memory, void (*copy)(char *memory, void *arg), void *arg)
{
    sigset_t bus, old;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    deferred.waits = 1;
    pthread_sigmask(SIG_UNBLOCK, &bus, &old);
    const bool blocked = sigismember(&old, SIGBUS) == 1;
    deferred.waits = blocked;
    const bool whole = bus_run_guarded(begin, bytes, memory, copy, arg);
    if (blocked)
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    deferred.waits = 0;
    if (deferred.came) {
        deferred.came = 0;
        bus_send_again(&deferred.info);
    }
    return whole;
}
