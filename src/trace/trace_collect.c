/* From calls to the records of a folded trace. */
#include "trace/trace_collect.h"

#include "base/array.h"
#include "trace/trace_record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- the arena ---- */

enum { FIRST_WORDS = 512, FIRST_CHANGES = 256 };

static bool arena_grow(struct trace_arena *arena, size_t words)
{
    assert(words > arena->room);
    const size_t room = words < 2 * arena->room ? 2 * arena->room : words;
    uint64_t *grown = realloc(arena->words, room * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + arena->room, 0, (room - arena->room) * sizeof *grown);
    arena->words = grown;
    arena->room = room;
    return true;
}

bool trace_arena_init(struct trace_arena *arena)
{
    *arena = (struct trace_arena){.used = 1, .room = FIRST_WORDS};
    arena->words = calloc(FIRST_WORDS, sizeof *arena->words);
    arena->control = calloc(1, sizeof *arena->control);
    if (arena->words && arena->control)
        return true;
    trace_arena_clear(arena);
    return false;
}

void trace_arena_clear(struct trace_arena *arena)
{
    free(arena->words);
    free(arena->control);
    free(arena->changes);
    *arena = (struct trace_arena){0};
}

trace_ref trace_arena_take(struct trace_arena *arena, size_t bytes)
{
    assert(bytes > 0 && arena->used <= arena->room);
    const size_t words = (bytes + 7) / 8;
    const size_t needed = arena->used + words;
    if (needed > UINT32_MAX || (needed > arena->room && !arena_grow(arena, needed)))
        return 0;
    const trace_ref ref = (trace_ref)arena->used;
    arena->used = needed;
    trace_arena_note(arena, ref, words * sizeof *arena->words);
    return ref;
}

bool trace_arena_more_changes(struct trace_arena *arena)
{
    arena->failed = arena->failed ||
                    !ARRAY_ROOM(arena->changes, arena->change_count, arena->change_room, FIRST_CHANGES);
    return !arena->failed;
}

/* Not memcpy(): it may store a word in parts. */
/* NOLINTNEXTLINE(readability-non-const-parameter) */
static void arena_copy_words(uint64_t *to, const uint64_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        atomic_store_explicit((_Atomic uint64_t *)(to + i), from[i], memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

void trace_arena_copy_records(const struct trace_arena *arena, uint64_t *to)
{
    for (size_t i = 0; i < arena->change_count; i++) {
        const struct trace_change *change = &arena->changes[i];
        assert(change->ref > 0 && change->ref + change->words <= arena->used);
        arena_copy_words(to + change->ref, arena->words + change->ref, change->words);
    }
}

void trace_arena_copy_control(const struct trace_arena *arena, struct trace_control *to)
{
    const struct trace_control *from = arena->control;
    to->files = from->files;
    to->details = from->details;
    to->fresh_read_bytes[from->fresh_at] = from->fresh_read_bytes[from->fresh_at];
    to->fresh_written_bytes[from->fresh_at] = from->fresh_written_bytes[from->fresh_at];
    to->unlinked = from->unlinked;
    atomic_signal_fence(memory_order_seq_cst);
    to->tail = from->tail;
    atomic_signal_fence(memory_order_seq_cst);
}

/* ---- what is kept once ---- */

/* Records of different sorts never meet, though they share a table: the sort is the seed of the hash, and compared. */
enum sort { TEXT = 1, CALL, KEY, DETAIL };

enum { FIRST_ROOM = 256 };

void trace_intern_init(struct trace_intern *intern, struct trace_arena *arena)
{
    *intern = (struct trace_intern){.arena = arena};
}

void trace_intern_clear(struct trace_intern *intern)
{
    free(intern->slots);
    *intern = (struct trace_intern){0};
}

static bool intern_make_room(struct trace_intern *intern)
{
    if (4 * (intern->count + 1) <= 3 * intern->room)
        return true;
    const size_t room = intern->room ? 2 * intern->room : FIRST_ROOM;
    assert((room & (room - 1)) == 0); /* the hash is masked with it */
    struct trace_intern_slot *slots = calloc(room, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < intern->room; i++) {
        if (!intern->slots[i].ref)
            continue;
        size_t place = intern->slots[i].hash & (room - 1);
        while (slots[place].ref)
            place = (place + 1) & (room - 1);
        slots[place] = intern->slots[i];
    }
    free(intern->slots);
    intern->slots = slots;
    intern->room = room;
    return true;
}

/* The slot of the record, or a free one for it; NULL: no memory. The upper bits of the hash tell the sort. */
static struct trace_intern_slot *intern_find(struct trace_intern *intern, enum sort sort, const void *bytes,
                                             size_t count)
{
    if (!intern_make_room(intern))
        return NULL;
    assert(intern->count < intern->room); /* so that the search ends */
    const uint64_t hash = (XXH64(bytes, count, 0) << 3) | (uint64_t)sort;
    for (size_t i = hash & (intern->room - 1);; i = (i + 1) & (intern->room - 1)) {
        struct trace_intern_slot *slot = &intern->slots[i];
        if (!slot->ref) {
            slot->hash = hash;
            return slot;
        }
        if (slot->hash != hash)
            continue;
        const char *known = trace_arena_at(intern->arena, slot->ref);
        if (sort == DETAIL)
            known = trace_arena_at(intern->arena, ((const struct trace_record_detail *)known)->text);
        if (memcmp(known, bytes, count) == 0)
            return slot;
    }
}

static trace_ref intern_keep(struct trace_intern *intern, enum sort sort, const void *bytes, size_t count)
{
    struct trace_intern_slot *slot = intern_find(intern, sort, bytes, count);
    if (!slot)
        return 0;
    if (!slot->ref && (slot->ref = trace_arena_take(intern->arena, count))) {
        memcpy(trace_arena_at(intern->arena, slot->ref), bytes, count);
        intern->count++;
    }
    return slot->ref;
}

static trace_ref trace_intern_text(struct trace_intern *intern, const char *text)
{
    return intern_keep(intern, TEXT, text, strlen(text) + 1);
}

trace_ref trace_intern_key(struct trace_intern *intern, const struct trace_record_key *key)
{
    return intern_keep(intern, KEY, key, sizeof *key);
}

trace_ref trace_intern_call(struct trace_intern *intern, const char *function, const struct trace_kind *kind)
{
    const char *const words[] = {function, kind->class, kind->who, kind->how, kind->position};
    trace_ref refs[5] = {0};
    for (int i = 0; i < 5; i++)
        if (words[i] && !(refs[i] = trace_intern_text(intern, words[i])))
            return 0;
    const struct trace_record_call call = {refs[0], refs[1], refs[2], refs[3], refs[4], 0};
    return intern_keep(intern, CALL, &call, sizeof call);
}

int32_t trace_intern_detail(struct trace_intern *intern, const char *text)
{
    const trace_ref kept = trace_intern_text(intern, text);
    struct trace_intern_slot *slot = kept ? intern_find(intern, DETAIL, text, strlen(text) + 1) : NULL;
    if (!slot)
        return -1;
    if (slot->ref)
        return slot->number;
    const trace_ref ref = trace_arena_take(intern->arena, sizeof(struct trace_record_detail));
    if (!ref)
        return -1;
    struct trace_control *control = intern->arena->control;
    *(struct trace_record_detail *)trace_arena_at(intern->arena, ref) = (struct trace_record_detail){
        .prev = control->details, .text = kept};
    control->details = ref;
    slot->ref = ref;
    intern->count++;
    slot->number = intern->details++;
    return slot->number;
}

/* ---- calls become events ---- */

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
    assert(events > collect->comm_events);
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
static bool collect_next_field(const char **at, struct field *ret)
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

static bool collect_is_named(const struct field *field, const char *key)
{
    return field->key_length == strlen(key) && memcmp(field->key, key, field->key_length) == 0;
}

static int64_t collect_number_of(const struct field *field)
{
    return strtoll(field->value, NULL, 10);
}

static trace_ref collect_text_of(struct trace_collect *collect, const struct field *field)
{
    if (*field->value != '"') /* from a file: the tracer always quotes */
        return 0;
    char *copy = strndup(field->value + 1, (size_t)(field->end - field->value) - 2);
    const trace_ref ref = copy && text_unescape(copy) ? trace_intern_text(&collect->fold.intern, copy) : 0;
    free(copy);
    return ref;
}

/* "3 5 6": ranks of MPI_COMM_WORLD. */
static trace_ref collect_members_of(struct trace_collect *collect, const struct field *field, int32_t count)
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
static bool collect_note_file(struct trace_collect *collect, const struct field *field, struct trace_record_file *file)
{
    if (collect_is_named(field, "name"))
        file->name = collect_text_of(collect, field);
    else if (collect_is_named(field, "amode"))
        file->amode = (int32_t)collect_number_of(field);
    else if (collect_is_named(field, "ranks"))
        file->ranks = (int32_t)collect_number_of(field);
    else if (collect_is_named(field, "first_rank"))
        file->first_rank = (int32_t)collect_number_of(field);
    else if (collect_is_named(field, "world_stride"))
        file->world_stride = (int32_t)collect_number_of(field);
    else if (collect_is_named(field, "members"))
        file->members = collect_members_of(collect, field, file->ranks);
    else if (collect_is_named(field, "world_sequence"))
        file->world_sequence = collect_number_of(field);
    else
        return false;
    return true;
}

static bool collect_keep_file(struct trace_collect *collect, const struct trace_record_file *file)
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
static void collect_add_detail(struct text *detail, const struct field *field)
{
    text_add(detail, detail->length ? " " : "");
    text_add(detail, collect_is_named(field, "filetype_bytes")    ? "size="
                     : collect_is_named(field, "filetype_extent") ? "extent="
                                                                  : "");
    const bool renamed = collect_is_named(field, "filetype_bytes") || collect_is_named(field, "filetype_extent");
    const char *from = renamed ? field->value : field->begin;
    text_append(detail, from, (size_t)(field->end - from));
}

bool trace_collect_call(struct trace_collect *collect, const struct trace_call *call, const char *fields)
{
    assert(call->function && call->kind.class);
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
    for (const char *at = fields; collect_next_field(&at, &field); may_be_value = false) {
        if (collect_is_named(&field, "error_class"))
            event.key.code = (int32_t)collect_number_of(&field);
        else if (may_be_value && *field.value != '"')
            event.value = collect_number_of(&field);
        else if (call->kind.who && collect_is_named(&field, "fresh"))
            trace_control_add_fresh(collect->arena->control, call->file - 1, strcmp(call->kind.class, "write") == 0,
                                    collect_number_of(&field));
        else if (!opens || !collect_note_file(collect, &field, &file))
            collect_add_detail(&detail, &field);
    }
    event.key.call = trace_intern_call(&collect->fold.intern, call->function, &call->kind);
    event.key.detail = detail.length ? trace_intern_detail(&collect->fold.intern, text_get(&detail)) : -1;
    const bool ok = !detail.failed && event.key.call && (event.key.detail >= 0 || !detail.length) &&
                    (!opens || collect_keep_file(collect, &file)) && trace_collect_comm(collect) &&
                    trace_fold_add(&collect->fold, &event);
    text_clear(&detail);
    return ok;
}
