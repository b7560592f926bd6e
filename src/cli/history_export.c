/* export of `piolet history`: blocks byte by byte, numbers as CSV and JSON. */
#include "base/json.h"
#include "base/output.h"
#include "base/text.h"
#include "cli/history_shell.h"
#include "measure/analysis_format.h"

#include <stdio.h>
#include <string.h>

struct content {
    struct history *history;
    struct history_runs runs;
    struct history_values values;
};

typedef pl_status writer(const struct content *content, FILE *stream, struct pl_error *error);

static pl_status write_blocks(const struct content *content, FILE *stream, struct pl_error *error)
{
    pl_status status = PL_OK;
    for (size_t i = 0; i < content->runs.count && status == PL_OK; i++)
        status = history_write_block(content->history, &content->runs.list[i], stream, error);
    return status;
}

/* ---- CSV ---- */

/* Settings are lines; a cell has one. */
static void put_field(FILE *stream, const char *text)
{
    struct text line = {0};
    text_add(&line, text);
    for (size_t i = 0; i < line.length; i++)
        if (line.data[i] == '\n')
            line.data[i] = ';';
    analysis_csv_field(stream, text_get(&line));
    putc(',', stream);
    text_clear(&line);
}

static pl_status write_csv(const struct content *content, FILE *stream, struct pl_error *error)
{
    (void)error;
    fputs("id,label,measured,software,class,test,what,settings,conditions,unit,lower_is_better,value\n", stream);
    for (size_t i = 0; i < content->values.count; i++) {
        const struct history_value *value = &content->values.list[i];
        const struct history_run *run = &content->runs.list[value->run];
        const char *const fields[] = {run->id,           run->label,      run->measured, run->software,
                                      value->class_name, value->testname, value->what,   value->settings,
                                      value->conditions, value->unit};
        for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++)
            put_field(stream, fields[f]);
        fprintf(stream, "%s,%.17g\n", value->lower_is_better ? "true" : "false", value->value);
    }
    return PL_OK;
}

/* ---- JSON ---- */

static void json_values(struct json *json, const struct content *content, size_t run)
{
    json_array_begin(json, "numbers");
    for (size_t i = 0; i < content->values.count; i++) {
        const struct history_value *value = &content->values.list[i];
        if (value->run != run)
            continue;
        json_row_begin(json, NULL);
        json_put_string(json, "what", value->what);
        json_put_string(json, "settings", value->settings);
        json_put_double(json, "value", value->value);
        json_put_string(json, "unit", value->unit);
        json_put_bool(json, "lower_is_better", value->lower_is_better);
        json_object_end(json);
    }
    json_array_end(json);
}

static pl_status write_json(const struct content *content, FILE *stream, struct pl_error *error)
{
    struct json json = {.stream = stream};
    (void)error;
    json_object_begin(&json, NULL);
    json_array_begin(&json, "runs");
    for (size_t i = 0; i < content->runs.count; i++) {
        const struct history_run *run = &content->runs.list[i];
        json_object_begin(&json, NULL);
        json_put_string(&json, "id", run->id);
        json_put_string(&json, "class", run->class_name);
        json_put_string(&json, "test", run->testname);
        json_put_string(&json, "label", run->label);
        json_put_string(&json, "measured", run->measured);
        json_put_string(&json, "added", run->added);
        json_put_string(&json, "host", run->host);
        json_put_string(&json, "place", run->place);
        json_put_string(&json, "software", run->software);
        json_put_string(&json, "conditions", run->conditions);
        json_put_int(&json, "ranks", run->ranks);
        json_put_int(&json, "sets", run->sets);
        json_put_bool(&json, "complete", run->complete);
        json_values(&json, content, i);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    fputc('\n', stream);
    return PL_OK;
}

/* ---- files ---- */

static pl_status write_to(const struct content *content, const char *name, writer *write, struct pl_error *error)
{
    FILE *stream;
    if (output_open(name, &stream, error) != PL_OK)
        return error->status;
    const pl_status status = write(content, stream, error);
    return status == PL_OK ? output_finish(stream, error) : status;
}

int history_shell_export(const struct history_request *request, struct history *history)
{
    const struct {
        const char *name;
        writer *write;
    } files[] = {{request->blocks, write_blocks}, {request->csv, write_csv}, {request->json, write_json}};
    struct content content = {.history = history};
    struct pl_error error;
    if (!request->blocks && !request->csv && !request->json)
        return cli_usage_error(request->verb, "'export' needs --blocks, --csv or --json");
    pl_status status = PL_OK;
    for (size_t i = 0; i < 3 && status == PL_OK; i++)
        if (files[i].name)
            status = output_check(files[i].name, &error);
    if (status == PL_OK)
        status = history_runs(history, request->words, request->word_count, &content.runs, &error);
    if (status == PL_OK && (request->csv || request->json))
        status = history_values(history, &content.runs, &content.values, &error);
    for (size_t i = 0; i < 3 && status == PL_OK; i++)
        if (files[i].name)
            status = write_to(&content, files[i].name, files[i].write, &error);
    if (status == PL_OK)
        status = output_commit(&error);
    history_values_clear(&content.values);
    history_runs_clear(&content.runs);
    return status == PL_OK ? CLI_OK : history_shell_failed(request, &error);
}
