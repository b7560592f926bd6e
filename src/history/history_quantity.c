/* Which class has which quantities, and what is common to all of them. */
#include "history/history_quantity.h"

#include "base/units.h"
#include "measure/conditions.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* To keep a further class: one row, and its maker. */
static const struct row {
    const char *class_name;
    history_quantity_maker *make;
    const char *const *inputs; /* settings in the head that make equal sets different things; NULL: none */
} ROWS[] = {
    {"Lowlevel", history_quantity_lowlevel, NULL},
    {"Kernel", history_quantity_kernel, NULL},
    {"Apps", history_quantity_apps, NULL},
    {"Beff", history_quantity_beff, NULL},
    {"beffio", history_quantity_beffio, (const char *const[]){"cold", "order", "hints", NULL}},
    {"Piobench", history_quantity_piobench,
     (const char *const[]){"dims", "hint", "sync", "cold", "direct", "fresh", NULL}},
    {"Gpfs", history_quantity_gpfs, NULL},
    {"Peak", history_quantity_peak, NULL},
    {"Replay", history_quantity_replay, (const char *const[]){"pace", "cache", NULL}},
};

static const struct row *row_of(const struct blockfile_block *block)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        if (strcasecmp(block->class_name, ROWS[i].class_name) == 0)
            return &ROWS[i];
    return NULL;
}

/* ---- collecting ---- */

static void add(struct history_quantities *list, struct history_quantity quantity)
{
    if ((list->count & (list->count - 1)) == 0) {
        struct history_quantity *more = realloc(list->list, (list->count ? 2 * list->count : 1) * sizeof *more);
        if (!more) {
            list->failed = true;
            return;
        }
        list->list = more;
    }
    list->list[list->count++] = quantity;
}

static void add_quantity(const struct history_source *source, const char *what, const char *settings, const char *unit,
                         bool lower_is_better, double value)
{
    if (!isfinite(value) || value <= 0 || source->quantities->failed)
        return;
    struct history_quantity quantity = {text_dup(what), text_dup(settings), unit, lower_is_better, value};
    if (quantity.what && quantity.settings)
        add(source->quantities, quantity);
    if (!quantity.what || !quantity.settings || source->quantities->failed) {
        source->quantities->failed = true;
        free(quantity.what);
        free(quantity.settings);
    }
}

void history_quantity_rate(const struct history_source *source, const char *what, const char *settings, double mb_per_s)
{
    add_quantity(source, what, settings, "MB/s", false, mb_per_s);
}

void history_quantity_time(const struct history_source *source, const char *what, const char *settings, double ns)
{
    add_quantity(source, what, settings, "ms", true, ns / 1e6);
}

static int compare(const void *a, const void *b)
{
    const struct history_quantity *x = a, *y = b;
    int order = strcmp(x->what, y->what);
    if (order == 0)
        order = strcmp(x->settings, y->settings);
    return order ? order : (x->value > y->value) - (x->value < y->value);
}

static bool is_same(const struct history_quantity *a, const struct history_quantity *b)
{
    return strcmp(a->what, b->what) == 0 && strcmp(a->settings, b->settings) == 0;
}

/* Repetitions become their median: one slow one does not make a slow run. */
static void join_repetitions(struct history_quantities *quantities)
{
    struct history_quantity *list = quantities->list;
    size_t kept = 0;
    if (quantities->count)
        qsort(list, quantities->count, sizeof *list, compare);
    for (size_t first = 0, end; first < quantities->count; first = end) {
        for (end = first + 1; end < quantities->count && is_same(&list[first], &list[end]); end++)
            ;
        const size_t middle = first + (end - first) / 2, before = first + (end - first - 1) / 2;
        const double median = (list[middle].value + list[before].value) / 2;
        for (size_t i = first + 1; i < end; i++) {
            free(list[i].what);
            free(list[i].settings);
        }
        list[kept] = list[first];
        list[kept++].value = median;
    }
    quantities->count = kept;
}

pl_status history_quantities_of(struct blockfile *file, size_t number, struct history_quantities *ret_quantities,
                                struct pl_error *error)
{
    struct history_quantities quantities = {0};
    const struct history_source source = {file, number, &file->blocks[number], &quantities};
    const struct row *row = row_of(source.block);
    pl_status status = row ? row->make(&source, error) : PL_OK;
    if (status == PL_OK && quantities.failed)
        status = pl_fail_errno(error, ENOMEM, "the quantities of '%s'", file->path);
    if (status) {
        history_quantities_clear(&quantities);
        return status;
    }
    join_repetitions(&quantities);
    *ret_quantities = quantities;
    return PL_OK;
}

void history_quantities_clear(struct history_quantities *quantities)
{
    for (size_t i = 0; i < quantities->count; i++) {
        free(quantities->list[i].what);
        free(quantities->list[i].settings);
    }
    free(quantities->list);
    *quantities = (struct history_quantities){0};
}

/* ---- conditions ---- */

/* The first word of a fact: versions behind it are what may change. */
static void add_first_word(struct text *text, const char *name, const char *value)
{
    if (value)
        text_format(text, "%s %.*s\n", name, (int)strcspn(value, " ,;"), value);
}

static void add_mpi(struct text *text, const char *library)
{
    if (library && strncmp(library, "Open MPI", 8) == 0)
        text_add(text, "MPI Open MPI\n");
    else
        add_first_word(text, "MPI", library);
}

void history_conditions(const struct blockfile_block *block, struct text *text)
{
    static const char *const none[] = {NULL};
    const struct row *row = row_of(block);
    const char *ranks = blockfile_fact_of(block, "nprocs");
    struct conditions conditions = {0};
    if (conditions_number(&conditions, block, row && row->inputs ? row->inputs : none) < 0)
        text->failed = true;
    else
        text_format(text, "place %s\n", conditions.texts[0]);
    conditions_clear(&conditions);
    if (ranks)
        text_format(text, "ranks %s\n", ranks);
    add_mpi(text, blockfile_fact_of(block, "mpi_library"));
    add_first_word(text, "MPI-IO", blockfile_fact_of(block, "mpiio"));
}

/* ---- settings ---- */

static bool is_among(const char *key, const char *const *keys)
{
    for (; keys && *keys; keys++)
        if (strcmp(*keys, key) == 0)
            return true;
    return false;
}

/* Parameters that say nothing where they have this value; NULL: whatever it is. */
static bool is_usual(const struct blockfile_pair *param)
{
    static const struct blockfile_pair usual[] = {
        {"layout", "strided"}, {"fuzzy", "0"},       {"phases", "both"},   {"preallocate", "true"}, {"check", NULL},
        {"blocks", NULL},      {"tail_bytes", NULL}, {"repetition", NULL}, {"compute_ms", "0"},
    };
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (strcmp(param->key, usual[i].key) == 0)
            return !usual[i].value || strcmp(param->value, usual[i].value) == 0;
    return false;
}

void history_add_bytes(struct text *text, long long bytes)
{
    static const struct {
        long long size;
        const char *name;
    } units[] = {{1000000000, "GB"}, {1 << 30, "GiB"}, {1000000, "MB"}, {1 << 20, "MiB"}, {1000, "kB"}, {1024, "KiB"}};
    for (size_t i = 0; bytes > 0 && i < sizeof units / sizeof units[0]; i++)
        if (bytes % units[i].size == 0) {
            text_format(text, "%lld %s", bytes / units[i].size, units[i].name);
            return;
        }
    text_format(text, "%lld B", bytes);
}

static void add_param(struct text *text, const struct blockfile_pair *param)
{
    const char *key = param->key;
    const size_t length = strlen(key);
    int64_t bytes;
    if (text->length)
        text_add(text, ", ");
    if (strcmp(key, "collective") == 0) {
        text_add(text, strcmp(param->value, "true") == 0 ? "collective" : "independent");
    } else if (length > 6 && strcmp(key + length - 6, "_bytes") == 0 &&
               units_parse_int(param->value, 0, INT64_MAX, &bytes)) {
        if (strcmp(key, "filesize_bytes") == 0 || strcmp(key, "blocksize_bytes") == 0)
            text_format(text, "%.*s ", (int)(length - 10), key); /* file, block */
        else
            text_format(text, "%.*s ", (int)(length - 6), key);
        history_add_bytes(text, bytes);
    } else {
        text_format(text, "%s %s", key, param->value);
    }
}

void history_settings_of(const struct blockfile_set *set, const char *const *keys, struct text *text)
{
    for (size_t i = 0; i < set->param_count; i++)
        if (is_among(set->params[i].key, keys))
            add_param(text, &set->params[i]);
}

void history_settings(const struct blockfile_set *set, const char *const *without, struct text *text)
{
    for (size_t i = 0; i < set->param_count; i++)
        if (!is_usual(&set->params[i]) && !is_among(set->params[i].key, without))
            add_param(text, &set->params[i]);
    for (size_t i = 0; i < set->hint_count; i++)
        if (!set->hints[i].used)
            text_format(text, "%s%s=%s", text->length ? ", " : "", set->hints[i].key, set->hints[i].value);
}
