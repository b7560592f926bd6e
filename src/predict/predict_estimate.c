#include "predict/predict.h"

#include "base/statistics.h"
#include "base/units.h"
#include "predict/predict_source.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- intervals ---- */

struct predict_sample predict_sample_of(int run, double ns, double low_ns, double high_ns)
{
    const double below = low_ns < ns ? ns - low_ns : 0; /* also where there is none: NaN compares false */
    const double above = high_ns > ns ? high_ns - ns : 0;
    assert(below >= 0 && above >= 0);
    return (struct predict_sample){run, ns, below * below, above * above};
}

void predict_sample_add(struct predict_sample *sum, const struct predict_sample *more)
{
    sum->ns += more->ns;
    sum->below += more->below;
    sum->above += more->above;
}

struct predict_time predict_interval_mean(const struct predict_sample *samples, size_t count)
{
    double below = 0, above = 0;
    if (count == 0)
        return (struct predict_time){NAN, NAN, NAN};
    for (size_t i = 0; i < count; i++) {
        below += samples[i].below;
        above += samples[i].above;
    }
    const struct statistics_mean spread = statistics_mean_of(&samples[0].ns, count, sizeof *samples);
    const double mean = spread.mean, outer = count > 1 ? spread.error : 0;
    const double low = mean - fmax(outer, sqrt(below) / (double)count);
    assert(!(low > mean) && !(outer < 0));
    return (struct predict_time){mean, fmax(low, 0), mean + fmax(outer, sqrt(above) / (double)count)};
}

struct predict_time predict_interval_sum(const struct predict_time *times, size_t count)
{
    struct predict_sample sum = {0};
    for (size_t i = 0; i < count; i++) {
        const struct predict_sample one = predict_sample_of(0, times[i].ns, times[i].low_ns, times[i].high_ns);
        predict_sample_add(&sum, &one);
    }
    return predict_interval_mean(&sum, count ? 1 : 0);
}

double predict_noise_percent(const double *values, size_t count)
{
    const struct statistics_mean spread = statistics_mean_of(values, count, sizeof *values);
    return spread.mean > 0 ? 100 * spread.deviation / spread.mean : NAN;
}

/* ---- estimates from curves ---- */

/* Predicting without replay: for each direction of a phase the nearest pattern that was measured, and its rate at the
 * phase's request size. */

static double estimate_differ(bool differs, double cost, const char *words, struct text *ret_words)
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
    distance += estimate_differ(wanted->shared_pointer != offered->shared_pointer, 6,
                                offered->shared_pointer ? "with the shared pointer" : "without the shared pointer",
                                ret_words);
    distance += estimate_differ(wanted->random != offered->random, 5, offered->random ? "random" : "not random",
                                ret_words);
    distance += estimate_differ(wanted->collective != offered->collective, 4,
                                offered->collective ? "collective" : "not collective", ret_words);
    distance += estimate_differ(wanted->strided != offered->strided, 3, offered->strided ? "strided" : "not strided",
                                ret_words);
    distance += estimate_differ(wanted->unique != offered->unique, 3,
                                offered->unique ? "a file for each process" : "one file for all", ret_words);
    distance += estimate_differ(offered->rewrites, 1, "rewriting", ret_words);
    distance += estimate_differ(wanted->processes != offered->processes,
                                1.5 * fabs(log2((double)offered->processes / (double)wanted->processes)), words,
                                ret_words);
    if (offered->file_bytes > 0 && wanted->file_bytes > 0) /* the nearest file size of a test; seldom the same */
        distance += fmin(0.9, 0.05 * fabs(log2(offered->file_bytes / wanted->file_bytes)));
    return distance;
}

/* What a direction of a phase does. */
static struct predict_pattern estimate_pattern_of(const struct predict_phase *phase,
                                                  const struct predict_access *access)
{
    return (struct predict_pattern){.collective = access->collective,
                                    .strided = phase->holes || (phase->order == MODEL_STRIDED && !phase->unique),
                                    .unique = phase->unique,
                                    .shared_pointer = access->shared_pointer,
                                    .random = phase->order == MODEL_RANDOM,
                                    .processes = phase->processes,
                                    .file_bytes = (double)access->bytes * (double)phase->count};
}

static double estimate_size_for(const struct predict_source *source, const struct predict_access *access)
{
    return (double)(source->by_piece ? access->piece : access->request);
}

enum { OUTSIDE_COST = 2 }; /* as much as a pattern that differs a little */

static const struct predict_source *estimate_nearest(const struct predict_sources *sources,
                                                     enum predict_direction direction,
                                                     const struct predict_pattern *wanted,
                                                     const struct predict_access *access)
{
    const struct predict_source *best = NULL;
    double least = INFINITY;
    for (int i = 0; i < sources->count; i++) {
        const struct predict_source *source = &sources->list[i];
        enum predict_range range;
        if (source->direction != direction ||
            isnan(predict_curve_at(&source->curve, estimate_size_for(source, access), &range)))
            continue;
        const double distance = predict_pattern_distance(wanted, &source->pattern, NULL) +
                                (range == PREDICT_INSIDE ? 0 : OUTSIDE_COST);
        assert(distance >= 0);
        if (distance < least) {
            least = distance;
            best = source;
        }
    }
    return best;
}

/* "measured from 1.02 kB to 2.1 MB: rate of the nearest". */
static void estimate_add_range(struct text *words, const struct predict_curve *curve, enum predict_range range)
{
    assert(curve->count > 0);
    char low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];
    if (range == PREDICT_INSIDE)
        return;
    text_format(words, "; OUTSIDE of what was measured, %s to %s: rate of the nearest",
                units_bytes((int64_t)curve->points[0].bytes, low),
                units_bytes((int64_t)curve->points[curve->count - 1].bytes, high));
}

/* The rate of a source for a direction of a phase, told in words. */
static double estimate_rate_from(const struct predict_source *source, const struct predict_pattern *wanted,
                                 const struct predict_access *access, struct text *words)
{
    struct text differences = {0};
    char size[UNITS_TEXT_MAX];
    enum predict_range range;
    const double rate = predict_curve_at(&source->curve, estimate_size_for(source, access), &range);
    predict_pattern_distance(wanted, &source->pattern, &differences);
    text_format(words, "%s at %s", source->name, units_binary((int64_t)estimate_size_for(source, access), size));
    if (differences.length)
        text_format(words, " (nearest: %s)", text_get(&differences));
    estimate_add_range(words, &source->curve, range);
    text_clear(&differences);
    return rate;
}

/* A scattered request is not faster than one of its size that lies together: b_eff_io scatters 1 MB and more with each
 * call, and what a small call costs does not show there. */
static double estimate_limit_by_call(const struct predict_sources *sources, enum predict_direction direction,
                                     const struct predict_pattern *wanted, const struct predict_access *access,
                                     double rate, struct text *words)
{
    struct predict_pattern together = *wanted;
    struct text limit = {0};
    together.strided = false;
    const struct predict_source *source = estimate_nearest(sources, direction, &together, access);
    if (!source || source->by_piece || source->pattern.collective != wanted->collective)
        return rate;
    const double most = estimate_rate_from(source, &together, access, &limit);
    if (most < rate)
        text_format(words, "; limited by %s", text_get(&limit));
    text_clear(&limit);
    assert(!(fmin(rate, most) > rate));
    return fmin(rate, most);
}

static double estimate_rate_of_device(const struct predict_sources *sources, const struct predict_phase *phase,
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
static double estimate_rate_for(const struct predict_sources *sources, const struct predict_phase *phase,
                                enum predict_direction direction, struct text *words)
{
    const struct predict_access *access = &phase->access[direction];
    const struct predict_pattern wanted = estimate_pattern_of(phase, access);
    const struct predict_source *source = estimate_nearest(sources, direction, &wanted, access);
    if (words->length)
        text_add(words, "; and ");
    if (!source)
        return estimate_rate_of_device(sources, phase, direction, words);
    const double rate = estimate_rate_from(source, &wanted, access, words);
    return source->by_piece ? estimate_limit_by_call(sources, direction, &wanted, access, rate, words) : rate;
}

static bool estimate_unit(const struct prediction *prediction, int index, struct predict_unit *unit)
{
    assert(index >= 0 && index < prediction->program.phase_count && prediction->sources);
    const struct predict_phase *phase = &prediction->program.phases[index];
    struct text words = {0};
    double ns = 0;
    for (int direction = 0; direction < PREDICT_DIRECTIONS; direction++) {
        const double bytes = (double)phase->access[direction].bytes * (double)phase->count;
        if (bytes > 0)
            ns += bytes / estimate_rate_for(prediction->sources, phase, (enum predict_direction)direction, &words) *
                  1e9;
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
static struct predict_configuration *estimate_only_replay(const struct prediction *prediction)
{
    return prediction->configuration_count == 1 ? &prediction->configurations[0] : NULL;
}

pl_status predict_estimate(struct prediction *prediction, struct pl_error *error)
{
    const bool alone = prediction->configuration_count == 0;
    const bool compared = estimate_only_replay(prediction) != NULL;
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

/* ---- sums ---- */

/* The equations: from samples to times, bandwidths, usage and errors. */

double predict_bandwidth(double bytes, double ns)
{
    return ns > 0 ? bytes / ns * 1e9 : NAN;
}

double predict_error_percent(double value, double reference)
{
    return reference > 0 ? 100 * fabs(value - reference) / reference : NAN;
}

double predict_harmonic(double bytes_a, double rate_a, double bytes_b, double rate_b)
{
    assert(bytes_a >= 0 && bytes_b >= 0);
    const double seconds = (bytes_a > 0 ? bytes_a / rate_a : 0) + (bytes_b > 0 ? bytes_b / rate_b : 0);
    return seconds > 0 ? (bytes_a + bytes_b) / seconds : NAN;
}

/* ---- one unit ---- */

static double finish_total_bytes(const struct predict_phase *phase)
{
    return (double)phase->weight_bytes * (double)phase->count;
}

static bool finish_unit(struct predict_unit *unit)
{
    double *values = calloc(unit->sample_count + 1, sizeof *values);
    if (!values)
        return false;
    for (size_t i = 0; i < unit->sample_count; i++)
        values[i] = unit->samples[i].ns;
    unit->noise_percent = predict_noise_percent(values, unit->sample_count);
    unit->time = predict_interval_mean(unit->samples, unit->sample_count);
    free(values);
    return true;
}

/* Mean, interval and noise of a column of the measured rows; `unit` < 0: of their sums. */
static bool finish_measured_of(const struct prediction *prediction, int unit, struct predict_time *ret_time,
                               double *ret_noise)
{
    assert(unit < predict_unit_count(prediction) && prediction->measured_count >= 0);
    const int units = predict_unit_count(prediction), runs = prediction->measured_count;
    double *values = calloc((size_t)runs + 1, sizeof *values);
    if (!values)
        return false;
    for (int run = 0; run < runs; run++) {
        const double *row = prediction->measured + (size_t)run * (size_t)units;
        for (int i = 0; i < units; i++)
            values[run] += unit < 0 || i == unit ? row[i] : 0;
    }
    const struct statistics_mean spread = statistics_mean_of(values, (size_t)runs, sizeof *values);
    *ret_time = (struct predict_time){runs ? spread.mean : NAN, NAN, NAN};
    if (runs > 1)
        *ret_time = (struct predict_time){spread.mean, fmax(spread.mean - spread.error, 0), spread.mean + spread.error};
    *ret_noise = predict_noise_percent(values, (size_t)runs);
    free(values);
    return true;
}

/* ---- the total: eq. 1 ---- */

static bool finish_add_run(const struct predict_unit *unit, int run, struct predict_sample *sum)
{
    for (size_t i = 0; i < unit->sample_count; i++)
        if (unit->samples[i].run == run) {
            predict_sample_add(sum, &unit->samples[i]);
            return true;
        }
    return unit->sample_count == 0; /* the calls, where there are none */
}

static bool finish_total_of_runs(struct predict_configuration *configuration, int units)
{
    const size_t runs = (size_t)configuration->run_count;
    struct predict_unit total = {0};
    bool ok = true;
    for (int run = 0; run < (int)runs && ok; run++) {
        struct predict_sample sum = {.run = run};
        bool whole = true;
        for (int i = 0; i < units; i++)
            whole = whole && finish_add_run(&configuration->units[i], run, &sum);
        ok = !whole || predict_unit_add(&total, &sum);
    }
    ok = ok && finish_unit(&total);
    configuration->total = total.time;
    configuration->noise_percent = total.noise_percent;
    free(total.samples);
    return ok;
}

/* Runs tell of the total more than phases do: what made one run slow made all of its phases slow. Where no run is
 * whole, or nothing was run, it is the sum of the phases. */
static bool finish_total(struct predict_configuration *configuration, int units)
{
    if (!finish_total_of_runs(configuration, units))
        return false;
    if (!isnan(configuration->total.ns))
        return true;
    struct predict_time *times = calloc((size_t)units, sizeof *times);
    size_t count = 0;
    if (!times)
        return false;
    for (int i = 0; i < units; i++)
        if (!isnan(configuration->units[i].time.ns))
            times[count++] = configuration->units[i].time;
    assert(count <= (size_t)units);
    configuration->total = predict_interval_sum(times, count);
    if (configuration->estimate) /* the phases have no intervals to add up */
        configuration->total.low_ns = configuration->total.high_ns = NAN;
    free(times);
    return true;
}

/* A configuration has a total if every phase has a time. */
static bool finish_failure(const struct prediction *prediction, struct predict_configuration *configuration)
{
    struct text missing = {0};
    for (int i = 0; i < prediction->program.phase_count; i++)
        if (isnan(configuration->units[i].time.ns))
            text_format(&missing, "%s%s", missing.length ? ", " : "", prediction->program.phases[i].label);
    if (!missing.length)
        return !missing.failed;
    struct text failure = {0};
    text_format(&failure, "no result for phase %s", text_get(&missing));
    text_clear(&missing);
    configuration->failure = failure.data;
    configuration->total = (struct predict_time){NAN, NAN, NAN};
    return configuration->failure != NULL;
}

static bool finish_configuration(struct prediction *prediction, struct predict_configuration *configuration)
{
    const int units = predict_unit_count(prediction);
    if (!configuration->estimate && predict_peak_is_behind(prediction, configuration->on))
        predict_note(prediction, "%s: no peak was measured in this directory; BW_PK is the sum over all %d I/O nodes",
                     configuration->on ? configuration->on : "", prediction->peaks->count);
    for (int i = 0; i < units; i++) {
        struct predict_unit *unit = &configuration->units[i];
        if (!configuration->estimate && !finish_unit(unit))
            return false;
        if (!finish_measured_of(prediction, i, &unit->measured, &unit->measured_noise_percent))
            return false;
        if (i >= prediction->program.phase_count)
            continue;
        const struct predict_phase *phase = &prediction->program.phases[i];
        const double used = isnan(unit->measured.ns) ? unit->time.ns : unit->measured.ns;
        unit->usage = predict_peak_of(prediction, configuration, phase);
        unit->usage.percent = 100 * predict_bandwidth(finish_total_bytes(phase), used) / unit->usage.peak;
    }
    return finish_total(configuration, units) && finish_failure(prediction, configuration) &&
           finish_measured_of(prediction, -1, &configuration->measured, &configuration->measured_noise_percent);
}

pl_status predict_finish(struct prediction *prediction, struct pl_error *error)
{
    for (int i = 0; i < prediction->configuration_count; i++)
        if (!finish_configuration(prediction, &prediction->configurations[i]))
            return pl_fail(error, PL_E_NOMEM, "not enough memory for a prediction");
    return predict_rank(prediction, error);
}
