#include "engine/hint/hint.h"
#include "base/rng.h"
#include "engine/hint/hint_core.h"
#include "engine/mem.h"
#include "mpi/real.h"
#include "mpi/wait.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
const struct hint_entry HINT_ENTRIES[HINT_COUNT] = {
#define HINT_VALUE(name, kind, default, least, most, field, changeable, allowed, help) \
    {{#name, default, allowed, help, changeable}, HINT_KIND_##kind, least, most, offsetof(struct hint_values, field)},
#define HINT_NOTED(name, kind, changeable, allowed, help) \
    {{#name, "", allowed, help, changeable}, HINT_KIND_##kind, 0, INT_MAX, HINT_NO_PLACE},
#include "engine/hint/hint.def"
#undef HINT_VALUE
#undef HINT_NOTED
};
/* clang-format on */

static const char *const ORIGINS[] = {
    [HINT_DEFAULT] = "default", [HINT_FILE] = "file", [HINT_ENVIRONMENT] = "environment", [HINT_INFO] = "info"};

const struct hint_row *hint_row_at(int index)
{
    return index >= 0 && index < HINT_COUNT ? &HINT_ENTRIES[index].row : NULL;
}

/* HINT_COUNT where there is none. */
static int hint_index_of(const char *name)
{
    int index = 0;
    while (index < HINT_COUNT && strcmp(HINT_ENTRIES[index].row.name, name) != 0)
        index++;
    return index;
}

static void hint_put(struct hints *hints, int index, const struct hint_parsed *parsed)
{
    const struct hint_entry *entry = &HINT_ENTRIES[index];
    memcpy(hints->slots[index].text, parsed->text, sizeof parsed->text);
    if (entry->place == HINT_NO_PLACE)
        return;
    char *place = (char *)&hints->values + entry->place;
    if (entry->kind == HINT_KIND_WORD)
        memcpy(place, parsed->text, sizeof hints->values.strategy); /* hint_parse() saw to the length */
    else
        memcpy(place, &parsed->number, sizeof parsed->number);
}

static void put_default(struct hints *hints, int index)
{
    const struct hint_entry *entry = &HINT_ENTRIES[index];
    struct hint_parsed parsed = {.number = -1};
    if (*entry->row.default_text) {
        const bool allowed = hint_parse(entry, entry->row.default_text, &parsed);
        assert(allowed);
        (void)allowed;
    }
    hint_put(hints, index, &parsed);
    hints->slots[index].origin = HINT_DEFAULT;
}

/* Parsed once: every file begins with them. */
static struct hints defaults;
static pthread_once_t defaults_once = PTHREAD_ONCE_INIT;

static void make_defaults(void)
{
    for (int i = 0; i < HINT_COUNT; i++)
        put_default(&defaults, i);
}

pl_status hints_new_local(struct hints **ret_hints, struct pl_error *error)
{
    struct hints *hints = mem_alloc(sizeof *hints);
    if (!hints)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for hints");
    pthread_once(&defaults_once, make_defaults);
    *hints = defaults;
    const pl_status status = hint_environment(hints, error);
    if (status != PL_OK) {
        hints_free(hints);
        return status;
    }
    *ret_hints = hints;
    return PL_OK;
}

void hints_free(struct hints *hints)
{
    mem_free(hints);
}

const struct hint_values *hints_values(const struct hints *hints)
{
    return &hints->values;
}

static void note_rejected(struct hints *hints, int index, const char *value, const char *allowed)
{
    enum { SHOWN = 60 }; /* of the value: the whole must fit into what MPI takes */
    struct hint_slot *slot = &hints->slots[index];
    char shown[SHOWN + 4];
    snprintf(shown, sizeof shown, strlen(value) > SHOWN ? "%.*s..." : "%.*s", SHOWN, value);
    snprintf(slot->rejected, sizeof slot->rejected, "rejected '%s': allowed: %s (kept: %s)", shown, allowed,
             ORIGINS[slot->origin]);
}

static void hint_accept(struct hints *hints, int index, const struct hint_parsed *parsed, enum hint_origin origin,
                        int set, bool derived)
{
    assert(index >= 0 && index < HINT_COUNT && origin != HINT_DEFAULT);
    struct hint_slot *slot = &hints->slots[index];
    hint_put(hints, index, parsed);
    slot->origin = origin;
    slot->set = set;
    slot->derived = derived;
    slot->rejected[0] = '\0';
}

/* collective_buffering speaks for both directions, but not against their own names in the same set of hints. */
static void accept_buffering(struct hints *hints, bool wanted, enum hint_origin origin, int set)
{
    static const int both[] = {HINT_INDEX_romio_cb_read, HINT_INDEX_romio_cb_write};
    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
        const struct hint_slot *slot = &hints->slots[both[i]];
        if (slot->set == set && !slot->derived)
            continue;
        struct hint_parsed parsed;
        hint_parse(&HINT_ENTRIES[both[i]], wanted ? "enable" : "disable", &parsed);
        hint_accept(hints, both[i], &parsed, origin, set, true);
    }
}

bool hints_set(struct hints *hints, const char *name, const char *value, enum hint_origin origin)
{
    const int index = hint_index_of(name);
    if (index == HINT_COUNT)
        return false;
    const struct hint_entry *entry = &HINT_ENTRIES[index];
    struct hint_parsed parsed;
    if (!hint_parse(entry, value, &parsed)) {
        note_rejected(hints, index, value, strlen(value) < HINT_TEXT_MAX ? entry->row.allowed : "up to 255 characters");
        return true;
    }
    if (hints->update > 0 && !entry->row.changeable) {
        if (strcmp(parsed.text, hints->slots[index].text) != 0)
            note_rejected(hints, index, value, "only when the file is opened");
        return true;
    }
    const int set = hints->update * (HINT_INFO + 1) + (int)origin;
    hint_accept(hints, index, &parsed, origin, set, false);
    if (index == HINT_INDEX_collective_buffering)
        accept_buffering(hints, parsed.number != 0, origin, set);
    return true;
}

void hints_begin_update(struct hints *hints)
{
    hints->update++;
}

void hints_reject(struct hints *hints, const char *name, const char *keep, const char *allowed)
{
    const int index = hint_index_of(name);
    assert(index < HINT_COUNT);
    char value[HINT_TEXT_MAX];
    memcpy(value, hints->slots[index].text, sizeof value);
    struct hint_parsed parsed;
    if (keep && strcmp(keep, HINT_ENTRIES[index].row.default_text) != 0 &&
        hint_parse(&HINT_ENTRIES[index], keep, &parsed))
        hint_put(hints, index, &parsed);
    else
        put_default(hints, index);
    note_rejected(hints, index, value, allowed);
}

const char *hints_get(const struct hints *hints, const char *name)
{
    const int index = hint_index_of(name);
    return index < HINT_COUNT ? hints->slots[index].text : NULL;
}

bool hint_comes_from(const struct hints *hints, const char *name, enum hint_origin origin)
{
    const int index = hint_index_of(name);
    return index < HINT_COUNT && hints->slots[index].origin == origin && !*hints->slots[index].rejected;
}

bool hints_went_wrong(const struct hints *hints, const char *name)
{
    if (strcmp(name, "ROMIO_HINTS") == 0)
        return hints->file_ignored;
    if (strcmp(name, "PIOLET_HINTS") == 0)
        return *hints->environment_note;
    const int index = hint_index_of(name);
    return index < HINT_COUNT && *hints->slots[index].rejected;
}

bool hints_origin(const struct hints *hints, const char *name, char ret_text[HINT_TEXT_MAX])
{
    const char *note = strcmp(name, "ROMIO_HINTS") == 0    ? hints->file_note
                       : strcmp(name, "PIOLET_HINTS") == 0 ? hints->environment_note
                                                           : NULL;
    const int index = hint_index_of(name);
    if (index < HINT_COUNT) {
        const struct hint_slot *slot = &hints->slots[index];
        if (*slot->rejected)
            note = slot->rejected;
        else if (HINT_ENTRIES[index].place != HINT_NO_PLACE || *slot->text)
            note = ORIGINS[slot->origin];
    }
    if (!note || !*note)
        return false;
    snprintf(ret_text, HINT_TEXT_MAX, "%s", note);
    return true;
}

uint64_t hints_digest(const struct hints *hints)
{
    uint64_t digest = 0;
    for (int i = 0; i < HINT_COUNT; i++) {
        const struct hint_entry *entry = &HINT_ENTRIES[i];
        if (entry->place == HINT_NO_PLACE)
            continue;
        const char *place = (const char *)&hints->values + entry->place;
        const size_t bytes = entry->kind == HINT_KIND_WORD ? strlen(place) + 1 : sizeof(int64_t);
        for (size_t k = 0; k < bytes; k++)
            digest = rng_at(digest, (unsigned char)place[k]);
    }
    return digest;
}

/* ---- MPI_Info ---------------------------------------------------------------------------------------------------- */

/* Hints and MPI_Info. */

static const char ORIGIN_PREFIX[] = "origin:";

static pl_status info_fail(struct pl_error *error, const char *what)
{
    return pl_fail(error, PL_E_INFO, "the MPI cannot %s", what);
}

static pl_status take_key(struct hints *hints, MPI_Info info, const char *key, struct pl_error *error)
{
    char value[MPI_MAX_INFO_VAL + 1];
    int length = 0, found = 0;
    if (real.Info_get_valuelen(info, key, &length, &found) != MPI_SUCCESS)
        return info_fail(error, "tell how long a value in the program's hints is");
    if (!found)
        return PL_OK;
    if (length > MPI_MAX_INFO_VAL)
        length = MPI_MAX_INFO_VAL;
    if (real.Info_get(info, key, length, value, &found) != MPI_SUCCESS)
        return info_fail(error, "give a value in the program's hints");
    value[length] = '\0';
    if (found)
        hints_set(hints, key, value, HINT_INFO);
    return PL_OK;
}

static pl_status take_info(struct hints *hints, MPI_Info info, struct pl_error *error)
{
    if (info == MPI_INFO_NULL)
        return PL_OK;
    int count = 0;
    if (real.Info_get_nkeys(info, &count) != MPI_SUCCESS)
        return info_fail(error, "tell how many hints the program gave");
    for (int i = 0; i < count; i++) {
        char key[MPI_MAX_INFO_KEY + 1] = "";
        if (real.Info_get_nthkey(info, i, key) != MPI_SUCCESS)
            return info_fail(error, "give the name of a hint");
        if (!hints_get(hints, key)) /* also all that begins with "origin:" */
            continue;
        const pl_status status = take_key(hints, info, key, error);
        if (status != PL_OK)
            return status;
    }
    return PL_OK;
}

pl_status hints_new(MPI_Info info, struct hints **ret_hints, struct pl_error *error)
{
    struct hints *hints = NULL;
    pl_status status = hints_new_local(&hints, error);
    if (status != PL_OK)
        return status;
    status = take_info(hints, info, error);
    if (status != PL_OK) {
        hints_free(hints);
        return status;
    }
    *ret_hints = hints;
    return PL_OK;
}

void hints_share_coll(struct hints *hints, MPI_Comm comm)
{
    MPI_Request request;
    if (real.Ibcast(hints, sizeof *hints, MPI_BYTE, 0, comm, &request) == MPI_SUCCESS)
        wait_request(&request);
}

pl_status hints_update(struct hints *hints, MPI_Info info, struct pl_error *error)
{
    struct hints *changed = mem_alloc(sizeof *changed);
    if (!changed)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for hints");
    *changed = *hints;
    hints_begin_update(changed);
    const pl_status status = take_info(changed, info, error);
    if (status == PL_OK)
        *hints = *changed;
    mem_free(changed);
    return status;
}

static bool put_origin(const struct hints *hints, MPI_Info info, const char *name)
{
    char key[MPI_MAX_INFO_KEY + 1], text[HINT_TEXT_MAX];
    if (!hints_origin(hints, name, text))
        return true;
    snprintf(key, sizeof key, "%s%s", ORIGIN_PREFIX, name);
    return real.Info_set(info, key, text) == MPI_SUCCESS;
}

static bool hint_info_put_all(const struct hints *hints, MPI_Info info)
{
    for (int i = 0; i < HINT_COUNT; i++) {
        const char *name = HINT_ENTRIES[i].row.name, *text = hints->slots[i].text;
        if (*text && real.Info_set(info, name, text) != MPI_SUCCESS)
            return false;
        if (!put_origin(hints, info, name))
            return false;
    }
    return put_origin(hints, info, "ROMIO_HINTS") && put_origin(hints, info, "PIOLET_HINTS");
}

/* An MPI that finds no memory for an info ends the job, since its errors belong to no file: so look before. */
static bool hint_info_has_room(void)
{
    enum { ROOM = 128 << 10 }; /* all keys and values, and MPICH's table of infos */
    void *room = mem_alloc(ROOM);
    mem_free(room);
    return room;
}

pl_status hints_to_info(const struct hints *hints, MPI_Info *ret_info, struct pl_error *error)
{
    MPI_Info info = MPI_INFO_NULL;
    if (!hint_info_has_room())
        return pl_fail(error, PL_E_NOMEM, "not enough memory for the hints in force");
    if (real.Info_create(&info) != MPI_SUCCESS)
        return info_fail(error, "make an MPI_Info");
    if (!hint_info_put_all(hints, info)) {
        real.Info_free(&info);
        return info_fail(error, "take a hint in force into an MPI_Info");
    }
    *ret_info = info;
    return PL_OK;
}
