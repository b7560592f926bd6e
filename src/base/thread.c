#include "base/thread.h"

#include "base/limits.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* Room for what we do, and for functions of the program that convert data. */
static const size_t STACK_BYTES = (size_t)8 << 20, STACK_BYTES_SCARCE = (size_t)512 << 10;

bool thread_start(pthread_t *ret_thread, void *(*run)(void *arg), void *arg)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setstacksize(&attributes, address_space_left() == UINT64_MAX ? STACK_BYTES : STACK_BYTES_SCARCE);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(ret_thread, &attributes, run, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}
