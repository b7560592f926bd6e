/* From traces to a model: each rank folded and classed as it comes, then all classes joined, and formulas found. */
#include "model/model.h"

#include "base/units.h"

#include "model/model_join.h"
#include "model/model_line.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct model_builder {
    struct model_pool own_pool, *pool; /* a branch uses the words of its trunk */
    struct model_table table;
    int64_t ranks, last_rank, incomplete_ranks;
    int64_t apart;
    char *program, *mpi, *mpiio;
    model_watch *watch; /* NULL: nobody asks */
    void *watch_context;
};

struct model_builder *model_builder_new(void)
{
    struct model_builder *builder = calloc(1, sizeof *builder);
    if (builder) {
        builder->pool = &builder->own_pool;
        builder->last_rank = -1;
        builder->apart = MODEL_APART;
    }
    return builder;
}

void model_builder_apart(struct model_builder *builder, int64_t events)
{
    assert(events >= 0 && builder->last_rank < 0);
    builder->apart = events;
}

void model_builder_watch(struct model_builder *builder, model_watch *watch, void *context)
{
    builder->watch = watch;
    builder->watch_context = context;
}

struct model_builder *model_builder_branch(struct model_builder *trunk)
{
    struct model_builder *builder = model_builder_new();
    if (builder)
        *builder = (struct model_builder){.pool = trunk->pool, .last_rank = -1, .apart = trunk->apart};
    return builder;
}

void model_builder_free(struct model_builder *builder)
{
    if (!builder)
        return;
    model_table_clear(&builder->table);
    model_pool_clear(&builder->own_pool);
    free(builder->program);
    free(builder->mpi);
    free(builder->mpiio);
    free(builder);
}

static void model_build_keep_first(char **kept, const char *word)
{
    if (!*kept && word)
        *kept = text_dup(word);
}

pl_status model_builder_add(struct model_builder *builder, const struct trace_tree *tree, struct pl_error *error)
{
    struct model_list list;
    int64_t failed;
    if (tree->rank <= builder->last_rank)
        return pl_fail(error, PL_E_INPUT, "rank %d comes after rank %lld: ranks must ascend", tree->rank,
                       (long long)builder->last_rank);
    if (builder->ranks > 0 && tree->size != builder->ranks)
        return pl_fail(error, PL_E_INPUT, "rank %d is one of %d, and others of %lld: these are traces of several runs",
                       tree->rank, tree->size, (long long)builder->ranks);
    const char *slash = tree->program ? strrchr(tree->program, '/') : NULL;
    model_build_keep_first(&builder->program, slash ? slash + 1 : tree->program);
    model_build_keep_first(&builder->mpi, tree->mpi);
    model_build_keep_first(&builder->mpiio, tree->mpiio);
    builder->ranks = tree->size;
    builder->last_rank = tree->rank;
    builder->incomplete_ranks += !tree->complete;
    const pl_status status = model_fold(tree, builder->pool, builder->apart, &list, &failed, error);
    if (status != PL_OK)
        return status;
    builder->table.failed_calls += failed;
    return model_table_add(&builder->table, tree->rank, &list, error);
}

pl_status model_builder_merge(struct model_builder *builder, struct model_builder *more, struct pl_error *error)
{
    assert(more->last_rank < 0 || more->last_rank > builder->last_rank); /* it has the larger ranks */
    if (more->last_rank < 0)
        return PL_OK;
    model_build_keep_first(&builder->program, more->program);
    model_build_keep_first(&builder->mpi, more->mpi);
    model_build_keep_first(&builder->mpiio, more->mpiio);
    builder->ranks = more->ranks;
    builder->last_rank = more->last_rank;
    builder->incomplete_ranks += more->incomplete_ranks;
    more->last_rank = -1;
    return model_table_merge(&builder->table, &more->table, error);
}

/* ---- joints to steps ---- */

struct finish {
    struct model *model;
    const char **files; /* forms of names: the index is the file */
    int64_t apart;
    model_watch *watch;
    void *watch_context;
    struct pl_error *error;
};

static int model_build_file_index(struct finish *finish, const char *form)
{
    if (!form)
        return -1;
    for (int i = 0; i < finish->model->file_count; i++)
        if (finish->files[i] == form)
            return i;
    const char **files = realloc(finish->files, (size_t)(finish->model->file_count + 1) * sizeof *files);
    if (!files) {
        pl_fail(finish->error, PL_E_NOMEM, "not enough memory for a model");
        return -1;
    }
    finish->files = files;
    files[finish->model->file_count] = form;
    return finish->model->file_count++;
}

/* "MPI_File_write_at_all_c" → "write_at_all": how the count was passed is not the program's I/O. */
static char *model_build_operation_of(const char *function)
{
    const char *name = strncmp(function, "MPI_File_", 9) == 0 ? function + 9 : function;
    const size_t length = strlen(name);
    return strndup(name, length > 2 && strcmp(name + length - 2, "_c") == 0 ? length - 2 : length);
}

static pl_status model_build_take_value(struct finish *finish, const struct model_joint *joint, int param,
                                        struct model_value *ret_value)
{
    struct text text = {0};
    model_join_formula(joint, param, &text);
    if (text.failed) {
        text_clear(&text);
        return pl_fail(finish->error, PL_E_NOMEM, "not enough memory for a formula");
    }
    ret_value->text = text.data;
    return model_formula_parse(text.data, NULL, &ret_value->formula, NULL, finish->error);
}

/* One piece, as most accesses are, is not told. */
static pl_status model_build_take_memory(struct finish *finish, const struct model_joint *joint,
                                         struct model_value *ret_value)
{
    const pl_status status = model_build_take_value(finish, joint, MODEL_PARAM_MEMORY, ret_value);
    if (status != PL_OK || strcmp(ret_value->text, "0") != 0)
        return status;
    free(ret_value->text);
    model_formula_free(ret_value->formula);
    *ret_value = (struct model_value){0};
    return PL_OK;
}

static pl_status model_build_take_pattern(struct finish *finish, struct text *text, char **ret_pattern)
{
    if (text->failed) {
        text_clear(text);
        return pl_fail(finish->error, PL_E_NOMEM, "not enough memory for the name of a file");
    }
    *ret_pattern = text->data;
    return PL_OK;
}

static int model_build_name_numbers(const char *form)
{
    const char *literal;
    int numbers = 0;
    while (form && *form)
        numbers += model_form_step(&form, &literal) ? 2 : 0;
    return numbers;
}

static pl_status model_build_make_call(struct finish *finish, const struct model_joint *joint, struct model_step *step)
{
    const struct model_call *call = &joint->item->call;
    struct text name = {0}, detail = {0};
    pl_status status = PL_OK;
    step->operation = model_build_operation_of(call->function);
    step->file = model_build_file_index(finish, call->file);
    step->access = call->access;
    step->etype_bytes = call->etype_bytes;
    step->holes = call->holes;
    if (!step->operation || finish->error->status != PL_OK)
        return pl_fail(finish->error, PL_E_NOMEM, "not enough memory for a model");
    if (call->file)
        status = model_build_take_value(finish, joint, MODEL_PARAM_INSTANCE, &step->instance);
    if (status == PL_OK && call->access)
        status = model_build_take_value(finish, joint, MODEL_PARAM_SIZE, &step->size);
    if (status == PL_OK &&
        (call->number || (call->access && model_operation_of(step->operation).pointer != MODEL_SHARED)))
        status = model_build_take_value(finish, joint, MODEL_PARAM_OFFSET, &step->offset);
    if (status == PL_OK && call->access)
        status = model_build_take_memory(finish, joint, &step->memory);
    if (status == PL_OK && call->name) {
        model_join_name(joint, MODEL_PARAM_FORMS, &name);
        status = model_build_take_pattern(finish, &name, &step->name);
    }
    if (status == PL_OK && call->text && *call->text) {
        model_join_detail(joint, MODEL_PARAM_FORMS + model_build_name_numbers(call->name), &detail);
        status = model_build_take_pattern(finish, &detail, &step->detail);
    }
    return status;
}

static void model_build_take_observed(const struct model_joint *joint, struct model_step *step)
{
    for (int i = 0; i < joint->part_count; i++) {
        assert(joint->parts[i].leaf < joint->parts[i].class->leaf_count);
        if (joint->parts[i].leaf < 0)
            continue;
        const struct model_leaf *leaf = &joint->parts[i].class->leaves[joint->parts[i].leaf];
        model_observed_add(&step->observed, &leaf->item->observed);
        if (leaf->slowest_ns > step->slowest_ns)
            step->slowest_ns = leaf->slowest_ns;
    }
}

static bool model_build_has_access(const struct model_joint *joint)
{
    bool found = joint->kind == MODEL_CALL && joint->item->call.access;
    for (int i = 0; i < joint->count && !found; i++)
        found = model_build_has_access(&joint->body[i]);
    return found;
}

/* The first call or communication in it. */
static const struct model_joint *model_build_first_leaf(const struct model_joint *joint)
{
    while (joint->kind == MODEL_LOOP) {
        assert(joint->count > 0);
        joint = &joint->body[0];
    }
    return joint;
}

static pl_status model_build_take_collectives(struct finish *finish, const struct model_joint *joint,
                                              struct model_step *step)
{
    struct text text = {0};
    model_join_collectives(joint, &text);
    pl_status status = text.failed ? pl_fail(finish->error, PL_E_NOMEM, "not enough memory for a formula") : PL_OK;
    if (status == PL_OK)
        status = model_comm_take(step, text_get(&text), finish->error);
    text_clear(&text);
    return status;
}

static bool model_build_turns_differ(const struct model_joint *loop)
{
    if (loop->item->free)
        return true;
    for (int i = 0; i < loop->part_count; i++)
        if (loop->parts[i].turns != loop->turns)
            return true;
    return false;
}

static pl_status model_build_take_turns(struct finish *finish, const struct model_joint *joint,
                                        struct model_value *ret_value)
{
    struct text text = {0};
    model_join_turns(joint, &text);
    if (text.failed) {
        text_clear(&text);
        return pl_fail(finish->error, PL_E_NOMEM, "not enough memory for a formula");
    }
    ret_value->text = text.data;
    return model_formula_parse(text.data, NULL, &ret_value->formula, NULL, finish->error);
}

/* Turns that are always the same need no formula. */
static void model_build_settle_turns(struct model_step *step)
{
    int64_t turns;
    if (!step->turns_of.text || !units_parse_int(step->turns_of.text, 1, MODEL_TURNS_MAX, &turns))
        return;
    step->turns = turns;
    free(step->turns_of.text);
    model_formula_free(step->turns_of.formula);
    step->turns_of = (struct model_value){0};
}

/* Whether the same classes of ranks do all that is in it. */
static bool model_build_is_uniform(const struct model_joint *joint, const struct model_joint *first)
{
    for (int i = 0; i < joint->count; i++)
        if (!model_build_is_uniform(&joint->body[i], first))
            return false;
    if (joint->kind == MODEL_LOOP)
        return true;
    bool same = joint->part_count == first->part_count;
    for (int i = 0; i < joint->part_count && same; i++)
        same = joint->parts[i].class == first->parts[i].class;
    return same;
}

static bool model_build_opens(const struct model_joint *joint)
{
    bool found = joint->kind == MODEL_CALL &&
                 (joint->item->call.name || strcmp(joint->item->call.class, "close") == 0 ||
                  strcmp(joint->item->call.class, "delete") == 0);
    for (int i = 0; i < joint->count && !found; i++)
        found = model_build_opens(&joint->body[i]);
    return found;
}

/* The rule of phases, see docs/model.md. */
static bool model_build_is_phase(const struct finish *finish, const struct model_joint *joint)
{
    if (joint->kind == MODEL_COMM || !model_build_has_access(joint))
        return false;
    return !joint->has_comm || (joint->inner_events <= finish->apart && !model_build_opens(joint) &&
                                model_build_is_uniform(joint, model_build_first_leaf(joint)));
}

static pl_status model_build_make_steps(struct finish *finish, const struct model_joint *joints, int count,
                                        bool in_phase, struct model_step **ret_steps, int *ret_count);

static pl_status model_build_make_step(struct finish *finish, const struct model_joint *joint, bool in_phase,
                                       struct model_step *step)
{
    const bool phase = !in_phase && model_build_is_phase(finish, joint);
    bool ok = true;
    *step = (struct model_step){.kind = joint->kind, .file = -1};
    if (phase)
        step->phase = ++finish->model->phase_count;
    if (phase || joint->kind == MODEL_COMM || (!in_phase && joint->kind != MODEL_LOOP))
        model_join_ranks(model_build_first_leaf(joint), &step->ranks, &ok);
    if (!ok)
        return pl_fail(finish->error, PL_E_NOMEM, "not enough memory for a set of ranks");
    if (joint->kind == MODEL_LOOP) {
        assert(joint->turns > 0 && joint->count > 0);
        step->turns = joint->turns;
        if (model_build_turns_differ(joint) && model_build_take_turns(finish, joint, &step->turns_of) != PL_OK)
            return finish->error->status;
        model_build_settle_turns(step);
        step->loop = finish->model->loop_count++;
        step->varies = model_formula_has_turn(step->turns_of.formula);
        return model_build_make_steps(finish, joint->body, joint->count, in_phase || phase, &step->body, &step->count);
    }
    assert(joint->part_count > 0); /* somebody does it */
    step->leaf = finish->model->leaf_count++;
    model_build_take_observed(joint, step);
    return joint->kind == MODEL_CALL ? model_build_make_call(finish, joint, step)
                                     : model_build_take_collectives(finish, joint, step);
}

/* A loop that a column of turns, each of them 1, has made needless: what is in it stands for it. */
static bool model_build_is_needless(const struct model_joint *joint, const struct model_step *step)
{
    return joint->kind == MODEL_LOOP && joint->item->free && step->turns == 1 && !step->turns_of.text &&
           (step->phase == 0 || step->count == 1);
}

static pl_status model_build_make_steps(struct finish *finish, const struct model_joint *joints, int count,
                                        bool in_phase, struct model_step **ret_steps, int *ret_count)
{
    int room = count + 1;
    struct model_step *steps = calloc((size_t)room, sizeof *steps);
    pl_status status = steps ? PL_OK : pl_fail(finish->error, PL_E_NOMEM, "not enough memory for a model");
    int made = 0;
    for (int i = 0; i < count && status == PL_OK; i++) {
        struct model_step *step = &steps[made++];
        if (finish->watch && ret_steps == &finish->model->steps)
            finish->watch(finish->watch_context, "finding formulas", (double)i / count);
        status = model_build_make_step(finish, &joints[i], in_phase, step);
        if (status != PL_OK || !model_build_is_needless(&joints[i], step))
            continue;
        const struct model_step loop = *step;
        room += loop.count;
        struct model_step *more = realloc(steps, (size_t)room * sizeof *steps);
        if (!more) {
            status = pl_fail(finish->error, PL_E_NOMEM, "not enough memory for a model");
            continue;
        }
        steps = more;
        memcpy(steps + made - 1, loop.body, (size_t)loop.count * sizeof *steps);
        free(loop.body);
        if (loop.phase > 0) {
            steps[made - 1].phase = loop.phase;
            model_ranks_clear(&steps[made - 1].ranks);
            steps[made - 1].ranks = loop.ranks;
        }
        made += loop.count - 1;
        memset(steps + made, 0, (size_t)(room - made) * sizeof *steps);
    }
    *ret_steps = steps;
    *ret_count = steps ? made : 0;
    return status;
}

static bool model_build_take_layouts(const struct model_pool *pool, struct model *model)
{
    model->layouts = calloc((size_t)pool->layout_count + 1, sizeof *model->layouts);
    bool ok = model->layouts != NULL;
    for (int64_t i = 0; i < pool->layout_count && ok; i++, model->layout_count++)
        ok = !pool->layouts[i] || (model->layouts[i] = text_dup(pool->layouts[i]));
    return ok;
}

static pl_status model_build_take_fresh(const struct model_pool *pool, struct finish *finish)
{
    struct model_buffers *fresh = calloc((size_t)finish->model->file_count + 1, sizeof *fresh);
    if (!fresh)
        return pl_fail(finish->error, PL_E_NOMEM, "not enough memory for a model");
    for (int i = 0; i < pool->fresh_count; i++)
        for (int file = 0; file < finish->model->file_count; file++)
            if (finish->files[file] == pool->fresh[i].form)
                fresh[file] = (struct model_buffers){pool->fresh[i].read_bytes, pool->fresh[i].written_bytes,
                                                     pool->fresh[i].unlinked};
    finish->model->fresh = fresh;
    return PL_OK;
}

pl_status model_builder_finish(struct model_builder *builder, struct model *ret_model, struct pl_error *error)
{
    struct model model = {.ranks = builder->ranks,
                          .failed_calls = builder->table.failed_calls,
                          .incomplete_ranks = builder->incomplete_ranks};
    struct finish finish = {.model = &model,
                            .apart = builder->apart,
                            .watch = builder->watch,
                            .watch_context = builder->watch_context,
                            .error = error};
    struct model_joint root;
    *error = (struct pl_error){.status = PL_OK};
    pl_status status = PL_OK;
    model.program = text_dup(builder->program);
    model.mpi = text_dup(builder->mpi);
    model.mpiio = text_dup(builder->mpiio);
    if (!model_join(&builder->table, builder->watch, builder->watch_context, &root) || !model.program || !model.mpi ||
        !model.mpiio || !model_build_take_layouts(builder->pool, &model))
        status = pl_fail(error, PL_E_NOMEM, "not enough memory to join the ranks");
    if (status == PL_OK) {
        status = model_build_make_steps(&finish, root.body, root.count, false, &model.steps, &model.step_count);
    }
    if (status == PL_OK && builder->pool->fresh_count > 0)
        status = model_build_take_fresh(builder->pool, &finish);
    model_joint_clear(&root);
    free(finish.files);
    if (status == PL_OK)
        *ret_model = model;
    else
        model_clear(&model);
    return status;
}
