#include "mpiio/strategy/strategy.h"

#include <string.h>

#define ENTRY(name) extern const struct strategy strategy_##name;
#include "mpiio/strategy/strategy.def"
#undef ENTRY

const struct strategy *const STRATEGIES[] = {
#define ENTRY(name) &strategy_##name,
#include "mpiio/strategy/strategy.def"
#undef ENTRY
    NULL,
};

const struct strategy *strategy_find(const char *name)
{
    for (int i = 0; STRATEGIES[i]; i++)
        if (strcmp(STRATEGIES[i]->name, name) == 0)
            return STRATEGIES[i];
    return NULL;
}

/* Pieces of this size and more reach the file at full speed by themselves. */
static const int64_t PIECE_BYTES = 65536;

const struct strategy *strategy_choose(const struct strategy_facts *facts)
{
    const struct hint_values *hints = facts->hints;
    const int64_t buffering = facts->write ? hints->cb_write : hints->cb_read;
    /* Where order or place cannot be kept by an exchange, each rank goes by itself. */
    if (facts->atomic || !facts->monotone)
        return &strategy_independent;
    const struct strategy *named = strategy_find(hints->strategy);
    if (named)
        return named;
    if (facts->ranks == 1 || hints->largeblock || buffering == HINT_DISABLE)
        return &strategy_independent;
    if (buffering == HINT_ENABLE || facts->piece_bytes < PIECE_BYTES)
        return &strategy_twophase;
    return &strategy_independent;
}
