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

/* Pieces of LARGE bytes and more reach the file at full speed by themselves; below SMALL they never do. In between it
 * depends on the file system, and is tried. */
static const int64_t LARGE_BYTES = 131072, SMALL_BYTES = 4096;

static const struct strategy *buffering(const struct strategy_facts *facts)
{
    return facts->shares ? &strategy_ring : &strategy_twophase;
}

const struct strategy *strategy_choose(const struct strategy_facts *facts, bool *ret_tune)
{
    const struct hint_values *hints = facts->hints;
    const int64_t wish = facts->write ? hints->cb_write : hints->cb_read;
    *ret_tune = false;
    /* Where order or place cannot be kept by an exchange, each rank goes by itself. */
    if (facts->atomic || !facts->monotone)
        return &strategy_independent;
    const struct strategy *named = strategy_find(hints->strategy);
    if (named)
        return named == &strategy_ring ? buffering(facts) : named;
    if (facts->ranks == 1 || hints->largeblock || wish == HINT_DISABLE)
        return &strategy_independent;
    if (wish == HINT_ENABLE)
        return buffering(facts);
    if (facts->piece_bytes >= LARGE_BYTES)
        return &strategy_independent;
    *ret_tune = facts->one_node && facts->piece_bytes >= SMALL_BYTES;
    return buffering(facts);
}
