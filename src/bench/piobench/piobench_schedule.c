/* Whose trial is next, and when there are enough of them. */
#include "bench/piobench/piobench.h"

#include "measure/analysis.h"

#include <math.h>

double piobench_schedule_width(const struct piobench_tally *tally)
{
    const struct analysis_estimate mean = analysis_mean(tally->total_ns, (size_t)tally->count);
    return mean.error / mean.value;
}

bool piobench_schedule_finished(const struct piobench_tally *tally, const struct piobench_rule *rule)
{
    if (tally->failed || tally->count >= rule->max_trials)
        return true;
    return tally->count >= rule->trials && piobench_schedule_width(tally) <= rule->width;
}

int piobench_schedule_next(const struct piobench_tally *tallies, int count, const struct piobench_rule *rule)
{
    int fewest = rule->max_trials;
    for (int i = 0; i < count; i++)
        if (!piobench_schedule_finished(&tallies[i], rule) && tallies[i].count < fewest)
            fewest = tallies[i].count;
    for (int i = 0; i < count; i++) {
        /* nobody always runs behind the same one, whose data still lie in the cache */
        const int at = (i + fewest) % count;
        if (tallies[at].count == fewest && !piobench_schedule_finished(&tallies[at], rule))
            return at;
    }
    return -1;
}
