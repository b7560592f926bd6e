/* Hints for MPI-IO for all files, for a pattern type or for one pattern.
 *
 * A hints file has a line for each: "all KEY VALUE", "type N KEY VALUE" or "pattern N KEY VALUE"; empty lines and those
 * that begin with # are comments. Of several lines for one key the most special one counts, then the last one. */
#ifndef PIOLET_BENCH_BEFFIO_HINT_H
#define PIOLET_BENCH_BEFFIO_HINT_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

enum beffio_scope { BEFFIO_ALL, BEFFIO_TYPE, BEFFIO_PATTERN };

struct beffio_hint {
    enum beffio_scope scope;
    int number; /* of the type or pattern */
    char *key, *value;
};

struct beffio_hints {
    struct beffio_hint *list; /* owned */
    size_t count;
};

void beffio_hints_clear(struct beffio_hints *hints);

/* Lines as above; `name` is the file's, for messages. Replaces what was there. */
pl_status beffio_hints_parse(const char *name, const char *lines, struct beffio_hints *ret_hints,
                             struct pl_error *error);
pl_status beffio_hints_load(const char *path, struct text *ret_lines, struct pl_error *error);

/* The lines again, in canonical form. */
void beffio_hints_text(const struct beffio_hints *hints, struct text *out);

/* The value in force for a key in a pattern, or in a type's file as a whole (pattern -1); NULL: none. */
const char *beffio_hint_value(const struct beffio_hints *hints, int type, int pattern, const char *key);

/* Has this pattern hints of its own? */
bool beffio_hints_own(const struct beffio_hints *hints, int pattern);

#endif
