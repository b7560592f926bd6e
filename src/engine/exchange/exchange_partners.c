/* Who has something for whom: the aggregators that a rank sends to, and the partners of an aggregator. */
#include "engine/exchange/exchange_core.h"
#include "engine/mem.h"

#include <assert.h>
#include <limits.h>
#include <stdint.h>

/* ---- Index ------------------------------------------------------------------------------------------------------- */

enum { CAPACITY_FIRST = 64, NONE = -1 };

/* Where the key is, or where it would be put. */
static struct exchange_entry *exchange_index_locate(const struct exchange_index *index, int key)
{
    const uint32_t mask = (uint32_t)index->capacity - 1;
    uint32_t at = ((uint32_t)key * UINT32_C(2654435769)) >> 7 & mask;
    while (index->entries[at].key != NONE && index->entries[at].key != key)
        at = (at + 1) & mask;
    return &index->entries[at];
}

static bool exchange_index_grow(struct exchange_index *index)
{
    struct exchange_index larger = {.capacity = index->capacity > 0 ? index->capacity : CAPACITY_FIRST};
    larger.entries = exchange_list_grow(NULL, &larger.capacity, sizeof *larger.entries);
    if (!larger.entries)
        return false;
    for (int i = 0; i < larger.capacity; i++)
        larger.entries[i].key = NONE;
    for (int i = 0; i < index->capacity; i++)
        if (index->entries[i].key != NONE)
            *exchange_index_locate(&larger, index->entries[i].key) = index->entries[i];
    larger.count = index->count;
    mem_free(index->entries);
    *index = larger;
    return true;
}

bool exchange_index_init(struct exchange_index *index)
{
    *index = (struct exchange_index){0};
    return exchange_index_grow(index);
}

int exchange_index_find(const struct exchange_index *index, int key)
{
    const struct exchange_entry *entry = exchange_index_locate(index, key);
    return entry->key == key ? entry->place : NONE;
}

bool exchange_index_add(struct exchange_index *index, int key, int place)
{
    assert(key >= 0 && place >= 0);
    if (index->count >= index->capacity / 2 && !exchange_index_grow(index))
        return false;
    *exchange_index_locate(index, key) = (struct exchange_entry){key, place};
    index->count++;
    assert(index->count <= index->capacity / 2);
    return true;
}

void exchange_index_clear(struct exchange_index *index)
{
    mem_free(index->entries);
    *index = (struct exchange_index){0};
}

void *exchange_list_grow(void *list, int *capacity, size_t item_bytes)
{
    assert(*capacity >= 0 && item_bytes > 0);
    if (*capacity > INT_MAX / 2)
        return NULL;
    const int larger = *capacity > 0 ? 2 * *capacity : CAPACITY_FIRST;
    void *grown = mem_resize(list, (size_t)larger * item_bytes);
    if (grown)
        *capacity = larger;
    return grown;
}

/* ---- Targets of a rank ------------------------------------------------------------------------------------------- */

static bool exchange_target_grow(struct exchange_targets *targets)
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
    return exchange_target_grow(targets) && exchange_index_init(&targets->index);
}

static bool exchange_target_add(struct exchange_targets *targets, int aggregator, int64_t position)
{
    assert(aggregator >= 0 && position >= 0);
    if ((targets->count == targets->capacity && !exchange_target_grow(targets)) ||
        !exchange_index_add(&targets->index, aggregator, targets->count))
        return false;
    targets->list[targets->count++] = (struct exchange_target){
        .aggregator = aggregator, .position = position, .hello = MPI_REQUEST_NULL};
    return true;
}

bool exchange_targets_find(struct exchange_targets *targets, const struct move_domain *domain, const struct view *view,
                           int64_t position, int64_t limit)
{
    assert(position <= limit);
    targets->count = 0;
    while (targets->count < domain->aggregators && position < limit) {
        const int64_t byte = view_byte(view, position);
        const int aggregator = move_domain_aggregator(domain, byte);
        const int64_t rest = domain->chunk - (byte - domain->begin) % domain->chunk;
        assert(byte >= domain->begin && rest > 0);
        if (exchange_index_find(&targets->index, aggregator) < 0 &&
            !exchange_target_add(targets, aggregator, position)) {
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

/* ---- Partners of an aggregator ----------------------------------------------------------------------------------- */

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
    assert(rank >= 0 && next >= 0);
    partners->heard++;
    if ((partners->count == partners->capacity && !grow_list(partners)) ||
        !exchange_index_add(&partners->index, rank, partners->count))
        return false;
    partners->list[partners->count++] = (struct exchange_partner){
        .rank = rank, .next = next, .first = NONE, .last = NONE};
    partners->upcoming++;
    assert(partners->count <= partners->capacity && partners->count <= partners->heard);
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
    assert(partner >= 0 && partner < partners->count);
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
    assert(partners->waiting_count > 0 && partners->list[partner].first != NONE);
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
