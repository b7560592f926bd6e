#include "mpiio/exchange/exchange_target.h"

#include "mpiio/mem.h"

static bool grow(struct exchange_targets *targets)
{
    struct exchange_target *grown = exchange_list_grow(targets->list, &targets->capacity, sizeof *targets->list);
    if (!grown)
        return false;
    targets->list = grown;
    return true;
}

bool exchange_targets_init(struct exchange_targets *targets)
{
    *targets = (struct exchange_targets){0};
    return grow(targets) && exchange_index_init(&targets->index);
}

static bool add(struct exchange_targets *targets, int agent, int64_t position)
{
    if ((targets->count == targets->capacity && !grow(targets)) ||
        !exchange_index_add(&targets->index, agent, targets->count))
        return false;
    targets->list[targets->count++] = (struct exchange_target){
        .agent = agent, .position = position, .hello = MPI_REQUEST_NULL};
    return true;
}

bool exchange_targets_find(struct exchange_targets *targets, const struct exchange_domain *domain,
                           const struct view *view, int64_t position, int64_t limit)
{
    targets->count = 0;
    while (targets->count < domain->agents && position < limit) {
        const int64_t byte = view_byte(view, position);
        const int agent = exchange_domain_agent(domain, byte);
        const int64_t rest = domain->chunk - (byte - domain->begin) % domain->chunk;
        if (exchange_index_find(&targets->index, agent) < 0 && !add(targets, agent, position)) {
            targets->count = 0;
            return false;
        }
        if (domain->end - byte <= rest)
            break;
        position = view_position(view, byte + rest);
    }
    return true;
}

void exchange_targets_clear(struct exchange_targets *targets)
{
    mem_free(targets->list);
    exchange_index_clear(&targets->index);
    *targets = (struct exchange_targets){0};
}
