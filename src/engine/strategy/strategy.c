#include "engine/strategy/strategy.h"
#include "engine/direct/direct.h"
#include "engine/exchange/exchange.h"
#include "engine/ring/ring.h"
#include "engine/tune/tune.h"

#include <assert.h>
#include <string.h>

/* ---- The rows ---------------------------------------------------------------------------------------------------- */

enum { ROW_INDEPENDENT, ROW_RING, ROW_TWOPHASE }; /* that others refer to */

const struct strategy STRATEGIES[] = {
    [ROW_INDEPENDENT] = {.name = "independent",
                         .summary = "each rank accesses the file itself, without exchange",
                         .transport = &direct_transport},
    [ROW_RING] = {.name = "ring",
                  .summary = "ranks of a node copy into blocks of shared memory, which are written and read whole",
                  .transport = &ring_transport,
                  .agreement = AGREE_BOTH,
                  .aggregators = AGGREGATORS_MEMORY,
                  .target = TARGET_FREE,
                  .exchange = EXCHANGE_MEMORY,
                  .defers = true},
    [ROW_TWOPHASE] = {.name = "twophase",
                      .summary = "aggregators exchange data with all ranks and access the file in large windows",
                      .transport = &exchange_transport,
                      .agreement = AGREE_BOTH,
                      .aggregators = AGGREGATORS_PAIR,
                      .target = TARGET_BLOCK,
                      .exchange = EXCHANGE_GATHERED,
                      .defers = true},
    /* Collective buffering, as its document has it. */
    {.name = "cb_b",
     .summary = "collective buffering (CB-B): each rank accesses one part of the file for all",
     .transport = &exchange_transport,
     .agreement = AGREE_BOTH,
     .aggregators = AGGREGATORS_ALL,
     .target = TARGET_BLOCK,
     .exchange = EXCHANGE_PIECES,
     .defers = true},
    {.name = "cb_fl",
     .summary = "collective buffering (CB-FL): each aggregator accesses the blocks of one storage device",
     .transport = &exchange_transport,
     .agreement = AGREE_BOTH,
     .aggregators = AGGREGATORS_DEVICE,
     .target = TARGET_LAYOUT,
     .exchange = EXCHANGE_PIECES,
     .defers = true},
    {.name = "cb_c",
     .summary = "collective buffering (CB-C): aggregators access blocks of the file in turn",
     .transport = &exchange_transport,
     .agreement = AGREE_BOTH,
     .aggregators = AGGREGATORS_PAIR,
     .target = TARGET_CYCLIC,
     .exchange = EXCHANGE_PIECES,
     .defers = true},
    {.name = "cbx",
     .summary = "collective buffering (CBx): as cb_c, with one message for each pair and round",
     .transport = &exchange_transport,
     .agreement = AGREE_BOTH,
     .aggregators = AGGREGATORS_PAIR,
     .target = TARGET_CYCLIC,
     .exchange = EXCHANGE_GATHERED,
     .defers = true},
    /* Data block scheduling. */
    {.name = "node_grouping",
     .summary = "node grouping: a part of the ranks accesses the file, then the next part",
     .transport = &direct_transport,
     .agreement = AGREE_BOTH,
     .order = ORDER_NODES},
    {.name = "data_grouping",
     .summary = "data grouping: all ranks access the file, a part of their data at a time",
     .transport = &direct_transport,
     .agreement = AGREE_BOTH,
     .order = ORDER_DATA},
    {.name = "random",
     .summary = "each rank accesses its data blocks in a random order",
     .transport = &direct_transport,
     .agreement = AGREE_BOTH,
     .order = ORDER_RANDOM},
    {.name = "sliding_window",
     .summary = "sliding window: all ranks access what lies in one window, then in the next",
     .transport = &direct_transport,
     .agreement = AGREE_BOTH,
     .order = ORDER_WINDOW},
    {.name = "generalized_window",
     .summary = "as sliding_window, with a window for each storage device",
     .transport = &direct_transport,
     .agreement = AGREE_BOTH,
     .order = ORDER_WINDOWS},
    {.name = "broadcast",
     .summary = "what all ranks read alike is read once and broadcast; else as twophase",
     .transport = &broadcast_transport,
     .agreement = AGREE_BOTH,
     .aggregators = AGGREGATORS_NODE,
     .target = TARGET_BLOCK,
     .exchange = EXCHANGE_BROADCAST,
     .otherwise = &STRATEGIES[ROW_TWOPHASE]},
    /* The agents of data shipping serve independent access too: it is the same access, and ranks agree at its end. */
    {.name = "shipping",
     .summary = "each block of the file is bound to an agent, which accesses it for all ranks, alone or together",
     .transport = &direct_transport,
     .agreement = AGREE_LAST,
     .aggregators = AGGREGATORS_AGENTS,
     .target = TARGET_BOUND,
     .exchange = EXCHANGE_MEMORY},
    {0},
};

const struct strategy *strategy_find(const char *name)
{
    for (const struct strategy *row = STRATEGIES; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

/* ---- The choice -------------------------------------------------------------------------------------------------- */

static struct strategy_choice strategy_alone(const char *why)
{
    return (struct strategy_choice){.strategy = &STRATEGIES[ROW_INDEPENDENT], .why = why};
}

static struct strategy_choice strategy_together(const struct strategy_facts *facts, const char *why)
{
    return (struct strategy_choice){.strategy = facts->shares ? &STRATEGIES[ROW_RING] : &STRATEGIES[ROW_TWOPHASE],
                                    .why = why};
}

/* The hint piolet_strategy names it. */
static struct strategy_choice strategy_pinned(const struct strategy_facts *facts, const struct strategy *named)
{
    assert(named);
    if (named == &STRATEGIES[ROW_RING] && !facts->shares)
        return strategy_together(facts, "ring was asked for, but ranks of a node share no memory");
    return (struct strategy_choice){.strategy = named, .why = "asked for by piolet_strategy"};
}

struct strategy_choice strategy_choose(const struct strategy_facts *facts)
{
    assert(facts->ranks > 0 && facts->hints);
    const struct hint_values *hints = facts->hints;
    const int64_t wanted = facts->write ? hints->cb_write : hints->cb_read;
    /* Where order or place cannot be kept by an exchange, each rank goes by itself. */
    if (facts->atomic)
        return strategy_alone("atomic mode");
    if (!facts->monotone)
        return strategy_alone("some view goes back, or overlaps itself");
    if (facts->refused)
        return strategy_alone("a rank has become another user: the MPI may not move data to or from it");
    const struct strategy *named = strategy_find(hints->strategy);
    if (facts->scarce && (!facts->shares || (named && named != &STRATEGIES[ROW_RING])))
        return strategy_alone("a rank has too little address space for messages");
    if (named)
        return strategy_pinned(facts, named);
    if (facts->ranks == 1)
        return strategy_alone("there is one rank");
    if (hints->largeblock)
        return strategy_alone("IBM_largeblock_io is true");
    if (wanted == HINT_DISABLE)
        return strategy_alone(facts->write ? "romio_cb_write is disable" : "romio_cb_read is disable");
    if (wanted == HINT_ENABLE)
        return strategy_together(facts, facts->write ? "romio_cb_write is enable" : "romio_cb_read is enable");
    if (facts->piece_bytes >= TUNE_LARGE_BYTES)
        return strategy_alone("pieces are large, or all data lie side by side");
    struct strategy_choice choice = strategy_together(facts, "pieces are small");
    choice.small_pieces = facts->piece_bytes < TUNE_SMALL_BYTES;
    choice.tune = facts->shares;
    choice.direct_first = !facts->write && facts->piece_bytes >= TUNE_DIRECT_READ_BYTES;
    if (choice.tune)
        choice.why = "pieces are not large: it tries both ways, and keeps to the faster";
    return choice;
}
