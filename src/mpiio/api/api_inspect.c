/* What a program can learn of the engine: include/piolet/mpiio.h. */
#include "mpiio/hint/hint.h"
#include "mpiio/strategy/strategy.h"
#include "piolet/mpiio.h"

__attribute__((visibility("default"))) int piolet_hint_at(int index, struct piolet_hint *ret_hint)
{
    const struct hint_row *row = hint_row_at(index);
    if (!row)
        return -1;
    *ret_hint = (struct piolet_hint){.name = row->name,
                                     .default_value = row->default_text,
                                     .allowed = row->allowed,
                                     .help = row->help,
                                     .changeable = row->changeable};
    return 0;
}

/* ---- the parameters of strategies, in words ---- */

static const char *const ORDERS[] = {
    [ORDER_PLAIN] = "all at once, each in the order of the file",
    [ORDER_NODES] = "the ranks of one group, then of the next",
    [ORDER_DATA] = "all ranks, a part of their data at a time",
    [ORDER_RANDOM] = "all at once, each in a random order",
    [ORDER_WINDOW] = "what lies in a window that slides over the file",
    [ORDER_WINDOWS] = "what lies in windows that slide over the file, one for each device",
};
static const char *const TARGETS[] = {
    [TARGET_NONE] = "",
    [TARGET_BLOCK] = "one part of the file for each agent",
    [TARGET_CYCLIC] = "blocks of the file in turn",
    [TARGET_LAYOUT] = "blocks of the file in turn, as they lie on devices",
    [TARGET_BOUND] = "blocks of the file in turn, the same for ever",
    [TARGET_FREE] = "whoever is there first",
};
static const char *const EXCHANGES[] = {
    [EXCHANGE_NONE] = "",
    [EXCHANGE_PIECES] = "a message for each piece",
    [EXCHANGE_GATHERED] = "one message for each pair and round",
    [EXCHANGE_BROADCAST] = "a tree of messages to all ranks",
    [EXCHANGE_MEMORY] = "memory that the ranks of a node share",
};

__attribute__((visibility("default"))) int piolet_strategy_at(int index, struct piolet_strategy *ret_strategy)
{
    for (int i = 0; i <= index; i++)
        if (index < 0 || !STRATEGIES[i])
            return -1;
    if (index < 0)
        return -1;
    const struct strategy *strategy = STRATEGIES[index];
    const struct scheme *scheme = &strategy->scheme;
    *ret_strategy = (struct piolet_strategy){.name = strategy->name,
                                             .summary = strategy->summary,
                                             .order = scheme->target == TARGET_NONE ? ORDERS[scheme->order] : "",
                                             .target = TARGETS[scheme->target],
                                             .agents = strategy->agents ? strategy->agents : "",
                                             .exchange = EXCHANGES[scheme->exchange]};
    return 0;
}
