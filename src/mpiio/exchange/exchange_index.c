#include "mpiio/exchange/exchange_index.h"

#include "mpiio/mem.h"

#include <limits.h>
#include <stdint.h>

enum { CAPACITY_FIRST = 64, NONE = -1 };

/* Where the key is, or where it would be put. */
static struct exchange_entry *locate(const struct exchange_index *index, int key)
{
    const uint32_t mask = (uint32_t)index->capacity - 1;
    uint32_t at = ((uint32_t)key * UINT32_C(2654435769)) >> 7 & mask;
    while (index->entries[at].key != NONE && index->entries[at].key != key)
        at = (at + 1) & mask;
    return &index->entries[at];
}

static bool grow(struct exchange_index *index)
{
    struct exchange_index larger = {.capacity = index->capacity > 0 ? index->capacity : CAPACITY_FIRST};
    larger.entries = exchange_list_grow(NULL, &larger.capacity, sizeof *larger.entries);
    if (!larger.entries)
        return false;
    for (int i = 0; i < larger.capacity; i++)
        larger.entries[i].key = NONE;
    for (int i = 0; i < index->capacity; i++)
        if (index->entries[i].key != NONE)
            *locate(&larger, index->entries[i].key) = index->entries[i];
    larger.count = index->count;
    mem_free(index->entries);
    *index = larger;
    return true;
}

bool exchange_index_init(struct exchange_index *index)
{
    *index = (struct exchange_index){0};
    return grow(index);
}

int exchange_index_find(const struct exchange_index *index, int key)
{
    const struct exchange_entry *entry = locate(index, key);
    return entry->key == key ? entry->place : NONE;
}

bool exchange_index_add(struct exchange_index *index, int key, int place)
{
    if (index->count >= index->capacity / 2 && !grow(index))
        return false;
    *locate(index, key) = (struct exchange_entry){key, place};
    index->count++;
    return true;
}

void exchange_index_clear(struct exchange_index *index)
{
    mem_free(index->entries);
    *index = (struct exchange_index){0};
}

void *exchange_list_grow(void *list, int *capacity, size_t item_bytes)
{
    if (*capacity > INT_MAX / 2)
        return NULL;
    const int larger = *capacity > 0 ? 2 * *capacity : CAPACITY_FIRST;
    void *grown = mem_resize(list, (size_t)larger * item_bytes);
    if (grown)
        *capacity = larger;
    return grown;
}
