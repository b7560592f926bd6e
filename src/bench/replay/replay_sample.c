#include "bench/replay/replay_run.h"

#include "base/checked.h"
#include "base/statistics.h"
#include "mpi/coll.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- estimates ---- */

enum { BATCHES_MAX = 16, WARM_UP_FROM = 5 };

static double replay_estimate_mean_of(const int64_t *values, int64_t count)
{
    assert(count > 0);
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)values[i];
    return sum / (double)count;
}

/* Half of the interval of the mean of `values`, which fall into as many batches as there are pairs, up to 16. */
static double replay_estimate_half_of(const int64_t *values, int64_t count, double mean)
{
    const int64_t batches = count / 2 < BATCHES_MAX ? (count < 4 ? count : count / 2) : BATCHES_MAX;
    double squares = 0;
    if (batches < 2)
        return -1;
    for (int64_t b = 0; b < batches; b++) {
        const int64_t from = count * b / batches, to = count * (b + 1) / batches;
        assert(from < to && to <= count);
        const double off = replay_estimate_mean_of(values + from, to - from) - mean;
        squares += off * off;
    }
    return statistics_error(squares, (size_t)batches);
}

struct replay_estimate replay_estimate(const int64_t *durations, int64_t count, int64_t all)
{
    struct replay_estimate estimate = {.half_ns = -1};
    double done = 0;
    if (count < 1)
        return estimate;
    for (int64_t i = 0; i < count; i++)
        done += (double)durations[i];
    const int64_t from = count >= WARM_UP_FROM ? 1 : 0;
    const double rest = all > count ? (double)(all - count) : 0;
    estimate.slope_ns = replay_estimate_mean_of(durations + from, count - from);
    estimate.half_ns = replay_estimate_half_of(durations + from, count - from, estimate.slope_ns);
    estimate.total_ns = done + rest * estimate.slope_ns;
    /* One execution says nothing about the next: the rest is then anything up to twice as long. */
    const double half = estimate.half_ns < 0 ? estimate.slope_ns : estimate.half_ns;
    estimate.low_ns = done + rest * fmax(estimate.slope_ns - half, 0);
    estimate.high_ns = done + rest * (estimate.slope_ns + half);
    assert(estimate.low_ns <= estimate.total_ns && estimate.total_ns <= estimate.high_ns);
    return estimate;
}

bool replay_estimate_is_sure(const struct replay_estimate *estimate)
{
    return estimate->half_ns >= 0 && estimate->half_ns <= 0.05 * estimate->slope_ns;
}

/* ---- calls that stand for many ---- */

/* A loop whose rest takes less than this is done to its end: nothing tells as much as the whole. */
#define WORTH_NS INT64_C(10000000000)

static bool sample_is_power_of_2(int64_t number)
{
    return number > 0 && (number & (number - 1)) == 0;
}

/* Are the slopes of all phases and calls of the loop known well enough? */
static bool sample_is_sure(const struct replay_run *run, const struct model_step *step)
{
    if (step->phase > 0 || (step->kind == MODEL_CALL && run->plan->unit_of_leaf[step->leaf] >= 0)) {
        const int index = step->phase > 0 ? run->plan->unit_of_phase[step->phase] : run->plan->unit_of_leaf[step->leaf];
        const struct replay_measure *measure = &run->measures[index];
        if (!run->plan->units[index].selected || measure->executed == 0)
            return true; /* not this rank's */
        const struct replay_estimate estimate = replay_estimate(measure->durations, measure->executed,
                                                                run->plan->units[index].count);
        return replay_estimate_is_sure(&estimate);
    }
    for (int i = 0; step->kind == MODEL_LOOP && i < step->count; i++)
        if (!sample_is_sure(run, &step->body[i]))
            return false;
    return true;
}

struct replay_wish replay_sample_wish(const struct replay_run *run, const struct replay_sampling *sampling)
{
    struct replay_wish wish = {.unsure = true};
    const int64_t turn = sampling->turn;
    if (turn > 0)
        wish.rest_ns = (replay_now_ns() - sampling->begin_ns) / turn * (sampling->turns - turn);
    if (sample_is_power_of_2(turn) && !run->job->all)
        wish.unsure = !sample_is_sure(run, sampling->loop->step);
    return wish;
}

bool replay_sample_is_enough(const struct replay_job *job, bool unsure, int64_t rest_ns, int64_t elapsed_ns)
{
    assert(elapsed_ns >= 0);
    const bool late = job->limit_s > 0 && (double)(elapsed_ns + rest_ns) > job->limit_s * 1e9 &&
                      (double)elapsed_ns > job->limit_s * 0.5e9;
    return !job->all && rest_ns > 0 && ((!unsure && rest_ns > WORTH_NS) || late);
}

void replay_sample_pass(struct replay_run *run, const struct model_step *step, int64_t times, bool told)
{
    assert(times >= 0);
    const bool tells = !told && (step->phase > 0 || step->kind != MODEL_LOOP);
    if (tells && !model_ranks_has(&step->ranks, run->rank))
        return;
    if (step->kind != MODEL_LOOP)
        run->done[step->leaf] += times;
    if (step->kind != MODEL_LOOP)
        return;
    int64_t *done = &run->done[run->model->leaf_count + step->loop];
    const int64_t turns = model_turns_in(step, run->rank, *done, times);
    *done += times;
    for (int i = 0; i < step->count; i++)
        replay_sample_pass(run, &step->body[i], turns, told || tells);
}

/* ---- filling ---- */

enum { REACH_LOOK = 1 << 16 };

struct missing {
    struct replay_run *run;
    const struct replay_file *file;
    int64_t end;
};

/* The farthest byte that `times` executions from now on would write to the file. */
static void sample_reach(struct missing *missing, const struct model_step *step, int64_t times, bool told)
{
    const struct replay_run *run = missing->run;
    const bool tells = !told && (step->phase > 0 || step->kind != MODEL_LOOP);
    if (tells && !model_ranks_has(&step->ranks, run->rank))
        return;
    const int64_t turns = step->kind == MODEL_LOOP
                              ? model_turns_in(step, run->rank, run->done[run->model->leaf_count + step->loop], times)
                              : 0;
    for (int i = 0; step->kind == MODEL_LOOP && i < step->count; i++)
        sample_reach(missing, &step->body[i], turns, told || tells);
    if (step->kind != MODEL_CALL || step->file != missing->file->file || !step->access ||
        !model_operation_of(step->operation).writes || !step->offset.formula)
        return;
    /* The first and the last ones tell: offsets grow or repeat. */
    const int64_t first = run->done[step->leaf], last = first + times;
    for (int64_t n = first; n < last; n++) {
        if (n == first + REACH_LOOK && last - n > REACH_LOOK)
            n = last - REACH_LOOK;
        int64_t size = 0, offset = 0, instance = 0;
        if (!model_formula_value(step->size.formula, run->rank, n, &size) ||
            !model_formula_value(step->offset.formula, run->rank, n, &offset) ||
            (step->instance.formula && !model_formula_value(step->instance.formula, run->rank, n, &instance)) ||
            instance != missing->file->instance)
            continue;
        const int64_t end = replay_file_end(missing->file, offset, size);
        missing->end = end > missing->end ? end : missing->end;
    }
}

static int sample_last_leaf(const struct model_step *step)
{
    int last = step->kind == MODEL_LOOP ? -1 : step->leaf;
    for (int i = 0; step->kind == MODEL_LOOP && i < step->count; i++) {
        const int inside = sample_last_leaf(&step->body[i]);
        last = inside > last ? inside : last;
    }
    return last;
}

static bool sample_is_used_later(const struct replay_run *run, const struct replay_sampling *sampling, int file)
{
    const struct replay_file_facts *group = &run->plan->files[run->plan->files[file].group];
    return group->last_use > sampling->loop->last_leaf || run->depth > 1;
}

static void sample_fill_coll(struct replay_run *run, const struct replay_sampling *sampling, struct replay_file *file,
                             int64_t missing_turns)
{
    struct missing missing = {.run = run, .file = file};
    const struct model_step *loop = sampling->loop->step;
    struct pl_error error;
    int64_t end = 0;
    int rank;
    for (int i = 0; i < loop->count; i++)
        sample_reach(&missing, &loop->body[i], missing_turns, false);
    MPI_Allreduce(&missing.end, &end, 1, MPI_INT64_T, MPI_MAX, file->comm);
    MPI_Comm_rank(file->comm, &rank);
    if (end > 0 && rank == 0 && !replay_has_failed(run) && replay_place_fill(file->path, end, &error) != PL_OK)
        replay_note(run, loop, &error);
}

/* What `missing` turns of a loop would have written is filled where somebody uses it later. Local. */
static void replay_sample_fill(struct replay_run *run, const struct model_step *loop, int64_t missing_turns)
{
    struct pl_error error;
    for (struct replay_file *file = NULL; (file = replay_file_next(run, file));) {
        struct missing missing = {.run = run, .file = file};
        const struct replay_file_facts *group = &run->plan->files[run->plan->files[file->file].group];
        for (int i = 0; i < loop->count && group->last_use > sample_last_leaf(loop); i++)
            sample_reach(&missing, &loop->body[i], missing_turns, run->phase_unit >= 0);
        if (missing.end > 0 && !replay_has_failed(run) && replay_place_fill(file->path, missing.end, &error) != PL_OK)
            replay_note(run, loop, &error);
    }
}

void replay_sample_make_up_coll(struct replay_run *run, const struct replay_sampling *sampling, int64_t missing)
{
    assert(missing > 0 && missing < sampling->loop->step->turns);
    const struct model_step *loop = sampling->loop->step;
    for (struct replay_file *file = NULL; (file = replay_file_next(run, file));)
        if (sample_is_used_later(run, sampling, file->file))
            sample_fill_coll(run, sampling, file, missing);
    for (int i = 0; i < loop->count; i++)
        replay_sample_pass(run, &loop->body[i], missing, false);
    MPI_Barrier(run->comm);
}

/* ---- where a phase may end early ---- */

#define LOOK_EVERY_NS INT64_C(20000000)

bool replay_cut_is_late(const struct replay_run *run)
{
    const double limit_ns = run->job->limit_s * 1e9;
    return limit_ns > 0 && !run->job->all &&
           ((double)(replay_now_ns() - run->repetition_ns) > limit_ns ||
            (run->extents.is_partial && run->calls >= run->extents.calls));
}

/* ---- whether a loop may be left ---- */

struct meetings {
    struct replay_run *run;
    const struct model_ranks *ranks; /* who do the loop; NULL: not told */
    MPI_Comm comm;
    bool is_possible;
};

static bool cut_all_take_part(const struct meetings *meetings, MPI_Comm comm)
{
    const struct replay_run *run = meetings->run;
    for (int i = 0; i < run->comm_count; i++) {
        const struct replay_comm *known = &run->comms[i];
        if (known->comm != comm)
            continue;
        for (int member = 0; member < known->ranks; member++)
            if (!model_ranks_has(meetings->ranks,
                                 known->members ? known->members[member] : known->first + member * known->stride))
                return false;
        return true;
    }
    return false;
}

static void cut_note_meeting(struct meetings *meetings, const struct model_step *step)
{
    struct replay_run *run = meetings->run;
    int64_t instance = 0;
    if (step->instance.formula)
        model_formula_value(step->instance.formula, run->rank, run->done[step->leaf], &instance);
    const struct replay_file *file = step->file >= 0 ? replay_file_find(run, step->file, instance) : NULL;
    const bool all = meetings->comm == run->comm; /* who leave together, whatever the file */
    const bool fits = file && meetings->ranks &&
                      (all || meetings->comm == MPI_COMM_NULL || meetings->comm == file->comm) &&
                      cut_all_take_part(meetings, file->comm);
    meetings->is_possible = meetings->is_possible && fits;
    if (fits && !all)
        meetings->comm = file->comm;
}

/* Inside of a phase of all ranks that meet there, all leave it together. */
static void cut_note_collective(struct meetings *meetings, const struct model_step *step)
{
    struct replay_run *run = meetings->run;
    if (meetings->ranks && step->collectives == 0 && !step->collectives_of.formula)
        return;
    const bool fits = run->aligned && meetings->ranks && replay_plan_is_world(run->model, step);
    meetings->is_possible = meetings->is_possible && fits;
    if (fits)
        meetings->comm = run->comm;
}

static void cut_find_meetings(struct meetings *meetings, const struct model_step *step)
{
    const struct replay_plan *plan = meetings->run->plan;
    for (int i = 0; step->kind == MODEL_LOOP && i < step->count; i++)
        cut_find_meetings(meetings, &step->body[i]);
    if (step->kind == MODEL_COMM)
        cut_note_collective(meetings, step);
    if (step->kind != MODEL_CALL)
        return;
    if (replay_operation_is_collective(plan->operations[step->leaf]))
        cut_note_meeting(meetings, step);
}

/* Whether ranks make different numbers of turns somewhere in it: then they do not come to the same turn together. */
static bool cut_turns_differ(const struct model_step *step)
{
    bool differ = step->kind == MODEL_LOOP && step->turns_of.formula;
    for (int i = 0; step->kind == MODEL_LOOP && i < step->count && !differ; i++)
        differ = cut_turns_differ(&step->body[i]);
    return differ;
}

void replay_cut_begin(struct replay_run *run, const struct model_step *loop, int64_t turns,
                      const struct model_step *phase, struct replay_cut *ret_cut)
{
    assert(loop->kind == MODEL_LOOP && (!phase || run->phase_unit >= 0));
    struct meetings meetings = {run, phase ? &phase->ranks : NULL, MPI_COMM_NULL, true};
    *ret_cut = (struct replay_cut){.loop = loop, .turns = turns, .comm = MPI_COMM_NULL, .next = 1};
    if (run->job->limit_s <= 0 || run->job->all || loop->turns < 2)
        return;
    cut_find_meetings(&meetings, loop);
    ret_cut->is_possible = meetings.is_possible && replay_plan_is_private(run->plan, loop) &&
                           (meetings.comm == MPI_COMM_NULL || !cut_turns_differ(phase ? phase : loop));
    ret_cut->comm = meetings.comm;
    ret_cut->begin_ns = replay_now_ns();
    ret_cut->before_ns = phase ? run->measures[run->phase_unit].sum_ns : 0;
}

bool replay_cut_is_due_coll(struct replay_run *run, struct replay_cut *cut, int64_t turn)
{
    if (!cut->is_possible || turn < cut->next)
        return false;
    int64_t mine[2] = {replay_cut_is_late(run), replay_now_ns() - cut->begin_ns}, most[2] = {mine[0], mine[1]};
    if (cut->comm != MPI_COMM_NULL)
        MPI_Allreduce(mine, most, 2, MPI_INT64_T, MPI_MAX, cut->comm);
    /* As many turns as fill the time to the next look, of numbers that all have in common; never more than as many
     * again. */
    const double share = most[1] > LOOK_EVERY_NS ? (double)LOOK_EVERY_NS / (double)most[1] : 1;
    cut->next = saturating_add(turn, 1 + (int64_t)((double)turn * share));
    assert(cut->next > turn || turn == INT64_MAX);
    return most[0] != 0;
}

/* ---- what was left out ---- */

/* One rank for all. */
static void cut_tell_once(struct replay_run *run, const struct replay_cut *cut, int64_t done)
{
    const struct model_step *phase = run->phase_unit >= 0 ? run->plan->units[run->phase_unit].step : NULL;
    if (run->has_told_cut || run->rank != (phase ? model_ranks_next(&phase->ranks, -1) : 0))
        return;
    run->has_told_cut = true;
    if (phase)
        lab_warn_here(run->lab,
                      "note: phase %d: time limit reached after %" PRId64 " of %" PRId64
                      " turns of a loop; its time is extended from these",
                      phase->phase, done, cut->turns);
    else
        lab_warn_here(run->lab, "note: time limit reached after %" PRId64 " of %" PRId64 " turns of a loop", done,
                      cut->turns);
}

void replay_cut_make_up(struct replay_run *run, const struct replay_cut *cut, int64_t done)
{
    const int64_t missing = cut->turns - done;
    assert(done > 0 && missing > 0);
    if (run->phase_unit >= 0) {
        struct replay_measure *measure = &run->measures[run->phase_unit];
        const int64_t rest_ns = saturating_int((double)(measure->sum_ns - cut->before_ns) / (double)done *
                                               (double)missing);
        measure->sum_ns = saturating_add(measure->sum_ns, rest_ns);
        measure->extended_ns = saturating_add(measure->extended_ns, rest_ns);
    }
    replay_sample_fill(run, cut->loop, missing);
    for (int i = 0; i < cut->loop->count; i++)
        replay_sample_pass(run, &cut->loop->body[i], missing, run->phase_unit >= 0);
    cut_tell_once(run, cut, done);
}
