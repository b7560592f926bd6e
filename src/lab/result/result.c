#include "lab/result/result.h"

#include "base/memory.h"
#include "base/statistics.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *result_text(const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    assert(length >= 0);
    char *text = memory_new((size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, args);
    return text;
}

/* ---- life ---- */

struct result *result_new(const char *name, const char *title)
{
    assert(name && *name);
    struct result *result = memory_new(1, sizeof *result);
    result->name = name;
    result->title = memory_copy(title);
    result->root.type = RESULT_ITEM_GROUP;
    result->root.single = true;
    result->panel_columns = 1;
    result->path[0] = &result->root;
    return result;
}

static void result_clear_table(struct result_table *table)
{
    for (size_t i = 0; i < table->row_count * table->column_count; i++)
        free(table->cells[i].text);
    for (size_t i = 0; i < table->column_count; i++) {
        free((char *)table->columns[i].key);
        free((char *)table->columns[i].label);
        free((char *)table->columns[i].unit);
    }
    free(table->cells);
    free(table->columns);
    free(table->title);
}

static void result_clear_item(struct result_item *item)
{
    for (size_t i = 0; i < item->item_count; i++)
        result_clear_item(&item->items[i]);
    free(item->items);
    free(item->key);
    free(item->label);
    free(item->cell.text);
    result_clear_table(&item->table);
}

static void result_clear_axis(struct result_axis *axis)
{
    for (size_t i = 0; i < axis->name_count; i++)
        free((char *)axis->names[i]);
    free((void *)axis->names);
    free((char *)axis->label);
}

static void result_clear_panel(struct result_panel *panel)
{
    for (size_t i = 0; i < panel->series_count; i++) {
        struct result_series *series = &panel->series[i];
        free(series->name);
        free(series->x);
        free(series->y);
        free(series->low);
        free(series->high);
    }
    free(panel->series);
    free(panel->title);
    result_clear_axis(&panel->x);
    result_clear_axis(&panel->y);
}

void result_clear_panels(struct result *result)
{
    for (size_t i = 0; i < result->panel_count; i++)
        result_clear_panel(&result->panels[i]);
    free(result->panels);
    result->panels = NULL;
    result->panel_count = 0;
}

void result_free(struct result *result)
{
    if (!result)
        return;
    result_clear_item(&result->root);
    result_clear_panels(result);
    for (size_t i = 0; i < result->quantity_count; i++) {
        free(result->quantities[i].what);
        free(result->quantities[i].settings);
    }
    free(result->quantities);
    free(result->title);
    free(result->csv_key);
    free(result->figure_title);
    free(result->figure_subtitle);
    free(result);
}

/* ---- items ---- */

/* Members that show_json() adds itself. */
static bool result_is_reserved(const struct result *result, const char *key)
{
    return strcmp(key, "notes") == 0 ||
           (result->depth == 0 && (strcmp(key, "benchmark") == 0 || strcmp(key, "quantities") == 0));
}

static struct result_item *result_add(struct result *result, enum result_item_type type, const char *key)
{
    assert(!result->finished && (!key || !result_is_reserved(result, key)));
    struct result_item *group = result->path[result->depth];
    group->items = memory_grow(group->items, group->item_count, sizeof *group->items);
    struct result_item *item = &group->items[group->item_count++];
    item->type = type;
    item->key = memory_copy(key);
    item->cell.number = item->cell.error = NAN;
    return item;
}

const char *result_note_name(enum result_note level)
{
    static const char *const names[] = {"note", "warning", "error"};
    assert(level <= RESULT_ERROR);
    return names[level];
}

void result_line(struct result *result, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    result_add(result, RESULT_ITEM_LINE, NULL)->label = result_text(format, args);
    va_end(args);
}

void result_note(struct result *result, enum result_note level, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct result_item *item = result_add(result, RESULT_ITEM_NOTE, NULL);
    item->label = result_text(format, args);
    item->level = level;
    va_end(args);
}

static void result_open(struct result *result, const char *key, bool single, char *title)
{
    assert(key && *key && result->depth + 1 < RESULT_DEPTH_MAX);
    struct result_item *item = result_add(result, RESULT_ITEM_GROUP, key);
    item->label = title;
    item->single = single;
    result->path[++result->depth] = item; /* stays where it is: its own group does not grow before it is closed */
}

void result_begin_group(struct result *result, const char *key, const char *title, ...)
{
    va_list args;
    va_start(args, title);
    result_open(result, key, false, title ? result_text(title, args) : NULL);
    va_end(args);
}

void result_begin_object(struct result *result, const char *key, const char *title, ...)
{
    va_list args;
    va_start(args, title);
    result_open(result, key, true, title ? result_text(title, args) : NULL);
    va_end(args);
}

void result_end_group(struct result *result)
{
    assert(result->depth > 0);
    result->depth--;
}

/* ---- facts ---- */

static struct result_cell *result_add_fact(struct result *result, const char *key, const char *label,
                                           enum result_form form)
{
    assert(key && *key);
    const struct result_item *group = result->path[result->depth];
    for (size_t i = 0; i < group->item_count; i++)
        assert(!group->items[i].key || strcmp(group->items[i].key, key) != 0);
    struct result_item *item = result_add(result, RESULT_ITEM_FACT, key);
    item->label = memory_copy(label);
    item->form = form;
    return &item->cell;
}

/* An infinite or missing value is no value: neither JSON nor people have use for it. */
static void result_set_number(struct result_cell *cell, double value, double error)
{
    if (!isfinite(value))
        return;
    cell->type = RESULT_CELL_NUMBER;
    cell->number = value;
    cell->error = isfinite(error) ? error : NAN;
}

static void result_set_text(struct result_cell *cell, const char *value)
{
    if (!value)
        return;
    cell->type = RESULT_CELL_TEXT;
    cell->text = memory_copy(value);
}

static void result_set_int(struct result_cell *cell, int64_t value)
{
    cell->type = RESULT_CELL_INT;
    cell->integer = value;
}

static void result_set_bool(struct result_cell *cell, bool value)
{
    cell->type = RESULT_CELL_BOOL;
    cell->integer = value;
}

static bool result_form_is_number(enum result_form form)
{
    return form > RESULT_INT && form < RESULT_BOOL;
}

void result_fact_text(struct result *result, const char *key, const char *label, const char *value)
{
    result_set_text(result_add_fact(result, key, label, RESULT_TEXT), value);
}

void result_fact_int(struct result *result, const char *key, const char *label, int64_t value)
{
    result_set_int(result_add_fact(result, key, label, RESULT_INT), value);
}

void result_fact_bool(struct result *result, const char *key, const char *label, bool value)
{
    result_set_bool(result_add_fact(result, key, label, RESULT_BOOL), value);
}

void result_fact(struct result *result, const char *key, const char *label, enum result_form form, double value)
{
    assert(result_form_is_number(form));
    struct result_cell *cell = result_add_fact(result, key, label, form);
    if ((form == RESULT_BYTES || form == RESULT_BINARY) && fabs(value) < 0x1p53 && value == rint(value))
        result_set_int(cell, (int64_t)value); /* whole bytes are written as such */
    else
        result_set_number(cell, value, NAN);
}

void result_fact_estimate(struct result *result, const char *key, const char *label, enum result_form form,
                          struct analysis_estimate value)
{
    assert(result_form_is_number(form));
    struct result_cell *cell = result_add_fact(result, key, label, form);
    result_set_number(cell, value.value, value.error);
}

/* ---- tables ---- */

void result_begin_table(struct result *result, const char *key, const char *title, const struct result_column *columns)
{
    assert(key && *key && columns && columns[0].key);
    struct result_item *item = result_add(result, RESULT_ITEM_TABLE, key);
    struct result_table *table = &item->table;
    while (columns[table->column_count].key)
        table->column_count++;
    table->title = memory_copy(title);
    table->places = RESULT_IN_TEXT | RESULT_IN_JSON | RESULT_IN_CSV | RESULT_IN_PAGE;
    table->columns = memory_new(table->column_count, sizeof *table->columns);
    for (size_t i = 0; i < table->column_count; i++) {
        struct result_column *column = &table->columns[i];
        *column = columns[i];
        assert(column->form >= RESULT_TEXT && column->form <= RESULT_BOOL);
        assert(!column->error || result_form_is_number(column->form));
        assert(*column->key || table->column_count == 1);
        column->key = memory_copy(column->key);
        column->label = memory_copy(column->label);
        column->unit = memory_copy(column->unit);
    }
}

/* The table that was begun last, if nothing came behind it. */
static struct result_table *result_open_table(struct result *result)
{
    const struct result_item *group = result->path[result->depth];
    assert(!result->finished && group->item_count > 0);
    struct result_item *item = &group->items[group->item_count - 1];
    assert(item->type == RESULT_ITEM_TABLE);
    return &item->table;
}

void result_only_in(struct result *result, unsigned places)
{
    assert(places);
    result_open_table(result)->places = places;
}

void result_csv_table(struct result *result, const char *key)
{
    free(result->csv_key);
    result->csv_key = memory_copy(key);
}

void result_row(struct result *result)
{
    struct result_table *table = result_open_table(result);
    table->cells = memory_grow(table->cells, table->row_count, table->column_count * sizeof *table->cells);
    struct result_cell *row = &table->cells[table->row_count++ * table->column_count];
    for (size_t i = 0; i < table->column_count; i++)
        row[i].number = row[i].error = NAN;
    result->column = 0;
}

static struct result_cell *result_next_cell(struct result *result, const struct result_column **ret_column)
{
    struct result_table *table = result_open_table(result);
    assert(table->row_count > 0 && result->column < table->column_count);
    *ret_column = &table->columns[result->column];
    return &table->cells[(table->row_count - 1) * table->column_count + result->column++];
}

void result_put_text(struct result *result, const char *value)
{
    const struct result_column *column;
    struct result_cell *cell = result_next_cell(result, &column);
    assert(column->form == RESULT_TEXT);
    result_set_text(cell, value);
}

void result_put_int(struct result *result, int64_t value)
{
    const struct result_column *column;
    struct result_cell *cell = result_next_cell(result, &column);
    assert(column->form == RESULT_INT || column->form == RESULT_BYTES || column->form == RESULT_BINARY ||
           column->form == RESULT_NS);
    result_set_int(cell, value);
}

void result_put_number(struct result *result, double value)
{
    const struct result_column *column;
    struct result_cell *cell = result_next_cell(result, &column);
    assert(result_form_is_number(column->form));
    result_set_number(cell, value, NAN);
}

void result_put_estimate(struct result *result, struct analysis_estimate value)
{
    const struct result_column *column;
    struct result_cell *cell = result_next_cell(result, &column);
    assert(column->error);
    result_set_number(cell, value.value, value.error);
}

void result_put_bool(struct result *result, bool value)
{
    const struct result_column *column;
    struct result_cell *cell = result_next_cell(result, &column);
    assert(column->form == RESULT_BOOL);
    result_set_bool(cell, value);
}

void result_put_empty(struct result *result)
{
    const struct result_column *column;
    result_next_cell(result, &column);
}

/* ---- charts ---- */

void result_figure(struct result *result, const char *title, const char *subtitle)
{
    free(result->figure_title);
    free(result->figure_subtitle);
    result->figure_title = memory_copy(title);
    result->figure_subtitle = memory_copy(subtitle);
}

static struct result_axis result_copy_axis(const struct result_axis *axis)
{
    struct result_axis copy = *axis;
    assert(!axis->names == !axis->name_count && !(axis->log && axis->names));
    assert(axis->form != RESULT_TEXT && axis->form != RESULT_BOOL);
    copy.label = memory_copy(axis->label ? axis->label : "");
    copy.form = axis->form ? axis->form : RESULT_NUMBER;
    char **names = axis->names ? memory_new(axis->name_count, sizeof *names) : NULL;
    for (size_t i = 0; i < axis->name_count; i++)
        names[i] = memory_copy(axis->names[i]);
    copy.names = (const char *const *)names;
    return copy;
}

void result_begin_panel(struct result *result, const struct result_axis *x, const struct result_axis *y, int columns,
                        const char *title, ...)
{
    assert(!result->finished && columns > 0);
    result->panels = memory_grow(result->panels, result->panel_count, sizeof *result->panels);
    struct result_panel *panel = &result->panels[result->panel_count++];
    panel->x = result_copy_axis(x);
    panel->y = result_copy_axis(y);
    va_list args;
    va_start(args, title);
    panel->title = title ? result_text(title, args) : NULL;
    va_end(args);
    result->panel_columns = columns;
}

void result_begin_series(struct result *result, enum result_draw draw, const char *name, ...)
{
    assert(!result->finished && result->panel_count > 0 && draw < RESULT_DRAWS);
    struct result_panel *panel = &result->panels[result->panel_count - 1];
    panel->series = memory_grow(panel->series, panel->series_count, sizeof *panel->series);
    struct result_series *series = &panel->series[panel->series_count++];
    va_list args;
    va_start(args, name);
    series->name = result_text(name, args);
    va_end(args);
    series->draw = draw;
}

void result_point(struct result *result, double x, double y, double low, double high)
{
    assert(!result->finished && result->panel_count > 0);
    struct result_panel *panel = &result->panels[result->panel_count - 1];
    assert(panel->series_count > 0 && !(low > high));
    struct result_series *series = &panel->series[panel->series_count - 1];
    series->x = memory_grow(series->x, series->count, sizeof *series->x);
    series->y = memory_grow(series->y, series->count, sizeof *series->y);
    series->low = memory_grow(series->low, series->count, sizeof *series->low);
    series->high = memory_grow(series->high, series->count, sizeof *series->high);
    series->x[series->count] = x;
    series->y[series->count] = y;
    series->low[series->count] = low;
    series->high[series->count++] = high;
}

/* ---- quantities ---- */

void result_quantity(struct result *result, const struct blockfile_block *block, const struct quantity_kind *kind,
                     const char *what, const char *settings, struct analysis_estimate value)
{
    assert(!result->finished && kind->unit && kind->made && (what || kind->what));
    if (!isfinite(value.value) || value.value <= 0)
        return;
    result->quantities = memory_grow(result->quantities, result->quantity_count, sizeof *result->quantities);
    result->quantities[result->quantity_count++] = (struct quantity){
        .block = block,
        .what = memory_copy(what ? what : kind->what),
        .settings = memory_copy(settings ? settings : ""),
        .unit = kind->unit,
        .made = kind->made,
        .lower_is_better = kind->lower_is_better,
        .value = value.value,
        .low = isfinite(value.error) ? fmax(0, value.value - value.error) : NAN,
        .high = isfinite(value.error) ? value.value + value.error : NAN,
        .repetitions = 1,
    };
}

void result_quantity_rate(struct result *result, const struct blockfile_block *block, const struct quantity_kind *kind,
                          const char *what, const char *settings, const struct result_rate *rate)
{
    const struct quantity_kind by_calls = {kind->what, kind->unit,
                                           "bytes of all ranks / longest sum of one rank's times in such calls",
                                           kind->lower_is_better};
    char name[128];
    snprintf(name, sizeof name, "%.100s, by calls", what ? what : kind->what);
    if (!rate->by_calls)
        result_quantity(result, block, kind, what, settings, rate->rate);
    result_quantity(result, block, &by_calls, name, settings, rate->call_rate);
}

static int result_compare_names(const struct quantity *a, const struct quantity *b)
{
    if (a->block != b->block)
        return (uintptr_t)a->block < (uintptr_t)b->block ? -1 : 1;
    const int order = strcmp(a->what, b->what);
    return order ? order : strcmp(a->settings, b->settings);
}

/* Of pointers into one array: equal names stand together, in the order in which they came. */
static int result_compare_quantities(const void *left, const void *right)
{
    const struct quantity *a = *(struct quantity *const *)left, *b = *(struct quantity *const *)right;
    const int order = result_compare_names(a, b);
    return order ? order : (a > b) - (a < b);
}

/* Repetitions become their median, since one slow one does not make a slow run. The interval is as wide as their mean's
 * and lies around the median. */
static void result_join(struct quantity *const *same, size_t count, double *values)
{
    struct quantity *first = same[0];
    for (size_t i = 0; i < count; i++) {
        assert(strcmp(same[i]->unit, first->unit) == 0 && same[i]->lower_is_better == first->lower_is_better);
        assert(strcmp(same[i]->made, first->made) == 0); /* one name, one definition */
        values[i] = same[i]->value;
        same[i]->repetitions = 0; /* of those that are joined */
    }
    first->repetitions = (int)count;
    if (count == 1)
        return;
    statistics_sort(values, count);
    first->value = statistics_median(values, count, sizeof *values);
    const double error = analysis_mean(values, count).error;
    first->low = fmax(0, first->value - error);
    first->high = first->value + error;
    assert(first->low <= first->value && first->value <= first->high);
}

void result_finish(struct result *result)
{
    assert(!result->finished && result->depth == 0);
    const size_t count = result->quantity_count;
    struct quantity **order = memory_new(count, sizeof(struct quantity *)); // NOLINT(bugprone-sizeof-expression)
    double *values = memory_new(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        order[i] = &result->quantities[i];
    qsort(order, count, sizeof(struct quantity *), result_compare_quantities);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && result_compare_names(order[first], order[end]) == 0; end++)
            ;
        result_join(order + first, end - first, values);
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct quantity *quantity = &result->quantities[i];
        if (quantity->repetitions > 0) {
            result->quantities[kept++] = *quantity;
            continue;
        }
        free(quantity->what);
        free(quantity->settings);
    }
    result->quantity_count = kept;
    result_chart_quantities(result);
    result->finished = true;
    free(order);
    free(values);
}

const struct quantity *result_find(const struct result *result, const char *what, const char *settings)
{
    assert(result->finished);
    for (size_t i = 0; i < result->quantity_count; i++) {
        const struct quantity *quantity = &result->quantities[i];
        if (strcmp(quantity->what, what) == 0 && (!settings || strcmp(quantity->settings, settings) == 0))
            return quantity;
    }
    return NULL;
}
