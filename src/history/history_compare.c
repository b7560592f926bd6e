/* compare and regressions of `piolet history`: numbers of the same conditions against each other. */
#include "history/history_change.h"
#include "history/history_command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Class, test, what and settings in a text of its own lines; then the numbers. */
static void history_print_name(const struct history_value *value)
{
    struct text line = {0};
    text_format(&line, "%s %s, %s%s%s", value->class_name, value->testname, value->what, value->settings[0] ? ": " : "",
                value->settings);
    text_print_wrapped(stdout, text_get(&line), 0, 4);
    text_clear(&line);
}

static double history_percent(double factor)
{
    return (factor - 1) * 100;
}

static void history_print_change(const struct history_value *value, const struct history_change *change)
{
    const int digits = history_digits(change->earlier_median);
    printf("    %.*f -> %.*f %s  %+.1f %%", digits, change->earlier_median, digits, change->later_median, value->unit,
           history_percent(change->factor));
    if (isfinite(change->low))
        printf(" [%+.1f, %+.1f]", history_percent(change->low), history_percent(change->high));
    printf("  n = %zu, %zu", change->earlier, change->later);
}

/* ---- compare ---- */

struct sides {
    struct history_runs runs; /* of both, one behind the other */
    size_t split;             /* where those of B begin */
};

static pl_status history_load_sides(const struct history_request *request, struct history *history,
                                    struct sides *ret_sides, struct pl_error *error)
{
    struct history_runs a = {0}, b = {0};
    pl_status status = history_runs(history, request->words, 1, &a, error);
    if (status == PL_OK)
        status = history_runs(history, request->words + 1, 1, &b, error);
    struct history_run *both = status == PL_OK ? calloc(a.count + b.count + 1, sizeof *both) : NULL;
    if (status == PL_OK && !both)
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for the history");
    if (status != PL_OK) {
        history_runs_clear(&a);
        history_runs_clear(&b);
        return status;
    }
    memcpy(both, a.list, a.count * sizeof *both);
    memcpy(both + a.count, b.list, b.count * sizeof *both);
    *ret_sides = (struct sides){{both, a.count + b.count}, a.count};
    free(a.list);
    free(b.list);
    return PL_OK;
}

/* The values of one quantity on both sides; false where one side has none. */
static bool history_sides_change_of(const struct sides *sides, const struct history_values *values, size_t first,
                                    size_t end, double level, struct history_change *ret_change)
{
    double *room = calloc(end - first, sizeof *room);
    size_t split = first;
    while (split < end && values->list[split].run < sides->split)
        split++;
    const bool both = room && split > first && split < end;
    for (size_t i = first; both && i < end; i++)
        room[i - first] = values->list[i].value;
    if (both)
        *ret_change = history_change_of(room, split - first, room + (split - first), end - split, level);
    free(room);
    return both;
}

/* "place ext4 of /dev/sda1; host a | ext4 of …": the lines of the conditions that differ. */
static void print_difference(const char *a, const char *b)
{
    for (const char *at = a; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const size_t length = strcspn(at, "\n"), key = strcspn(at, " ") + 1;
        const char *other = b;
        while (*other && strncmp(other, at, key) != 0) {
            other += strcspn(other, "\n");
            other += *other == '\n';
        }
        const size_t other_length = strcspn(other, "\n");
        if (*other && (length != other_length || strncmp(at, other, length) != 0))
            printf("    %.*s: %.*s | %.*s\n", (int)key - 1, at, (int)(length - key), at + key,
                   (int)(other_length - key), other + key);
    }
}

/* Why runs of the same test have no number in common. */
static void compare_explain(const struct sides *sides)
{
    for (size_t a = 0; a < sides->split; a++)
        for (size_t b = sides->split; b < sides->runs.count; b++) {
            const struct history_run *x = &sides->runs.list[a], *y = &sides->runs.list[b];
            if (strcmp(x->class_name, y->class_name) != 0 || strcmp(x->testname, y->testname) != 0)
                continue;
            printf("%s %s was measured under other conditions or settings:\n", x->class_name, x->testname);
            if (strcmp(x->conditions, y->conditions) == 0)
                printf("    the settings of the sets: see 'piolet history show %.8s %.8s'\n", x->id, y->id);
            print_difference(x->conditions, y->conditions);
            return;
        }
    printf("there is no test that both have\n");
}

static void print_software(const struct sides *sides)
{
    const char *a = sides->runs.list[0].software, *b = sides->runs.list[sides->split].software;
    if (strcmp(a, b) != 0)
        printf("software: %s\n      ->  %s\n", a, b);
}

static size_t print_common(const struct history_request *request, const struct sides *sides,
                           const struct history_values *values)
{
    size_t common = 0;
    for (size_t first = 0, end; first < values->count; first = end) {
        struct history_change change;
        end = history_values_end(values, first);
        if (!history_sides_change_of(sides, values, first, end, request->level, &change))
            continue;
        history_print_name(&values->list[first]);
        history_print_change(&values->list[first], &change);
        putchar('\n');
        common++;
    }
    return common;
}

int history_command_compare(const struct history_request *request, struct history *history)
{
    struct sides sides;
    struct history_values values = {0};
    struct pl_error error;
    if (history_load_sides(request, history, &sides, &error) != PL_OK)
        return history_failed(request, &error);
    const pl_status status = history_values(history, &sides.runs, &values, &error);
    size_t common = 0;
    if (status == PL_OK) {
        print_software(&sides);
        common = print_common(request, &sides, &values);
        if (common)
            printf("%zu numbers compared; [interval] of %g %% confidence where A has %d runs or more\n", common,
                   request->level * 100, HISTORY_EARLIER_MIN);
        else
            compare_explain(&sides);
    }
    history_values_clear(&values);
    history_runs_clear(&sides.runs);
    if (status != PL_OK)
        return history_failed(request, &error);
    return common ? HISTORY_OK : HISTORY_FAILED;
}

/* ---- regressions ---- */

/* A day or time stands for itself; a label or id for the time of its first run. */
static pl_status since_of(const struct history_request *request, struct history *history, struct text *ret_since,
                          struct pl_error *error)
{
    const char *word = request->since;
    struct history_runs runs;
    if (!word)
        return PL_OK;
    if (strlen(word) >= 10 && word[4] == '-' && word[7] == '-' && strspn(word, "0123456789-:TZ") == strlen(word)) {
        text_add(ret_since, word);
        return PL_OK;
    }
    const pl_status status = history_runs(history, &word, 1, &runs, error);
    if (status != PL_OK)
        return pl_within(error, "--since is no day such as 2026-11-15");
    text_add(ret_since, runs.list[0].measured);
    history_runs_clear(&runs);
    return PL_OK;
}

static size_t count_real(const struct history_findings *findings, bool worse)
{
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++)
        count += findings->list[i].real && findings->list[i].worse == worse;
    return count;
}

static void print_finding(const struct history_runs *runs, const struct history_values *values,
                          const struct history_finding *finding)
{
    const struct history_value *value = &values->list[finding->first];
    const struct history_run *last = &runs->list[values->list[finding->end - 1].run];
    const struct history_run *first = &runs->list[value->run];
    history_print_name(value);
    history_print_change(value, &finding->change);
    printf("\n    p = %.2g; newest run %.8s of %s\n", finding->change.p, last->id, last->measured);
    if (strcmp(first->software, last->software) != 0)
        printf("    software: %s\n          ->  %s\n", first->software, last->software);
}

static void print_findings(const struct history_runs *runs, const struct history_values *values,
                           const struct history_findings *findings, bool worse)
{
    const size_t count = count_real(findings, worse);
    if (!count)
        return;
    printf("%s: %zu of %zu\n", worse ? "Worse" : "Better", count, findings->count);
    for (size_t i = 0; i < findings->count; i++)
        if (findings->list[i].real && findings->list[i].worse == worse)
            print_finding(runs, values, &findings->list[i]);
    putchar('\n');
}

static void print_verdict(const struct history_request *request, const struct history_findings *findings)
{
    const size_t worse = count_real(findings, true);
    if (findings->count == 0 && findings->few)
        printf("Too few runs: %d earlier ones of the same conditions are needed, %zu at most are there.\n",
               HISTORY_EARLIER_MIN, findings->most);
    else if (findings->count == 0)
        printf("Nothing to judge: no new run has numbers.\n");
    else if (worse)
        printf("%zu of %zu numbers became worse.\n", worse, findings->count);
    else
        printf("No regression in %zu numbers.\n", findings->count);
    if (findings->count && findings->few)
        printf("%zu more have too few earlier runs (%d are needed).\n", findings->few, HISTORY_EARLIER_MIN);
    if (findings->count)
        printf("Told is a change of %g %% and more that is beyond chance: of all that is told,\n"
               "%.3g %% at most is expected to be chance. [Interval] of %g %% confidence.\n",
               HISTORY_EFFECT_MIN * 100, (1 - request->level) * 100, request->level * 100);
}

int history_command_regressions(const struct history_request *request, struct history *history)
{
    struct history_runs runs = {0};
    struct history_values values = {0};
    struct history_findings findings = {0};
    struct text since = {0};
    struct pl_error error;
    size_t worse = 0;
    pl_status status = since_of(request, history, &since, &error);
    if (status == PL_OK)
        status = history_runs(history, NULL, 0, &runs, &error);
    if (status == PL_OK)
        status = history_values(history, &runs, &values, &error);
    if (status == PL_OK)
        status = history_regress(&runs, &values, request->since ? text_get(&since) : NULL, request->level, &findings,
                                 &error);
    if (status == PL_OK) {
        print_findings(&runs, &values, &findings, true);
        print_findings(&runs, &values, &findings, false);
        print_verdict(request, &findings);
        worse = count_real(&findings, true);
    }
    history_findings_clear(&findings);
    history_values_clear(&values);
    history_runs_clear(&runs);
    text_clear(&since);
    if (status != PL_OK)
        return history_failed(request, &error);
    return worse ? HISTORY_FAILED : HISTORY_OK;
}
