#include "bench/beffio/beffio_schedule.h"

#include "bench/beffio/beffio_pattern.h"

#include <math.h>

double beffio_pattern_s(int pattern, double time_s)
{
    return time_s / 3 * BEFFIO_TABLE[pattern].units / BEFFIO_UNITS;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* By the clock: the loop ends as near to its limit as whole calls allow. */
static bool time_is_over(const struct beffio_loop_plan *plan, const struct beffio_state *state, double call_s)
{
    return state->elapsed_s + call_s / 2 >= plan->limit_s;
}

int64_t beffio_next_batch(const struct beffio_loop_plan *plan, const struct beffio_state *state)
{
    enum { GROWTH = 4, PARTS = 4, SHARE = 10, LAST = 20 };
    const int64_t room = plan->most_calls - state->calls;
    if (state->calls == 0)
        return smaller(1, room);
    /* the slower of the whole loop and of its last batch: a cache that has filled up shows in the latter */
    const double call_s = fmax(fmax(state->elapsed_s / (double)state->calls, state->batch_s / (double)state->batch),
                               1e-9);
    if (room <= 0 || time_is_over(plan, state, call_s))
        return 0;
    const double left = fmin((plan->limit_s - state->elapsed_s) / call_s, 1e18);
    const double quarter = fmin(left, fmin(plan->pace_s / call_s, 1e18)) / PARTS;
    double calls = fmin((double)state->batch * GROWTH, quarter);
    /* a decision shall cost less than a tenth of the calls between two of them, even where that is more than a quarter
     */
    calls = fmax(calls, fmin(ceil(SHARE * state->decision_s / call_s), left));
    if (left * call_s <= plan->limit_s / LAST && isfinite(plan->limit_s)) /* so near to the end an error costs little */
        calls = left;
    return smaller(calls < 1 ? 1 : (int64_t)calls, room);
}

int64_t beffio_calls_in_space(int64_t calls, int64_t bytes, int64_t free_bytes)
{
    const int64_t reserve = (INT64_C(4) << 20) + free_bytes / 100;
    const int64_t fit = free_bytes > reserve && bytes > 0 ? (free_bytes - reserve) / bytes : 0;
    return bytes == 0 ? calls : smaller(calls, fit);
}
