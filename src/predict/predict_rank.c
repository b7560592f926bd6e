/* Which configuration to choose: places, ties, and the phase that decides, in words. */
#include "predict/predict.h"

#include "base/statistics.h"
#include "base/units.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Those that can be ranked first, by time; then by name, so that the order never depends on that of the files. */
static int rank_by_time(const void *left, const void *right)
{
    const struct predict_configuration *a = left, *b = right;
    const bool a_ranked = !isnan(a->total.ns) && !a->estimate, b_ranked = !isnan(b->total.ns) && !b->estimate;
    if (a_ranked != b_ranked)
        return a_ranked ? -1 : 1;
    if (a_ranked && a->total.ns != b->total.ns)
        return a->total.ns < b->total.ns ? -1 : 1;
    return strcmp(a->label, b->label);
}

static bool rank_overlap(const struct predict_time *a, const struct predict_time *b)
{
    assert(!(a->low_ns > a->ns) && !(a->high_ns < a->ns) && !(b->low_ns > b->ns) && !(b->high_ns < b->ns));
    return a->low_ns <= b->high_ns && b->low_ns <= a->high_ns;
}

static void rank_find_ties(struct prediction *prediction, int ranked, int index, struct text *ties)
{
    struct predict_configuration *all = prediction->configurations, *one = &all[index];
    one->place = 1;
    for (int i = 0; i < ranked; i++) {
        if (i == index)
            continue;
        one->place += all[i].total.high_ns < one->total.low_ns;
        assert(one->place <= ranked);
        if (rank_overlap(&all[i].total, &one->total))
            text_format(ties, "%s%s", ties->length ? "; " : "", all[i].label);
    }
}

/* ---- the reason ---- */

static double rank_unit_ns(const struct predict_configuration *configuration, int unit)
{
    return isnan(configuration->units[unit].time.ns) ? 0 : configuration->units[unit].time.ns;
}

/* The unit in which `slow` loses most against `fast`. */
static int rank_deciding_unit(const struct predict_configuration *slow, const struct predict_configuration *fast,
                              int units)
{
    int most = -1;
    double largest = 0;
    for (int i = 0; i < units; i++) {
        const double loss = rank_unit_ns(slow, i) - rank_unit_ns(fast, i);
        if (loss > largest) {
            largest = loss;
            most = i;
        }
    }
    return most;
}

static int rank_longest_unit(const struct predict_configuration *configuration, int units)
{
    int longest = 0;
    for (int i = 1; i < units; i++)
        if (rank_unit_ns(configuration, i) > rank_unit_ns(configuration, longest))
            longest = i;
    return longest;
}

static void rank_add_unit(struct text *text, const struct prediction *prediction, int unit)
{
    assert(unit >= 0 && unit < predict_unit_count(prediction));
    if (unit >= prediction->program.phase_count)
        text_format(text, "the calls of %s", predict_unit_label(prediction, unit));
    else
        text_format(text, "phase %s (%s)", prediction->program.phases[unit].label,
                    prediction->program.phases[unit].operations);
}

static void rank_reason_alone(const struct prediction *prediction, struct predict_configuration *one,
                              struct text *reason)
{
    one->decides = rank_longest_unit(one, predict_unit_count(prediction));
    rank_add_unit(reason, prediction, one->decides);
    text_format(reason, " %s %.0f %% of the I/O time",
                one->decides >= prediction->program.phase_count ? "take" : "takes",
                one->total.ns > 0 ? 100 * rank_unit_ns(one, one->decides) / one->total.ns : 0);
}

/* "phase 51 (read_at_all) takes 2.87 s and not 844 ms". */
static void rank_add_comparison(const struct prediction *prediction, const struct predict_configuration *one,
                                const struct predict_configuration *other, int unit, struct text *reason)
{
    char here[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
    rank_add_unit(reason, prediction, unit);
    text_format(reason, " %s %s and not %s", unit >= prediction->program.phase_count ? "take" : "takes",
                units_ns(rank_unit_ns(one, unit), here), units_ns(rank_unit_ns(other, unit), there));
}

/* `one` is the winner, and `other` the next one, or the other way round. */
static void rank_reason_against(const struct prediction *prediction, struct predict_configuration *one,
                                const struct predict_configuration *other, struct text *reason)
{
    const bool faster = one->total.ns <= other->total.ns, tie = rank_overlap(&one->total, &other->total);
    const struct predict_configuration *slow = faster ? other : one, *fast = faster ? one : other;
    const double difference = slow->total.ns - fast->total.ns;
    const int unit = rank_deciding_unit(slow, fast, predict_unit_count(prediction));
    if (tie)
        text_format(reason, "tie with %s: the %d %% intervals overlap", other->label, STATISTICS_LEVEL_PERCENT);
    else
        text_format(reason, "%.2f times %s %s", slow->total.ns / fast->total.ns, faster ? "faster than" : "the time of",
                    other->label);
    if (unit < 0 || !(difference > 0))
        return;
    text_add(reason, tie ? "; the largest difference: " : ": ");
    rank_add_comparison(prediction, one, other, unit, reason);
    if (tie)
        return; /* nothing decides */
    const double part = 100 * (rank_unit_ns(slow, unit) - rank_unit_ns(fast, unit)) / difference;
    one->decides = unit;
    if (part > 100)
        text_add(reason, ", more than the whole difference; others make up for some of it");
    else
        text_format(reason, ", %.0f %% of the difference", part);
}

static bool rank_give_reason(struct prediction *prediction, int ranked, int index)
{
    struct predict_configuration *all = prediction->configurations, *one = &all[index];
    struct text reason = {0}, ties = {0};
    rank_find_ties(prediction, ranked, index, &ties);
    if (ranked == 1)
        rank_reason_alone(prediction, one, &reason);
    else
        rank_reason_against(prediction, one, &all[index == 0 ? 1 : 0], &reason);
    one->tie_with = text_dup(text_get(&ties));
    one->reason = text_dup(text_get(&reason));
    const bool ok = !ties.failed && !reason.failed && one->tie_with && one->reason;
    text_clear(&ties);
    text_clear(&reason);
    return ok;
}

pl_status predict_rank(struct prediction *prediction, struct pl_error *error)
{
    const int count = prediction->configuration_count;
    int ranked = 0;
    if (count > 0)
        qsort(prediction->configurations, (size_t)count, sizeof *prediction->configurations, rank_by_time);
    while (ranked < count && !isnan(prediction->configurations[ranked].total.ns) &&
           !prediction->configurations[ranked].estimate)
        ranked++;
    for (int i = 1; i < ranked; i++) /* the order of the places */
        assert(prediction->configurations[i - 1].total.ns <= prediction->configurations[i].total.ns);
    for (int i = 0; i < ranked; i++)
        if (!rank_give_reason(prediction, ranked, i))
            return pl_fail(error, PL_E_NOMEM, "not enough memory for a prediction");
    return PL_OK;
}
