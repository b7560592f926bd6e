/* Threads that do system calls while the program computes. They never call MPI. */
#ifndef PIOLET_ENGINE_POOL_POOL_H
#define PIOLET_ENGINE_POOL_POOL_H

#include <stdatomic.h>
#include <stdbool.h>

/* A piece of work; part of what it works on. Whoever submits it keeps it until pool_is_done(). */
struct pool_work {
    void (*run)(struct pool_work *work);
    struct pool_work *next;
    atomic_bool done;
};

/* Any thread. Threads are started when first needed; where none can be, the caller does the work itself. */
void pool_submit(struct pool_work *work, void (*run)(struct pool_work *work));

static inline bool pool_is_done(struct pool_work *work)
{
    return atomic_load_explicit(&work->done, memory_order_acquire);
}

/* How often the calling thread has gone to sleep so far. A system call that puts it to sleep (it waits for a device,
 * not for a copy) is one that a thread of the pool can do better, while the caller does something else. */
long pool_sleeps(void);

/* Ends the threads, after what was submitted. More work starts new ones. */
void pool_stop(void);

#endif
