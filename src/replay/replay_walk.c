/* The walk of a rank through the steps of a model. */
#include "replay/replay_cut.h"
#include "replay/replay_sample.h"

#include "mpi/coll.h"

#include <stdlib.h>
#include <string.h>

#define FLUSH_EVERY_NS INT64_C(2000000000)

/* ---- times ---- */

static int64_t since(const struct replay_run *run, int64_t now_ns)
{
    return now_ns - run->began_ns;
}

static void add_duration(struct replay_run *run, int unit, int64_t duration_ns)
{
    struct replay_measure *measure = &run->measures[unit];
    struct pl_error error;
    if (replay_has_failed(run)) {
        measure->is_cut = true;
        return;
    }
    if (measure->executed == measure->capacity) {
        const int64_t capacity = 2 * measure->capacity + 64;
        int64_t *durations = realloc(measure->durations, (size_t)capacity * sizeof *durations);
        if (!durations) {
            pl_fail(&error, PL_E_NOMEM, "not enough memory for the times of a phase");
            replay_note(run, run->plan->units[unit].step, &error);
            return;
        }
        measure->durations = durations;
        measure->capacity = capacity;
    }
    measure->durations[measure->executed++] = duration_ns;
}

void replay_walk_time(struct replay_run *run, const struct model_step *step, int64_t begin_ns, int64_t end_ns)
{
    const int unit = run->phase_unit >= 0 ? run->phase_unit : run->plan->unit_of_leaf[step->leaf];
    struct replay_measure *measure = &run->measures[unit];
    if (measure->begin_ns < 0)
        measure->begin_ns = since(run, begin_ns);
    measure->end_ns = since(run, end_ns) > measure->end_ns ? since(run, end_ns) : measure->end_ns;
    if (run->phase_unit >= 0)
        measure->sum_ns += end_ns - begin_ns;
    else
        add_duration(run, unit, end_ns - begin_ns);
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
static void change(struct replay_run *run, int64_t chunk)
{
    const int64_t words = run->buffer_bytes / (int64_t)sizeof(uint64_t);
    uint64_t *data = (uint64_t *)(void *)run->buffers[0];
    for (int64_t i = 0; i < chunk; i++) {
        data[run->changed] += 0x9e3779b97f4a7c15u;
        run->changed = run->changed + 1 < words ? run->changed + 1 : 0;
    }
}

/* As a program that computes between its outputs: the data are new, and near. */
static void make_data(struct replay_run *run)
{
    if (!run->is_stale || run->buffer_count == 0)
        return;
    run->changed = 0;
    change(run, run->fresh_bytes / (int64_t)sizeof(uint64_t));
    run->is_stale = false;
}

/* The program computed for so long before this call or communication, on the average. Computing, not sleeping: it keeps
 * the data near and the core busy. Time of the processor counts: ranks that share a core compute one after the other,
 * and those that are done wait, as in the program. */
static void pace(struct replay_run *run, const struct model_step *step)
{
    enum { CHUNK = 512 };
    if (run->job->pace == REPLAY_FAST || step->observed.calls < 1)
        return;
    int64_t gap = (int64_t)(step->observed.gap_ns / (double)step->observed.calls);
    if (run->job->pace == REPLAY_SHORT && gap > REPLAY_SHORT_NS)
        gap = REPLAY_SHORT_NS;
    while (replay_computed_ns() - run->idle_ns < gap)
        change(run, CHUNK);
}

static void flush_coll(struct replay_run *run, int64_t elapsed_ns)
{
    struct pl_error error;
    if (!run->aligned || run->depth > 0 || elapsed_ns - run->flushed_ns < FLUSH_EVERY_NS)
        return;
    run->flushed_ns = elapsed_ns;
    if (replay_write_units_coll(run, run->finished_units, &error) != PL_OK)
        replay_note(run, NULL, &error);
    MPI_Barrier(run->comm); /* as it was before */
}

/* All ranks learn whether somebody has failed, and whether a loop goes on. `step`: told where all are at the same. */
static void meet_coll(struct replay_run *run, const struct model_step *step)
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
        if (run->rank == 0 && run->observer->note)
            run->observer->note(run->observer->context,
                                "time limit reached in a loop of which no turn may be left out: what was measured "
                                "until then is kept, the rest of the program was not replayed");
    }
    if (decides && replay_sample_is_enough(run->job, most[1] != 0, most[2], most[3]))
        sampling->turns = sampling->turn + 1;
    if (step && !run->stopped)
        flush_coll(run, most[3]);
    if (step && run->rank == 0 && run->observer->progress)
        run->observer->progress(run->observer->context, run->repetition,
                                run->finished_units < run->plan->unit_count ? &run->plan->units[run->finished_units]
                                                                            : NULL,
                                (double)most[3] * 1e-9);
}

static void comm_step_coll(struct replay_run *run, const struct model_step *step)
{
    replay_call_flush(run);
    make_data(run);
    pace(run, step);
    run->done[step->leaf]++;
    run->late_ns = 0;
    if (run->aligned && replay_plan_is_world(run->model, step))
        meet_coll(run, step);
    else /* ranks that do different steps find together by the number of collectives: not one may be left out */
        for (int64_t i = 0; i < step->collectives && !run->stopped; i++)
            meet_coll(run, NULL);
    run->idle_ns = replay_computed_ns();
}

/* ---- phases ---- */

static bool reads_file(const struct model_step *step, int file)
{
    for (int i = 0; step->kind == MODEL_LOOP && i < step->count; i++)
        if (reads_file(&step->body[i], file))
            return true;
    return step->kind == MODEL_CALL && step->file == file && model_operation_of(step->operation).reads;
}

/* Where all ranks come at the same time one of a file's drops its pages, else each does, as it comes. */
static void cool_coll(struct replay_run *run, const struct model_step *step)
{
    const bool together = run->aligned && replay_plan_is_world(run->model, step);
    struct pl_error error;
    for (struct replay_file *file = NULL; (file = replay_file_next(run, file));) {
        int rank;
        MPI_Comm_rank(file->comm, &rank);
        if ((!together || rank == 0) && reads_file(step, file->file) && replay_place_drop(file->path, &error) != PL_OK)
            replay_note(run, step, &error);
    }
    if (together)
        MPI_Barrier(run->comm);
}

static void do_step_coll(struct replay_run *run, const struct model_step *step, bool told);

static void phase_step_coll(struct replay_run *run, const struct model_step *step)
{
    const int unit = run->plan->unit_of_phase[step->phase];
    replay_call_flush(run);
    if (!run->plan->units[unit].selected) {
        replay_sample_pass(run, step, 1, false);
        return;
    }
    if (run->job->cold && run->plan->units[unit].phase->read_bytes > 0)
        cool_coll(run, step);
    run->measures[unit].sum_ns = 0;
    run->phase_unit = unit;
    do_step_coll(run, step, true);
    run->phase_unit = -1;
    add_duration(run, unit, run->measures[unit].sum_ns);
}

/* ---- loops ---- */

static void turns_coll(struct replay_run *run, const struct model_step *step, bool told)
{
    struct replay_cut cut;
    int64_t turn = 0;
    replay_cut_begin(run, step, run->phase_unit >= 0 ? run->plan->units[run->phase_unit].step : NULL, &cut);
    for (; turn < step->turns && !run->stopped; turn++) {
        if (turn > 0 && replay_cut_is_due_coll(run, &cut, turn))
            break;
        if (turn == 1 && !cut.is_possible && run->phase_unit < 0)
            run->whole_loops++;
        for (int i = 0; i < step->count && !run->stopped; i++)
            do_step_coll(run, &step->body[i], told);
    }
    if (turn > 1 && !cut.is_possible && run->phase_unit < 0)
        run->whole_loops--;
    if (turn < step->turns && !run->stopped)
        replay_cut_make_up(run, &cut, turn);
}

static void sampled_coll(struct replay_run *run, const struct replay_loop *loop)
{
    struct replay_sampling sampling = {
        .loop = loop, .around = run->sampling, .turns = loop->step->turns, .begin_ns = replay_now_ns()};
    run->sampling = &sampling;
    for (; sampling.turn < sampling.turns && !run->stopped; sampling.turn++)
        for (int i = 0; i < loop->step->count && !run->stopped; i++)
            do_step_coll(run, &loop->step->body[i], false);
    run->sampling = sampling.around;
    if (!run->stopped && sampling.turns < loop->step->turns)
        replay_sample_make_up_coll(run, &sampling, loop->step->turns - sampling.turns);
}

static void loop_step_coll(struct replay_run *run, const struct model_step *step, bool told)
{
    const struct replay_loop *loop = run->phase_unit < 0 && run->aligned ? replay_plan_loop(run->plan, step) : NULL;
    run->depth += run->phase_unit < 0;
    if (loop)
        sampled_coll(run, loop);
    else
        turns_coll(run, step, told);
    run->depth -= run->phase_unit < 0;
}

/* ---- steps ---- */

/* `told`: who does it is told around; else the step tells. */
static void do_step_coll(struct replay_run *run, const struct model_step *step, bool told)
{
    const bool tells = !told && (step->phase > 0 || step->kind != MODEL_LOOP);
    if (tells && !model_ranks_has(&step->ranks, run->rank))
        return;
    if (step->phase > 0 && run->phase_unit < 0) {
        phase_step_coll(run, step);
    } else if (step->kind == MODEL_COMM) {
        comm_step_coll(run, step);
    } else if (step->kind == MODEL_LOOP) {
        loop_step_coll(run, step, told || tells);
    } else {
        if (!run->plan->operations[step->leaf]->gathers)
            replay_call_flush(run); /* the program computed behind its wait */
        pace(run, step);
        run->calls++;
        replay_call_do(run, step, run->done[step->leaf]++);
        run->idle_ns = replay_computed_ns();
    }
}

static int units_in(const struct replay_plan *plan, const struct model_step *step)
{
    if (step->phase > 0 || step->kind == MODEL_CALL)
        return 1;
    int units = 0;
    for (int i = 0; step->kind == MODEL_LOOP && i < step->count; i++)
        units += units_in(plan, &step->body[i]);
    return units;
}

void replay_walk_coll(struct replay_run *run)
{
    for (int i = 0; i < run->model->step_count && !run->stopped; i++) {
        do_step_coll(run, &run->model->steps[i], false);
        run->finished_units += run->stopped ? 0 : units_in(run->plan, &run->model->steps[i]);
    }
    replay_call_flush(run);
}
