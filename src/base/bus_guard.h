/* SIGBUS in a mapped file: the copy that met it ends, or goes into nothing, and the program goes on. */
#ifndef PIOLET_BASE_BUS_GUARD_H
#define PIOLET_BASE_BUS_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is our handler in force? Installs it at the first call. One that the program had before gets the signals that are not
 * ours. Where the program installs another later, that one stays (it may call ours, so that ours in front of it could
 * call in a circle), and nothing is to be mapped while it does: ask before each copy. */
bool bus_guard_ready(void);
/* It has been installed, and is not in force any more; installs nothing. */
bool bus_guard_is_lost(void);

/* Calls copy(memory, arg). False: a fault between `begin` and `begin + bytes` ended it early. It must own nothing that
 * would be lost then. The thread may block SIGBUS: it is let through meanwhile, and one that somebody sends waits until
 * the end. */
bool bus_guard_run(const void *begin, size_t bytes, char *memory, void (*copy)(char *memory, void *arg), void *arg);

/* For stores that cost little themselves: a mapping where memory takes the place of a page that fails, and the store is
 * done again, into nothing. `failed` tells. Where it moves, it is told again; 0 bytes: it is no more. */
struct bus_shield {
    _Atomic uintptr_t begin;
    _Atomic size_t bytes;
    atomic_bool *failed;
    struct bus_shield *next;
};
void bus_guard_add_shield(struct bus_shield *shield, atomic_bool *failed); /* for ever */
void bus_guard_shield(struct bus_shield *shield, void *begin, size_t bytes);

#endif
