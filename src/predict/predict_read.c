/* Measured runs of the program: what the observed part of its model says of each phase. */
#include "predict/predict.h"

#include "base/checksum.h"
#include "base/units.h"
#include "bench/replay/replay_plan.h"
#include "trace/trace_tree.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what was measured ---- */

struct measured_walk {
    double *row; /* times of the units */
    int phase;   /* that is gone through; -1: none */
    const struct prediction *prediction;
};

/* Of the calls outside of phases those count that were replayed too. */
static int measured_unit_of(const struct measured_walk *walk, const char *operation)
{
    const int unit = walk->phase >= 0 ? walk->phase : predict_unit_of_call(&walk->prediction->program, operation);
    bool replayed = walk->phase >= 0;
    for (int i = 0; i < walk->prediction->configuration_count && unit >= 0; i++)
        replayed |= walk->prediction->configurations[i].units[unit].sample_count > 0;
    return replayed ? unit : -1;
}

/* The time of a phase: that of its calls, each on its slowest rank. */
static void measured_walk_steps(struct measured_walk *walk, const struct model_step *steps, int count)
{
    for (int i = 0; i < count; i++) {
        const struct model_step *step = &steps[i];
        const int outer = walk->phase;
        if (step->phase)
            walk->phase = step->phase - 1;
        const int unit = step->kind == MODEL_CALL ? measured_unit_of(walk, step->operation) : -1;
        if (unit >= 0)
            walk->row[unit] += step->slowest_ns;
        measured_walk_steps(walk, step->body, step->count);
        walk->phase = outer;
    }
}

static bool measured_was_observed(const double *row, int count)
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
    measured_walk_steps(&(struct measured_walk){row, -1, prediction}, model->steps, model->step_count);
    if (phase_ns)
        memcpy(row, phase_ns, (size_t)prediction->program.phase_count * sizeof *row);
    if (!measured_was_observed(row, prediction->program.phase_count))
        return pl_fail(error, PL_E_INPUT, "'%s' has no observed part: nothing was measured", name);
    if (model->incomplete_ranks > 0)
        predict_note(prediction, "%s: the trace ends early on some ranks, its times are too small", name);
    prediction->measured_count++;
    return PL_OK;
}

/* ---- what a trace observed ---- */

static void observe_find_phases(struct predict_observer *observer, const struct model_step *steps, int count, int phase)
{
    for (int i = 0; i < count; i++) {
        const int inside = steps[i].phase ? steps[i].phase - 1 : phase;
        if (steps[i].kind != MODEL_LOOP) {
            assert(steps[i].leaf < observer->model->leaf_count && inside < observer->model->phase_count);
            observer->phase_of[steps[i].leaf] = inside;
        }
        observe_find_phases(observer, steps[i].body, steps[i].count, inside);
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
    observe_find_phases(observer, model->steps, model->step_count, -1);
    return true;
}

void predict_observer_clear(struct predict_observer *observer)
{
    free(observer->phase_ns);
    free(observer->phase_of);
    *observer = (struct predict_observer){0};
}

/* ---- one rank: the calls of the model and those of the trace side by side ---- */

struct observe_walk {
    struct predict_observer *observer;
    struct trace_expand trace;
    double *phase_ns; /* of this rank */
};

/* "MPI_File_write_at_all_c" is write_at_all. */
static bool observe_is_operation(const char *function, const char *operation)
{
    static const char PREFIX[] = "MPI_File_";
    const size_t length = strlen(operation);
    if (strncmp(function, PREFIX, sizeof PREFIX - 1) == 0)
        function += sizeof PREFIX - 1;
    return strncmp(function, operation, length) == 0 && (!function[length] || strcmp(function + length, "_c") == 0);
}

/* What the model leaves out of a trace (failed calls, seeks, queries) is passed over. */
static bool observe_take_event(void *context, const struct model_event *event)
{
    struct observe_walk *walk = context;
    struct trace_expanded call;
    do {
        if (walk->observer->calls_left-- <= 0 || !trace_expand_next(&walk->trace, &call)) {
            walk->observer->gave_up = true;
            return false;
        }
    } while (call.node->kind != TRACE_NODE_CALL || call.node->code != 0 ||
             !observe_is_operation(call.node->function, event->step->operation));
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
    struct observe_walk walk = {.observer = observer, .phase_ns = calloc((size_t)phases + 1, sizeof(double))};
    if (!walk.phase_ns)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for a trace");
    trace_expand_init(&walk.trace, tree);
    const pl_status status = model_expand(observer->model, tree->rank, observe_take_event, &walk, error);
    for (int i = 0; i < phases; i++)
        if (walk.phase_ns[i] > observer->phase_ns[i])
            observer->phase_ns[i] = walk.phase_ns[i];
    free(walk.phase_ns);
    return status;
}

/* ---- replays ---- */

/* Replay blocks: one sample for each repetition of each phase. */

/* ---- what a prediction holds ---- */

void predict_note(struct prediction *prediction, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < prediction->note_count; i++)
        if (strcmp(prediction->notes[i], text) == 0)
            return;
    char **notes = realloc(prediction->notes, (prediction->note_count + 1) * sizeof *notes);
    if (!notes)
        return; /* a note less */
    prediction->notes = notes;
    notes[prediction->note_count] = text_dup(text);
    prediction->note_count += notes[prediction->note_count] != NULL;
}

struct predict_configuration *predict_configuration_of(struct prediction *prediction, const char *label)
{
    const int units = predict_unit_count(prediction);
    for (int i = 0; i < prediction->configuration_count; i++)
        if (strcmp(prediction->configurations[i].label, label) == 0)
            return &prediction->configurations[i];
    struct predict_configuration *more = realloc(prediction->configurations,
                                                 (size_t)(prediction->configuration_count + 1) * sizeof *more);
    if (!more)
        return NULL;
    prediction->configurations = more;
    more += prediction->configuration_count;
    *more = (struct predict_configuration){
        .label = text_dup(label), .units = calloc((size_t)units, sizeof *more->units), .decides = -1};
    if (!more->label || !more->units) {
        free(more->label);
        free(more->units);
        return NULL;
    }
    for (int i = 0; i < units; i++)
        more->units[i] = (struct predict_unit){.time = {NAN, NAN, NAN},
                                               .noise_percent = NAN,
                                               .measured = {NAN, NAN, NAN},
                                               .measured_noise_percent = NAN,
                                               .usage = {.peak = NAN, .plain = NAN, .percent = NAN},
                                               .replay_ns = NAN};
    more->total = more->measured = (struct predict_time){NAN, NAN, NAN};
    more->noise_percent = more->measured_noise_percent = NAN;
    prediction->configuration_count++;
    return more;
}

bool predict_unit_add(struct predict_unit *unit, const struct predict_sample *sample)
{
    assert(sample->below >= 0 && sample->above >= 0);
    struct predict_sample *samples = realloc(unit->samples, (unit->sample_count + 1) * sizeof *samples);
    if (!samples)
        return false;
    unit->samples = samples;
    samples[unit->sample_count++] = *sample;
    return true;
}

static void predict_read_clear_configuration(struct predict_configuration *configuration, int units)
{
    for (int i = 0; i < units; i++) {
        free(configuration->units[i].samples);
        free(configuration->units[i].source);
    }
    free(configuration->units);
    free(configuration->label);
    free(configuration->on);
    free(configuration->failure);
    free(configuration->tie_with);
    free(configuration->reason);
}

bool predict_keep_configuration(struct prediction *prediction, const char *label)
{
    const int units = predict_unit_count(prediction);
    int kept = 0;
    while (kept < prediction->configuration_count && strcmp(prediction->configurations[kept].label, label) != 0)
        kept++;
    if (kept == prediction->configuration_count)
        return false;
    for (int i = 0; i < prediction->configuration_count; i++)
        if (i != kept)
            predict_read_clear_configuration(&prediction->configurations[i], units);
    prediction->configurations[0] = prediction->configurations[kept];
    prediction->configuration_count = 1;
    return true;
}

void prediction_clear(struct prediction *prediction)
{
    for (int i = 0; i < prediction->configuration_count; i++)
        predict_read_clear_configuration(&prediction->configurations[i], predict_unit_count(prediction));
    for (size_t i = 0; i < prediction->note_count; i++)
        free(prediction->notes[i]);
    free(prediction->configurations);
    free(prediction->notes);
    free(prediction->measured);
    predict_peaks_free(prediction->peaks);
    predict_sources_free(prediction->sources);
    predict_program_clear(&prediction->program);
    *prediction = (struct prediction){0};
}

/* ---- sets ---- */

/* A set of a Replay block. */
struct replayed {
    int unit;
    int64_t repetition;
    double ns, low_ns, high_ns;
    const char *operation; /* of a call outside of phases */
};

static bool predict_read_param_int(const struct blockfile_set *set, const char *key, int64_t min, int64_t *ret_value)
{
    const char *text = blockfile_param_of(set, key);
    return text && units_parse_int(text, min, INT64_MAX, ret_value);
}

static const char *predict_read_param_text(const struct blockfile_set *set, const char *key)
{
    const char *text = blockfile_param_of(set, key);
    return text ? text : "(not told)";
}

/* False, and the reason in `why`, where a set cannot be used. */
static bool predict_read_set(const struct predict_program *program, const struct blockfile_set *set,
                             struct replayed *ret, struct text *why)
{
    int64_t phase, count, ns, low, high;
    const char *kind = blockfile_param_of(set, "kind");
    const bool call = strcmp(kind, "call") == 0;
    *ret = (struct replayed){.operation = call ? blockfile_param_of(set, "operation") : NULL};
    if (call && (ret->unit = predict_unit_of_call(program, ret->operation)) < 0) {
        text_format(why, "%s is no call of the model outside of phases", predict_read_param_text(set, "operation"));
        return false;
    }
    if (!call && (!predict_read_param_int(set, "phase", 1, &phase) || phase > program->phase_count)) {
        text_format(why, "phase %s is none of the model", predict_read_param_text(set, "phase"));
        return false;
    }
    if (!call)
        ret->unit = (int)phase - 1;
    if (!call && (!predict_read_param_int(set, "count", 1, &count) || count != program->phases[ret->unit].count)) {
        text_format(why, "its count %s is not that of the model, %" PRId64, predict_read_param_text(set, "count"),
                    program->phases[ret->unit].count);
        return false;
    }
    if (set->error_count > 0) {
        text_format(why, "it failed on rank %d: %s", set->errors[0].rank, set->errors[0].text);
        return false;
    }
    if (!predict_read_param_int(set, "repetition", 1, &ret->repetition))
        ret->repetition = 1;
    if (!predict_read_param_int(set, "total_ns", 0, &ns)) {
        text_add(why, "it has no total_ns");
        return false;
    }
    ret->ns = (double)ns;
    ret->low_ns = predict_read_param_int(set, "total_low_ns", 0, &low) ? (double)low : NAN;
    ret->high_ns = predict_read_param_int(set, "total_high_ns", 0, &high) ? (double)high : NAN;
    return true;
}

/* ---- blocks ---- */

static const char *predict_read_label_of(const struct blockfile_block *block, char *buffer, size_t size)
{
    const char *label = blockfile_fact_of(block, "configuration");
    const char *on = blockfile_input_of(block, "on"), *mpiio = blockfile_input_of(block, "mpiio");
    if (label && *label)
        return label;
    snprintf(buffer, size, "%s, %s", on ? on : "unknown", mpiio ? mpiio : "unknown");
    return buffer;
}

/* The samples of one block: runs are numbered over all blocks of the configuration. */
struct taken {
    struct predict_configuration *to;
    int first_run, run_count;
    int64_t *repetitions; /* by run of this block */
};

static int predict_read_run_of(struct taken *taken, int64_t repetition)
{
    int run = 0;
    while (run < taken->run_count && taken->repetitions[run] != repetition)
        run++;
    if (run == taken->run_count)
        taken->repetitions[taken->run_count++] = repetition;
    return taken->first_run + run;
}

static bool predict_read_take_set(struct taken *taken, const struct replayed *set)
{
    struct predict_unit *unit = &taken->to->units[set->unit];
    const struct predict_sample sample = predict_sample_of(predict_read_run_of(taken, set->repetition), set->ns,
                                                           set->low_ns, set->high_ns);
    for (size_t i = 0; i < unit->sample_count; i++) {
        if (unit->samples[i].run != sample.run)
            continue;
        if (set->operation) /* the calls of a kind in a repetition together are one sample */
            predict_sample_add(&unit->samples[i], &sample);
        return true;
    }
    return predict_unit_add(unit, &sample);
}

static pl_status predict_read_take_block(struct prediction *prediction, const struct blockfile *file,
                                         const struct blockfile_block *block, struct pl_error *error)
{
    char buffer[256];
    struct taken taken = {
        .to = predict_configuration_of(prediction, predict_read_label_of(block, buffer, sizeof buffer))};
    const char *on = blockfile_input_of(block, "on");
    bool ok = taken.to && (taken.repetitions = calloc(block->set_count + 1, sizeof *taken.repetitions));
    if (ok && !taken.to->on)
        ok = (taken.to->on = text_dup(on)) != NULL;
    if (ok)
        taken.first_run = taken.to->run_count;
    for (size_t i = 0; i < block->set_count && ok; i++) {
        const struct blockfile_set *set = &block->sets[i];
        const char *kind = blockfile_param_of(set, "kind");
        struct replayed replayed;
        struct text why = {0};
        if (!kind || (strcmp(kind, "phase") != 0 && strcmp(kind, "call") != 0))
            continue; /* device activity */
        if (predict_read_set(&prediction->program, set, &replayed, &why))
            ok = predict_read_take_set(&taken, &replayed);
        else
            predict_note(prediction, "%s: set %" PRId64 " of block %s (%s) is left out: %s", file->path, set->number,
                         block->id, taken.to->label, text_get(&why));
        text_clear(&why);
    }
    if (ok)
        taken.to->run_count += taken.run_count;
    free(taken.repetitions);
    return ok ? PL_OK : pl_fail(error, PL_E_NOMEM, "not enough memory for the results in '%s'", file->path);
}

pl_status predict_read_replay(struct prediction *prediction, const struct blockfile *file, int *ret_count,
                              struct pl_error *error)
{
    const struct predict_program *program = &prediction->program;
    for (size_t i = 0; i < file->block_count; i++) {
        const struct blockfile_block *block = &file->blocks[i];
        if (strcmp(block->class_name, REPLAY_CLASS) != 0)
            continue;
        const char *hash = blockfile_fact_of(block, "model_hash"), *name = blockfile_fact_of(block, "program");
        if (!hash || !*hash ||
            !checksum_agrees(strcmp(hash, program->hash[0]) == 0 || strcmp(hash, program->hash[1]) == 0)) {
            predict_note(prediction, "%s:%" PRId64 ": a replay of another model (program %s, %s) is left out",
                         file->path, block->line, name ? name : "not told", hash ? hash : "no hash");
            continue;
        }
        const pl_status status = predict_read_take_block(prediction, file, block, error);
        if (status != PL_OK)
            return status;
        ++*ret_count;
    }
    return PL_OK;
}
