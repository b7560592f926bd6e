/* What was set for a measurement, as a text that is equal where the settings are: the part of a quantity's name that
 * tells which ones may be compared. */
#ifndef PIOLET_LAB_SETTINGS_H
#define PIOLET_LAB_SETTINGS_H

#include "base/blockfile.h"
#include "base/text.h"

/* "file 16 MB, collective, cb_nodes=2" of a set: its parameters but for those in `without` (ends with NULL) and those
 * that have their usual values, and the hints asked for. */
void settings_of_set(const struct blockfile_set *set, const char *const *without, struct text *text);
/* The same of those parameters alone that are in `keys`: for sets that also hold what was found. */
void settings_of_keys(const struct blockfile_set *set, const char *const *keys, struct text *text);

/* "16 MB", "64 KiB", "1234567 B": exact, so that equal texts mean equal sizes. */
void settings_add_bytes(struct text *text, long long bytes);

#endif
