#include "trace/trace_format.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static const char *format_word(const char *text)
{
    return text ? text : "-";
}

void trace_add_call(struct text *text, const struct trace_call *call, const char *fields)
{
    const struct trace_kind *kind = &call->kind;
    text_format(text, "call %" PRId64 " %s %d %s %s %s %s", call->sequence, call->function, call->file,
                format_word(kind->class), format_word(kind->who), format_word(kind->how), format_word(kind->position));
    text_format(text, " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, call->offset, call->byte,
                call->count, call->type_bytes, call->asked, call->done);
    text_format(text, " %" PRId64 " %" PRId64 " %d%s\n", call->begin_ns, call->end_ns, call->code, fields);
}

void trace_add_comm(struct text *text, const struct trace_comm *comm)
{
    text_format(text, "comm %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", comm->events,
                comm->collectives, comm->begin_ns, comm->end_ns, comm->gap_ns);
}

/* A key comes from the program where it is a hint's: blanks, quotes and '=' would break the line apart. */
static void format_add_key(struct text *fields, const char *key)
{
    text_add(fields, " ");
    for (const char *c = key; *c; c++) {
        const char one[] = {*c, '\0'};
        if (*c == ' ' || *c == '"' || *c == '=')
            text_format(fields, "\\x%02x", (unsigned)*c);
        else
            text_add_escaped(fields, one);
    }
    text_add(fields, "=");
}

void trace_add_field_int(struct text *fields, const char *key, int64_t value)
{
    format_add_key(fields, key);
    text_format(fields, "%" PRId64, value);
}

void trace_add_field_text(struct text *fields, const char *key, const char *value)
{
    format_add_key(fields, key);
    text_add(fields, "\"");
    for (const char *c = value; *c; c++) {
        const char one[] = {*c, '\0'};
        if (*c == '"')
            text_add(fields, "\\x22");
        else
            text_add_escaped(fields, one);
    }
    text_add(fields, "\"");
}

void trace_add_fact(struct text *text, const char *key, const char *value)
{
    text_add(text, key);
    text_add(text, " ");
    text_add_escaped(text, value);
    text_add(text, "\n");
}

void trace_add_end(struct text *text, size_t from, const char *what)
{
    if (text->failed || !text->data || text->length <= from)
        return;
    const char *lines = text->data + from;
    const size_t length = text->length - from;
    int64_t count = 0;
    for (const char *c = lines; (c = memchr(c, '\n', length - (size_t)(c - lines))); c++)
        count++;
    XXH64_state_t hash;
    XXH64_reset(&hash, 0);
    XXH64_update(&hash, lines, length);
    text_format(text, "end-%s %" PRId64 " %016" PRIx64 "\n", what, count, (uint64_t)XXH64_digest(&hash));
}

/* ---- details of a call ---- */

bool trace_field_next(const char **at, struct trace_field *ret_field)
{
    *ret_field = (struct trace_field){0};
    const char *from = *at + strspn(*at, " ");
    const char *equals = strchr(from, '=');
    if (!equals)
        return false;
    const bool quoted = equals[1] == '"';
    const char *value = equals + 1 + quoted;
    const size_t length = strcspn(value, quoted ? "\"" : " ");
    ret_field->key = strndup(from, (size_t)(equals - from));
    ret_field->value = strndup(value, length);
    *at = value + length + (quoted && value[length] == '"');
    if (ret_field->key && ret_field->value && text_unescape(ret_field->key) && text_unescape(ret_field->value))
        return true;
    trace_field_clear(ret_field);
    return false;
}

void trace_field_clear(struct trace_field *field)
{
    free(field->key);
    free(field->value);
    *field = (struct trace_field){0};
}

char *trace_detail_text(const char *detail, const char *key)
{
    struct trace_field field;
    while (trace_field_next(&detail, &field)) {
        char *value = strcmp(field.key, key) == 0 ? text_dup(field.value) : NULL;
        trace_field_clear(&field);
        if (value)
            return value;
    }
    return NULL;
}

int64_t trace_detail_number(const char *detail, const char *key, int64_t otherwise)
{
    int64_t number = otherwise;
    char *text = trace_detail_text(detail, key);
    if (text && !units_parse_int(text, INT64_MIN, INT64_MAX, &number))
        number = otherwise;
    free(text);
    return number;
}
