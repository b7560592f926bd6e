/* The fault plan: which call of which rank fails, and how. Read from the environment at every open; the same text again
 * changes nothing:
 *
 *   PIOLET_FAULTS="pwrite:3=ENOSPC@2 malloc:*=ENOMEM pread:5+=short fsync:?0.1=EIO seed=7"
 *
 * CALL:WHEN=WHAT[@RANK], blanks between. CALL: open close pread pwrite fsync truncate allocate stat unlink lock malloc,
 * or * (any of them, counted together).
 * WHEN: N (the Nth such call of this process), N+ (that and all later), * (all), ?P (each with probability P).
 * WHAT: an errno's name, `short` (transfers at most half of what was asked, at least 1 byte), or `zero` (nothing is
 * transferred; for a read: the file seems to end). The last two are for pread and pwrite; with the call * they pass
 * the others by. RANK: in MPI_COMM_WORLD; without it, all. Where several entries fit a call, the first one counts.
 * A plan that cannot be read is an error at the first open. */
#ifndef PIOLET_ENGINE_FAULT_FAULT_H
#define PIOLET_ENGINE_FAULT_FAULT_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum fault_call {
#define FAULT_CALL(name) FAULT_##name,
#include "engine/fault/fault.def"
#undef FAULT_CALL
    FAULT_CALL_COUNT
};

enum { FAULT_NONE = 0, FAULT_SHORT = -1, FAULT_ZERO = -2 }; /* else an errno value */

/* Parses the plan for this rank. NULL or blanks: nothing ever fails. Each open may call it: the same plan again changes
 * nothing. A new one replaces the old and counts from 1; one that cannot be read leaves none, and is an error again at
 * the next call. */
pl_status fault_plan_load(const char *text, int rank, struct pl_error *error);
bool fault_plan_active(void);

/* What the plan says of this call. Counts it. Thread-safe; one load where there is no plan. */
int fault_next_planned(enum fault_call call);
extern atomic_bool fault_is_planned;
static inline int fault_next(enum fault_call call)
{
    return atomic_load_explicit(&fault_is_planned, memory_order_relaxed) ? fault_next_planned(call) : FAULT_NONE;
}

/* ---- the text of a plan ---- */
/* A fault plan as it is once read. Internal to the fault plan. */

enum { FAULT_RULES_MAX = 64 };

enum fault_when { FAULT_AT, FAULT_FROM, FAULT_CHANCE };

struct fault_rule {
    int call; /* FAULT_CALL_COUNT: any */
    enum fault_when when;
    int64_t nth;
    double chance;
    int what;
};

struct fault_plan {
    uint64_t seed;
    int count;
    struct fault_rule rules[FAULT_RULES_MAX];
};

/* Takes only what concerns `rank`, but checks all. */
pl_status fault_parse(const char *text, int rank, struct fault_plan *ret_plan, struct pl_error *error);

#endif
