/* Single values as text; whole results as CSV and JSON. */
#include "lab/show/show.h"

#include "base/memory.h"
#include "base/units.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- single values ---- */

const char *show_cell(double value, int digits, char cell[SHOW_CELL_MAX])
{
    if (!isfinite(value)) {
        snprintf(cell, SHOW_CELL_MAX, "-");
        return cell;
    }
    if (value >= pow(10, digits + 2) - 0.5) {
        const int exponent = (int)floor(log10(value) + 1e-12);
        snprintf(cell, SHOW_CELL_MAX, "%.*fe%d", digits > 2 ? digits - 2 : 0, value / pow(10, exponent), exponent);
        return cell;
    }
    int decimals = digits - 1;
    for (double limit = 10; decimals > 0 && value >= limit - 0.5 * pow(10, -decimals); limit *= 10)
        decimals--;
    snprintf(cell, SHOW_CELL_MAX, "%.*f", decimals, value);
    return cell;
}

const char *show_unit(enum result_form form, const char *unit)
{
    if (unit)
        return unit;
    return form == RESULT_RATE || form == RESULT_BYTE_RATE ? "MB/s" : form == RESULT_PERCENT ? "%" : "";
}

/* What a value is divided by where it is shown. */
static double show_scale(enum result_form form, double scale)
{
    if (scale != 0)
        return scale;
    return form == RESULT_BYTE_RATE ? 1e6 : form == RESULT_PERCENT ? 0.01 : 1;
}

static int64_t show_whole(double value)
{
    return value >= 0x1p63 ? INT64_MAX : value <= -0x1p63 ? INT64_MIN : llround(value);
}

/* Of forms that bring a unit with each value. */
static bool show_add_measured(enum result_form form, const struct result_cell *cell, double number, struct text *text)
{
    char buffer[UNITS_TEXT_MAX];
    const int64_t whole = cell->type == RESULT_CELL_INT ? cell->integer : show_whole(number);
    if (form == RESULT_BYTES)
        text_add(text, units_bytes(whole, buffer));
    else if (form == RESULT_BINARY)
        text_add(text, units_binary(whole, buffer));
    else if (form == RESULT_NS)
        text_add(text, units_ns(cell->type == RESULT_CELL_INT ? (double)whole : number, buffer));
    else if (form == RESULT_SECONDS)
        text_add(text, units_duration(number, buffer));
    else
        return false;
    return true;
}

static void show_add_number(double value, int digits, struct text *text)
{
    char cell[SHOW_CELL_MAX];
    text_format(text, "%s%s", value < 0 ? "-" : "", show_cell(fabs(value), digits, cell));
}

/* Value and error have as many decimals as the error deserves, unless the column says how many. */
static void show_add_estimate(const struct result_column *column, double value, double wrong, struct text *text,
                              struct text *error)
{
    int decimals = column->decimals;
    if (decimals <= 0) {
        const double fine = wrong > 0 ? wrong : fabs(value) / 100;
        decimals = fine > 0 ? 1 - (int)floor(log10(fine)) : 0;
        decimals = decimals < 0 ? 0 : decimals > 6 ? 6 : decimals;
    }
    text_format(text, "%.*f", decimals, value);
    text_format(error, "%.*f", decimals, wrong);
}

void show_value(const struct result_column *column, const struct result_cell *cell, struct text *value,
                struct text *error)
{
    if (cell->type == RESULT_CELL_EMPTY) {
        text_add(value, "-");
    } else if (cell->type == RESULT_CELL_TEXT) {
        text_add_visible(value, cell->text);
    } else if (cell->type == RESULT_CELL_BOOL) {
        text_add(value, cell->integer ? "yes" : "");
    } else if (show_add_measured(column->form, cell, cell->number, value)) {
        const struct result_cell wrong = {.type = RESULT_CELL_NUMBER, .number = cell->error};
        if (!isnan(cell->error))
            show_add_measured(column->form, &wrong, cell->error, error);
    } else if (cell->type == RESULT_CELL_INT) {
        text_format(value, "%" PRId64, cell->integer);
    } else {
        const double scale = show_scale(column->form, column->scale), number = cell->number / scale;
        const bool is_rate = column->form == RESULT_RATE || column->form == RESULT_BYTE_RATE;
        if (!isnan(cell->error))
            show_add_estimate(column, number, cell->error / scale, value, error);
        else if (column->decimals < 0 || (is_rate && column->decimals == 0))
            show_add_number(number, column->decimals < 0 ? -column->decimals : 4, value);
        else
            text_format(value, "%.*f", column->decimals, number);
    }
}

void show_fact(const struct result_item *fact, struct text *text)
{
    assert(fact->type == RESULT_ITEM_FACT);
    const struct result_column column = {.form = fact->form, .decimals = fact->form == RESULT_PERCENT};
    struct text error = {0};
    if (fact->form == RESULT_NUMBER && fact->cell.type == RESULT_CELL_NUMBER && isnan(fact->cell.error))
        text_format(text, "%.6g", fact->cell.number);
    else if (fact->form == RESULT_BOOL && fact->cell.type == RESULT_CELL_BOOL)
        text_add(text, fact->cell.integer ? "yes" : "no");
    else
        show_value(&column, &fact->cell, text, &error);
    if (error.length)
        text_format(text, " ± %s", error.data);
    const char *unit = show_unit(fact->form, NULL);
    if (fact->cell.type != RESULT_CELL_EMPTY && *unit)
        text_format(text, " %s", unit);
    text_clear(&error);
}

/* ---- CSV ---- */

/* Spreadsheets take a cell that begins so for a formula, and run it; what is a number as a whole is none. */
static bool show_is_formula(const char *value)
{
    if (!*value || !strchr("=+-@\t\r", *value) || (*value == '-' && !value[1]))
        return false;
    char *end;
    strtod(value, &end);
    return end == value || *end;
}

void show_csv_field(FILE *csv, const char *value)
{
    const bool defused = show_is_formula(value);
    if (!defused && !strpbrk(value, ",\"\r\n")) {
        fputs(value, csv);
        return;
    }
    fputs(defused ? "\"'" : "\"", csv);
    for (const char *c = value; *c; c++) {
        if (*c == '"')
            fputc('"', csv);
        fputc(*c, csv);
    }
    fputc('"', csv);
}

static void show_csv_number(FILE *csv, double value)
{
    if (isfinite(value))
        fprintf(csv, "%.15g", value);
}

static void show_csv_cell(FILE *csv, const struct result_cell *cell)
{
    if (cell->type == RESULT_CELL_TEXT)
        show_csv_field(csv, cell->text);
    else if (cell->type == RESULT_CELL_BOOL)
        fputs(cell->integer ? "yes" : "no", csv);
    else if (cell->type == RESULT_CELL_INT)
        fprintf(csv, "%" PRId64, cell->integer);
    else if (cell->type == RESULT_CELL_NUMBER)
        show_csv_number(csv, cell->number);
}

/* A field of the header: the fact or the column of this key. */
struct show_field {
    const char *key; /* borrowed */
    bool is_fact;
    bool error; /* a second field behind it */
};

struct show_csv {
    FILE *stream;
    const char *key; /* of the tables */
    bool writing;    /* the second walk; the first one collects fields */
    struct show_field *facts, *columns;
    size_t fact_count, column_count;
    const struct result_item **scope; /* facts that stand before the current item, in it and in the groups around it */
    size_t scope_count;
};

static struct show_field *show_csv_find(struct show_field *fields, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].key, key) == 0)
            return &fields[i];
    return NULL;
}

static void show_csv_collect(struct show_csv *csv, const struct result_table *table)
{
    for (size_t i = 0; i < csv->scope_count; i++) {
        const struct result_item *fact = csv->scope[i];
        struct show_field *field = show_csv_find(csv->facts, csv->fact_count, fact->key);
        if (!field) {
            csv->facts = memory_grow(csv->facts, csv->fact_count, sizeof *csv->facts);
            field = &csv->facts[csv->fact_count++];
        }
        *field = (struct show_field){fact->key, true, field->error || !isnan(fact->cell.error)};
    }
    for (size_t i = 0; i < table->column_count; i++) {
        const struct result_column *column = &table->columns[i];
        struct show_field *field = show_csv_find(csv->columns, csv->column_count, column->key);
        if (!field) {
            csv->columns = memory_grow(csv->columns, csv->column_count, sizeof *csv->columns);
            field = &csv->columns[csv->column_count++];
        }
        *field = (struct show_field){column->key, false, field->error || column->error};
    }
}

static const struct result_cell *show_csv_fact(const struct show_csv *csv, const char *key)
{
    for (size_t i = csv->scope_count; i-- > 0;) /* the innermost group's first */
        if (strcmp(csv->scope[i]->key, key) == 0)
            return &csv->scope[i]->cell;
    return NULL;
}

static void show_csv_put(struct show_csv *csv, const struct show_field *field, const struct result_cell *cell,
                         bool first)
{
    static const struct result_cell EMPTY = {.number = NAN, .error = NAN};
    cell = cell ? cell : &EMPTY;
    fputs(first ? "" : ",", csv->stream);
    show_csv_cell(csv->stream, cell);
    if (field->error) {
        fputc(',', csv->stream);
        show_csv_number(csv->stream, cell->error);
    }
}

static void show_csv_rows(struct show_csv *csv, const struct result_table *table)
{
    for (size_t r = 0; r < table->row_count; r++) {
        const struct result_cell *row = &table->cells[r * table->column_count];
        for (size_t i = 0; i < csv->fact_count; i++)
            show_csv_put(csv, &csv->facts[i], show_csv_fact(csv, csv->facts[i].key), i == 0);
        for (size_t i = 0; i < csv->column_count; i++) {
            const struct result_cell *cell = NULL;
            for (size_t c = 0; c < table->column_count && !cell; c++)
                if (strcmp(table->columns[c].key, csv->columns[i].key) == 0)
                    cell = &row[c];
            show_csv_put(csv, &csv->columns[i], cell, i + csv->fact_count == 0);
        }
        fputc('\n', csv->stream);
    }
}

static bool show_csv_takes(const struct show_csv *csv, const struct result_item *item)
{
    return item->type == RESULT_ITEM_TABLE && item->table.places & RESULT_IN_CSV && strcmp(item->key, csv->key) == 0;
}

static void show_csv_walk(struct show_csv *csv, const struct result_item *group, bool is_root)
{
    const size_t outside = csv->scope_count;
    for (size_t i = 0; i < group->item_count; i++) {
        const struct result_item *item = &group->items[i];
        if (item->type == RESULT_ITEM_GROUP) {
            show_csv_walk(csv, item, false);
        } else if (item->type == RESULT_ITEM_FACT && !is_root) {
            csv->scope = memory_grow(csv->scope, csv->scope_count, sizeof(const struct result_item *));
            csv->scope[csv->scope_count++] = item;
        } else if (show_csv_takes(csv, item)) {
            if (csv->writing)
                show_csv_rows(csv, &item->table);
            else
                show_csv_collect(csv, &item->table);
        }
    }
    csv->scope_count = outside;
}

static const char *show_csv_first_key(const struct result_item *group)
{
    for (size_t i = 0; i < group->item_count; i++) {
        const struct result_item *item = &group->items[i];
        const char *key = item->type == RESULT_ITEM_GROUP ? show_csv_first_key(item)
                          : item->type == RESULT_ITEM_TABLE && item->table.places & RESULT_IN_CSV ? item->key
                                                                                                  : NULL;
        if (key)
            return key;
    }
    return NULL;
}

static void show_csv_header(const struct show_csv *csv)
{
    for (size_t i = 0; i < csv->fact_count + csv->column_count; i++) {
        const struct show_field *field = i < csv->fact_count ? &csv->facts[i] : &csv->columns[i - csv->fact_count];
        fputs(i ? "," : "", csv->stream);
        show_csv_field(csv->stream, *field->key ? field->key : csv->key);
        if (field->error)
            fprintf(csv->stream, ",%s_error", field->key);
    }
    fputc('\n', csv->stream);
}

static void show_csv_quantities(const struct result *result, FILE *stream)
{
    fputs("class,testname,what,settings,value,low,high,unit,repetitions,made\n", stream);
    for (size_t i = 0; i < result->quantity_count; i++) {
        const struct quantity *quantity = &result->quantities[i];
        const char *const names[] = {quantity->block ? quantity->block->class_name : "",
                                     quantity->block ? quantity->block->testname : "", quantity->what,
                                     quantity->settings};
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
            show_csv_field(stream, names[n] ? names[n] : "");
            fputc(',', stream);
        }
        const double numbers[] = {quantity->value, quantity->low, quantity->high};
        for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
            show_csv_number(stream, numbers[n]);
            fputc(',', stream);
        }
        show_csv_field(stream, quantity->unit);
        fprintf(stream, ",%d,", quantity->repetitions);
        show_csv_field(stream, quantity->made);
        fputc('\n', stream);
    }
}

void show_csv(const struct result *result, FILE *stream)
{
    assert(result->finished);
    struct show_csv csv = {.stream = stream};
    csv.key = result->csv_key ? result->csv_key : show_csv_first_key(&result->root);
    if (!csv.key) {
        show_csv_quantities(result, stream);
        return;
    }
    show_csv_walk(&csv, &result->root, true);
    size_t kept = 0;
    for (size_t i = 0; i < csv.fact_count; i++) /* a column says the same, and more exactly */
        if (!show_csv_find(csv.columns, csv.column_count, csv.facts[i].key))
            csv.facts[kept++] = csv.facts[i];
    csv.fact_count = kept;
    csv.writing = true;
    show_csv_header(&csv);
    show_csv_walk(&csv, &result->root, true);
    free(csv.facts);
    free(csv.columns);
    free(csv.scope);
}

/* ---- JSON: the document's own members ---- */

static void show_json_cell(struct json *json, const char *key, const struct result_cell *cell)
{
    switch (cell->type) {
    case RESULT_CELL_TEXT:
        json_put_string(json, key, cell->text);
        break;
    case RESULT_CELL_INT:
        json_put_int(json, key, cell->integer);
        break;
    case RESULT_CELL_NUMBER:
        json_put_double(json, key, cell->number);
        break;
    case RESULT_CELL_BOOL:
        json_put_bool(json, key, cell->integer != 0);
        break;
    case RESULT_CELL_EMPTY:
        json_put_null(json, key);
        break;
    }
}

static void show_json_error(struct json *json, const char *key, double error)
{
    char *name = memory_text("%s_error", key);
    json_put_double(json, name, error);
    free(name);
}

static void show_json_rows(struct json *json, const struct result_table *table)
{
    const bool values = !*table->columns[0].key;
    for (size_t r = 0; r < table->row_count; r++) {
        const struct result_cell *row = &table->cells[r * table->column_count];
        if (values) {
            show_json_cell(json, NULL, &row[0]);
            continue;
        }
        json_row_begin(json, NULL);
        for (size_t c = 0; c < table->column_count; c++) {
            show_json_cell(json, table->columns[c].key, &row[c]);
            if (table->columns[c].error)
                show_json_error(json, table->columns[c].key, row[c].error);
        }
        json_object_end(json);
    }
}

static void show_json_notes(struct json *json, const struct result_item *group)
{
    for (size_t i = 0; i < group->item_count; i++) {
        const struct result_item *item = &group->items[i];
        if (item->type != RESULT_ITEM_NOTE)
            continue;
        json_row_begin(json, NULL);
        json_put_string(json, "level", result_note_name(item->level));
        json_put_string(json, "text", item->label);
        json_object_end(json);
    }
}

static bool show_json_is_of(const struct result_item *item, const struct result_item *first)
{
    return item->type == first->type && strcmp(item->key, first->key) == 0 &&
           (item->type == RESULT_ITEM_GROUP || item->table.places & RESULT_IN_JSON);
}

static void show_json_members(struct json *json, const struct result_item *group);

/* The array of all tables or groups of one key, where the first of them stands. */
static void show_json_array(struct json *json, const struct result_item *group, size_t number)
{
    const struct result_item *first = &group->items[number];
    for (size_t i = number; i-- > 0;)
        if (group->items[i].type == first->type && show_json_is_of(&group->items[i], first))
            return;
    json_array_begin(json, first->key);
    for (size_t i = number; i < group->item_count; i++) {
        const struct result_item *item = &group->items[i];
        if (item->type != first->type || !show_json_is_of(item, first))
            continue;
        if (item->type == RESULT_ITEM_TABLE) {
            show_json_rows(json, &item->table);
            continue;
        }
        json_object_begin(json, NULL);
        show_json_members(json, item);
        json_object_end(json);
    }
    json_array_end(json);
}

static void show_json_members(struct json *json, const struct result_item *group)
{
    bool notes = false;
    for (size_t i = 0; i < group->item_count; i++) {
        const struct result_item *item = &group->items[i];
        notes |= item->type == RESULT_ITEM_NOTE;
        if (item->type == RESULT_ITEM_FACT) {
            show_json_cell(json, item->key, &item->cell);
            if (!isnan(item->cell.error))
                show_json_error(json, item->key, item->cell.error);
        } else if (item->type == RESULT_ITEM_GROUP && item->single) {
            json_object_begin(json, item->key);
            show_json_members(json, item);
            json_object_end(json);
        } else if (item->type == RESULT_ITEM_GROUP ||
                   (item->type == RESULT_ITEM_TABLE && item->table.places & RESULT_IN_JSON)) {
            show_json_array(json, group, i);
        }
    }
    if (!notes)
        return;
    json_array_begin(json, "notes");
    show_json_notes(json, group);
    json_array_end(json);
}

void show_put_quantities_into(const struct result *result, struct json *json)
{
    assert(result->finished);
    for (size_t i = 0; i < result->quantity_count; i++) {
        const struct quantity *quantity = &result->quantities[i];
        json_row_begin(json, NULL);
        json_put_string(json, "id", quantity->block ? quantity->block->id : NULL);
        json_put_string(json, "class", quantity->block ? quantity->block->class_name : NULL);
        json_put_string(json, "testname", quantity->block ? quantity->block->testname : NULL);
        json_put_string(json, "what", quantity->what);
        json_put_string(json, "settings", quantity->settings);
        json_put_double(json, "value", quantity->value);
        json_put_double(json, "low", quantity->low);
        json_put_double(json, "high", quantity->high);
        json_put_string(json, "unit", quantity->unit);
        json_put_bool(json, "lower_is_better", quantity->lower_is_better);
        json_put_int(json, "repetitions", quantity->repetitions);
        json_put_string(json, "made", quantity->made);
        json_object_end(json);
    }
}

void show_put_quantities(const struct result *result, struct json *json, const char *key)
{
    json_array_begin(json, key);
    show_put_quantities_into(result, json);
    json_array_end(json);
}

void show_put_json(const struct result *result, struct json *json, const char *key)
{
    assert(result->finished);
    json_object_begin(json, key);
    json_put_string(json, "benchmark", result->name);
    show_json_members(json, &result->root);
    show_put_quantities(result, json, "quantities");
    json_object_end(json);
}

void show_json(const struct result *result, FILE *stream)
{
    struct json json = {.stream = stream};
    show_put_json(result, &json, NULL);
}
