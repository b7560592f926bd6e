/* add, list, show and remove of `piolet history`. */
#include "cli/history_shell.h"

#include "base/units.h"
#include "cli/cli_wrap.h"

#include <stdio.h>
#include <string.h>

int history_shell_failed(const struct history_request *request, const struct pl_error *error)
{
    cli_complain(request->verb, "%s", error->text);
    return error->status == PL_E_INPUT ? CLI_USAGE : CLI_FAILED;
}

int history_shell_digits(double value)
{
    return value < 0.1 ? 5 : value < 10 ? 3 : 1;
}

/* ---- add ---- */

static void tell_added(const struct history_request *request, const char *file, const struct history_added *added)
{
    printf("%s: %lld new, %lld known", file, (long long)added->new_blocks, (long long)added->known);
    if (added->grown)
        printf(", %lld grown", (long long)added->grown);
    printf("; %lld numbers", (long long)added->quantities);
    if (added->incomplete)
        printf("; %lld not complete", (long long)added->incomplete);
    printf("%s%s\n", request->label ? "; label " : "", request->label ? request->label : "");
}

static int add(const struct history_request *request, struct history *history)
{
    int status = CLI_OK;
    for (size_t i = 0; i < request->word_count; i++) {
        struct history_added added;
        struct text warnings = {0};
        struct pl_error error;
        const pl_status done = history_add(history, request->words[i], request->label, &added, &warnings, &error);
        for (const char *at = text_get(&warnings); *at; at += strcspn(at, "\n") + 1)
            cli_complain(request->verb, "warning: %.*s", (int)strcspn(at, "\n"), at);
        if (done == PL_OK)
            tell_added(request, request->words[i], &added);
        else
            status = history_shell_failed(request, &error);
        text_clear(&warnings);
    }
    return status == CLI_OK ? CLI_OK : CLI_FAILED;
}

/* ---- list, show ---- */

enum { WHERE_COLUMN = 57, WORD_MAX = 22 }; /* such a word and a comma fill the line */

static bool continues_character(char byte)
{
    return ((unsigned char)byte & 0xC0U) == 0x80U; /* of UTF-8 */
}

/* The word, or its begin and end when it is too long for its column; `show` and `export` have all of it. */
static void add_word(struct text *text, const char *word, size_t length)
{
    static const char dots[] = "…";
    size_t head = (WORD_MAX - strlen(dots)) / 2, tail = length - (WORD_MAX - strlen(dots) - head);
    if (length <= WORD_MAX) {
        text_append(text, word, length);
        return;
    }
    while (head > 0 && continues_character(word[head]))
        head--;
    while (tail < length && continues_character(word[tail]))
        tail++;
    text_append(text, word, head);
    text_add(text, dots);
    text_append(text, word + tail, length - tail);
}

static void add_words(struct text *text, const char *words)
{
    for (; *words; words += strspn(words, " ")) {
        const size_t length = strcspn(words, " ");
        add_word(text, words, length);
        words += length;
        text_add(text, *words ? " " : "");
    }
}

/* A long name of a host goes without its domain. */
static void host_of(const struct history_run *run, struct text *host)
{
    const size_t length = strlen(run->host), plain = strcspn(run->host, ".");
    const bool is_address = run->host[strspn(run->host, "0123456789.")] == '\0';
    text_append(host, run->host, length > WORD_MAX && !is_address ? plain : length);
}

static void print_run(const struct history_run *run)
{
    struct text what = {0}, where = {0}, host = {0};
    host_of(run, &host);
    const char *const parts[] = {run->mpiio, text_get(&host), strspn(run->place, " ") ? "" : run->place, run->label,
                                 run->complete ? "" : "not complete"};
    text_format(&what, "%s %s", run->class_name, run->testname);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        text_add(&where, where.length && parts[i][0] ? ", " : "");
        add_words(&where, parts[i]);
    }
    printf("%-10.8s %-10.10s %5.5s ", run->id, run->measured, strlen(run->measured) > 16 ? run->measured + 11 : "");
    int column = cli_wrap_cell(text_get(&what), 28, 23);
    column += printf("%5lld ", (long long)run->ranks);
    cli_wrap(text_get(&where), column, WHERE_COLUMN);
    text_clear(&host);
    text_clear(&what);
    text_clear(&where);
}

static int list(const struct history_request *request, struct history *history)
{
    struct history_runs runs;
    struct pl_error error;
    if (history_runs(history, request->words, request->word_count, &runs, &error) != PL_OK)
        return history_shell_failed(request, &error);
    printf("%-10s %-16s %-22s %5s %s\n", "id", "measured (UTC)", "class test", "ranks", "MPI-IO, place, label");
    for (size_t i = 0; i < runs.count; i++)
        print_run(&runs.list[i]);
    printf("%zu run%s\n", runs.count, runs.count == 1 ? "" : "s");
    history_runs_clear(&runs);
    return CLI_OK;
}

static void show_run(const struct history_run *run)
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

static void show_value(const struct history_value *value)
{
    struct text line = {0};
    text_format(&line, "%s%s%s", value->what, value->settings[0] ? ": " : "", value->settings);
    const int column = printf("  %10.*f %-5s ", history_shell_digits(value->value), value->value, value->unit);
    cli_wrap(text_get(&line), column, column);
    text_clear(&line);
}

static int show(const struct history_request *request, struct history *history)
{
    struct history_runs runs;
    struct history_values values = {0};
    struct pl_error error;
    if (history_runs(history, request->words, request->word_count, &runs, &error) != PL_OK)
        return history_shell_failed(request, &error);
    const pl_status status = history_values(history, &runs, &values, &error);
    for (size_t i = 0; i < runs.count && status == PL_OK; i++) {
        show_run(&runs.list[i]);
        for (size_t v = 0; v < values.count; v++)
            if (values.list[v].run == i)
                show_value(&values.list[v]);
    }
    history_values_clear(&values);
    history_runs_clear(&runs);
    return status == PL_OK ? CLI_OK : history_shell_failed(request, &error);
}

/* ---- remove ---- */

static int remove_runs(const struct history_request *request, struct history *history)
{
    struct history_runs runs;
    struct pl_error error;
    if (history_runs(history, request->words, request->word_count, &runs, &error) != PL_OK)
        return history_shell_failed(request, &error);
    const pl_status status = history_remove(history, &runs, &error);
    if (status == PL_OK)
        printf("%zu run%s removed\n", runs.count, runs.count == 1 ? "" : "s");
    history_runs_clear(&runs);
    return status == PL_OK ? CLI_OK : history_shell_failed(request, &error);
}

/* ---- all ---- */

int history_shell(const struct history_request *request)
{
    static const struct {
        const char *name;
        int (*run)(const struct history_request *request, struct history *history);
    } commands[] = {{"add", add},
                    {"list", list},
                    {"show", show},
                    {"compare", history_shell_compare},
                    {"regressions", history_shell_regressions},
                    {"export", history_shell_export},
                    {"remove", remove_runs}};
    const bool create = strcmp(request->command, "add") == 0;
    struct text path = {0};
    struct history *history = NULL;
    struct pl_error error;
    pl_status opened = request->db ? PL_OK : history_default_path(create, &path, &error);
    if (opened == PL_OK)
        opened = history_open(request->db ? request->db : text_get(&path), create, &history, &error);
    int status = opened == PL_OK ? CLI_OK : history_shell_failed(request, &error);
    for (size_t i = 0; opened == PL_OK && i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, request->command) == 0)
            status = commands[i].run(request, history);
    history_close(history);
    text_clear(&path);
    return status;
}
