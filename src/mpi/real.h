/* The one table of the MPI's own functions.
 *
 * Our preloaded libraries wrap functions of MPI; one that called MPI_* or PMPI_* by name could meet its own wrapper, or
 * that of a library before it. They therefore call real.NAME(…) only: what stands behind them in the search order.
 * tests/lint/real.sh checks it. */
#ifndef PIOLET_MPI_REAL_H
#define PIOLET_MPI_REAL_H

#include "base/status.h"

#include <assert.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct real {
    bool loaded;
#define REAL(name) __typeof__(&PMPI_##name) name;
#include "mpi/real.def"
#undef REAL
};

extern struct real real;

/* Fills the table. Any thread may call it, at any time and again. Fails where the process has no such MPI, or where
 * the program belongs to the other one. */
pl_status real_load(struct pl_error *error);

/* Any symbol of the MPI behind us; NULL: it has none of this name. */
void *real_find(const char *name);

/* Further tables of the same kind: pointers to functions of the MPI, by name ("PMPI_File_open") and place. */
struct real_entry {
    const char *name;
    size_t place;
};
pl_status real_fill(void *table, const struct real_entry *entries, size_t count, struct pl_error *error);

/* How deep this thread is inside our wrappers: what an MPI-IO does within a call is not the program's communication. */
extern _Thread_local int guard_depth;

/* True for the outermost wrapper, whose call is the program's own. Every enter needs its leave. */
static inline int guard_enter(void)
{
    return guard_depth++ == 0;
}

static inline void guard_leave(void)
{
    assert(guard_depth > 0);
    guard_depth--;
}

#endif
