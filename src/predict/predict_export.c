/* A prediction for programs: JSON, CSV, and a block of class Prediction. All three are made from one list of values. */
#include "predict/predict.h"

#include "base/json.h"
#include "base/statistics.h"
#include "lab/show/analysis_format.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- one row: a phase, the calls, or a total ---- */

/* A value of a row; without a text it is a number, and NaN is left out. */
struct value {
    const char *key, *text;
    double number;
    bool whole;
};

enum { VALUES_MAX = 32 };

struct row {
    struct value values[VALUES_MAX];
    int count;
};

static void export_put_text(struct row *row, const char *key, const char *text)
{
    assert(row->count < (int)(sizeof row->values / sizeof row->values[0]));
    row->values[row->count++] = (struct value){.key = key, .text = text ? text : ""};
}

static void export_put_number(struct row *row, const char *key, double number)
{
    assert(row->count < (int)(sizeof row->values / sizeof row->values[0]));
    row->values[row->count++] = (struct value){.key = key, .number = number};
}

static void export_put_whole(struct row *row, const char *key, double number)
{
    assert(row->count < (int)(sizeof row->values / sizeof row->values[0]));
    row->values[row->count++] = (struct value){.key = key, .number = number, .whole = true};
}

static void export_put_time(struct row *row, const struct predict_time *time)
{
    assert(!(time->low_ns > time->ns) && !(time->high_ns < time->ns));
    export_put_whole(row, "time_ns", time->ns);
    export_put_whole(row, "time_low_ns", time->low_ns);
    export_put_whole(row, "time_high_ns", time->high_ns);
}

static void export_put_measured(struct row *row, const struct predict_time *time, double bytes,
                                const struct predict_time *runs)
{
    const double measured = predict_bandwidth(bytes, runs->ns);
    export_put_whole(row, "measured_ns", runs->ns);
    export_put_whole(row, "measured_low_ns", runs->low_ns);
    export_put_whole(row, "measured_high_ns", runs->high_ns);
    export_put_number(row, "measured_bw_bytes_per_s", bytes > 0 ? measured : NAN);
    export_put_number(row, "error_bw_percent",
                      bytes > 0 ? predict_error_percent(predict_bandwidth(bytes, time->ns), measured) : NAN);
    export_put_number(row, "error_time_percent", predict_error_percent(time->ns, runs->ns));
}

static void export_make_phase(struct row *row, const struct prediction *prediction,
                              const struct predict_configuration *configuration, int index)
{
    const struct predict_phase *phase = &prediction->program.phases[index];
    const struct predict_unit *unit = &configuration->units[index];
    const double bytes = (double)phase->weight_bytes * (double)phase->count;
    export_put_text(row, "kind", "phase");
    export_put_text(row, "configuration", configuration->label);
    export_put_whole(row, "phase", index + 1);
    export_put_text(row, "numbers", phase->label);
    export_put_text(row, "words", phase->words);
    export_put_text(row, "operations", phase->operations);
    export_put_whole(row, "weight_bytes", (double)phase->weight_bytes);
    export_put_whole(row, "count", (double)phase->count);
    export_put_time(row, &unit->time);
    export_put_number(row, "bw_ch_bytes_per_s", predict_bandwidth(bytes, unit->time.ns));
    export_put_number(row, "bw_pk_bytes_per_s", unit->usage.peak);
    export_put_number(row, "bw_pk_plain_bytes_per_s", unit->usage.plain);
    export_put_number(row, "usage_percent", unit->usage.percent);
    export_put_measured(row, &unit->time, bytes, &unit->measured);
    export_put_number(row, "noise_percent", unit->measured_noise_percent);
    export_put_number(row, "replay_noise_percent", unit->noise_percent);
    export_put_number(row, "error_replay_percent", predict_error_percent(unit->time.ns, unit->replay_ns));
    export_put_text(row, "method", configuration->estimate ? "estimate" : "replay");
    if (unit->source)
        export_put_text(row, "source", unit->source);
}

/* All calls of a kind outside of phases. */
static void export_make_calls(struct row *row, const struct prediction *prediction,
                              const struct predict_configuration *configuration, int index)
{
    const struct predict_unit *unit = &configuration->units[index];
    export_put_text(row, "kind", "calls");
    export_put_text(row, "configuration", configuration->label);
    export_put_text(row, "operations", predict_unit_label(prediction, index));
    export_put_time(row, &unit->time);
    export_put_measured(row, &unit->time, 0, &unit->measured);
    export_put_number(row, "noise_percent", unit->measured_noise_percent);
    export_put_number(row, "replay_noise_percent", unit->noise_percent);
    export_put_text(row, "method", "replay");
}

static void export_make_total(struct row *row, const struct prediction *prediction,
                              const struct predict_configuration *configuration)
{
    export_put_text(row, "kind", "total");
    export_put_text(row, "configuration", configuration->label);
    export_put_whole(row, "repetitions", configuration->estimate ? NAN : configuration->run_count);
    export_put_time(row, &configuration->total);
    export_put_measured(row, &configuration->total, 0, &configuration->measured);
    export_put_number(row, "noise_percent", configuration->measured_noise_percent);
    export_put_number(row, "replay_noise_percent", configuration->noise_percent);
    export_put_text(row, "method", configuration->estimate ? "estimate" : "replay");
    if (configuration->failure)
        export_put_text(row, "failure", configuration->failure);
    if (configuration->place <= 0)
        return;
    export_put_whole(row, "place", configuration->place);
    export_put_text(row, "tie_with", configuration->tie_with);
    if (configuration->decides >= prediction->program.phase_count)
        export_put_text(row, "decides", predict_unit_label(prediction, configuration->decides));
    else if (configuration->decides >= 0)
        export_put_whole(row, "decides", configuration->decides + 1);
    export_put_text(row, "reason", configuration->reason);
}

/* Gives all rows to `take`, in the order of the tables. */
typedef void take_row(void *context, const struct row *row);

static void export_each_row(const struct prediction *prediction, take_row *take, void *context)
{
    const int phases = prediction->program.phase_count;
    for (int c = 0; c < prediction->configuration_count; c++) {
        const struct predict_configuration *configuration = &prediction->configurations[c];
        for (int i = 0; i < phases; i++) {
            struct row row = {.count = 0};
            export_make_phase(&row, prediction, configuration, i);
            take(context, &row);
        }
        for (int i = phases; i < predict_unit_count(prediction); i++) {
            struct row row = {.count = 0};
            if (isnan(configuration->units[i].time.ns))
                continue;
            export_make_calls(&row, prediction, configuration, i);
            take(context, &row);
        }
        struct row row = {.count = 0};
        export_make_total(&row, prediction, configuration);
        take(context, &row);
    }
}

/* ---- JSON ---- */

static void export_json_row(void *context, const struct row *row)
{
    struct json *json = context;
    json_row_begin(json, NULL);
    for (int i = 0; i < row->count; i++) {
        const struct value *value = &row->values[i];
        if (value->text)
            json_put_string(json, value->key, value->text);
        else if (isnan(value->number))
            continue;
        else if (value->whole && fabs(value->number) < 9e18)
            json_put_int(json, value->key, (int64_t)llround(value->number));
        else
            json_put_double(json, value->key, value->number);
    }
    json_object_end(json);
}

void predict_export_json(const struct prediction *prediction, FILE *stream)
{
    struct json json = {.stream = stream};
    json_object_begin(&json, NULL);
    json_put_string(&json, "program", prediction->program.name);
    json_put_string(&json, "model_hash", prediction->program.hash[1]);
    json_put_int(&json, "processes", prediction->program.ranks);
    json_put_int(&json, "interval_percent", STATISTICS_LEVEL_PERCENT);
    json_array_begin(&json, "rows");
    export_each_row(prediction, export_json_row, &json);
    json_array_end(&json);
    json_array_begin(&json, "notes");
    for (size_t i = 0; i < prediction->note_count; i++)
        json_put_string(&json, NULL, prediction->notes[i]);
    json_array_end(&json);
    json_object_end(&json);
}

/* ---- CSV ---- */

static const char *const COLUMNS[] = {"kind",
                                      "configuration",
                                      "phase",
                                      "numbers",
                                      "operations",
                                      "weight_bytes",
                                      "count",
                                      "time_ns",
                                      "time_low_ns",
                                      "time_high_ns",
                                      "bw_ch_bytes_per_s",
                                      "bw_pk_bytes_per_s",
                                      "bw_pk_plain_bytes_per_s",
                                      "usage_percent",
                                      "measured_ns",
                                      "measured_low_ns",
                                      "measured_high_ns",
                                      "measured_bw_bytes_per_s",
                                      "error_bw_percent",
                                      "error_time_percent",
                                      "noise_percent",
                                      "replay_noise_percent",
                                      "error_replay_percent",
                                      "method",
                                      "place",
                                      "tie_with",
                                      "decides",
                                      "reason",
                                      "source",
                                      "failure"};

static void export_csv_row(void *context, const struct row *row)
{
    FILE *stream = context;
    for (size_t column = 0; column < sizeof COLUMNS / sizeof COLUMNS[0]; column++) {
        if (column > 0)
            fputc(',', stream);
        for (int i = 0; i < row->count; i++) {
            const struct value *value = &row->values[i];
            if (strcmp(value->key, COLUMNS[column]) != 0)
                continue;
            if (value->text)
                analysis_csv_field(stream, value->text);
            else if (!isnan(value->number))
                fprintf(stream, value->whole ? "%.0f" : "%.10g", value->number);
        }
    }
    fputc('\n', stream);
}

void predict_export_csv(const struct prediction *prediction, FILE *stream)
{
    for (size_t column = 0; column < sizeof COLUMNS / sizeof COLUMNS[0]; column++)
        fprintf(stream, "%s%s", column ? "," : "", COLUMNS[column]);
    fputc('\n', stream);
    export_each_row(prediction, export_csv_row, stream);
}

/* ---- block ---- */

struct block {
    struct blockfile_writer *writer;
    pl_status status;
    struct pl_error *error;
};

static void export_block_row(void *context, const struct row *row)
{
    struct block *block = context;
    blockfile_set(block->writer);
    for (int i = 0; i < row->count; i++) {
        const struct value *value = &row->values[i];
        if (value->text)
            blockfile_param(block->writer, value->key, "%s", value->text);
        else if (!isnan(value->number) && value->whole)
            blockfile_param(block->writer, value->key, "%.0f", value->number);
        else if (!isnan(value->number))
            blockfile_param(block->writer, value->key, "%.10g", value->number);
    }
    if (block->status == PL_OK)
        block->status = blockfile_end_set(block->writer, block->error);
}

pl_status predict_export_block(const struct prediction *prediction, const char *path, const char *timestamp,
                               const char *const *sources, struct pl_error *error)
{
    struct block block = {.error = error};
    struct pl_error closing;
    block.status = blockfile_writer_open(path, &block.writer, error);
    if (block.status != PL_OK)
        return block.status;
    blockfile_begin(block.writer, "Prediction", "phases");
    blockfile_fact(block.writer, "model_hash", "%s", prediction->program.hash[*prediction->program.hash[0] ? 0 : 1]);
    blockfile_fact(block.writer, "program", "%s", prediction->program.name);
    blockfile_fact(block.writer, "nprocs", "%" PRId64, prediction->program.ranks);
    blockfile_fact(block.writer, "timestamp", "%s", timestamp);
    blockfile_fact(block.writer, "interval_percent", "%d", STATISTICS_LEVEL_PERCENT);
    for (; *sources; sources++)
        blockfile_fact(block.writer, "source", "%s", *sources);
    for (size_t i = 0; i < prediction->note_count; i++)
        blockfile_fact(block.writer, "warning", "%s", prediction->notes[i]);
    block.status = blockfile_end_head(block.writer, error);
    if (block.status == PL_OK)
        export_each_row(prediction, export_block_row, &block);
    if (block.status == PL_OK)
        block.status = blockfile_end(block.writer, error);
    const pl_status closed = blockfile_writer_close(block.writer, &closing);
    if (block.status == PL_OK && closed != PL_OK) {
        *error = closing;
        block.status = closed;
    }
    return block.status;
}
