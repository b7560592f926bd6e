/* Who writes what: the range that a collective access covers is cut into one domain for each agent, and a domain into
 * windows, which the agent fills and writes (or reads and hands out) one after the other. Pure arithmetic. */
#ifndef PIOLET_MPIIO_EXCHANGE_DOMAIN_H
#define PIOLET_MPIIO_EXCHANGE_DOMAIN_H

#include <stdint.h>

struct exchange_domain {
    int64_t begin, end; /* bytes of the file that are accessed at all; begin is aligned down */
    int agents;
    int64_t chunk;  /* bytes of a domain: a multiple of the block */
    int64_t window; /* bytes of a window */
};

/* Domains begin at multiples of `block`. agents, block and window > 0; lo < hi. */
void exchange_domain_make(struct exchange_domain *ret_domain, int64_t lo, int64_t hi, int agents, int64_t block,
                          int64_t window);

static inline int exchange_domain_agent(const struct exchange_domain *domain, int64_t byte)
{
    return (int)((byte - domain->begin) / domain->chunk);
}

static inline int64_t exchange_domain_begin(const struct exchange_domain *domain, int agent)
{
    return domain->begin + agent * domain->chunk;
}

static inline int64_t exchange_domain_end(const struct exchange_domain *domain, int agent)
{
    const int64_t left = domain->end - exchange_domain_begin(domain, agent);
    return domain->end - (left > domain->chunk ? left - domain->chunk : 0);
}

static inline int64_t exchange_domain_round(const struct exchange_domain *domain, int64_t byte)
{
    return (byte - domain->begin) % domain->chunk / domain->window;
}

/* First byte of a window, and the one behind it. */
static inline int64_t exchange_window_begin(const struct exchange_domain *domain, int agent, int64_t round)
{
    return exchange_domain_begin(domain, agent) + round * domain->window;
}

static inline int64_t exchange_window_end(const struct exchange_domain *domain, int agent, int64_t round)
{
    const int64_t begin = exchange_window_begin(domain, agent, round), end = exchange_domain_end(domain, agent);
    return end - begin > domain->window ? begin + domain->window : end;
}

/* The rank that plays agent number `agent`, spread over all ranks; and the agent that a rank plays, or -1. */
int exchange_agent_rank(int agent, int agents, int ranks);
int exchange_rank_agent(int rank, int agents, int ranks);

#endif
