/* Models by hand may open files with ranks that never come, or make ranks part ways: they would wait for each other. */
#include "replay/replay_run.h"

static bool opens_file(const struct model_step *steps, int count, int file, int rank)
{
    for (int i = 0; i < count; i++) {
        if (steps[i].kind == MODEL_LOOP && opens_file(steps[i].body, steps[i].count, file, rank))
            return true;
        if (steps[i].kind == MODEL_CALL && steps[i].name && steps[i].file == file &&
            model_ranks_has(&steps[i].ranks, rank))
            return true;
    }
    return false;
}

static pl_status check_members(const struct replay_run *run, const struct model_step *step,
                               const struct replay_open *open, struct pl_error *error)
{
    for (int i = 0; i < open->ranks; i++)
        if (!opens_file(run->model->steps, run->model->step_count, step->file, replay_open_member(open, i)))
            return pl_fail(error, PL_E_FORMAT, "step %d: rank %d opens file %d together with rank %d, which never does",
                           step->leaf + 1, run->rank, step->file + 1, replay_open_member(open, i));
    return PL_OK;
}

static pl_status parse_open(const struct replay_run *run, const struct model_step *step, struct replay_open *open,
                            struct pl_error *error)
{
    struct text detail = {0};
    pl_status status = model_render(step->detail, run->rank, 0, &detail, error);
    if (status == PL_OK)
        status = replay_open_parse(text_get(&detail), run->rank, run->ranks, open, error);
    text_clear(&detail);
    return status;
}

pl_status replay_check_members(const struct replay_run *run, const struct model_step *steps, int count,
                               struct pl_error *error)
{
    pl_status status = PL_OK;
    for (int i = 0; i < count && status == PL_OK; i++) {
        struct replay_open open = {0};
        if (steps[i].kind == MODEL_LOOP && steps[i].phase == 0)
            status = replay_check_members(run, steps[i].body, steps[i].count, error);
        if (steps[i].kind != MODEL_CALL || !steps[i].name || !model_ranks_has(&steps[i].ranks, run->rank))
            continue;
        status = parse_open(run, &steps[i], &open, error);
        if (status == PL_OK)
            status = check_members(run, &steps[i], &open, error);
        replay_open_clear(&open);
    }
    return status;
}

/* Whether the ranks that open a file together will make the same collective calls on it. */
static void check_calls_coll(struct replay_run *run, const struct model_step *step, struct pl_error *error)
{
    struct replay_open open = {0};
    MPI_Comm comm;
    int64_t most[2];
    if (parse_open(run, step, &open, error) == PL_OK && replay_file_comm_coll(run, &open, &comm, error) == PL_OK) {
        const int64_t order = (int64_t)(replay_plan_order(run->model, run->rank, step->file) >> 1);
        const int64_t mine[2] = {order, -order};
        MPI_Allreduce(mine, most, 2, MPI_INT64_T, MPI_MAX, comm);
        if (most[0] != -most[1] && error->status == PL_OK)
            pl_fail(error, PL_E_FORMAT,
                    "step %d: the ranks that open '%s' make different collective calls on it: they would wait for each "
                    "other for ever%s",
                    step->leaf + 1, step->name,
                    run->model->failed_calls > 0 ? " (calls that failed in the program are not in the model)" : "");
    }
    replay_open_clear(&open);
}

void replay_check_calls_coll(struct replay_run *run, const struct model_step *steps, int count, struct pl_error *error)
{
    for (int i = 0; i < count; i++) {
        if (steps[i].kind == MODEL_LOOP && steps[i].phase == 0)
            replay_check_calls_coll(run, steps[i].body, steps[i].count, error);
        if (steps[i].kind == MODEL_CALL && steps[i].name && model_ranks_has(&steps[i].ranks, run->rank))
            check_calls_coll(run, &steps[i], error);
    }
}
