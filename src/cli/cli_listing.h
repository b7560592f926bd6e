/* Verbs that list a table of the engine: as text, or as a JSON array. */
#ifndef PIOLET_CLI_LISTING_H
#define PIOLET_CLI_LISTING_H

#include "base/json.h"
#include "cli/cli.h"

/* The engine's function that gives a row; cast it to its own type. */
typedef void cli_listing_function(void);

struct cli_listing {
    const char *symbol; /* of the engine */
    void (*print_table)(cli_listing_function *at);
    void (*print_json)(cli_listing_function *at, struct json *json); /* rows of the array */
};

extern const struct option_row CLI_LISTING_ROWS[]; /* --json */

int cli_listing_run(const struct cli_verb *verb, const struct cli_listing *listing, int argc, char **argv);

#endif
