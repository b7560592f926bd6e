/* A prediction for programs: JSON, CSV, and a block of class Prediction. All three are made from one list of values. */
#include "predict/predict_text.h"

#include "base/json.h"
#include "measure/analysis_format.h"

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

static void put_text(struct row *row, const char *key, const char *text)
{
    row->values[row->count++] = (struct value){.key = key, .text = text ? text : ""};
}

static void put_number(struct row *row, const char *key, double number)
{
    row->values[row->count++] = (struct value){.key = key, .number = number};
}

static void put_whole(struct row *row, const char *key, double number)
{
    row->values[row->count++] = (struct value){.key = key, .number = number, .whole = true};
}

static void put_time(struct row *row, const struct predict_time *time)
{
    put_whole(row, "time_ns", time->ns);
    put_whole(row, "time_low_ns", time->low_ns);
    put_whole(row, "time_high_ns", time->high_ns);
}

static void put_measured(struct row *row, const struct predict_time *time, double bytes, double measured_ns)
{
    const double measured = predict_bandwidth(bytes, measured_ns);
    put_whole(row, "measured_ns", measured_ns);
    put_number(row, "measured_bw_bytes_per_s", bytes > 0 ? measured : NAN);
    put_number(row, "error_bw_percent",
               bytes > 0 ? predict_error_percent(predict_bandwidth(bytes, time->ns), measured) : NAN);
    put_number(row, "error_time_percent", predict_error_percent(time->ns, measured_ns));
}

static void make_phase(struct row *row, const struct prediction *prediction,
                       const struct predict_configuration *configuration, int index)
{
    const struct predict_phase *phase = &prediction->program.phases[index];
    const struct predict_unit *unit = &configuration->units[index];
    const double bytes = (double)phase->weight_bytes * (double)phase->count;
    put_text(row, "kind", "phase");
    put_text(row, "configuration", configuration->label);
    put_whole(row, "phase", index + 1);
    put_text(row, "numbers", phase->label);
    put_text(row, "words", phase->words);
    put_text(row, "operations", phase->operations);
    put_whole(row, "weight_bytes", (double)phase->weight_bytes);
    put_whole(row, "count", (double)phase->count);
    put_time(row, &unit->time);
    put_number(row, "bw_ch_bytes_per_s", predict_bandwidth(bytes, unit->time.ns));
    put_number(row, "bw_pk_bytes_per_s", unit->usage.peak);
    put_number(row, "bw_pk_plain_bytes_per_s", unit->usage.plain);
    put_number(row, "usage_percent", unit->usage.percent);
    put_measured(row, &unit->time, bytes, unit->measured_ns);
    put_number(row, "noise_percent", unit->measured_noise_percent);
    put_number(row, "replay_noise_percent", unit->noise_percent);
    put_number(row, "error_replay_percent", predict_error_percent(unit->time.ns, unit->replay_ns));
    put_text(row, "method", configuration->estimate ? "estimate" : "replay");
    if (unit->source)
        put_text(row, "source", unit->source);
}

static void make_calls(struct row *row, const struct prediction *prediction,
                       const struct predict_configuration *configuration)
{
    const struct predict_unit *unit = &configuration->units[prediction->program.phase_count];
    put_text(row, "kind", "calls");
    put_text(row, "configuration", configuration->label);
    put_text(row, "operations", prediction->call_names);
    put_time(row, &unit->time);
    put_measured(row, &unit->time, 0, unit->measured_ns);
    put_number(row, "noise_percent", unit->measured_noise_percent);
    put_number(row, "replay_noise_percent", unit->noise_percent);
    put_text(row, "method", "replay");
}

static void make_total(struct row *row, const struct prediction *prediction,
                       const struct predict_configuration *configuration)
{
    put_text(row, "kind", "total");
    put_text(row, "configuration", configuration->label);
    put_whole(row, "repetitions", configuration->estimate ? NAN : configuration->run_count);
    put_time(row, &configuration->total);
    put_measured(row, &configuration->total, 0, configuration->measured_ns);
    put_number(row, "noise_percent", configuration->measured_noise_percent);
    put_number(row, "replay_noise_percent", configuration->noise_percent);
    put_text(row, "method", configuration->estimate ? "estimate" : "replay");
    if (configuration->failure)
        put_text(row, "failure", configuration->failure);
    if (configuration->place <= 0)
        return;
    put_whole(row, "place", configuration->place);
    put_text(row, "tie_with", configuration->tie_with);
    if (configuration->decides == prediction->program.phase_count)
        put_text(row, "decides", "calls");
    else if (configuration->decides >= 0)
        put_whole(row, "decides", configuration->decides + 1);
    put_text(row, "reason", configuration->reason);
}

/* Gives all rows to `take`, in the order of the tables. */
typedef void take_row(void *context, const struct row *row);

static void each_row(const struct prediction *prediction, take_row *take, void *context)
{
    const int phases = prediction->program.phase_count;
    for (int c = 0; c < prediction->configuration_count; c++) {
        const struct predict_configuration *configuration = &prediction->configurations[c];
        for (int i = 0; i < phases; i++) {
            struct row row = {.count = 0};
            make_phase(&row, prediction, configuration, i);
            take(context, &row);
        }
        if (!isnan(configuration->units[phases].time.ns)) {
            struct row row = {.count = 0};
            make_calls(&row, prediction, configuration);
            take(context, &row);
        }
        struct row row = {.count = 0};
        make_total(&row, prediction, configuration);
        take(context, &row);
    }
}

/* ---- JSON ---- */

static void json_row(void *context, const struct row *row)
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
    json_array_begin(&json, "rows");
    each_row(prediction, json_row, &json);
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

static void csv_row(void *context, const struct row *row)
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
    each_row(prediction, csv_row, stream);
}

/* ---- block ---- */

struct block {
    struct blockfile_writer *writer;
    pl_status status;
    struct pl_error *error;
};

static void block_row(void *context, const struct row *row)
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
    for (; *sources; sources++)
        blockfile_fact(block.writer, "source", "%s", *sources);
    for (size_t i = 0; i < prediction->note_count; i++)
        blockfile_fact(block.writer, "warning", "%s", prediction->notes[i]);
    block.status = blockfile_end_head(block.writer, error);
    if (block.status == PL_OK)
        each_row(prediction, block_row, &block);
    if (block.status == PL_OK)
        block.status = blockfile_end(block.writer, error);
    const pl_status closed = blockfile_writer_close(block.writer, &closing);
    if (block.status == PL_OK && closed != PL_OK) {
        *error = closing;
        block.status = closed;
    }
    return block.status;
}
