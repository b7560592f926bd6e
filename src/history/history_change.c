#include "history/history_change.h"

#include "base/statistics.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- two groups ---- */

/* Mean of the logarithms, and the sum of their squared distances from it. */
static double log_mean(const double *values, size_t count, double *ret_squares)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += log(values[i]);
    for (size_t i = 0; i < count; i++)
        squares += pow(log(values[i]) - sum / (double)count, 2);
    *ret_squares = squares;
    return sum / (double)count;
}

struct history_change history_change_of(double *earlier, size_t earlier_count, double *later, size_t later_count,
                                        double level)
{
    assert(earlier_count > 0 && later_count > 0 && level > 0 && level < 1);
    statistics_sort(earlier, earlier_count);
    statistics_sort(later, later_count);
    struct history_change change = {.earlier = earlier_count,
                                    .later = later_count,
                                    .earlier_median = statistics_median(earlier, earlier_count, sizeof *earlier),
                                    .later_median = statistics_median(later, later_count, sizeof *later),
                                    .low = NAN,
                                    .high = NAN,
                                    .p = NAN};
    const size_t aside = earlier_count / 10;
    change.factor = change.later_median / change.earlier_median;
    change.outside = change.later_median < earlier[aside] || change.later_median > earlier[earlier_count - 1 - aside];
    if (earlier_count < HISTORY_EARLIER_MIN)
        return change;
    double before, after;
    const double from = log_mean(earlier, earlier_count, &before), to = log_mean(later, later_count, &after);
    const double degrees = (double)(earlier_count + later_count - 2);
    const double spread = sqrt((before + after) / degrees);
    const double error = spread * sqrt(1 / (double)earlier_count + 1 / (double)later_count);
    const double width = statistics_student_t(level, degrees) * error;
    change.low = exp(to - from - width);
    change.high = exp(to - from + width);
    if (error > 0)
        change.p = statistics_student_p(fabs(to - from) / error, degrees);
    else
        change.p = to == from ? 1 : 0;
    return change;
}

double history_change_threshold(double *p, size_t count, double level)
{
    double threshold = -1;
    assert(level > 0 && level < 1);
    statistics_sort(p, count);
    for (size_t i = 0; i < count; i++)
        if (p[i] <= (1 - level) * (double)(i + 1) / (double)count)
            threshold = p[i];
    return threshold;
}

bool history_change_is_real(const struct history_change *change, double threshold)
{
    const double part = change->factor < 1 ? 1 - change->factor : 1 - 1 / change->factor;
    return change->p <= threshold && part >= HISTORY_EFFECT_MIN && change->outside;
}

/* ---- all quantities ---- */

size_t history_values_end(const struct history_values *values, size_t first)
{
    size_t end = first + 1;
    assert(first < values->count);
    while (end < values->count && values->list[end].quantity == values->list[first].quantity)
        end++;
    return end;
}

/* Values [first, end) belong to one quantity, the earliest first: where do the new ones begin? */
static size_t first_new(const struct history_runs *runs, const struct history_values *values, size_t first, size_t end,
                        const char *since)
{
    size_t at = since ? first : end - 1;
    while (since && at < end && strcmp(runs->list[values->list[at].run].measured, since) < 0)
        at++;
    return at;
}

static void change_copy(const struct history_values *values, size_t first, size_t end, double *to)
{
    for (size_t i = first; i < end; i++)
        *to++ = values->list[i].value;
}

/* One quantity; `room` holds all its values. */
static void change_judge(const struct history_runs *runs, const struct history_values *values, size_t first, size_t end,
                         const char *since, double level, double *room, struct history_findings *findings)
{
    const size_t split = first_new(runs, values, first, end, since);
    const size_t from = split - first > HISTORY_EARLIER_MAX ? split - HISTORY_EARLIER_MAX : first;
    assert(first <= from && from <= split && split <= end);
    if (split == end)
        return; /* not measured since */
    if (split - from < HISTORY_EARLIER_MIN) {
        findings->few++;
        findings->most = split - from > findings->most ? split - from : findings->most;
        return;
    }
    change_copy(values, from, end, room);
    struct history_finding *finding = &findings->list[findings->count++];
    *finding = (struct history_finding){.first = first, .end = end};
    finding->change = history_change_of(room, split - from, room + (split - from), end - split, level);
    finding->worse = (finding->change.factor < 1) != values->list[first].lower_is_better;
}

static void change_decide(struct history_findings *findings, double *room, double level)
{
    for (size_t i = 0; i < findings->count; i++)
        room[i] = findings->list[i].change.p;
    const double threshold = history_change_threshold(room, findings->count, level);
    for (size_t i = 0; i < findings->count; i++)
        findings->list[i].real = history_change_is_real(&findings->list[i].change, threshold);
}

pl_status history_regress(const struct history_runs *runs, const struct history_values *values, const char *since,
                          double level, struct history_findings *ret_findings, struct pl_error *error)
{
    struct history_findings findings = {.list = calloc(values->count + 1, sizeof *findings.list)};
    double *room = calloc(values->count + 1, sizeof *room);
    if (!findings.list || !room) {
        free(findings.list);
        free(room);
        return pl_fail(error, PL_E_NOMEM, "not enough memory for %zu numbers", values->count);
    }
    for (size_t first = 0, end; first < values->count; first = end) {
        end = history_values_end(values, first);
        change_judge(runs, values, first, end, since, level, room, &findings);
    }
    assert(findings.count + findings.few <= values->count);
    change_decide(&findings, room, level);
    free(room);
    *ret_findings = findings;
    return PL_OK;
}

void history_findings_clear(struct history_findings *findings)
{
    free(findings->list);
    *findings = (struct history_findings){0};
}
