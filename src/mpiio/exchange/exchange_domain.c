#include "mpiio/exchange/exchange_domain.h"

#include <assert.h>

static int64_t divide_up(int64_t value, int64_t unit)
{
    return value / unit + (value % unit != 0);
}

static int64_t round_up(int64_t value, int64_t unit)
{
    const int64_t rest = value % unit;
    if (rest == 0 || value > INT64_MAX - (unit - rest))
        return value;
    return value + unit - rest;
}

static void make(struct exchange_domain *ret_domain, int64_t begin, int64_t hi, int agents, int64_t chunk,
                 int64_t window)
{
    *ret_domain = (struct exchange_domain){.begin = begin,
                                           .end = hi,
                                           .agents = agents,
                                           .chunk = chunk,
                                           .window = window,
                                           .windows = divide_up(chunk, window)};
}

void exchange_domain_block(struct exchange_domain *ret_domain, int64_t lo, int64_t hi, int agents, int64_t unit,
                           int64_t window)
{
    assert(lo < hi && agents > 0 && unit > 0 && window > 0);
    const int64_t begin = lo - lo % unit;
    make(ret_domain, begin, hi, agents, round_up(divide_up(hi - begin, agents), unit), window);
}

void exchange_domain_cyclic(struct exchange_domain *ret_domain, int64_t lo, int64_t hi, int agents, int64_t chunk,
                            int64_t window, bool bound)
{
    assert(lo < hi && agents > 0 && chunk > 0 && window > 0);
    make(ret_domain, bound ? 0 : lo - lo % chunk, hi, agents, chunk, window);
}

int64_t exchange_window_begin(const struct exchange_domain *domain, int agent, int64_t round)
{
    const int64_t block = round / domain->windows * domain->agents + agent;
    return domain->begin + block * domain->chunk + round % domain->windows * domain->window;
}

int64_t exchange_window_end(const struct exchange_domain *domain, int agent, int64_t round)
{
    const int64_t begin = exchange_window_begin(domain, agent, round);
    const int64_t of_block = domain->chunk - round % domain->windows * domain->window;
    const int64_t bytes = of_block < domain->window ? of_block : domain->window;
    return domain->end - begin > bytes ? begin + bytes : domain->end;
}

/* The first byte of the agent's next block behind the one that `byte` is in; false: it is behind the end. */
static bool next_block(const struct exchange_domain *domain, int agent, int64_t byte, int64_t *ret_begin)
{
    const int64_t block = (byte - domain->begin) / domain->chunk;
    int64_t ahead = agent - block % domain->agents;
    ahead += ahead <= 0 ? domain->agents : 0;
    int64_t distance;
    const bool far = __builtin_mul_overflow(block + ahead, domain->chunk, &distance);
    if (far || distance >= domain->end - domain->begin)
        return false;
    *ret_begin = domain->begin + distance;
    return true;
}

int64_t exchange_domain_next(const struct exchange_domain *domain, const struct view *view, int agent, int64_t position,
                             int64_t limit)
{
    while (position < limit) {
        const int64_t byte = view_byte(view, position);
        int64_t begin;
        if (exchange_domain_agent(domain, byte) == agent)
            return position;
        if (!next_block(domain, agent, byte, &begin))
            return limit;
        position = view_position(view, begin);
    }
    return limit;
}

int exchange_agent_rank(int agent, int agents, int ranks)
{
    return (int)((int64_t)agent * ranks / agents);
}

int exchange_rank_agent(int rank, int agents, int ranks)
{
    const int agent = (int)(((int64_t)rank * agents + ranks - 1) / ranks);
    return agent < agents && exchange_agent_rank(agent, agents, ranks) == rank ? agent : -1;
}
