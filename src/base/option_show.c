#include "base/option.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

static const char *option_argument(const struct option_row *row)
{
    static const char *const arguments[] = {
        [OPTION_FLAG] = NULL,        [OPTION_TEXT] = "TEXT",        [OPTION_CHOICE] = "WORD",
        [OPTION_INT] = "N",          [OPTION_NUMBER] = "X",         [OPTION_SIZE] = "SIZE",
        [OPTION_TIME] = "TIME",      [OPTION_PERCENT] = "PERCENT",  [OPTION_INTS] = "N,...",
        [OPTION_SIZES] = "SIZE,...", [OPTION_CHOICES] = "WORD,...", [OPTION_TEXTS] = "TEXT,...",
        [OPTION_EACH] = "TEXT",      [OPTION_CALL] = "TEXT",        [OPTION_MB] = "MB",
        [OPTION_MBS] = "MB,...",     [OPTION_NUMBERS] = "X,..."};
    return row->argument || row->type == OPTION_FLAG ? row->argument : arguments[row->type];
}

/* The help, the words of a choice and the default. */
static void option_add_help(const struct option_row *row, struct text *out)
{
    text_add(out, row->help);
    if (row->choices) {
        text_add(out, ": ");
        option_add_choices(row->choices, out);
    }
    if (row->initial && *row->initial && row->type != OPTION_FLAG)
        text_format(out, " (%s)", row->initial);
}

/* Words where the cursor stands, at `column`, and below it; ends the line. */
static void option_print_words(const char *words, size_t column, FILE *stream)
{
    enum { WIDTH = 79 };
    struct text lines = {0};
    text_add_wrapped(&lines, words, column, column, WIDTH);
    fprintf(stream, "%s\n", text_get(&lines));
    text_clear(&lines);
}

/* The letter of a row that an earlier one has is not its own: the first one wins. */
static char option_letter(const struct option_row *const *tables, const struct option_row *row)
{
    for (; *tables; tables++)
        for (const struct option_row *other = *tables; other->name; other++) {
            if (other == row)
                return row->letter;
            if (other->letter == row->letter)
                return 0;
        }
    return row->letter;
}

static void option_print_row(const struct option_row *row, char letter, FILE *stream)
{
    enum { COLUMN = 28 };
    const char *argument = option_argument(row);
    struct text help = {0};
    const int left = fprintf(stream, "  %c%c%s--%s%s%s", letter ? '-' : ' ', letter ? letter : ' ',
                             letter ? ", " : "  ", row->name, argument ? "=" : "", argument ? argument : "");
    if (left >= COLUMN - 1)
        fprintf(stream, "\n%*s", COLUMN, "");
    else
        fprintf(stream, "%*s", COLUMN - left, "");
    option_add_help(row, &help);
    option_print_words(text_get(&help), COLUMN, stream);
    text_clear(&help);
}

void options_print_keywords(const struct option_row *rows, FILE *stream)
{
    enum { NAME = 14, COLUMN = 17, ALLOWED = 19 };
    for (; rows->name; rows++) {
        struct text allowed = {0};
        fprintf(stream, "  %-*s ", NAME, rows->name);
        if (strlen(rows->name) > NAME)
            fprintf(stream, "\n%*s", COLUMN, "");
        option_print_words(rows->help, COLUMN, stream);
        option_allowed(rows, &allowed);
        if (rows->initial)
            text_format(&allowed, "; default %s", rows->initial);
        text_add(&allowed, rows->flags & OPTION_REQUIRED ? "; required" : "");
        fprintf(stream, "%*s", ALLOWED, "");
        option_print_words(text_get(&allowed), ALLOWED, stream);
        text_clear(&allowed);
    }
}

void options_print_help(const struct option_row *const *tables, FILE *stream)
{
    for (const struct option_row *const *table = tables; *table; table++)
        for (const struct option_row *row = *table; row->name; row++)
            if (!(row->flags & OPTION_QUIET))
                option_print_row(row, option_letter(tables, row), stream);
}

void option_print_man_text(const char *text, FILE *stream)
{
    for (; *text; text++) {
        if (strchr("\\*_<>[#", *text)) /* scdoc acts on these characters */
            fputc('\\', stream);
        fputc(*text, stream);
    }
}

void options_print_man(const struct option_row *const *tables, FILE *stream)
{
    for (const struct option_row *const *table = tables; *table; table++)
        for (const struct option_row *row = *table; row->name; row++) {
            const char *argument = option_argument(row), letter = option_letter(tables, row);
            struct text help = {0};
            if (row->flags & OPTION_QUIET)
                continue;
            if (letter)
                fprintf(stream, "*-%c*, ", letter);
            fprintf(stream, "*--%s*", row->name);
            if (argument) {
                fputs("=_", stream);
                option_print_man_text(argument, stream);
                fputc('_', stream);
            }
            fputs("\n\t", stream);
            option_add_help(row, &help);
            assert(help.length > 0);
            help.data[0] = (char)toupper((unsigned char)help.data[0]);
            if (help.data[help.length - 1] != '.')
                text_add(&help, ".");
            if (row->more)
                text_format(&help, " %s", row->more);
            option_print_man_text(text_get(&help), stream);
            fputs("\n\n", stream);
            text_clear(&help);
        }
}

void options_put_json(const struct option_row *const *tables, struct json *json, const char *key)
{
    static const char *const types[] = {
        [OPTION_FLAG] = "flag",   [OPTION_TEXT] = "text",       [OPTION_CHOICE] = "choice",
        [OPTION_INT] = "int",     [OPTION_NUMBER] = "number",   [OPTION_SIZE] = "size",
        [OPTION_TIME] = "time",   [OPTION_PERCENT] = "percent", [OPTION_INTS] = "ints",
        [OPTION_SIZES] = "sizes", [OPTION_CHOICES] = "choices", [OPTION_TEXTS] = "texts",
        [OPTION_EACH] = "each",   [OPTION_CALL] = "text",       [OPTION_MB] = "mb",
        [OPTION_MBS] = "mbs",     [OPTION_NUMBERS] = "numbers"};
    json_array_begin(json, key);
    for (; *tables; tables++)
        for (const struct option_row *row = *tables; row->name; row++) {
            const char letter[] = {row->letter, '\0'};
            if (row->flags & OPTION_QUIET)
                continue;
            json_row_begin(json, NULL);
            json_put_string(json, "name", row->name);
            json_put_string(json, "letter", row->letter ? letter : NULL);
            json_put_string(json, "type", types[row->type]);
            json_put_string(json, "argument", option_argument(row));
            json_put_string(json, "default", row->initial);
            json_put_double(json, "min", row->min);
            json_put_double(json, "max", row->max > 0 ? row->max : NAN);
            json_put_string(json, "choices", row->choices);
            json_put_string(json, "help", row->help);
            json_object_end(json);
        }
    json_array_end(json);
}
