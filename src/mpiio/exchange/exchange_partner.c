#include "mpiio/exchange/exchange_partner.h"

#include "mpiio/mem.h"

enum { NONE = -1 };

static bool grow_list(struct exchange_partners *partners)
{
    struct exchange_partner *grown = exchange_list_grow(partners->list, &partners->capacity, sizeof *partners->list);
    if (!grown)
        return false;
    partners->list = grown;
    return true;
}

static bool grow_waiting(struct exchange_partners *partners)
{
    int capacity = partners->waiting_capacity;
    struct exchange_waiting *grown = exchange_list_grow(partners->waiting, &capacity, sizeof *partners->waiting);
    if (!grown)
        return false;
    for (int i = partners->waiting_capacity; i < capacity; i++)
        grown[i].next = i + 1 < capacity ? i + 1 : partners->waiting_free;
    partners->waiting_free = partners->waiting_capacity;
    partners->waiting = grown;
    partners->waiting_capacity = capacity;
    return true;
}

bool exchange_partners_init(struct exchange_partners *partners)
{
    *partners = (struct exchange_partners){.waiting_free = NONE};
    return grow_list(partners) && grow_waiting(partners) && exchange_index_init(&partners->index);
}

void exchange_partners_clear(struct exchange_partners *partners)
{
    mem_free(partners->list);
    mem_free(partners->waiting);
    exchange_index_clear(&partners->index);
    *partners = (struct exchange_partners){0};
}

bool exchange_partners_add(struct exchange_partners *partners, int rank, int64_t next)
{
    partners->heard++;
    if ((partners->count == partners->capacity && !grow_list(partners)) ||
        !exchange_index_add(&partners->index, rank, partners->count))
        return false;
    partners->list[partners->count++] = (struct exchange_partner){
        .rank = rank, .next = next, .first = NONE, .last = NONE};
    partners->upcoming++;
    return true;
}

int64_t exchange_partners_least(const struct exchange_partners *partners, int64_t behind, int *ret_count)
{
    int64_t least = INT64_MAX;
    *ret_count = 0;
    for (int i = 0; i < partners->count; i++) {
        const int64_t next = partners->list[i].next;
        if (next <= behind || next > least)
            continue;
        *ret_count = next < least ? 1 : *ret_count + 1;
        least = next;
    }
    return least;
}

bool exchange_partners_wait(struct exchange_partners *partners, int partner, MPI_Message message, int bytes)
{
    if (partners->waiting_free == NONE && !grow_waiting(partners))
        return false;
    struct exchange_partner *owner = &partners->list[partner];
    const int place = partners->waiting_free;
    partners->waiting_free = partners->waiting[place].next;
    partners->waiting[place] = (struct exchange_waiting){.message = message, .bytes = bytes, .next = NONE};
    if (owner->last == NONE)
        owner->first = place;
    else
        partners->waiting[owner->last].next = place;
    owner->last = place;
    partners->waiting_count++;
    return true;
}

struct exchange_waiting exchange_partners_take(struct exchange_partners *partners, int partner)
{
    struct exchange_partner *owner = &partners->list[partner];
    const int place = owner->first;
    const struct exchange_waiting taken = partners->waiting[place];
    owner->first = taken.next;
    owner->last = taken.next == NONE ? NONE : owner->last;
    partners->waiting[place].next = partners->waiting_free;
    partners->waiting_free = place;
    partners->waiting_count--;
    return taken;
}
