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

/* Pieces of LARGE bytes and more reach the file at full speed by themselves; below SMALL they do so only through a map
 * of it. It depends on machine and file system, and is tried. */
static const int64_t LARGE_BYTES = 131072, SMALL_BYTES = 4096;

static struct strategy_choice alone(const char *why)
{
    return (struct strategy_choice){.strategy = &strategy_independent, .why = why};
}

static struct strategy_choice together(const struct strategy_facts *facts, const char *why)
{
    return (struct strategy_choice){.strategy = facts->shares ? &strategy_ring : &strategy_twophase, .why = why};
}

/* The hint piolet_strategy names it. */
static struct strategy_choice pinned(const struct strategy_facts *facts, const struct strategy *named)
{
    if (named == &strategy_ring && !facts->shares)
        return together(facts, "ring was asked for, but ranks of a node share no memory");
    return (struct strategy_choice){.strategy = named, .why = "asked for by piolet_strategy"};
}

struct strategy_choice strategy_choose(const struct strategy_facts *facts)
{
    const struct hint_values *hints = facts->hints;
    const int64_t wish = facts->write ? hints->cb_write : hints->cb_read;
    /* Where order or place cannot be kept by an exchange, each rank goes by itself. */
    if (facts->atomic)
        return alone("atomic mode");
    if (!facts->monotone)
        return alone("some view goes back, or overlaps itself");
    if (facts->refused)
        return alone("a rank has become another user: the MPI may not move data to or from it");
    const struct strategy *named = strategy_find(hints->strategy);
    if (facts->scarce && (!facts->shares || (named && named != &strategy_ring)))
        return alone("a rank has too little address space for messages");
    if (named)
        return pinned(facts, named);
    if (facts->ranks == 1)
        return alone("there is one rank");
    if (hints->largeblock)
        return alone("IBM_largeblock_io is true");
    if (wish == HINT_DISABLE)
        return alone(facts->write ? "romio_cb_write is disable" : "romio_cb_read is disable");
    if (wish == HINT_ENABLE)
        return together(facts, facts->write ? "romio_cb_write is enable" : "romio_cb_read is enable");
    if (facts->piece_bytes >= LARGE_BYTES)
        return alone("pieces are large, or all data lie side by side");
    struct strategy_choice choice = together(facts, "pieces are small");
    choice.small_pieces = facts->piece_bytes < SMALL_BYTES;
    choice.tune = facts->shares;
    if (choice.tune)
        choice.why = "pieces are not large: it tries both ways, and keeps to the faster";
    return choice;
}
