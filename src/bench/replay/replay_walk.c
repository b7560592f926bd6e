/* The walk of a rank through the steps of a model. */
#include "bench/replay/replay_run.h"

#include "base/array.h"
#include "mpi/coll.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_EVERY_NS INT64_C(2000000000)

/* ---- times ---- */

static int64_t walk_since(const struct replay_run *run, int64_t now_ns)
{
    return now_ns - run->began_ns;
}

static void walk_add_duration(struct replay_run *run, int unit, int64_t duration_ns)
{
    assert(unit >= 0 && unit < run->plan->unit_count);
    struct replay_measure *measure = &run->measures[unit];
    struct pl_error error;
    if (replay_has_failed(run)) {
        measure->is_cut = true;
        return;
    }
    if (!ARRAY_ROOM(measure->durations, measure->executed, measure->capacity, 64)) {
        pl_fail(&error, PL_E_NOMEM, "not enough memory for the times of a phase");
        replay_note(run, run->plan->units[unit].step, &error);
        return;
    }
    measure->durations[measure->executed++] = duration_ns;
}

void replay_walk_time(struct replay_run *run, const struct model_step *step, int64_t begin_ns, int64_t end_ns)
{
    const int unit = run->phase_unit >= 0 ? run->phase_unit : run->plan->unit_of_leaf[step->leaf];
    assert(unit >= 0 && unit < run->plan->unit_count && end_ns >= begin_ns);
    struct replay_measure *measure = &run->measures[unit];
    if (measure->begin_ns < 0)
        measure->begin_ns = walk_since(run, begin_ns);
    measure->end_ns = walk_since(run, end_ns) > measure->end_ns ? walk_since(run, end_ns) : measure->end_ns;
    if (run->phase_unit >= 0)
        measure->sum_ns += end_ns - begin_ns;
    else
        walk_add_duration(run, unit, end_ns - begin_ns);
}

void replay_note(struct replay_run *run, const struct model_step *step, const struct pl_error *error)
{
    if (replay_has_failed(run))
        return;
    run->failure = *error;
    if (run->phase_unit >= 0)
        pl_within(&run->failure, "phase %d", run->plan->units[run->phase_unit].step->phase);
    else if (step && step->kind == MODEL_CALL)
        pl_within(&run->failure, "step %d, %s", step->leaf + 1, step->operation);
}

/* ---- meetings ---- */

/* A step of `chunk` words of the data that are written next. */
static void walk_change(struct replay_run *run, int64_t chunk)
{
    const int64_t words = run->buffer_bytes / (int64_t)sizeof(uint64_t);
    uint64_t *data = (uint64_t *)(void *)run->buffers[0];
    for (int64_t i = 0; i < chunk; i++) {
        data[run->changed] += 0x9e3779b97f4a7c15u;
        run->changed = run->changed + 1 < words ? run->changed + 1 : 0;
    }
}

/* As a program that computes between its outputs: the data are new, and near. */
static void walk_make_data(struct replay_run *run)
{
    if (!run->is_stale || run->buffer_count == 0)
        return;
    run->changed = 0;
    walk_change(run, run->fresh_bytes / (int64_t)sizeof(uint64_t));
    run->is_stale = false;
}

/* Computes for so long, from the end of the last call or communication on. Computing, not sleeping: it keeps the data
 * near and the core busy. Time of the processor counts: ranks that share a core compute one after the other, and those
 * that are done wait, as in the program. The kernel has to be asked for it: where the replay itself has taken as long,
 * it is not. */
static void walk_compute(struct replay_run *run, int64_t gap)
{
    enum { CHUNK = 512, OWN_MOST_NS = 20000 };
    if (run->job->pace == REPLAY_SHORT && gap > REPLAY_SHORT_NS)
        gap = REPLAY_SHORT_NS;
    const int64_t own = replay_now_ns() - run->idle_ns;
    gap -= own < OWN_MOST_NS ? own : OWN_MOST_NS;
    if (gap <= 0)
        return;
    for (const int64_t begin = replay_computed_ns(); replay_computed_ns() - begin < gap;)
        walk_change(run, CHUNK);
}

/* How long the program computed before such a call or communication, on the average. */
static double walk_gap_of(const struct replay_run *run, const struct model_step *step)
{
    if (run->job->pace == REPLAY_FAST || step->observed.calls < 1)
        return 0;
    return step->observed.gap_ns / (double)step->observed.calls;
}

/* A mean below this is that of calls which follow each other at once, and of computing before the first of them. */
#define WALK_APART_NS 1e6

static void walk_pace(struct replay_run *run, const struct model_step *step)
{
    const double gap = walk_gap_of(run, step);
    if (run->phase_unit < 0 || step->kind != MODEL_CALL || gap >= WALK_APART_NS)
        walk_compute(run, (int64_t)gap);
}

/* Of the calls in a phase that follow each other at once, all computing: it comes before the phase. Between the calls
 * it would drive their data out of the caches, and make of a burst that fits into a slice of time one that does not. */
static double walk_gap_before(const struct replay_run *run, const struct model_step *step)
{
    double sum = 0;
    for (int i = 0; step->kind == MODEL_LOOP && i < step->count; i++)
        sum += (double)step->turns * walk_gap_before(run, &step->body[i]);
    const double gap = step->kind == MODEL_CALL ? walk_gap_of(run, step) : 0;
    return sum + (gap < WALK_APART_NS ? gap : 0);
}

/* The same of all ranks and executions, where their number is not the product of the turns around. */
static double walk_gap_all(const struct replay_run *run, const struct model_step *step)
{
    double sum = step->kind == MODEL_CALL && walk_gap_of(run, step) < WALK_APART_NS ? walk_gap_of(run, step) : 0;
    sum *= (double)step->observed.calls;
    for (int i = 0; step->kind == MODEL_LOOP && i < step->count; i++)
        sum += walk_gap_all(run, &step->body[i]);
    return sum;
}

/* The program's computing before communication of many calls was in pieces: between them its ranks waited for their
 * neighbours. So they do here, or a rank would come to its next access with its slice of the processor's time used up,
 * and be interrupted in the middle of it, and ranks would be apart that the program kept together. */
static void walk_compute_apart_coll(struct replay_run *run, const struct model_step *step)
{
    enum { EVENTS = 4 /* of an exchange: its begin, its end, on both sides */, PIECES_MOST = 256 };
    const double gap = walk_gap_of(run, step);
    const double events = step->observed.calls > 0 ? step->observed.events / (double)step->observed.calls : 0;
    const int pieces = gap <= 0 ? 0 : events / EVENTS < PIECES_MOST ? (int)(events / EVENTS) : PIECES_MOST;
    const int right = (run->rank + 1) % run->ranks, left = (run->rank + run->ranks - 1) % run->ranks;
    double rest = run->job->pace == REPLAY_SHORT && gap > REPLAY_SHORT_NS ? REPLAY_SHORT_NS : gap;
    for (int i = pieces; i > 1; i--) {
        int64_t mine = i, other;
        walk_compute(run, (int64_t)(rest / i));
        rest -= rest / i;
        MPI_Sendrecv(&mine, 1, MPI_INT64_T, right, 0, &other, 1, MPI_INT64_T, left, 0, run->comm, MPI_STATUS_IGNORE);
        assert(other == mine); /* of the model, and so the same on all ranks */
        run->idle_ns = replay_now_ns();
    }
    walk_compute(run, (int64_t)rest);
}

static void walk_flush_coll(struct replay_run *run, int64_t elapsed_ns)
{
    struct pl_error error;
    if (!run->aligned || run->depth > 0 || elapsed_ns - run->flushed_ns < FLUSH_EVERY_NS)
        return;
    run->flushed_ns = elapsed_ns;
    if (replay_write_units_coll(run, run->finished_units, &error) != PL_OK)
        replay_note(run, NULL, &error);
    MPI_Barrier(run->comm); /* as it was before */
}

/* Outside of timed intervals: how much of the repetition is done, by its calls or by its time limit. */
static void walk_tell_progress(struct replay_run *run, double elapsed_s)
{
    char name[64] = "";
    const double by_calls = run->all_calls > 0 ? (double)run->calls / (double)run->all_calls : 0;
    const double by_limit = run->job->limit_s > 0 ? elapsed_s / run->job->limit_s : 0;
    if (run->finished_units < run->plan->unit_count)
        replay_unit_name(&run->plan->units[run->finished_units], name, sizeof name);
    lab_part(run->lab, fmin(fmax(by_calls, by_limit), 1), name);
}

/* All ranks learn whether somebody has failed, and whether a loop goes on. `step`: told where all are at the same. */
static void walk_meet_coll(struct replay_run *run, const struct model_step *step)
{
    struct replay_sampling *sampling = run->sampling;
    int64_t mine[5] = {replay_has_failed(run), 0, 0, replay_now_ns() - run->repetition_ns,
                       run->whole_loops > 0 && replay_cut_is_late(run)};
    int64_t most[5];
    const bool decides = step && sampling && sampling->loop->meeting == step;
    if (decides) {
        const struct replay_wish wish = replay_sample_wish(run, sampling);
        mine[1] = wish.unsure;
        mine[2] = wish.rest_ns;
    }
    MPI_Allreduce(mine, most, 5, MPI_INT64_T, MPI_MAX, run->comm);
    run->stopped |= most[0] != 0;
    if (most[4] && !run->stopped) { /* in a loop that nobody may leave: all end here */
        run->stopped = true;
        lab_warn(run->lab, "note: time limit reached in a loop of which no turn may be left out: what was measured "
                           "until then is kept, the rest of the program was not replayed");
    }
    if (decides && replay_sample_is_enough(run->job, most[1] != 0, most[2], most[3]))
        sampling->turns = sampling->turn + 1;
    assert(run->finished_units <= run->plan->unit_count);
    if (step && !run->stopped)
        walk_flush_coll(run, most[3]);
    if (step && run->rank == 0)
        walk_tell_progress(run, (double)most[3] * 1e-9);
}

/* Where the ranks meet, they meet before the computing if the program had no collective there: an access would find
 * them nearer together than the program's, and with less right to the processor, for they have yielded while they
 * waited. */
static void walk_comm_step_coll(struct replay_run *run, const struct model_step *step)
{
    replay_call_flush(run);
    walk_make_data(run);
    const int64_t n = run->done[step->leaf]++, collectives = model_collectives(step, run->rank, n);
    assert(collectives >= 0);
    run->late_ns = 0;
    const bool free = run->phase_unit >= 0 && model_is_free(run->plan->units[run->phase_unit].step);
    if (!run->aligned || free || !replay_plan_is_world(run->model, step)) {
        walk_pace(run, step);
        /* ranks that do different steps find together by the number of collectives: not one may be left out */
        for (int64_t i = 0; i < collectives && !run->stopped; i++)
            walk_meet_coll(run, NULL);
    } else if (run->phase_unit >= 0) {
        walk_compute_apart_coll(run, step);
        if (collectives > 0)
            walk_meet_coll(run, NULL);
    } else if (model_collectives(step, 0, n) > 0) { /* as all ranks see it */
        walk_compute_apart_coll(run, step);
        walk_meet_coll(run, step);
    } else {
        walk_meet_coll(run, step);
        run->idle_ns = replay_now_ns();
        walk_compute_apart_coll(run, step);
    }
    run->idle_ns = replay_now_ns();
}

/* ---- phases ---- */

static bool walk_reads_file(const struct model_step *step, int file)
{
    for (int i = 0; step->kind == MODEL_LOOP && i < step->count; i++)
        if (walk_reads_file(&step->body[i], file))
            return true;
    return step->kind == MODEL_CALL && step->file == file && model_operation_of(step->operation).reads;
}

/* Where all ranks come at the same time one of a file's drops its pages, else each does, as it comes. */
static void walk_cool_coll(struct replay_run *run, const struct model_step *step)
{
    const bool together = run->aligned && replay_plan_is_world(run->model, step);
    struct pl_error error;
    for (struct replay_file *file = NULL; (file = replay_file_next(run, file));) {
        int rank;
        MPI_Comm_rank(file->comm, &rank);
        if ((!together || rank == 0) && walk_reads_file(step, file->file) &&
            replay_place_drop(file->path, &error) != PL_OK)
            replay_note(run, step, &error);
    }
    if (together)
        MPI_Barrier(run->comm);
}

static void walk_do_step_coll(struct replay_run *run, const struct model_step *step, bool told);

static void walk_phase_step_coll(struct replay_run *run, const struct model_step *step)
{
    const int unit = run->plan->unit_of_phase[step->phase];
    replay_call_flush(run);
    if (!run->plan->units[unit].selected) {
        replay_sample_pass(run, step, 1, false);
        return;
    }
    if (run->job->cold && run->plan->units[unit].phase->read_bytes > 0)
        walk_cool_coll(run, step);
    assert(run->phase_unit < 0 && run->plan->units[unit].step == step);
    const struct model_phase_facts *facts = run->plan->units[unit].phase;
    walk_compute(run, (int64_t)(model_is_free(step)
                                    ? walk_gap_all(run, step) / ((double)facts->count * (double)facts->processes)
                                    : walk_gap_before(run, step)));
    run->measures[unit].sum_ns = 0;
    run->phase_unit = unit;
    walk_do_step_coll(run, step, true);
    replay_call_flush(run); /* a wait that ends the phase is the phase's */
    assert(run->phase_unit == unit);
    run->phase_unit = -1;
    walk_add_duration(run, unit, run->measures[unit].sum_ns);
}

/* ---- loops ---- */

static void walk_turns_coll(struct replay_run *run, const struct model_step *step, bool told)
{
    struct replay_cut cut;
    const int64_t turns = model_turns(step, run->rank, run->done[run->model->leaf_count + step->loop]++);
    int64_t turn = 0;
    replay_cut_begin(run, step, turns, run->phase_unit >= 0 ? run->plan->units[run->phase_unit].step : NULL, &cut);
    for (; turn < turns && !run->stopped; turn++) {
        if (turn > 0 && replay_cut_is_due_coll(run, &cut, turn))
            break;
        if (turn == 1 && !cut.is_possible && run->phase_unit < 0)
            run->whole_loops++;
        for (int i = 0; i < step->count && !run->stopped; i++)
            walk_do_step_coll(run, &step->body[i], told);
    }
    if (turn > 1 && !cut.is_possible && run->phase_unit < 0)
        run->whole_loops--;
    if (turn < turns && !run->stopped)
        replay_cut_make_up(run, &cut, turn);
}

static void walk_sampled_coll(struct replay_run *run, const struct replay_loop *loop)
{
    struct replay_sampling sampling = {
        .loop = loop, .around = run->sampling, .turns = loop->step->turns, .begin_ns = replay_now_ns()};
    run->sampling = &sampling;
    for (; sampling.turn < sampling.turns && !run->stopped; sampling.turn++)
        for (int i = 0; i < loop->step->count && !run->stopped; i++)
            walk_do_step_coll(run, &loop->step->body[i], false);
    assert(run->sampling == &sampling && sampling.turns <= loop->step->turns);
    run->sampling = sampling.around;
    if (!run->stopped && sampling.turns < loop->step->turns)
        replay_sample_make_up_coll(run, &sampling, loop->step->turns - sampling.turns);
}

static void walk_loop_step_coll(struct replay_run *run, const struct model_step *step, bool told)
{
    const struct replay_loop *loop = run->phase_unit < 0 && run->aligned ? replay_plan_loop(run->plan, step) : NULL;
    run->depth += run->phase_unit < 0;
    if (loop)
        walk_sampled_coll(run, loop);
    else
        walk_turns_coll(run, step, told);
    run->depth -= run->phase_unit < 0;
    assert(run->depth >= 0);
}

/* ---- steps ---- */

/* `told`: who does it is told around; else the step tells. */
static void walk_do_step_coll(struct replay_run *run, const struct model_step *step, bool told)
{
    const bool tells = !told && (step->phase > 0 || step->kind != MODEL_LOOP);
    if (tells && !model_ranks_has(&step->ranks, run->rank))
        return;
    if (step->phase > 0 && run->phase_unit < 0) {
        walk_phase_step_coll(run, step);
    } else if (step->kind == MODEL_COMM) {
        walk_comm_step_coll(run, step);
    } else if (step->kind == MODEL_LOOP) {
        walk_loop_step_coll(run, step, told || tells);
    } else {
        if (!run->plan->operations[step->leaf]->gathers)
            replay_call_flush(run); /* the program computed behind its wait */
        walk_pace(run, step);
        run->calls++;
        replay_call_do(run, step, run->done[step->leaf]++);
        run->idle_ns = replay_now_ns();
    }
}

static int walk_units_in(const struct replay_plan *plan, const struct model_step *step)
{
    if (step->phase > 0 || step->kind == MODEL_CALL)
        return 1;
    int units = 0;
    for (int i = 0; step->kind == MODEL_LOOP && i < step->count; i++)
        units += walk_units_in(plan, &step->body[i]);
    return units;
}

void replay_walk_coll(struct replay_run *run)
{
    for (int i = 0; i < run->model->step_count && !run->stopped; i++) {
        walk_do_step_coll(run, &run->model->steps[i], false);
        run->finished_units += run->stopped ? 0 : walk_units_in(run->plan, &run->model->steps[i]);
    }
    replay_call_flush(run);
}
