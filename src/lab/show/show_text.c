/* A result as text for people: in 79 columns where that is possible. */
#include "lab/show/show.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 79, INDENT = 2, LABEL_MAX = 40, NARROW_MIN = 14 };

static size_t show_width_of(const char *text)
{
    return utf8_count(text, strlen(text));
}

static void show_text_blanks(FILE *stream, size_t count)
{
    fprintf(stream, "%*s", (int)count, "");
}

/* `words` may come from a file. Line ends in it are kept, as the document's own. */
static void show_text_wrapped(const char *before, const char *words, size_t indent, size_t hang, FILE *stream)
{
    struct text visible = {0}, lines = {0};
    for (const char *at = words;; at++) {
        const size_t length = strcspn(at, "\n");
        char *line = memory_text("%.*s", (int)length, at);
        text_add_visible(&visible, line);
        free(line);
        at += length;
        if (!*at)
            break;
        text_add(&visible, "\n");
    }
    text_format(&lines, "%*s%s", (int)indent, "", before);
    text_add_wrapped(&lines, text_get(&visible), indent + show_width_of(before), hang, WIDTH);
    fprintf(stream, "%s\n", text_get(&lines));
    text_clear(&visible);
    text_clear(&lines);
}

/* ---- facts ---- */

/* Those that follow each other, with their values below each other. Returns how many items they are. */
static size_t show_text_facts(const struct result_item *items, size_t count, size_t indent, FILE *stream)
{
    size_t end = 0, width = 0;
    for (; end < count && items[end].type == RESULT_ITEM_FACT; end++) {
        const size_t length = items[end].label ? show_width_of(items[end].label) : 0;
        width = length > width && length <= LABEL_MAX ? length : width;
    }
    for (size_t i = 0; i < end; i++) {
        struct text label = {0}, value = {0};
        if (!items[i].label)
            continue;
        text_add_visible(&label, items[i].label);
        show_fact(&items[i], &value);
        const size_t length = show_width_of(text_get(&label)), column = indent + width + 2;
        text_format(&label, "%*s", (int)(length < width ? width - length + 2 : 2), "");
        show_text_wrapped(text_get(&label), text_get(&value), indent, column, stream);
        text_clear(&label);
        text_clear(&value);
    }
    return end;
}

/* ---- tables ---- */

struct sheet_cell {
    char *value, *error; /* error NULL: none */
};

/* What is seen of a table. */
struct sheet {
    const struct result_table *table;
    size_t columns, rows;
    const struct result_column **column;
    char **label, **unit;
    struct sheet_cell *cells;
    size_t *value_width, *error_width; /* of the cells; error 0: no cell has one */
    size_t *width;                     /* of all */
    size_t gap;
};

static size_t show_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static bool show_is_left(const struct result_column *column)
{
    return column->form == RESULT_TEXT || column->form == RESULT_BOOL;
}

static size_t show_cells_width(const struct sheet *sheet, size_t c)
{
    return sheet->value_width[c] + (sheet->error_width[c] ? 3 + sheet->error_width[c] : 0); /* " ± " */
}

static char *show_visible_copy(const char *text)
{
    struct text visible = {0};
    text_add_visible(&visible, text);
    char *copy = memory_copy(text_get(&visible));
    text_clear(&visible);
    return copy;
}

static void show_sheet_fill_column(struct sheet *sheet, size_t c, size_t number)
{
    const struct result_column *column = &sheet->table->columns[number];
    const char *unit = show_unit(column->form, column->unit), *label = column->label ? column->label : column->key;
    sheet->column[c] = column;
    sheet->label[c] = show_visible_copy(*label ? label : unit);
    sheet->unit[c] = show_visible_copy(*label ? unit : "");
    for (size_t r = 0; r < sheet->rows; r++) {
        struct text value = {0}, error = {0};
        show_value(column, &sheet->table->cells[r * sheet->table->column_count + number], &value, &error);
        struct sheet_cell *cell = &sheet->cells[r * sheet->columns + c];
        cell->value = memory_copy(text_get(&value));
        cell->error = error.length ? memory_copy(error.data) : NULL;
        sheet->value_width[c] = show_larger(sheet->value_width[c], show_width_of(cell->value));
        sheet->error_width[c] = show_larger(sheet->error_width[c], cell->error ? show_width_of(cell->error) : 0);
        text_clear(&value);
        text_clear(&error);
    }
    sheet->width[c] = show_larger(show_cells_width(sheet, c),
                                  show_larger(show_width_of(sheet->label[c]), show_width_of(sheet->unit[c])));
}

static void show_sheet_fill(struct sheet *sheet, const struct result_table *table)
{
    *sheet = (struct sheet){.table = table, .rows = table->row_count, .gap = 2};
    for (size_t i = 0; i < table->column_count; i++)
        sheet->columns += !table->columns[i].hidden;
    sheet->column = memory_new(sheet->columns, sizeof(const struct result_column *));
    sheet->label = memory_new(sheet->columns, sizeof(char *));
    sheet->unit = memory_new(sheet->columns, sizeof(char *));
    sheet->cells = memory_new(sheet->columns * sheet->rows, sizeof *sheet->cells);
    sheet->value_width = memory_new(sheet->columns, sizeof *sheet->value_width);
    sheet->error_width = memory_new(sheet->columns, sizeof *sheet->error_width);
    sheet->width = memory_new(sheet->columns, sizeof *sheet->width);
    for (size_t i = 0, c = 0; i < table->column_count; i++)
        if (!table->columns[i].hidden)
            show_sheet_fill_column(sheet, c++, i);
}

static void show_sheet_clear(struct sheet *sheet)
{
    for (size_t i = 0; i < sheet->columns * sheet->rows; i++) {
        free(sheet->cells[i].value);
        free(sheet->cells[i].error);
    }
    for (size_t c = 0; c < sheet->columns; c++) {
        free(sheet->label[c]);
        free(sheet->unit[c]);
    }
    free((void *)sheet->column);
    free((void *)sheet->label);
    free((void *)sheet->unit);
    free(sheet->cells);
    free(sheet->value_width);
    free(sheet->error_width);
    free(sheet->width);
}

static size_t show_sheet_width(const struct sheet *sheet)
{
    size_t sum = sheet->gap * (sheet->columns - 1);
    for (size_t c = 0; c < sheet->columns; c++)
        sum += sheet->width[c];
    return sum;
}

static size_t show_longest_word(const char *words)
{
    size_t longest = 0;
    for (const char *at = words; *at;) {
        const size_t bytes = strcspn(at, " ");
        longest = show_larger(longest, utf8_count(at, bytes));
        at += bytes + (at[bytes] == ' ');
    }
    return longest;
}

/* Labels in several lines, then narrower gaps, then the widest columns of text in several lines. What is too wide even
 * so keeps one line for each row. */
static void show_sheet_fit(struct sheet *sheet, size_t room)
{
    if (show_sheet_width(sheet) <= room)
        return;
    for (size_t c = 0; c < sheet->columns; c++)
        sheet->width[c] = show_larger(show_cells_width(sheet, c),
                                      show_larger(show_longest_word(sheet->label[c]), show_width_of(sheet->unit[c])));
    if (show_sheet_width(sheet) <= room)
        return;
    sheet->gap = 1;
    size_t *narrow = memory_new(sheet->columns, sizeof *narrow);
    memcpy(narrow, sheet->width, sheet->columns * sizeof *narrow);
    size_t sum = show_sheet_width(sheet);
    while (sum > room) {
        size_t widest = sheet->columns;
        for (size_t c = 0; c < sheet->columns; c++)
            if (sheet->column[c]->form == RESULT_TEXT && narrow[c] > NARROW_MIN &&
                (widest == sheet->columns || narrow[c] > narrow[widest]))
                widest = c;
        if (widest == sheet->columns)
            break;
        narrow[widest]--;
        sum--;
    }
    if (sum <= room)
        memcpy(sheet->width, narrow, sheet->columns * sizeof *narrow);
    free(narrow);
}

/* The next line of a text of up to `width` characters; moves on. A word that is too long is cut. */
static char *show_take_line(const char **at, size_t width)
{
    const char *start = *at, *end = start, *blank = NULL;
    for (size_t count = 0; *end && count < width; count++) {
        const int length = utf8_length(end);
        blank = *end == ' ' ? end : blank;
        end += length ? length : 1;
    }
    if (*end && *end != ' ' && blank && blank > start)
        end = blank;
    *at = end + strspn(end, " ");
    return memory_text("%.*s", (int)(end - start), start);
}

/* Blanks at the end of a line are left out, so they are put before the next cell. */
static void show_text_cell(char *text, size_t width, bool left, size_t *pending, FILE *stream)
{
    const size_t length = show_width_of(text), rest = width > length ? width - length : 0;
    size_t blanks = 0;
    for (char *end = text + strlen(text); end > text && end[-1] == ' '; blanks++)
        *--end = '\0';
    if (*text) {
        show_text_blanks(stream, *pending + (left ? 0 : rest));
        fputs(text, stream);
        *pending = blanks + (left ? rest : 0);
    } else {
        *pending += rest + length;
    }
}

/* Text of several columns side by side; `texts` are moved to their ends. */
static void show_text_lines(const struct sheet *sheet, const char **texts, bool below, size_t indent, FILE *stream)
{
    size_t lines = 0;
    for (size_t c = 0; c < sheet->columns; c++) {
        size_t count = 0;
        for (const char *at = texts[c]; *at; count++)
            free(show_take_line(&at, sheet->width[c]));
        lines = show_larger(lines, count);
    }
    for (size_t line = 0; line < lines; line++) {
        size_t pending = indent;
        for (size_t c = 0; c < sheet->columns; c++) {
            size_t left = 0;
            for (const char *at = texts[c]; *at; left++)
                free(show_take_line(&at, sheet->width[c]));
            const bool waits = below && left < lines - line;
            char *part = waits ? memory_copy("") : show_take_line(&texts[c], sheet->width[c]);
            show_text_cell(part, sheet->width[c], show_is_left(sheet->column[c]), &pending, stream);
            pending += sheet->gap;
            free(part);
        }
        fputc('\n', stream);
    }
}

static void show_text_header(const struct sheet *sheet, size_t indent, FILE *stream)
{
    const char **texts = memory_new(sheet->columns, sizeof(const char *));
    for (int part = 0; part < 2; part++) {
        for (size_t c = 0; c < sheet->columns; c++)
            texts[c] = part == 0 ? sheet->label[c] : sheet->unit[c];
        show_text_lines(sheet, texts, true, indent, stream);
    }
    free((void *)texts);
}

static void show_text_row(const struct sheet *sheet, size_t r, size_t indent, FILE *stream)
{
    const char **texts = memory_new(sheet->columns, sizeof(const char *));
    char **made = memory_new(sheet->columns, sizeof(char *));
    size_t seen = 0;
    for (size_t c = 0; c < sheet->columns; c++) {
        const struct sheet_cell *cell = &sheet->cells[r * sheet->columns + c];
        const size_t short_by = cell->error ? sheet->error_width[c] - show_width_of(cell->error) : 0;
        if (cell->error) /* values and errors below each other */
            made[c] = memory_text("%s ± %*s%s", cell->value, (int)short_by, "", cell->error);
        else if (sheet->error_width[c])
            made[c] = memory_text("%s%*s", cell->value, (int)(3 + sheet->error_width[c]), "");
        else
            made[c] = memory_copy(cell->value);
        texts[c] = made[c];
        seen += strlen(made[c]);
    }
    if (seen)
        show_text_lines(sheet, texts, false, indent, stream);
    for (size_t c = 0; c < sheet->columns; c++)
        free(made[c]);
    free((void *)made);
    free((void *)texts);
}

static void show_text_table(const struct result_table *table, size_t indent, FILE *stream)
{
    struct sheet sheet;
    if (table->title)
        show_text_wrapped("", table->title, indent, indent, stream);
    show_sheet_fill(&sheet, table);
    if (sheet.columns && sheet.rows) {
        show_sheet_fit(&sheet, WIDTH - indent);
        show_text_header(&sheet, indent, stream);
        for (size_t r = 0; r < sheet.rows; r++)
            show_text_row(&sheet, r, indent, stream);
    } else if (table->title) {
        show_text_wrapped("", "(nothing)", indent + INDENT, indent + INDENT, stream);
    }
    show_sheet_clear(&sheet);
}

/* ---- the whole ---- */

static bool show_text_notes(const struct result_item *group, size_t indent, bool apart, FILE *stream)
{
    bool any = false;
    for (size_t i = 0; i < group->item_count; i++) {
        const struct result_item *item = &group->items[i];
        if (item->type != RESULT_ITEM_NOTE)
            continue;
        char *before = memory_text("%s: ", result_note_name(item->level));
        fputs(apart && !any ? "\n" : "", stream);
        show_text_wrapped(before, item->label, indent, indent + INDENT, stream);
        free(before);
        any = true;
    }
    return any;
}

/* Has the table anything to show to people? */
static bool show_is_seen(const struct result_table *table)
{
    return table->places & RESULT_IN_TEXT && (table->row_count || table->title);
}

/* What stands above, which decides upon an empty line. */
enum show_above { NOTHING, HEADING, WORDS, TABLE };

static enum show_above show_text_group(const struct result_item *group, size_t indent, enum show_above above,
                                       FILE *stream)
{
    for (size_t i = 0; i < group->item_count; i++) {
        const struct result_item *item = &group->items[i];
        if (item->type == RESULT_ITEM_LINE || (item->type == RESULT_ITEM_FACT && item->label)) {
            fputs(above == TABLE ? "\n" : "", stream);
            above = WORDS;
            if (item->type == RESULT_ITEM_LINE)
                show_text_wrapped("", item->label, indent, indent, stream);
            else
                i += show_text_facts(item, group->item_count - i, indent, stream) - 1;
        } else if (item->type == RESULT_ITEM_TABLE && show_is_seen(&item->table)) {
            fputs(above == WORDS || above == TABLE ? "\n" : "", stream);
            show_text_table(&item->table, indent, stream);
            above = TABLE;
        } else if (item->type == RESULT_ITEM_GROUP && item->label) {
            fputs(above == NOTHING ? "" : "\n", stream);
            show_text_wrapped("", item->label, indent, indent, stream);
            show_text_group(item, indent + INDENT, HEADING, stream);
            above = TABLE;
        } else if (item->type == RESULT_ITEM_GROUP) {
            above = show_text_group(item, indent, above, stream);
        }
    }
    return show_text_notes(group, indent, indent == 0 && above != NOTHING, stream) ? WORDS : above;
}

void show_text(const struct result *result, FILE *stream)
{
    assert(result->finished);
    if (result->title)
        show_text_wrapped("", result->title, 0, 0, stream);
    show_text_group(&result->root, 0, result->title ? WORDS : NOTHING, stream);
}
