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

/* Calls `take` for each line of a copy, which it may change. */
static void notes_walk(const struct text *notes, void (*take)(void *context, char *line, notes_put *put), void *context,
                       notes_put *put)
{
    char *copy = text_dup(text_get(notes)), *rest = NULL;
    for (char *line = copy ? strtok_r(copy, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
        take(context, line, put);
    free(copy);
}

static void notes_take_pair(void *context, char *line, notes_put *put)
{
    char *value = strchr(line, ' ');
    if (value) {
        *value++ = '\0';
        text_unescape(value);
    }
    put(context, line, value ? value : "");
}

static void notes_take_warning(void *context, char *line, notes_put *put)
{
    (void)put;
    text_unescape(line);
    blockfile_warning(context, line);
}

void notes_each(const struct text *notes, notes_put *put, void *context)
{
    notes_walk(notes, notes_take_pair, context, put);
}

static void notes_put_param(void *context, const char *key, const char *value)
{
    blockfile_param(context, key, "%s", value);
}

static void notes_put_hint_used(void *context, const char *key, const char *value)
{
    blockfile_hint(context, "used", key, value);
}

void notes_put_params(const struct text *notes, struct blockfile_writer *writer)
{
    notes_each(notes, notes_put_param, writer);
}

void notes_put_hints_used(const struct text *notes, struct blockfile_writer *writer)
{
    notes_each(notes, notes_put_hint_used, writer);
}

void notes_put_warnings(const struct text *notes, struct blockfile_writer *writer)
{
    notes_walk(notes, notes_take_warning, writer, NULL);
}
