#include "history/history_regress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t history_values_end(const struct history_values *values, size_t first)
{
    size_t end = first + 1;
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

static void copy(const struct history_values *values, size_t first, size_t end, double *to)
{
    for (size_t i = first; i < end; i++)
        *to++ = values->list[i].value;
}

/* One quantity; `room` holds all its values. */
static void judge(const struct history_runs *runs, const struct history_values *values, size_t first, size_t end,
                  const char *since, double level, double *room, struct history_findings *findings)
{
    const size_t split = first_new(runs, values, first, end, since);
    const size_t from = split - first > HISTORY_EARLIER_MAX ? split - HISTORY_EARLIER_MAX : first;
    if (split == end)
        return; /* not measured since */
    if (split - from < HISTORY_EARLIER_MIN) {
        findings->few++;
        findings->most = split - from > findings->most ? split - from : findings->most;
        return;
    }
    copy(values, from, end, room);
    struct history_finding *finding = &findings->list[findings->count++];
    *finding = (struct history_finding){.first = first, .end = end};
    finding->change = history_change_of(room, split - from, room + (split - from), end - split, level);
    finding->worse = (finding->change.factor < 1) != values->list[first].lower_is_better;
}

static void decide(struct history_findings *findings, double *room, double level)
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
        judge(runs, values, first, end, since, level, room, &findings);
    }
    decide(&findings, room, level);
    free(room);
    *ret_findings = findings;
    return PL_OK;
}

void history_findings_clear(struct history_findings *findings)
{
    free(findings->list);
    *findings = (struct history_findings){0};
}
