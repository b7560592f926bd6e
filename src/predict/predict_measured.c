/* Measured runs of the program: what the observed part of its model says of each phase. */
#include "predict/predict.h"

#include <stdlib.h>
#include <string.h>

/* Is `name` one of the comma-separated words? */
static bool is_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *word = list; word && *word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL)
        if (strcspn(word, ",") == length && memcmp(word, name, length) == 0)
            return true;
    return false;
}

struct walk {
    double *row; /* times of the units */
    int phase;   /* that is gone through; -1: none */
    int calls;   /* unit of the calls outside of phases */
    const char *call_names;
};

/* The time of a phase: that of its calls, each on its slowest rank. */
static void walk_steps(struct walk *walk, const struct model_step *steps, int count)
{
    for (int i = 0; i < count; i++) {
        const struct model_step *step = &steps[i];
        const int outer = walk->phase;
        if (step->phase)
            walk->phase = step->phase - 1;
        if (step->kind == MODEL_CALL && (walk->phase >= 0 || is_listed(walk->call_names, step->operation)))
            walk->row[walk->phase >= 0 ? walk->phase : walk->calls] += step->slowest_ns;
        walk_steps(walk, step->body, step->count);
        walk->phase = outer;
    }
}

static bool was_observed(const double *row, int count)
{
    for (int i = 0; i < count; i++)
        if (row[i] > 0)
            return true;
    return false;
}

pl_status predict_measured_add(struct prediction *prediction, const char *name, const struct model *model,
                               const double *phase_ns, struct pl_error *error)
{
    const int units = predict_unit_count(prediction);
    struct predict_program measured;
    struct text why = {0};
    pl_status status = predict_program_make(model, "", &measured, error);
    if (status != PL_OK)
        return status;
    if (!predict_program_same(&prediction->program, &measured, &why))
        status = pl_fail(error, PL_E_INPUT, "'%s' is not a run of this model: %s", name, text_get(&why));
    text_clear(&why);
    predict_program_clear(&measured);
    if (status != PL_OK)
        return status;
    double *rows = realloc(prediction->measured,
                           (size_t)(prediction->measured_count + 1) * (size_t)units * sizeof *rows);
    if (!rows)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for '%s'", name);
    prediction->measured = rows;
    double *row = rows + (size_t)prediction->measured_count * (size_t)units;
    memset(row, 0, (size_t)units * sizeof *row);
    walk_steps(&(struct walk){row, -1, units - 1, prediction->call_names}, model->steps, model->step_count);
    if (phase_ns)
        memcpy(row, phase_ns, (size_t)(units - 1) * sizeof *row);
    if (!was_observed(row, units - 1))
        return pl_fail(error, PL_E_INPUT, "'%s' has no observed part: nothing was measured", name);
    if (model->incomplete_ranks > 0)
        predict_note(prediction, "%s: the trace ends early on some ranks, its times are too small", name);
    prediction->measured_count++;
    return PL_OK;
}
