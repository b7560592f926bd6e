#include "replay/replay_plan.h"

#include "replay/replay_detail.h"
#include "replay/replay_operation.h"

#include "base/checked.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

struct build {
    struct replay_plan *plan;
    int unit_room, loop_room;
    struct pl_error *error;
};

void replay_plan_clear(struct replay_plan *plan)
{
    model_facts_clear(&plan->facts);
    free(plan->units);
    free(plan->unit_of_leaf);
    free(plan->unit_of_phase);
    free(plan->phase_of_leaf);
    free(plan->loops);
    free(plan->files);
    free(plan->operations);
    *plan = (struct replay_plan){0};
}

bool replay_plan_is_world(const struct model *model, const struct model_step *step)
{
    return model_ranks_total(&step->ranks) == model->ranks;
}

const struct replay_loop *replay_plan_loop(const struct replay_plan *plan, const struct model_step *step)
{
    for (int i = 0; i < plan->loop_count; i++)
        if (plan->loops[i].step == step)
            return &plan->loops[i];
    return NULL;
}

/* ---- units and files ---- */

static pl_status add_unit(struct build *build, struct replay_unit unit)
{
    struct replay_plan *plan = build->plan;
    if (plan->unit_count == build->unit_room) {
        const int room = 2 * build->unit_room + 16;
        struct replay_unit *units = realloc(plan->units, (size_t)room * sizeof *units);
        if (!units)
            return pl_fail(build->error, PL_E_NOMEM, "not enough memory for a plan");
        plan->units = units;
        build->unit_room = room;
    }
    plan->units[plan->unit_count++] = unit;
    return PL_OK;
}

static void note_open(struct replay_plan *plan, const struct model_step *step)
{
    struct replay_file_facts *file = &plan->files[step->file];
    if ((file->name && *file->name) || !step->name)
        return;
    file->name = step->name;
    file->creates = step->detail && strstr(step->detail, "create");
    for (int i = 0; i < plan->model->file_count; i++)
        if (i != step->file && strcmp(plan->files[i].name, step->name) == 0) {
            file->group = plan->files[i].group;
            break;
        }
}

static void note_use(struct replay_plan *plan, const struct model_step *step)
{
    if (step->file < 0)
        return;
    struct replay_file_facts *group = &plan->files[plan->files[step->file].group];
    const struct model_operation is = model_operation_of(step->operation);
    if (step->access && is.writes && step->leaf < group->first_write)
        group->first_write = step->leaf;
    group->last_use = step->leaf;
}

static pl_status check_call(const struct model_step *step, const struct replay_operation *operation,
                            struct pl_error *error)
{
    const int number = step->leaf + 1;
    if (!operation)
        return pl_fail(error, PL_E_FORMAT, "step %d: '%s' is no operation that can be replayed", number,
                       step->operation);
    if (operation->needs_file && step->file < 0)
        return pl_fail(error, PL_E_FORMAT, "step %d: %s: file= is missing", number, step->operation);
    if (operation->needs_number && !step->offset.text)
        return pl_fail(error, PL_E_FORMAT, "step %d: %s: offset= is missing; an older model must be made again", number,
                       step->operation);
    if (operation->is_access != step->access)
        return pl_fail(error, PL_E_FORMAT, "step %d: %s: size= is %s", number, step->operation,
                       step->access ? "not allowed" : "missing");
    if (operation->kind == REPLAY_OPEN && !step->name)
        return pl_fail(error, PL_E_FORMAT, "step %d: open: name= is missing", number);
    if ((operation->kind == REPLAY_OPEN || operation->kind == REPLAY_SET_VIEW || operation->kind == REPLAY_DELETE) &&
        !step->detail)
        return pl_fail(error, PL_E_FORMAT, "step %d: %s: with= is missing", number, step->operation);
    return PL_OK;
}

static pl_status plan_call(struct build *build, const struct model_step *step, int phase, int64_t count)
{
    struct replay_plan *plan = build->plan;
    const struct replay_operation *operation = replay_operation_find(step->operation);
    plan->operations[step->leaf] = operation;
    if (check_call(step, operation, build->error) != PL_OK)
        return build->error->status;
    plan->phase_of_leaf[step->leaf] = phase;
    if (operation->kind == REPLAY_OPEN)
        note_open(plan, step);
    if (operation->kind == REPLAY_DELETE)
        plan->last_delete = step->leaf;
    note_use(plan, step);
    if (phase > 0)
        return PL_OK;
    plan->unit_of_leaf[step->leaf] = plan->unit_count;
    return add_unit(build, (struct replay_unit){.step = step, .count = count, .selected = true});
}

static pl_status plan_steps(struct build *build, const struct model_step *steps, int count, int phase, int64_t turns)
{
    pl_status status = PL_OK;
    for (int i = 0; i < count && status == PL_OK; i++) {
        const struct model_step *step = &steps[i];
        if (step->phase > 0) {
            const struct model_phase_facts *facts = &build->plan->facts.phases[step->phase - 1];
            build->plan->unit_of_phase[step->phase] = build->plan->unit_count;
            status = add_unit(
                build, (struct replay_unit){.step = step, .phase = facts, .count = facts->count, .selected = true});
        }
        if (status == PL_OK && step->kind == MODEL_CALL)
            status = plan_call(build, step, step->phase > 0 ? step->phase : phase, turns);
        else if (status == PL_OK && step->kind == MODEL_LOOP)
            status = plan_steps(build, step->body, step->count, step->phase > 0 ? step->phase : phase,
                                saturating_mul(turns, step->turns));
    }
    return status;
}

/* ---- loops that may be sampled ---- */

struct look {
    const struct replay_plan *plan;
    int first_leaf, last_leaf;
    bool is_possible;
};

/* The place of a shared pointer cannot be made up for; files that were not made could be wanted later. */
static void look_at(struct look *look, const struct model_step *steps, int count)
{
    for (int i = 0; i < count; i++) {
        const struct model_step *step = &steps[i];
        if (step->kind == MODEL_LOOP) {
            look_at(look, step->body, step->count);
            continue;
        }
        look->first_leaf = step->leaf < look->first_leaf ? step->leaf : look->first_leaf;
        look->last_leaf = step->leaf > look->last_leaf ? step->leaf : look->last_leaf;
        if (step->kind == MODEL_CALL && step->access && model_operation_of(step->operation).pointer == MODEL_SHARED)
            look->is_possible = false;
    }
}

static bool opens_are_private(const struct look *look, const struct model_step *steps, int count)
{
    for (int i = 0; i < count; i++) {
        const struct model_step *step = &steps[i];
        if (step->kind == MODEL_LOOP && !opens_are_private(look, step->body, step->count))
            return false;
        if (step->kind != MODEL_CALL || !step->name)
            continue;
        const struct replay_file_facts *group = &look->plan->files[look->plan->files[step->file].group];
        if (group->last_use > look->last_leaf || look->plan->last_delete > look->last_leaf)
            return false;
    }
    return true;
}

bool replay_plan_is_private(const struct replay_plan *plan, const struct model_step *loop)
{
    struct look look = {plan, plan->model->leaf_count, -1, true};
    look_at(&look, loop->body, loop->count);
    return opens_are_private(&look, loop->body, loop->count);
}

static const struct model_step *meeting_of(const struct model *model, const struct model_step *loop)
{
    for (int i = 0; i < loop->count; i++)
        if (loop->body[i].kind == MODEL_COMM && loop->body[i].collectives > 0 &&
            replay_plan_is_world(model, &loop->body[i]))
            return &loop->body[i];
    return NULL;
}

static pl_status plan_loops(struct build *build, const struct model_step *steps, int count)
{
    struct replay_plan *plan = build->plan;
    for (int i = 0; i < count; i++) {
        const struct model_step *step = &steps[i];
        if (step->kind != MODEL_LOOP || step->phase > 0)
            continue;
        struct look look = {plan, plan->model->leaf_count, -1, true};
        const struct model_step *meeting = meeting_of(plan->model, step);
        look_at(&look, step->body, step->count);
        if (meeting && look.is_possible && opens_are_private(&look, step->body, step->count)) {
            struct replay_loop *loops = realloc(plan->loops, ((size_t)plan->loop_count + 1) * sizeof *loops);
            if (!loops)
                return pl_fail(build->error, PL_E_NOMEM, "not enough memory for a plan");
            plan->loops = loops;
            loops[plan->loop_count++] = (struct replay_loop){step, meeting, look.first_leaf, look.last_leaf};
        }
        const pl_status status = plan_loops(build, step->body, step->count);
        if (status != PL_OK)
            return status;
    }
    return PL_OK;
}

/* ---- the whole ---- */

static pl_status select_phases(struct replay_plan *plan, const int *phases, int count, struct pl_error *error)
{
    plan->chosen = count > 0;
    for (int i = 0; i < plan->unit_count && plan->chosen; i++)
        plan->units[i].selected = !plan->units[i].phase;
    for (int i = 0; i < count; i++) {
        if (phases[i] < 1 || phases[i] > plan->model->phase_count)
            return pl_fail(error, PL_E_USAGE, "--phase %d: the model has the phases 1 to %d", phases[i],
                           plan->model->phase_count);
        plan->units[plan->unit_of_phase[phases[i]]].selected = true;
    }
    return PL_OK;
}

pl_status replay_plan_make(const struct model *model, const int *phases, int phase_count, struct replay_plan *ret_plan,
                           struct pl_error *error)
{
    struct replay_plan plan = {.model = model, .last_delete = -1};
    struct build build = {.plan = &plan, .error = error};
    pl_status status = model_facts_find(model, &plan.facts, error);
    plan.unit_of_leaf = malloc(((size_t)model->leaf_count + 1) * sizeof *plan.unit_of_leaf);
    plan.unit_of_phase = calloc((size_t)model->phase_count + 1, sizeof *plan.unit_of_phase);
    plan.phase_of_leaf = calloc((size_t)model->leaf_count + 1, sizeof *plan.phase_of_leaf);
    plan.operations = calloc((size_t)model->leaf_count + 1,
                             sizeof *plan.operations); /* NOLINT(bugprone-sizeof-expression) */
    plan.files = calloc((size_t)model->file_count + 1, sizeof *plan.files);
    if (status == PL_OK &&
        (!plan.unit_of_leaf || !plan.unit_of_phase || !plan.phase_of_leaf || !plan.files || !plan.operations))
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for a plan");
    for (int i = 0; i < model->leaf_count && status == PL_OK; i++)
        plan.unit_of_leaf[i] = -1;
    for (int i = 0; i < model->file_count && status == PL_OK; i++)
        plan.files[i] = (struct replay_file_facts){
            .name = "", .group = i, .first_write = model->leaf_count, .last_use = -1};
    if (status == PL_OK)
        status = plan_steps(&build, model->steps, model->step_count, 0, 1);
    if (status == PL_OK)
        status = plan_loops(&build, model->steps, model->step_count);
    if (status == PL_OK)
        status = select_phases(&plan, phases, phase_count, error);
    if (status == PL_OK)
        *ret_plan = plan;
    else
        replay_plan_clear(&plan);
    return status;
}

/* ---- the order of meetings ---- */

/* The sum of a sequence: that of two in a row, or of one again and again, follows from the sums of the parts, so that
 * it does not matter how the sequence was folded. */
struct sequence {
    uint64_t sum, factor; /* factor: BASE to the power of its length */
};

#define BASE UINT64_C(0x9e3779b97f4a7c15)

static const struct sequence EMPTY = {0, 1};

static struct sequence join(struct sequence a, struct sequence b)
{
    return (struct sequence){a.sum * b.factor + b.sum, a.factor * b.factor};
}

static struct sequence repeat(struct sequence once, int64_t times)
{
    struct sequence all = EMPTY;
    for (; times > 0; times >>= 1, once = join(once, once))
        if (times & 1)
            all = join(all, once);
    return all;
}

static struct sequence one(const char *word, int64_t number)
{
    uint64_t sum = (uint64_t)number;
    for (; *word; word++)
        sum = rng_at(sum, (uint64_t)(unsigned char)*word);
    return (struct sequence){rng_mix(sum), BASE};
}

struct order {
    const struct model *model;
    int64_t rank;
    int file;    /* only this one; -1: all */
    bool *alone; /* files that the rank has opened for itself: nobody else is met there */
};

static bool opens_alone(const struct order *order, const struct model_step *step)
{
    struct text detail = {0};
    struct pl_error ignored;
    const bool told = step->detail && model_render(step->detail, order->rank, 0, &detail, &ignored) == PL_OK;
    const bool alone = told && replay_detail_number(text_get(&detail), "ranks", 0) == 1;
    text_clear(&detail);
    return alone;
}

static struct sequence order_call(struct order *order, const struct model_step *step)
{
    const struct replay_operation *operation = replay_operation_find(step->operation);
    if (!operation || step->file < 0 || !replay_operation_is_collective(operation) ||
        (order->file >= 0 && order->file != step->file))
        return EMPTY;
    if (operation->kind == REPLAY_OPEN)
        order->alone[step->file] = opens_alone(order, step);
    return order->alone[step->file] ? EMPTY : one(step->operation, step->file);
}

static struct sequence order_steps(struct order *order, const struct model_step *steps, int count, bool told)
{
    struct sequence all = EMPTY;
    for (int i = 0; i < count; i++) {
        const struct model_step *step = &steps[i];
        const bool tells = !told && (step->phase > 0 || step->kind != MODEL_LOOP);
        if (tells && !model_ranks_has(&step->ranks, order->rank))
            continue;
        const bool meets = order->file < 0 && tells && replay_plan_is_world(order->model, step);
        if (meets && step->phase > 0)
            all = join(all, one("phase", step->phase));
        if (meets && step->kind == MODEL_COMM)
            all = join(all, one("comm", 0));
        if (step->kind == MODEL_CALL)
            all = join(all, order_call(order, step));
        if (step->kind != MODEL_LOOP)
            continue;
        const struct sequence inside = order_steps(order, step->body, step->count, told || tells);
        if (order->file >= 0) /* the calls alone */
            all = join(all, repeat(inside, step->turns));
        else if (inside.factor != 1) /* a loop in which somebody is met: all must come to its end together */
            all = join(all, one("loop", (int64_t)rng_at(inside.sum, (uint64_t)step->turns)));
    }
    return all;
}

uint64_t replay_plan_order(const struct model *model, int64_t rank, int file)
{
    struct order order = {model, rank, file, calloc((size_t)model->file_count + 1, sizeof *order.alone)};
    const uint64_t sum = order.alone ? order_steps(&order, model->steps, model->step_count, false).sum : (uint64_t)rank;
    free(order.alone);
    return sum;
}

static int64_t collectives_of(const struct model_step *steps, int count, int64_t rank)
{
    int64_t sum = 0;
    for (int i = 0; i < count; i++) {
        const struct model_step *step = &steps[i];
        if (step->kind == MODEL_COMM && model_ranks_has(&step->ranks, rank))
            sum = saturating_add(sum, step->collectives);
        else if (step->kind == MODEL_LOOP && step->phase == 0)
            sum = saturating_add(sum, saturating_mul(step->turns, collectives_of(step->body, step->count, rank)));
    }
    return sum;
}

int64_t replay_plan_collectives(const struct model *model, int64_t rank)
{
    return collectives_of(model->steps, model->step_count, rank);
}

static int64_t calls_of(const struct model_step *steps, int count, int64_t rank, bool told)
{
    int64_t sum = 0;
    for (int i = 0; i < count; i++) {
        const struct model_step *step = &steps[i];
        const bool tells = !told && (step->phase > 0 || step->kind != MODEL_LOOP);
        if (tells && !model_ranks_has(&step->ranks, rank))
            continue;
        if (step->kind == MODEL_LOOP)
            sum = saturating_add(sum,
                                 saturating_mul(step->turns, calls_of(step->body, step->count, rank, told || tells)));
        else
            sum = saturating_add(sum, step->kind == MODEL_CALL);
    }
    return sum;
}

int64_t replay_plan_calls(const struct model *model, int64_t rank)
{
    return calls_of(model->steps, model->step_count, rank, false);
}
