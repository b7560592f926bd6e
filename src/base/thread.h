/* Threads of ours inside of a program. */
#ifndef PIOLET_BASE_THREAD_H
#define PIOLET_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* False where the system gives no more. No signal is delivered to it: they belong to the program's own threads. The
 * stack does not depend on the limit of the program's (RLIMIT_STACK), which may be a few pages or gigabytes; and takes
 * little where address space is limited. */
bool thread_start(pthread_t *ret_thread, void *(*run)(void *arg), void *arg);

#endif
