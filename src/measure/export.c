#include "measure/export.h"

#include "base/json.h"
#include "measure/analysis_format.h"

#include <inttypes.h>
#include <stdlib.h>

/* Writes `value` in decimal; printf would take most of the time of a large export. */
static void put_int(FILE *stream, int64_t value)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0)
        digits[--at] = '-';
    fwrite(digits + at, 1, sizeof digits - at, stream);
}

/* ---- JSON ---- */

static void json_pairs(struct json *json, const char *name, const struct blockfile_pair *pairs, size_t count)
{
    json_array_begin(json, name);
    for (size_t i = 0; i < count; i++) {
        json_row_begin(json, NULL);
        json_put_string(json, "key", pairs[i].key);
        json_put_string(json, "value", pairs[i].value);
        json_object_end(json);
    }
    json_array_end(json);
}

static void json_lines(struct json *json, const struct blockfile_set *set)
{
    json_array_begin(json, "hints");
    for (size_t i = 0; i < set->hint_count; i++) {
        json_row_begin(json, NULL);
        json_put_string(json, "kind", set->hints[i].used ? "used" : "asked");
        json_put_string(json, "key", set->hints[i].key);
        json_put_string(json, "value", set->hints[i].value);
        json_object_end(json);
    }
    json_array_end(json);
    json_array_begin(json, "times");
    for (size_t i = 0; i < set->time_count; i++) {
        json_row_begin(json, NULL);
        json_put_int(json, "rank", set->times[i].rank);
        json_put_string(json, "key", set->times[i].key);
        json_put_int(json, "ns", set->times[i].nanoseconds);
        json_object_end(json);
    }
    json_array_end(json);
}

static void json_troubles(struct json *json, const struct blockfile_set *set)
{
    json_array_begin(json, "errors");
    for (size_t i = 0; i < set->error_count; i++) {
        json_row_begin(json, NULL);
        json_put_string(json, "status", set->errors[i].status);
        json_put_int(json, "rank", set->errors[i].rank);
        json_put_string(json, "text", set->errors[i].text);
        json_object_end(json);
    }
    json_array_end(json);
    json_array_begin(json, "warnings");
    for (size_t i = 0; i < set->warning_count; i++)
        json_put_string(json, NULL, set->warnings[i]);
    json_array_end(json);
}

/* Numbers go past the writer, which would look at each of them: the commas are ours here. */
static void take_json(void *context, int64_t first, const int64_t *values, size_t count)
{
    FILE *stream = context;
    for (size_t i = 0; i < count; i++) {
        if (first + (int64_t)i > 0)
            fputc(',', stream);
        put_int(stream, values[i]);
    }
}

static pl_status json_series(struct json *json, struct blockfile *file, const struct blockfile_set *set,
                             struct pl_error *error)
{
    pl_status status = PL_OK;
    json_array_begin(json, "series");
    for (size_t i = 0; i < set->series_count && status == PL_OK; i++) {
        const struct blockfile_series *series = &set->series[i];
        json_row_begin(json, NULL);
        json_put_int(json, "rank", series->rank);
        json_put_string(json, "key", series->key);
        json_put_string(json, "unit", series->unit);
        json_numbers_begin(json, "values");
        status = blockfile_stream(file, series, take_json, json->stream, error);
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
    return status;
}

static pl_status json_set(struct json *json, struct blockfile *file, const struct blockfile_set *set,
                          struct pl_error *error)
{
    json_object_begin(json, NULL);
    json_put_int(json, "set", set->number);
    json_row_begin(json, "params");
    for (size_t i = 0; i < set->param_count; i++)
        json_put_string(json, set->params[i].key, set->params[i].value);
    json_object_end(json);
    json_lines(json, set);
    const pl_status status = json_series(json, file, set, error);
    json_troubles(json, set);
    json_object_end(json);
    return status;
}

static pl_status json_block(struct json *json, struct blockfile *file, const struct blockfile_block *block,
                            struct pl_error *error)
{
    pl_status status = PL_OK;
    json_object_begin(json, NULL);
    json_put_string(json, "id", block->id);
    json_put_string(json, "class", block->class_name);
    json_put_string(json, "testname", block->testname);
    json_put_bool(json, "complete", block->complete);
    json_pairs(json, "input", block->inputs, block->input_count);
    json_pairs(json, "facts", block->facts, block->fact_count);
    json_array_begin(json, "sets");
    for (size_t i = 0; i < block->set_count && status == PL_OK; i++)
        status = json_set(json, file, &block->sets[i], error);
    json_array_end(json);
    json_object_end(json);
    return status;
}

pl_status export_json(struct blockfile *files, size_t file_count, FILE *stream, struct pl_error *error)
{
    struct json json = {.stream = stream};
    pl_status status = PL_OK;
    json_object_begin(&json, NULL);
    json_put_string(&json, "format", "piolet-block");
    json_put_int(&json, "version", 1);
    json_array_begin(&json, "blocks");
    for (size_t f = 0; f < file_count; f++)
        for (size_t b = 0; b < files[f].block_count && status == PL_OK; b++)
            status = json_block(&json, &files[f], &files[f].blocks[b], error);
    json_array_end(&json);
    json_object_end(&json);
    return status;
}

/* ---- CSV ---- */

struct csv_rows {
    FILE *stream;
    char *before; /* everything up to the index, made once for each series */
    size_t length;
};

/* Fields that all numbers of one key have in common. Caller frees; NULL: no memory. */
static char *csv_prefix(const struct blockfile *file, int64_t number, const struct blockfile_block *block,
                        const struct blockfile_set *set, int rank, const char *key, const char *unit,
                        size_t *ret_length)
{
    char *text = NULL;
    FILE *memory = open_memstream(&text, ret_length);
    if (!memory)
        return NULL;
    analysis_csv_field(memory, file->path);
    fprintf(memory, ",%" PRId64 ",", number);
    analysis_csv_field(memory, block->class_name);
    fputc(',', memory);
    analysis_csv_field(memory, block->testname);
    fprintf(memory, ",%" PRId64 ",%d,", set->number, rank);
    analysis_csv_field(memory, key);
    fputc(',', memory);
    analysis_csv_field(memory, unit);
    fputc(',', memory);
    if (fclose(memory) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static void take_csv(void *context, int64_t first, const int64_t *values, size_t count)
{
    const struct csv_rows *rows = context;
    for (size_t i = 0; i < count; i++) {
        fwrite(rows->before, 1, rows->length, rows->stream);
        put_int(rows->stream, first + (int64_t)i);
        fputc(',', rows->stream);
        put_int(rows->stream, values[i]);
        fputc('\n', rows->stream);
    }
}

static pl_status csv_set(FILE *stream, struct blockfile *file, int64_t number, const struct blockfile_block *block,
                         const struct blockfile_set *set, struct pl_error *error)
{
    struct csv_rows rows = {.stream = stream};
    for (size_t i = 0; i < set->time_count; i++) {
        const struct blockfile_timing *time = &set->times[i];
        rows.before = csv_prefix(file, number, block, set, time->rank, time->key, "ns", &rows.length);
        if (!rows.before)
            return pl_fail(error, PL_E_NOMEM, "not enough memory to export '%s'", file->path);
        fprintf(stream, "%s,%" PRId64 "\n", rows.before, time->nanoseconds);
        free(rows.before);
    }
    pl_status status = PL_OK;
    for (size_t i = 0; i < set->series_count && status == PL_OK; i++) {
        const struct blockfile_series *series = &set->series[i];
        rows.before = csv_prefix(file, number, block, set, series->rank, series->key, series->unit, &rows.length);
        if (!rows.before)
            return pl_fail(error, PL_E_NOMEM, "not enough memory to export '%s'", file->path);
        status = blockfile_stream(file, series, take_csv, &rows, error);
        free(rows.before);
    }
    return status;
}

pl_status export_csv(struct blockfile *files, size_t file_count, FILE *stream, struct pl_error *error)
{
    pl_status status = PL_OK;
    int64_t number = 0;
    fputs("file,block,class,testname,set,rank,key,unit,index,value\n", stream);
    for (size_t f = 0; f < file_count; f++)
        for (size_t b = 0; b < files[f].block_count; b++) {
            const struct blockfile_block *block = &files[f].blocks[b];
            number++;
            for (size_t s = 0; s < block->set_count && status == PL_OK; s++)
                status = csv_set(stream, &files[f], number, block, &block->sets[s], error);
        }
    return status;
}
