/* From a member of a struct to the struct itself: for callbacks that get the address of what they were handed. */
#ifndef PIOLET_BASE_CONTAINER_H
#define PIOLET_BASE_CONTAINER_H

#include <stddef.h>

/* The `type` whose `member` lies at `pointer`. A pointer to anything else than that member is a warning; with a const
 * pointer, `type` is const as well. */
#define container_of(pointer, type, member)                                                                            \
    ((type *)((char *)(1 ? (pointer) : &((type *)0)->member) - offsetof(type, member)))

#endif
