#include "lab/show/export.h"

#include "base/json.h"
#include "base/text.h"
#include "lab/show/analysis_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Writes `value` in decimal; printf would take most of the time of a large export. */
static void export_put_int(FILE *stream, int64_t value)
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

/* A row of values: an object with keys, or an array of the values alone. */
static void export_row_begin(const struct export_form *form, struct json *json)
{
    if (form->compact)
        json_numbers_begin(json, NULL);
    else
        json_row_begin(json, NULL);
}

static void export_row_end(const struct export_form *form, struct json *json)
{
    if (form->compact)
        json_array_end(json);
    else
        json_object_end(json);
}

static const char *export_key(const struct export_form *form, const char *key)
{
    return form->compact ? NULL : key;
}

static void export_pairs(const struct export_form *form, struct json *json, const char *name,
                         const struct blockfile_pair *pairs, size_t count)
{
    json_array_begin(json, name);
    for (size_t i = 0; i < count; i++) {
        export_row_begin(form, json);
        json_put_string(json, export_key(form, "key"), pairs[i].key);
        json_put_string(json, export_key(form, "value"), pairs[i].value);
        export_row_end(form, json);
    }
    json_array_end(json);
}

static void export_hints(const struct export_form *form, struct json *json, const struct blockfile_set *set)
{
    json_array_begin(json, "hints");
    for (size_t i = 0; i < set->hint_count; i++) {
        export_row_begin(form, json);
        json_put_string(json, export_key(form, "kind"), set->hints[i].used ? "used" : "asked");
        json_put_string(json, export_key(form, "key"), set->hints[i].key);
        json_put_string(json, export_key(form, "value"), set->hints[i].value);
        export_row_end(form, json);
    }
    json_array_end(json);
}

static void export_times(const struct export_form *form, struct json *json, const struct blockfile_set *set)
{
    json_array_begin(json, "times");
    for (size_t i = 0; i < set->time_count; i++) {
        export_row_begin(form, json);
        json_put_int(json, export_key(form, "rank"), set->times[i].rank);
        json_put_string(json, export_key(form, "key"), set->times[i].key);
        json_put_int(json, export_key(form, "ns"), set->times[i].nanoseconds);
        export_row_end(form, json);
    }
    json_array_end(json);
}

static void export_troubles(const struct export_form *form, struct json *json, const struct blockfile_set *set)
{
    json_array_begin(json, "errors");
    for (size_t i = 0; i < set->error_count; i++) {
        export_row_begin(form, json);
        json_put_string(json, export_key(form, "status"), set->errors[i].status);
        json_put_int(json, export_key(form, "rank"), set->errors[i].rank);
        json_put_string(json, export_key(form, "text"), set->errors[i].text);
        export_row_end(form, json);
    }
    json_array_end(json);
    json_array_begin(json, "warnings");
    for (size_t i = 0; i < set->warning_count; i++)
        json_put_string(json, NULL, set->warnings[i]);
    json_array_end(json);
}

/* Numbers go past the writer, which would look at each of them: the commas are ours here. */
static void export_take_json(void *context, int64_t first, const int64_t *values, size_t count)
{
    FILE *stream = context;
    for (size_t i = 0; i < count; i++) {
        if (first + (int64_t)i > 0)
            fputc(',', stream);
        export_put_int(stream, values[i]);
    }
}

/* Every number. */
static pl_status export_values(void *context, struct json *json, struct blockfile *file,
                               const struct blockfile_series *series, struct pl_error *error)
{
    (void)context;
    json_numbers_begin(json, "values");
    const pl_status status = blockfile_stream(file, series, export_take_json, json->stream, error);
    json_array_end(json);
    return status;
}

static pl_status export_set(const struct export_form *form, struct json *json, struct blockfile *file,
                            const struct blockfile_set *set, struct pl_error *error)
{
    pl_status status = PL_OK;
    json_object_begin(json, NULL);
    json_put_int(json, "set", set->number);
    if (form->compact) {
        export_pairs(form, json, "params", set->params, set->param_count);
    } else {
        json_row_begin(json, "params");
        for (size_t i = 0; i < set->param_count; i++)
            json_put_string(json, set->params[i].key, set->params[i].value);
        json_object_end(json);
    }
    export_hints(form, json, set);
    export_times(form, json, set);
    json_array_begin(json, "series");
    for (size_t i = 0; i < set->series_count && status == PL_OK; i++) {
        const struct blockfile_series *series = &set->series[i];
        json_row_begin(json, NULL);
        json_put_int(json, "rank", series->rank);
        json_put_string(json, "key", series->key);
        json_put_string(json, "unit", series->unit);
        status = form->put_values(form->context, json, file, series, error);
        json_object_end(json);
    }
    json_array_end(json);
    export_troubles(form, json, set);
    json_object_end(json);
    return status;
}

pl_status export_put_block(const struct export_form *form, struct json *json, struct blockfile *file,
                           const struct blockfile_block *block, struct pl_error *error)
{
    pl_status status = PL_OK;
    json_object_begin(json, NULL);
    json_put_string(json, "id", block->id);
    json_put_string(json, "class", block->class_name);
    json_put_string(json, "testname", block->testname);
    json_put_bool(json, "complete", block->complete);
    export_pairs(form, json, form->compact ? "inputs" : "input", block->inputs, block->input_count);
    export_pairs(form, json, "facts", block->facts, block->fact_count);
    json_array_begin(json, "sets");
    for (size_t i = 0; i < block->set_count && status == PL_OK; i++)
        status = export_set(form, json, file, &block->sets[i], error);
    json_array_end(json);
    json_object_end(json);
    return status;
}

pl_status export_put_json(struct blockfile *files, size_t file_count, struct json *json, struct pl_error *error)
{
    const struct export_form form = {.put_values = export_values};
    pl_status status = PL_OK;
    json_put_string(json, "format", "piolet-block");
    json_put_int(json, "version", 1);
    json_array_begin(json, "blocks");
    for (size_t f = 0; f < file_count; f++)
        for (size_t b = 0; b < files[f].block_count && status == PL_OK; b++)
            status = export_put_block(&form, json, &files[f], &files[f].blocks[b], error);
    json_array_end(json);
    return status;
}

pl_status export_json(struct blockfile *files, size_t file_count, FILE *stream, struct pl_error *error)
{
    struct json json = {.stream = stream};
    json_object_begin(&json, NULL);
    const pl_status status = export_put_json(files, file_count, &json, error);
    json_object_end(&json);
    return status;
}

/* ---- CSV ---- */

struct csv_rows {
    FILE *stream;
    char *before; /* everything up to the index, made once for each series */
    size_t length;
    char *behind; /* what follows the value, made once for each set: its settings, and the line's end */
    size_t behind_length;
};

/* The first of these parameters that the set has. Benchmarks of 0.1.0 name the same thing differently. */
static const char *export_first_param(const struct blockfile_set *set, const char *const *keys)
{
    const char *value = NULL;
    for (; *keys && !value; keys++)
        value = blockfile_param_of(set, *keys);
    return value;
}

/* What the run found and did not set: it would stand in the row of every number again, hundreds of batches long. */
static bool export_is_measured(const char *key)
{
    const size_t length = strlen(key);
    return strcmp(key, "batches") == 0 || (length > 3 && strcmp(key + length - 3, "_ns") == 0);
}

/* Ranks, size of the file and of what one call moves, and everything else that was set. The columns are the same for
 * every benchmark: an empty one is not known. Caller frees; NULL: no memory. */
static char *export_csv_settings(const struct blockfile_block *block, const struct blockfile_set *set,
                                 size_t *ret_length)
{
    static const char *const ranks[] = {"ranks", "processes", "partition", NULL};
    static const char *const files[] = {"filesize_bytes", "file_bytes", NULL};
    static const char *const blocks[] = {"blocksize_bytes", "block_bytes",  "request_bytes", "call_bytes",
                                         "record_bytes",    "length_bytes", "size_bytes",    NULL};
    char *text = NULL;
    struct text all = {0};
    FILE *memory = open_memstream(&text, ret_length);
    if (!memory)
        return NULL;
    const char *count = export_first_param(set, ranks);
    const char *const numbers[] = {count ? count : blockfile_fact_of(block, "nprocs"), export_first_param(set, files),
                                   export_first_param(set, blocks)};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        fputc(',', memory);
        analysis_csv_field(memory, numbers[i] ? numbers[i] : "");
    }
    for (size_t i = 0; i < set->param_count; i++)
        if (!export_is_measured(set->params[i].key))
            text_format(&all, "%s%s=%s", all.length ? "; " : "", set->params[i].key, set->params[i].value);
    for (size_t i = 0; i < block->input_count; i++) /* of the whole block: times, seeds, --cold */
        if (!blockfile_param_of(set, block->inputs[i].key))
            text_format(&all, "%sinput.%s=%s", all.length ? "; " : "", block->inputs[i].key, block->inputs[i].value);
    for (size_t i = 0; i < set->hint_count; i++)
        if (!set->hints[i].used)
            text_format(&all, "%shint.%s=%s", all.length ? "; " : "", set->hints[i].key, set->hints[i].value);
    fputc(',', memory);
    analysis_csv_field(memory, text_get(&all));
    fputc('\n', memory);
    text_clear(&all);
    if (fclose(memory) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* Fields that all numbers of one key have in common. Caller frees; NULL: no memory. */
static char *export_csv_prefix(const struct blockfile *file, int64_t number, const struct blockfile_block *block,
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

static void export_take_csv(void *context, int64_t first, const int64_t *values, size_t count)
{
    const struct csv_rows *rows = context;
    for (size_t i = 0; i < count; i++) {
        fwrite(rows->before, 1, rows->length, rows->stream);
        export_put_int(rows->stream, first + (int64_t)i);
        fputc(',', rows->stream);
        export_put_int(rows->stream, values[i]);
        fwrite(rows->behind, 1, rows->behind_length, rows->stream);
    }
}

static pl_status export_csv_set(FILE *stream, struct blockfile *file, int64_t number,
                                const struct blockfile_block *block, const struct blockfile_set *set,
                                struct pl_error *error)
{
    struct csv_rows rows = {.stream = stream};
    bool memory = (rows.behind = export_csv_settings(block, set, &rows.behind_length)) != NULL;
    for (size_t i = 0; i < set->time_count && memory; i++) {
        const struct blockfile_timing *time = &set->times[i];
        rows.before = export_csv_prefix(file, number, block, set, time->rank, time->key, "ns", &rows.length);
        memory = rows.before != NULL;
        if (memory)
            fprintf(stream, "%s,%" PRId64 "%s", rows.before, time->nanoseconds, rows.behind);
        free(rows.before);
    }
    pl_status status = PL_OK;
    for (size_t i = 0; i < set->series_count && memory && status == PL_OK; i++) {
        const struct blockfile_series *series = &set->series[i];
        rows.before = export_csv_prefix(file, number, block, set, series->rank, series->key, series->unit,
                                        &rows.length);
        memory = rows.before != NULL;
        if (memory)
            status = blockfile_stream(file, series, export_take_csv, &rows, error);
        free(rows.before);
    }
    free(rows.behind);
    return memory ? status : pl_fail(error, PL_E_NOMEM, "not enough memory to export '%s'", file->path);
}

pl_status export_csv(struct blockfile *files, size_t file_count, FILE *stream, struct pl_error *error)
{
    pl_status status = PL_OK;
    int64_t number = 0;
    fputs("file,block,class,testname,set,rank,key,unit,index,value,ranks,filesize_bytes,blocksize_bytes,settings\n",
          stream);
    for (size_t f = 0; f < file_count; f++)
        for (size_t b = 0; b < files[f].block_count; b++) {
            const struct blockfile_block *block = &files[f].blocks[b];
            number++;
            for (size_t s = 0; s < block->set_count && status == PL_OK; s++)
                status = export_csv_set(stream, &files[f], number, block, &block->sets[s], error);
        }
    return status;
}
