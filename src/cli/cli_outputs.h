/* Names of outputs, looked at before anything is run: a long measurement must not end with "no such directory". */
#ifndef PIOLET_CLI_OUTPUTS_H
#define PIOLET_CLI_OUTPUTS_H

#include "base/status.h"

/* Can this file be written? "-" is standard output. */
pl_status cli_outputs_writable(const char *name, struct pl_error *error);

/* The results and the exports (NULL: none) are writable, and neither the test file nor one another. */
pl_status cli_outputs_check(const char *test_file, const char *output, const char *json, const char *csv,
                            struct pl_error *error);

#endif
