/* Queues with many who hand over and one who takes: each place carries a number that says whose turn it is. */
#include "mpi/wait.h"
#include "mpiio/aux/aux_core.h"

static size_t whole_pages(size_t bytes)
{
    return (bytes + AUX_PAGE - 1) / AUX_PAGE * AUX_PAGE;
}

static size_t slots_bytes(int64_t slots)
{
    return whole_pages((size_t)slots * sizeof(struct aux_slot));
}

static size_t queue_bytes(int64_t slots)
{
    return slots_bytes(slots) + (size_t)slots * (AUX_CHUNK / 8 + AUX_CHUNK);
}

size_t aux_shared_bytes(int processes, int64_t slots)
{
    return whole_pages(sizeof(struct aux_shared)) + (size_t)processes * queue_bytes(slots);
}

static char *queue_memory(const struct aux_group *group, int queue)
{
    return (char *)group->shared + whole_pages(sizeof(struct aux_shared)) +
           (size_t)queue * queue_bytes(group->shared->slots);
}

static struct aux_slot *slot_at(const struct aux_group *group, int queue, int64_t number)
{
    return (struct aux_slot *)queue_memory(group, queue) + number % group->shared->slots;
}

static int64_t slot_index(const struct aux_group *group, int queue, const struct aux_slot *slot)
{
    return slot - (struct aux_slot *)queue_memory(group, queue);
}

uint64_t *aux_slot_cover(const struct aux_group *group, int queue, const struct aux_slot *slot)
{
    char *covers = queue_memory(group, queue) + slots_bytes(group->shared->slots);
    return (uint64_t *)(covers + slot_index(group, queue, slot) * (AUX_CHUNK / 8));
}

char *aux_slot_data(const struct aux_group *group, int queue, const struct aux_slot *slot)
{
    const int64_t slots = group->shared->slots;
    char *data = queue_memory(group, queue) + slots_bytes(slots) + (size_t)slots * (AUX_CHUNK / 8);
    return data + slot_index(group, queue, slot) * AUX_CHUNK;
}

void aux_queue_init(const struct aux_group *group, int queue)
{
    for (int64_t i = 0; i < group->shared->slots; i++)
        atomic_store(&slot_at(group, queue, i)->turn, i);
}

struct aux_slot *aux_queue_reserve(const struct aux_group *group, int queue, int64_t *ret_number)
{
    _Atomic int64_t *handed = &group->shared->queue[queue].handed;
    int64_t number = atomic_load(handed);
    for (;;) {
        struct aux_slot *slot = slot_at(group, queue, number);
        const int64_t turn = atomic_load_explicit(&slot->turn, memory_order_acquire);
        if (turn < number)
            return NULL;
        if (turn > number) {
            number = atomic_load(handed);
        } else if (atomic_compare_exchange_weak(handed, &number, number + 1)) {
            *ret_number = number;
            return slot;
        }
    }
}

void aux_queue_hand(const struct aux_group *group, int queue, struct aux_slot *slot, int64_t number)
{
    struct aux_queue *own = &group->shared->queue[queue];
    _Atomic int64_t *handed = &group->shared->file[slot->file].report[queue].handed;
    int64_t before = atomic_load(handed);
    while (before <= number && !atomic_compare_exchange_weak(handed, &before, number + 1))
        continue;
    atomic_store(&slot->turn, number + 1);
    atomic_fetch_add(&own->bell, 1);
    if (atomic_load(&own->asleep))
        wait_wake(&own->bell);
}

struct aux_slot *aux_queue_first(const struct aux_group *group, int queue)
{
    const int64_t number = atomic_load(&group->shared->queue[queue].stored);
    struct aux_slot *slot = slot_at(group, queue, number);
    return atomic_load(&slot->turn) == number + 1 ? slot : NULL;
}

bool aux_queue_skip(const struct aux_group *group, int queue)
{
    struct aux_queue *own = &group->shared->queue[queue];
    if (atomic_load(&own->stored) == atomic_load(&own->handed))
        return false;
    atomic_fetch_add(&own->stored, 1);
    return true;
}

/* In this order: whoever goes on after a death in between must not wait for an entry that is gone. The place is then
 * lost, but nobody uses the queue any more. */
void aux_queue_done(const struct aux_group *group, int queue, struct aux_slot *slot)
{
    struct aux_queue *own = &group->shared->queue[queue];
    const int64_t number = atomic_load(&own->stored);
    atomic_store(&own->stored, number + 1);
    atomic_store(&slot->turn, number + group->shared->slots);
}
