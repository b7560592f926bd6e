/* Finds the place of something in a list by its number. Memory grows with what is in it, not with how large numbers
 * can be: an exchange keeps only those ranks and agents that have to do with each other. */
#ifndef PIOLET_MPIIO_EXCHANGE_INDEX_H
#define PIOLET_MPIIO_EXCHANGE_INDEX_H

#include <stdbool.h>
#include <stddef.h>

struct exchange_entry {
    int key, place;
};

struct exchange_index {
    struct exchange_entry *entries; /* a power of two of them, at most half of them in use */
    int capacity, count;
};

/* Takes the memory for a few. False: there is none. */
bool exchange_index_init(struct exchange_index *index);
int exchange_index_find(const struct exchange_index *index, int key); /* its place; -1: it is not in it */
/* A key that is not in it yet, >= 0. False: no memory; nothing has changed. */
bool exchange_index_add(struct exchange_index *index, int key, int place);
void exchange_index_clear(struct exchange_index *index);

/* A list of *capacity items, made longer; NULL: no memory, and the old one stays. */
void *exchange_list_grow(void *list, int *capacity, size_t item_bytes);

#endif
