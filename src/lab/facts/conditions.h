/* Under which conditions a block was measured: where, and with which of the settings that change what is measured.
 * Results of different conditions are never averaged, nor compared as if they were one. Pure. */
#ifndef PIOLET_LAB_CONDITIONS_H
#define PIOLET_LAB_CONDITIONS_H

#include "base/blockfile.h"

#include <stdbool.h>
#include <stdio.h>

/* {0} is empty; numbers are indices of `texts`. */
struct conditions {
    char **texts; /* owned: "ext4 of /dev/sda1, file F, sync; host H" */
    int count;
};

/* The same file system and the same inputs `keys` (ends with NULL), be it on another host. A key may have several
 * spellings, separated by blanks: the first one is shown. */
bool conditions_alike(const struct blockfile_block *a, const struct blockfile_block *b, const char *const *keys);

/* The number of the block's conditions and its host, new ones being added; -1: no memory. */
int conditions_number(struct conditions *conditions, const struct blockfile_block *block, const char *const *keys);
void conditions_clear(struct conditions *conditions);

/* " [2]", as they are listed by conditions_print(); "" where all results have the same conditions. */
enum { CONDITIONS_LABEL_MAX = 16 };
const char *conditions_label(const struct conditions *conditions, int number, char label[CONDITIONS_LABEL_MAX]);
/* A line "[2] ext4 of …" for each; nothing where there is only one. */
void conditions_print(const struct conditions *conditions, FILE *text);

#endif
