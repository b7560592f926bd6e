#include "trace/trace_intern.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

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

static bool make_room(struct trace_intern *intern)
{
    if (4 * (intern->count + 1) <= 3 * intern->room)
        return true;
    const size_t room = intern->room ? 2 * intern->room : FIRST_ROOM;
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
static struct trace_intern_slot *find(struct trace_intern *intern, enum sort sort, const void *bytes, size_t count)
{
    if (!make_room(intern))
        return NULL;
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

static trace_ref keep(struct trace_intern *intern, enum sort sort, const void *bytes, size_t count)
{
    struct trace_intern_slot *slot = find(intern, sort, bytes, count);
    if (!slot)
        return 0;
    if (!slot->ref && (slot->ref = trace_arena_take(intern->arena, count))) {
        memcpy(trace_arena_at(intern->arena, slot->ref), bytes, count);
        intern->count++;
    }
    return slot->ref;
}

trace_ref trace_intern_text(struct trace_intern *intern, const char *text)
{
    return keep(intern, TEXT, text, strlen(text) + 1);
}

trace_ref trace_intern_key(struct trace_intern *intern, const struct trace_record_key *key)
{
    return keep(intern, KEY, key, sizeof *key);
}

trace_ref trace_intern_call(struct trace_intern *intern, const char *function, const struct trace_kind *kind)
{
    const char *const words[] = {function, kind->class, kind->who, kind->how, kind->position};
    trace_ref refs[5] = {0};
    for (int i = 0; i < 5; i++)
        if (words[i] && !(refs[i] = trace_intern_text(intern, words[i])))
            return 0;
    const struct trace_record_call call = {refs[0], refs[1], refs[2], refs[3], refs[4], 0};
    return keep(intern, CALL, &call, sizeof call);
}

int32_t trace_intern_detail(struct trace_intern *intern, const char *text)
{
    const trace_ref kept = trace_intern_text(intern, text);
    struct trace_intern_slot *slot = kept ? find(intern, DETAIL, text, strlen(text) + 1) : NULL;
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
