/* Replay blocks: one sample for each repetition of each phase. */
#include "predict/predict.h"

#include "base/checksum.h"
#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
                                               .measured_ns = NAN,
                                               .measured_noise_percent = NAN,
                                               .usage = {.peak = NAN, .plain = NAN, .percent = NAN},
                                               .replay_ns = NAN};
    more->total = (struct predict_time){NAN, NAN, NAN};
    more->noise_percent = more->measured_ns = more->measured_noise_percent = NAN;
    prediction->configuration_count++;
    return more;
}

bool predict_unit_add(struct predict_unit *unit, const struct predict_sample *sample)
{
    struct predict_sample *samples = realloc(unit->samples, (unit->sample_count + 1) * sizeof *samples);
    if (!samples)
        return false;
    unit->samples = samples;
    samples[unit->sample_count++] = *sample;
    return true;
}

static void clear_configuration(struct predict_configuration *configuration, int units)
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
            clear_configuration(&prediction->configurations[i], units);
    prediction->configurations[0] = prediction->configurations[kept];
    prediction->configuration_count = 1;
    return true;
}

void prediction_clear(struct prediction *prediction)
{
    for (int i = 0; i < prediction->configuration_count; i++)
        clear_configuration(&prediction->configurations[i], predict_unit_count(prediction));
    for (size_t i = 0; i < prediction->note_count; i++)
        free(prediction->notes[i]);
    free(prediction->configurations);
    free(prediction->notes);
    free(prediction->call_names);
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

static bool param_int(const struct blockfile_set *set, const char *key, int64_t min, int64_t *ret_value)
{
    const char *text = blockfile_param_of(set, key);
    return text && units_parse_int(text, min, INT64_MAX, ret_value);
}

static const char *param_text(const struct blockfile_set *set, const char *key)
{
    const char *text = blockfile_param_of(set, key);
    return text ? text : "(not told)";
}

/* False, and the reason in `why`, where a set cannot be used. */
static bool read_set(const struct predict_program *program, const struct blockfile_set *set, struct replayed *ret,
                     struct text *why)
{
    int64_t phase, count, ns, low, high;
    const char *kind = blockfile_param_of(set, "kind");
    const bool call = strcmp(kind, "call") == 0;
    *ret = (struct replayed){.unit = program->phase_count,
                             .operation = call ? blockfile_param_of(set, "operation") : NULL};
    if (!call && (!param_int(set, "phase", 1, &phase) || phase > program->phase_count)) {
        text_format(why, "phase %s is none of the model", param_text(set, "phase"));
        return false;
    }
    if (!call)
        ret->unit = (int)phase - 1;
    if (!call && (!param_int(set, "count", 1, &count) || count != program->phases[ret->unit].count)) {
        text_format(why, "its count %s is not that of the model, %" PRId64, param_text(set, "count"),
                    program->phases[ret->unit].count);
        return false;
    }
    if (set->error_count > 0) {
        text_format(why, "it failed on rank %d: %s", set->errors[0].rank, set->errors[0].text);
        return false;
    }
    if (!param_int(set, "repetition", 1, &ret->repetition))
        ret->repetition = 1;
    if (!param_int(set, "total_ns", 0, &ns)) {
        text_add(why, "it has no total_ns");
        return false;
    }
    ret->ns = (double)ns;
    ret->low_ns = param_int(set, "total_low_ns", 0, &low) ? (double)low : NAN;
    ret->high_ns = param_int(set, "total_high_ns", 0, &high) ? (double)high : NAN;
    return true;
}

/* ---- blocks ---- */

static const char *label_of(const struct blockfile_block *block, char *buffer, size_t size)
{
    const char *label = blockfile_fact_of(block, "configuration");
    const char *on = blockfile_input_of(block, "on"), *mpiio = blockfile_input_of(block, "mpiio");
    if (label && *label)
        return label;
    snprintf(buffer, size, "%s, %s", on ? on : "unknown", mpiio ? mpiio : "unknown");
    return buffer;
}

static bool note_call(struct prediction *prediction, const char *operation)
{
    const char *names = prediction->call_names ? prediction->call_names : "";
    struct text text = {0};
    const char *found = operation ? strstr(names, operation) : names;
    const size_t length = operation ? strlen(operation) : 0;
    for (; found && length; found = strstr(found + 1, operation))
        if ((found == names || found[-1] == ',') && (found[length] == ',' || !found[length]))
            return true;
    if (!length)
        return true;
    text_format(&text, "%s%s%s", names, *names ? "," : "", operation);
    free(prediction->call_names);
    prediction->call_names = text.data;
    return !text.failed;
}

/* The samples of one block: runs are numbered over all blocks of the configuration. */
struct taken {
    struct predict_configuration *to;
    int first_run, run_count;
    int64_t *repetitions; /* by run of this block */
};

static int run_of(struct taken *taken, int64_t repetition)
{
    int run = 0;
    while (run < taken->run_count && taken->repetitions[run] != repetition)
        run++;
    if (run == taken->run_count)
        taken->repetitions[taken->run_count++] = repetition;
    return taken->first_run + run;
}

static bool take_set(struct prediction *prediction, struct taken *taken, const struct replayed *set)
{
    struct predict_unit *unit = &taken->to->units[set->unit];
    const struct predict_sample sample = predict_sample_of(run_of(taken, set->repetition), set->ns, set->low_ns,
                                                           set->high_ns);
    for (size_t i = 0; i < unit->sample_count; i++) {
        if (unit->samples[i].run != sample.run)
            continue;
        if (set->operation) /* the calls of a repetition together are one sample */
            predict_sample_add(&unit->samples[i], &sample);
        return !set->operation || note_call(prediction, set->operation);
    }
    return predict_unit_add(unit, &sample) && (!set->operation || note_call(prediction, set->operation));
}

static pl_status take_block(struct prediction *prediction, const struct blockfile *file,
                            const struct blockfile_block *block, struct pl_error *error)
{
    char buffer[256];
    struct taken taken = {.to = predict_configuration_of(prediction, label_of(block, buffer, sizeof buffer))};
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
        if (read_set(&prediction->program, set, &replayed, &why))
            ok = take_set(prediction, &taken, &replayed);
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
        if (strcmp(block->class_name, "Replay") != 0)
            continue;
        const char *hash = blockfile_fact_of(block, "model_hash"), *name = blockfile_fact_of(block, "program");
        if (!hash || !*hash ||
            !checksum_agrees(strcmp(hash, program->hash[0]) == 0 || strcmp(hash, program->hash[1]) == 0)) {
            predict_note(prediction, "%s:%" PRId64 ": a replay of another model (program %s, %s) is left out",
                         file->path, block->line, name ? name : "not told", hash ? hash : "no hash");
            continue;
        }
        const pl_status status = take_block(prediction, file, block, error);
        if (status != PL_OK)
            return status;
        ++*ret_count;
    }
    return PL_OK;
}
