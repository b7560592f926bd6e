#include "bench/replay/replay_plan.h"

#include "base/array.h"
#include "base/checked.h"
#include "base/rng.h"
#include "base/units.h"
#include "bench/replay/replay_run.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- open ---- */

static const struct {
    const char *word;
    enum replay_mode bit;
} MODES[] = {{"create", REPLAY_CREATE},
             {"excl", REPLAY_EXCL},
             {"rdonly", REPLAY_RDONLY},
             {"wronly", REPLAY_WRONLY},
             {"rdwr", REPLAY_RDWR},
             {"append", REPLAY_APPEND},
             {"delete_on_close", REPLAY_DELETE_ON_CLOSE},
             {"unique_open", REPLAY_UNIQUE_OPEN},
             {"sequential", REPLAY_SEQUENTIAL}};

static pl_status detail_parse_modes(const char *detail, int *ret_amode, struct pl_error *error)
{
    char *text = trace_detail_text(detail, "amode"), *rest = NULL;
    pl_status status = text ? PL_OK : pl_fail(error, PL_E_FORMAT, "open: amode= is missing in with=\"%s\"", detail);
    *ret_amode = 0;
    for (char *word = text ? strtok_r(text, "|", &rest) : NULL; word && status == PL_OK;
         word = strtok_r(NULL, "|", &rest)) {
        int bit = 0;
        for (size_t i = 0; i < sizeof MODES / sizeof MODES[0]; i++)
            bit |= strcmp(MODES[i].word, word) == 0 ? (int)MODES[i].bit : 0;
        if (!bit)
            status = pl_fail(error, PL_E_FORMAT,
                             "open: '%s' is no mode of access; allowed: create, excl, rdonly, "
                             "wronly, rdwr, append, delete_on_close, unique_open, sequential",
                             word);
        *ret_amode |= bit;
    }
    free(text);
    return status;
}

static pl_status detail_parse_members(const char *detail, struct replay_open *open, struct pl_error *error)
{
    char *text = trace_detail_text(detail, "members"), *rest = NULL;
    if (!text)
        return PL_OK;
    open->members = calloc((size_t)open->ranks + 1, sizeof *open->members);
    int count = 0;
    pl_status status = open->members ? PL_OK : pl_fail(error, PL_E_NOMEM, "not enough memory");
    for (char *word = strtok_r(text, ",", &rest); word && status == PL_OK; word = strtok_r(NULL, ",", &rest)) {
        int64_t rank;
        if (count == open->ranks || !units_parse_int(word, 0, INT32_MAX, &rank))
            status = pl_fail(error, PL_E_FORMAT, "open: members= must be %d ranks", open->ranks);
        else
            open->members[count++] = (int)rank;
    }
    if (status == PL_OK && count != open->ranks)
        status = pl_fail(error, PL_E_FORMAT, "open: members= must be %d ranks", open->ranks);
    free(text);
    return status;
}

int replay_open_member(const struct replay_open *open, int i)
{
    return open->members ? open->members[i] : open->first + i * open->stride;
}

static pl_status detail_check_members(const struct replay_open *open, int rank, int world, struct pl_error *error)
{
    bool found = false;
    for (int i = 0; i < open->ranks; i++) {
        const int member = replay_open_member(open, i);
        if (member < 0 || member >= world)
            return pl_fail(error, PL_E_FORMAT, "open: its communicator has rank %d; there are the ranks 0 to %d",
                           member, world - 1);
        found |= member == rank;
    }
    return found
               ? PL_OK
               : pl_fail(error, PL_E_FORMAT, "open: rank %d opens a file with a communicator that it is not in", rank);
}

pl_status replay_open_parse(const char *detail, int rank, int world, struct replay_open *ret_open,
                            struct pl_error *error)
{
    struct replay_open open = {0};
    const int64_t ranks = trace_detail_number(detail, "ranks", world), first = trace_detail_number(detail, "first", 0),
                  stride = trace_detail_number(detail, "stride", 1);
    *ret_open = open;
    if (ranks < 1 || ranks > world || first < 0 || first >= world || stride < -world || stride > world)
        return pl_fail(error, PL_E_FORMAT, "open: ranks=%lld first=%lld stride=%lld is no communicator of %d ranks",
                       (long long)ranks, (long long)first, (long long)stride, world);
    open.ranks = (int)ranks;
    open.first = (int)first;
    open.stride = (int)stride;
    pl_status status = detail_parse_modes(detail, &open.amode, error);
    if (status == PL_OK)
        status = detail_parse_members(detail, &open, error);
    if (status == PL_OK)
        status = detail_check_members(&open, rank, world, error);
    if (status == PL_OK)
        *ret_open = open;
    else
        replay_open_clear(&open);
    return status;
}

void replay_open_clear(struct replay_open *open)
{
    free(open->members);
    open->members = NULL;
}

/* ---- plans ---- */

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

void replay_unit_name(const struct replay_unit *unit, char *name, size_t size)
{
    const struct model_step *step = model_only_call(unit->step);
    if (unit->phase)
        snprintf(name, size, "phase %d %s%s", unit->step->phase, step ? step->operation : "mixed operations",
                 unit->phase->metadata ? " (metadata)" : "");
    else
        snprintf(name, size, "%s", unit->step->operation);
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

static pl_status plan_add_unit(struct build *build, struct replay_unit unit)
{
    struct replay_plan *plan = build->plan;
    if (!ARRAY_ROOM(plan->units, plan->unit_count, build->unit_room, 16))
        return pl_fail(build->error, PL_E_NOMEM, "not enough memory for a plan");
    plan->units[plan->unit_count++] = unit;
    return PL_OK;
}

static void plan_note_open(struct replay_plan *plan, const struct model_step *step)
{
    assert(step->file >= 0 && step->file < plan->model->file_count);
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

static void plan_note_use(struct replay_plan *plan, const struct model_step *step)
{
    if (step->file < 0)
        return;
    struct replay_file_facts *group = &plan->files[plan->files[step->file].group];
    assert(group->last_use <= step->leaf); /* steps come in the order of their numbers */
    const struct model_operation is = model_operation_of(step->operation);
    if (step->access && is.writes && step->leaf < group->first_write)
        group->first_write = step->leaf;
    group->last_use = step->leaf;
}

static pl_status plan_check_call(const struct model_step *step, const struct replay_operation *operation,
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
    assert(step->kind == MODEL_CALL && step->leaf >= 0 && step->leaf < build->plan->model->leaf_count && count > 0);
    struct replay_plan *plan = build->plan;
    const struct replay_operation *operation = replay_operation_find(step->operation);
    plan->operations[step->leaf] = operation;
    if (plan_check_call(step, operation, build->error) != PL_OK)
        return build->error->status;
    plan->phase_of_leaf[step->leaf] = phase;
    if (operation->kind == REPLAY_OPEN)
        plan_note_open(plan, step);
    if (operation->kind == REPLAY_DELETE)
        plan->last_delete = step->leaf;
    plan_note_use(plan, step);
    if (phase > 0)
        return PL_OK;
    plan->unit_of_leaf[step->leaf] = plan->unit_count;
    return plan_add_unit(build, (struct replay_unit){.step = step, .count = count, .selected = true});
}

static pl_status plan_steps(struct build *build, const struct model_step *steps, int count, int phase, int64_t turns)
{
    pl_status status = PL_OK;
    for (int i = 0; i < count && status == PL_OK; i++) {
        const struct model_step *step = &steps[i];
        if (step->phase > 0) {
            assert(phase == 0 && step->phase <= build->plan->facts.phase_count); /* no phase in a phase */
            const struct model_phase_facts *facts = &build->plan->facts.phases[step->phase - 1];
            build->plan->unit_of_phase[step->phase] = build->plan->unit_count;
            status = plan_add_unit(
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
static void plan_look_at(struct look *look, const struct model_step *steps, int count)
{
    for (int i = 0; i < count; i++) {
        const struct model_step *step = &steps[i];
        if (step->kind == MODEL_LOOP) {
            plan_look_at(look, step->body, step->count);
            continue;
        }
        look->first_leaf = step->leaf < look->first_leaf ? step->leaf : look->first_leaf;
        look->last_leaf = step->leaf > look->last_leaf ? step->leaf : look->last_leaf;
        if (step->kind == MODEL_CALL && step->access && model_operation_of(step->operation).pointer == MODEL_SHARED)
            look->is_possible = false;
    }
}

static bool plan_opens_are_private(const struct look *look, const struct model_step *steps, int count)
{
    for (int i = 0; i < count; i++) {
        const struct model_step *step = &steps[i];
        if (step->kind == MODEL_LOOP && !plan_opens_are_private(look, step->body, step->count))
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
    assert(loop->kind == MODEL_LOOP);
    struct look look = {plan, plan->model->leaf_count, -1, true};
    plan_look_at(&look, loop->body, loop->count);
    return plan_opens_are_private(&look, loop->body, loop->count);
}

static const struct model_step *plan_meeting_of(const struct model *model, const struct model_step *loop)
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
        const struct model_step *meeting = plan_meeting_of(plan->model, step);
        plan_look_at(&look, step->body, step->count);
        if (meeting && look.is_possible && plan_opens_are_private(&look, step->body, step->count)) {
            struct replay_loop *loops = realloc(plan->loops, ((size_t)plan->loop_count + 1) * sizeof *loops);
            if (!loops)
                return pl_fail(build->error, PL_E_NOMEM, "not enough memory for a plan");
            assert(look.first_leaf <= look.last_leaf);
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

static pl_status plan_select_phases(struct replay_plan *plan, const int *phases, int count, struct pl_error *error)
{
    plan->chosen = count > 0;
    for (int i = 0; i < plan->unit_count && plan->chosen; i++)
        plan->units[i].selected = !plan->units[i].phase;
    for (int i = 0; i < count; i++) {
        if (phases[i] < 1 || phases[i] > plan->model->phase_count)
            return pl_fail(error, PL_E_USAGE, "--phase %d: the model has the phases 1 to %d", phases[i],
                           plan->model->phase_count);
        assert(plan->units[plan->unit_of_phase[phases[i]]].phase);
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
        status = plan_select_phases(&plan, phases, phase_count, error);
    assert(status != PL_OK || plan.unit_count <= model->leaf_count + model->phase_count);
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

static struct sequence plan_join(struct sequence a, struct sequence b)
{
    return (struct sequence){a.sum * b.factor + b.sum, a.factor * b.factor};
}

static struct sequence plan_repeat(struct sequence once, int64_t times)
{
    assert(times >= 0);
    struct sequence all = EMPTY;
    for (; times > 0; times >>= 1, once = plan_join(once, once))
        if (times & 1)
            all = plan_join(all, once);
    return all;
}

static struct sequence plan_one(const char *word, int64_t number)
{
    uint64_t sum = (uint64_t)number;
    for (; *word; word++)
        sum = rng_at(sum, (uint64_t)(unsigned char)*word);
    return (struct sequence){rng_mix(sum), BASE};
}

struct order {
    const struct model *model;
    int64_t rank;
    const struct replay_open *with; /* only while the file is open with these; NULL: with any */
    int file;                       /* only this one; -1: all */
    bool *away;                     /* files that are open with others than those, or for the rank alone */
    int64_t *done;                  /* executions of each loop */
};

static bool plan_opens_away(const struct order *order, const struct model_step *step)
{
    struct text detail = {0};
    struct replay_open open = {0};
    struct pl_error ignored;
    const bool told = step->detail && model_render(step->detail, order->rank, 0, &detail, &ignored) == PL_OK &&
                      replay_open_parse(text_get(&detail), (int)order->rank, (int)order->model->ranks, &open,
                                        &ignored) == PL_OK;
    bool away = told && open.ranks == 1;
    if (told && order->with) {
        away = open.ranks != order->with->ranks;
        for (int i = 0; i < open.ranks && !away; i++)
            away = replay_open_member(&open, i) != replay_open_member(order->with, i);
    }
    replay_open_clear(&open);
    text_clear(&detail);
    return away;
}

static struct sequence plan_order_call(struct order *order, const struct model_step *step)
{
    const struct replay_operation *operation = replay_operation_find(step->operation);
    if (!operation || step->file < 0 || !replay_operation_is_collective(operation) ||
        (order->file >= 0 && order->file != step->file))
        return EMPTY;
    if (operation->kind == REPLAY_OPEN)
        order->away[step->file] = plan_opens_away(order, step);
    return order->away[step->file] ? EMPTY : plan_one(step->operation, step->file);
}

static struct sequence plan_order_steps(struct order *order, const struct model_step *steps, int count, bool told);

/* What a loop begins with may belong to the turn before: a close, say, of a file that was opened before the loop by
 * this rank alone and in it by all. So the first turn may be another than the rest; the opens of a turn decide how it
 * ends. */
static struct sequence plan_order_loop(struct order *order, const struct model_step *step, bool told)
{
    const int64_t turns = model_turns(step, order->rank, order->done[step->loop]++);
    if (model_is_free(step)) { /* no two turns are the same */
        struct sequence all = EMPTY;
        for (int64_t turn = 0; turn < turns; turn++)
            all = plan_join(all, plan_order_steps(order, step->body, step->count, told));
        return order->file >= 0 || all.factor == 1 ? all : plan_one("loop", (int64_t)all.sum);
    }
    const size_t bytes = (size_t)order->model->file_count * sizeof *order->away;
    bool *before = malloc(bytes + 1);
    if (turns < 1 || !before) {
        free(before);
        return EMPTY;
    }
    memcpy(before, order->away, bytes);
    const struct sequence first = plan_order_steps(order, step->body, step->count, told);
    struct sequence others = first;
    if (turns > 1 && memcmp(before, order->away, bytes) != 0)
        others = plan_order_steps(order, step->body, step->count, told);
    free(before);
    if (order->file >= 0) /* the calls alone */
        return plan_join(first, plan_repeat(others, turns - 1));
    if (first.factor == 1 && others.factor == 1)
        return EMPTY;
    /* A loop in which somebody is met: all must come to its end together. */
    return plan_one("loop", (int64_t)rng_at(rng_at(first.sum, others.sum), (uint64_t)turns));
}

static struct sequence plan_order_steps(struct order *order, const struct model_step *steps, int count, bool told)
{
    struct sequence all = EMPTY;
    for (int i = 0; i < count; i++) {
        const struct model_step *step = &steps[i];
        const bool tells = !told && (step->phase > 0 || step->kind != MODEL_LOOP);
        if (tells && !model_ranks_has(&step->ranks, order->rank))
            continue;
        const bool meets = order->file < 0 && tells && replay_plan_is_world(order->model, step);
        if (meets && step->phase > 0)
            all = plan_join(all, plan_one("phase", step->phase));
        if (meets && step->kind == MODEL_COMM)
            all = plan_join(all, plan_one("comm", 0));
        if (step->kind == MODEL_CALL)
            all = plan_join(all, plan_order_call(order, step));
        else if (step->kind == MODEL_LOOP)
            all = plan_join(all, plan_order_loop(order, step, told || tells));
    }
    return all;
}

uint64_t replay_plan_order(const struct model *model, int64_t rank, int file, const struct replay_open *with)
{
    assert(rank >= 0 && rank < model->ranks && file < model->file_count);
    struct order order = {model,
                          rank,
                          with,
                          file,
                          calloc((size_t)model->file_count + 1, sizeof *order.away),
                          calloc((size_t)model->loop_count + 1, sizeof *order.done)};
    const uint64_t sum = order.away && order.done ? plan_order_steps(&order, model->steps, model->step_count, false).sum
                                                  : (uint64_t)rank;
    free(order.away);
    free(order.done);
    return sum;
}

/* Of `executions` of the step. */
static int64_t plan_collectives_in(const struct model_step *step, int64_t rank, int64_t executions)
{
    int64_t sum = 0;
    if (!step->collectives_of.formula)
        return saturating_mul(step->collectives, executions);
    for (int64_t n = 0; n < executions; n++)
        sum = saturating_add(sum, model_collectives(step, rank, n));
    return sum;
}

static int64_t plan_collectives_of(const struct model_step *steps, int count, int64_t rank, int64_t executions)
{
    int64_t sum = 0;
    for (int i = 0; i < count; i++) {
        const struct model_step *step = &steps[i];
        if (step->kind == MODEL_COMM && model_ranks_has(&step->ranks, rank))
            sum = saturating_add(sum, plan_collectives_in(step, rank, executions));
        else if (step->kind == MODEL_LOOP && (step->phase == 0 || model_ranks_has(&step->ranks, rank)))
            sum = saturating_add(
                sum, plan_collectives_of(step->body, step->count, rank, model_turns_in(step, rank, 0, executions)));
    }
    return sum;
}

int64_t replay_plan_collectives(const struct model *model, int64_t rank)
{
    return plan_collectives_of(model->steps, model->step_count, rank, 1);
}

static int64_t plan_calls_of(const struct model_step *steps, int count, int64_t rank, int64_t executions, bool told)
{
    int64_t sum = 0;
    for (int i = 0; i < count; i++) {
        const struct model_step *step = &steps[i];
        const bool tells = !told && (step->phase > 0 || step->kind != MODEL_LOOP);
        if (tells && !model_ranks_has(&step->ranks, rank))
            continue;
        if (step->kind == MODEL_LOOP)
            sum = saturating_add(sum, plan_calls_of(step->body, step->count, rank,
                                                    model_turns_in(step, rank, 0, executions), told || tells));
        else
            sum = saturating_add(sum, step->kind == MODEL_CALL ? executions : 0);
    }
    return sum;
}

int64_t replay_plan_calls(const struct model *model, int64_t rank)
{
    return plan_calls_of(model->steps, model->step_count, rank, 1, false);
}
