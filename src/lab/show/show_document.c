/* A result as JSON that can be shown without knowledge of the benchmark: the page draws it. docs/report.md describes
 * it. */
#include "lab/show/show.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static const char *const FORMS[] = {
    [RESULT_TEXT] = "text",           [RESULT_INT] = "int",       [RESULT_NUMBER] = "number",
    [RESULT_BYTES] = "bytes",         [RESULT_BINARY] = "binary", [RESULT_NS] = "ns",
    [RESULT_SECONDS] = "seconds",     [RESULT_RATE] = "rate",     [RESULT_PERCENT] = "percent",
    [RESULT_BYTE_RATE] = "byte_rate", [RESULT_BOOL] = "bool",
};
static const char *const DRAWS[RESULT_DRAWS] = {
    [RESULT_LINE] = "line", [RESULT_CURVE] = "curve", [RESULT_DASHED] = "dashed", [RESULT_POINTS] = "points",
    [RESULT_BARS] = "bars", [RESULT_BAND] = "band",   [RESULT_STEPS] = "steps",
};

static void document_put_cell(struct json *json, const struct result_cell *cell)
{
    if (cell->type == RESULT_CELL_TEXT)
        json_put_string(json, NULL, cell->text);
    else if (cell->type == RESULT_CELL_INT)
        json_put_int(json, NULL, cell->integer);
    else if (cell->type == RESULT_CELL_BOOL)
        json_put_bool(json, NULL, cell->integer != 0);
    else
        json_put_double(json, NULL, cell->number); /* null where it is empty */
}

static void document_put_table(struct json *json, const struct result_item *item, const char *group)
{
    const struct result_table *table = &item->table;
    if (!(table->places & RESULT_IN_PAGE))
        return;
    json_object_begin(json, NULL);
    json_put_string(json, "key", item->key);
    json_put_string(json, "title", table->title);
    json_put_string(json, "group", group);
    json_array_begin(json, "columns");
    for (size_t i = 0; i < table->column_count; i++) {
        const struct result_column *column = &table->columns[i];
        if (column->hidden)
            continue;
        json_row_begin(json, NULL);
        json_put_string(json, "key", column->key);
        json_put_string(json, "label", column->label ? column->label : column->key);
        json_put_string(json, "unit", show_unit(column->form, column->unit));
        json_put_string(json, "form", FORMS[column->form]);
        json_put_int(json, "decimals", column->decimals);
        json_put_double(json, "scale", column->scale != 0 ? column->scale : NAN);
        json_put_bool(json, "error", column->error);
        json_object_end(json);
    }
    json_array_end(json);
    json_array_begin(json, "rows");
    for (size_t r = 0; r < table->row_count; r++) {
        json_numbers_begin(json, NULL);
        for (size_t c = 0; c < table->column_count; c++) {
            const struct result_cell *cell = &table->cells[r * table->column_count + c];
            if (table->columns[c].hidden)
                continue;
            if (!table->columns[c].error) {
                document_put_cell(json, cell);
                continue;
            }
            json_numbers_begin(json, NULL);
            document_put_cell(json, cell);
            json_put_double(json, NULL, cell->error);
            json_array_end(json);
        }
        json_array_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

static void document_put_fact(struct json *json, const struct result_item *item, const char *group)
{
    struct text text = {0};
    show_fact(item, &text);
    json_row_begin(json, NULL);
    json_put_string(json, "group", group);
    json_put_string(json, "key", item->key);
    json_put_string(json, "label", item->label);
    json_put_string(json, "text", text_get(&text));
    json_object_end(json);
    text_clear(&text);
}

static void document_put_line(struct json *json, const struct result_item *item, const char *group)
{
    json_row_begin(json, NULL);
    json_put_string(json, "group", group);
    if (item->type == RESULT_ITEM_NOTE)
        json_put_string(json, "level", result_note_name(item->level));
    json_put_string(json, "text", item->label);
    json_object_end(json);
}

/* All items of a type; `group` is the titles of the groups around them, NULL outside of all. */
static void document_walk(struct json *json, const struct result_item *items, size_t count, enum result_item_type type,
                          const char *group)
{
    for (size_t i = 0; i < count; i++) {
        const struct result_item *item = &items[i];
        if (item->type == RESULT_ITEM_GROUP) {
            char *inner = !item->label ? memory_copy(group)
                          : group      ? memory_text("%s / %s", group, item->label)
                                       : memory_copy(item->label);
            document_walk(json, item->items, item->item_count, type, inner);
            free(inner);
        } else if (item->type != type) {
            continue;
        } else if (type == RESULT_ITEM_TABLE) {
            document_put_table(json, item, group);
        } else if (type == RESULT_ITEM_FACT && item->label) {
            document_put_fact(json, item, group);
        } else if (type == RESULT_ITEM_LINE || type == RESULT_ITEM_NOTE) {
            document_put_line(json, item, group);
        }
    }
}

static void document_put_axis(struct json *json, const char *key, const struct result_axis *axis)
{
    json_row_begin(json, key);
    json_put_string(json, "label", axis->label);
    json_put_string(json, "form", FORMS[axis->form]);
    json_put_string(json, "unit", show_unit(axis->form, NULL));
    json_put_bool(json, "log", axis->log);
    json_put_bool(json, "from_zero", axis->from_zero);
    if (axis->names) {
        json_numbers_begin(json, "names");
        for (size_t i = 0; i < axis->name_count; i++)
            json_put_string(json, NULL, axis->names[i]);
        json_array_end(json);
    }
    json_object_end(json);
}

static void document_put_panel(struct json *json, const struct result_panel *panel)
{
    json_object_begin(json, NULL);
    json_put_string(json, "title", panel->title);
    document_put_axis(json, "x", &panel->x);
    document_put_axis(json, "y", &panel->y);
    json_array_begin(json, "series");
    for (size_t s = 0; s < panel->series_count; s++) {
        const struct result_series *series = &panel->series[s];
        json_row_begin(json, NULL);
        json_put_string(json, "name", series->name);
        json_put_string(json, "draw", DRAWS[series->draw]);
        json_numbers_begin(json, "points");
        for (size_t i = 0; i < series->count; i++) {
            json_numbers_begin(json, NULL);
            json_put_double(json, NULL, series->x[i]);
            json_put_double(json, NULL, series->y[i]);
            json_put_double(json, NULL, series->low[i]);
            json_put_double(json, NULL, series->high[i]);
            json_array_end(json);
        }
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

void show_put_document_members(const struct result *result, struct json *json)
{
    static const struct {
        const char *key;
        enum result_item_type type;
    } lists[] = {{"lines", RESULT_ITEM_LINE},
                 {"facts", RESULT_ITEM_FACT},
                 {"tables", RESULT_ITEM_TABLE},
                 {"notes", RESULT_ITEM_NOTE}};
    assert(result->finished);
    json_put_string(json, "name", result->name);
    json_put_string(json, "title", result->title);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        json_array_begin(json, lists[i].key);
        document_walk(json, result->root.items, result->root.item_count, lists[i].type, NULL);
        json_array_end(json);
    }
    json_put_string(json, "figure", result->figure_title);
    json_put_string(json, "figure_note", result->figure_subtitle);
    json_array_begin(json, "charts");
    for (size_t i = 0; i < result->panel_count; i++)
        document_put_panel(json, &result->panels[i]);
    json_array_end(json);
}

void show_put_document(const struct result *result, struct json *json, const char *key)
{
    json_object_begin(json, key);
    show_put_document_members(result, json);
    json_object_end(json);
}
