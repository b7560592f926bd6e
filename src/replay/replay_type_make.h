/* Inside of replay_type*.c: the constructors of datatypes, and what they are given. */
#ifndef PIOLET_REPLAY_TYPE_MAKE_H
#define PIOLET_REPLAY_TYPE_MAKE_H

#include "replay/replay_type.h"

#include <stddef.h>
#include <stdint.h>

enum { REPLAY_TYPE_LISTS = 4, REPLAY_TYPE_NUMBERS = 3 };

struct replay_type_list {
    int64_t *values;
    int count, capacity;
};

/* What stands between the parentheses of a constructor. */
struct replay_type_arguments {
    int64_t numbers[REPLAY_TYPE_NUMBERS];
    int number_count;
    struct replay_type_list lists[REPLAY_TYPE_LISTS];
    int list_count;
    int order;
    struct replay_type *types;
    int type_count;
};

/* Letters: n an int, a an address, l a list, d distributions, o an order, t a type, T a list of them. */
struct replay_constructor {
    const char *name, *letters;
    int (*make)(const struct replay_type_arguments *arguments, MPI_Datatype *ret_type); /* an MPI error code */
};

/* By the first `length` characters of `name`; NULL: there is none. */
const struct replay_constructor *replay_constructor_find(const char *name, size_t length);

#endif
