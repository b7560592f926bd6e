/* Strategies of collective access: rows of one table, each a transport and the policy that it follows (move.h); and the
 * choice among them.
 *
 * To add one: a row in strategy.c. */
#ifndef PIOLET_ENGINE_STRATEGY_STRATEGY_H
#define PIOLET_ENGINE_STRATEGY_STRATEGY_H

#include "engine/move/move.h"

extern const struct strategy STRATEGIES[]; /* ends with one that has no name */
const struct strategy *strategy_find(const char *name);

/* What the choice depends on: the least and greatest over all ranks, so that all choose the same. */
struct strategy_facts {
    int ranks;
    bool write;
    int64_t piece_bytes; /* mean piece of the view that is cut finest */
    bool monotone;       /* of every rank */
    bool atomic;
    bool shares;  /* the ranks of each node share memory */
    bool refused; /* a rank may not open another's memory, as the MPI does for long messages */
    bool scarce;  /* a rank has too little address space for them */
    const struct hint_values *hints;
};
/* What was chosen, and why: in words, of the library's own. `tune`: the strategy may find out by trying whether it is
 * the best. */
struct strategy_choice {
    const struct strategy *strategy;
    const char *why;
    bool tune, small_pieces;
    bool direct_first; /* where the file lies near, each rank for itself is tried first */
};
struct strategy_choice strategy_choose(const struct strategy_facts *facts);

#endif
