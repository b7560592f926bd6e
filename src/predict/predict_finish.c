/* The equations: from samples to times, bandwidths, usage and errors. */
#include "predict/predict_peak.h"

#include <math.h>
#include <stdlib.h>

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
    const double seconds = (bytes_a > 0 ? bytes_a / rate_a : 0) + (bytes_b > 0 ? bytes_b / rate_b : 0);
    return seconds > 0 ? (bytes_a + bytes_b) / seconds : NAN;
}

/* ---- one unit ---- */

static double total_bytes(const struct predict_phase *phase)
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

/* Mean and noise of a column of the measured rows; `unit` < 0: of their sums. */
static bool measured_of(const struct prediction *prediction, int unit, double *ret_ns, double *ret_noise)
{
    const int units = predict_unit_count(prediction), runs = prediction->measured_count;
    double *values = calloc((size_t)runs + 1, sizeof *values), sum = 0;
    if (!values)
        return false;
    for (int run = 0; run < runs; run++) {
        const double *row = prediction->measured + (size_t)run * (size_t)units;
        for (int i = 0; i < units; i++)
            values[run] += unit < 0 || i == unit ? row[i] : 0;
        sum += values[run];
    }
    *ret_ns = runs ? sum / runs : NAN;
    *ret_noise = predict_noise_percent(values, (size_t)runs);
    free(values);
    return true;
}

/* ---- the total: eq. 1 ---- */

static bool add_run(const struct predict_unit *unit, int run, struct predict_sample *sum)
{
    for (size_t i = 0; i < unit->sample_count; i++)
        if (unit->samples[i].run == run) {
            predict_sample_add(sum, &unit->samples[i]);
            return true;
        }
    return unit->sample_count == 0; /* the calls, where there are none */
}

static bool total_of_runs(struct predict_configuration *configuration, int units)
{
    const size_t runs = (size_t)configuration->run_count;
    struct predict_unit total = {0};
    bool ok = true;
    for (int run = 0; run < (int)runs && ok; run++) {
        struct predict_sample sum = {.run = run};
        bool whole = true;
        for (int i = 0; i < units; i++)
            whole = whole && add_run(&configuration->units[i], run, &sum);
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
    if (!total_of_runs(configuration, units))
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
        if (!measured_of(prediction, i, &unit->measured_ns, &unit->measured_noise_percent))
            return false;
        if (i == units - 1)
            break;
        const struct predict_phase *phase = &prediction->program.phases[i];
        const double used = isnan(unit->measured_ns) ? unit->time.ns : unit->measured_ns;
        unit->usage = predict_peak_of(prediction, configuration, phase);
        unit->usage.percent = 100 * predict_bandwidth(total_bytes(phase), used) / unit->usage.peak;
    }
    return finish_total(configuration, units) && finish_failure(prediction, configuration) &&
           measured_of(prediction, -1, &configuration->measured_ns, &configuration->measured_noise_percent);
}

pl_status predict_finish(struct prediction *prediction, struct pl_error *error)
{
    for (int i = 0; i < prediction->configuration_count; i++)
        if (!finish_configuration(prediction, &prediction->configurations[i]))
            return pl_fail(error, PL_E_NOMEM, "not enough memory for a prediction");
    return predict_rank(prediction, error);
}
