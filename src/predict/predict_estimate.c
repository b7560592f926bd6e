/* Predicting without replay: for each direction of a phase the nearest pattern that was measured, and its rate at the
 * phase's request size. */
#include "predict/predict_source.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static double differ(bool differs, double cost, const char *words, struct text *ret_words)
{
    if (differs && ret_words)
        text_format(ret_words, "%s%s", ret_words->length ? ", " : "", words);
    return differs ? cost : 0;
}

double predict_pattern_distance(const struct predict_pattern *wanted, const struct predict_pattern *offered,
                                struct text *ret_words)
{
    char words[64];
    double distance = 0;
    snprintf(words, sizeof words, "%" PRId64 " and not %" PRId64 " processes", offered->processes, wanted->processes);
    distance += differ(wanted->shared_pointer != offered->shared_pointer, 6,
                       offered->shared_pointer ? "with the shared pointer" : "without the shared pointer", ret_words);
    distance += differ(wanted->random != offered->random, 5, offered->random ? "random" : "not random", ret_words);
    distance += differ(wanted->collective != offered->collective, 4,
                       offered->collective ? "collective" : "not collective", ret_words);
    distance += differ(wanted->strided != offered->strided, 3, offered->strided ? "strided" : "not strided", ret_words);
    distance += differ(wanted->unique != offered->unique, 3,
                       offered->unique ? "a file for each process" : "one file for all", ret_words);
    distance += differ(offered->rewrites, 1, "rewriting", ret_words);
    distance += differ(wanted->processes != offered->processes,
                       1.5 * fabs(log2((double)offered->processes / (double)wanted->processes)), words, ret_words);
    if (offered->file_bytes > 0 && wanted->file_bytes > 0) /* the nearest file size of a test; seldom the same */
        distance += fmin(0.9, 0.05 * fabs(log2(offered->file_bytes / wanted->file_bytes)));
    return distance;
}

/* What a direction of a phase does. */
static struct predict_pattern pattern_of(const struct predict_phase *phase, const struct predict_access *access)
{
    return (struct predict_pattern){.collective = access->collective,
                                    .strided = phase->holes || (phase->order == MODEL_STRIDED && !phase->unique),
                                    .unique = phase->unique,
                                    .shared_pointer = access->shared_pointer,
                                    .random = phase->order == MODEL_RANDOM,
                                    .processes = phase->processes,
                                    .file_bytes = (double)access->bytes * (double)phase->count};
}

static double size_for(const struct predict_source *source, const struct predict_access *access)
{
    return (double)(source->by_piece ? access->piece : access->request);
}

enum { OUTSIDE_COST = 2 }; /* as much as a pattern that differs a little */

static const struct predict_source *nearest(const struct predict_sources *sources, enum predict_direction direction,
                                            const struct predict_pattern *wanted, const struct predict_access *access)
{
    const struct predict_source *best = NULL;
    double least = INFINITY;
    for (int i = 0; i < sources->count; i++) {
        const struct predict_source *source = &sources->list[i];
        enum predict_range range;
        if (source->direction != direction || isnan(predict_curve_at(&source->curve, size_for(source, access), &range)))
            continue;
        const double distance = predict_pattern_distance(wanted, &source->pattern, NULL) +
                                (range == PREDICT_INSIDE ? 0 : OUTSIDE_COST);
        if (distance < least) {
            least = distance;
            best = source;
        }
    }
    return best;
}

/* "measured from 1.02 kB to 2.1 MB: rate of the nearest". */
static void add_range(struct text *words, const struct predict_curve *curve, enum predict_range range)
{
    char low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];
    if (range == PREDICT_INSIDE)
        return;
    text_format(words, "; OUTSIDE of what was measured, %s to %s: rate of the nearest",
                units_bytes((int64_t)curve->points[0].bytes, low),
                units_bytes((int64_t)curve->points[curve->count - 1].bytes, high));
}

/* The rate of a source for a direction of a phase, told in words. */
static double rate_from(const struct predict_source *source, const struct predict_pattern *wanted,
                        const struct predict_access *access, struct text *words)
{
    struct text differences = {0};
    char size[UNITS_TEXT_MAX];
    enum predict_range range;
    const double rate = predict_curve_at(&source->curve, size_for(source, access), &range);
    predict_pattern_distance(wanted, &source->pattern, &differences);
    text_format(words, "%s at %s", source->name, units_binary((int64_t)size_for(source, access), size));
    if (differences.length)
        text_format(words, " (nearest: %s)", text_get(&differences));
    add_range(words, &source->curve, range);
    text_clear(&differences);
    return rate;
}

/* A scattered request is not faster than one of its size that lies together: b_eff_io scatters 1 MB and more with each
 * call, and what a small call costs does not show there. */
static double limit_by_call(const struct predict_sources *sources, enum predict_direction direction,
                            const struct predict_pattern *wanted, const struct predict_access *access, double rate,
                            struct text *words)
{
    struct predict_pattern together = *wanted;
    struct text limit = {0};
    together.strided = false;
    const struct predict_source *source = nearest(sources, direction, &together, access);
    if (!source || source->by_piece || source->pattern.collective != wanted->collective)
        return rate;
    const double most = rate_from(source, &together, access, &limit);
    if (most < rate)
        text_format(words, "; limited by %s", text_get(&limit));
    text_clear(&limit);
    return fmin(rate, most);
}

static double rate_of_device(const struct predict_sources *sources, const struct predict_phase *phase,
                             enum predict_direction direction, struct text *words)
{
    static const char *const NAMES[] = {"write", "read"};
    const int64_t request = phase->access[direction].request;
    char size[UNITS_TEXT_MAX];
    const struct predict_peak_rate peak = predict_peaks_at(sources->peaks, NULL, direction, phase->order,
                                                           (double)request);
    if (isnan(peak.bytes_per_s))
        text_format(words, "no characterisation has a %s", NAMES[direction]);
    else
        text_format(words, "device peak, %s at %s (below MPI-IO: a lower limit of the time)%s%s", NAMES[direction],
                    units_binary(request, size), peak.other_access ? ", sequential" : "",
                    peak.range == PREDICT_INSIDE ? "" : "; OUTSIDE of what was measured: rate of the nearest");
    return peak.bytes_per_s;
}

/* The rate for a direction, and its source in words; NaN: nothing was measured. */
static double rate_for(const struct predict_sources *sources, const struct predict_phase *phase,
                       enum predict_direction direction, struct text *words)
{
    const struct predict_access *access = &phase->access[direction];
    const struct predict_pattern wanted = pattern_of(phase, access);
    const struct predict_source *source = nearest(sources, direction, &wanted, access);
    if (words->length)
        text_add(words, "; and ");
    if (!source)
        return rate_of_device(sources, phase, direction, words);
    const double rate = rate_from(source, &wanted, access, words);
    return source->by_piece ? limit_by_call(sources, direction, &wanted, access, rate, words) : rate;
}

static bool estimate_unit(const struct prediction *prediction, int index, struct predict_unit *unit)
{
    const struct predict_phase *phase = &prediction->program.phases[index];
    struct text words = {0};
    double ns = 0;
    for (int direction = 0; direction < PREDICT_DIRECTIONS; direction++) {
        const double bytes = (double)phase->access[direction].bytes * (double)phase->count;
        if (bytes > 0)
            ns += bytes / rate_for(prediction->sources, phase, (enum predict_direction)direction, &words) * 1e9;
    }
    if (phase->access[PREDICT_WRITE].bytes > 0 && phase->access[PREDICT_READ].bytes > 0)
        text_add(&words, "; the mix was not measured, its parts are added");
    unit->time = (struct predict_time){ns, NAN, NAN};
    unit->source = text_dup(text_get(&words));
    const bool ok = !words.failed && unit->source;
    text_clear(&words);
    return ok;
}

/* The replay that an estimate is compared with: the only one. */
static struct predict_configuration *only_replay(const struct prediction *prediction)
{
    return prediction->configuration_count == 1 ? &prediction->configurations[0] : NULL;
}

pl_status predict_estimate(struct prediction *prediction, struct pl_error *error)
{
    const bool alone = prediction->configuration_count == 0;
    const bool compared = only_replay(prediction) != NULL;
    struct predict_configuration *estimate = predict_configuration_of(prediction, "estimate without replay");
    bool ok = estimate != NULL;
    if (ok)
        estimate->estimate = true;
    for (int i = 0; i < prediction->program.phase_count && ok; i++) {
        ok = estimate_unit(prediction, i, &estimate->units[i]);
        if (ok && compared) {
            const struct predict_unit *replayed = &prediction->configurations[0].units[i];
            estimate->units[i].replay_ns = predict_interval_mean(replayed->samples, replayed->sample_count).ns;
        }
    }
    if (!alone && !compared)
        predict_note(prediction, "the estimate is compared with a replay of one configuration only: choose it with "
                                 "--configuration");
    return ok ? PL_OK : pl_fail(error, PL_E_NOMEM, "not enough memory for an estimate");
}
