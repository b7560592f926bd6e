/* The table of verbs. */
#include "cli/cli.h"

#include <stddef.h>
#include <string.h>

#define ENTRY(name) extern const struct cli_verb cli_verb_##name;
#include "cli/verb.def"
#undef ENTRY

const struct cli_verb *const CLI_VERBS[] = {
#define ENTRY(name) &cli_verb_##name,
#include "cli/verb.def"
#undef ENTRY
    NULL};

const struct cli_verb *cli_verb_find(const char *name)
{
    for (const struct cli_verb *const *verb = CLI_VERBS; *verb; verb++)
        if (strcmp((*verb)->name, name) == 0)
            return *verb;
    return NULL;
}
