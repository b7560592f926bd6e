#include "base/json.h"

#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static void json_indent(struct json *json)
{
    fputc('\n', json->stream);
    for (int i = 0; i < json->depth; i++)
        fputs("  ", json->stream);
}

static void json_put_quoted(FILE *stream, const char *value)
{
    fputc('"', stream);
    for (const char *c = value; *c;) {
        const int length = utf8_length(c);
        if (length == 0)
            fputs("\\ufffd", stream);
        else if (*c == '"' || *c == '\\')
            fprintf(stream, "\\%c", *c);
        else if (*c == '\n')
            fputs("\\n", stream);
        else if (*c == '\t')
            fputs("\\t", stream);
        else if (utf8_is_control(c, length)) /* allowed, but a terminal would act upon some */
            fprintf(stream, "\\u%04x", (unsigned)utf8_character(c, length));
        else
            fwrite(c, 1, (size_t)length, stream);
        c += length ? length : 1;
    }
    fputc('"', stream);
}

/* What stands before every item: a comma, the place on the page, the key. */
static void json_begin_item(struct json *json, const char *key)
{
    if (json->depth > 0) {
        const int level = json->depth - 1;
        if (json->has_items[level])
            fputc(',', json->stream);
        if (!json->compact[level])
            json_indent(json);
        json->has_items[level] = true;
    }
    if (key) {
        json_put_quoted(json->stream, key);
        fputc(':', json->stream);
    }
}

static void json_begin_container(struct json *json, const char *key, char bracket, bool compact)
{
    assert(json->depth < JSON_DEPTH_MAX);
    json_begin_item(json, key);
    fputc(bracket, json->stream);
    json->compact[json->depth] = compact || (json->depth > 0 && json->compact[json->depth - 1]);
    json->has_items[json->depth] = false;
    json->depth++;
}

static void json_end_container(struct json *json, char bracket)
{
    assert(json->depth > 0);
    json->depth--;
    if (json->has_items[json->depth] && !json->compact[json->depth])
        json_indent(json);
    fputc(bracket, json->stream);
    if (json->depth == 0)
        fputc('\n', json->stream);
}

void json_object_begin(struct json *json, const char *key)
{
    json_begin_container(json, key, '{', false);
}

void json_row_begin(struct json *json, const char *key)
{
    json_begin_container(json, key, '{', true);
}

void json_object_end(struct json *json)
{
    json_end_container(json, '}');
}

void json_array_begin(struct json *json, const char *key)
{
    json_begin_container(json, key, '[', false);
}

void json_numbers_begin(struct json *json, const char *key)
{
    json_begin_container(json, key, '[', true);
}

void json_array_end(struct json *json)
{
    json_end_container(json, ']');
}

void json_put_string(struct json *json, const char *key, const char *value)
{
    json_begin_item(json, key);
    if (value)
        json_put_quoted(json->stream, value);
    else
        fputs("null", json->stream);
}

void json_put_int(struct json *json, const char *key, int64_t value)
{
    json_begin_item(json, key);
    fprintf(json->stream, "%" PRId64, value);
}

void json_put_double(struct json *json, const char *key, double value)
{
    if (!isfinite(value)) {
        json_put_null(json, key);
        return;
    }
    char text[32];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, value);
        if (strtod(text, NULL) == value)
            break;
    }
    json_begin_item(json, key);
    fputs(text, json->stream);
}

void json_put_bool(struct json *json, const char *key, bool value)
{
    json_begin_item(json, key);
    fputs(value ? "true" : "false", json->stream);
}

void json_put_raw(struct json *json, const char *key, const char *value)
{
    json_begin_item(json, key);
    fputs(value, json->stream);
}

void json_put_null(struct json *json, const char *key)
{
    json_begin_item(json, key);
    fputs("null", json->stream);
}
