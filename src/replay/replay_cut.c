#include "replay/replay_cut.h"

#include "replay/replay_sample.h"

#include "base/checked.h"

#include <inttypes.h>
#include <stdio.h>

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

static bool all_take_part(const struct meetings *meetings, MPI_Comm comm)
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

static void note_meeting(struct meetings *meetings, const struct model_step *step)
{
    struct replay_run *run = meetings->run;
    int64_t instance = 0;
    if (step->instance.formula)
        model_formula_value(step->instance.formula, run->rank, run->done[step->leaf], &instance);
    const struct replay_file *file = step->file >= 0 ? replay_file_find(run, step->file, instance) : NULL;
    const bool fits = file && meetings->ranks && (meetings->comm == MPI_COMM_NULL || meetings->comm == file->comm) &&
                      all_take_part(meetings, file->comm);
    meetings->is_possible = meetings->is_possible && fits;
    if (fits)
        meetings->comm = file->comm;
}

static void find_meetings(struct meetings *meetings, const struct model_step *step)
{
    const struct replay_plan *plan = meetings->run->plan;
    for (int i = 0; step->kind == MODEL_LOOP && i < step->count; i++)
        find_meetings(meetings, &step->body[i]);
    if (step->kind == MODEL_COMM)
        meetings->is_possible = false;
    if (step->kind != MODEL_CALL)
        return;
    if (replay_operation_is_collective(plan->operations[step->leaf]))
        note_meeting(meetings, step);
}

void replay_cut_begin(struct replay_run *run, const struct model_step *loop, const struct model_step *phase,
                      struct replay_cut *ret_cut)
{
    struct meetings meetings = {run, phase ? &phase->ranks : NULL, MPI_COMM_NULL, true};
    *ret_cut = (struct replay_cut){.loop = loop, .comm = MPI_COMM_NULL, .next = 1};
    if (run->job->limit_s <= 0 || run->job->all || loop->turns < 2)
        return;
    find_meetings(&meetings, loop);
    ret_cut->is_possible = meetings.is_possible && replay_plan_is_private(run->plan, loop);
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
    return most[0] != 0;
}

/* ---- what was left out ---- */

/* One rank for all. */
static void tell_once(struct replay_run *run, const struct replay_cut *cut, int64_t done)
{
    const struct model_step *phase = run->phase_unit >= 0 ? run->plan->units[run->phase_unit].step : NULL;
    char text[256];
    if (run->has_told_cut || !run->observer->note || run->rank != (phase ? model_ranks_next(&phase->ranks, -1) : 0))
        return;
    run->has_told_cut = true;
    if (phase)
        snprintf(text, sizeof text,
                 "phase %d: time limit reached after %" PRId64 " of %" PRId64
                 " turns of a loop; its time is extended from these",
                 phase->phase, done, cut->loop->turns);
    else
        snprintf(text, sizeof text, "time limit reached after %" PRId64 " of %" PRId64 " turns of a loop", done,
                 cut->loop->turns);
    run->observer->note(run->observer->context, text);
}

void replay_cut_make_up(struct replay_run *run, const struct replay_cut *cut, int64_t done)
{
    const int64_t missing = cut->loop->turns - done;
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
    tell_once(run, cut, done);
}
