/* Quantities of the phase model's measurements: what a device can do at most, and how long replays took. */
#include "history/history_quantity.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double number_of(const struct blockfile_set *set, const char *key)
{
    const char *text = blockfile_param_of(set, key);
    double number;
    return text && units_parse_number(text, &number) ? number : NAN;
}

/* ---- Peak ---- */

/* The longest of all processes; NaN: it was not measured. */
static double longest_ns(const struct blockfile_set *set, const char *key)
{
    double longest = NAN;
    for (size_t i = 0; i < set->time_count; i++)
        if (strcmp(set->times[i].key, key) == 0)
            longest = fmax(longest, (double)set->times[i].nanoseconds);
    return longest;
}

struct mean {
    double sum, count;
};

static void take(void *context, int64_t first, const int64_t *values, size_t count)
{
    struct mean *mean = context;
    (void)first;
    for (size_t i = 0; i < count; i++)
        mean->sum += (double)values[i];
    mean->count += (double)count;
}

static pl_status mean_ns(const struct history_source *source, const struct blockfile_set *set, double *ret_mean,
                         struct pl_error *error)
{
    struct mean mean = {0, 0};
    pl_status status = PL_OK;
    for (size_t i = 0; i < set->series_count && status == PL_OK; i++)
        if (strcmp(set->series[i].unit, "ns") == 0)
            status = blockfile_stream(source->file, &set->series[i], take, &mean, error);
    *ret_mean = mean.count > 0 ? mean.sum / mean.count : NAN;
    return status;
}

/* Reads and writes have a rate; what moves no data has a time. */
static pl_status add_peak(const struct history_source *source, const struct blockfile_set *set, struct pl_error *error)
{
    static const char *const keys[] = {"access", "request_bytes", "file_bytes", "direct",
                                       "stride", "fresh",         "processes",  NULL};
    const char *operation = blockfile_param_of(set, "operation");
    struct text settings = {0};
    char name[64];
    pl_status status = PL_OK;
    if (!operation || set->error_count)
        return PL_OK;
    history_settings_of(set, keys, &settings);
    snprintf(name, sizeof name, "%.20s_time", operation);
    const double loop_ns = longest_ns(set, name), bytes = number_of(set, "bytes");
    if (bytes > 0) {
        snprintf(name, sizeof name, "peak %.20s rate", operation);
        history_quantity_rate(source, name, text_get(&settings), units_rate_mb_per_s(bytes, loop_ns));
    } else {
        double mean;
        status = mean_ns(source, set, &mean, error);
        snprintf(name, sizeof name, "time of %.20s", operation);
        history_quantity_time(source, name, text_get(&settings), mean);
    }
    text_clear(&settings);
    return status;
}

pl_status history_quantity_peak(const struct history_source *source, struct pl_error *error)
{
    pl_status status = PL_OK;
    for (size_t i = 0; i < source->block->set_count && status == PL_OK; i++)
        status = add_peak(source, &source->block->sets[i], error);
    return status;
}

/* ---- Replay ---- */

static bool is_unit(const struct blockfile_set *set)
{
    const char *kind = blockfile_param_of(set, "kind");
    return kind && (strcmp(kind, "phase") == 0 || strcmp(kind, "call") == 0);
}

/* The estimated I/O time of the program in one repetition; NaN: a phase failed, or there is no such repetition. */
static double total_ns(const struct blockfile_block *block, double repetition)
{
    double total = NAN;
    for (size_t i = 0; i < block->set_count; i++) {
        const struct blockfile_set *set = &block->sets[i];
        if (!is_unit(set) || number_of(set, "repetition") != repetition)
            continue;
        if (set->error_count)
            return NAN;
        total = (isnan(total) ? 0 : total) + number_of(set, "total_ns");
    }
    return total;
}

pl_status history_quantity_replay(const struct history_source *source, struct pl_error *error)
{
    const struct blockfile_block *block = source->block;
    const char *program = blockfile_fact_of(block, "program");
    const char *model = blockfile_fact_of(block, "model_hash");
    struct text settings = {0};
    double last = 0;
    (void)error;
    if (!block->complete)
        return PL_OK; /* a part of the phases is no total */
    text_format(&settings, "%s, model %s", program ? program : "unknown", model ? model : "unknown");
    for (size_t i = 0; i < block->input_count; i++)
        if (strncmp(block->inputs[i].key, "hint.", 5) == 0)
            text_format(&settings, ", %s=%s", block->inputs[i].key + 5, block->inputs[i].value);
    for (size_t i = 0; i < block->set_count; i++)
        last = fmax(last, number_of(&block->sets[i], "repetition"));
    for (double repetition = 1; repetition <= last && repetition <= (double)block->set_count; repetition++)
        history_quantity_time(source, "replayed I/O time", text_get(&settings), total_ns(block, repetition));
    text_clear(&settings);
    return PL_OK;
}
