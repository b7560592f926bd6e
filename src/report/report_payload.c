/* The JSON follows the block format line by line. Series are columns; where there are more samples than a browser opens
 * in a moment, long ones are given as least, largest and sum of so many neighbours ("bin"). */
#include "report/report_payload.h"

#include "report/report_column.h"
#include "report/report_model.h"
#include "report/report_tools.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MAX = 4000000, SHORT_SERIES = 4096 };

struct making {
    struct json json;
    struct report_columns columns;
    int64_t bin; /* neighbours to put together in long series; 1: every sample is kept */
};

/* ---- series ---- */

struct taking {
    double *least, *most, *sum; /* of bins; for single samples only `sum` */
    int64_t bin;
};

static void take(void *context, int64_t first, const int64_t *values, size_t count)
{
    struct taking *taking = context;
    for (size_t i = 0; i < count; i++) {
        const int64_t at = (first + (int64_t)i) / taking->bin;
        const bool is_first = (first + (int64_t)i) % taking->bin == 0;
        const double value = (double)values[i];
        if (taking->least && (is_first || value < taking->least[at]))
            taking->least[at] = value;
        if (taking->most && (is_first || value > taking->most[at]))
            taking->most[at] = value;
        taking->sum[at] += value;
    }
}

static pl_status put_series(struct making *making, struct blockfile *file, const struct blockfile_series *series,
                            struct pl_error *error)
{
    struct json *json = &making->json;
    const int64_t bin = series->count > SHORT_SERIES ? making->bin : 1;
    const size_t bins = (size_t)((series->count + bin - 1) / bin);
    double *memory = calloc(bins * (bin > 1 ? 3 : 1) + 1, sizeof *memory);
    if (!memory)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for a series of '%s'", file->path);
    struct taking taking = {.sum = memory, .bin = bin};
    if (bin > 1) {
        taking.least = memory + bins;
        taking.most = memory + 2 * bins;
    }
    const pl_status status = blockfile_stream(file, series, take, &taking, error);
    json_row_begin(json, NULL);
    json_put_int(json, "rank", series->rank);
    json_put_string(json, "key", series->key);
    json_put_string(json, "unit", series->unit);
    json_put_int(json, "count", series->count);
    json_put_int(json, "bin", bin);
    report_column_put(&making->columns, json, "sums", taking.sum, bins);
    if (bin > 1) {
        report_column_put(&making->columns, json, "least", taking.least, bins);
        report_column_put(&making->columns, json, "most", taking.most, bins);
    }
    json_object_end(json);
    free(memory);
    return status;
}

static int64_t samples_of(const struct report *report)
{
    int64_t sum = 0;
    for (size_t f = 0; f < report->file_count; f++)
        for (size_t b = 0; b < report->files[f].blocks.block_count; b++)
            for (size_t s = 0; s < report->files[f].blocks.blocks[b].set_count; s++)
                for (size_t i = 0; i < report->files[f].blocks.blocks[b].sets[s].series_count; i++)
                    sum += report->files[f].blocks.blocks[b].sets[s].series[i].count;
    return sum;
}

/* ---- blocks ---- */

static void put_pairs(struct json *json, const char *name, const struct blockfile_pair *pairs, size_t count)
{
    json_array_begin(json, name);
    for (size_t i = 0; i < count; i++) {
        json_numbers_begin(json, NULL);
        json_put_string(json, NULL, pairs[i].key);
        json_put_string(json, NULL, pairs[i].value);
        json_array_end(json);
    }
    json_array_end(json);
}

static void put_lines(struct json *json, const struct blockfile_set *set)
{
    json_array_begin(json, "hints");
    for (size_t i = 0; i < set->hint_count; i++) {
        json_numbers_begin(json, NULL);
        json_put_string(json, NULL, set->hints[i].used ? "used" : "asked");
        json_put_string(json, NULL, set->hints[i].key);
        json_put_string(json, NULL, set->hints[i].value);
        json_array_end(json);
    }
    json_array_end(json);
    json_array_begin(json, "times");
    for (size_t i = 0; i < set->time_count; i++) {
        json_numbers_begin(json, NULL);
        json_put_int(json, NULL, set->times[i].rank);
        json_put_string(json, NULL, set->times[i].key);
        json_put_int(json, NULL, set->times[i].nanoseconds);
        json_array_end(json);
    }
    json_array_end(json);
}

static void put_troubles(struct json *json, const struct blockfile_set *set)
{
    json_array_begin(json, "errors");
    for (size_t i = 0; i < set->error_count; i++) {
        json_numbers_begin(json, NULL);
        json_put_string(json, NULL, set->errors[i].status);
        json_put_int(json, NULL, set->errors[i].rank);
        json_put_string(json, NULL, set->errors[i].text);
        json_array_end(json);
    }
    json_array_end(json);
    json_array_begin(json, "warnings");
    for (size_t i = 0; i < set->warning_count; i++)
        json_put_string(json, NULL, set->warnings[i]);
    json_array_end(json);
}

static pl_status put_set(struct making *making, struct blockfile *file, const struct blockfile_set *set,
                         struct pl_error *error)
{
    struct json *json = &making->json;
    pl_status status = PL_OK;
    json_object_begin(json, NULL);
    json_put_int(json, "set", set->number);
    put_pairs(json, "params", set->params, set->param_count);
    put_lines(json, set);
    put_troubles(json, set);
    json_array_begin(json, "series");
    for (size_t i = 0; i < set->series_count && status == PL_OK; i++)
        status = put_series(making, file, &set->series[i], error);
    json_array_end(json);
    json_object_end(json);
    return status;
}

static pl_status put_block(struct making *making, struct blockfile *file, const struct blockfile_block *block,
                           struct pl_error *error)
{
    struct json *json = &making->json;
    pl_status status = PL_OK;
    json_object_begin(json, NULL);
    json_put_string(json, "id", block->id);
    json_put_string(json, "class", block->class_name);
    json_put_string(json, "testname", block->testname);
    json_put_bool(json, "complete", block->complete);
    put_pairs(json, "inputs", block->inputs, block->input_count);
    put_pairs(json, "facts", block->facts, block->fact_count);
    json_array_begin(json, "sets");
    for (size_t i = 0; i < block->set_count && status == PL_OK; i++)
        status = put_set(making, file, &block->sets[i], error);
    json_array_end(json);
    json_object_end(json);
    return status;
}

/* ---- files ---- */

/* The JSON of a tool under its name; one that fails is told by a trouble in its place. */
static pl_status put_tool(struct json *json, const struct report_tool *tool, const struct report_file *file,
                          struct pl_error *error)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for the report");
    const pl_status status = report_tool_run(tool, file, NULL, stream, NULL, error);
    const bool whole = fclose(stream) == 0;
    if (status == PL_OK && whole) {
        json_put_raw(json, tool->name, text);
    } else if (status != PL_E_INPUT) {
        json_row_begin(json, tool->name);
        json_put_string(json, "trouble", status == PL_OK ? "not enough memory" : error->text);
        json_object_end(json);
    }
    free(text);
    return PL_OK;
}

static pl_status put_derived(struct json *json, const struct report_file *file, struct pl_error *error)
{
    pl_status status = PL_OK;
    json_object_begin(json, "derived");
    for (const struct report_tool *tool = REPORT_TOOLS; tool->name && status == PL_OK; tool++)
        if (!tool->plain_only && report_tool_applies(tool, file))
            status = put_tool(json, tool, file, error);
    json_object_end(json);
    return status;
}

static pl_status put_file(struct making *making, struct report_file *file, struct pl_error *error)
{
    struct json *json = &making->json;
    pl_status status = PL_OK;
    json_object_begin(json, NULL);
    json_put_string(json, "path", file->path);
    json_put_string(json, "kind", file->is_blocks ? "blocks" : file->is_model ? "model" : "none");
    json_put_string(json, "trouble", file->trouble);
    json_array_begin(json, "warnings");
    for (size_t i = 0; i < file->blocks.warning_count; i++)
        json_put_string(json, NULL, file->blocks.warnings[i]);
    json_array_end(json);
    json_array_begin(json, "blocks");
    for (size_t i = 0; i < file->blocks.block_count && status == PL_OK; i++)
        status = put_block(making, &file->blocks, &file->blocks.blocks[i], error);
    json_array_end(json);
    if (status == PL_OK)
        status = put_derived(json, file, error);
    json_object_end(json);
    return status;
}

static pl_status put_all(struct making *making, struct report *report, struct pl_error *error)
{
    struct json *json = &making->json;
    const int64_t samples = samples_of(report);
    pl_status status = PL_OK;
    making->bin = samples > SAMPLES_MAX ? 3 * (samples / SAMPLES_MAX + 1) : 1;
    json_object_begin(json, NULL);
    json_put_string(json, "format", "piolet-report");
    json_put_int(json, "version", 1);
    json_put_string(json, "product_version", PIOLET_VERSION);
    json_put_string(json, "title", report->title);
    json_put_string(json, "made", report->made);
    json_put_int(json, "samples", samples);
    json_array_begin(json, "files");
    for (size_t i = 0; i < report->file_count && status == PL_OK; i++)
        status = put_file(making, &report->files[i], error);
    json_array_end(json);
    json_array_begin(json, "models");
    for (size_t i = 0; i < report->file_count && status == PL_OK; i++)
        if (report->files[i].is_model)
            status = report_model_put(&report->files[i], (int)i, json, &making->columns, error);
    json_array_end(json);
    json_object_end(json);
    return status;
}

pl_status report_payload_make(struct report *report, struct report_payload *ret_payload, struct pl_error *error)
{
    struct making making = {0};
    *ret_payload = (struct report_payload){0};
    making.json.stream = open_memstream(&ret_payload->json, &ret_payload->json_length);
    making.columns.stream = open_memstream(&ret_payload->columns, &ret_payload->columns_length);
    pl_status status = PL_OK;
    if (making.json.stream && making.columns.stream)
        status = put_all(&making, report, error);
    else
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for the report");
    bool whole = making.json.stream && fclose(making.json.stream) == 0;
    whole = making.columns.stream && fclose(making.columns.stream) == 0 && whole;
    if (status == PL_OK && !whole)
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for the report");
    if (status != PL_OK)
        report_payload_clear(ret_payload);
    return status;
}

void report_payload_clear(struct report_payload *payload)
{
    free(payload->json);
    free(payload->columns);
    *payload = (struct report_payload){0};
}
