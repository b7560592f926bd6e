/* The configuration record of a target directory: file system and its settings, devices and how they are put together,
 * servers and networks, state of the caches, memory (PHASE-15; Tables VI and VII of the document).
 *
 * What can be seen is detected; what cannot is given by the user as KEY=VALUE and wins. It is stored with the results
 * as facts `config.KEY`; docs/peak.md lists the keys. A key may occur more than once. */
#ifndef PIOLET_LAB_RECORD_H
#define PIOLET_LAB_RECORD_H

#include "base/blockfile.h"
#include "base/status.h"

#include <stdbool.h>

enum { RECORD_GIVEN_MAX = 64, RECORD_KEY_MAX = 64 };

/* Called with "config.KEY" and its value. */
typedef void record_put_fact(void *context, const char *key, const char *value);

/* What can be detected here; what cannot be is left out. Fails only where there is no such directory. */
pl_status record_facts(const char *directory, record_put_fact *put, void *context);

/* What the user says; values point into the command line. */
struct record_given {
    struct {
        char key[RECORD_KEY_MAX];
        const char *value;
    } pairs[RECORD_GIVEN_MAX];
    int count;
};

/* Takes "KEY=VALUE": letters, digits, '_', '.', '-' in the key. */
pl_status record_give(struct record_given *given, const char *argument, struct pl_error *error);

/* The given facts, then the detected ones that were not given. `given` may be NULL. */
pl_status record_all(const char *directory, const struct record_given *given, record_put_fact *put, void *context);

/* A record_put_fact whose context is a struct blockfile_writer. */
void record_to_block(void *context, const char *key, const char *value);

/* "ext4 on sda 1 TB, 3 devices in all": the record of a block in some words, of at most `capacity` - 1 characters. */
const char *record_words(const struct blockfile_block *block, char *text, size_t capacity);

#endif
