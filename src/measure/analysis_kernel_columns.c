/* What tells cases apart as columns of a table, narrow enough for 80 columns; what they share as a line above it. */
#include "measure/analysis_kernel.h"

#include "base/units.h"
#include "measure/analysis_format.h"

#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 32, LINE = 80 };

/* ---- text ---- */

int kernel_text_width(const char *string)
{
    int width = 0;
    for (; *string; string++)
        width += ((unsigned char)*string & 0xc0) != 0x80;
    return width;
}

/* Hints and parameters may hold anything; a table cannot. */
static void add_printable(struct text *text, const char *string)
{
    for (; *string; string++) {
        const unsigned char c = (unsigned char)*string;
        text_append(text, c < 0x20 || c == 0x7f ? "?" : string, 1);
    }
}

/* Bytes of the first `width` characters, or of fewer where a blank lets the line end before them. */
static size_t line_length(const char *string, int width)
{
    size_t length = 0;
    size_t blank = 0;
    for (int i = 0; i < width && string[length]; i++) {
        if (string[length] == ' ')
            blank = length;
        length++;
        while (((unsigned char)string[length] & 0xc0) == 0x80)
            length++;
    }
    return string[length] && string[length] != ' ' && blank ? blank : length;
}

void kernel_print_wrapped(const char *string, int indent, FILE *text)
{
    while (*string) {
        const size_t length = line_length(string, LINE - indent);
        fprintf(text, "%*s%.*s\n", indent, "", (int)length, string);
        string += length;
        while (*string == ' ')
            string++;
    }
}

const char *kernel_letters(size_t index, char letters[8])
{
    size_t at = 7;
    letters[at] = '\0';
    do {
        letters[--at] = (char)('A' + index % 26);
        index /= 26;
    } while (index-- > 0 && at > 0);
    memmove(letters, letters + at, 8 - at);
    return letters;
}

/* ---- keys of hints and further parameters ---- */

struct keys {
    const char *varying[KEYS_MAX];
    size_t varying_count;
    const char *fixed[KEYS_MAX];
    size_t fixed_count;
};

static bool holds(const char *const *keys, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static void add_key(struct keys *keys, const struct kernel_case *const *cases, size_t count, enum kernel_facet facet,
                    const char *key)
{
    if (holds(keys->varying, keys->varying_count, key) || holds(keys->fixed, keys->fixed_count, key))
        return;
    const char *first = kernel_keyed(cases[0], facet, key);
    bool varies = false;
    for (size_t i = 1; i < count && !varies; i++) {
        const char *value = kernel_keyed(cases[i], facet, key);
        varies = (value == NULL) != (first == NULL) || (value && strcmp(value, first) != 0);
    }
    if (varies && keys->varying_count < KEYS_MAX)
        keys->varying[keys->varying_count++] = key;
    else if (!varies && keys->fixed_count < KEYS_MAX)
        keys->fixed[keys->fixed_count++] = key;
}

static struct keys find_keys(const struct kernel *kernel, const struct kernel_case *const *cases, size_t count,
                             enum kernel_facet facet)
{
    struct keys keys = {0};
    for (size_t i = 0; i < count; i++) {
        const struct blockfile_set *set = cases[i]->first.set;
        for (size_t p = 0; facet == KERNEL_OTHER && p < set->param_count; p++)
            if (kernel_is_other(kernel, set->params[p].key))
                add_key(&keys, cases, count, facet, set->params[p].key);
        for (size_t h = 0; facet == KERNEL_HINTS && h < set->hint_count; h++)
            if (!set->hints[h].used)
                add_key(&keys, cases, count, facet, set->hints[h].key);
    }
    return keys;
}

/* ---- cells ---- */

/* Bytes as people read them; as they are where that would hide a difference. */
static void add_bytes(struct text *text, const char *digits, bool exact)
{
    int64_t bytes;
    char buffer[UNITS_TEXT_MAX];
    if (exact || !units_parse_int(digits, 0, INT64_MAX, &bytes))
        add_printable(text, digits);
    else
        text_add(text, units_bytes(bytes, buffer));
}

static void add_block(struct text *text, const struct kernel_case *c, bool exact)
{
    const char *least = blockfile_param_of(c->first.set, "blockmin_bytes");
    const char *most = blockfile_param_of(c->first.set, "blockmax_bytes");
    if (!least || !most) {
        add_bytes(text, c->facets[KERNEL_BLOCK], exact);
        return;
    }
    add_bytes(text, least, exact);
    text_add(text, "-");
    add_bytes(text, most, exact);
}

static void add_keyed(struct text *text, const struct kernel_case *c, enum kernel_facet facet, const char *const *keys,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *value = kernel_keyed(c, facet, keys[i]);
        if (count > 1)
            text_format(text, "%s%s=", i ? " " : "", keys[i]);
        add_printable(text, value && *value ? value : "-");
    }
}

static void add_cell(struct text *text, const struct kernel_case *c, enum kernel_facet facet, const struct keys *keys,
                     bool exact)
{
    const char *raw = c->facets[facet];
    if (facet == KERNEL_HINTS || facet == KERNEL_OTHER)
        add_keyed(text, c, facet, keys->varying, keys->varying_count);
    else if (raw[0] == '\0')
        text_add(text, "-");
    else if (facet == KERNEL_BLOCK)
        add_block(text, c, exact);
    else if (facet == KERNEL_SIZE && !blockfile_param_of(c->first.set, "xsize"))
        add_bytes(text, raw, exact);
    else if (facet == KERNEL_ACCESS)
        text_add(text, strcmp(raw, "true") == 0 ? "coll" : "indep");
    else
        add_printable(text, raw);
}

static bool fill_cells(struct kernel_column *column, const struct kernel_case *const *cases, size_t count,
                       const struct keys *keys, bool exact)
{
    for (size_t i = 0; i < count; i++) {
        struct text text = {0};
        add_cell(&text, cases[i], column->facet, keys, exact);
        free(column->cells[i]);
        column->cells[i] = text.data;
        if (text.failed || !text.data)
            return false;
    }
    return true;
}

/* Two different values that look the same. */
static bool hides_difference(const struct kernel_column *column, const struct kernel_case *const *cases, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(column->cells[i], column->cells[j]) == 0 &&
                strcmp(cases[i]->facets[column->facet], cases[j]->facets[column->facet]) != 0)
                return true;
    return false;
}

static int cells_width(const struct kernel_column *column, size_t rows)
{
    int width = 0;
    for (size_t i = 0; i < rows; i++) {
        const int cell = kernel_text_width(column->cells[i]);
        width = cell > width ? cell : width;
    }
    return width;
}

static void find_width(struct kernel_column *column, size_t rows)
{
    const int header = kernel_text_width(column->header);
    const int cells = cells_width(column, rows);
    column->width = header > cells ? header : cells;
}

static const char *header_of(enum kernel_facet facet, const struct keys *keys)
{
    if (facet == KERNEL_HINTS || facet == KERNEL_OTHER)
        return keys->varying_count == 1 ? keys->varying[0] : KERNEL_FACET_NAMES[facet];
    return facet == KERNEL_ACCESS ? "access" : facet == KERNEL_UPDATE ? "update" : KERNEL_FACET_NAMES[facet];
}

static bool add_column(struct kernel_columns *columns, const struct kernel_case *const *cases, enum kernel_facet facet,
                       const struct keys *keys)
{
    struct kernel_column *column = &columns->columns[columns->count++];
    *column = (struct kernel_column){.facet = facet,
                                     .header = text_dup(header_of(facet, keys)),
                                     .cells = calloc(columns->rows + 1, sizeof *column->cells)};
    if (!column->header || !column->cells || !fill_cells(column, cases, columns->rows, keys, false))
        return false;
    const bool bytes = facet == KERNEL_SIZE || facet == KERNEL_BLOCK;
    if (bytes && hides_difference(column, cases, columns->rows) &&
        !fill_cells(column, cases, columns->rows, keys, true))
        return false;
    find_width(column, columns->rows);
    return true;
}

/* ---- what all share ---- */

static void add_fixed(struct text *fixed, const struct kernel_case *c, enum kernel_facet facet, const struct keys *keys)
{
    if (facet == KERNEL_HINTS || facet == KERNEL_OTHER) {
        for (size_t i = 0; i < keys->fixed_count; i++) {
            const char *value = kernel_keyed(c, facet, keys->fixed[i]);
            text_format(fixed, "%s%s%s ", fixed->length ? ", " : "", facet == KERNEL_HINTS ? "hint " : "",
                        keys->fixed[i]);
            add_printable(fixed, value ? value : "-");
        }
        return;
    }
    if (c->facets[facet][0] == '\0')
        return;
    if (fixed->length)
        text_add(fixed, ", ");
    if (facet == KERNEL_ACCESS) {
        text_add(fixed, strcmp(c->facets[facet], "true") == 0 ? "collective" : "independent");
        return;
    }
    text_format(fixed, "%s ", header_of(facet, keys));
    add_cell(fixed, c, facet, keys, false);
}

/* ---- abbreviations ---- */

/* Headers that are wider than what stands below them. */
static bool shorten_header(struct kernel_columns *columns, struct kernel_column *column)
{
    static const char *const names[KERNEL_FACETS] = {
        [KERNEL_SIZE] = "size", [KERNEL_GRID] = "grid",  [KERNEL_DISTRIBUTION] = "dist", [KERNEL_ACCESS] = "acc",
        [KERNEL_BLOCK] = "blk", [KERNEL_UPDATE] = "upd", [KERNEL_OTHER] = "par",         [KERNEL_HINTS] = "hint"};
    const char *name = names[column->facet];
    char *copy = text_dup(name);
    if (strcmp(column->header, name) != 0)
        text_format(&columns->legend, "%s: %s\n", name, column->header);
    columns->legend.failed = columns->legend.failed || !copy;
    free(column->header);
    column->header = copy;
    return copy != NULL;
}

static bool letter_cells(struct kernel_columns *columns, struct kernel_column *column)
{
    char **codes = calloc(columns->rows + 1, sizeof *codes);
    size_t distinct = 0;
    bool done = codes != NULL;
    for (size_t i = 0; done && i < columns->rows; i++) {
        size_t before = 0;
        while (before < i && strcmp(column->cells[before], column->cells[i]) != 0)
            before++;
        char letters[8];
        codes[i] = text_dup(before < i ? codes[before] : kernel_letters(distinct, letters));
        done = codes[i] != NULL;
        if (before == i && done)
            text_format(&columns->legend, "%s %s: %s\n", column->header, kernel_letters(distinct++, letters),
                        column->cells[i]);
    }
    for (size_t i = 0; codes && i < columns->rows; i++) {
        char *code = codes[i];
        codes[i] = done ? column->cells[i] : code;
        column->cells[i] = done ? code : column->cells[i];
        free(codes[i]);
    }
    free(codes);
    column->coded = true;
    return done;
}

int kernel_columns_width(const struct kernel_columns *columns)
{
    int width = 2;
    for (size_t i = 0; i < columns->count; i++)
        width += columns->columns[i].width + 1;
    return width;
}

static bool abbreviate(struct kernel_columns *columns, int room)
{
    while (kernel_columns_width(columns) > room) {
        struct kernel_column *widest = NULL;
        for (size_t i = 0; i < columns->count; i++)
            if (!columns->columns[i].coded && (!widest || columns->columns[i].width > widest->width))
                widest = &columns->columns[i];
        if (!widest)
            return true;
        const bool header = kernel_text_width(widest->header) > cells_width(widest, columns->rows);
        const int before = widest->width;
        if (header && !shorten_header(columns, widest))
            return false;
        find_width(widest, columns->rows);
        if (widest->width == before) {
            if (!shorten_header(columns, widest) || !letter_cells(columns, widest))
                return false;
            find_width(widest, columns->rows);
        }
    }
    return true;
}

/* ---- the whole ---- */

pl_status kernel_columns_build(const struct kernel *kernel, const struct kernel_case *const *cases, size_t count,
                               unsigned skip, int room, struct kernel_columns *ret_columns, struct pl_error *error)
{
    struct kernel_columns columns = {.rows = count, .columns = calloc(KERNEL_FACETS, sizeof *columns.columns)};
    bool done = columns.columns != NULL;
    for (int i = 0; i < KERNEL_FACETS && count && done; i++) {
        const enum kernel_facet facet = (enum kernel_facet)i;
        if (skip & 1U << i)
            continue;
        const struct keys keys = find_keys(kernel, cases, count, facet);
        bool varies = false;
        for (size_t c = 1; c < count && !varies; c++)
            varies = strcmp(cases[c]->facets[facet], cases[0]->facets[facet]) != 0;
        if (varies)
            done = add_column(&columns, cases, facet, &keys);
        if (!varies || facet == KERNEL_HINTS || facet == KERNEL_OTHER)
            add_fixed(&columns.fixed, cases[0], facet, &keys);
    }
    done = done && abbreviate(&columns, room);
    if (!done || columns.fixed.failed || columns.legend.failed) {
        kernel_columns_clear(&columns);
        *ret_columns = columns;
        return pl_fail(error, PL_E_NOMEM, "not enough memory for a table");
    }
    *ret_columns = columns;
    return PL_OK;
}

void kernel_columns_clear(struct kernel_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        for (size_t row = 0; columns->columns[i].cells && row < columns->rows; row++)
            free(columns->columns[i].cells[row]);
        free(columns->columns[i].cells);
        free(columns->columns[i].header);
    }
    free(columns->columns);
    text_clear(&columns->fixed);
    text_clear(&columns->legend);
    *columns = (struct kernel_columns){0};
}

void kernel_columns_heading(const struct kernel_columns *columns, FILE *text)
{
    kernel_print_wrapped(text_get(&columns->fixed), 2, text);
    for (const char *line = text_get(&columns->legend); *line;) {
        struct text one = {0};
        const size_t length = strcspn(line, "\n");
        text_append(&one, line, length);
        kernel_print_wrapped(text_get(&one), 2, text);
        text_clear(&one);
        line += length + (line[length] == '\n');
    }
}

void kernel_columns_print(const struct kernel_columns *columns, size_t row, FILE *text)
{
    fputs("  ", text);
    for (size_t i = 0; i < columns->count; i++) {
        const struct kernel_column *column = &columns->columns[i];
        const char *cell = row == SIZE_MAX ? column->header : column->cells[row];
        fprintf(text, "%s%*s ", cell, column->width - kernel_text_width(cell), "");
    }
}

void kernel_columns_label(const struct kernel_columns *columns, size_t row, struct text *ret_label)
{
    for (size_t i = 0; i < columns->count; i++) {
        const struct kernel_column *column = &columns->columns[i];
        const char *cell = column->cells[row];
        const bool named = column->facet >= KERNEL_BLOCK && !strchr(cell, '=');
        if (i)
            text_add(ret_label, ", ");
        if (column->facet == KERNEL_ACCESS)
            text_add(ret_label, strcmp(cell, "coll") == 0 ? "collective" : "independent");
        else if (named)
            text_format(ret_label, "%s %s", column->header, cell);
        else
            text_add(ret_label, cell);
    }
}
