#include "mpiio/storage/fault.h"

#include "base/rng.h"
#include "base/text.h"
#include "mpiio/storage/fault_parse.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of the process, as the calls are. Written before `plan_active` is set, only read afterwards. */
static struct fault_plan plan;
static uint64_t plan_seed; /* the plan's, mixed with the rank */
static atomic_bool plan_active;
static atomic_int_fast64_t counts[FAULT_CALL_COUNT + 1]; /* the last one: calls of any kind */

static pthread_mutex_t load_mutex = PTHREAD_MUTEX_INITIALIZER;
static char *loaded_text; /* NULL: no plan was loaded */
static int loaded_rank;

static pl_status load(const char *text, int rank, struct pl_error *error)
{
    atomic_store(&plan_active, false);
    for (int i = 0; i <= FAULT_CALL_COUNT; i++)
        atomic_store(&counts[i], 0);
    free(loaded_text);
    loaded_text = NULL;
    struct fault_plan parsed;
    const pl_status status = fault_parse(text, rank, &parsed, error);
    if (status != PL_OK)
        return status;
    plan = parsed;
    plan_seed = rng_at(parsed.seed, (uint64_t)rank);
    loaded_text = text_dup(text); /* without memory the plan is merely read again at the next open */
    loaded_rank = rank;
    atomic_store_explicit(&plan_active, parsed.count > 0, memory_order_release);
    return PL_OK;
}

pl_status fault_plan_load(const char *text, int rank, struct pl_error *error)
{
    pthread_mutex_lock(&load_mutex);
    const bool same = loaded_text ? strcmp(loaded_text, text ? text : "") == 0 && loaded_rank == rank : !text || !*text;
    const pl_status status = same ? PL_OK : load(text ? text : "", rank, error);
    pthread_mutex_unlock(&load_mutex);
    return status;
}

bool fault_plan_active(void)
{
    return atomic_load_explicit(&plan_active, memory_order_relaxed);
}

static bool rule_fits(const struct fault_rule *rule, int index, enum fault_call call, int64_t nth, int64_t nth_of_all)
{
    const int64_t n = rule->call == FAULT_CALL_COUNT ? nth_of_all : nth;
    if (rule->call != FAULT_CALL_COUNT && rule->call != (int)call)
        return false;
    if (rule->what < 0 && call != FAULT_pread && call != FAULT_pwrite)
        return false;
    switch (rule->when) {
    case FAULT_AT:
        return n == rule->nth;
    case FAULT_FROM:
        return n >= rule->nth;
    case FAULT_CHANCE:
        return rng_unit(rng_at(rng_at(plan_seed, (uint64_t)index), (uint64_t)n)) < rule->chance;
    }
    return false;
}

int fault_next(enum fault_call call)
{
    if (!atomic_load_explicit(&plan_active, memory_order_relaxed))
        return FAULT_NONE;
    if (!atomic_load_explicit(&plan_active, memory_order_acquire)) /* now the plan itself is seen */
        return FAULT_NONE;
    const int64_t nth = atomic_fetch_add_explicit(&counts[call], 1, memory_order_relaxed) + 1;
    const int64_t nth_of_all = atomic_fetch_add_explicit(&counts[FAULT_CALL_COUNT], 1, memory_order_relaxed) + 1;
    for (int i = 0; i < plan.count; i++)
        if (rule_fits(&plan.rules[i], i, call, nth, nth_of_all))
            return plan.rules[i].what;
    return FAULT_NONE;
}
