/* What a model says, call by call. */
#include "model/model.h"

#include "base/checked.h"
#include "model/model_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void value_clear(struct model_value *value)
{
    free(value->text);
    model_formula_free(value->formula);
}

void model_step_clear(struct model_step *step)
{
    for (int i = 0; i < step->count && step->body; i++)
        model_step_clear(&step->body[i]);
    free(step->body);
    model_ranks_clear(&step->ranks);
    value_clear(&step->size);
    value_clear(&step->offset);
    value_clear(&step->instance);
    value_clear(&step->memory);
    free(step->operation);
    free(step->name);
    free(step->detail);
}

void model_clear(struct model *model)
{
    for (int i = 0; i < model->step_count && model->steps; i++)
        model_step_clear(&model->steps[i]);
    for (int i = 0; i < model->layout_count; i++)
        free(model->layouts[i]);
    free(model->layouts);
    free(model->steps);
    free(model->program);
    free(model->mpi);
    free(model->mpiio);
    *model = (struct model){0};
}

static bool ends_in(const char *word, const char *end)
{
    const size_t length = strlen(word), tail = strlen(end);
    return length >= tail && strcmp(word + length - tail, end) == 0;
}

struct model_operation model_operation_of(const char *operation)
{
    const char *word = operation + (operation[0] == 'i' && (operation[1] == 'r' || operation[1] == 'w'));
    struct model_operation is = {.nonblocking = word != operation, .pointer = MODEL_INDIVIDUAL};
    is.reads = strncmp(word, "read", 4) == 0;
    is.writes = strncmp(word, "write", 5) == 0;
    is.split = ends_in(word, "_begin") || ends_in(word, "_end");
    is.collective = strstr(word, "_all") || strstr(word, "_ordered");
    if (strstr(word, "_at"))
        is.pointer = MODEL_EXPLICIT;
    else if (strstr(word, "_shared") || strstr(word, "_ordered"))
        is.pointer = MODEL_SHARED;
    return is;
}

/* ---- expansion ---- */

struct walk {
    const struct model *model;
    int64_t rank, tick, calls;
    int64_t *done; /* executions of each leaf so far */
    model_take_event *take;
    void *context;
    struct pl_error *error;
    bool stopped;
};

static bool value_of(const struct model_value *value, int64_t rank, int64_t n, int64_t *ret_number)
{
    *ret_number = -1;
    return !value->formula || model_formula_value(value->formula, rank, n, ret_number);
}

static bool memory_of(const struct walk *walk, const struct model_step *step, struct model_event *event)
{
    event->memory = 0;
    return !step->memory.formula || (model_formula_value(step->memory.formula, event->rank, event->n, &event->memory) &&
                                     event->memory >= 0 && event->memory <= walk->model->layout_count);
}

static pl_status walk_call(struct walk *walk, const struct model_step *step)
{
    struct model_event event = {.step = step, .rank = walk->rank, .n = walk->done[step->leaf]++, .tick = walk->tick};
    walk->tick = saturating_add(walk->tick, 1);
    walk->calls++;
    if (!value_of(&step->size, event.rank, event.n, &event.size) ||
        !value_of(&step->offset, event.rank, event.n, &event.offset) ||
        !value_of(&step->instance, event.rank, event.n, &event.instance) || !memory_of(walk, step, &event))
        return pl_fail(walk->error, PL_E_FORMAT, "a formula of %s has no value for rank %" PRId64 " and n = %" PRId64,
                       step->operation, event.rank, event.n);
    walk->stopped = !walk->take(walk->context, &event);
    return PL_OK;
}

/* Each event of communication is a tick; where it is not known how many there were, it is one. */
static int64_t ticks_of(const struct model_step *step)
{
    const double mean = step->observed.calls > 0 ? step->observed.events / (double)step->observed.calls : 1;
    return mean > 1 ? saturating_int(mean + 0.5) : 1;
}

static pl_status walk_steps(struct walk *walk, const struct model_step *steps, int count, bool told);

/* A turn without a call of this rank is as all others are: time passes, however often. */
static pl_status walk_loop(struct walk *walk, const struct model_step *loop, bool told)
{
    pl_status status = PL_OK;
    for (int64_t turn = 0; turn < loop->turns && status == PL_OK && !walk->stopped; turn++) {
        const int64_t calls = walk->calls, tick = walk->tick;
        status = walk_steps(walk, loop->body, loop->count, told);
        if (walk->calls != calls)
            continue;
        walk->tick = saturating_add(tick, saturating_mul(walk->tick - tick, loop->turns));
        break;
    }
    return status;
}

/* `told`: who does it is told around; else each step tells. */
static pl_status walk_steps(struct walk *walk, const struct model_step *steps, int count, bool told)
{
    pl_status status = PL_OK;
    for (int i = 0; i < count && status == PL_OK && !walk->stopped; i++) {
        const struct model_step *step = &steps[i];
        const bool tells = !told && (step->phase > 0 || step->kind != MODEL_LOOP);
        if (tells && !model_ranks_has(&step->ranks, walk->rank))
            continue;
        if (step->kind == MODEL_CALL)
            status = walk_call(walk, step);
        else if (step->kind == MODEL_COMM)
            walk->tick = saturating_add(walk->tick, ticks_of(step));
        else
            status = walk_loop(walk, step, told || tells);
    }
    return status;
}

pl_status model_expand(const struct model *model, int64_t rank, model_take_event *take, void *context,
                       struct pl_error *error)
{
    struct walk walk = {.model = model, .rank = rank, .take = take, .context = context, .error = error};
    walk.done = calloc((size_t)model->leaf_count + 1, sizeof *walk.done);
    if (!walk.done)
        return pl_fail(error, PL_E_NOMEM, "not enough memory to expand a model");
    const pl_status status = walk_steps(&walk, model->steps, model->step_count, false);
    free(walk.done);
    return status;
}

/* ---- patterns ---- */

/* "FORMULA}" or "FORMULA:WIDTH}" at *pattern, which is moved behind it. */
static pl_status render_slot(const char **pattern, int64_t rank, int64_t n, struct text *text, struct pl_error *error)
{
    struct model_formula *value = NULL, *width = NULL;
    int64_t number = 0, digits = 0;
    pl_status status = model_formula_parse(*pattern, "}:", &value, pattern, error);
    if (status == PL_OK && **pattern == ':')
        status = model_formula_parse(*pattern + 1, "}", &width, pattern, error);
    if (status == PL_OK && **pattern != '}')
        status = pl_fail(error, PL_E_FORMAT, "a number in a name or argument does not end in '}'");
    if (status == PL_OK && (!model_formula_value(value, rank, n, &number) ||
                            (width && !model_formula_value(width, rank, n, &digits)) || digits < 0 || digits > 18))
        status = pl_fail(error, PL_E_FORMAT,
                         "a formula in a name or argument has no value for rank %" PRId64 " and n = %" PRId64, rank, n);
    if (status == PL_OK) {
        text_format(text, "%0*" PRId64, (int)digits, number);
        ++*pattern;
    }
    model_formula_free(value);
    model_formula_free(width);
    return status;
}

pl_status model_render(const char *pattern, int64_t rank, int64_t n, struct text *text, struct pl_error *error)
{
    struct text escaped = {0};
    pl_status status = PL_OK;
    while (*pattern && status == PL_OK) {
        if (*pattern == '{') {
            pattern++;
            status = render_slot(&pattern, rank, n, &escaped, error);
        } else {
            text_append(&escaped, pattern++, 1);
        }
    }
    if (status == PL_OK && escaped.data && !text_unescape(escaped.data))
        status = pl_fail(error, PL_E_FORMAT, "a name or argument has a broken escape");
    if (status == PL_OK)
        text_add(text, text_get(&escaped));
    text_clear(&escaped);
    return status;
}
