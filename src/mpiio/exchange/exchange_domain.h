/* Who writes what: the file is cut into blocks that the agents get in turn, and a block into windows, which its agent
 * fills and writes (or reads and hands out) one after the other. Where each agent gets one large block, that is HPF's
 * BLOCK, else CYCLIC. Pure arithmetic. */
#ifndef PIOLET_MPIIO_EXCHANGE_DOMAIN_H
#define PIOLET_MPIIO_EXCHANGE_DOMAIN_H

#include "mpiio/view/view.h"

#include <stdint.h>

struct exchange_domain {
    int64_t begin, end; /* blocks are counted from begin; nothing is accessed at or behind end */
    int agents;
    int64_t chunk;   /* bytes of a block */
    int64_t window;  /* bytes of a window, at most */
    int64_t windows; /* of a block */
};

/* One block for each agent; blocks begin at multiples of `unit`. agents, unit and window > 0; lo < hi. */
void exchange_domain_block(struct exchange_domain *ret_domain, int64_t lo, int64_t hi, int agents, int64_t unit,
                           int64_t window);

/* Blocks of `chunk` bytes in turn. `bound`: counted from the file's first byte, so that a block has the same agent in
 * every call; else from the block of the first byte that is accessed. */
void exchange_domain_cyclic(struct exchange_domain *ret_domain, int64_t lo, int64_t hi, int agents, int64_t chunk,
                            int64_t window, bool bound);

static inline int exchange_domain_agent(const struct exchange_domain *domain, int64_t byte)
{
    return (int)((byte - domain->begin) / domain->chunk % domain->agents);
}

/* The number of an agent's window: they ascend with the file, and those of a block follow each other. */
static inline int64_t exchange_domain_round(const struct exchange_domain *domain, int64_t byte)
{
    const int64_t place = byte - domain->begin;
    return place / domain->chunk / domain->agents * domain->windows + place % domain->chunk / domain->window;
}

/* First byte of a window, and the one behind it. Only of windows that have bytes before the end. */
int64_t exchange_window_begin(const struct exchange_domain *domain, int agent, int64_t round);
int64_t exchange_window_end(const struct exchange_domain *domain, int agent, int64_t round);

/* The first position at or behind `position` whose byte belongs to `agent`, or `limit`: positions of data of a monotone
 * view. The steps it takes are at most the turns of all agents in which the view has data. */
int64_t exchange_domain_next(const struct exchange_domain *domain, const struct view *view, int agent, int64_t position,
                             int64_t limit);

/* The rank that plays agent number `agent`, spread over all ranks; and the agent that a rank plays, or -1. */
int exchange_agent_rank(int agent, int agents, int ranks);
int exchange_rank_agent(int rank, int agents, int ranks);

#endif
