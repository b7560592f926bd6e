/* What a contest is asked for: contestants, cells, and whose trial is next. No MPI. */
#include "bench/contest/contest.h"

#include "base/memory.h"
#include "base/statistics.h"
#include "base/units.h"
#include "lab/facts/place.h"
#include "lab/runner/testfile.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- contestants ---- */

void contest_hint(struct lab_hints *hints, const char *key, const char *format, ...)
{
    char value[256];
    va_list args;
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    hints->list = memory_grow(hints->list, hints->count, sizeof *hints->list);
    hints->list[hints->count++] = (struct lab_hint){memory_copy(key), memory_copy(value)};
}

pl_status contest_add_contestant(struct contest *contest, struct contest_contestant contestant, const char *option,
                                 struct pl_error *error)
{
    assert(*contestant.label && (contestant.access == CONTEST_ENGINE) == (contestant.strategy != NULL));
    for (int i = 0; i < contest->contestant_count; i++)
        if (strcmp(contest->contestants[i].label, contestant.label) == 0) {
            pl_fail(error, PL_E_USAGE, "--%s: '%s' stands there twice", option, contestant.label);
            lab_hints_clear(&contestant.hints);
            return error->status;
        }
    contest->contestants = memory_grow(contest->contestants, (size_t)contest->contestant_count, sizeof contestant);
    contest->contestants[contest->contestant_count++] = contestant;
    return PL_OK;
}

/* Broadcasting is for ranks that want the same. */
bool contest_takes_part(const struct contest_contestant *contestant, const struct contest_cell *cell)
{
    return !contestant->strategy || strcmp(contestant->strategy, "broadcast") != 0 ||
           cell->spec.kind == PIOLET_DIST_BROADCAST;
}

struct contest_cell *contest_add_cell(struct contest *contest, const struct contest_cell *cell)
{
    contest->cells = memory_grow(contest->cells, (size_t)contest->cell_count, sizeof *cell);
    contest->cells[contest->cell_count] = *cell;
    return &contest->cells[contest->cell_count++];
}

/* ---- whose trial is next ---- */

double contest_width(const struct contest_tally *tally)
{
    const struct statistics_mean mean = statistics_mean_of(tally->total_ns, (size_t)tally->count,
                                                           sizeof *tally->total_ns);
    return mean.error / mean.mean;
}

bool contest_finished(const struct contest_tally *tally, const struct contest_rule *rule)
{
    if (tally->failed || tally->count >= rule->max_trials)
        return true;
    return tally->count >= rule->trials && contest_width(tally) <= rule->width;
}

int contest_next(const struct contest_tally *tallies, int count, const struct contest_rule *rule)
{
    int fewest = (int)rule->max_trials;
    assert(rule->trials <= rule->max_trials && rule->max_trials <= CONTEST_TRIALS_MAX);
    for (int i = 0; i < count; i++)
        if (!contest_finished(&tallies[i], rule) && tallies[i].count < fewest)
            fewest = tallies[i].count;
    for (int i = 0; i < count; i++) {
        /* nobody always runs behind the same one, whose data still lie in the cache */
        const int at = (i + fewest) % count;
        if (tallies[at].count == fewest && !contest_finished(&tallies[at], rule))
            return at;
    }
    return -1;
}

/* ---- prepare ---- */

pl_status contest_check_twice(const char *option, const struct option_numbers *list, struct pl_error *error)
{
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < i; k++)
            if (list->values[i] == list->values[k])
                return pl_fail(error, PL_E_USAGE, "--%s: '%lld' stands there twice", option,
                               (long long)list->values[i]);
    return PL_OK;
}

/* One launch of many (--mpis): which cell and round, and as which MPI its results count. */
static void contest_take_step(struct lab_job *job, struct contest *contest)
{
    int cell, round;
    contest->only_cell = -1;
    contest->round = 0;
    if (!*job->step || sscanf(job->step, "%d %d", &cell, &round) != 2)
        return;
    contest->only_cell = cell;
    contest->round = round;
}

pl_status contest_begin(struct lab_job *job, const struct contest_kind *kind, struct pl_error *error)
{
    struct contest *contest = job->own;
    contest_clear(contest);
    contest->kind = kind;
    contest->file = lab_job_path(job, contest->file_name);
    contest->keep = job->common.keep;
    contest_take_step(job, contest);
    if (!*contest->file_name)
        return pl_fail(error, PL_E_USAGE, "--file: ''; allowed: the name of a file");
    if (job->common.ranks.count == 0) { /* noted as if it were given: a resumed run must not take another number */
        char ranks[16];
        snprintf(ranks, sizeof ranks, "%d", job->ranks);
        if (options_set(&job->all, "ranks", ranks, OPTION_FROM_COMMAND, error) != PL_OK)
            return error->status;
    }
    job->test_file = contest->file;
    if (contest_check_twice("ranks", &job->common.ranks, error) != PL_OK)
        return error->status;
    return lab_hints_parse(&job->common.hints, &contest->hints, error);
}

pl_status contest_check_place(const struct lab_job *job, struct pl_error *error)
{
    const struct contest *contest = job->own;
    int64_t largest = 0;
    assert(contest->cell_count > 0 && contest->contestant_count > 0);
    if (job->common.dry_run)
        return PL_OK;
    for (int c = 0; c < contest->cell_count; c++)
        largest = contest->cells[c].file_bytes > largest ? contest->cells[c].file_bytes : largest;
    const pl_status status = place_check(contest->file, largest, error);
    return status == PL_OK ? testfile_check(contest->file, job->common.overwrite, error) : status;
}

void contest_clear(void *own)
{
    struct contest *contest = own;
    for (int i = 0; i < contest->contestant_count; i++)
        lab_hints_clear(&contest->contestants[i].hints);
    free(contest->contestants);
    free(contest->cells);
    free(contest->file);
    text_clear(&contest->left_out);
    lab_hints_clear(&contest->hints);
    contest->contestants = NULL;
    contest->cells = NULL;
    contest->file = NULL;
    contest->contestant_count = contest->cell_count = 0;
}

/* ---- the dry run ---- */

static const struct result_column CONTEST_PLAN_CONTESTANTS[] = {
    {.key = "name", .label = "contestant", .form = RESULT_TEXT},
    {.key = "summary", .label = "", .form = RESULT_TEXT},
    {0}};

static const struct result_column CONTEST_PLAN_CELLS[] = {{.key = "cell", .label = "", .form = RESULT_TEXT}, {0}};

pl_status contest_plan(struct lab_job *job, struct result *plan, struct pl_error *error)
{
    const struct contest *contest = job->own;
    char text[CONTEST_TEXT_MAX];
    double bytes = 0, trials = 0;
    int64_t largest = 0;
    (void)error;
    result_begin_table(plan, "contestants", "Contestants, in turn:", CONTEST_PLAN_CONTESTANTS);
    for (int i = 0; i < contest->contestant_count; i++) {
        result_row(plan);
        result_put_text(plan, contest->contestants[i].label);
        result_put_text(plan, contest->contestants[i].summary);
    }
    result_begin_table(plan, "cells", "Cells:", CONTEST_PLAN_CELLS);
    for (int c = 0; c < contest->cell_count; c++) {
        const struct contest_cell *cell = &contest->cells[c];
        contest->kind->cell_text(cell, text);
        result_row(plan);
        result_put_text(plan, text);
        largest = cell->file_bytes > largest ? cell->file_bytes : largest;
        for (int i = 0; i < contest->contestant_count; i++)
            if (contest_takes_part(&contest->contestants[i], cell)) {
                trials++;
                bytes += (double)cell->moved_bytes;
            }
    }
    if (contest->left_out.length)
        result_line(plan, "\nLeft out:\n%s", text_get(&contest->left_out));
    char range[64] = "", size[UNITS_TEXT_MAX];
    if (contest->rule.max_trials > contest->rule.trials)
        snprintf(range, sizeof range, " to %.0f", trials * (double)contest->rule.max_trials);
    result_line(plan, "In all: %d cells, %.0f%s %s; %.1f GB moved%s; the largest file has %s.", contest->cell_count,
                trials * (double)contest->rule.trials, range, contest->kind->trials,
                bytes * (double)contest->rule.trials / 1e9, *range ? " at least" : "", units_binary(largest, size));
    return PL_OK;
}
