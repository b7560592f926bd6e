/* How deep this thread is inside our wrappers: what an MPI-IO does within a call is not the program's communication. */
#ifndef PIOLET_MPI_GUARD_H
#define PIOLET_MPI_GUARD_H

extern _Thread_local int guard_depth;

/* True for the outermost wrapper, whose call is the program's own. Every enter needs its leave. */
static inline int guard_enter(void)
{
    return guard_depth++ == 0;
}

static inline void guard_leave(void)
{
    guard_depth--;
}

#endif
