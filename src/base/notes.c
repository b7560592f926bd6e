#include "base/notes.h"

#include <stdlib.h>
#include <string.h>

void notes_add(struct text *notes, const char *key, const char *value)
{
    if (key)
        text_format(notes, "%s ", key);
    text_add_escaped(notes, value);
    text_add(notes, "\n");
}

static void put_pair(struct blockfile_writer *writer, char *line, notes_put *put)
{
    char *value = strchr(line, ' ');
    if (value) {
        *value++ = '\0';
        text_unescape(value);
    }
    put(writer, line, value ? value : "");
}

static void put_warning(struct blockfile_writer *writer, char *line, notes_put *put)
{
    (void)put;
    text_unescape(line);
    blockfile_warning(writer, line);
}

static void walk(const struct text *notes, struct blockfile_writer *writer, notes_put *put,
                 void (*take)(struct blockfile_writer *writer, char *line, notes_put *put))
{
    char *copy = text_dup(text_get(notes));
    char *rest = NULL;
    for (char *line = copy ? strtok_r(copy, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
        take(writer, line, put);
    free(copy);
}

void notes_each(const struct text *notes, struct blockfile_writer *writer, notes_put *put)
{
    walk(notes, writer, put, put_pair);
}

static void put_hint_used(struct blockfile_writer *writer, const char *key, const char *value)
{
    blockfile_hint(writer, "used", key, value);
}

void notes_put_hints_used(const struct text *notes, struct blockfile_writer *writer)
{
    notes_each(notes, writer, put_hint_used);
}

void notes_put_warnings(const struct text *notes, struct blockfile_writer *writer)
{
    walk(notes, writer, NULL, put_warning);
}
