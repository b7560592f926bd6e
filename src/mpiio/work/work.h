/* Threads that do system calls while the program computes. They never call MPI. */
#ifndef PIOLET_MPIIO_WORK_WORK_H
#define PIOLET_MPIIO_WORK_WORK_H

#include <stdatomic.h>
#include <stdbool.h>

/* A piece of work; part of what it works on. Whoever submits it keeps it until work_is_done(). */
struct work {
    void (*run)(struct work *work);
    struct work *next;
    atomic_bool done;
};

/* Any thread. Threads are started when first needed; where none can be, the caller does the work itself. */
void work_submit(struct work *work, void (*run)(struct work *work));

static inline bool work_is_done(struct work *work)
{
    return atomic_load_explicit(&work->done, memory_order_acquire);
}

/* Ends the threads, after what was submitted. More work starts new ones. */
void work_stop(void);

#endif
