/* Which aggregator owns which part of the file, and who they are. */
#include "engine/move/move.h"

#include <assert.h>
#include <stdint.h>

enum { EACH_NODE = 2, ALIGN_BYTES = 65536 };

int64_t move_domain_unit(const struct file *file)
{
    return file->values.striping_unit > 0 ? file->values.striping_unit : ALIGN_BYTES;
}

/* Where there are fewer ranks than devices, each device still belongs to one aggregator. */
static int64_t move_aggregators_of_devices(int64_t devices, int ranks)
{
    assert(devices > 0 && ranks > 0);
    int64_t aggregators = devices < ranks ? devices : ranks;
    while (devices % aggregators != 0)
        aggregators--;
    return aggregators;
}

int move_aggregator_count(const struct file *file, enum move_aggregators policy)
{
    const struct hint_values *values = &file->values;
    int64_t count = file->size;
    if (policy == AGGREGATORS_DEVICE && values->striping_factor > 0)
        count = move_aggregators_of_devices(values->striping_factor, file->size);
    else if (policy != AGGREGATORS_ALL && values->cb_nodes > 0)
        count = values->cb_nodes;
    else if (policy == AGGREGATORS_NODE || policy == AGGREGATORS_DEVICE)
        count = file->node.count;
    else if (policy == AGGREGATORS_PAIR)
        count = (int64_t)EACH_NODE * file->node.count;
    assert(count > 0);
    return count < file->size ? (int)count : file->size;
}

static int64_t move_domain_divide_up(int64_t value, int64_t unit)
{
    return value / unit + (value % unit != 0);
}

static int64_t move_domain_round_up(int64_t value, int64_t unit)
{
    const int64_t rest = value % unit;
    if (rest == 0 || value > INT64_MAX - (unit - rest))
        return value;
    return value + unit - rest;
}

static void move_domain_make(struct move_domain *ret_domain, int64_t begin, int64_t hi, int aggregators, int64_t chunk,
                             int64_t window)
{
    assert(begin >= 0 && begin < hi && chunk > 0);
    *ret_domain = (struct move_domain){.begin = begin,
                                       .end = hi,
                                       .aggregators = aggregators,
                                       .chunk = chunk,
                                       .window = window,
                                       .windows = move_domain_divide_up(chunk, window)};
}

void move_domain_block(struct move_domain *ret_domain, int64_t lo, int64_t hi, int aggregators, int64_t unit,
                       int64_t window)
{
    assert(lo < hi && aggregators > 0 && unit > 0 && window > 0);
    const int64_t begin = lo - lo % unit;
    move_domain_make(ret_domain, begin, hi, aggregators,
                     move_domain_round_up(move_domain_divide_up(hi - begin, aggregators), unit), window);
}

void move_domain_cyclic(struct move_domain *ret_domain, int64_t lo, int64_t hi, int aggregators, int64_t chunk,
                        int64_t window, bool bound)
{
    assert(lo < hi && aggregators > 0 && chunk > 0 && window > 0);
    move_domain_make(ret_domain, bound ? 0 : lo - lo % chunk, hi, aggregators, chunk, window);
}

int64_t move_window_begin(const struct move_domain *domain, int aggregator, int64_t round)
{
    assert(aggregator >= 0 && aggregator < domain->aggregators && round >= 0);
    const int64_t block = round / domain->windows * domain->aggregators + aggregator;
    return domain->begin + block * domain->chunk + round % domain->windows * domain->window;
}

int64_t move_window_end(const struct move_domain *domain, int aggregator, int64_t round)
{
    const int64_t begin = move_window_begin(domain, aggregator, round);
    const int64_t of_block = domain->chunk - round % domain->windows * domain->window;
    const int64_t bytes = of_block < domain->window ? of_block : domain->window;
    return domain->end - begin > bytes ? begin + bytes : domain->end;
}

/* The first byte of the aggregator's next block behind the one that `byte` is in; false: it is behind the end. */
static bool move_domain_next_block(const struct move_domain *domain, int aggregator, int64_t byte, int64_t *ret_begin)
{
    const int64_t block = (byte - domain->begin) / domain->chunk;
    int64_t ahead = aggregator - block % domain->aggregators;
    ahead += ahead <= 0 ? domain->aggregators : 0;
    int64_t distance;
    const bool far = __builtin_mul_overflow(block + ahead, domain->chunk, &distance);
    if (far || distance >= domain->end - domain->begin)
        return false;
    *ret_begin = domain->begin + distance;
    return true;
}

int64_t move_domain_next(const struct move_domain *domain, const struct view *view, int aggregator, int64_t position,
                         int64_t limit)
{
    assert(aggregator >= 0 && aggregator < domain->aggregators);
    while (position < limit) {
        const int64_t byte = view_byte(view, position);
        int64_t begin;
        if (move_domain_aggregator(domain, byte) == aggregator)
            return position;
        if (!move_domain_next_block(domain, aggregator, byte, &begin))
            return limit;
        position = view_position(view, begin);
    }
    return limit;
}

int move_aggregator_rank(int aggregator, int aggregators, int ranks)
{
    assert(aggregator >= 0 && aggregator < aggregators && aggregators <= ranks);
    return (int)((int64_t)aggregator * ranks / aggregators);
}

int move_rank_aggregator(int rank, int aggregators, int ranks)
{
    assert(rank >= 0 && rank < ranks && aggregators > 0);
    const int aggregator = (int)(((int64_t)rank * aggregators + ranks - 1) / ranks);
    return aggregator < aggregators && move_aggregator_rank(aggregator, aggregators, ranks) == rank ? aggregator : -1;
}
