#include "predict/predict_observe.h"

#include "trace/trace_expand.h"

#include <stdlib.h>
#include <string.h>

static void find_phases(struct predict_observer *observer, const struct model_step *steps, int count, int phase)
{
    for (int i = 0; i < count; i++) {
        const int inside = steps[i].phase ? steps[i].phase - 1 : phase;
        if (steps[i].kind != MODEL_LOOP)
            observer->phase_of[steps[i].leaf] = inside;
        find_phases(observer, steps[i].body, steps[i].count, inside);
    }
}

bool predict_observer_init(struct predict_observer *observer, const struct model *model)
{
    *observer = (struct predict_observer){.model = model,
                                          .phase_ns = calloc((size_t)model->phase_count + 1, sizeof(double)),
                                          .phase_of = calloc((size_t)model->leaf_count + 1, sizeof(int)),
                                          .calls_left = PREDICT_OBSERVE_CALLS};
    if (!observer->phase_ns || !observer->phase_of) {
        predict_observer_clear(observer);
        return false;
    }
    find_phases(observer, model->steps, model->step_count, -1);
    return true;
}

void predict_observer_clear(struct predict_observer *observer)
{
    free(observer->phase_ns);
    free(observer->phase_of);
    *observer = (struct predict_observer){0};
}

/* ---- one rank: the calls of the model and those of the trace side by side ---- */

struct walk {
    struct predict_observer *observer;
    struct trace_expand trace;
    double *phase_ns; /* of this rank */
};

/* "MPI_File_write_at_all_c" is write_at_all. */
static bool is_operation(const char *function, const char *operation)
{
    static const char PREFIX[] = "MPI_File_";
    const size_t length = strlen(operation);
    if (strncmp(function, PREFIX, sizeof PREFIX - 1) == 0)
        function += sizeof PREFIX - 1;
    return strncmp(function, operation, length) == 0 && (!function[length] || strcmp(function + length, "_c") == 0);
}

/* What the model leaves out of a trace (failed calls, seeks, queries) is passed over. */
static bool take_event(void *context, const struct model_event *event)
{
    struct walk *walk = context;
    struct trace_expanded call;
    do {
        if (walk->observer->calls_left-- <= 0 || !trace_expand_next(&walk->trace, &call)) {
            walk->observer->gave_up = true;
            return false;
        }
    } while (call.node->kind != TRACE_NODE_CALL || call.node->code != 0 ||
             !is_operation(call.node->function, event->step->operation));
    const int phase = walk->observer->phase_of[event->step->leaf];
    if (phase >= 0)
        walk->phase_ns[phase] += call.duration_ns;
    return true;
}

pl_status predict_observe_rank(struct predict_observer *observer, const struct trace_tree *tree, struct pl_error *error)
{
    const int phases = observer->model->phase_count;
    if (observer->gave_up)
        return PL_OK;
    struct walk walk = {.observer = observer, .phase_ns = calloc((size_t)phases + 1, sizeof(double))};
    if (!walk.phase_ns)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for a trace");
    trace_expand_init(&walk.trace, tree);
    const pl_status status = model_expand(observer->model, tree->rank, take_event, &walk, error);
    for (int i = 0; i < phases; i++)
        if (walk.phase_ns[i] > observer->phase_ns[i])
            observer->phase_ns[i] = walk.phase_ns[i];
    free(walk.phase_ns);
    return status;
}
