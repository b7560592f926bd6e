#include "engine/fault/fault.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/units.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- The text of a plan ------------------------------------------------------------------------------------------ */

static const char *const CALLS[FAULT_CALL_COUNT] = {
#define FAULT_CALL(name) #name,
#include "engine/fault/fault.def"
#undef FAULT_CALL
};

static const char CALLS_ALLOWED[] =
#define FAULT_CALL(name) #name " "
#include "engine/fault/fault.def" /* NOLINT(readability-duplicate-include) */
#undef FAULT_CALL
    "and *";

enum { TOKEN_MAX = 96 };

static bool parse_call(const char *text, int *ret_call)
{
    for (int call = 0; call < FAULT_CALL_COUNT; call++)
        if (strcmp(text, CALLS[call]) == 0) {
            *ret_call = call;
            return true;
        }
    *ret_call = FAULT_CALL_COUNT;
    return strcmp(text, "*") == 0;
}

static bool parse_when(char *text, struct fault_rule *rule)
{
    if (strcmp(text, "*") == 0) {
        rule->when = FAULT_FROM;
        rule->nth = 1;
        return true;
    }
    if (text[0] == '?') {
        rule->when = FAULT_CHANCE;
        return units_parse_number(text + 1, &rule->chance) && rule->chance >= 0 && rule->chance <= 1;
    }
    const size_t length = strlen(text);
    rule->when = length && text[length - 1] == '+' ? FAULT_FROM : FAULT_AT;
    if (rule->when == FAULT_FROM)
        text[length - 1] = '\0';
    const bool fine = units_parse_int(text, 1, INT64_MAX, &rule->nth);
    if (rule->when == FAULT_FROM)
        text[length - 1] = '+';
    return fine;
}

static bool parse_what(const char *text, int *ret_what)
{
    static const struct {
        const char *name;
        int value;
    } words[] = {{"short", FAULT_SHORT},
                 {"zero", FAULT_ZERO},
                 {"EWOULDBLOCK", EWOULDBLOCK},
                 {"ENOTSUP", ENOTSUP},
                 {"EOPNOTSUPP", EOPNOTSUPP}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i].name) == 0) {
            *ret_what = words[i].value;
            return true;
        }
    enum { ERRNO_MAX = 4095 }; /* the largest that Linux can return */
    for (int value = 1; value <= ERRNO_MAX; value++) {
        const char *name = strerrorname_np(value);
        if (name && strcmp(text, name) == 0) {
            *ret_what = value;
            return true;
        }
    }
    return false;
}

static pl_status parse_seed(const char *token, struct fault_plan *plan, struct pl_error *error)
{
    int64_t seed;
    const char *value = token + strlen("seed=");
    if (!units_parse_int(value, 0, INT64_MAX, &seed))
        return pl_fail(error, PL_E_INPUT, "fault plan: '%s': the seed is '%s'; allowed: a whole number from 0", token,
                       value);
    plan->seed = (uint64_t)seed;
    return PL_OK;
}

/* Splits a copy of CALL:WHEN=WHAT[@RANK]; false where a part is missing. */
static bool fault_parse_split(char *copy, char **ret_when, char **ret_what, char **ret_rank)
{
    char *colon = strchr(copy, ':');
    char *equals = colon ? strchr(colon, '=') : NULL;
    if (!equals)
        return false;
    char *at = strchr(equals, '@');
    *colon = *equals = '\0';
    if (at)
        *at = '\0';
    *ret_when = colon + 1;
    *ret_what = equals + 1;
    *ret_rank = at ? at + 1 : NULL;
    return true;
}

static pl_status parse_rule(const char *token, int rank, struct fault_plan *plan, struct pl_error *error)
{
    char copy[TOKEN_MAX];
    memcpy(copy, token, strlen(token) + 1);
    char *when, *what, *only;
    struct fault_rule rule = {0};
    int64_t only_rank = rank;
    if (!fault_parse_split(copy, &when, &what, &only))
        return pl_fail(error, PL_E_INPUT,
                       "fault plan: '%s' is no entry; allowed: CALL:WHEN=WHAT, CALL:WHEN=WHAT@RANK, seed=N", token);
    if (!parse_call(copy, &rule.call))
        return pl_fail(error, PL_E_INPUT, "fault plan: '%s': no call is named '%s'; allowed: %s", token, copy,
                       CALLS_ALLOWED);
    if (!parse_when(when, &rule))
        return pl_fail(error, PL_E_INPUT,
                       "fault plan: '%s': '%s' does not say when; allowed: N and N+ with N from 1, *, ?P with P from 0 "
                       "to 1",
                       token, when);
    if (!parse_what(what, &rule.what))
        return pl_fail(error, PL_E_INPUT,
                       "fault plan: '%s': '%s' is no fault; allowed: the name of an errno (as ENOSPC), short, zero",
                       token, what);
    if (rule.what < 0 && rule.call != FAULT_pread && rule.call != FAULT_pwrite && rule.call != FAULT_CALL_COUNT)
        return pl_fail(error, PL_E_INPUT,
                       "fault plan: '%s': '%s' is for pread and pwrite; allowed here: the name of an errno", token,
                       what);
    if (only && !units_parse_int(only, 0, INT_MAX, &only_rank))
        return pl_fail(error, PL_E_INPUT, "fault plan: '%s': '%s' is no rank; allowed: a whole number from 0", token,
                       only);
    if (only_rank != rank)
        return PL_OK;
    if (plan->count == FAULT_RULES_MAX)
        return pl_fail(error, PL_E_INPUT, "fault plan: '%s' is one too many; allowed: %d for a rank", token,
                       FAULT_RULES_MAX);
    plan->rules[plan->count++] = rule;
    return PL_OK;
}

pl_status fault_parse(const char *text, int rank, struct fault_plan *ret_plan, struct pl_error *error)
{
    static const char blanks[] = " \t\n";
    struct fault_plan plan = {0};
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        const size_t length = strcspn(text, blanks);
        char token[TOKEN_MAX];
        if (length >= sizeof token)
            return pl_fail(error, PL_E_INPUT, "fault plan: '%.40s...' is too long; allowed: %d characters", text,
                           TOKEN_MAX - 1);
        memcpy(token, text, length);
        token[length] = '\0';
        const pl_status status = strncmp(token, "seed=", strlen("seed=")) == 0 ? parse_seed(token, &plan, error)
                                                                               : parse_rule(token, rank, &plan, error);
        if (status != PL_OK)
            return status;
        text += length;
    }
    *ret_plan = plan;
    return PL_OK;
}

/* ---- The plan in force ------------------------------------------------------------------------------------------- */

/* Of the process, as the calls are. Written before `fault_is_planned` is set, only read afterwards. */
static struct fault_plan plan;
static uint64_t plan_seed; /* the plan's, mixed with the rank */
atomic_bool fault_is_planned;
static atomic_int_fast64_t counts[FAULT_CALL_COUNT + 1]; /* the last one: calls of any kind */

static pthread_mutex_t load_mutex = PTHREAD_MUTEX_INITIALIZER;
static char *loaded_text; /* NULL: no plan was loaded */
static int loaded_rank;

static pl_status fault_load(const char *text, int rank, struct pl_error *error)
{
    atomic_store(&fault_is_planned, false);
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
    atomic_store_explicit(&fault_is_planned, parsed.count > 0, memory_order_release);
    return PL_OK;
}

pl_status fault_plan_load(const char *text, int rank, struct pl_error *error)
{
    pthread_mutex_lock(&load_mutex);
    const bool same = loaded_text ? strcmp(loaded_text, text ? text : "") == 0 && loaded_rank == rank : !text || !*text;
    const pl_status status = same ? PL_OK : fault_load(text ? text : "", rank, error);
    pthread_mutex_unlock(&load_mutex);
    return status;
}

bool fault_plan_active(void)
{
    return atomic_load_explicit(&fault_is_planned, memory_order_relaxed);
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

int fault_next_planned(enum fault_call call)
{
    if (!atomic_load_explicit(&fault_is_planned, memory_order_acquire)) /* now the plan itself is seen */
        return FAULT_NONE;
    assert(call < FAULT_CALL_COUNT);
    const int64_t nth = atomic_fetch_add_explicit(&counts[call], 1, memory_order_relaxed) + 1;
    const int64_t nth_of_all = atomic_fetch_add_explicit(&counts[FAULT_CALL_COUNT], 1, memory_order_relaxed) + 1;
    for (int i = 0; i < plan.count; i++)
        if (rule_fits(&plan.rules[i], i, call, nth, nth_of_all))
            return plan.rules[i].what;
    return FAULT_NONE;
}
