/* Runs, their numbers and their bytes, out of a history. */
#include "history/history_db.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- runs ---- */

/* Room for one more in a list that doubles; NULL: no memory, and the list stays. */
static void *read_room(void *list, size_t count, size_t size)
{
    return count & (count - 1) ? list : realloc(list, (count ? 2 * count : 1) * size);
}

/* Copies of the columns from `first` on. */
static bool read_texts(sqlite3_stmt *row, int first, char **const *texts, size_t count)
{
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good = (*texts[i] = text_dup((const char *)sqlite3_column_text(row, first + (int)i))) != NULL && good;
    return good;
}

/* Behind the last row: `good` is false where a row found no memory, `code` is what the last step gave. */
static pl_status read_end(struct history *history, sqlite3_stmt *rows, bool good, int code, pl_status status,
                          struct pl_error *error)
{
    if (!good)
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for the history");
    else if (status == PL_OK && code != SQLITE_DONE)
        status = history_fail(history, "reading", error);
    sqlite3_finalize(rows);
    return status;
}

static void clear_run(struct history_run *run)
{
    char *const texts[] = {run->id,   run->class_name, run->testname, run->label,    run->measured,  run->added,
                           run->host, run->place,      run->mpiio,    run->software, run->conditions};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free(texts[i]);
}

void history_runs_clear(struct history_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        clear_run(&runs->list[i]);
    free(runs->list);
    *runs = (struct history_runs){0};
}

static bool add_run(struct history_runs *runs, sqlite3_stmt *row)
{
    struct history_run *list = read_room(runs->list, runs->count, sizeof *list);
    if (!list)
        return false;
    runs->list = list;
    struct history_run *run = &runs->list[runs->count++];
    *run = (struct history_run){.key = sqlite3_column_int64(row, 0),
                                .ranks = sqlite3_column_int64(row, 12),
                                .sets = sqlite3_column_int64(row, 13),
                                .bytes = sqlite3_column_int64(row, 14),
                                .complete = sqlite3_column_int(row, 15)};
    char **const texts[] = {&run->id,   &run->class_name, &run->testname, &run->label,    &run->measured,  &run->added,
                            &run->host, &run->place,      &run->mpiio,    &run->software, &run->conditions};
    return read_texts(row, 1, texts, sizeof texts / sizeof texts[0]);
}

static const char RUNS[] = "SELECT key, id, class, testname, label, measured, added, host, place, mpiio, software,"
                           " conditions, ranks, sets, bytes, complete FROM block ORDER BY measured, key";

static pl_status read_runs(struct history *history, struct history_runs *runs, struct pl_error *error)
{
    sqlite3_stmt *rows = NULL;
    int code = SQLITE_DONE;
    bool good = true;
    const pl_status status = history_prepare(history, RUNS, &rows, error);
    while (status == PL_OK && good && (code = sqlite3_step(rows)) == SQLITE_ROW)
        good = add_run(runs, rows);
    return read_end(history, rows, good, code, status, error);
}

/* Marks what a word names. */
static pl_status read_choose(const struct history_runs *runs, const char *word, bool *chosen, struct pl_error *error)
{
    const size_t length = strlen(word);
    size_t labels = 0, ids = 0, found = 0;
    for (size_t i = 0; i < runs->count && length; i++)
        if (strcmp(runs->list[i].label, word) == 0) {
            chosen[i] = true;
            labels++;
        }
    if (labels)
        return PL_OK;
    for (size_t i = 0; i < runs->count; i++)
        if (length && strncmp(runs->list[i].id, word, length) == 0) {
            found = i;
            ids++;
        }
    if (ids == 0 && strcmp(word, "last") == 0 && runs->count) {
        found = runs->count - 1;
        ids = 1;
    }
    if (ids == 1)
        chosen[found] = true;
    else if (ids > 1)
        return pl_fail(error, PL_E_INPUT, "'%s' begins %zu ids: give more of it", word, ids);
    else
        return pl_fail(error, PL_E_INPUT, "'%s' is neither a label nor the beginning of an id in the history", word);
    return PL_OK;
}

static void keep_chosen(struct history_runs *runs, const bool *chosen)
{
    size_t kept = 0;
    for (size_t i = 0; i < runs->count; i++)
        if (chosen[i])
            runs->list[kept++] = runs->list[i];
        else
            clear_run(&runs->list[i]);
    runs->count = kept;
}

pl_status history_runs(struct history *history, const char *const *words, size_t count, struct history_runs *ret_runs,
                       struct pl_error *error)
{
    struct history_runs runs = {0};
    pl_status status = read_runs(history, &runs, error);
    bool *chosen = calloc(runs.count + 1, sizeof *chosen);
    if (!chosen)
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for the history");
    for (size_t i = 0; i < count && status == PL_OK; i++)
        status = read_choose(&runs, words[i], chosen, error);
    if (status == PL_OK && count)
        keep_chosen(&runs, chosen);
    free(chosen);
    if (status == PL_OK)
        *ret_runs = runs;
    else
        history_runs_clear(&runs);
    return status;
}

pl_status history_remove(struct history *history, const struct history_runs *runs, struct pl_error *error)
{
    sqlite3_stmt *drop = NULL;
    pl_status status = history_begin(history, error);
    if (status != PL_OK)
        return status;
    status = history_prepare(history, "DELETE FROM block WHERE key = ?1", &drop, error);
    for (size_t i = 0; i < runs->count && status == PL_OK; i++) {
        sqlite3_bind_int64(drop, 1, runs->list[i].key);
        status = history_step(history, drop, error);
    }
    sqlite3_finalize(drop);
    if (status == PL_OK)
        status = history_exec(history, "DELETE FROM quantity WHERE id NOT IN (SELECT quantity FROM value)", error);
    return history_end(history, status, error);
}

/* ---- bytes ---- */

pl_status history_write_block(struct history *history, const struct history_run *run, FILE *stream,
                              struct pl_error *error)
{
    sqlite3_stmt *rows = NULL;
    int code = SQLITE_DONE;
    char last = '\n';
    pl_status status = history_prepare(history, "SELECT bytes FROM chunk WHERE block = ?1 ORDER BY number", &rows,
                                       error);
    if (status != PL_OK)
        return status;
    sqlite3_bind_int64(rows, 1, run->key);
    while (status == PL_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        const char *bytes = sqlite3_column_blob(rows, 0);
        const size_t count = (size_t)sqlite3_column_bytes(rows, 0);
        if (count && fwrite(bytes, 1, count, stream) != count)
            status = pl_fail_errno(error, errno, "writing block %s", run->id);
        last = count ? bytes[count - 1] : last;
    }
    if (status == PL_OK && code != SQLITE_DONE)
        status = history_fail(history, "reading", error);
    if (status == PL_OK && last != '\n' && putc('\n', stream) == EOF)
        status = pl_fail_errno(error, errno, "writing block %s", run->id);
    sqlite3_finalize(rows);
    return status;
}

/* ---- values ---- */

struct place {
    int64_t key;
    size_t run;
};

static int by_key(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static int by_quantity(const void *a, const void *b)
{
    const struct history_value *x = a, *y = b;
    if (x->quantity != y->quantity)
        return x->quantity < y->quantity ? -1 : 1;
    return (x->run > y->run) - (x->run < y->run);
}

static bool add_value(struct history_values *values, sqlite3_stmt *row, size_t run)
{
    struct history_value *list = read_room(values->list, values->count, sizeof *list);
    if (!list)
        return false;
    values->list = list;
    struct history_value *value = &values->list[values->count++];
    *value = (struct history_value){.quantity = sqlite3_column_int64(row, 1),
                                    .run = run,
                                    .value = sqlite3_column_double(row, 2),
                                    .lower_is_better = sqlite3_column_int(row, 3)};
    char **const texts[] = {&value->class_name, &value->testname,   &value->what,
                            &value->settings,   &value->conditions, &value->unit};
    return read_texts(row, 4, texts, sizeof texts / sizeof texts[0]);
}

static pl_status read_values(struct history *history, const struct place *places, size_t count,
                             struct history_values *values, struct pl_error *error)
{
    static const char sql[] = "SELECT value.block, quantity.id, value.value, lower_is_better, class, testname, what,"
                              " settings, conditions, unit FROM value JOIN quantity ON quantity.id = value.quantity";
    sqlite3_stmt *rows = NULL;
    int code = SQLITE_DONE;
    bool good = true;
    const pl_status status = history_prepare(history, sql, &rows, error);
    while (status == PL_OK && good && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        const struct place wanted = {.key = sqlite3_column_int64(rows, 0)};
        const struct place *found = bsearch(&wanted, places, count, sizeof *places, by_key);
        good = !found || add_value(values, rows, found->run);
    }
    return read_end(history, rows, good, code, status, error);
}

pl_status history_values(struct history *history, const struct history_runs *runs, struct history_values *ret_values,
                         struct pl_error *error)
{
    struct history_values values = {0};
    struct place *places = calloc(runs->count + 1, sizeof *places);
    if (!places)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for the history");
    for (size_t i = 0; i < runs->count; i++)
        places[i] = (struct place){runs->list[i].key, i};
    qsort(places, runs->count, sizeof *places, by_key);
    const pl_status status = read_values(history, places, runs->count, &values, error);
    free(places);
    if (status != PL_OK) {
        history_values_clear(&values);
        return status;
    }
    if (values.count)
        qsort(values.list, values.count, sizeof *values.list, by_quantity);
    *ret_values = values;
    return PL_OK;
}

void history_values_clear(struct history_values *values)
{
    for (size_t i = 0; i < values->count; i++) {
        struct history_value *value = &values->list[i];
        char *const texts[] = {value->class_name, value->testname,   value->what,
                               value->settings,   value->conditions, value->unit};
        for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
            free(texts[t]);
    }
    free(values->list);
    *values = (struct history_values){0};
}
