/* From what was asked for to the numbers of a run. */
#include "bench/beff/beff_method.h"
#include "bench/beff/beff_run.h"

enum { QUICK_PATTERNS = 3, QUICK_TIME_S = 12, QUICK_LENGTH = 256 << 10, QUICK_LOOP_FIRST = 10, TIME_S = 300 };
#define FULL_LOOPS_S 180.0 /* runs that may take so long have loops of the full time, others proportionally less */

pl_status beff_plan_make(const struct beff_wish *wish, int nprocs, int64_t memory_bytes, struct beff_plan *ret_plan,
                         struct pl_error *error)
{
    const int64_t memory = wish->memory_bytes ? wish->memory_bytes : memory_bytes;
    const int64_t longest = beff_length_max(memory);
    if (nprocs < 2)
        return pl_fail(error, PL_E_USAGE,
                       "b_eff measures messages between processes, and there is only one; start it with at least 2");
    if (memory < BEFF_MEMORY_LEAST)
        return pl_fail(error, PL_E_USAGE,
                       "a process has %lld bytes of memory; allowed: at least %lld, so that the longest message "
                       "(1/%d of it) is longer than 4 kB",
                       (long long)memory, (long long)BEFF_MEMORY_LEAST, BEFF_MEMORY_PART);
    *ret_plan = (struct beff_plan){
        .nprocs = nprocs,
        .memory_bytes = memory,
        .memory_given = wish->memory_bytes != 0,
        .random_patterns = wish->random_patterns ? wish->random_patterns
                           : wish->quick         ? QUICK_PATTERNS
                                                 : BEFF_RANDOM_PATTERNS,
        .time_s = wish->time_s > 0 ? wish->time_s
                  : wish->quick    ? QUICK_TIME_S
                                   : TIME_S,
        .loop_first = wish->quick ? QUICK_LOOP_FIRST : BEFF_LOOP_FIRST,
        .loop_target_s = BEFF_LOOP_TARGET_S,
        .seed = wish->seed,
    };
    if (ret_plan->time_s < FULL_LOOPS_S)
        ret_plan->loop_target_s *= ret_plan->time_s / FULL_LOOPS_S;
    beff_lengths(wish->quick && longest > QUICK_LENGTH ? QUICK_LENGTH : longest, ret_plan->lengths);
    return PL_OK;
}

int64_t beff_plan_buffer_bytes(const struct beff_plan *plan)
{
    return 2 * beff_exchange_bytes(beff_links_max(plan->nprocs), plan->lengths[BEFF_LENGTHS - 1]);
}
