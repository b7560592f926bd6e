#include "trace/trace_collect.h"

#include <stdlib.h>
#include <string.h>

bool trace_collect_init(struct trace_collect *collect, struct trace_arena *arena)
{
    *collect = (struct trace_collect){.arena = arena};
    return trace_fold_init(&collect->fold, arena);
}

void trace_collect_clear(struct trace_collect *collect)
{
    trace_fold_clear(&collect->fold);
}

bool trace_collect_comm(struct trace_collect *collect)
{
    const struct trace_control *control = collect->arena->control;
    const int64_t events = atomic_load_explicit(&control->comm_events, memory_order_relaxed);
    if (events == collect->comm_events)
        return true;
    const int64_t collectives = atomic_load_explicit(&control->comm_collectives, memory_order_relaxed);
    const int64_t gap_ns = atomic_load_explicit(&control->comm_gap_ns, memory_order_relaxed);
    const struct trace_fold_event event = {
        .key = {.file = -1,
                .detail = -1,
                .bytes = events - collect->comm_events,
                .collectives = collectives - collect->comm_collectives},
        .begin_ns = atomic_load_explicit(&control->comm_begin_ns, memory_order_relaxed),
        .gap_ns = gap_ns - collect->comm_gap_ns};
    collect->comm_events = events;
    collect->comm_collectives = collectives;
    collect->comm_gap_ns = gap_ns;
    return trace_fold_add(&collect->fold, &event);
}

/* One KEY=VALUE. */
struct field {
    const char *begin, *end; /* all of it, without the blank before */
    const char *key;
    size_t key_length;
    const char *value; /* behind the '='; to `end` */
};

/* The next field behind `*at`; false: there is none. Quotes and blanks inside of a text or a key are escaped. */
static bool next_field(const char **at, struct field *ret)
{
    const char *c = *at + strspn(*at, " ");
    ret->begin = ret->key = c;
    c += strcspn(c, "= ");
    ret->key_length = (size_t)(c - ret->key);
    if (*c != '=')
        return false;
    ret->value = ++c;
    if (*c == '"') {
        c = strchr(c + 1, '"');
        if (!c)
            return false;
        c++;
    } else {
        c += strcspn(c, " ");
    }
    ret->end = *at = c;
    return true;
}

static bool is_named(const struct field *field, const char *key)
{
    return field->key_length == strlen(key) && memcmp(field->key, key, field->key_length) == 0;
}

static int64_t number_of(const struct field *field)
{
    return strtoll(field->value, NULL, 10);
}

static trace_ref text_of(struct trace_collect *collect, const struct field *field)
{
    if (*field->value != '"') /* from a file: the tracer always quotes */
        return 0;
    char *copy = strndup(field->value + 1, (size_t)(field->end - field->value) - 2);
    const trace_ref ref = copy && text_unescape(copy) ? trace_intern_text(&collect->fold.intern, copy) : 0;
    free(copy);
    return ref;
}

/* "3 5 6": ranks of MPI_COMM_WORLD. */
static trace_ref members_of(struct trace_collect *collect, const struct field *field, int32_t count)
{
    const bool fits = count > 0 && count <= field->end - field->value; /* a member has a digit at least */
    const trace_ref ref = fits ? trace_arena_take(collect->arena, (size_t)count * sizeof(int32_t)) : 0;
    int32_t *members = ref ? trace_arena_at(collect->arena, ref) : NULL;
    const char *c = field->value + 1;
    for (int32_t i = 0; members && i < count; i++) {
        char *end;
        members[i] = (int32_t)strtol(c, &end, 10);
        c = end;
    }
    return ref;
}

/* What an open says about its file; false: it is a detail. */
static bool note_file(struct trace_collect *collect, const struct field *field, struct trace_record_file *file)
{
    if (is_named(field, "name"))
        file->name = text_of(collect, field);
    else if (is_named(field, "amode"))
        file->amode = (int32_t)number_of(field);
    else if (is_named(field, "ranks"))
        file->ranks = (int32_t)number_of(field);
    else if (is_named(field, "first_rank"))
        file->first_rank = (int32_t)number_of(field);
    else if (is_named(field, "world_stride"))
        file->world_stride = (int32_t)number_of(field);
    else if (is_named(field, "members"))
        file->members = members_of(collect, field, file->ranks);
    else if (is_named(field, "world_sequence"))
        file->world_sequence = number_of(field);
    else
        return false;
    return true;
}

static bool keep_file(struct trace_collect *collect, const struct trace_record_file *file)
{
    struct trace_control *control = collect->arena->control;
    const trace_ref ref = file->name ? trace_arena_take(collect->arena, sizeof *file) : 0;
    if (!ref)
        return false;
    struct trace_record_file *kept = trace_arena_at(collect->arena, ref);
    *kept = *file;
    kept->prev = control->files;
    control->files = ref;
    return true;
}

/* Of a view, size and extent are those of its filetype. */
static void add_detail(struct text *detail, const struct field *field)
{
    text_add(detail, detail->length ? " " : "");
    text_add(detail, is_named(field, "filetype_bytes") ? "size=" : is_named(field, "filetype_extent") ? "extent=" : "");
    const bool renamed = is_named(field, "filetype_bytes") || is_named(field, "filetype_extent");
    const char *from = renamed ? field->value : field->begin;
    text_append(detail, from, (size_t)(field->end - from));
}

bool trace_collect_call(struct trace_collect *collect, const struct trace_call *call, const char *fields)
{
    const bool opens = call->file > 0 && strcmp(call->kind.class, "open") == 0;
    struct trace_fold_event event = {.key = {.file = call->file - 1, .code = call->code, .bytes = call->asked},
                                     .value = call->offset,
                                     .begin_ns = call->begin_ns,
                                     .duration_ns = call->end_ns - call->begin_ns,
                                     .gap_ns = call->gap_ns};
    struct trace_record_file file = {.number = call->file - 1};
    struct text detail = {0};
    struct field field;
    bool may_be_value = !call->kind.who && !opens;
    for (const char *at = fields; next_field(&at, &field); may_be_value = false) {
        if (is_named(&field, "error_class"))
            event.key.code = (int32_t)number_of(&field);
        else if (may_be_value && *field.value != '"')
            event.value = number_of(&field);
        else if (!opens || !note_file(collect, &field, &file))
            add_detail(&detail, &field);
    }
    event.key.call = trace_intern_call(&collect->fold.intern, call->function, &call->kind);
    event.key.detail = detail.length ? trace_intern_detail(&collect->fold.intern, text_get(&detail)) : -1;
    const bool ok = !detail.failed && event.key.call && (event.key.detail >= 0 || !detail.length) &&
                    (!opens || keep_file(collect, &file)) && trace_collect_comm(collect) &&
                    trace_fold_add(&collect->fold, &event);
    text_clear(&detail);
    return ok;
}
