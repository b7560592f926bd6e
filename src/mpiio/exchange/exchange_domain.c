#include "mpiio/exchange/exchange_domain.h"

#include <assert.h>

static int64_t round_up(int64_t value, int64_t unit)
{
    const int64_t rest = value % unit;
    if (rest == 0 || value > INT64_MAX - (unit - rest))
        return value;
    return value + unit - rest;
}

void exchange_domain_make(struct exchange_domain *ret_domain, int64_t lo, int64_t hi, int agents, int64_t block,
                          int64_t window)
{
    assert(lo < hi && agents > 0 && block > 0 && window > 0);
    const int64_t begin = lo - lo % block, all = hi - begin;
    const int64_t each = all / agents + (all % agents != 0);
    *ret_domain = (struct exchange_domain){
        .begin = begin, .end = hi, .agents = agents, .chunk = round_up(each, block), .window = window};
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
