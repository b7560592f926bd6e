#include "trace/trace_format.h"

#include <inttypes.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static const char *word(const char *text)
{
    return text ? text : "-";
}

void trace_add_call(struct text *text, const struct trace_call *call, const char *fields)
{
    const struct trace_kind *kind = &call->kind;
    text_format(text, "call %" PRId64 " %s %d %s %s %s %s", call->sequence, call->function, call->file,
                word(kind->class), word(kind->who), word(kind->how), word(kind->position));
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
static void add_key(struct text *fields, const char *key)
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
    add_key(fields, key);
    text_format(fields, "%" PRId64, value);
}

void trace_add_field_text(struct text *fields, const char *key, const char *value)
{
    add_key(fields, key);
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
