/* libpiolet-yield.so: preloaded under MPICH when there are more ranks than cores.
 *
 * MPICH on UCX waits by polling ucp_worker_progress(); with several ranks on a core the one that waits takes the
 * time of the one that works (a barrier of 8 ranks on 2 cores: 34 ms, with this 33 us). Giving the core away after
 * each poll that found nothing costs a system call where ranks have cores of their own: never preload it then. */
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

typedef unsigned progress_function(void *worker);

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker);

/* Looked up by the first call; threads that race for it all find the same. */
static progress_function *real_progress(void)
{
    static _Atomic(progress_function *) found;
    progress_function *real = atomic_load_explicit(&found, memory_order_relaxed);
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "ucp_worker_progress");
        if (!symbol) { /* Python and the like load MPI and UCX apart from the libraries that follow us */
            void *library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
            symbol = library ? dlsym(library, "ucp_worker_progress") : NULL;
        }
        memcpy(&real, &symbol, sizeof real); /* ISO C has no cast from an object to a function pointer */
        atomic_store_explicit(&found, real, memory_order_relaxed);
    }
    return real;
}

unsigned ucp_worker_progress(void *worker)
{
    progress_function *real = real_progress();
    const unsigned events = real ? real(worker) : 0;
    if (events == 0)
        sched_yield();
    return events;
}
