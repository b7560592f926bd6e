/* Names of outputs, looked at before anything is run: a long measurement must not end with "no such directory". */
#ifndef PIOLET_CLI_OUTPUTS_H
#define PIOLET_CLI_OUTPUTS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* What a verb writes; NULL: none. */
struct cli_outputs {
    const char *results; /* a block file, appended to */
    bool of_others;      /* the results follow from files that were read, and must not go into one of them */
    const char *json, *csv, *plot;
    const char *test_file; /* nothing else may go there */
};

/* All of them can be written, none is a file that was read (output_reads()) or another of them. */
pl_status cli_outputs_check(const struct cli_outputs *outputs, struct pl_error *error);

/* A directory that is there, and in which nothing is. */
bool cli_outputs_is_empty(const char *directory);

#endif
