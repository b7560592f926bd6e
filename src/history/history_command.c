/* add, list, show and remove of `piolet history`. */
#include "history/history_command.h"

#include "base/json.h"
#include "base/output.h"
#include "base/text.h"
#include "base/units.h"
#include "lab/show/analysis_format.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

int history_failed(const struct history_request *request, const struct pl_error *error)
{
    request->complain("%s", error->text);
    return error->status == PL_E_INPUT ? HISTORY_USAGE : HISTORY_FAILED;
}

int history_digits(double value)
{
    return value < 0.1 ? 5 : value < 10 ? 3 : 1;
}

/* ---- add ---- */

static void history_tell_added(const struct history_request *request, const char *file,
                               const struct history_added *added)
{
    printf("%s: %lld new, %lld known", file, (long long)added->new_blocks, (long long)added->known);
    if (added->grown)
        printf(", %lld grown", (long long)added->grown);
    printf("; %lld numbers", (long long)added->quantities);
    if (added->incomplete)
        printf("; %lld not complete", (long long)added->incomplete);
    printf("%s%s\n", request->label ? "; label " : "", request->label ? request->label : "");
}

static int history_do_add(const struct history_request *request, struct history *history)
{
    int status = HISTORY_OK;
    for (size_t i = 0; i < request->word_count; i++) {
        struct history_added added;
        struct text warnings = {0};
        struct pl_error error;
        const pl_status done = history_add(history, request->words[i], request->label, &added, &warnings, &error);
        for (const char *at = text_get(&warnings); *at; at += strcspn(at, "\n") + 1)
            request->complain("warning: %.*s", (int)strcspn(at, "\n"), at);
        if (done == PL_OK)
            history_tell_added(request, request->words[i], &added);
        else
            status = history_failed(request, &error);
        text_clear(&warnings);
    }
    return status == HISTORY_OK ? HISTORY_OK : HISTORY_FAILED;
}

/* ---- list, show ---- */

enum { WHERE_COLUMN = 57, WORD_MAX = 22 }; /* such a word and a comma fill the line */

static bool history_continues_character(char byte)
{
    return ((unsigned char)byte & 0xC0U) == 0x80U; /* of UTF-8 */
}

/* The word, or its begin and end when it is too long for its column; `show` and `export` have all of it. */
static void history_add_word(struct text *text, const char *word, size_t length)
{
    static const char dots[] = "…";
    size_t head = (WORD_MAX - strlen(dots)) / 2, tail = length - (WORD_MAX - strlen(dots) - head);
    if (length <= WORD_MAX) {
        text_append(text, word, length);
        return;
    }
    while (head > 0 && history_continues_character(word[head]))
        head--;
    while (tail < length && history_continues_character(word[tail]))
        tail++;
    text_append(text, word, head);
    text_add(text, dots);
    text_append(text, word + tail, length - tail);
}

static void history_add_words(struct text *text, const char *words)
{
    for (; *words; words += strspn(words, " ")) {
        const size_t length = strcspn(words, " ");
        history_add_word(text, words, length);
        words += length;
        text_add(text, *words ? " " : "");
    }
}

/* A long name of a host goes without its domain. */
static void history_host_of(const struct history_run *run, struct text *host)
{
    const size_t length = strlen(run->host), plain = strcspn(run->host, ".");
    const bool is_address = run->host[strspn(run->host, "0123456789.")] == '\0';
    text_append(host, run->host, length > WORD_MAX && !is_address ? plain : length);
}

static void history_print_run(const struct history_run *run)
{
    struct text what = {0}, where = {0}, host = {0};
    history_host_of(run, &host);
    const char *const parts[] = {run->mpiio, text_get(&host), strspn(run->place, " ") ? "" : run->place, run->label,
                                 run->complete ? "" : "not complete"};
    text_format(&what, "%s %s", run->class_name, run->testname);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        text_add(&where, where.length && parts[i][0] ? ", " : "");
        history_add_words(&where, parts[i]);
    }
    printf("%-10.8s %-10.10s %5.5s ", run->id, run->measured, strlen(run->measured) > 16 ? run->measured + 11 : "");
    size_t column = text_print_cell(stdout, text_get(&what), 28, 23);
    column += (size_t)printf("%5lld ", (long long)run->ranks);
    text_print_wrapped(stdout, text_get(&where), column, WHERE_COLUMN);
    text_clear(&host);
    text_clear(&what);
    text_clear(&where);
}

static int history_do_list(const struct history_request *request, struct history *history)
{
    struct history_runs runs;
    struct pl_error error;
    if (history_runs(history, request->words, request->word_count, &runs, &error) != PL_OK)
        return history_failed(request, &error);
    printf("%-10s %-16s %-22s %5s %s\n", "id", "measured (UTC)", "class test", "ranks", "MPI-IO, place, label");
    for (size_t i = 0; i < runs.count; i++)
        history_print_run(&runs.list[i]);
    printf("%zu run%s\n", runs.count, runs.count == 1 ? "" : "s");
    history_runs_clear(&runs);
    return HISTORY_OK;
}

static void history_show_run(const struct history_run *run)
{
    char bytes[UNITS_TEXT_MAX];
    printf("%s  %s %s%s%s%s\n", run->id, run->class_name, run->testname, run->label[0] ? ", label " : "", run->label,
           run->complete ? "" : "  (not complete)");
    printf("  measured   %s, added %s\n", run->measured, run->added);
    printf("  software   %s\n", run->software);
    for (const char *at = run->conditions; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const int key = (int)strcspn(at, " ");
        printf("  %-10.*s", key, at);
        printf(" %.*s\n", (int)strcspn(at, "\n") - key - 1, at + key + 1);
    }
    printf("  holds      %lld set%s, %s\n", (long long)run->sets, run->sets == 1 ? "" : "s",
           units_bytes(run->bytes, bytes));
}

static void history_show_value(const struct history_value *value)
{
    struct text line = {0};
    text_format(&line, "%s%s%s", value->what, value->settings[0] ? ": " : "", value->settings);
    const int column = printf("  %10.*f %-5s ", history_digits(value->value), value->value, value->unit);
    text_print_wrapped(stdout, text_get(&line), (size_t)column, (size_t)column);
    text_clear(&line);
}

static int history_do_show(const struct history_request *request, struct history *history)
{
    struct history_runs runs;
    struct history_values values = {0};
    struct pl_error error;
    if (history_runs(history, request->words, request->word_count, &runs, &error) != PL_OK)
        return history_failed(request, &error);
    const pl_status status = history_values(history, &runs, &values, &error);
    for (size_t i = 0; i < runs.count && status == PL_OK; i++) {
        history_show_run(&runs.list[i]);
        for (size_t v = 0; v < values.count; v++)
            if (values.list[v].run == i)
                history_show_value(&values.list[v]);
    }
    history_values_clear(&values);
    history_runs_clear(&runs);
    return status == PL_OK ? HISTORY_OK : history_failed(request, &error);
}

/* ---- remove ---- */

static int history_remove_runs(const struct history_request *request, struct history *history)
{
    struct history_runs runs;
    struct pl_error error;
    if (history_runs(history, request->words, request->word_count, &runs, &error) != PL_OK)
        return history_failed(request, &error);
    const pl_status status = history_remove(history, &runs, &error);
    if (status == PL_OK)
        printf("%zu run%s removed\n", runs.count, runs.count == 1 ? "" : "s");
    history_runs_clear(&runs);
    return status == PL_OK ? HISTORY_OK : history_failed(request, &error);
}

/* ---- export ---- */

struct content {
    struct history *history;
    struct history_runs runs;
    struct history_values values;
};

typedef pl_status writer(const struct content *content, FILE *stream, struct pl_error *error);

static pl_status history_write_blocks(const struct content *content, FILE *stream, struct pl_error *error)
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

static pl_status history_write_csv(const struct content *content, FILE *stream, struct pl_error *error)
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

static pl_status history_write_json(const struct content *content, FILE *stream, struct pl_error *error)
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

int history_command_export(const struct history_request *request, struct history *history)
{
    const struct {
        const char *name;
        writer *write;
    } files[] = {{request->blocks, history_write_blocks},
                 {request->csv, history_write_csv},
                 {request->json, history_write_json}};
    struct content content = {.history = history};
    struct pl_error error;
    assert(request->blocks || request->csv || request->json);
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
    return status == PL_OK ? HISTORY_OK : history_failed(request, &error);
}

/* ---- all ---- */

int history_command(const struct history_request *request)
{
    static const struct {
        const char *name;
        int (*run)(const struct history_request *request, struct history *history);
    } commands[] = {{"add", history_do_add},
                    {"list", history_do_list},
                    {"show", history_do_show},
                    {"compare", history_command_compare},
                    {"regressions", history_command_regressions},
                    {"export", history_command_export},
                    {"remove", history_remove_runs}};
    const bool create = strcmp(request->command, "add") == 0;
    struct text path = {0};
    struct history *history = NULL;
    struct pl_error error;
    pl_status opened = request->db ? PL_OK : history_default_path(create, &path, &error);
    if (opened == PL_OK)
        opened = history_open(request->db ? request->db : text_get(&path), create, &history, &error);
    int status = opened == PL_OK ? HISTORY_OK : history_failed(request, &error);
    for (size_t i = 0; opened == PL_OK && i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, request->command) == 0)
            status = commands[i].run(request, history);
    history_close(history);
    text_clear(&path);
    return status;
}
