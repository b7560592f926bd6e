#include "replay/replay_sample.h"

#include "base/checked.h"
#include "mpi/coll.h"
#include "replay/replay_estimate.h"

#include <stdlib.h>

/* A loop whose rest takes less than this is done to its end: nothing tells as much as the whole. */
#define WORTH_NS INT64_C(10000000000)

static bool is_power_of_2(int64_t number)
{
    return number > 0 && (number & (number - 1)) == 0;
}

/* Are the slopes of all phases and calls of the loop known well enough? */
static bool is_sure(const struct replay_run *run, const struct model_step *step)
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
        if (!is_sure(run, &step->body[i]))
            return false;
    return true;
}

struct replay_wish replay_sample_wish(const struct replay_run *run, const struct replay_sampling *sampling)
{
    struct replay_wish wish = {.unsure = true};
    const int64_t turn = sampling->turn;
    if (turn > 0)
        wish.rest_ns = (replay_now_ns() - sampling->begin_ns) / turn * (sampling->turns - turn);
    if (is_power_of_2(turn) && !run->job->all)
        wish.unsure = !is_sure(run, sampling->loop->step);
    return wish;
}

bool replay_sample_is_enough(const struct replay_job *job, bool unsure, int64_t rest_ns, int64_t elapsed_ns)
{
    const bool late = job->limit_s > 0 && (double)(elapsed_ns + rest_ns) > job->limit_s * 1e9 &&
                      (double)elapsed_ns > job->limit_s * 0.5e9;
    return !job->all && rest_ns > 0 && ((!unsure && rest_ns > WORTH_NS) || late);
}

void replay_sample_pass(struct replay_run *run, const struct model_step *step, int64_t times, bool told)
{
    const bool tells = !told && (step->phase > 0 || step->kind != MODEL_LOOP);
    if (tells && !model_ranks_has(&step->ranks, run->rank))
        return;
    if (step->kind != MODEL_LOOP)
        run->done[step->leaf] += times;
    for (int i = 0; step->kind == MODEL_LOOP && i < step->count; i++)
        replay_sample_pass(run, &step->body[i], saturating_mul(times, step->turns), told || tells);
}

/* ---- filling ---- */

enum { REACH_LOOK = 1 << 16 };

struct missing {
    struct replay_run *run;
    const struct replay_file *file;
    int64_t end;
};

/* The farthest byte that `times` executions from now on would write to the file. */
static void reach(struct missing *missing, const struct model_step *step, int64_t times, bool told)
{
    const struct replay_run *run = missing->run;
    const bool tells = !told && (step->phase > 0 || step->kind != MODEL_LOOP);
    if (tells && !model_ranks_has(&step->ranks, run->rank))
        return;
    for (int i = 0; step->kind == MODEL_LOOP && i < step->count; i++)
        reach(missing, &step->body[i], saturating_mul(times, step->turns), told || tells);
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

static int last_leaf(const struct model_step *step)
{
    int last = step->kind == MODEL_LOOP ? -1 : step->leaf;
    for (int i = 0; step->kind == MODEL_LOOP && i < step->count; i++) {
        const int inside = last_leaf(&step->body[i]);
        last = inside > last ? inside : last;
    }
    return last;
}

static bool is_used_later(const struct replay_run *run, const struct replay_sampling *sampling, int file)
{
    const struct replay_file_facts *group = &run->plan->files[run->plan->files[file].group];
    return group->last_use > sampling->loop->last_leaf || run->depth > 1;
}

static void fill_coll(struct replay_run *run, const struct replay_sampling *sampling, struct replay_file *file,
                      int64_t missing_turns)
{
    struct missing missing = {.run = run, .file = file};
    const struct model_step *loop = sampling->loop->step;
    struct pl_error error;
    int64_t end = 0;
    int rank;
    for (int i = 0; i < loop->count; i++)
        reach(&missing, &loop->body[i], missing_turns, false);
    MPI_Allreduce(&missing.end, &end, 1, MPI_INT64_T, MPI_MAX, file->comm);
    MPI_Comm_rank(file->comm, &rank);
    if (end > 0 && rank == 0 && !replay_has_failed(run) && replay_place_fill(file->path, end, &error) != PL_OK)
        replay_note(run, loop, &error);
}

void replay_sample_fill(struct replay_run *run, const struct model_step *loop, int64_t missing_turns)
{
    struct pl_error error;
    for (struct replay_file *file = NULL; (file = replay_file_next(run, file));) {
        struct missing missing = {.run = run, .file = file};
        const struct replay_file_facts *group = &run->plan->files[run->plan->files[file->file].group];
        for (int i = 0; i < loop->count && group->last_use > last_leaf(loop); i++)
            reach(&missing, &loop->body[i], missing_turns, run->phase_unit >= 0);
        if (missing.end > 0 && !replay_has_failed(run) && replay_place_fill(file->path, missing.end, &error) != PL_OK)
            replay_note(run, loop, &error);
    }
}

void replay_sample_make_up_coll(struct replay_run *run, const struct replay_sampling *sampling, int64_t missing)
{
    const struct model_step *loop = sampling->loop->step;
    for (struct replay_file *file = NULL; (file = replay_file_next(run, file));)
        if (is_used_later(run, sampling, file->file))
            fill_coll(run, sampling, file, missing);
    for (int i = 0; i < loop->count; i++)
        replay_sample_pass(run, &loop->body[i], missing, false);
    MPI_Barrier(run->comm);
}
