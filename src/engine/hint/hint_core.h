/* What the files of the hints share. */
#ifndef PIOLET_ENGINE_HINT_HINT_CORE_H
#define PIOLET_ENGINE_HINT_HINT_CORE_H

#include "engine/hint/hint.h"

#include <stddef.h>

enum hint_kind {
    HINT_KIND_NUMBER,
    HINT_KIND_SIZE,
    HINT_KIND_SWITCH,
    HINT_KIND_TRUTH,
    HINT_KIND_MAP,
    HINT_KIND_IMPL,
    HINT_KIND_OCTAL,
    HINT_KIND_WORD,
    HINT_KIND_STYLE,
    HINT_KIND_TEXT,
};

/* A row of hint.def. */
struct hint_entry {
    struct hint_row row;
    enum hint_kind kind;
    int64_t least, most;
    ptrdiff_t place; /* in struct hint_values; HINT_NO_PLACE: only noted */
};
enum { HINT_NO_PLACE = -1 };

enum hint_index {
#define HINT_VALUE(name, ...) HINT_INDEX_##name,
#define HINT_NOTED(name, ...) HINT_INDEX_##name,
#include "engine/hint/hint.def"
#undef HINT_VALUE
#undef HINT_NOTED
    HINT_COUNT
};

extern const struct hint_entry HINT_ENTRIES[HINT_COUNT];

/* What came of one hint. */
struct hint_slot {
    enum hint_origin origin;
    int set;      /* the set of hints (struct hints) that gave it */
    bool derived; /* by collective_buffering, not by its own name */
    char text[HINT_TEXT_MAX];
    char rejected[HINT_TEXT_MAX]; /* "" or the words for its origin */
};

struct hints {
    struct hint_values values;
    int update; /* 0: the file is being opened; else the number of the MPI_File_set_info */
    struct hint_slot slots[HINT_COUNT];
    bool file_ignored;                    /* the file that ROMIO_HINTS names could not be read */
    char file_note[HINT_TEXT_MAX];        /* what came of ROMIO_HINTS; "" without it */
    char environment_note[HINT_TEXT_MAX]; /* what was wrong with PIOLET_HINTS; "" */
};

/* A value as it will be kept. */
struct hint_parsed {
    int64_t number;
    char text[HINT_TEXT_MAX];
};

/* False where the text is not allowed. */
bool hint_parse(const struct hint_entry *entry, const char *text, struct hint_parsed *ret_parsed);

/* Does the value in force come from there? */
bool hint_comes_from(const struct hints *hints, const char *name, enum hint_origin origin);

/* Reads ROMIO_HINTS and PIOLET_HINTS. */
pl_status hint_environment(struct hints *hints, struct pl_error *error);

#endif
