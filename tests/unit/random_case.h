/* What unit tests with random cases share: the numbers, and the failure that a call tells. Behind cmocka.h. */
#ifndef PIOLET_TESTS_UNIT_RANDOM_CASE_H
#define PIOLET_TESTS_UNIT_RANDOM_CASE_H

#include "base/rng.h"
#include "base/status.h"

static struct pl_error error;
static uint64_t state = 1; /* set it to the number of a case: then the case can be done again alone */

static inline int64_t below(int64_t limit)
{
    state = rng_mix(state);
    return (int64_t)(state >> 1) % limit;
}

static inline void ok(pl_status status)
{
    if (status)
        fail_msg("%s: %s", pl_status_name(status), error.text);
}

#endif
